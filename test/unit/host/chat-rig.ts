import type { LanguageServerReport } from '../../../extension/capabilities/language-servers.ts'
import type { ToolCallView, ToolResultView } from '../../../extension/protocol/cards.ts'
import { effectOf, ownEffects } from '../../../extension/core/policy/tool-effects.ts'
import { noCost } from '../../../extension/core/cost/cost-projection.ts'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { Json } from '../../../extension/base/json.ts'
import { PresetError } from '../../../extension/core/presets/preset.ts'
import { CommandError } from '../../../extension/core/commands/command.ts'
import type { EventDraft, SandboxMode } from '../../../extension/core/log/event.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import type { AgentOptions } from '../../../extension/core/loop/points.ts'
import type { ModelAdapter } from '../../../extension/core/model/contract.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import type { SessionSummary } from '../../../extension/core/session/session.ts'
import type { ChildFacts, Subagents } from '../../../extension/features/subagents/service.ts'
import type { Worktrees } from '../../../extension/features/subagents/worktree/service.ts'
import type { FileMark } from '../../../extension/capabilities/file-marks.ts'
import type { Teams } from '../../../extension/features/teams/service.ts'
import { createPlanReviews } from '../../../extension/features/plan/reviews.ts'
import { createTaskBook } from '../../../extension/features/todo/tasks.ts'
import type { Mcp } from '../../../extension/features/mcp/service.ts'
import { createJobs } from '../../../extension/features/jobs/jobs.ts'
import { createSettings } from '../../../extension/core/settings/service.ts'
import type { DynamicPlugins } from '../../../extension/features/dynamic-plugins/service.ts'
import type { AgentChanges, Reviews } from '../../../extension/features/checkpoints/service.ts'
import type { History } from '../../../extension/features/history/service.ts'
import type { Goals } from '../../../extension/features/goals/service.ts'
import type { Answer, PendingQuestions } from '../../../extension/features/questions/service.ts'
import type { Schedules } from '../../../extension/features/schedule/service.ts'
import type { RunFacts } from '../../../extension/features/workflow/projection.ts'
import { ChatController } from '../../../extension/host/chat-controller.ts'
import { pathReference } from '../../../extension/features/references/parse-references.ts'
import type { ChatServices } from '../../../extension/host/chat-services.ts'
import { FRAME_MS } from '../../../extension/host/view-feed.ts'
import { PROTOCOL_VERSION, type HostMessage, type ViewMessage } from '../../../extension/protocol/messages.ts'
import type { Row, ViewState } from '../../../extension/protocol/view-state.ts'
import { createFakeAgent, type FakeAgent } from '../../support/fake-agent.ts'
import { createFakeAttention } from '../../support/fake-attention.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'
import { createFakeLogs, createFakeMarks, createFakeTerminalViews, createFakeTree } from '../../support/fake-job-views.ts'
import { createFakePlanSurface } from '../../support/fake-plan-surface.ts'
import { createFakeReviewSurface } from '../../support/fake-review-surface.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { memoryMemento } from '../../support/memory-memento.ts'
import { memorySecrets } from '../../support/memory-secrets.ts'
import { memorySettings, type SettingValues } from '../../support/memory-settings.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { createScriptedAdapter } from '../../support/scripted-adapter.ts'
import { fakeChannel } from './fake-channel.ts'

