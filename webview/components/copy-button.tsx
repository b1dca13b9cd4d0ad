import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { IconButton } from './icon-button.tsx'

const SHOWN_DONE_MS = 1_500

/** Copies text, and says so for a moment. */
export function CopyButton({ text, label }: { readonly text: () => string; readonly label: string }) {
  const { actions } = useApp()
  const isDone = useSignal(false)
  useEffect(() => {
    if (!isDone.value) return undefined
    const timer = setTimeout(() => (isDone.value = false), SHOWN_DONE_MS)
    return () => clearTimeout(timer)
  }, [isDone.value])
  return (
    <IconButton
      icon={isDone.value ? 'check' : 'copy'}
      label={isDone.value ? t('Copied') : label}
      onPress={() => {
        actions.copy(text())
        isDone.value = true
      }}
    />
  )
}
