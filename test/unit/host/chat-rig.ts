import type { LanguageServerReport } from '../../../extension/capabilities/language-servers.ts'
import type { ToolCallView, ToolResultView } from '../../../extension/protocol/cards.ts'
import { effectOf, ownEffects } from '../../../extension/core/policy/tool-effects.ts'
import { noCost } from '../../../extension/core/cost/cost-projection.ts'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { Json } from '../../../extension/base/json.ts'
import { CommandError } from '../../../extension/core/commands/command.ts'
import type { EventDraft, SandboxMode } from '../../../extension/core/log/event.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import type { AgentOptions } from '../../../extension/core/loop/points.ts'
import type { ModelAdapter } from '../../../extension/core/model/contract.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import type { SessionSummary } from '../../../extension/core/session/session.ts'
import { createJobs } from '../../../extension/features/jobs/jobs.ts'
import { createSettings } from '../../../extension/core/settings/service.ts'
import type { Reviews } from '../../../extension/features/checkpoints/service.ts'
import type { Answer, PendingQuestions } from '../../../extension/features/questions/service.ts'
import { ChatController } from '../../../extension/host/chat-controller.ts'
import { pathReference } from '../../../extension/features/references/parse-references.ts'
import type { ChatServices } from '../../../extension/host/chat-services.ts'
import { FRAME_MS } from '../../../extension/host/view-feed.ts'
import { PROTOCOL_VERSION, type HostMessage, type ViewMessage } from '../../../extension/protocol/messages.ts'
import type { Row, ViewState } from '../../../extension/protocol/view-state.ts'
import { createFakeAgent, type FakeAgent } from '../../support/fake-agent.ts'
import { createFakeAttention } from '../../support/fake-attention.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'
import { createFakeMarks, createFakeTerminalViews, createFakeTree } from '../../support/fake-job-views.ts'
import { createFakeReviewSurface } from '../../support/fake-review-surface.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { memoryMemento } from '../../support/memory-memento.ts'
import { memorySecrets } from '../../support/memory-secrets.ts'
import { memorySettings, type SettingValues } from '../../support/memory-settings.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { createScriptedAdapter } from '../../support/scripted-adapter.ts'
import { fakeChannel } from './fake-channel.ts'

export interface RigOptions {
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
  readonly environment?: Readonly<Record<string, string>>
  /** Sessions that another window writes. */
  readonly elsewhere?: readonly string[]
  /** What keeps sessions from being written, by id. */
  readonly obstacles?: Readonly<Record<string, string>>
  /** Logs of sessions on the disk by id. */
  readonly stored?: Readonly<Record<string, readonly EventDraft[]>>
  /** Presets whose sessions begin with reading alone. */
  readonly readingPresets?: readonly string[]
  /** In the place of a session in which nothing waits. */
  readonly reviews?: Partial<Reviews>
  /** How every tool draws its calls; absent: as their arguments. */
  readonly presentCall?: (args: never) => ToolCallView
  readonly presentResult?: () => ToolResultView
  readonly languageServers?: readonly LanguageServerReport[]
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
  const archived = new Set<string>()
  const forks = new Map<string, string>()
  const folders = (options.folders ?? ['/project']).map((path) => ({ name: path.slice(1), path }))
  const signals = { approvals: new Set<() => void>(), questions: new Set<() => void>(), trust: new Set<() => void>() }
  const listenTo = (set: Set<() => void>) => (listener: () => void) => {
    set.add(listener)
    return () => void set.delete(listener)
  }
  let isTrusted = options.isTrusted ?? true
  let approvals: ApprovalRequest[] = []
  let questions: PendingQuestions[] = []
  const modes = new Map<string, SandboxMode>()
  const planning = new Set<string>()
  let attached = 0
  /** The session that waits for a retry. */
  let waits: string | null = null

  const logger = createRecordingLogger()
  const clock = createManualClock()
  const editor = createFakeEditor()
  const attention = createFakeAttention()
  const [jobTree, problemMarks, terminalViews] = [createFakeTree(), createFakeMarks(), createFakeTerminalViews()]
  const blobs = createMemoryBlobStore()
  const memento = memoryMemento(options.memento)
  const source = memorySettings(options.settings)
  const secrets = memorySecrets(options.secrets, options.environment)
  const settings = createSettings({ source, logger })
  const jobs = createJobs({ clock, logger, onStart() {}, onProgram() {}, onEnd() {}, onRestart() {}, onWaits() {}, onMatch: (_owner, { id }, line) => void calls.push(['wake', id, line]) })

