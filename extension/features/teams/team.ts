import { isErrorOf, isHarnessError } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Agents } from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Subagents } from '../subagents/service.ts'
import { changedTask, createdTask, isReady, scopeWarnings, type Actor } from './board.ts'
import { TeamError } from './error.ts'
import type { TeamMember, TeamTask } from './events.ts'
import type { TeamLedger } from './ledger.ts'
import { DISPOSAL_TIMEOUT_MS, teamLimits } from './limits.ts'
import { framed, Mailbox } from './mailbox.ts'
import type { Received } from './received.ts'
import type { ActiveScopes, MailRequest, MailView, MemberStatus, NewTask, RosterRow, TaskFilter, TaskUpdate, TaskView, TeammateRequest, TeamOverview } from './service.ts'
import { disposed, TeamLog } from './team-log.ts'
import { createWaiters } from './waiting.ts'

export interface TeamParts {
  readonly lead: Agent
  readonly agents: Pick<Agents, 'live' | 'configurationOf'>
  readonly subagents: () => Subagents
  readonly clock: Clock
  readonly logger: Logger
  readonly newId: () => string
  /** What reached a session that need not be live. */
  readonly receivedBy: (sessionId: string) => Promise<Received>
  readonly mayWake: () => boolean
  readonly onDidChange: () => void
}

/** Transports of teammates. Source: agent tools specification 8, `freshProvider` and `forkProvider`. */
const providers = { fresh: 'spawn', fork: 'fork' } as const
const LEAD = 'lead'
/** Characters of why a member could not be set up. */
const MAX_ERROR_CHARS = 1_000
/** Messages that people are shown. */
const MAX_SHOWN_MAIL = 200

/** One team under a live Lead: its roster, its mail, its board. Source: agent tools specification 8. */
export class Team {
  readonly lead: Agent
  readonly #parts: TeamParts
  readonly #log: TeamLog
  readonly #mailbox: Mailbox
  readonly #waiters: ReturnType<typeof createWaiters>
  #isDisposed = false

