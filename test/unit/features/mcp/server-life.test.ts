import { describe, expect, it } from 'vitest'
import { McpError, type McpConnection, type McpConnectOptions, type McpListener, type McpToolFacts } from '../../../../extension/capabilities/mcp.ts'
import { parseServers } from '../../../../extension/features/mcp/server-config.ts'
import { ServerLife, SIGN_OF_LIFE_MS } from '../../../../extension/features/mcp/server-life.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

type Reached = 'refused' | 'mute' | McpConnection
const tool = (name: string): McpToolFacts => ({ name, description: '', inputSchema: { type: 'object' }, isReadOnly: false, needsTask: false })
const never = () => new Promise<never>(() => {})
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** One server whose every attempt goes as it is told, the last way for all that follow. */
async function lived({ reconnect, ways }: { readonly reconnect: object; readonly ways: readonly (Reached | (() => Reached))[] }) {
  const clock = createManualClock()
  const listeners: McpListener[] = []
  const closed: number[] = []
  const offered: (readonly string[] | null)[] = []
  const [config] = parseServers({ s: { command: 'x', reconnect } }).servers
  if (config === undefined) throw new Error('The entry is not read.')
  const life = new ServerLife({
    config,
    clock,
    connector: {
      revoke: never,
      connect: async (_target, { listener, signal }: McpConnectOptions) => {
        const at = listeners.push(listener) - 1
        const way = ways[Math.min(at, ways.length - 1)] ?? 'refused'
        const reached = typeof way === 'function' ? way() : way
        if (reached === 'mute') return await new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
        if (reached === 'refused') throw new McpError('MCP_CLOSED', 'It went.')
        return { ...reached, close: () => (closed.push(at), Promise.resolve()) }
      },
    },
    target: () => Promise.resolve({ kind: 'filled', target: { kind: 'stdio', command: 'x', args: [], env: {}, cwd: '/' } }),
    idleMinutes: () => 0,
    signIn: () => undefined,
    canSignIn: false,
    elicit: never,
    redact: (text) => text,
    setTools: (tools) => (offered.push(tools?.map(({ name }) => name) ?? null), null),
    onChange: () => {},
    onLog: () => {},
  })
  life.start()
  await settle()
  return { life, clock, listeners, closed, offered, pass: async (ms: number) => (clock.advance(ms), await settle()) }
}

const connection = (listTools: McpConnection['listTools'] = () => Promise.resolve([tool('a')]), isThere: McpConnection['isThere'] = never): McpConnection => ({
  server: { name: 's', version: '1' },
  instructions: null,
  offers: { tools: true, prompts: false, resources: false },
  listTools,
  listPrompts: never,
  listResources: never,
  callTool: never,
  getPrompt: never,
  readResource: never,
  isThere,
  close: () => Promise.resolve(),
})

describe('a server that goes away', () => {
  it('is reached again with pauses that double up to the longest, one attempt at a time, and given up after the last', async () => {
    const { life, clock, listeners, pass } = await lived({ reconnect: { initialMs: 100, maxMs: 300, attempts: 4 }, ways: ['refused'] })
    const pauses: (number | null)[] = []
    while (life.state === 'retrying') {
      pauses.push(clock.nextIn)
      expect(clock.waiting).toBe(1)
      await pass(clock.nextIn ?? 0)
    }
    expect([pauses, listeners.length, life.state, life.reason]).toEqual([[100, 200, 300, 300], 5, 'failed', 'It went. It was given up after 4 attempts.'])
    expect(clock.waiting).toBe(0)
  })
  it('has all its attempts again once it ran for as long as the longest pause, and not before', async () => {
    for (const [ranMs, pause] of [[299, 200], [300, 100]] as const) {
      const { life, clock, listeners, pass } = await lived({ reconnect: { initialMs: 100, maxMs: 300, attempts: 4 }, ways: ['refused', connection()] })
      await pass(100)
      expect(life.state).toBe('running')
      await pass(ranMs)
      listeners[1]?.onClose('It went.')
      expect([life.state, clock.nextIn]).toEqual(['retrying', pause])
    }
  })
  it('is not heard any more: neither its end, nor its lists, nor its questions', async () => {
    const { life, listeners, offered, closed, pass } = await lived({ reconnect: { initialMs: 100 }, ways: [connection(), connection(() => Promise.resolve([tool('b')]))] })
    listeners[0]?.onClose('It went.')
    expect(await listeners[0]?.elicit({ message: 'Who is there?', schema: {} }, new AbortController().signal)).toEqual({ action: 'cancel' })
    await pass(100)
    expect([life.state, offered, closed]).toEqual(['running', [['a'], ['b']], [0]])
    listeners[0]?.onClose('It went again.')
    listeners[0]?.onListChange('tools')
    await settle()
    expect([life.state, offered]).toEqual(['running', [['a'], ['b']]])
    expect(await listeners[0]?.elicit({ message: '', schema: {} }, new AbortController().signal)).toEqual({ action: 'cancel' })
  })
  it('is not waited for when it is disposed', async () => {
    const { life, clock } = await lived({ reconnect: { initialMs: 100 }, ways: ['refused'] })
    await life.dispose()
    expect([life.state, clock.waiting]).toEqual(['stopped', 0])
  })
  it('is let go in the middle of its start when it is disposed', async () => {
    const { life, clock } = await lived({ reconnect: {}, ways: ['mute'] })
    expect(life.state).toBe('starting')
    await life.dispose()
    expect([life.state, clock.waiting]).toEqual(['stopped', 0])
  })
})

