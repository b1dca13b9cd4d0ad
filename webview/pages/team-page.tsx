import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PageMessage, TeamBoardView, TeamColumn, TeamMailView, TeamMemberView, TeamTaskCardView } from '../../extension/protocol/editor-page.ts'
import { Icon } from '../components/icon.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { language, plural, t } from '../l10n.ts'

type Post = (message: PageMessage) => void

const columns: readonly { readonly id: TeamColumn; readonly title: string }[] = [
  { id: 'pending', title: 'Pending' },
  { id: 'in_progress', title: 'In progress' },
  { id: 'completed', title: 'Done' },
]
const statuses = {
  running: { icon: 'loading', text: 'at work' },
  idle: { icon: 'circle-filled', text: 'at rest' },
  inactive: { icon: 'circle-outline', text: 'asleep' },
  provisioning: { icon: 'loading', text: 'starting' },
  failed: { icon: 'error', text: 'could not start' },
} as const
/** The lead has no name of its own. */
const nameOf = (member: string): string => (member === 'lead' ? t('Lead') : member)
/** What a dragged card carries. */
const DRAGGED = 'application/x-bosun-task'

/** The board of a team: who is in it, three columns of tasks, and what they write to each other. */
export function TeamPage({ board, post }: { readonly board: TeamBoardView | null; readonly post: Post }) {
  if (board === null)
    return (
      <main class="page-empty">
        <h1>{t('The session of this team is not open.')}</h1>
        <button type="button" class="button-primary" onClick={() => post({ type: 'open-session' })}>
          {t('Open session')}
        </button>
      </main>
    )
  const done = board.tasks.filter(({ column }) => column === 'completed').length
  const atWork = board.roster.filter(({ status }) => status === 'running').length
  return (
    <main class="team">
      <header class="run-head">
        <div class="run-title">
          <h1 dir="auto">{board.title === '' ? t('Team') : board.title}</h1>
          <div class="run-buttons">
            <button type="button" class="button-secondary" onClick={() => post({ type: 'team-add-task' })}>
              {t('Add task…')}
            </button>
          </div>
        </div>
        <p class="run-facts" role="status">
          {t('{0} of {1} done', done, board.tasks.length)} · {t('{0} at work', atWork)}
        </p>
        {board.problem !== null && <p class="run-error">{board.problem}</p>}
        {board.notice !== null && (
          <p class="team-notice" role="alert">
            <Icon name="info" />
            <span dir="auto">{board.notice}</span>
            <IconButton icon="close" label={t('Dismiss')} onPress={() => post({ type: 'team-dismiss' })} />
          </p>
        )}
      </header>
      <ul class="roster" aria-label={t('Members')}>
        {board.roster.map((member) => (
          <Member key={member.id} member={member} post={post} />
        ))}
      </ul>
      <div class="board">
        {columns.map(({ id, title }) => (
          <Column key={id} id={id} title={t(title)} tasks={board.tasks.filter(({ column }) => column === id)} post={post} />
        ))}
      </div>
      {board.mail.length > 0 && <Mailbox mail={board.mail} />}
    </main>
  )
}

function Member({ member, post }: { readonly member: TeamMemberView; readonly post: Post }) {
  const { id, isLead, status, description, line } = member
  const name = isLead ? t('Lead') : member.name
  const { icon, text } = statuses[status]
  const can = !isLead && status !== 'failed' && status !== 'provisioning'
  const act = (action: 'transcript' | 'message' | 'interrupt') => post({ type: 'team-member', memberId: id, action })
  return (
    <li class="roster-row" data-status={status} aria-label={`${name}: ${t(text)}`}>
      <span class={`run-state ${status === 'running' ? 'state-running' : status === 'failed' ? 'state-failed' : ''}`} title={t(text)}>
        <Icon name={icon} spin={status === 'running' || status === 'provisioning'} />
      </span>
      <span class="roster-words">
        <span class="roster-name" dir="auto" title={description}>
          {name}
        </span>
        <span class="roster-line" dir="auto">
          {line ?? t(text)}
        </span>
      </span>
      <span class="member-buttons">
        {status === 'running' && !isLead && <IconButton icon="debug-stop" label={t('Interrupt {0}', name)} onPress={() => act('interrupt')} />}
        {can && <IconButton icon="mail" label={t('Message {0}', name)} onPress={() => act('message')} />}
        <IconButton icon="comment-discussion" label={t('Open transcript of {0}', name)} isDisabled={status === 'failed'} onPress={() => act('transcript')} />
      </span>
    </li>
  )
}

