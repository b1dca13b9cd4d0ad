import { Emitter } from '../base/emitter.ts'
import { isHarnessError } from '../base/harness-error.ts'
import { messageOf } from '../base/message-of.ts'
import type { Undo } from '../base/undo.ts'
import type { Agent } from '../core/session/agent.ts'
import type { TaskAction } from '../features/teams/board.ts'
import type { RosterRow, TaskView, TeamOverview } from '../features/teams/service.ts'
import type { PageKey, PageMessage, TeamBoardView, TeamColumn, TeamMemberView, TeamTaskCardView } from '../protocol/editor-page.ts'
import type { ChatState } from './chat-state.ts'
import type { PageSource } from './page-feed.ts'

/** What a person does by carrying a card from one column to another. What is not here no card can do. */
const moves: Readonly<Record<TeamColumn, Partial<Record<TeamColumn, TaskAction>>>> = {
  pending: { in_progress: 'reassign' },
  in_progress: { pending: 'release', completed: 'complete' },
  completed: { pending: 'reopen' },
}

/** Boards of teams as pages, where the person acts as the Lead; and the files that teammates work on, marked while they do. */
export class TeamRoom {
  readonly #chat: ChatState
  readonly #open: (sessionId: string) => Promise<unknown>
  readonly #changes: Emitter<void>
  readonly #undos: readonly Undo[]
  #marks = ''
  /** Teams whose board was pointed out. */
  readonly #told = new Set<string>()

  constructor(chat: ChatState, open: (sessionId: string) => Promise<unknown>) {
    this.#chat = chat
    this.#open = open
    this.#changes = new Emitter((error) => chat.logError(error))
    const { teams, subagents } = chat.services
    this.#undos = [
      teams.onDidChange((teamId) => {
        this.#changes.emit()
        this.#refreshMarks()
        this.#pointOut(teamId)
      }),
      subagents.onDidChange(() => this.#changes.emit()),
    ]
  }

  dispose(): void {
    for (const undo of this.#undos) undo()
    if (this.#marks !== '') this.#chat.world.fileMarks.set([])
  }

  /** Of the session on screen, or of the Lead of the teammate there. */
  openBoard(): void {
    const { shown, world, services } = this.#chat
    const { t } = world.l10n
    const sessionId = shown?.agent?.owner?.id ?? shown?.session.id
    const board = sessionId === undefined ? null : services.teams.overview(sessionId)
    if (sessionId === undefined || board === null) return this.#chat.notice('team', 'info', t('This session has no team. Start one with the preset Team, and ask for teammates.'))
    this.#chat.notices.close('team')
    world.pages.open({ kind: 'team', sessionId, id: 'board' }, t('Team Board'))
  }

  source({ sessionId }: PageKey): PageSource {
    let notice: string | null = null
    return {
      view: () => ({ kind: 'team', board: this.#view(sessionId, notice) }),
      onDidChange: (listener) => this.#changes.listen(listener),
      handle: async (message) => {
        notice = null
        try {
          await this.#handle(message, sessionId)
        } catch (error) {
          if (!isHarnessError(error)) throw error
          notice = this.#words(error.code, messageOf(error))
        }
        this.#changes.emit()
      },
    }
  }

  #words(code: string, message: string): string {
    const { t } = this.#chat.world.l10n
    return code === 'TEAM_TASK_STALE_REVISION' ? t('Somebody changed this task meanwhile. The board shows it as it is now; do it again if you still want to.') : message
  }

  async #handle(message: PageMessage, sessionId: string): Promise<void> {
    const lead = this.#chat.services.agents.live(sessionId)
    if (message.type === 'open-session' || lead === undefined) return void (await this.#open(sessionId))
    switch (message.type) {
      case 'team-move':
        return await this.#move(lead, message)
      case 'team-task':
        return await (message.action === 'assign' ? this.#assign(lead, message) : this.#remove(lead, message))
      case 'team-add-task':
        return await this.#add(lead)
      case 'team-member':
        return await this.#member(lead, message)
      default:
        return
    }
  }

  async #move(lead: Agent, { taskId, revision, to }: Extract<PageMessage, { type: 'team-move' }>): Promise<void> {
    const { teams } = this.#chat.services
    const { status, ownerName, ready } = teams.task(lead, taskId)
    if (status === to || status === 'deleted') return
    // What no card can do, or not now, is refused by the board itself, in its words.
    const action = moves[status][to] ?? (to === 'in_progress' ? 'claim' : 'complete')
    if (action === 'reassign' && !ready) return void (await teams.updateTask(lead, { taskId, expectedRevision: revision, action: 'claim' }))
    if (action !== 'reassign') return void (await teams.updateTask(lead, { taskId, expectedRevision: revision, action }))
    await this.#assign(lead, { taskId, revision, ...(ownerName !== undefined && { owner: ownerName }) })
  }

  async #assign(lead: Agent, { taskId, revision, owner }: { readonly taskId: string; readonly revision: number; readonly owner?: string }): Promise<void> {
    const { world, services } = this.#chat
    const { t } = world.l10n
    const current = owner ?? services.teams.task(lead, taskId).ownerName
    const items = services.teams.roster(lead).flatMap(({ name, status, description }) =>
      status === 'failed' || status === 'provisioning' ? [] : [{ id: name, label: name === 'lead' ? t('Lead') : name, description: description ?? '', isCurrent: name === current }],
    )
    const chosen = await world.editor.pick({ title: t('Who works on {task}?', { task: taskId }), items })
    if (chosen !== null) await services.teams.updateTask(lead, { taskId, expectedRevision: revision, action: 'reassign', owner: chosen })
  }

  async #remove(lead: Agent, { taskId, revision }: { readonly taskId: string; readonly revision: number }): Promise<void> {
    const { world, services } = this.#chat
    const { t } = world.l10n
    const { subject } = services.teams.task(lead, taskId)
    if (await world.editor.confirm({ text: t('Delete the task “{subject}”?', { subject }), detail: t('It cannot be brought back.'), yes: t('Delete') })) await services.teams.updateTask(lead, { taskId, expectedRevision: revision, action: 'delete' })
  }

  async #add(lead: Agent): Promise<void> {
    const { world, services } = this.#chat
    const { t } = world.l10n
    const subject = await world.editor.input({ title: t('Add Task to the Team Board'), prompt: t('What is to be done, in one line.') })
    if (subject !== null && subject.trim() !== '') await services.teams.createTask(lead, { subject, description: '' })
  }