  constructor(parts: TeamParts) {
    const { lead, logger, clock } = parts
    this.lead = lead
    this.#parts = parts
    this.#waiters = createWaiters(clock)
    this.#log = new TeamLog(lead, () => this.changed())
    this.#mailbox = new Mailbox({
      lead,
      logger,
      log: this.#log,
      subagents: parts.subagents,
      liveMember: (id) => this.#liveMember(id),
      receivedBy: parts.receivedBy,
      mayWake: parts.mayWake,
    })
  }

  /** Its members as its log tells, also where that contradicts itself later. */
  member(id: string): TeamMember | undefined {
    return this.#log.ledger.members.get(id)
  }

  /** Nothing was ever recorded. */
  get isEmpty(): boolean {
    const { members, tasks, mailIds, failure } = this.#log.ledger
    return members.size === 0 && tasks.size === 0 && mailIds.size === 0 && failure === null
  }

  /** A record, or the status of a member. */
  changed(): void {
    this.#waiters.edge()
    this.#parts.onDidChange()
  }

  /** The Lead is live: what was cut off while a teammate was set up is decided, and what may be delivered is. */
  async start(): Promise<void> {
    if (this.isEmpty || this.#log.ledger.failure !== null || this.lead.session.access !== 'write') return
    await this.#reconcile()
    await this.#mailbox.pumpAll()
  }

  /** A member is live again, or the folder is trusted now. */
  deliver(targetId: string): Promise<void> {
    return this.#mailbox.pump(targetId)
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true
    this.#waiters.edge()
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#parts.clock.schedule(DISPOSAL_TIMEOUT_MS, () => {
      this.#parts.logger.warn('A team was closed while something of it was still under way.', { team: this.lead.id })
      resolve()
    })
    await Promise.race([Promise.all([this.#mailbox.close(), this.#log.close()]), promise])
    cancel()
  }

  // The roster

  async spawn(request: TeammateRequest): Promise<TeamMember> {
    const { context, signal } = request
    const member = this.#newMember(request)
    signal.throwIfAborted()
    const subagents = this.#parts.subagents()
    // What is refused here leaves the name free.
    subagents.governor.checkDepth(this.lead)
    try {
      await this.#log.change((team) => {
        checkRoom(team, member.name)
        signal.throwIfAborted()
        return { record: this.#memberRecord(member), result: undefined }
      })
    } catch (error) {
      // Its record stands all the same, and nobody is set up for it.
      if (isErrorOf(TeamError, error, 'TEAM_STORAGE_UNCERTAIN')) await this.#settle(member, error.message)
      throw error
    }
    try {
      await subagents.startContinuable({
        parent: this.lead,
        provider: providers[context],
        label: member.name,
        prompt: request.prompt,
        purpose: { kind: 'team', name: member.name },
        childId: member.id,
        signal,
        ...(request.isolation !== undefined && { isolation: request.isolation }),
        ...(request.callId !== undefined && { callId: request.callId }),
      })
    } catch (error) {
      await this.#settle(member, messageOf(error))
      throw this.#isDisposed ? disposed() : isHarnessError(error) && error.code === 'DUPLICATE_CHILD' ? new TeamError('TEAM_PROVISIONING_CONFLICT', `${member.name} could not be set up: its session is there already. Choose another name and try again.`, { cause: error }) : error
    }
    const settled = await this.#settle(member)
    await this.deliver(member.id)
    return settled
  }

  #newMember({ name, description, prompt, context }: TeammateRequest): TeamMember {
    if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || name.length > teamLimits.nameChars || name === LEAD)
      throw new TeamError('TEAM_INVALID_MEMBER_NAME', `${JSON.stringify(name.slice(0, 80))} is no name for a teammate. Use lower-case words with hyphens, such as “test-writer”, at most ${teamLimits.nameChars} characters, and not “lead”.`)
    if (description.trim() === '' || description.length > teamLimits.descriptionChars) throw new TeamError('TEAM_INVALID_ARGUMENT', `The description says what the teammate is for, in 1 to ${teamLimits.descriptionChars} characters; this one has ${description.length}.`)
    if (prompt.trim() === '') throw new TeamError('TEAM_INVALID_ARGUMENT', 'The prompt is empty. Say what the teammate is to do first.')
    return { id: this.#parts.newId(), name, description: description.trim(), provider: providers[context], context, phase: 'provisioning' }
  }

  #memberRecord(member: TeamMember) {
    return { type: 'team/member', data: { version: 1, teamId: this.lead.id, member } } as const
  }

  /** How setting a member up ended, durably; where the log is closed already, the next start of the Lead decides. */
  async #settle(member: TeamMember, error?: string): Promise<TeamMember> {
    const settled: TeamMember = error === undefined ? { ...member, phase: 'active' } : { ...member, phase: 'failed', error: error.slice(0, MAX_ERROR_CHARS) }
    try {
      return await this.#log.change((team) => {
        if (team.members.get(member.id)?.phase !== 'provisioning') throw new TeamError('TEAM_PROVISIONING_CONFLICT', `${member.name} was decided on by somebody else meanwhile. List the members.`)
        return { record: this.#memberRecord(settled), result: settled }
      })
    } catch (cause) {
      if (error === undefined) throw cause
      this.#parts.logger.warn('How setting up a teammate ended could not be recorded.', { team: this.lead.id, member: member.name, error: String(cause) })
      return settled
    }
  }

  /** Active only where the stored child is its own in every way. */
  async #reconcile(): Promise<void> {
    // Those of now: one that is set up from here on is not cut off.
    const cutOff = [...this.#log.ledger.members.values()].filter(({ phase }) => phase === 'provisioning')
    for (const member of cutOff) {
      const problem = await this.#problemOf(member)
      await this.#settle(member, problem ?? undefined)
    }
  }

  async #problemOf({ id, name, provider }: TeamMember): Promise<string | null> {
    try {
      const children = await this.#parts.subagents().children(this.lead.id)
      const isIt = children.some((child) => child.id === id && child.mode === 'continuable' && child.provider === provider && child.label === name)
      return isIt && (await this.#parts.receivedBy(id)).taskFrom === this.lead.id ? null : 'The window closed before it had its first task.'
    } catch (error) {
      return `The window closed while it was set up, and its session cannot be read: ${messageOf(error)}`
    }
  }

  roster(): readonly RosterRow[] {
    const team = this.#log.sound
    return [this.#leadRow(), ...[...team.members.values()].map((member) => this.#memberRow(member))]
  }

  #leadRow(): RosterRow {
    return { id: this.lead.id, name: LEAD, role: 'lead', status: this.lead.status, model: this.#parts.agents.configurationOf(this.lead.id).model, diagnostics: [] }
  }

  #memberRow(member: TeamMember): RosterRow {
    const { id, name, description, provider, context, error } = member
    const live = this.#liveMember(id)
    const isTaken = live === undefined && member.phase === 'active' && this.#parts.agents.live(id) !== undefined
    return {
      id, name, role: 'teammate', status: this.#statusOf(member), description, provider, context,
      ...(live && { model: this.#parts.agents.configurationOf(id).model }),
      diagnostics: [...(error === undefined ? [] : [error]), ...(isTaken ? ['The person works in its session; mail waits.'] : [])],
    }
  }

  #statusOf({ id, phase }: TeamMember): MemberStatus {
    if (phase !== 'active') return phase
    return this.#liveMember(id)?.status ?? 'inactive'
  }

  #liveMember(id: string): Agent | undefined {
    const agent = this.#parts.agents.live(id)
    return agent?.owner === this.lead && !agent.isDisposed ? agent : undefined
  }

  interrupt(target: string): { readonly previousStatus: 'running' | 'idle' | 'inactive' } {
    this.#checkOpen()
    if (target === LEAD) throw new TeamError('TEAM_INVALID_TARGET', 'The Lead cannot interrupt itself. Name a teammate.')
    const { id } = this.#active(target)
    const previousStatus = this.#liveMember(id)?.status ?? 'inactive'
    this.#parts.subagents().interrupt({ from: this.lead, childId: id })
    return { previousStatus }
  }

  async wait(agent: Agent, request: { readonly timeoutMs: number; readonly signal: AbortSignal }) {
    this.#checkOpen()
    const others = this.roster().filter(({ id }) => id !== agent.id)
    if (!others.some(({ status }) => status === 'running' || status === 'provisioning'))
      return { timedOut: false, noProgress: { reason: 'no-active-peer' as const, message: 'No other member is at work, so waiting changes nothing. Wake one with followup_task, or go on by yourself.' } }
    // Who waits needs no place among the agents at work.
    return this.#parts.subagents().governor.lend(agent, () => this.#waiters.next(request), request.signal)
  }

  // Mail

  async send(agent: Agent, { target, message, delivery, isFromPerson, signal }: MailRequest) {
    const senderName = isFromPerson === true ? 'the person' : this.nameOf(agent.id)
    const id = this.#parts.newId()
    const content = framed({ id, senderName, text: message })
    const queued = this.#log.change((team) => {
      const targetId = target === LEAD ? this.lead.id : this.#active(target, team).id
      if (targetId === agent.id) throw new TeamError('TEAM_SELF_MESSAGE', 'You cannot send a message to yourself. Name another member.')
      const waiting = team.mail.filter((one) => one.targetId === targetId).length
      if (waiting >= teamLimits.maxPendingMessagesPerMember) throw new TeamError('TEAM_MAILBOX_FULL', `${waiting} messages wait for ${target} already, and no more are taken. Nothing was sent; wake it with followup_task once it has read some, or do the work otherwise.`)
      signal.throwIfAborted()
      return { record: { type: 'team/message/queued', data: { version: 1, teamId: this.lead.id, message: { id, senderId: agent.id, senderName, targetId, delivery, content } } }, result: { targetId } }
    })
    const { targetId } = await queued.catch((error: unknown) => {
      // It waits here all the same.
      if (isErrorOf(TeamError, error, 'TEAM_STORAGE_UNCERTAIN')) void this.#mailbox.pumpAll()
      throw error
    })
    await this.deliver(targetId)
    return { messageId: id, status: this.#log.ledger.mail.some((one) => one.id === id) ? ('queued' as const) : ('accepted' as const) }
  }

  nameOf(id: string): string {
    return id === this.lead.id ? LEAD : (this.#log.ledger.members.get(id)?.name ?? id)
  }

  #active(name: string, team: TeamLedger = this.#log.sound): TeamMember {
    const member = [...team.members.values()].find((one) => one.name === name)
    if (member?.phase === 'active') return member
    const why = member === undefined ? `There is no member named ${JSON.stringify(name.slice(0, 80))}.` : `${name} is not active: it is ${member.phase}.`
    throw new TeamError('TEAM_MEMBER_NOT_FOUND', `${why} Use a name that list_agents shows.`)
  }

  // The board

  createTask(task: NewTask): Promise<TaskView> {
    return this.#changeTask((team) => createdTask(team.tasks, task))
  }

  updateTask(agent: Agent, { owner, ...change }: TaskUpdate): Promise<TaskView> {
    const actor: Actor = { id: agent.id, isLead: agent.id === this.lead.id }
    const name = change.action === 'reassign' ? (owner ?? '').trim() : ''
    return this.#changeTask((team) => {
      // Whatever else is wrong is told before a name that nobody has.
      const next = changedTask(team.tasks, actor, { ...change, ...(name !== '' && { ownerId: actor.id }) })
      return name === '' ? next : { ...next, ownerId: name === LEAD ? this.lead.id : this.#active(name, team).id }
    })
  }

  async #changeTask(plan: (team: TeamLedger) => TeamTask): Promise<TaskView> {
    const task = await this.#log.change((team) => {
      const next = plan(team)
      return { record: { type: 'team/task', data: { version: 1, teamId: this.lead.id, task: next } }, result: next }
    })
    return this.#taskView(task)
  }

  task(id: string): TaskView {
    const task = this.#log.sound.tasks.get(id)
    if (task === undefined) throw new TeamError('TEAM_TASK_NOT_FOUND', `There is no task ${JSON.stringify(id.slice(0, 80))}. List the board and use an id from there.`)
    return this.#taskView(task)
  }

  tasks({ status, owner, ready, cursor = 0, limit = 50 }: TaskFilter): { readonly tasks: readonly TaskView[]; readonly nextCursor?: number } {
    if (!Number.isSafeInteger(cursor) || cursor < 0) throw new RangeError(`cursor is ${cursor}, and must be a whole number of 0 or more: take the nextCursor of the page before.`)
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > teamLimits.pageTasks) throw new RangeError(`limit is ${limit}, and must be a whole number from 1 to ${teamLimits.pageTasks}.`)
    const fitting = this.#alive().filter((task) => (status === undefined || task.status === status) && (ready === undefined || task.ready === ready) && (owner === undefined || (task.ownerName ?? 'unowned') === owner))
    const end = cursor + limit
    return { tasks: fitting.slice(cursor, end), ...(end < fitting.length && { nextCursor: end }) }
  }

  #alive(): readonly TaskView[] {
    return [...this.#log.sound.tasks.values()].filter(({ status }) => status !== 'deleted').map((task) => this.#taskView(task))
  }

  #taskView({ ownerId, ...task }: TeamTask): TaskView {
    const { tasks } = this.#log.ledger
    const { id, revision, subject, description, status, blockedBy, writeScopes } = task
    return {
      id, revision, subject, description, status, ...(ownerId !== undefined && { ownerName: this.nameOf(ownerId) }), blockedBy, writeScopes,
      ready: isReady(tasks, task),
      writeScopeWarnings: status === 'deleted' ? [] : scopeWarnings(tasks, task),
    }
  }

  activeScopes(): readonly ActiveScopes[] {
    return [...this.#log.ledger.tasks.values()].flatMap(({ id, status, ownerId, writeScopes }) => (status === 'in_progress' && ownerId !== undefined ? [{ taskId: id, ownerId, ownerName: this.nameOf(ownerId), scopes: writeScopes }] : []))
  }

  /** A teammate at work, or a task in progress. */
  get isAtWork(): boolean {
    const { members } = this.#log.ledger
    return [...members.values()].some((member) => this.#statusOf(member) === 'running')
  }

  overview(): TeamOverview {
    const { failure } = this.#log.ledger
    if (failure !== null) return { teamId: this.lead.id, roster: [this.#leadRow()], tasks: [], mail: [], problem: `Event ${failure.seq} of the log: ${failure.problem}` }
    return { teamId: this.lead.id, roster: this.roster(), tasks: this.#alive(), mail: this.#mail(), problem: null }
  }

  #mail(): readonly MailView[] {
    const waiting = new Set(this.#log.ledger.mail.map(({ id }) => id))
    const queued = this.lead.session.milestones().filter((event) => event.type === 'team/message/queued' && event.data.teamId === this.lead.id)
    return queued.slice(-MAX_SHOWN_MAIL).flatMap((event) => {
      if (event.type !== 'team/message/queued') return []
      const { id, senderName, targetId, delivery, content } = event.data.message
      return [{ id, at: event.time, from: senderName, to: this.nameOf(targetId), delivery, text: content.slice(1).map(({ text }) => text).join('\n'), isDelivered: !waiting.has(id) }]
    })
  }

  #checkOpen(): void {
    if (this.#isDisposed || this.lead.isDisposed) throw disposed()
  }
}

function checkRoom(team: TeamLedger, name: string): void {
  const names = [...team.members.values()].map((member) => member.name)
  if (names.includes(name)) throw new TeamError('TEAM_MEMBER_NAME_TAKEN', `There was a teammate named ${name}, and a name is never used again. Choose another one.`)
  if (names.length >= teamLimits.maxMembers) throw new TeamError('TEAM_MEMBER_LIMIT', `The team had ${names.length} teammates, and no more than ${teamLimits.maxMembers} names fit. Give the work to one that is there.`)
}
