import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { SessionHit } from '../../extension/protocol/messages.ts'
import type { SessionListItem } from '../../extension/protocol/view-state.ts'
import { language, plural, t } from '../l10n.ts'
import { formatAge } from '../text/format.ts'
import { markedParts } from '../text/marked-parts.ts'
import { useApp } from './app-context.ts'
import { escapeTo, isComposing } from './form-keys.ts'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'

/** All sessions over the chat: find, open, rename, archive, delete. The archived ones stand behind the others, folded until asked for. */
export function SessionList() {
  const { store, actions, isSessionListOpen, sessionFinder } = useApp()
  const query = useSignal('')
  const editing = useSignal<{ readonly id: string; readonly what: 'rename' | 'delete' } | null>(null)
  const box = useRef<HTMLDivElement>(null)
  const search = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    const opener = document.activeElement
    search.current?.focus()
    return () => {
      sessionFinder.find('')
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  const close = () => (isSessionListOpen.value = false)
  const words = query.value.toLowerCase().split(/\s+/).filter((word) => word !== '')
  const isArchiveOpen = useSignal(false)
  // By title at once, by what was said in them as soon as the host knows.
  const hits = sessionFinder.hits.value
  const isNamed = ({ title, forkedFrom }: SessionListItem) => words.every((word) => `${title} ${forkedFrom ?? ''}`.toLowerCase().includes(word))
  const found = store.state.sessions.value.filter((item) => isNamed(item) || hits?.has(item.id) === true)
  const active = found.filter(({ isArchived }) => !isArchived)
  const archived = found.filter(({ isArchived }) => isArchived)
  // Who searches wants to find.
  const showsArchived = isArchiveOpen.value || words.length > 0
  const shown = showsArchived ? [...active, ...archived] : active
  const rows = (items: readonly SessionListItem[]) =>
    items.map((item) => (
      <SessionRow key={item.id} item={item} hit={hits?.get(item.id)} words={words} editing={editing.value?.id === item.id ? editing.value.what : null} onEdit={(what) => (editing.value = what === null ? null : { id: item.id, what })} onClose={close} />
    ))
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(box.current?.querySelectorAll<HTMLElement>('.session-open') ?? [])]
    const at = buttons.indexOf(document.activeElement as HTMLElement)
    if (isComposing(event)) return
    if (event.key === 'Escape') close()
    else if (event.key === 'ArrowDown') buttons[Math.min(at + 1, buttons.length - 1)]?.focus()
    else if (event.key === 'ArrowUp' && at <= 0) search.current?.focus()
    else if (event.key === 'ArrowUp') buttons[at - 1]?.focus()
    else if (event.key === 'F2' && at >= 0) editing.value = { id: shown[at]!.id, what: 'rename' }
    else if (event.key === 'Delete' && at >= 0) editing.value = { id: shown[at]!.id, what: 'delete' }
    else return
    event.stopPropagation()
    event.preventDefault()
  }
  return (
    <div class="sessions" role="dialog" aria-label={t('Sessions')} ref={box} onKeyDown={onKeyDown}>
      <div class="sessions-head">
        <input class="input" type="search" ref={search} dir="auto" aria-label={t('Find a session')} placeholder={t('Find a session')} value={query.value} onInput={({ currentTarget }) => {
            query.value = currentTarget.value
            sessionFinder.find(currentTarget.value)
          }}
        />
        <IconButton
          icon="add"
          label={t('New chat')}
          onPress={() => {
            close()
            actions.newSession()
          }}
        />
        <IconButton icon="close" label={t('Close')} onPress={close} />
      </div>
      {found.length === 0 ? (
        <p class="sessions-empty">{words.length > 0 ? (sessionFinder.isBusy.value ? t('Searching') : t('No session has these words.')) : t('There are no sessions yet. What you start appears here.')}</p>
      ) : (
        <ul class="session-items">
          {rows(active)}
          {archived.length > 0 && (
            <li class="session-archive">
              <button type="button" class="session-archive-toggle" aria-expanded={showsArchived} disabled={words.length > 0} onClick={() => (isArchiveOpen.value = !isArchiveOpen.value)}>
                <Icon name={showsArchived ? 'chevron-down' : 'chevron-right'} />
                {plural(archived.length, '{0} archived', '{0} archived')}
              </button>
            </li>
          )}
          {showsArchived && rows(archived)}
        </ul>
      )}
    </div>
  )
}

