import type { ToolCallView, ToolResultView } from '../../../extension/protocol/cards.ts'
import type { CompletionItem } from '../../../extension/protocol/messages.ts'
import type { PluginFrameView } from '../../../extension/protocol/plugin-frame.ts'
import type { AgentView, CommandView, ComposerView, PromptRow, ReasoningRow, Row, RuleView, SessionView, TextRow, ToolRow, TurnEndRow, UsageView, ViewState, GoalView, RoundRow } from '../../../extension/protocol/view-state.ts'

/** A moment that all fixtures agree on. */
export const now = Date.UTC(2026, 2, 29, 10, 0, 0)

const usage: UsageView = { inputTokens: 2_140, outputTokens: 1_320, cacheRead: 38_400, reasoning: 640, steps: 4, turns: 2 }

const session: SessionView = {
  id: 's1',
  title: 'Fix the flaky date test',
  cwd: '/home/ada/calendar',
  access: 'write',
  status: 'idle',
  usage,
  contextShare: 0.34,
  window: {
    usedTokens: 43_600,
    windowTokens: 128_000,
    parts: [
      { part: 'toolResults', tokens: 21_400 },
      { part: 'tools', tokens: 9_800 },
      { part: 'reasoning', tokens: 4_600 },
      { part: 'assistantText', tokens: 2_900 },
      { part: 'instructions', tokens: 2_100 },
      { part: 'system', tokens: 1_150 },
      { part: 'toolCalls', tokens: 900 },
      { part: 'prompts', tokens: 540 },
      { part: 'runtimeContext', tokens: 210 },
    ],
    tools: [
      { name: 'read', tokens: 13_900 },
      { name: 'bash', tokens: 5_200 },
      { name: 'grep', tokens: 2_300 },
    ],
  },
  cost: { amount: 0.1234, isWhole: true, words: '$0.12', startedWords: null, inputTokens: 12_140, cacheRead: 238_400, cacheWrite: 0, outputTokens: 5_320, reasoning: 4_640, budgets: [] },
}

const composer: ComposerView = {
  draft: '',
  canSend: true,
  blockedBy: null,
  preset: 'editor',
  presets: [{ id: 'editor', name: 'Editor', description: 'Everything the editor can do' }],
  permission: 'workspace-write',
  model: { provider: 'deepseek', model: 'deepseek-v4-pro', label: 'deepseek-v4-pro', isScripted: false, reasoningEffort: 'high' },
}

export const baseState: ViewState = {
  session,
  transcript: { rows: [], firstIndex: 0, total: 0 },
  composer,
  approvals: [],
  questions: [],
  queue: [],
  tasks: null,
  reminders: { items: [], problem: null },
  droppedTasks: [],
  planReview: null,
  goal: null,
  sessions: [],
  notices: [],
  rules: null,
  commands: [],
  workflows: [],
  agents: [],
  plugins: [],
  review: null,
  isTrusted: true,
}

let counter = 0
const nextId = () => `r${(counter += 1)}`

export const prompt = (text: string, more: Partial<PromptRow> = {}): PromptRow => ({ kind: 'prompt', id: nextId(), turn: 1, text, attachments: [], sentAt: now - 60_000, ...more })
export const text = (words: string, more: Partial<TextRow> = {}): TextRow => ({ kind: 'text', id: nextId(), turn: 1, text: words, isStreaming: false, isInterrupted: false, ...more })
export const reasoning = (words: string, durationMs: number | null, more: Partial<ReasoningRow> = {}): ReasoningRow => ({
  kind: 'reasoning',
  id: nextId(),
  turn: 1,
  text: words,
  isStreaming: durationMs === null,
  durationMs,
  ...more,
})
export const tool = (name: string, call: ToolCallView | null, result: ToolResultView | null, more: Partial<ToolRow> = {}): ToolRow => {
  const id = more.id ?? nextId()
  return {
    kind: 'tool',
    id,
    turn: 1,
    callId: `call-${id}`,
    tool: name,
    state: result === null ? 'running' : 'ok',
    call,
    result,
    rawArguments: {},
    output: null,
    error: null,
    progress: '',
    startedAt: now - 10_000,
    endedAt: result === null ? null : now - 9_800,
    ...more,
  }
}
export const turnEnd = (more: Partial<TurnEndRow> = {}): TurnEndRow => ({
  kind: 'turn-end',
  id: nextId(),
  turn: 1,
  outcome: 'completed',
  message: null,
  next: 'none',
  resumesAt: null,
  steps: 4,
  usage: { ...usage, turns: 1 },
  cost: '$0.04',
  cacheMisses: [],
  durationMs: 18_400,
  changedFiles: [],
  ...more,
})

const read = (path: string, lang = 'typescript') =>
  tool(
    'read',
    { card: 'generic', title: `Read ${path}`, kind: 'read', subject: path, locations: [{ path }] },
    {
      card: 'read',
      path,
      offset: 1,
      totalLines: 212,
      lang,
      lines: Array.from({ length: 80 }, (_, index) => ({
        number: index + 1,
        text: ["import { addDays, format } from './date'", '', '/** The first day of a month, in UTC. */', 'export function firstDay(year: number, month: number): Date {', '  const d = new Date(Date.UTC(year, month, 1))', '  return d // midnight', '}', ''][index % 8]!,
      })),
    },
  )
