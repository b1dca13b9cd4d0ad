import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SessionEvent } from '../../../../extension/core/log/event.ts'
import type { Session } from '../../../../extension/core/session/session.ts'
import { Images } from '../../../../extension/features/checkpoints/images.ts'
import { splitLines } from '../../../../extension/features/checkpoints/line-merge.ts'
import { reviewProjection } from '../../../../extension/features/checkpoints/projection.ts'
import { createRecorder } from '../../../../extension/features/checkpoints/recorder.ts'
import { createReviews } from '../../../../extension/features/checkpoints/reviews.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createMemoryBlobStore } from '../../../support/memory-blob-store.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { runCount } from '../../../support/run-count.ts'

const paths = ['/a', '/b']

/** The review over files in memory; the person and the agent change lines that name who wrote them. */
function bench() {
  const files = new MemoryFileSystem({ '/a': linesOf('first', 12) })
  const [blobs, logger, agent] = [createMemoryBlobStore(), createRecordingLogger(), createFakeAgent()]
  const images = new Images({ files, blobs })
  const recorder = createRecorder({ images, logger })
  const view = () => agent.session.events().reduce((state, event: SessionEvent) => reviewProjection.step(state, event), reviewProjection.start()).view
  const session: Session = { ...agent.session, projections: () => ({ asOfSeq: 0, values: { review: view() } }) }
  Object.defineProperty(session, 'length', { get: () => agent.log.length })
  const reviews = createReviews({ files, images, logger, settled: recorder.settled, tell: () => undefined })
  let calls = 0
  let turn = 0
  return {
    files,
    reviews,
    session,
    logger,
    view,
    text: (path: string) => files.text(path),
    put: (path: string, lines: readonly string[]) => (lines.length === 0 ? void files.entries.delete(path) : files.put(path, lines.join(''))),
    startTurn: () => void session.append({ type: 'turn/start', data: { turn: ++turn } }),
    get turn() {
      return turn
    },
    /** As a tool does it: keep what is there, change it, and let the recorder see it. */
    async call(path: string, change: () => void) {
      const callId = `c${++calls}`
      const { digest } = await blobs.putBeforeImage(session.id, files.entries.get(path)?.bytes ?? null)
      await recorder.around({ session, callId, hasOwnCard: true }, async () => {
        session.append({ type: 'fs/before-image', data: { callId, path, digest }, ignorable: true })
        change()
        return { isError: false, value: null, content: [] }
      })
      await recorder.settled(session)
    },
  }
}

function linesOf(name: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${name} ${index}\n`).join('')
}

const place = fc.record({ path: fc.constantFrom(...paths), at: fc.nat(14), remove: fc.nat(3), add: fc.nat(3) })
const deed = fc.oneof(
  { weight: 5, arbitrary: fc.record({ who: fc.constant('agent' as const), place }) },
  { weight: 5, arbitrary: fc.record({ who: fc.constant('person' as const), place }) },
  { weight: 1, arbitrary: fc.record({ who: fc.constant('turn' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ who: fc.constant('review' as const), verb: fc.constantFrom('undo', 'undo', 'keep'), kind: fc.constantFrom('hunk', 'file', 'turn', 'call', 'all', 'since'), path: fc.constantFrom(...paths), pick: fc.nat(5) }),
  },
)

const seed = Number(process.env['BOSUN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

it(`whatever is kept and undone, no line of the person vanishes unasked (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 4, maxLength: 24 }), async (deeds) => {
      const b = bench()
      const { reviews, session, logger } = b
      /** Lines of the person that stand in a file. */
      const alive = new Map<string, Set<string>>(paths.map((path) => [path, new Set()]))
      const standing = (path: string) => splitLines(b.text(path) ?? '')
      const takeStock = (path: string) => alive.set(path, new Set(standing(path).filter((line) => line.startsWith('person'))))
      b.startTurn()
      for (const [index, one] of deeds.entries()) {
        if (one.who === 'turn') b.startTurn()
        else if (one.who !== 'review') {
          const { path, at, remove, add } = one.place
          const added = Array.from({ length: add }, (_, nth) => `${one.who} ${index}.${nth}\n`)
          const now = standing(path)
          const next = now.toSpliced(Math.min(at, now.length), remove, ...added)
          if (one.who === 'agent') await b.call(path, () => b.put(path, next))
          else b.put(path, next)
          takeStock(path)
        } else {
          const file = await reviews.file(session, one.path)
          const calls = b.view().files.flatMap((each) => each.calls)
          const hunk = file?.hunks[one.pick % Math.max(1, file.hunks.length)]
          const target =
            one.kind === 'hunk' ? hunk && { kind: 'hunk' as const, path: one.path, hunk }
            : one.kind === 'file' ? { kind: 'file' as const, path: one.path }
            : one.kind === 'call' ? calls.length > 0 && { kind: 'call' as const, callId: calls[one.pick % calls.length]! }
            : one.kind === 'all' ? { kind: 'all' as const }
            : one.kind === 'since' && one.verb === 'undo' ? { kind: 'since' as const, turn: 1 + (one.pick % b.turn) }
            : { kind: 'turn' as const, turn: 1 + (one.pick % b.turn) }
          if (!target) continue
          const before = paths.map((path) => b.text(path))
          const outcome = one.verb === 'keep' && target.kind !== 'since' ? await reviews.keep(session, target) : await reviews.undo(session, target)
          expect(outcome.problems).toEqual([])
          if (one.verb === 'keep') expect(paths.map((path) => b.text(path))).toEqual(before)
          for (const path of paths) expect(standing(path)).toEqual(expect.arrayContaining([...alive.get(path)!]))
          for (const path of paths) takeStock(path)
        }
      }
      expect(logger.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
    }),
    { seed, numRuns: runCount({ full: 3_000, desk: 150 }) },
  )
}, 300_000)

it(`what the agent did alone is undone to the byte, in one go or region by region (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 8 }), fc.boolean(), async (places, isByHunk) => {
      const b = bench()
      const { reviews, session } = b
      const before = paths.map((path) => b.text(path))
      for (const [index, { path, at, remove, add }] of places.entries()) {
        b.startTurn()
        const now = splitLines(b.text(path) ?? '')
        await b.call(path, () => b.put(path, now.toSpliced(Math.min(at, now.length), remove, ...Array.from({ length: add }, (_, nth) => `agent ${index}.${nth}\n`))))
      }
      for (const path of isByHunk ? paths : []) {
        for (let hunk = (await reviews.file(session, path))?.hunks[0]; hunk; hunk = (await reviews.file(session, path))?.hunks[0]) {
          expect(await reviews.undo(session, { kind: 'hunk', path, hunk })).toMatchObject({ paths: [path], problems: [] })
        }
      }
      await reviews.undo(session, { kind: 'all' })
      expect(paths.map((path) => b.text(path))).toEqual(before)
      expect(b.view().files).toEqual([])
    }),
    { seed, numRuns: runCount({ full: 1_000, desk: 80 }) },
  )
}, 300_000)
