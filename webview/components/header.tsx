import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { SessionView } from '../../extension/protocol/view-state.ts'
import { t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { isComposing } from './form-keys.ts'
import { IconButton } from './icon-button.tsx'
import { Menu, MenuAnchor } from './menu.tsx'
import { UsageButton } from './usage-button.tsx'

/** What this talk is, how it stands, what it has used; new, others, more. */
export function Header() {
  const { store, actions, isSessionListOpen } = useApp()
  const session = store.state.session.value
  const isRenaming = useSignal(false)
  const isMenuOpen = useSignal(false)
  return (
    <header class="header">
      {session === null ? (
        <h1 class="title">{t('New chat')}</h1>
      ) : isRenaming.value ? (
        <TitleInput session={session} onEnd={() => (isRenaming.value = false)} />
      ) : (
        <h1 class="title" title={t('{0} (double-click to rename)', session.title)} dir="auto" onDblClick={() => (isRenaming.value = session.access === 'write')}>
          {session.title}
        </h1>
      )}
      {session !== null && <Status session={session} />}
      {session !== null && <UsageButton session={session} />}
      <span class="header-actions">
        <IconButton icon="add" label={t('New chat')} onPress={actions.newSession} />
        <IconButton icon="history" label={t('Sessions')} popup="dialog" isExpanded={isSessionListOpen.value} onPress={() => (isSessionListOpen.value = !isSessionListOpen.value)} />
        <MenuAnchor>
          <IconButton icon="ellipsis" label={t('More')} popup="menu" isExpanded={isMenuOpen.value} onPress={() => (isMenuOpen.value = !isMenuOpen.value)} />
          {isMenuOpen.value && (
            <Menu
              label={t('More')}
              onClose={() => (isMenuOpen.value = false)}
              entries={[
                ...(session?.access === 'write' ? [{ label: t('Rename'), icon: 'edit', onPick: () => (isRenaming.value = true) }] : []),
                ...(session === null ? [] : [{ label: t('Export…'), icon: 'export', onPick: actions.exportSession }]),
                ...(session === null ? [] : [{ label: t('Show the session log'), icon: 'output', onPick: actions.openLog }]),
                { label: t('Settings'), icon: 'settings-gear', onPick: actions.openSettings },
                { label: t('Reload view'), icon: 'refresh', onPick: actions.reloadView },
              ]}
            />
          )}
        </MenuAnchor>
      </span>
    </header>
  )
}

const statusTexts = { idle: '', running: 'running', waiting: 'waits for you' } as const

function Status({ session: { status, access, child } }: { readonly session: SessionView }) {
  if (access === 'read-only' && child === undefined) return <span class="status">{t('read-only')}</span>
  const text = statusTexts[status]
  if (text === '') return null
  return (
    <span class={`status status-${status}`}>
      <span class="status-dot" title={t(text)} aria-hidden="true" />
      <span class="status-text">{t(text)}</span>
    </span>
  )
}

function TitleInput({ session, onEnd }: { readonly session: SessionView; readonly onEnd: () => void }) {
  const { actions } = useApp()
  const isOver = useRef(false)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    input.current?.focus()
    input.current?.select()
  }, [])
  const end = (title: string | null) => {
    if (isOver.current) return
    isOver.current = true
    if (title !== null && title.trim() !== '' && title.trim() !== session.title) actions.renameSession(session.id, title.trim())
    onEnd()
  }
  return (
    <input
      class="title-input"
      aria-label={t('Title of this session')}
      dir="auto"
      defaultValue={session.title}
      maxLength={80}
      ref={input}
      onBlur={({ currentTarget }) => end(currentTarget.value)}
      onKeyDown={(event) => {
        if (isComposing(event)) return
        if (event.key === 'Enter') end(event.currentTarget.value)
        if (event.key === 'Escape') end(null)
        if (event.key === 'Enter' || event.key === 'Escape') event.stopPropagation()
      }}
    />
  )
}