const grep = (subject: string) =>
  tool(
    'grep',
    { card: 'generic', title: `Search for ${subject}`, kind: 'search', subject },
    {
      card: 'search',
      shape: 'matches',
      total: 14,
      truncated: false,
      files: [
        { path: 'src/date.ts', matches: [{ lineNumber: 12, line: '  const d = new Date(2026, 2, 29)' }, { lineNumber: 40, line: '  return new Date(value.getTime() + days * DAY_MS)' }] },
        { path: 'src/date.test.ts', matches: [{ lineNumber: 8, line: "  expect(format(new Date(2026, 2, 29))).toBe('2026-03-29')" }] },
      ],
    },
  )
const glob = (subject: string) =>
  tool('glob', { card: 'generic', title: `Find ${subject}`, kind: 'search', subject }, { card: 'search', shape: 'paths', total: 3, truncated: false, paths: ['src/date.ts', 'src/date.test.ts', 'src/calendar/very/deep/folder/with/a/long/name/recurrence.ts'] })
const edit = () =>
  tool(
    'edit',
    { card: 'diff', title: 'Edit src/date.test.ts', diffs: [] },
    {
      card: 'diff',
      diffs: [
        {
          path: 'src/date.test.ts',
          oldStart: 10,
          newStart: 10,
          oldText: "import { format } from './date'\n\ntest('formats a day', () => {\n  const d = new Date(2026, 2, 29)\n  expect(format(d)).toBe('2026-03-29')\n})\n",
          newText: "import { format } from './date'\n\ntest('formats a day', () => {\n  // Local midnight is another day in some zones.\n  const d = new Date(Date.UTC(2026, 2, 29))\n  expect(format(d)).toBe('2026-03-29')\n})\n",
        },
      ],
    },
  )
const run = (command: string, exitCode: number, output: string, durationMs = 3_200) =>
  tool('bash', { card: 'terminal', title: command, description: 'Run the date tests', cwd: 'web' }, { card: 'terminal', output, exitCode, durationMs }, { endedAt: now - 10_000 + durationMs })

const testOutput =
  '\u001b[1m RUN \u001b[22m v5.1.2 /home/ada/calendar\n\n \u001b[32m✓\u001b[39m src/date.test.ts \u001b[2m(12 tests)\u001b[22m 41ms\n \u001b[31m❯\u001b[39m src/recurrence.test.ts \u001b[2m(3 tests\u001b[22m | \u001b[31m1 failed\u001b[39m\u001b[2m)\u001b[22m\n   \u001b[31m×\u001b[39m repeats over the change of the clock\n     \u001b[33m→ expected 2026-03-30 to be 2026-03-29\u001b[39m\n\n\u001b[1m Test Files \u001b[22m \u001b[31m1 failed\u001b[39m | \u001b[32m1 passed\u001b[39m (2)\n\u001b[1m      Tests \u001b[22m \u001b[31m1 failed\u001b[39m | \u001b[32m14 passed\u001b[39m (15)\n\u001b[2m   Duration \u001b[22m 612ms'

const answer = `The test builds its expectation in **local time**, so on CI, which runs in UTC+14, the day is another one.

- \`src/date.ts:12\` uses the local constructor
- \`format\` reads UTC

\`\`\`ts
// Local midnight is another day in some zones.
const d = new Date(Date.UTC(2026, 2, 29))
expect(format(d)).toBe('2026-03-29')
\`\`\`

Fixed: the expectation is in UTC now. See [the ECMAScript time values](https://tc39.es/ecma262/#sec-time-values-and-time-range).`

const turn = (): readonly Row[] => [
  prompt('The date test fails on CI only. Find out why and fix it. @src/date.test.ts'),
  reasoning('The test fails only on CI, so the time zone is the first suspect.\n\nLet me look at how dates are built.', 4_100),
  grep('new Date\\('),
  read('src/date.ts'),
  read('src/date.test.ts'),
  text('The constructor takes local time. I will change the expectation.'),
  edit(),
  run('npm test -- date', 0, testOutput),
  text(answer),
  turnEnd({ changedFiles: [{ path: 'src/date.test.ts', added: 2, removed: 1 }] }),
]

const withRows = (rows: readonly Row[], more: Partial<ViewState> = {}): ViewState => ({ ...baseState, transcript: { rows, firstIndex: 0, total: rows.length }, ...more })
const running = (more: Partial<ViewState> = {}): Partial<ViewState> => ({ session: { ...session, status: 'running' }, ...more })

const opened = (rows: readonly Row[], open: readonly number[]) => ({ state: withRows(rows), open: open.map((index) => rows[index]!.id) })

export interface Fixture {
  readonly state: ViewState
  /** Rows and folds opened by hand. */
  readonly open?: readonly string[]
  /** Buttons pressed before the picture, by name. */
  readonly press?: readonly string[]
  /** Typed into the box, and what the menu then offers. */
  readonly typed?: string
  readonly completions?: readonly CompletionItem[]
  /** What the plugins draw, by the ids of their frames. */
  readonly pluginCode?: Readonly<Record<string, string>>
}

const file = (path: string, icon = 'file'): CompletionItem => ({ kind: 'file', label: path.slice(path.lastIndexOf('/') + 1), detail: path.slice(0, Math.max(0, path.lastIndexOf('/'))), icon, insert: `@${path} ` })
const fact = (label: string, detail: string, icon: string): CompletionItem => ({ kind: 'fact', label, detail, icon, insert: `@${label} ` })
const command = (label: string, detail: string): CompletionItem => ({ kind: 'command', label: `/${label}`, detail, icon: 'terminal', insert: `/${label} ` })
const someReferences = [
  file('src/date.ts'),
  file('src/date.test.ts'),
  file('web/components/calendar/views/month/date-picker-with-a-long-name.tsx'),
  { ...file('src/dates'), kind: 'folder', icon: 'folder', insert: '@src/dates/' },
  fact('selection', 'date.ts, lines 12 to 20', 'selection'),
  { kind: 'symbol', label: 'parseDate', detail: 'src/date.ts', icon: 'symbol-method', insert: '@symbol:parseDate ' },
  { kind: 'session', label: 'Fix the flaky date test', detail: 'yesterday', icon: 'comment-discussion', insert: '@session:s1 ' },
  file('docs/data.md'),
  file('docs/dates.md'),
  file('README-date.md'),
  file('package.date.json'),
  file('a/date.css'),
] satisfies readonly CompletionItem[]

