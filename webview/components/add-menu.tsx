import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { IconButton } from './icon-button.tsx'
import { Menu, MenuAnchor } from './menu.tsx'

/** What can be put to a message, for those who do not know the signs. `onType`: put it into the box as if it were typed. */
export function AddMenu({ onType }: { readonly onType: (text: string) => void }) {
  const { actions, attaching, goalForm, store } = useApp()
  const goal = store.state.goal.value
  const isOpen = useSignal(false)
  const picker = useRef<HTMLInputElement>(null)
  return (
    <MenuAnchor>
      <IconButton icon="add" label={t('Add to the message')} popup="menu" isExpanded={isOpen.value} onPress={() => (isOpen.value = !isOpen.value)} />
      {isOpen.value && (
        <Menu
          label={t('Add to the message')}
          align="start"
          opens="up"
          onClose={() => (isOpen.value = false)}
          entries={[
            { label: t('File, symbol or session (@)'), icon: 'mention', onPick: () => onType('@') },
            { label: t('Command (/)'), icon: 'terminal', onPick: () => onType('/') },
            { label: t('Selection in the editor'), icon: 'selection', onPick: actions.attachSelection },
            ...(goal === null || goal.phase === 'complete' ? [{ label: t('Goal…'), icon: 'target', onPick: () => (goalForm.value = 'create') }] : []),
            { label: t('Images…'), icon: 'file-media', onPick: () => picker.current?.click() },
          ]}
        />
      )}
      <input
        ref={picker}
        type="file"
        accept="image/*"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          attaching.add([...(currentTarget.files ?? [])])
          // The same file can be chosen again after it was removed.
          currentTarget.value = ''
        }}
      />
    </MenuAnchor>
  )
}