export interface RigOptions {
  /** Of every session, as the projection gives them. */
  readonly runs?: readonly RunFacts[]
  readonly runningRuns?: readonly string[]
  /** Terminals of the person's that agents have. */
  readonly lentTerminals?: number
  readonly folders?: readonly string[]
  readonly isTrusted?: boolean
  readonly memento?: Readonly<Record<string, Json>>
  readonly settings?: SettingValues
  readonly secrets?: Readonly<Record<string, string>>
  readonly adapters?: readonly ModelAdapter[]
  /** Entries of the settings that do not count. */
  readonly modelProblems?: readonly string[]
  /** Sessions that an agent started: whose, and what for. */
  readonly children?: Readonly<Record<string, { readonly parent: string; readonly label: string; readonly isNamed?: true }>>
  /** Agents that agents started, as this process knows them, and as they are stored. */
  readonly agents?: readonly ChildFacts[]
  readonly storedAgents?: readonly ChildFacts[]
  readonly environment?: Readonly<Record<string, string>>
  /** Sessions that another window writes. */
  readonly elsewhere?: readonly string[]
  /** What keeps sessions from being written, by id. */
  readonly obstacles?: Readonly<Record<string, string>>
  /** Logs of sessions on the disk by id. */
  readonly stored?: Readonly<Record<string, readonly EventDraft[]>>
  /** That of the settings, where it is none of those that come with Bosun; `isFile`: it stands in a file that is read when somebody looks. */
  readonly defaultPreset?: { readonly id: string; readonly isFile: boolean }
  /** Presets whose sessions begin with reading alone. */
  readonly readingPresets?: readonly string[]
  /** In the place of sessions without a goal. */
  readonly goals?: Partial<Goals>
  /** In the place of a session in which nothing waits. */
  readonly reviews?: Partial<Reviews>
  readonly agentChanges?: Partial<AgentChanges>
  readonly worktrees?: Partial<Worktrees>
  readonly teams?: Partial<Teams>
  /** In the place of none. */
  readonly plugins?: Partial<DynamicPlugins>
  /** How every tool draws its calls; absent: as their arguments. */
  readonly presentCall?: (args: never) => ToolCallView
  readonly presentResult?: () => ToolResultView
  /** More of what the list says of stored sessions. */
  readonly summaries?: Readonly<Record<string, Partial<SessionSummary>>>
  /** Stored sessions whose turns wait for the person. */
  readonly waits?: readonly string[]
  readonly languageServers?: readonly LanguageServerReport[]
  readonly clock?: ManualClock
  /** In the place of sessions without any. */
  readonly schedules?: Schedules
  /** What is kept beside the logs of sessions that are not open, by session and unit. */
  readonly kept?: Readonly<Record<string, Json>>
  /** In the place of one that finds nothing. */
  readonly history?: Partial<History>
  /** In the place of MCP servers that nobody configured. */
  readonly mcp?: Partial<Mcp>
}

export const realModel: ModelAdapter = {
  ...createScriptedAdapter([], { provider: 'deepseek-official', model: { name: 'Deep', reasoningEfforts: ['low', 'high'] } }),
  provider: { id: 'deepseek-official', name: 'DeepSeek', keyName: 'DEEPSEEK_API_KEY' },
}
export const tour = createScriptedAdapter([], { provider: 'tour', model: { name: 'Tour' } })