const cards = (): readonly Row[] => [
  prompt('Show every card'),
  read('src/date.ts'),
  text('A search, and one for files:'),
  grep('new Date\\('),
  text('…'),
  glob('**/date*.ts'),
  edit(),
  run('npm test -- date', 1, testOutput),
]

const otherCards = (): readonly Row[] => [
  prompt('And the others'),
  tool('web_fetch', { card: 'generic', title: 'Fetch', kind: 'fetch', subject: 'https://tc39.es/ecma262/' }, { card: 'web', kind: 'fetch', url: 'https://tc39.es/ecma262/', statusCode: 200, truncated: true }, { output: 'ECMAScript 2027 Language Specification\n\nIntroduction' }),
  tool(
    'web_search',
    { card: 'generic', title: 'Search', kind: 'search', subject: 'utc date constructor' },
    {
      card: 'web',
      kind: 'search',
      truncated: false,
      answer: 'Use `Date.UTC`.',
      sources: [
        { url: 'https://tc39.es/ecma262/', title: 'ECMAScript language specification', snippet: 'Returns the time value of a date in UTC.', publishedAt: '2026-01-02' },
        { url: 'https://developer.mozilla.org/docs/Date/UTC', title: 'Date.UTC() on MDN' },
      ],
    },
  ),
  tool(
    'ask_user_question',
    { card: 'generic', title: 'Ask', kind: 'other' },
    {
      card: 'question',
      items: [
        { question: 'Which zone should the tests assume?', options: ['UTC', 'Local'], selected: ['UTC'] },
        { question: 'Anything else?', options: [], selected: [], custom: 'Keep the old test as well.' },
      ],
    },
  ),
  tool('todo_write', { card: 'generic', title: 'Updated the tasks', kind: 'other' }, { card: 'generic' }, { rawArguments: { todos: [{ content: 'Run the whole suite', status: 'in_progress' }] }, output: '1 pending, 1 in progress, 2 completed' }),
  tool('write', { card: 'diff', title: 'Write', diffs: [] }, { card: 'diff', diffs: [{ path: 'docs/zones.md', oldText: null, newText: '# Zones\n\nAll dates are in UTC.\n' }] }),
  tool('read', { card: 'generic', title: 'Read logo.png', kind: 'read', subject: 'logo.png', locations: [{ path: 'logo.png' }] }, { card: 'read', path: 'logo.png', offset: 1, totalLines: 0, lines: [], content: [{ type: 'image', attachmentId: 'img1', mediaType: 'image/png', name: 'logo.png' }] }),
]

const approval = { id: 'a1', callId: 'c1', tool: 'bash', effect: 'Run git push to origin', why: 'No rule allows commands that reach the network.', card: { card: 'terminal', title: 'git push origin fix-date-test', cwd: 'web' }, always: ['git push … in this workspace', 'git … in this workspace'], who: null } as const

const rule = (text: string, scope: RuleView['scope'], more: Partial<RuleView> = {}): RuleView => ({ id: `${scope} ${text}`, decision: 'allow', scope, text, folder: null, uses: 0, ...more })
const someRules: readonly RuleView[] = [
  rule('Changing files in `**`', 'session', { folder: '/home/ada/calendar', uses: 12 }),
  rule('Commands that begin with `npm test`', 'workspace', { folder: '/home/ada/calendar', uses: 4 }),
  rule('Commands that read from `docs.example.com`', 'always', { uses: 1 }),
  rule('The command `node scripts/generate-calendar-fixtures.mjs --zone=UTC --years=2020..2030`', 'always'),
  rule('Commands that begin with `npm publish`', 'always', { decision: 'deny' }),
  rule('Changing files in `migrations/**`', 'workspace-settings', { decision: 'ask' }),
]
const explained = () => [
  prompt('Run the tests.'),
  tool('bash', { card: 'terminal', title: 'npm test -- date' }, { card: 'terminal', output: ' Tests  12 passed\n', exitCode: 0, durationMs: 3_200 }, { endedAt: now, policy: 'By your rule `allow bash npm test …` (this workspace).' }),
]

