import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { foldWords } from '../../extension/base/search-words.ts'
import type { IndexQuery } from '../../extension/capabilities/search-index.ts'
import type { Logger } from '../../extension/capabilities/logger.ts'
import { createKernel } from '../../extension/core/kernel/kernel.ts'
import type { EventDraft } from '../../extension/core/log/event.ts'
import type { Session } from '../../extension/core/session/session.ts'
import { sessionsPlugin } from '../../extension/core/session/sessions.ts'
import { settingsPlugin } from '../../extension/core/settings/service.ts'
import { featureEvents } from '../../extension/features/event-types.ts'
import { historyPlugin } from '../../extension/features/history/plugin.ts'
import type {} from '../../extension/features/history/service.ts'
import { createNodeClock } from '../../extension/platform/node/clock.ts'
import { NodeBlobStore } from '../../extension/platform/node/blob-store.ts'
import { NodeEventStore } from '../../extension/platform/node/event-store.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { createThreadIndexHost } from '../../extension/platform/node/search-index/thread-index.ts'
import { databaseName } from '../../extension/platform/node/search-index/sqlite-index.ts'
import type { Figure } from './table.ts'

const SESSIONS = 200
const EVENTS = 500
const VOCABULARY = 30_000

/** The index of sessions over 100 000 events: how soon it is made, and how soon it and the whole query answer, warm, by words of all kinds. */
export async function historyFigures(): Promise<readonly Figure[]> {
  const root = await mkdtemp(join(tmpdir(), 'bench-history-'))
  const kernel = createKernel({ logger: silent })
  try {
    const store = new NodeEventStore({ root: join(root, 'sessions') })
    const clock = createNodeClock()
    const { dispatch } = kernel
    const host = createThreadIndexHost({ entry: new URL('../../extension/platform/node/search-index/index-main.ts', import.meta.url), folder: join(root, 'index'), isKeptUp: false })
    const index = await host.open()
    kernel.root.plugin(settingsPlugin({ source: { get: () => undefined, inspect: () => ({ user: undefined, workspace: undefined }), set: async () => {}, onDidChange: () => () => {} }, logger: silent, dispatch }))
    kernel.root.plugin(sessionsPlugin({ events: store, blobs: new NodeBlobStore({ root }), clock, logger: silent, machine: { randomId: () => randomBytes(16).toString('hex') }, dispatch }))
    kernel.root.plugin(featureEvents)
    await kernel.root.plugin(historyPlugin({ events: store, files: new NodeFileSystem({ folders: () => [] }), index: { isKeptUp: false, open: async () => index }, clock, logger: silent })).ready
    const { sessions, history } = kernel.root
    for (let at = 0; at < SESSIONS; at += 1) await talk(await sessions.create({ id: `s${at}`, cwd: root }))
    const caller = await sessions.create({ id: 'me', cwd: root })
    const { signal } = new AbortController()
    const blocked = monitorEventLoopDelay({ resolution: 5 })
    blocked.enable()
    const buildMs = await timed(() => history.searchSessions(caller, { query: words.rare(0) }, signal))
    blocked.disable()

    const queries = Array.from({ length: 200 }, (_, at) => queryAt(at))
    const ids = Array.from({ length: SESSIONS }, (_, at) => `s${at}`)
    const ask = (query: string): IndexQuery => ({ phrase: foldWords(query), mode: 'words', sessions: ids, per: 'event', limit: 50 })
    // The floor: the best fifty by the rank of the full-text table, and nothing else, in this thread.
    const bare = new DatabaseSync(join(root, 'index', databaseName), { readOnly: true })
    const ranked = bare.prepare('SELECT rowid FROM phrases WHERE phrases MATCH ? ORDER BY rank LIMIT 50')
    const floors: number[] = []
    const searches: number[] = []
    const tools: number[] = []
    for (const query of queries) {
      await index.search(ask(query))
      floors.push(await timed(async () => ranked.all(`"${foldWords(query)}"`)))
      searches.push(await timed(() => index.search(ask(query))))
      tools.push(await timed(() => history.searchSessions(caller, { query }, signal)))
    }
    bare.close()
    return [
      { name: `index: read ${SESSIONS * EVENTS} events first`, unit: 'ms', value: buildMs, goal: 10_000 },
      { name: "index: the host's thread, longest wait meanwhile", unit: 'ms', value: blocked.max / 1e6, goal: 50 },
      { name: 'index: search, 95th percentile', unit: 'ms', value: percentile(searches, 0.95), goal: 10 },
      { name: 'index: search, median, beside a bare match', unit: 'ms', value: percentile(searches, 0.5), floor: percentile(floors, 0.5) },
      { name: 'session_search, 95th percentile', unit: 'ms', value: percentile(tools, 0.95), goal: 100 },
    ]
  } finally {
    await kernel.dispose()
    await rm(root, { recursive: true, force: true })
  }
}

async function talk(session: Session): Promise<void> {
  session.append({ type: 'turn/start', data: { turn: 1 } })
  session.append({ type: 'step/start', data: { turn: 1, step: 1 } })
  for (let at = 2; at < EVENTS; at += 1) session.append(said(at))
  await session.close()
}

const said = (at: number): EventDraft => ({
  type: 'user/message',
  surfaceOp: 'append',
  data: { id: `m${at}`, role: 'user', content: [{ type: 'text', text: words.text(150) }], source: { kind: 'user' } },
})

/** Words as talks have them: a few in many texts, most in few. */
const words = (() => {
  let seed = 1
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff) / 0x7f_ff_ff_ff
  const word = (at: number) => `w${at.toString(36)}`
  const any = () => word(Math.min(VOCABULARY - 1, Math.floor(VOCABULARY ** next()) - 1))
  return {
    text: (count: number) => Array.from({ length: count }, any).join(' '),
    rare: (at: number) => word(VOCABULARY - 1 - at),
    usual: (at: number) => word(300 + at * 7),
    common: (at: number) => word(8 + at),
  }
})()

/** Of ten searches four are for words of few texts, three for those of some, two for phrases, one for a word of very many. */
function queryAt(at: number): string {
  switch (at % 10) {
    case 0:
      return words.common(at / 10)
    case 1:
    case 2:
      return `${words.usual(at)} ${words.common(at % 5)}`
    case 3:
    case 4:
    case 5:
      return words.usual(at)
    default:
      return words.rare(at)
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

const percentile = (values: readonly number[], share: number): number => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