function Column({ id, title, tasks, post }: { readonly id: TeamColumn; readonly title: string; readonly tasks: readonly TeamTaskCardView[]; readonly post: Post }) {
  const [isOver, setIsOver] = useState(false)
  return (
    <section
      class={`column ${isOver ? 'column-over' : ''}`}
      aria-label={title}
      data-column={id}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes(DRAGGED) !== true) return
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) setIsOver(false)
      }}
      onDrop={(event) => {
        event.preventDefault()
        setIsOver(false)
        const [taskId = '', revision = ''] = (event.dataTransfer?.getData(DRAGGED) ?? '').split(' ')
        if (taskId !== '') post({ type: 'team-move', taskId, revision: Number(revision), to: id })
      }}
    >
      <h2>
        {title}
        <span class="phase-count">{tasks.length}</span>
      </h2>
      <ul>
        {tasks.map((task) => (
          <Card key={task.id} task={task} post={post} />
        ))}
      </ul>
    </section>
  )
}

function Card({ task, post }: { readonly task: TeamTaskCardView; readonly post: Post }) {
  const { id, revision, subject, description, column, owner, blockers, scopes, warnings, isReady } = task
  const at = columns.findIndex((one) => one.id === column)
  // What is done is opened again as pending: nobody owns it then.
  const [left, right] = [column === 'completed' ? columns[0] : columns[at - 1], columns[at + 1]]
  const move = (to: TeamColumn | undefined) => {
    if (to !== undefined) post({ type: 'team-move', taskId: id, revision, to })
  }
  const open = blockers.filter(({ isDone }) => !isDone)
  return (
    <li
      class="task-card"
      data-task={id}
      tabIndex={0}
      draggable
      aria-label={`${id}: ${subject}`}
      aria-keyshortcuts="Alt+ArrowLeft Alt+ArrowRight"
      onDragStart={({ dataTransfer }) => {
        dataTransfer?.setData(DRAGGED, `${id} ${revision}`)
        if (dataTransfer) dataTransfer.effectAllowed = 'move'
      }}
      onKeyDown={(event) => {
        if (!event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return
        event.preventDefault()
        move((event.key === 'ArrowLeft' ? left : right)?.id)
      }}
    >
      <p class="task-subject" dir="auto" title={description}>
        {subject}
      </p>
      <p class="task-facts">
        <span class="task-id" title={t('Revision {0}', revision)}>
          {id} · r{revision}
        </span>
        {owner !== null && (
          <span class="task-owner">
            <Icon name="account" /> {nameOf(owner)}
          </span>
        )}
        {column === 'pending' && isReady && <span class="task-ready">{t('ready')}</span>}
        {open.length > 0 && (
          <span class="task-blocked">
            <Icon name="lock" /> {open.map((blocker) => blocker.id).join(', ')}
          </span>
        )}
      </p>
      {scopes.length > 0 && (
        <p class="task-scopes" title={t('Files that its owner may change')}>
          {scopes.map((scope) => (
            <code key={scope}>{scope}</code>
          ))}
        </p>
      )}
      {column !== 'completed' &&
        warnings.map((warning) => (
          <p key={warning} class="task-warning">
            <Icon name="warning" /> <span dir="auto">{warning}</span>
          </p>
        ))}
      <span class="task-buttons">
        {left && <IconButton icon="arrow-left" label={t('Move {0} to {1}', id, t(left.title))} onPress={() => move(left.id)} />}
        {right && <IconButton icon="arrow-right" label={t('Move {0} to {1}', id, t(right.title))} onPress={() => move(right.id)} />}
        {column !== 'completed' && <IconButton icon="person-add" label={t('Choose who works on {0}', id)} onPress={() => post({ type: 'team-task', taskId: id, revision, action: 'assign' })} />}
        <IconButton icon="trash" label={t('Delete {0}', id)} onPress={() => post({ type: 'team-task', taskId: id, revision, action: 'delete' })} />
      </span>
    </li>
  )
}

/** What members write to each other, the newest in sight while the person does not look at older ones. */
function Mailbox({ mail }: { readonly mail: readonly TeamMailView[] }) {
  const box = useRef<HTMLOListElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    if (box.current !== null && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [mail])
  return (
    <section class="mailbox" aria-label={t('Mailbox')}>
      <h2>{plural(mail.length, 'Mailbox, {0} message', 'Mailbox, {0} messages')}</h2>
      <ol ref={box} tabIndex={0} onScroll={({ currentTarget }) => (isAtEnd.current = currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < 8)}>
        {mail.map(({ id, at, from, to, text, isWaking, isDelivered }) => (
          <li key={id} class="mail" data-delivered={isDelivered}>
            <span class="mail-time">{new Date(at).toLocaleTimeString(language(), { hour: 'numeric', minute: '2-digit' })}</span>
            <span class="mail-way">
              {nameOf(from)} <Icon name="arrow-small-right" /> {nameOf(to)}
            </span>
            <span class="mail-state" title={isDelivered ? t('Delivered') : t('Waits')}>
              <Icon name={isDelivered ? (isWaking ? 'bell' : 'check') : 'clock'} />
            </span>
            <span class="mail-text" dir="auto">
              {text}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
