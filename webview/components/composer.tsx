import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'

/** Where the person writes. Grows to 40% of the view; everything in it works by keyboard. */
export function Composer() {
  const { store, composer, actions } = useApp()
  const box = useRef<HTMLTextAreaElement>(null)
  const state = store.state.composer.value
  const session = store.state.session.value
  const isRunning = session !== null && session.status !== 'idle'
  const text = composer.text.value
  const isEditing = composer.editingQueued.value !== null
  const focusRequests = composer.focusRequests.value
  useLayoutEffect(() => {
    if (focusRequests === 0 || box.current === null) return
    box.current.focus()
    box.current.setSelectionRange(box.current.value.length, box.current.value.length)
  }, [focusRequests])
  useEffect(() => {
    const onHide = () => composer.flushDraft()
    document.addEventListener('visibilitychange', onHide)
    return () => document.removeEventListener('visibilitychange', onHide)
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys that compose a character belong to the input method.
    if (event.isComposing || event.keyCode === 229) return
    const isMod = event.ctrlKey || event.metaKey
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      const sendsWithMod = state.sendKey === 'mod-enter'
      if (sendsWithMod && !isMod) return
      event.preventDefault()
      composer.submit(isMod && !sendsWithMod && isRunning ? 'next-step' : 'next-turn')
    } else if (event.key === 'Enter' && event.shiftKey && isMod && state.sendKey === 'mod-enter') {
      event.preventDefault()
      composer.submit(isRunning ? 'next-step' : 'next-turn')
    } else if (event.key === 'ArrowUp' && !event.shiftKey && !isMod && text === '') {
      if (composer.recall()) event.preventDefault()
    } else if (event.key === 'Escape' && isEditing) {
      event.stopPropagation()
      composer.cancelEdit()
    }
  }
  // The welcome page asks for a model, and a notice tells of the other writer: once is enough.
  const isUnsaid = session === null ? state.model !== null : session.access === 'write'
  const hint = isEditing ? t('Change the queued message') : isRunning ? t('Queue, or steer with Ctrl+Enter') : t('Ask, or hand over a task')
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        composer.submit('next-turn')
      }}
    >
      {composer.problem.value !== null && (
        <div class="composer-note level-error" role="alert">
          <Icon name="error" />
          <span dir="auto">{composer.problem.value}</span>
        </div>
      )}
      {state.blockedBy !== null && isUnsaid && (
        <div class="composer-note level-warning">
          <Icon name="warning" />
          <span dir="auto">{state.blockedBy}</span>
        </div>
      )}
      <div class="composer-box">
        {isEditing && (
          <div class="composer-editing">
            <Icon name="edit" />
            <span>{t('Editing a queued message')}</span>
            <IconButton icon="close" label={t('Cancel editing')} onPress={composer.cancelEdit} />
          </div>
        )}
        <textarea
          ref={box}
          class="composer-text"
          aria-label={t('Message')}
          placeholder={hint}
          rows={1}
          dir="auto"
          value={text}
          disabled={session?.access === 'read-only'}
          onInput={({ currentTarget }) => composer.type(currentTarget.value)}
          onBlur={() => composer.flushDraft()}
          onKeyDown={onKeyDown}
        />
        <div class="composer-bar">
          <Chips />
          <span class="composer-send">
            {isRunning && (
              <button type="button" class="icon-button stop" title={t('Stop (Escape twice)')} aria-label={t('Stop')} onClick={actions.stop}>
                <Icon name="stop-circle" />
              </button>
            )}
            <button type="submit" class="icon-button send" title={isRunning ? t('Queue (Enter), steer now (Ctrl+Enter)') : t('Send (Enter)')} aria-label={t('Send')} disabled={!composer.canSubmit.value}>
              <Icon name="arrow-up" />
            </button>
          </span>
        </div>
      </div>
    </form>
  )
}

const permissions = {
  'read-only': { icon: 'eye', text: 'Read only', title: 'Bosun may look, and change nothing' },
  'workspace-write': { icon: 'shield', text: 'Ask', title: 'Bosun asks before it does what may harm' },
  'danger-full-access': { icon: 'unlock', text: 'Full access', title: 'Bosun does everything without asking' },
} as const

/** What answers, in which way, and what it may do. */
function Chips() {
  const { store, actions } = useApp()
  const { preset, presets, model, permission } = store.state.composer.value
  const presetView = presets.find(({ id }) => id === preset)
  const shown = permissions[permission]
  return (
    <span class="chips">
      <Chip text={presetView?.name ?? preset} name={t('Preset: {0}', presetView?.name ?? preset)} title={presetView?.description} onPress={actions.pickPreset} />
      <Chip
        text={model === null ? t('Choose a model') : model.reasoningEffort === null ? model.label : `${model.label} · ${model.reasoningEffort}`}
        name={model === null ? t('Choose a model') : t('Model: {0}', model.reasoningEffort === null ? model.label : `${model.label} · ${model.reasoningEffort}`)}
        title={model === null ? undefined : `${model.provider}: ${model.model}`}
        isWanted={model === null}
        canShrink
        onPress={actions.pickModel}
      />
      <Chip icon={shown.icon} text={t(shown.text)} name={t('Permissions: {0}', t(shown.text))} title={t(shown.title)} isWarning={permission === 'danger-full-access'} onPress={actions.pickPermission} />
    </span>
  )
}

interface ChipProps {
  readonly text: string
  readonly name: string
  readonly title?: string | undefined
  readonly icon?: string
  readonly isWanted?: boolean
  readonly isWarning?: boolean
  /** Gives way first when there is little room. */
  readonly canShrink?: boolean
  readonly onPress: () => void
}

function Chip({ text, name, title, icon, isWanted = false, isWarning = false, canShrink = false, onPress }: ChipProps) {
  if (text === '') return null
  return (
    <button type="button" class={`chip${canShrink ? ' can-shrink' : ''}${isWanted ? ' is-wanted' : ''}${isWarning ? ' is-warning' : ''}`} title={title ?? name} aria-label={name} onClick={onPress}>
      {icon !== undefined && <Icon name={icon} />}
      <span class="chip-text">{text}</span>
      <Icon name="chevron-down" />
    </button>
  )
}

const ESCAPE_WINDOW_MS = 2_000

/** Escape asks once, and stops when pressed again soon. Menus and forms take theirs first. */
export function StopByEscape() {
  const { store, actions } = useApp()
  const askedAt = useSignal<number | null>(null)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const status = store.state.session.peek()?.status
      if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented || status === undefined || status === 'idle') return
      if (askedAt.peek() === null) {
        askedAt.value = Date.now()
        return
      }
      askedAt.value = null
      actions.stop()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  useEffect(() => {
    if (askedAt.value === null) return undefined
    const timer = setTimeout(() => (askedAt.value = null), ESCAPE_WINDOW_MS)
    return () => clearTimeout(timer)
  }, [askedAt.value])
  return askedAt.value === null ? null : (
    <div class="stop-hint" role="status">
      {t('Press Escape again to stop')}
    </div>
  )
}