const serverOutput = '\n  \u001b[32m\u001b[1mVITE\u001b[22m v8.3.8\u001b[39m  \u001b[2mready in\u001b[22m \u001b[1m312\u001b[22m ms\n\n  \u001b[32m➜\u001b[39m  \u001b[1mLocal\u001b[22m:   \u001b[36mhttp://localhost:\u001b[1m5173\u001b[22m/\u001b[39m\n  \u001b[2m\u001b[32m➜\u001b[39m  Network: use --host to expose\u001b[22m\n'
const idle: CommandView = { callId: null, jobId: null, state: 'running', takesInput: false, waitsForInput: false, canMove: false, canRestart: false, ports: [] }
const commandRows = () => {
  const started = (command: string, jobId: string) => tool('bash', { card: 'generic', title: `Start in the background: ${command}`, kind: 'execute', subject: command, rawInput: command, content: [{ type: 'text', text: 'Start it in the background' }] }, { card: 'generic', content: [{ type: 'text', text: '' }], jobId })
  const [server, watch, ended] = [started('npm run dev --workspace web', 'bash-1'), started('npx tsc --watch', 'bash-2'), started('npm run e2e', 'bash-3')]
  const asks = tool('bash', { card: 'terminal', title: 'npm init', description: 'Make a package' }, null, { progress: 'This utility will walk you through creating a package.json file.\npackage name: (calendar) ', startedAt: now - 34_000 })
  const runs = tool('bash', { card: 'terminal', title: 'npm test -- --coverage', cwd: 'web', description: 'Run the whole suite' }, null, { progress: `${serverOutput}${testOutput}`, startedAt: now - 12_000 })
  const commands: readonly CommandView[] = [
    { ...idle, jobId: 'bash-1', startedAt: now - 200_000, takesInput: true, ports: [{ port: 5173, url: 'http://localhost:5173/' }] },
    { ...idle, jobId: 'bash-2', startedAt: now - 3_000_000 },
    { ...idle, jobId: 'bash-3', state: 'ended', end: { words: 'exit 1', isBad: true }, durationMs: 34_000, canRestart: true },
    { ...idle, callId: asks.callId, takesInput: true, waitsForInput: true },
    { ...idle, callId: runs.callId, takesInput: true, canMove: true },
  ]
  return { rows: [prompt('Start the server, and run the tests'), server, watch, ended, asks, runs] as const, commands }
}

/** Every state of the chat that is designed for. */
const planText = '# Run the date tests in UTC\n\nThe tests pass here and fail on CI, since they read the local zone.\n\n## Steps\n\n1. Build the expectation with `Date.UTC` in src/date.test.ts.\n2. Set `TZ=UTC` in the script `test`.\n3. Run the whole suite in two zones.\n\n## Assumptions\n\n- No other test depends on the zone.\n'
const aGoal: GoalView = {
  id: 'goal-1',
  revision: 4,
  objective: 'All date tests pass on CI, in every time zone, and no test reads the clock of the machine',
  phase: 'active',
  isArmed: true,
  heldBy: null,
  round: 7,
  maxRounds: 256,
  blocked: null,
  used: { tokens: 412_000, amount: 1.84, isWhole: true, minutes: 21, countsSince: now - 90_000 },
  maxTokens: 500_000,
  maxCost: 5,
  maxMinutes: null,
  checks: ['npm test -- date', 'npm run check', 'no-new-errors'],
  canCheckErrors: true,
  results: [
    { check: 'npm test -- date', isOk: true, outcome: 'exit code 0', output: '', durationMs: 3_200 },
    { check: 'npm run check', isOk: false, outcome: 'exit code 1', output: 'src/date.ts(12,5): error TS2322', durationMs: 8_100 },
  ],
}
const round = (number: number): RoundRow => ({ kind: 'round', id: nextId(), turn: 1, round: number, maxRounds: 256, text: '<goal_round>' })

const agentCall = (label: string, more: Partial<ToolRow> = {}) => tool('subagent', { card: 'generic', title: `Agent: ${label}`, kind: 'other', face: 'agent', rawInput: `${label}. Answer in one line.` }, null, more)
const agentOf = (row: ToolRow, more: Partial<AgentView> = {}): AgentView => ({
  id: `a-${row.id}`, callId: row.callId, label: 'Agent', state: 'running', isAsking: false, lastLine: null, cost: null, startedAt: now - 42_000, endedAt: null, canOpen: true, canInterrupt: true, children: [], ...more,
})
const agents = (): ViewState => {
  const rows = [agentCall('Read the docs of every package'), agentCall('Fix the date test'), agentCall('Write the notes'), agentCall('Count the files', { state: 'ok', result: { card: 'generic', title: 'Started agent: Count the files', agentId: 'x' }, endedAt: now - 9_900 })]
  const below = { callId: null, canInterrupt: false } as const
  return withRows([prompt('Ship it'), ...rows], running({
    agents: [
      agentOf(rows[0]!, { cost: '$0.04', lastLine: 'Reading packages/calendar/docs/time-zones-and-their-history.md' }),
      agentOf(rows[1]!, {
        state: 'waiting',
        cost: '$0.12',
        lastLine: 'Waiting for two agents',
        children: [agentOf(rows[1]!, { ...below, id: 'b1', label: 'Find the cause', state: 'completed', endedAt: now - 20_000, cost: '$0.02', lastLine: 'It is the time zone.' }), agentOf(rows[1]!, { ...below, id: 'b2', label: 'Run the suite on three systems', canInterrupt: true, lastLine: 'npm test' })],
      }),
      agentOf(rows[2]!, { isAsking: true, lastLine: 'echo shipped > notes.txt' }),
      agentOf(rows[3]!, { state: 'idle', cost: '5.8k tokens', canInterrupt: false }),
    ],
  }))
}

/** What a model may write. */
const wordCounter = `
let text = '', words = 12
styles('.count { font-weight: 600; color: var(--vscode-textLink-foreground) }')
slot('panel', () => [
  ui.h('p', null, 'Words in this talk: ', ui.h('span', { class: 'count' }, words)),
  ui.h('input', { 'aria-label': 'Text to count', placeholder: 'Text to count', value: text, oninput: (event) => { text = event.target.value } }), ' ',
  ui.h('button', { onclick: async () => { words += (await host.call('count', { text })).words } }, 'Count'),
])
slot('header', () => ui.h('span', null, words, ' words so far'))
slot('composer', () => null)
slot('row', () => ui.h('em', null, 'Counted up to here.'))
host.on('counted', (payload) => { words = payload.words })`
const aPlugin: PluginFrameView = { id: 's1/run-1', pluginId: 'count-1', name: 'Word counter', slots: ['panel', 'header', 'composer', 'row'], problem: null }