  async #member(lead: Agent, { memberId, action }: Extract<PageMessage, { type: 'team-member' }>): Promise<void> {
    const { world, services } = this.#chat
    const { t } = world.l10n
    const row = services.teams.roster(lead).find(({ id }) => id === memberId)
    if (row === undefined) return
    if (action === 'transcript') return void (await this.#open(memberId))
    if (action === 'interrupt') return void services.subagents.interrupt({ from: 'person', childId: memberId })
    const message = await world.editor.input({ title: t('Message to {name}', { name: row.name }), prompt: t('It is woken and answers in a turn of its own.') })
    if (message !== null && message.trim() !== '') await services.teams.send(lead, { target: row.name, message, delivery: 'waking', isFromPerson: true, signal: new AbortController().signal })
  }

  #view(sessionId: string, notice: string | null): TeamBoardView | null {
    const { services } = this.#chat
    const team = services.teams.overview(sessionId)
    const session = services.sessions.live(sessionId)
    if (team === null || session === undefined) return null
    return {
      title: this.#chat.titleOf(session),
      problem: team.problem,
      notice,
      roster: team.roster.map((row) => this.#memberView(row)),
      tasks: team.tasks.flatMap((task) => cardOf(task, team)),
      mail: team.mail.map(({ id, at, from, to, delivery, text, isDelivered }) => ({ id, at, from, to, isWaking: delivery === 'waking', isDelivered, text })),
    }
  }

  #memberView({ id, name, role, status, description = '', diagnostics }: RosterRow): TeamMemberView {
    const facts = role === 'lead' ? undefined : this.#chat.services.subagents.facts(id)
    const line = status === 'running' ? (facts?.lastLine ?? null) : null
    return { id, name, isLead: role === 'lead', status, description, line: diagnostics[0] ?? line }
  }

  /** Once a session, where it is on screen. */
  #pointOut(teamId: string): void {
    const { shown, services, world } = this.#chat
    if (shown?.session.id !== teamId || this.#told.has(teamId) || services.teams.overview(teamId)?.tasks.length === 0) return
    this.#told.add(teamId)
    const { t } = world.l10n
    this.#chat.notice('team', 'info', t('The team works from a board.'), [{ id: 'show', label: t('Show Team Board'), run: () => this.openBoard() }])
  }

  #refreshMarks(): void {
    const { fileMarks, l10n } = this.#chat.world
    const marks = this.#chat.services.teams.allActiveScopes().flatMap(({ taskId, ownerName, scopes, folder }) =>
      scopes.map((scope) => ({ path: `${folder}/${scope}`, badge: ownerName.slice(0, 1).toUpperCase(), tooltip: l10n.t('{name} works on {task}', { name: ownerName, task: taskId }) })),
    )
    const key = marks.length === 0 ? '' : JSON.stringify(marks)
    if (key === this.#marks) return
    this.#marks = key
    fileMarks.set(marks)
  }
}

function cardOf(task: TaskView, { tasks }: TeamOverview): readonly TeamTaskCardView[] {
  const { id, revision, subject, description, status, ownerName, blockedBy, writeScopes, writeScopeWarnings, ready } = task
  if (status === 'deleted') return []
  const blockers = blockedBy.map((blocker) => ({ id: blocker, isDone: tasks.find((other) => other.id === blocker)?.status === 'completed' }))
  return [{ id, revision, subject, description, column: status, owner: ownerName ?? null, blockers, scopes: writeScopes, warnings: writeScopeWarnings, isReady: ready }]
}