describe('a server that lets a call run out of time', () => {
  const late = () => Promise.reject(new McpError('MCP_TIMEOUT', 'It took too long.'))
  /** As a connection says it: no answer before the signal fires. */
  const signs = (...answers: readonly boolean[]) => {
    const left = [...answers]
    return (signal: AbortSignal) => (left.shift() === true ? Promise.resolve(true) : new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(false), { once: true })))
  }
  const use = async (life: ServerLife) => await life.use(late, new AbortController().signal).catch((error: unknown) => (error as Error).message)
  it.each([
    ['answers when it is asked whether it is there, stays', [true], 0, ['running', null]],
    ['answers the third time only, stays', [false, false, true], 2, ['running', null]],
    ['does not answer three times in a row is ended and reached again', [], 3, ['retrying', 'It let a call run out of time and gave no sign of life 3 times in a row, so it was ended.']],
  ] as const)('and %s', async (_name, answers, rounds, outcome) => {
    const { life, pass, closed } = await lived({ reconnect: {}, ways: [connection(undefined, signs(...answers))] })
    // However many there are, it is asked by one of them.
    expect(await Promise.all([use(life), use(life)])).toEqual(['It took too long.', 'It took too long.'])
    for (let round = 1; round <= rounds; round++) {
      expect(life.state).toBe('running')
      await pass(SIGN_OF_LIFE_MS)
    }
    expect([life.state, life.reason, closed.length]).toEqual([...outcome, outcome[0] === 'running' ? 0 : 1])
  })
  it('is not asked any more once it is stopped', async () => {
    const { life, clock } = await lived({ reconnect: {}, ways: [connection(undefined, signs())] })
    await use(life)
    await life.stop()
    expect([life.state, clock.waiting]).toEqual(['stopped', 0])
  })
})

describe('a list that changes', () => {
  it('which cannot be read keeps the one before, and says why', async () => {
    let lists = 0
    const { life, listeners, offered } = await lived({ reconnect: {}, ways: [connection(() => ((lists += 1) === 1 ? Promise.resolve([tool('a')]) : Promise.reject(new McpError('MCP_PROTOCOL', 'It answered: no.'))))] })
    listeners[0]?.onListChange('tools')
    await settle()
    expect([life.tools.map(({ name }) => name), life.problem, offered]).toEqual([['a'], 'Its tools could not be listed: It answered: no.', [['a']]])
  })
  it('which never answers is given up after half a minute', async () => {
    const { life, pass } = await lived({ reconnect: {}, ways: [connection((signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })))] })
    await pass(29_999)
    expect(life.state).toBe('starting')
    await pass(1)
    expect([life.state, life.problem]).toEqual(['running', 'Its tools could not be listed: It did not list them within 30 s.'])
  })
  it('again and again is read less and less often', async () => {
    let lists = 0
    const { listeners, clock, pass } = await lived({ reconnect: {}, ways: [connection(() => Promise.resolve([tool(`t${(lists += 1)}`)]))] })
    const change = async () => (listeners[0]?.onListChange('tools'), await settle())
    await change()
    expect(lists).toBe(2)
    const pauses: (number | null)[] = []
    for (let round = 0; round < 11; round++) {
      for (let again = 0; again < 100; again++) await change()
      pauses.push(clock.nextIn)
      await pass(clock.nextIn ?? 0)
    }
    expect([lists, pauses]).toEqual([13, [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]])
    await pass(60_000)
    await change()
    expect(lists).toBe(14)
  })
})

it('a server that writes without an end is heard so far, and then said to be', async () => {
  const { life, listeners, pass } = await lived({ reconnect: {}, ways: [connection()] })
  const before = life.log.length
  for (let line = 1; line <= 10_000; line++) listeners[0]?.onLog(`line ${line}`)
  expect([life.log.length - before, life.log.at(-1)?.slice(9)]).toEqual([301, 'It writes more than 300 lines in 10 s; what follows is left out.'])
  await pass(10_000)
  listeners[0]?.onLog('later')
  expect(life.log.slice(-2).map((line) => line.slice(9))).toEqual(['9700 further lines were left out.', 'later'])
})

it('the list that was asked for last counts, whichever comes first', async () => {
  const first = Promise.withResolvers<readonly McpToolFacts[]>()
  const lists = [first.promise, Promise.resolve([tool('new')])]
  const { life, listeners, offered } = await lived({ reconnect: {}, ways: [connection(() => lists.shift() ?? never())] })
  listeners[0]?.onListChange('tools')
  await settle()
  first.resolve([tool('old')])
  await settle()
  expect([life.state, offered]).toEqual(['running', [['new']]])
})