/** The controller over fakes of every service, with one page that keeps the state as a view would. */
export async function chatRig(options: RigOptions = {}) {
  const agents = new Map<string, FakeAgent>()
  const optionsOf = new Map<string, AgentOptions>()
  const presetOf = new Map<string, string>()
  const titles = new Map<string, string>()
  const elsewhere = new Set(options.elsewhere)
  const stored = new Map(Object.entries(options.stored ?? {}))
  const calls: unknown[] = []
  const knownPresets = new Set(['editor', 'ask', 'team'])
  const archived = new Set<string>()
  const forks = new Map<string, string>()
  const folders = (options.folders ?? ['/project']).map((path) => ({ name: path.slice(1), path }))
  const signals = { approvals: new Set<() => void>(), questions: new Set<() => void>(), trust: new Set<() => void>(), agents: new Set<() => void>() }
  const listenTo = (set: Set<() => void>) => (listener: () => void) => {
    set.add(listener)
    return () => void set.delete(listener)
  }
  let children: readonly ChildFacts[] = options.agents ?? []
  const promoted = new Set<string>()
  const governor = { running: 0, queued: 0, limits: { maxConcurrent: 10, maxDepth: 3, maxTotal: 100 } }
  let isTrusted = options.isTrusted ?? true
  let approvals: ApprovalRequest[] = []
  let questions: PendingQuestions[] = []
  const modes = new Map<string, SandboxMode>()
  const planning = new Set<string>()
  let attached = 0
  /** The session that waits for a retry. */
  let waits: string | null = null

  const logger = createRecordingLogger()
  let taskIds = 0
  const tasks = createTaskBook({ logger, newId: () => `mine-${(taskIds += 1)}` })
  const clock = options.clock ?? createManualClock()
  const editor = createFakeEditor()
  const attention = createFakeAttention()
  const agentTree = createFakeTree()
  const [mcpTree, logViews] = [createFakeTree(), createFakeLogs()]
  const [jobTree, problemMarks, terminalViews] = [createFakeTree(), createFakeMarks(), createFakeTerminalViews()]
  const blobs = createMemoryBlobStore()
  const memento = memoryMemento(options.memento)
  const source = memorySettings(options.settings)
  const secrets = memorySecrets(options.secrets, options.environment)
  const settings = createSettings({ source, logger })
  const jobs = createJobs({ clock, logger, onStart() {}, onProgram() {}, onEnd() {}, onRestart() {}, onWaits() {}, onMatch: (_owner, { id }, line) => void calls.push(['wake', id, line]) })

  const live = (id: string, events: readonly EventDraft[] = []) => {
    const owner = promoted.has(id) ? undefined : agents.get(children.find((child) => child.id === id)?.parentId ?? options.children?.[id]?.parent ?? '')
    const agent = createFakeAgent({ id, cwd: '/project', events, ...(owner && { owner }) })
    agent.status = 'idle'
    const queue = {
      edit: (messageId: string, content: UserMessage['content']) => calls.push(['edit', messageId, content]) > 0,
      remove: (messageId: string) => calls.push(['remove', messageId]) > 0,
      steerNow: (messageId: string) => calls.push(['steerNow', messageId]) > 0,
    }
    const isElsewhere = elsewhere.has(id)
    const session = {
      ...agent.session,
      access: isElsewhere || options.obstacles?.[id] !== undefined ? ('read-only' as const) : ('write' as const),
      obstacle: options.obstacles?.[id],
      ...(isElsewhere ? { writer: { pid: 7, host: 'ship', since: 0 } } : {}),
      follow() {
        if (isElsewhere) calls.push(['follow', id])
        return () => void (isElsewhere && calls.push(['unfollow', id]))
      },
      projections: () => ({ asOfSeq: 0, values: { title: titles.get(id) ?? '' } }),
    }
    Object.defineProperty(session, 'length', { get: () => agent.log.length })
    const rigged: FakeAgent = Object.assign(agent, {
      queue,
      session,
      cancel: (...args: unknown[]) => void calls.push(['cancel', ...args]),
      continueTurn: () => void calls.push(['continue']),
      async dispose() {
        calls.push(['dispose', id])
        agents.delete(id)
      },
    })
    agents.set(id, rigged)
    return rigged
  }

  const factsOf = (id: string) => [...children, ...(options.storedAgents ?? [])].find((child) => child.id === id)
  const startedBy = (id: string) => factsOf(id)?.parentId ?? options.children?.[id]?.parent
  const descriptorOf = (id: string) => {
    const facts = factsOf(id)
    return facts === undefined ? null : { version: 2, mode: facts.mode, provider: facts.provider, label: facts.label }
  }

  const services = {
    agents: {
      async create(spec: { readonly cwd: string; readonly preset?: string; readonly agent?: AgentOptions }) {
        calls.push(['create', spec])
        const id = `s${agents.size + 1}`
        optionsOf.set(id, spec.agent ?? {})
        presetOf.set(id, spec.preset ?? 'editor')
        stored.set(id, [])
        return live(id)
      },
      async resume(id: string) {
        const events = stored.get(id)
        if (agents.has(id)) return agents.get(id)!
        if (events === undefined) throw new Error(`There is no session ${id}.`)
        calls.push(['resume', id])
        const resumed = live(id, events)
        if (options.waits?.includes(id) === true) resumed.status = 'running'
        return resumed
      },
      live: (id: string) => agents.get(id),
      list: () => [...agents.values()],
      configure: (id: string, next: AgentOptions) => void optionsOf.set(id, next),
      optionsOf: (id: string) => optionsOf.get(id) ?? {},
      presetOf: (id: string) => presetOf.get(id) ?? 'editor',
      selectPreset: (id: string, preset: string) => void presetOf.set(id, preset),
    },
    approvals: {
      request: () => Promise.reject(new Error('not here')),
      pending: () => approvals,
      answer(id: string, answer: ApprovalAnswer) {
        const known = approvals.some((request) => request.id === id)
        if (known) {
          calls.push(['approval', id, answer])
          approvals = approvals.filter((request) => request.id !== id)
          for (const listener of signals.approvals) listener()
        }
        return known
      },
      attach: () => {
        attached += 1
        return () => void (attached -= 1)
      },
      onDidChange: listenTo(signals.approvals),
    },
    commands: {
      entries: () => [{ name: 'model', description: 'Which model answers.', hint: 'model' }],
      lookUp: async (line: string) => (line.startsWith('/gone') ? new CommandError('UNKNOWN_COMMAND', 'There is no command /gone.') : null),
      async run({ id }: FakeAgent, line: string) {
        calls.push(['command', id, line])
        return { commandId: 'c', kind: 'success' }
      },
    },
    eventTypes: { get: () => ({}) },
    goals: { read: () => null, isInRound: () => false, knowsErrors: false, onDidChange: () => () => {}, ...options.goals },
    modelProblems: { list: () => options.modelProblems ?? [] },
    retries: {
      waiting: () => null,
      tryNow(agent: FakeAgent) {
        if (waits !== agent.id) return false
        calls.push(['try now', agent.id])
        return true
      },
    },
    modelRoutes: {
      async useNow(agent: FakeAgent, route: { readonly provider: string; readonly model: string }) {
        if (waits === agent.id) calls.push(['use now', route.provider, route.model])
        return waits === agent.id
      },
    },
    models: {
      register: () => () => {},
      get: (id: string) => (options.adapters ?? [realModel, tour]).find(({ provider }) => provider.id === id),
      list: () => options.adapters ?? [realModel, tour],
      prepareCall: () => {
        throw new Error('not here')
      },
    },
    permissions: {
      modeOf: (id: string) => modes.get(id) ?? 'workspace-write',
      defaultMode: (preset?: string) => (isTrusted && !options.readingPresets?.includes(preset ?? '') ? 'workspace-write' : 'read-only'),
      select: (id: string, mode: SandboxMode) => void modes.set(id, mode),
      presetOf: (id: string) => modes.get(id) ?? 'workspace-write',
      rules: () => [],
      uses: () => new Map(),
      effectOf: (tool: string, args: Json) => effectOf(tool === 'cordis_run' ? () => ({ kind: 'script', words: '', why: '', isKnown: false }) : ownEffects.get(tool), args),
      onDidChange: () => () => {},
    },
    plan: {
      isActive: ({ id }: { readonly id: string }) => planning.has(id),
      pending: () => null,
      isHeld: ({ id }: { readonly id: string }) => planning.has(id),
      set: ({ id }: { readonly id: string }, target: boolean) => (target ? planning.add(id) : planning.delete(id), 'committed'),
      allowOnce: (_agent: unknown, callId: string) => calls.push(['allow-once', callId]) > 0,
      onDidChange: () => () => {},
    },
    presets: {
      discover: async () => {
        calls.push(['discover'])
        if (options.defaultPreset?.isFile === true) knownPresets.add(options.defaultPreset.id)
      },
      get: (id: string) => (knownPresets.has(id) ? { id } : undefined),
      list: () => [
        { id: 'editor', name: 'Editor', description: 'Everything.' },
        { id: 'ask', name: 'Ask', description: 'Reads only.' },
        { id: 'team', name: 'Team', description: 'Many.', problem: 'Teams are not there.' },
      ],
      defaultId: () => options.defaultPreset?.id ?? 'editor',
      scopeOf: (id: string) => {
        if (!knownPresets.has(id)) throw new PresetError('UNKNOWN_PRESET', `There is no preset named ${id}.`)
        return { label: id, parent: null }
      },
    },
    projections: {
      register: () => () => {},
      snapshot: () => ({ asOfSeq: 0, values: { todos: null, workflows: options.runs ?? [] } }),
      onDidChange: () => () => {},
    },
    history: { find: async () => ({ hits: [], remaining: 0 }), ...options.history } as History,
    hooks: { report: async () => ({ files: [], skipped: [] }), dryRun: async () => [], allow: async () => undefined, onDidChange: () => () => undefined },
    instructions: {
      async report(asked: { readonly cwd: string } | { readonly session: { readonly id: string } }) {
        calls.push(['instructions', 'cwd' in asked ? asked.cwd : asked.session.id])
        return { rows: [], maxBytes: 65_536 }
      },
    },
    subagents: {
      governor,
      known: () => children,
      facts: (id: string) => children.find((child) => child.id === id) ?? options.children?.[id],
      children: async (parent: string) => [...children, ...(options.storedAgents ?? [])].filter(({ parentId }) => parentId === parent),
      provider: (name: string) => ({ name, isLocal: name !== 'codex' }),
      interrupt({ childId }: { readonly childId: string }) {
        calls.push(['interrupt', childId])
        return children.some(({ id, status }) => id === childId && status === 'running')
      },
      async send({ from, childId, message, mode }: Parameters<Subagents['send']>[0]) {
        calls.push(['tell', from.id, childId, message.content, message.source.kind, mode])
      },
      async promote(id: string) {
        calls.push(['promote', id])
        children = children.filter((child) => child.id !== id)
        await agents.get(id)?.dispose()
        promoted.add(id)
        live(id, stored.get(id))
        for (const listener of signals.agents) listener()
      },
      onDidChange: listenTo(signals.agents),
    },
    agentChanges: {
      filesOf: async () => ['/project/a.ts'],
      startOf: async () => [{ path: '/project/a.ts', before: 'was', session: 'a', turn: 1 }],
      planBefore: async () => ({ paths: ['/project/a.ts'], agents: 2 }),
      restoreBefore: async (id: string) => (calls.push(['restore-before', id]), { paths: ['/project/a.ts'], conflicts: [], problems: [] }),
      ...options.agentChanges,
    },
    teams: { overview: () => null, allActiveScopes: () => [], onDidChange: () => () => undefined, ...options.teams },
    workflows: {
      limits: { resultChars: 1, totalAgents: 1, itemsPerCall: 1 },
      isRunning: (runId: string) => options.runningRuns?.includes(runId) === true,
      cancel: (runId: string, reason: string) => calls.push(['cancel-run', runId, reason]) > 0,
      resume: (_agent: unknown, runId: string) => (calls.push(['resume-run', runId]), { runId: `${runId}-again` }),
      resultOf: (_agent: unknown, runId: string, seq: number) => `result ${runId} ${seq}`,
      scriptOf: () => 'return 1',
      onDidChange: () => () => undefined,
    },
    skills: {
      async report(asked: { readonly cwd: string } | { readonly session: { readonly id: string } }) {
        calls.push(['skills', 'cwd' in asked ? asked.cwd : asked.session.id])
        return { rows: [] }
      },
    },
    dynamicPlugins: { frames: () => [], onFramesChanged: () => () => undefined, onClientEvent: () => () => undefined, ...options.plugins },
    planReviews: createPlanReviews({ plan: { isActive: ({ id }) => planning.has(id), set: ({ id }) => (planning.delete(id), 'committed') }, newId: () => 'notice' }),
    tasks,
    questions: {
      ask: () => Promise.reject(new Error('not here')),
      pending: () => questions,
      answer(id: string, answers: readonly Answer[] | null, contexts: readonly UserMessage[] = []) {
        if (answers?.length === 0) return { ok: false, problem: 'Answer each question.' } as const
        calls.push(['question', id, answers, ...(contexts.length === 0 ? [] : [contexts])])
        questions = questions.filter((set) => set.id !== id)
        for (const listener of signals.questions) listener()
        return { ok: true } as const
      },
      touch: (id: string) => void calls.push(['touch', id]),
      attach: () => () => {},
      onDidChange: listenTo(signals.questions),
    },
    sessions: {
      create: () => Promise.reject(new Error('not here')),
      open: async (id: string) => ({ ...live(id, stored.get(id)).session, access: 'read-only' as const }),
      valueOf: async (id: string) => ({ descriptor: descriptorOf(id), isPromoted: promoted.has(id), lastEnd: null, seedLength: 0 }),
      readTail: async (id: string) => ({ header: { version: 0, id, createdAt: 0, ...(startedBy(id) !== undefined && { origin: 'subagent', parentSession: startedBy(id) }) }, events: (stored.get(id) ?? []).map((draft, seq) => ({ ...draft, seq, time: 0 })) }),
      live: (id: string) => agents.get(id)?.session,
      list: async (): Promise<readonly SessionSummary[]> =>
        [...stored.keys()].map((id) => ({ id, title: titles.get(id) ?? id, cwd: '/project', createdAt: 0, updatedAt: 0, isLive: agents.has(id), isNamed: options.children?.[id]?.isNamed ?? false, isArchived: archived.has(id), ...(startedBy(id) !== undefined && { startedBy: startedBy(id)! }), ...(forks.has(id) && { forkedFrom: forks.get(id)! }), ...options.summaries?.[id] })),
      async fork(id: string, { boundary }: { readonly boundary: number }) {
        calls.push(['fork', id, boundary])
        const child = `${id}-fork`
        stored.set(child, stored.get(id)!.slice(0, boundary + 1))
        forks.set(child, id)
        return { id: child }
      },
      keptValueOf: async (id: string, key: string) => options.kept?.[`${id} ${key}`],
      archive: async (id: string, isArchived: boolean) => void (isArchived ? archived.add(id) : archived.delete(id)),
      rename: async (id: string, title: string) => void titles.set(id, title),
      async remove(id: string) {
        calls.push(['remove-session', id])
        stored.delete(id)
      },
    },
    budgets: {
      goOn: (session: { readonly id: string }) => void calls.push(['go-on', session.id]),
      uses: () => [],
    },
    costs: { treeCost: async () => noCost, knownTreeCost: () => noCost, ownCost: () => undefined, onDidChange: () => () => undefined },
    references: {
      candidates: async () => [],
      selection: async () => ({
        block: { type: 'text', text: 'let a', source: { kind: 'plugin', plugin: 'references' } },
        facts: { path: '/project/src/date.ts', languageId: 'typescript', startLine: 3, endLine: 4, text: 'let a' },
      }),
      spelling: (path: string, cwd: string) => pathReference(path.replace(`${cwd}/`, '')),
      content: async (text: string) => {
        if (text.includes('@terminal')) throw new Error('@terminal: nothing is selected in a terminal.')
        return text.includes('@changes') ? [{ type: 'text', text }, { type: 'text', text: 'the diff', source: { kind: 'plugin', plugin: 'references' } }] : [{ type: 'text', text }]
      },
    },
    sessionArchives: {
      plan: async (id: string) => ({ sessionIds: [id], name: 'talk' }),
      async *export(_plan: unknown, { isRedacted }: { readonly isRedacted: boolean }) {
        yield new TextEncoder().encode(isRedacted ? 'zip masked' : 'zip whole')
      },
      markdown: async (_id: string, { isRedacted }: { readonly isRedacted: boolean }) => (isRedacted ? 'document masked' : 'document'),
      async import() {
        stored.set('imported', [])
        return ['imported']
      },
    },
    jobs,
    mcp: { wake: () => undefined, report: () => ({ isRead: false, servers: [], skipped: [] }), log: () => [], onLog: () => () => undefined, onDidChange: () => () => undefined, attachChat: () => () => undefined, ...options.mcp },
    reviews: {
      of: () => ({ files: [], turns: [] }),
      file: async () => null,
      turnStart: async () => [],
      onDidChange: () => () => {},
      ...options.reviews,
    },
    settings,
    schedules: options.schedules ?? { state: () => null, look: () => undefined, onDidChange: () => () => {}, onDidDeliver: () => () => {} },
    get: (name: string) => (name === 'terminals' ? { takeBack: async () => options.lentTerminals ?? 0 } : name === 'worktrees' ? options.worktrees : undefined),
    tools: { get: () => (options.presentCall ?? options.presentResult) && { ...(options.presentCall && { presentCall: options.presentCall }), ...(options.presentResult && { presentResult: options.presentResult }) } },
    web: { keys: () => [{ name: 'exa', title: 'Exa', keyName: 'EXA_API_KEY' }] },
  } as unknown as ChatServices

  const surface = createFakeReviewSurface()
  const planSurface = createFakePlanSurface()
  const controller = new ChatController({
    services,
    capabilities: {
      attention,
      blobs,
      clock,
      editor,
      pages: { open: (key: unknown) => void calls.push(['page', key]) },
      agentTree,
      jobTree,
      mcpTree,
      logViews,
      l10n: { t: fillIn },
      languageServers: {
        list: () => options.languageServers ?? [],
        restart: (name) => Promise.resolve(void calls.push(['restart-server', name])),
        onDidChange: () => () => {},
      },
      logger,
      machine: createFakeMachine(),
      memento,
      planSurface,
      fileMarks: { set: (marks: readonly FileMark[]) => void calls.push(['marks', marks]) },
    problemMarks,
      reviewSurface: surface,
      secrets,
      settings: source,
      terminalViews,
      workspace: {
        folders: () => folders,
        isTrusted: () => isTrusted,
        onDidChangeTrust: listenTo(signals.trust),
        onDidChangeFolders: () => () => {},
        snapshot: async () => ({ openEditors: [], unsavedFiles: [] }),
      },
    },
  })
  const page = fakeChannel()
  controller.attach(page.channel)
  await controller.start()
  page.say({ type: 'ready', version: PROTOCOL_VERSION })

  let state: ViewState | null = null
  const replies: HostMessage[] = []
  let sends = 0
  const read = () => {
    for (const message of page.take()) {
      if (message.type === 'snapshot') state = message.state
      else if (message.type === 'patch' && state !== null) {
        for (const change of message.changes) {
          if (change.change === 'state') state = { ...state, [change.key]: change.value }
          if (change.change === 'row') {
            const rows: readonly Row[] = [...state.transcript.rows.filter(({ id }) => id !== change.row.id), change.row]
            state = { ...state, transcript: { ...state.transcript, rows, total: rows.length } }
          }
        }
      } else replies.push(message)
    }
  }
  const settle = async () => {
    for (let round = 0; round < 5; round += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(FRAME_MS)
    }
    read()
  }
  await settle()

  return {
    controller,
    surface,
    planSurface,
    tasks,
    editor,
    attention,
    jobs,
    agentTree,
    jobTree,
    mcpTree,
    logViews,
    problemMarks,
    terminalViews,
    clock,
    blobs,
    memento,
    logger,
    secrets,
    source,
    calls,
    page,
    settle,
    titles,
    /** The session waits for a retry from now on. */
    wait: (id: string) => void (waits = id),
    governor,
    /** What the process knows of agents from now on. */
    async agentsAre(next: readonly ChildFacts[]) {
      children = next
      for (const listener of signals.agents) listener()
      clock.advance(200)
      await settle()
    },
    elsewhere,
    attached: () => attached,
    modeOf: (id: string) => modes.get(id),
    optionsOf: (id: string) => optionsOf.get(id),
    presetOf: (id: string) => presetOf.get(id),
    agent: (id: string) => agents.get(id)!,
    /** As whoever makes a session live, not the chat. */
    wake: (id: string) => live(id, stored.get(id)),
    state: () => state!,
    /** Say something as the page and wait until it is worked off. */
    async say(message: ViewMessage) {
      page.say(message)
      await settle()
    },
    async send(text: string, target: 'next-turn' | 'next-step' = 'next-turn') {
      sends += 1
      page.say({ type: 'send', id: `send-${sends}`, text, target })
      await settle()
      const sent = replies.findLast((reply) => reply.type === 'sent' && reply.id === `send-${sends}`)
      return sent?.type === 'sent' ? sent.problem : undefined
    },
    replies,
    async happen(id: string, ...drafts: readonly EventDraft[]) {
      const agent = agents.get(id)!
      for (const draft of drafts) {
        const seq = agent.log.push(draft) - 1
        controller.noteEvent(agent.session, { ...draft, seq, time: seq })
      }
      await settle()
    },
    async askApproval(request: Partial<ApprovalRequest> = {}) {
      approvals = [
        ...approvals,
        { id: 'q1', agent: [...agents.values()][0]!, toolName: 'bash', callId: 'c1', signal: new AbortController().signal, ...request },
      ]
      for (const listener of signals.approvals) listener()
      await settle()
    },
    /** Nobody answers it any more: its turn was stopped. */
    withdrawApproval(id: string) {
      approvals = approvals.filter((one) => one.id !== id)
      for (const listener of signals.approvals) listener()
    },
    async askQuestion(set: Partial<PendingQuestions> = {}) {
      questions = [...questions, { id: 'k1', agent: [...agents.values()][0]!, questions: [{ id: '1', question: 'Which?', options: [{ label: 'A' }] }], ...set }]
      for (const listener of signals.questions) listener()
      await settle()
    },
    /** The person answers elsewhere. */
    answerQuestion: (id: string, answers: readonly Answer[] | null) => void services.questions.answer(id, answers),
    async trust(next: boolean) {
      isTrusted = next
      for (const listener of signals.trust) listener()
      await settle()
    },
  }
}
