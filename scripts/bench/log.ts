import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { EventStore } from '../../extension/capabilities/event-store.ts'
import type { Logger } from '../../extension/capabilities/logger.ts'
import { createKernel } from '../../extension/core/kernel/kernel.ts'
import type { EventDraft } from '../../extension/core/log/event.ts'
import type { Session, Sessions } from '../../extension/core/session/session.ts'
import { sessionsPlugin } from '../../extension/core/session/sessions.ts'
import { createNodeClock } from '../../extension/platform/node/clock.ts'
import { NodeBlobStore } from '../../extension/platform/node/blob-store.ts'
import { NodeEventStore } from '../../extension/platform/node/event-store.ts'
import { median } from './agent-runs.ts'
import type { Figure } from './table.ts'

const eventCount = 100_000
const tailCount = 500
const filler = 'x'.repeat(700)

/** The event log beside plain files: one durable append, a burst, the opening of a long session. */
export async function logFigures(repeat: number): Promise<readonly Figure[]> {
  const root = await mkdtemp(join(tmpdir(), 'bench-log-'))
  try {
    const store = new NodeEventStore({ root })
    const sessions = await sessionsOn(store, root)
    const figures = [await durableAppend(sessions, root), ...(await longSession(store, root, repeat))]
    return figures
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

async function sessionsOn(events: EventStore, root: string): Promise<Sessions> {
  const kernel = createKernel({ logger: silent })
  const machine = { randomId: () => randomBytes(16).toString('hex') }
  await kernel.root.plugin(sessionsPlugin({ events, blobs: new NodeBlobStore({ root }), clock: createNodeClock(), logger: silent, machine, dispatch: kernel.dispatch })).ready
  return kernel.root.sessions
}

async function durableAppend(sessions: Sessions, root: string): Promise<Figure> {
  const session = await sessions.create({ cwd: root, id: 'single' })
  const raw = await open(join(root, 'raw'), 'a')
  const line = `${JSON.stringify({ seq: 0, time: 0, ...prompt('0') })}\n`
  const floors: number[] = []
  const ours: number[] = []
  for (let round = 0; round < 400; round++) {
    floors.push(await timed(async () => {
      await raw.write(line)
      await raw.sync()
    }))
    ours.push(await timed(async () => {
      session.append(prompt(String(round)))
      await session.flush()
    }))
  }
  await raw.close()
  await session.close()
  return { name: 'log: append and flush one event', unit: 'ms', value: median(ours), floor: median(floors), goal: 1.5 }
}

async function longSession(store: EventStore, root: string, repeat: number): Promise<readonly Figure[]> {
  const session = await (await sessionsOn(store, root)).create({ cwd: root, id: 'long' })
  const drafts = longTalk()
  const burstMs = await timed(async () => appendAll(session, drafts))
  await session.close()
  const path = join(root, 'long', 'events.jsonl')
  const whole = { floor: [] as number[], ours: [] as number[] }
  const tail = { floor: [] as number[], ours: [] as number[] }
  for (let round = 0; round < repeat; round++) {
    whole.floor.push(await timed(async () => void parsed(await readFile(path, 'utf8'))))
    const sessions = await sessionsOn(store, root)
    tail.ours.push(await timed(() => sessions.readTail('long', tailCount)))
    tail.floor.push(await timed(() => lastLines(path)))
    let opened: Session | undefined
    whole.ours.push(await timed(async () => void (opened = await sessions.open('long'))))
    await opened?.close()
  }
  return [
    { name: 'log: append without flush', unit: 'events/s', value: (drafts.length / burstMs) * 1_000, goal: 50_000 },
    { name: `log: first screen of ${eventCount} events`, unit: 'ms', value: median(tail.ours), floor: median(tail.floor), goal: 5 },
    { name: `log: whole replay of ${eventCount} events`, unit: 'ms', value: median(whole.ours), floor: median(whole.floor), goal: 1.5 },
  ]
}

function appendAll(session: Session, drafts: readonly EventDraft[]): void {
  for (const draft of drafts) session.append(draft)
}

const prompt = (id: string): EventDraft<'user/message'> => ({
  type: 'user/message',
  surfaceOp: 'append',
  data: { id, role: 'user', source: { kind: 'user' }, content: [{ type: 'text', text: filler }] },
})

/** Turns of five steps, each with streamed parts, an answer, a call and its result. */
function longTalk(): readonly EventDraft[] {
  const drafts: EventDraft[] = []
  for (let turn = 1; drafts.length < eventCount; turn++) {
    drafts.push({ type: 'turn/start', data: { turn } }, prompt(`p${turn}`))
    for (let step = 1; step <= 5; step++) drafts.push(...stepOf(turn, step))
    drafts.push({ type: 'turn/end', data: { turn, reason: { kind: 'completed' } } })
  }
  return drafts
}

function stepOf(turn: number, step: number): readonly EventDraft[] {
  const callId = `${turn}-${step}`
  const call = { id: callId, name: 'read', arguments: '{"file_path":"/a"}' }
  const delta = (text: string): EventDraft => ({ type: 'assistant/chunk', data: { turn, step, chunk: { type: 'text-delta', index: 0, delta: text } } })
  return [
    { type: 'step/start', data: { turn, step } },
    ...['some ', 'words ', 'stream'].map(delta),
    {
      type: 'assistant/message',
      surfaceOp: 'append',
      data: {
        turn,
        step,
        usage: { inputTokens: 1, outputTokens: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
        message: {
          id: `a${callId}`,
          role: 'assistant',
          source: { kind: 'model', provider: 'p', model: 'm' },
          content: [{ type: 'text', text: filler }, { type: 'tool-call', ...call }],
        },
      },
    },
    { type: 'tool/call', data: { turn, step, callId, name: call.name, arguments: call.arguments } },
    {
      type: 'tool/result',
      surfaceOp: 'append',
      data: {
        turn,
        step,
        message: {
          id: `r${callId}`,
          role: 'tool',
          source: { kind: 'tool', callId },
          content: [{ type: 'tool-result', callId, isError: false, content: [{ type: 'text', text: filler }] }],
        },
      },
    },
    { type: 'step/end', data: { turn, step } },
  ]
}

const parsed = (text: string): unknown[] => text.trimEnd().split('\n').map((line) => JSON.parse(line) as unknown)

/** The floor of a first screen: the newest lines, with the offset known. */
async function lastLines(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, tailCount * 500)
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    parsed(buffer.toString('utf8').slice(buffer.indexOf(0x0a) + 1))
  } finally {
    await handle.close()
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
