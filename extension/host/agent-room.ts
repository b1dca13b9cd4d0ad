import type { Undo } from '../base/undo.ts'
import type { UserMessage } from '../core/log/message.ts'
import { isLiveChild, costWords, oneLine } from './agent-words.ts'
import { agentOfNode, agentTree, type TreeAgent, type TreeFamily } from './agent-tree.ts'
import type { ChildFacts } from '../features/subagents/service.ts'
import type { AgentView } from '../protocol/view-state.ts'
import { restoreBeforeAgent, showAgentChanges } from './agent-changes.ts'
import type { AgentCommand } from './agent-commands.ts'
import type { ChatState } from './chat-state.ts'
import type { ChildWorkRoom } from './child-work.ts'
import type { SessionOpening } from './session-opening.ts'

interface Parts {
  readonly chat: ChatState
  readonly opening: Pick<SessionOpening, 'open' | 'childChanged' | 'isOwn'>
  readonly childWork: Pick<ChildWorkRoom, 'review'>
}

/** What agents do comes in bursts, and a tree that is drawn anew more often cannot be read. */
const PAUSE_MS = 100
/** Times are told in seconds at first; a tree that moves each second cannot be pointed at. */
const AGE_MS = 10_000

/** Agents that agents started, before the person: the tree, the cards of the calls that started them, and everything that can be done with one. */
export class AgentRoom {
  readonly #parts: Parts
  readonly #chat: ChatState
  /** Of stored sessions too, by the session that started them, once they were looked up. */
  readonly #stored = new Map<string, readonly ChildFacts[]>()
  /** Which session started which, of all that are stored. */
  #startedBy: ReadonlyMap<string, string> = new Map()
  readonly #conditions = new Set<string>()
  #cancelDraw: Undo | null = null
  #cancelAge: Undo | null = null
  /** The family that was looked up last. */
  #lookedUp: string | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    this.#chat = parts.chat
  }

  /** Follow the agents until the undo is called. */
  attach(): Undo {
    const { agentTree: view } = this.#chat.world
    const undos = [
      this.#chat.services.subagents.onDidChange(() => {
        this.#parts.opening.childChanged()
        this.refreshSoon()
      }),
      view.onDidChangeVisible(() => {
        this.#lookedUp = null
        this.refresh()
      }),
      view.onDidOpen((nodeId) => {
        const id = agentOfNode(nodeId)
        if (id !== null && !this.#stored.has(id)) this.#lookUp(id)
      }),
    ]
    this.refresh()
    return () => {
      for (const undo of undos) undo()
      this.#cancelDraw?.()
      this.#cancelAge?.()
      view.show({ nodes: [] })
    }
  }

  refreshSoon(): void {
    if (this.#chat.isDisposed) return
    this.#cancelDraw ??= this.#chat.world.clock.schedule(PAUSE_MS, () => this.refresh())
  }

  refresh(): void {
    const { clock, l10n, agentTree: view } = this.#chat.world
    const { governor } = this.#chat.services.subagents
    this.#cancelDraw?.()
    this.#cancelDraw = null
    this.#cancelAge?.()
    const facts = this.#facts()
    const families = this.#families(facts)
    view.show(agentTree({ families, governor, now: clock.now() }, l10n))
    this.#cancelAge = view.isVisible() && facts.some(isLiveChild) ? clock.schedule(AGE_MS, () => this.refresh()) : null
    this.#chat.model.set('agents', this.#cards(this.#chat.shown?.session.id, facts))
    this.#refreshConditions(families.flatMap(({ agents }) => flat(agents)))
    if (this.#chat.shown?.child != null) {
      this.#chat.refresh.session()
      this.#chat.refresh.queue()
      this.#chat.refresh.composer()
    }
    const root = this.#shownRoot()
    if (view.isVisible() && root !== null && this.#lookedUp !== root) {
      this.#lookedUp = root
      this.#lookUp(root)
    }
  }

  async focus(): Promise<void> {
    await this.#chat.world.agentTree.focus()
  }

  /** How many are at work or wait for a place, for whoever counts them. */
  workingCount(): number {
    const { running, queued } = this.#chat.services.subagents.governor
    return running + queued
  }

  // What the person asks for

  /** What a card or the transcript of an agent asks for. */
  async act(id: string, action: 'interrupt' | 'take-over'): Promise<void> {
    await this.run(action, `agent:${id}`)
  }

  /** A command of a menu, with the node that it was opened on, or of the palette, which asks for the agent. */
  async run(command: AgentCommand, nodeId: string | null): Promise<void> {
    const { editor } = this.#chat.world
    if (command === 'limits') return await editor.openSettings('bosun.subagents.max')
    if (command === 'open' && nodeId?.startsWith('session:') === true) return await this.#open(nodeId.slice('session:'.length))
    const id = nodeId === null ? await this.#pick(command) : agentOfNode(nodeId)
    const facts = id === null ? undefined : (this.#facts().find((one) => one.id === id) ?? (await this.#find(id)))
    if (id === null || facts === undefined) return
    const { services } = this.#chat
    switch (command) {
      case 'open':
        return await this.#open(id)
      case 'interrupt':
        return this.interrupt(id)
      case 'message':
        return await this.#message(facts)
      case 'take-over':
        return await this.#takeOver(facts)
      case 'stop-job':
        if (facts.jobId !== undefined) services.jobs.kill('person', facts.jobId)
        return
      case 'changes':
        return await showAgentChanges(this.#chat, facts)
      case 'restore':
        return await restoreBeforeAgent(this.#chat, facts)
      case 'review-work':
        if (facts.parentId !== this.#chat.shown?.session.id) await this.#parts.opening.open(facts.parentId)
        return await this.#parts.childWork.review(facts.worktree?.branch)
      case 'copy-id':
        await editor.copy(id)
    }
  }

  interrupt(id: string): void {
    if (this.#chat.services.subagents.interrupt({ from: 'person', childId: id })) return
    this.#chat.notice('agents', 'info', this.#chat.world.l10n.t('This agent does not work now, so there is nothing to interrupt.'))
  }

  /** Words of the person for an agent that another one started. Errors: `SubagentError`; nothing was delivered then. */
  async send(id: string, parentId: string, content: UserMessage['content'], mode: 'now' | 'next-turn'): Promise<void> {
    const { l10n, machine } = this.#chat.world
    const from = this.#chat.services.agents.live(parentId)
    if (from === undefined) throw new Error(l10n.t('The session that started this agent is not open. Open it first, or take this conversation over.'))
    await this.#chat.services.subagents.send({ from, childId: id, message: { id: machine.randomId(), role: 'user', content, source: { kind: 'user' } }, mode })
  }

  async #open(id: string): Promise<void> {
    await this.#parts.opening.open(id)
    await this.#chat.world.editor.showChat()
  }

  async #message({ id, parentId, label }: ChildFacts): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const text = await editor.input({ title: l10n.t('Message to “{label}”', { label: oneLine(label) }), prompt: l10n.t('It gets this as a turn of its own, after what it does now.') })
    if (text === null || text.trim() === '') return
    await this.send(id, parentId, [{ type: 'text', text }], 'next-turn')
  }

  /** It becomes a session of the person's; who started it cannot speak to it any more. */
  async #takeOver({ id, label, status }: ChildFacts): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const detail = [
      ...(isLiveChild({ status }) ? [t('What it does now is interrupted; what waits for it stays.')] : []),
      t('It becomes a session of yours, in your list. The agent that started it can neither speak to it nor hear of it any more.'),
    ].join(' ')
    if (!(await editor.confirm({ text: t('Take over “{label}”?', { label: oneLine(label) }), detail, yes: t('Take Over') }))) return
    await this.#chat.services.subagents.promote(id)
    for (const [parent, children] of this.#stored) this.#stored.set(parent, children.filter((child) => child.id !== id))
    this.#chat.transcripts.forget(id)
    await this.#open(id)
    await this.#chat.refresh.list()
    this.refresh()
  }

  async #pick(command: Exclude<AgentCommand, 'limits'>): Promise<string | null> {
    const { editor, l10n } = this.#chat.world
    const fitting = this.#families(this.#facts()).flatMap(({ agents }) => flat(agents)).filter((agent) => fits(command, agent))
    if (fitting.length === 0) {
      this.#chat.notice('agents', 'info', l10n.t('There is no agent that this can be done with.'))
      return null
    }
    if (fitting.length === 1) return fitting[0]!.id
    return await editor.pick({ title: l10n.t('Which agent?'), items: fitting.map(({ id, label, lastLine }) => ({ id, label: oneLine(label), ...(lastLine !== undefined && { description: oneLine(lastLine) }) })) })
  }

  // What is known

  /** One that is stored, and was not looked up as somebody's child yet. */
  async #find(id: string): Promise<ChildFacts | undefined> {
    const parent = (await this.#chat.services.sessions.list()).find((summary) => summary.id === id)?.startedBy
    return parent === undefined ? undefined : (await this.#chat.services.subagents.children(parent)).find((one) => one.id === id)
  }

  /** Reads what is stored beside logs; the tree is drawn without it meanwhile. */
  #lookUp(parent: string): void {
    this.#lookUpNow(parent).catch((error: unknown) => this.#chat.logError(error))
  }

  async #lookUpNow(parent: string): Promise<void> {
    const { sessions, subagents } = this.#chat.services
    const summaries = await sessions.list()
    this.#startedBy = new Map(summaries.flatMap(({ id, startedBy }) => (startedBy === undefined ? [] : [[id, startedBy]])))
    this.#stored.set(parent, await subagents.children(parent))
    if (!this.#chat.isDisposed) this.refresh()
  }

  /** What this process knows is newer than what was stored. */
  #facts(): readonly ChildFacts[] {
    const known = this.#chat.services.subagents.known()
    const ids = new Set(known.map(({ id }) => id))
    return [...[...this.#stored.values()].flat().filter(({ id }) => !ids.has(id)), ...known].filter(({ id }) => !this.#parts.opening.isOwn(id)).toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0))
  }

  /** The session at the top of what is on screen. */
  #shownRoot(): string | null {
    const { shown, services } = this.#chat
    let id = shown?.child?.parentId ?? shown?.session.id ?? null
    for (let above = id; above !== null && above !== undefined; above = services.subagents.facts(above)?.parentId ?? this.#startedBy.get(above) ?? null) id = above
    return id
  }

  #families(facts: readonly ChildFacts[]): readonly TreeFamily[] {
    const byParent = Map.groupBy(facts, ({ parentId }) => parentId)
    const parents = new Set(this.#startedBy.values())
    const ids = new Set(facts.map(({ id }) => id))
    const agentsOf = (parent: string): readonly TreeAgent[] => (byParent.get(parent) ?? []).map((one) => this.#treeAgent(one, agentsOf(one.id), parents.has(one.id) && !this.#stored.has(one.id)))
    const shown = this.#shownRoot()
    const roots = [...byParent.keys()].filter((id) => !ids.has(id))
    const families = roots.map((id): TreeFamily => ({ id, title: this.#titleOf(id), agents: agentsOf(id) }))
    // Of sessions that are not on screen, those in which something happens.
    return families.filter(({ id, agents }) => id === shown || flat(agents).some(isLiveChild)).toSorted((a, b) => Number(b.id === shown) - Number(a.id === shown))
  }

  #titleOf(id: string): string {
    const { services, world } = this.#chat
    const session = services.sessions.live(id)
    return session === undefined ? (this.#chat.model.get('sessions').find((item) => item.id === id)?.title ?? world.l10n.t('New session')) : this.#chat.titleOf(session)
  }

  #treeAgent(facts: ChildFacts, children: readonly TreeAgent[], hasMore: boolean): TreeAgent {
    const isSession = this.#isSession(facts)
    return {
      ...facts,
      isAsking: this.#isAsking(facts.id),
      cost: this.#cost(facts.id),
      isSession,
      canMessage: facts.mode === 'continuable' && this.#chat.services.agents.live(facts.parentId)?.session.access === 'write',
      canTakeOver: isSession && (facts.mode === 'continuable' || !isLiveChild(facts)),
      hasJob: facts.jobId !== undefined,
      hasWork: this.#hasWork(facts),
      children,
      hasMore,
    }
  }

  #cards(parent: string | undefined, facts: readonly ChildFacts[]): readonly AgentView[] {
    return facts.flatMap((one) => (one.parentId === parent && parent !== undefined ? [this.#card(one, facts)] : []))
  }

  #card(one: ChildFacts, facts: readonly ChildFacts[]): AgentView {
    const { id, callId, label, status, lastLine, startedAt, createdAt, endedAt } = one
    const isSession = this.#isSession(one)
    return {
      id,
      callId: callId ?? null,
      label: oneLine(label),
      state: status,
      isAsking: this.#isAsking(id),
      lastLine: lastLine === undefined ? null : oneLine(lastLine),
      cost: this.#cost(id),
      startedAt: startedAt ?? createdAt ?? 0,
      endedAt: endedAt ?? null,
      canOpen: isSession,
      canInterrupt: isSession && (status === 'running' || status === 'queued' || status === 'waiting'),
      children: this.#cards(id, facts),
    }
  }

  /** Those of other programs have no session here. */
  #isSession({ id, provider }: ChildFacts): boolean {
    return this.#chat.services.subagents.provider(provider)?.isLocal === true || this.#startedBy.has(id)
  }

  #isAsking(id: string): boolean {
    return this.#chat.stateOf(id) === 'waiting'
  }

  #cost(id: string): string | null {
    return costWords(this.#chat.services.costs.ownCost(id)?.total, this.#chat.world.l10n)
  }

  #hasWork({ parentId, worktree }: ChildFacts): boolean {
    const session = this.#chat.services.agents.live(parentId)?.session
    if (worktree === undefined || session === undefined) return false
    return this.#chat.services.get('worktrees')?.waiting(session).some(({ branch }) => branch === worktree.branch) === true
  }

  #refreshConditions(agents: readonly TreeAgent[]): void {
    const facts = {
      'bosun.agents': agents.length > 0,
      'bosun.agents.working': agents.some((agent) => fits('interrupt', agent)),
      'bosun.agents.writable': agents.some((agent) => fits('message', agent)),
      'bosun.agents.takeable': agents.some((agent) => fits('take-over', agent)),
    }
    for (const [name, isTrue] of Object.entries(facts)) {
      if (this.#conditions.has(name) === isTrue) continue
      if (isTrue) this.#conditions.add(name)
      else this.#conditions.delete(name)
      this.#chat.world.editor.setCondition(name, isTrue)
    }
  }
}

const flat = (agents: readonly TreeAgent[]): readonly TreeAgent[] => agents.flatMap((agent) => [agent, ...flat(agent.children)])

function fits(command: Exclude<AgentCommand, 'limits'>, agent: TreeAgent): boolean {
  switch (command) {
    case 'interrupt':
      return agent.isSession && (agent.status === 'running' || agent.status === 'queued' || agent.status === 'waiting')
    case 'message':
      return agent.canMessage
    case 'take-over':
      return agent.canTakeOver
    case 'stop-job':
      return agent.hasJob && isLiveChild(agent)
    case 'review-work':
      return agent.hasWork
    case 'copy-id':
      return true
    case 'open':
    case 'changes':
    case 'restore':
      return agent.isSession
  }
}
