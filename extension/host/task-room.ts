import type { Task } from '../features/todo/events.ts'
import type { TaskChange, TaskDifference } from '../features/todo/history.ts'
import type { TaskEdit } from '../protocol/task-edit.ts'
import type { TaskView } from '../protocol/view-state.ts'
import { assertNever } from '../base/assert-never.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Session } from '../core/session/session.ts'
import type { ChatState } from './chat-state.ts'
import { keptNames } from './kept-names.ts'

/** The list of tasks of the session on screen. */
export class TaskRoom {
  readonly #chat: ChatState

  constructor(chat: ChatState) {
    this.#chat = chat
  }

  refresh(): void {
    const { model, services, shown } = this.#chat
    const { tasks, dropped } = shown === null ? { tasks: null, dropped: [] } : services.tasks.of(shown.session)
    model.set('tasks', tasks === null ? null : tasks.map(taskView))
    model.set('droppedTasks', dropped.map(({ id, content }) => ({ id, content })))
  }

  edit(edit: TaskEdit): void {
    const agent = this.#chat.shown?.agent
    if (agent == null) return
    const outcome = this.#chat.services.tasks.edit(agent, edit)
    if (outcome.ok) this.#chat.notices.close('tasks')
    else this.#chat.notice('tasks', 'warning', this.#chat.world.l10n.t(outcome.problem))
  }

  /** Also where there is no list yet. */
  async add(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    if (this.#chat.shown?.agent == null) return this.#chat.notice('tasks', 'info', l10n.t('Begin a session first: a task list belongs to one.'))
    const content = await editor.input({ title: l10n.t('Add a Task'), prompt: l10n.t('Bosun hears of it with its next step.') })
    if (content !== null) this.edit({ do: 'add', content })
  }

  async showHistory(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const session = this.#chat.shown?.session
    if (session === undefined) return
    await editor.openText({ name: keptNames.tasks(session.id, l10n.t('Tasks')), text: this.historyPage(session), language: 'markdown' })
  }

  historyPage(session: Session): string {
    const { l10n } = this.#chat.world
    return historyText(this.#chat.services.tasks.history(session), l10n)
  }
}

const taskView = ({ id, content, status, note, files, turn }: Task): TaskView => ({
  id,
  content,
  status,
  ...(note !== undefined && { note }),
  ...(files !== undefined && turn !== undefined && { changes: { files: files.length, turn } }),
})

/** What became of the list, the newest first, in Markdown. */
function historyText(history: readonly TaskChange[], { t }: Localization): string {
  const authors = { model: 'Bosun', person: t('You'), plan: t('The approved plan'), turn: t('The next turn') }
  const changes = history.toReversed().map(({ at, by, changes: all }) => `**${authors[by]}**, ${new Date(at).toLocaleString()}\n\n${all.map((change) => `- ${wordsOf(change, t)}`).join('\n')}`)
  return [`# ${t('What became of the tasks')}`, ...(changes.length === 0 ? [t('Nothing yet.')] : changes)].join('\n\n') + '\n'
}

function wordsOf(change: TaskDifference, t: Localization['t']): string {
  switch (change.kind) {
    case 'added':
      return t('added “{task}”', { task: change.content })
    case 'removed':
      return t('took “{task}” away', { task: change.content })
    case 'completed':
      return t('ticked “{task}”', { task: change.content })
    case 'begun':
      return t('began “{task}”', { task: change.content })
    case 'reopened':
      return t('reopened “{task}”', { task: change.content })
    case 'noted':
      return t('wrote a note to “{task}”', { task: change.content })
    case 'reworded':
      return t('reworded “{from}” as “{task}”', { from: change.from, task: change.content })
    case 'moved':
      return t('changed the order')
    default:
      return assertNever(change, 'difference of a task list')
  }
}