export const fixtures: Readonly<Record<string, Fixture>> = {
  plugin: { state: { ...withRows([prompt('Write a plugin that counts words.'), text('It counts now.')]), plugins: [aPlugin] }, pluginCode: { [aPlugin.id]: wordCounter } },
  'plugin-failed': { state: { ...withRows([prompt('Write a plugin that counts words.')]), plugins: [{ ...aPlugin, problem: 'words is not defined' }, { ...aPlugin, id: 's1/run-2', pluginId: 'head-2', name: 'Headline', slots: ['header'], problem: 'It was stopped: it sent more than 1000 messages within a second.' }] } },
  goal: { state: { ...withRows([...turn(), round(7), text('Looking at the rest of the suite.')]), goal: aGoal } },
  'goal-open': { state: { ...withRows([...turn(), round(7)]), goal: aGoal }, press: ['/^active/'] },
  'goal-disarmed': { state: { ...withRows([...turn(), round(7)]), goal: { ...aGoal, isArmed: false, used: { ...aGoal.used, countsSince: null } } } },
  'goal-blocked': {
    state: { ...withRows([...turn(), round(7)]), goal: { ...aGoal, phase: 'blocked', isArmed: false, blocked: { message: 'The goal has used 500,312 of its 500,000 tokens.', isLimit: true }, used: { ...aGoal.used, tokens: 500_312, countsSince: null } } },
    press: ['/^blocked/'],
  },

  'menu-references': { state: withRows(turn()), typed: 'The test fails on CI only, see @dat', completions: someReferences },
  attachments: {
    state: {
      ...withRows(turn()),
      composer: {
        ...composer,
        attachments: [
          { id: 'a1', kind: 'image', label: 'screenshot-of-the-calendar.png', detail: '1280 × 800, 214 kB', attachmentId: 'img1' },
          { id: 'a2', kind: 'selection', label: 'date.test.ts', detail: 'lines 12 to 31' },
          { id: 'a3', kind: 'image', label: '', detail: '640 × 480, 31 kB' },
        ],
      },
    },
    typed: 'Why does it look like this?',
  },
  'add-menu': { state: withRows(turn()), press: ['Add to the message'] },
  'menu-facts': {
    state: { ...baseState, session: null },
    typed: '@',
    completions: [fact('selection', 'date.ts, lines 12 to 20', 'selection'), fact('problems', '2 errors, 3 warnings', 'warning'), fact('changes', 'What git would commit', 'git-compare'), fact('terminal', 'What is selected in the terminal', 'terminal'), file('src/date.ts'), file('README.md')],
  },
  'menu-commands': { state: withRows(turn()), typed: '/c', completions: [command('clear', 'Begin a new session'), command('compact', 'Make room: replace the talk so far by a summary of it'), command('cost', 'What this session has cost so far')] },
  welcome: { state: { ...baseState, session: null } },
  tour: { state: { ...baseState, session: null, composer: { ...composer, model: { provider: 'tour', model: 'tour', label: 'Scripted tour', isScripted: true, reasoningEffort: null } } } },
  'no-model': { state: { ...baseState, session: null, composer: { ...composer, model: null, canSend: false, blockedBy: 'No model is chosen. Choose one to send.' } } },
  done: { state: withRows(turn()) },
  streaming: {
    state: withRows(
      [
        ...turn(),
        prompt('Now run the whole suite, then update the changelog.', { turn: 2 }),
        reasoning('The suite is started with npm test. I should watch for', null, { turn: 2 }),
        tool('read', { card: 'generic', title: 'Read', kind: 'read', subject: 'package.json', locations: [{ path: 'package.json' }] }, null, { turn: 2, startedAt: now - 400 }),
        tool('bash', { card: 'terminal', title: 'npm test', cwd: 'web' }, null, { turn: 2, progress: ' RUN v5.1.2\n ✓ src/a.test.ts\n', startedAt: now - 12_000 }),
        text('The suite runs now. While it does, here is what I will check:\n\n1. time zones\n2. `src/date.ts` against\n\n```ts\nconst zones = [', { turn: 2, isStreaming: true }),
      ],
      running({
        queue: [{ id: 'q1', text: 'then update the changelog', target: 'next-turn' }],
        tasks: [
          { id: 't2', content: 'Find the cause', status: 'completed' },
          { id: 't3', content: 'Fix the test', status: 'completed', changes: { files: 2, turn: 1 } },
          { id: 't4', content: 'Run the whole suite', status: 'in_progress' },
          { id: 't5', content: 'Update the changelog', status: 'pending' },
        ],
      }),
    ),
  },
  'usage-limits': {
    state: withRows([...turn(), turnEnd({ turn: 2, outcome: 'paused', message: 'Bosun paused: $0.99 of the $1.00 that this session may cost are used, and the next request alone would add $0.05.', next: 'continue' })], {
      session: {
        ...session,
        contextShare: 0.87,
        window: { ...session.window!, windowTokens: 50_000 },
        cost: { ...session.cost!, amount: 0.99, isWhole: false, words: 'at least $0.99', startedWords: 'about $0.41', cacheWrite: 8_200, budgets: [{ words: '$0.99 of the $1.00 that this session may cost', share: 0.99 }, { words: '182,400 of the 2,000,000 tokens that a day may use', share: 0.09 }] },
      },
    }),
    press: ['/Context/'],
  },
  'usage-missed': {
    state: withRows([
      ...turn().slice(0, -1),
      turnEnd({ cost: '$0.31', cacheMisses: ['The provider no longer had the conversation in its cache, 42 min after the last request: 38,400 tokens were read anew.'] }),
    ]),
    open: ['usage:1'],
  },
  'plan-review': {
    state: withRows(
      [
        ...turn(),
        prompt('Make the date tests independent of the time zone. Plan it first.', { turn: 2 }),
        tool('exit_plan_mode', { card: 'generic', title: 'Run the date tests in UTC', kind: 'other', face: 'plan', content: [{ type: 'text', text: planText }] }, null, { turn: 2, state: 'waiting' }),
      ],
      running({
        session: { ...session, status: 'waiting' },
        composer: { ...composer, isPlanning: true },
        planReview: { id: 'k1', callId: 'c1', title: 'Run the date tests in UTC', text: planText, isEdited: true, comments: 2, who: null },
      }),
    ),
  },
  'plan-refused': {
    state: withRows(
      [
        ...turn(),
        tool('exit_plan_mode', { card: 'generic', title: 'Run the date tests in UTC', kind: 'other', face: 'plan', content: [{ type: 'text', text: planText }] }, { card: 'generic', title: 'Plan review', face: 'plan', content: [{ type: 'text', text: 'The person approved the plan. Plan mode ends with the next step; begin the work there.' }] }, { turn: 1 }),
        tool('write', { card: 'generic', title: 'Write src/date.ts', kind: 'edit', subject: 'src/date.ts' }, null, { turn: 1, state: 'denied', error: 'The session is in plan mode, so nothing may be changed yet: read, search and write the plan.', isHeldByPlan: true }),
      ],
      { composer: { ...composer, isPlanning: true } },
    ),
  },
  'tasks-open': {
    state: withRows(turn(), {
      tasks: [
        { id: 't6', content: 'Find the cause', status: 'completed' },
        { id: 't7', content: 'Fix the test', status: 'completed', changes: { files: 2, turn: 1 } },
        { id: 't8', content: 'Run the whole suite, on both of the machines that have failed', status: 'in_progress', note: 'See https://ci.example/412 first' },
        { id: 't9', content: 'Update the changelog', status: 'pending' },
        { id: 't10', content: 'Mend src/date.test.ts:12 and `web/format.ts`', status: 'pending' },
      ],
      droppedTasks: [{ id: 'x', content: 'Write a test for the leap day' }],
    }),
    open: ['tasks'],
  },
  'reminders-open': {
    state: withRows(turn(), {
      reminders: {
        problem: null,
        items: [
          { id: 'schedule-3', text: 'Look whether the nightly build is green, and say which test failed if it is not', at: now - 60_000, recurrence: null, isTask: false, isPaused: false, isSnoozed: false, skipsMissed: false },
          { id: 'schedule-1', text: 'Stand-up in ten minutes', at: now + 5 * 60_000, recurrence: 'on weekdays at 09:50', isTask: false, isPaused: false, isSnoozed: true, skipsMissed: true },
          { id: 'schedule-2', text: 'Update the dependencies and run the whole suite', at: now + 3 * 86_400_000, recurrence: 'on Mondays at 07:00', isTask: true, isPaused: false, isSnoozed: false, skipsMissed: false },
          { id: 'schedule-4', text: 'Drink water', at: null, recurrence: 'every 2 hours', isTask: false, isPaused: true, isSnoozed: false, skipsMissed: false },
        ],
      },
    }),
    open: ['reminders'],
  },
  reminders: {
    state: withRows(turn(), {
      reminders: {
        problem: 'This folder is not trusted, so no reminder is delivered.',
        items: [{ id: 'schedule-1', text: 'Stand-up in ten minutes', at: now + 5 * 60_000, recurrence: null, isTask: false, isPaused: false, isSnoozed: false, skipsMissed: false }],
      },
    }),
  },
  'cards-open': (() => {
    const rows = cards()
    return opened(rows, [1, 3, 5, 6, 7])
  })(),
  'cards-others': (() => {
    const rows = otherCards()
    return opened(rows, [1, 2, 3, 4, 5])
  })(),
  'running-commands': (() => {
    const { rows, commands } = commandRows()
    return { state: withRows(rows, running({ commands })) }
  })(),
  'running-commands-open': (() => {
    const { rows, commands } = commandRows()
    return { state: withRows(rows, running({ commands })), open: [rows[1].id, rows[4].id, rows[5].id] }
  })(),
  approval: { state: withRows(turn(), running({ session: { ...session, status: 'waiting' }, approvals: [approval] })) },
  'approvals-several': {
    state: withRows(turn(), {
      session: { ...session, status: 'waiting' },
      approvals: [
        { ...approval, id: 'a2', tool: 'edit', effect: 'Change src/date.ts outside of the workspace', why: 'The file is outside of the open folder.', who: 'reviewer, task “check zones”', always: [], card: { card: 'diff', title: 'Edit', diffs: [{ path: 'src/date.ts', oldText: 'const zone = local()\n', newText: 'const zone = utc()\n', oldStart: 3, newStart: 3 }] } },
        approval,
        { ...approval, id: 'a3', effect: 'Delete 214 files in dist/', card: { card: 'terminal', title: 'rm -rf dist' } },
      ],
    }),
  },
  'approval-changes': {
    state: withRows(turn(), {
      session: { ...session, status: 'waiting' },
      approvals: [
        {
          ...approval,
          id: 'a4',
          tool: 'lsp',
          effect: 'Rename `highestTide → peakTide` in 10 files',
          why: 'No rule of yours allows changing this file.',
          always: ['Allow changing files in this workspace until the session ends', 'Always allow changing files in `src/` of this workspace'],
          canPreview: true,
          card: {
            card: 'diff',
            title: 'Rename highestTide to peakTide',
            diffs: Array.from({ length: 10 }, (_, index) => ({
              path: index === 0 ? 'src/tides.ts' : `src/charts/chart-${index}.ts`,
              oldText: index === 0 ? 'export function highestTide(tides: readonly Tide[]) {\n' : `import { highestTide } from '../tides.ts'\n\nexport const peak${index} = highestTide(day${index})\n`,
              newText: index === 0 ? 'export function peakTide(tides: readonly Tide[]) {\n' : `import { peakTide } from '../tides.ts'\n\nexport const peak${index} = peakTide(day${index})\n`,
              oldStart: index === 0 ? 4 : 1,
              newStart: index === 0 ? 4 : 1,
            })),
          },
        },
      ],
    }),
  },
  'approval-edit': { state: withRows(turn(), { session: { ...session, status: 'waiting' }, approvals: [{ ...approval, editable: 'git push origin fix-date-test' }] }), press: ['Edit…'] },
  planning: { state: withRows(turn(), { composer: { ...composer, isPlanning: true } }) },
  'call-explained': (() => {
    const rows = explained()
    return opened(rows, [1])
  })(),
  rules: { state: withRows(turn(), { rules: { rules: someRules } }) },
  'rules-empty': { state: withRows(turn(), { rules: { rules: [] } }) },
  'approval-deny': { state: withRows(turn(), { session: { ...session, status: 'waiting' }, approvals: [approval] }), press: ['Say why not'] },
  question: {
    state: withRows(turn(), {
      session: { ...session, status: 'waiting' },
      questions: [
        {
          id: 'qs1',
          callId: 'c9',
          questions: [
            { id: 'zone', header: 'Time zone', question: 'Which zone should the tests assume?', isMultiSelect: false, options: [{ label: 'UTC (Recommended)', description: 'The same everywhere' }, { label: 'The machine’s own', description: 'As it was before' }] },
            { id: 'also', header: null, question: 'What else should be checked?', isMultiSelect: true, options: [{ label: 'Leap seconds', description: null }, { label: 'Week numbers', description: null }] },
          ],
        },
      ],
    }),
  },
  'waiting-mixed': {
    state: withRows(turn(), {
      session: { ...session, status: 'waiting' },
      planReview: { id: 'qs3', callId: 'c8', title: 'Update the changelog', text: '# Update the changelog', isEdited: false, comments: 0, who: 'Update the changelog', sessionId: 's3' },
      approvals: [{ ...approval, id: 'a7', who: 'Move the fixtures to UTC', sessionId: 's2' }],
      questions: [
        { id: 'qs2', callId: 'c9', questions: [{ id: 'zone', header: 'Time zone', question: 'Which zone should the tests assume?', isMultiSelect: false, options: [{ label: 'UTC (Recommended)', description: 'The same everywhere' }, { label: 'The machine’s own', description: 'As it was before' }] }] },
      ],
    }),
  },
  'question-begun': {
    state: withRows(turn(), {
      session: { ...session, status: 'waiting' },
      questions: [
        {
          id: 'qs4',
          callId: 'c9',
          draft: { current: 1, filled: [{ selected: ['UTC (Recommended)'], custom: '', isSkipped: false }, { selected: ['Week numbers'], custom: 'and @src/date.test.ts', isSkipped: false }] },
          questions: [
            { id: 'zone', header: 'Time zone', question: 'Which zone should the tests assume?', isMultiSelect: false, options: [{ label: 'UTC (Recommended)', description: 'The same everywhere' }, { label: 'The machine’s own', description: 'As it was before' }] },
            { id: 'also', header: null, question: 'What else should be checked?', isMultiSelect: true, options: [{ label: 'Leap seconds', description: null }, { label: 'Week numbers', description: null }] },
          ],
        },
      ],
    }),
  },
  'question-countdown': {
    state: withRows(turn(), {
      session: { ...session, status: 'waiting' },
      questions: [{ id: 'qs5', callId: 'c9', answersAt: now + 42_000, questions: [{ id: 'zone', header: 'Time zone', question: 'Which zone should the tests assume?', isMultiSelect: false, options: [{ label: 'UTC (Recommended)', description: 'The same everywhere' }, { label: 'The machine’s own', description: 'As it was before' }] }] }],
    }),
  },
  failures: {
    state: withRows([
      prompt('Try things that fail'),
      tool('read', { card: 'generic', title: 'Read', kind: 'read', subject: 'src/gone.ts', locations: [{ path: 'src/gone.ts' }] }, null, { state: 'failed', endedAt: now, error: 'src/gone.ts does not exist. Look for it with glob, or create it with write.' }),
      tool('frobnicate', null, null, { state: 'failed', endedAt: now, error: 'There is no tool named frobnicate.', rawArguments: { depth: 3 } }),
      tool('bash', { card: 'terminal', title: 'git push --force' }, null, { state: 'denied', endedAt: now, error: 'You denied it: not on a Friday.' }),
      tool('bash', { card: 'terminal', title: 'sleep 600' }, { card: 'terminal', output: '', timedOut: true, durationMs: 120_000 }, { endedAt: now }),
      tool('bash', { card: 'terminal', title: 'npm run build' }, { card: 'terminal', output: 'Error: no such file\n', exitCode: 2, durationMs: 1_200 }),
      { kind: 'notice', id: 'n1', turn: 1, level: 'warning', text: 'The end of the log was damaged; 42 bytes were set aside.' },
      { kind: 'retry', id: 'rt1', turn: 1, reason: 'The model is over its rate limit', code: 'RATE_LIMIT', retry: 2, maxRetries: 5, resumesAt: now + 12_000 },
      text('I could not find the file, so', { isInterrupted: true }),
      turnEnd({ outcome: 'failed', message: 'The model did not answer for 60 s. Retry, or choose another model.', next: 'retry' }),
    ]),
  },
  'long-wait': {
    state: withRows([
      prompt('Go on'),
      { kind: 'notice', id: 'n2', turn: 1, level: 'warning', text: 'deepseek-v4-pro (deepseek-official) is out, so glm-5 (zai) goes on until the end of this turn. DeepSeek has a problem of its own (503).' },
      turnEnd({ outcome: 'failed', message: 'Z.ai limits how often it may be asked (429). Wait 20 min, or choose another model.', next: 'retry', resumesAt: now + 1_200_000 }),
    ]),
  },
  commands: {
    state: withRows([
      ...turn(),
      { kind: 'command', id: 'c1', turn: 1, name: 'model', args: 'deep high', state: 'ok', text: 'deepseek-official/deepseek-v4-pro · high answers from the next step on.' },
      { kind: 'command', id: 'c2', turn: 1, name: 'help', args: '', state: 'ok', text: '/clear · Begin a new session with the same model and preset.\n/fork · Go on in a copy of this session.\n/model <model [effort]> · Say which model answers, or choose another one.' },
      { kind: 'command', id: 'c3', turn: 1, name: 'model', args: 'dep', state: 'failed', text: 'No model is called “dep”. There are: deepseek-official/deepseek-v4-pro, deepseek-official/deepseek-v4-flash.' },
      { kind: 'command', id: 'c4', turn: 1, name: 'compact', args: '', state: 'running', text: null },
    ]),
  },
  compaction: {
    state: withRows([
      ...turn(),
      { kind: 'compaction', id: 'k1', turn: 1, state: 'ok', summary: '## Current work\nThe parser is done; its tests are next.', messages: 42, firstRowId: 'e0', error: null },
      { kind: 'compaction', id: 'k2', turn: 1, state: 'failed', summary: null, messages: 0, firstRowId: null, error: 'No usable summary was made: the model answered without any text.' },
      { kind: 'compaction', id: 'k3', turn: 1, state: 'running', summary: null, messages: 0, firstRowId: null, error: null },
    ]),
  },
  notices: {
    state: withRows(turn(), {
      isTrusted: false,
      notices: [
        { id: 'nt1', level: 'error', text: 'The key for deepseek was refused.', actions: [{ id: 'key', label: 'Set an API key' }] },
        { id: 'nt2', level: 'warning', text: 'bosun.model.default must be a text; the last good value is used.', actions: [{ id: 'open', label: 'Open settings' }] },
      ],
    }),
  },
  'read-only': { state: withRows(turn(), { session: { ...session, access: 'read-only', writer: 'another window' }, composer: { ...composer, canSend: false, blockedBy: 'Another window writes this session.' } }) },
  sessions: {
    state: withRows(turn(), {
      sessions: [
        { id: 's1', title: 'Fix the flaky date test', updatedAt: now - 60_000, state: 'idle', problem: null, isArchived: false, forkedFrom: null },
        { id: 's2', title: 'Upgrade the build to the new bundler and drop the old loaders', updatedAt: now - 3_600_000, state: 'running', problem: null, isArchived: false, forkedFrom: null },
        { id: 's3', title: 'Explain the scheduler', updatedAt: now - 30 * 3_600_000, state: 'waiting', problem: null, isArchived: false, forkedFrom: null },
        { id: 's4', title: 'Write the changelog', updatedAt: now - 90 * 3_600_000, state: 'broken', problem: 'Its log was written by a newer Bosun.', isArchived: false, forkedFrom: null },
        { id: 's5', title: 'Fix the flaky date test', updatedAt: now - 2 * 3_600_000, state: 'idle', problem: null, isArchived: false, forkedFrom: 'Fix the flaky date test' },
        { id: 's6', title: 'Old experiments', updatedAt: now - 900 * 3_600_000, state: 'idle', problem: null, isArchived: true, forkedFrom: null },
      ],
    }),
    press: ['Sessions'],
  },
  interrupted: { state: withRows([...turn().slice(0, -2), text('Fixed: the expectation is', { isInterrupted: true }), turnEnd({ outcome: 'interrupted', message: 'The window closed in the middle of this turn.', next: 'continue' })]) },
  'right-to-left': { state: withRows([prompt('אנא תקן את הבדיקה date.test.ts'), text('הבדיקה תוקנה. הקובץ `src/date.ts` השתנה.\n\n- פריט ראשון\n- פריט שני'), turnEnd()]) },
  agents: { state: agents() },
  'agent-transcript': {
    state: withRows(turn(), {
      session: { ...session, title: 'Fix the date test', access: 'read-only', status: 'running', child: { parentId: 's0', parentTitle: 'Ship it', canWrite: true, blockedBy: null, canTakeOver: true } },
      queue: [{ id: 'q1', text: 'Then look at the docs too', target: 'next-turn' }],
    }),
  },
  'agent-once': { state: withRows(turn(), { session: { ...session, title: 'Count the files', access: 'read-only', status: 'running', child: { parentId: 's0', parentTitle: 'Ship the calendar with all of its packages', canWrite: false, blockedBy: 'This agent gives one answer and takes no messages.', canTakeOver: false } } }) },
  menu: { state: withRows(turn()), press: ['More'] },
  usage: { state: withRows(turn()), press: ['/^Context/'] },
}