interface SessionRowProps {
  readonly item: SessionListItem
  readonly hit: SessionHit | undefined
  readonly words: readonly string[]
  readonly editing: 'rename' | 'delete' | null
  readonly onEdit: (what: 'rename' | 'delete' | null) => void
  readonly onClose: () => void
}

const stateTexts = { idle: '', running: 'running', waiting: 'waits for you', broken: 'cannot be opened' } as const

function SessionRow({ item, hit, words, editing, onEdit, onClose }: SessionRowProps) {
  const { store, actions, now } = useApp()
  const isCurrent = store.state.session.value?.id === item.id
  const state = stateTexts[item.state]
  if (editing === 'rename') return <RenameRow item={item} onEnd={() => onEdit(null)} />
  if (editing === 'delete') return <DeleteRow item={item} onEnd={() => onEdit(null)} />
  return (
    <li class={isCurrent ? 'session is-current' : 'session'}>
      <button
        type="button"
        class="session-open"
        aria-current={isCurrent ? 'true' : undefined}
        onClick={() => {
          onClose()
          if (hit !== undefined) actions.openSession(item.id, hit.seq)
          else if (!isCurrent) actions.openSession(item.id)
        }}
      >
        <span class="session-title" dir="auto">
          {item.title}
        </span>
        <span class="session-detail">
          {state !== '' && <span class={`session-state state-${item.state}`}>{t(state)}</span>}
          {formatAge(item.updatedAt, now.value, language())}
        </span>
        {item.forkedFrom !== null && (
          <span class="session-lineage" dir="auto">
            {t('forked from {0}', item.forkedFrom)}
          </span>
        )}
        {hit !== undefined && (
          <span class="session-snippet" dir="auto">
            {markedParts(hit.snippet, words).map((part, at) => (part.isMarked ? <mark key={at}>{part.text}</mark> : part.text))}
          </span>
        )}
        {item.problem !== null && (
          <span class="session-problem" dir="auto">
            {item.problem}
          </span>
        )}
      </button>
      <span class="session-actions">
        <IconButton icon="edit" label={t('Rename {0}', item.title)} onPress={() => onEdit('rename')} />
        <IconButton
          icon={item.isArchived ? 'inbox' : 'archive'}
          label={item.isArchived ? t('Bring {0} back', item.title) : t('Archive {0}', item.title)}
          onPress={() => actions.archiveSession(item.id, !item.isArchived)}
        />
        <IconButton icon="trash" label={t('Delete {0}', item.title)} onPress={() => onEdit('delete')} />
      </span>
    </li>
  )
}

function RenameRow({ item, onEnd }: { readonly item: SessionListItem; readonly onEnd: () => void }) {
  const { actions } = useApp()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    input.current?.focus()
    input.current?.select()
  }, [])
  const save = () => {
    const title = input.current?.value.trim() ?? ''
    if (title !== '' && title !== item.title) actions.renameSession(item.id, title)
    onEnd()
  }
  return (
    <li class="session is-edited">
      <input
        class="input"
        ref={input}
        dir="auto"
        defaultValue={item.title}
        maxLength={80}
        aria-label={t('Title of this session')}
        onKeyDown={(event) => {
          if (isComposing(event) || (event.key !== 'Enter' && event.key !== 'Escape')) return
          event.stopPropagation()
          if (event.key === 'Enter') save()
          else onEnd()
        }}
      />
      <IconButton icon="check" label={t('Save the title')} onPress={save} />
      <IconButton icon="close" label={t('Cancel')} onPress={onEnd} />
    </li>
  )
}

function DeleteRow({ item, onEnd }: { readonly item: SessionListItem; readonly onEnd: () => void }) {
  const { actions } = useApp()
  const cancel = useRef<HTMLButtonElement>(null)
  // Before the next key comes: what is typed right after the click belongs here.
  useLayoutEffect(() => cancel.current?.focus(), [])
  return (
    <li
      class="session is-edited"
      onKeyDown={escapeTo(onEnd)}
    >
      <span class="session-question" dir="auto">
        {t('Delete “{0}” for good?', item.title)}
      </span>
      <button
        type="button"
        class="button-primary"
        onClick={() => {
          actions.deleteSession(item.id)
          onEnd()
        }}
      >
        {t('Delete')}
      </button>
      <button type="button" class="button-secondary" ref={cancel} onClick={onEnd}>
        {t('Cancel')}
      </button>
    </li>
  )
}