  const live = (id: string, events: readonly EventDraft[] = []) => {
    const agent = createFakeAgent({ id, cwd: '/project', events })
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
        return live(id, events)
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
      effectOf: (tool: string, args: Json) => effectOf(ownEffects.get(tool), args),
      onDidChange: () => () => {},
    },
    plan: {
      isActive: ({ id }: { readonly id: string }) => planning.has(id),
      pending: () => null,
      enter: ({ id }: { readonly id: string }) => !planning.has(id) && planning.add(id) !== undefined,
      leave: ({ id }: { readonly id: string }) => planning.delete(id),
      onDidChange: () => () => {},
    },
    presets: {
      discover: async () => undefined,
      list: () => [
        { id: 'editor', name: 'Editor', description: 'Everything.' },
        { id: 'ask', name: 'Ask', description: 'Reads only.' },
        { id: 'team', name: 'Team', description: 'Many.', problem: 'Teams are not there.' },
      ],
      defaultId: () => 'editor',
      scopeOf: () => ({ label: 'editor', parent: null }),
    },
    projections: {
      register: () => () => {},
      snapshot: () => ({ asOfSeq: 0, values: { todos: null } }),
      onDidChange: () => () => {},
    },
    hooks: { report: async () => ({ files: [], skipped: [] }), dryRun: async () => [], allow: async () => undefined, onDidChange: () => () => undefined },
    instructions: {
      async report(asked: { readonly cwd: string } | { readonly session: { readonly id: string } }) {
        calls.push(['instructions', 'cwd' in asked ? asked.cwd : asked.session.id])
        return { rows: [], maxBytes: 65_536 }
      },
    },
    skills: {
      async report(asked: { readonly cwd: string } | { readonly session: { readonly id: string } }) {
        calls.push(['skills', 'cwd' in asked ? asked.cwd : asked.session.id])
        return { rows: [] }
      },
    },
    questions: {
      ask: () => Promise.reject(new Error('not here')),
      pending: () => questions,
      answer(id: string, answers: readonly Answer[] | null) {
        if (answers?.length === 0) return { ok: false, problem: 'Answer each question.' } as const
        calls.push(['question', id, answers])
        questions = questions.filter((set) => set.id !== id)
        for (const listener of signals.questions) listener()
        return { ok: true } as const
      },
      attach: () => () => {},
      onDidChange: listenTo(signals.questions),
    },
    sessions: {
      create: () => Promise.reject(new Error('not here')),
      open: async (id: string) => ({ ...live(id, stored.get(id)).session, access: 'read-only' as const }),
      live: (id: string) => agents.get(id)?.session,
      list: async (): Promise<readonly SessionSummary[]> =>
        [...stored.keys()].map((id) => ({ id, title: titles.get(id) ?? id, createdAt: 0, updatedAt: 0, isLive: agents.has(id), isNamed: false, isArchived: archived.has(id), ...(forks.has(id) && { forkedFrom: forks.get(id)! }) })),
      async fork(id: string, { boundary }: { readonly boundary: number }) {
        calls.push(['fork', id, boundary])
        const child = `${id}-fork`
        stored.set(child, stored.get(id)!.slice(0, boundary + 1))
        forks.set(child, id)
        return { id: child }
      },
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
    costs: { treeCost: async () => noCost, knownTreeCost: () => noCost, ownCost: () => undefined },
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
    reviews: {
      of: () => ({ files: [], turns: [] }),
      file: async () => null,
      turnStart: async () => [],
      onDidChange: () => () => {},
      ...options.reviews,
    },
    settings,
    get: () => ({ takeBack: async () => options.lentTerminals ?? 0 }),
    tools: { get: () => (options.presentCall ?? options.presentResult) && { ...(options.presentCall && { presentCall: options.presentCall }), ...(options.presentResult && { presentResult: options.presentResult }) } },
    web: { keys: () => [{ name: 'exa', title: 'Exa', keyName: 'EXA_API_KEY' }] },
  } as unknown as ChatServices

  const surface = createFakeReviewSurface()
  const controller = new ChatController({
    services,
    capabilities: {
      attention,
      blobs,
      clock,
      editor,
      jobTree,
      l10n: { t: fillIn },
      languageServers: {
        list: () => options.languageServers ?? [],
        restart: (name) => Promise.resolve(void calls.push(['restart-server', name])),
        onDidChange: () => () => {},
      },
      logger,
      machine: createFakeMachine(),
      memento,
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
    editor,
    attention,
    jobs,
    jobTree,
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
    elsewhere,
    attached: () => attached,
    modeOf: (id: string) => modes.get(id),
    optionsOf: (id: string) => optionsOf.get(id),
    presetOf: (id: string) => presetOf.get(id),
    agent: (id: string) => agents.get(id)!,
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
    async askQuestion(set: Partial<PendingQuestions> = {}) {
      questions = [...questions, { id: 'k1', agent: [...agents.values()][0]!, questions: [{ id: '1', question: 'Which?', options: [{ label: 'A' }] }], ...set }]
      for (const listener of signals.questions) listener()
      await settle()
    },
    async trust(next: boolean) {
      isTrusted = next
      for (const listener of signals.trust) listener()
      await settle()
    },
  }
}
