import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventDraft, SessionEvent } from '../../../../extension/core/log/event.ts'
import type { Session } from '../../../../extension/core/session/session.ts'
import { brokenRules } from '../../../support/log-rules.ts'
import { createMemoryDisk, createMemoryEventStore, type MemoryDisk } from '../../../support/memory-event-store.ts'
import { runCount } from '../../../support/run-count.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { answer, call, prompt, result, stepEnd, stepStart, textDelta, turnEnd, turnStart, wholeTurn } from '../../../support/session-talk.ts'

const windowOn = async (disk: MemoryDisk) => {
  const events = createMemoryEventStore({ disk })
  return { events, ...(await createSessionRig({ events })) }
}

type Move =
  | { readonly move: 'append'; readonly draft: EventDraft }
  | { readonly move: 'flush' }
  | { readonly move: 'crash' }
  | { readonly move: 'reload' }
  | { readonly move: 'tear'; readonly bytes: number }
  | { readonly move: 'scribble'; readonly text: string }

const drafts = fc.record({ turn: fc.integer({ min: 1, max: 3 }), step: fc.integer({ min: 1, max: 2 }), callId: fc.constantFrom('a', 'b') }).chain(({ turn, step, callId }) =>
  fc.constantFrom<EventDraft>(
    turnStart(turn),
    turnEnd(turn),
    stepStart(turn, step),
    stepEnd(turn, step),
    textDelta(turn, step, 'x'),
    answer(turn, step, 'y', ['a', 'b']),
    call(turn, step, callId),
    result(turn, step, callId),
    prompt('z'),
    { ...prompt('w'), surfaceOp: { op: 'replace', start: 0, end: 0 }, sourceEventSeqs: [0, 1, 2] },
    { type: 'request/header', data: { reason: 'initial', header: { config: { provider: 'p', model: 'm' } } } },
  ),
)
const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 30, arbitrary: drafts.map((draft): Move => ({ move: 'append', draft })) },
  { weight: 3, arbitrary: fc.constantFrom<Move>({ move: 'flush' }, { move: 'crash' }, { move: 'reload' }) },
  { weight: 1, arbitrary: fc.nat(400).map((bytes): Move => ({ move: 'tear', bytes })) },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }).map((text): Move => ({ move: 'scribble', text })) },
)

describe('any sequence of appends, crashes, torn logs and reloads', () => {
  it('keeps the rules, loses nothing that was flushed, and derives the same from the log', () =>
    fc.assert(
      fc.asyncProperty(fc.array(moves, { minLength: 10, maxLength: 80 }), async (sequence) => {
        const disk = createMemoryDisk()
        let host = await windowOn(disk)
        let session: Session = await host.sessions.create({ cwd: '/project', id: 's' })
        /** Events that must be there for good. */
        let durable: readonly SessionEvent[] = []
        const reopen = async () => {
          host = await windowOn(disk)
          session = disk.logs.has('s') ? await host.sessions.open('s') : await host.sessions.create({ cwd: '/project', id: 's' })
          expect(session.events(0, durable.length)).toEqual(durable)
          durable = session.events()
        }
        const crash = async (damage: (text: string) => string) => {
          host.events.crash()
          const log = disk.logs.get('s')
          if (log !== undefined) log.text = damage(log.text)
          await reopen()
        }
        for (const step of sequence) {
          if (step.move === 'append') {
            const before = session.length
            try {
              session.append(step.draft)
            } catch {
              // A draft that breaks a rule is refused, and changes nothing.
              expect(session.length).toBe(before)
            }
          } else if (step.move === 'flush') {
            await session.flush()
            durable = session.events()
          } else if (step.move === 'crash') await crash((text) => text)
          else if (step.move === 'reload') {
            durable = session.events()
            await session.close()
            await reopen()
          } else if (step.move === 'scribble') await crash((text) => text + step.text)
          else {
            // What is torn off from outside was durable, but is gone.
            durable = []
            await crash((text) => text.slice(0, Math.max(text.indexOf('\n') + 1, text.length - step.bytes)))
          }
          expect(brokenRules(session.events())).toEqual([])
        }
        const derived = [session.messages(), session.surface().nodes, session.projections().values]
        await session.close()
        const again = await (await windowOn(disk)).sessions.open('s').catch(() => null)
        if (again === null) expect(session.length).toBe(0)
        else if (again.length === session.length) expect([again.messages(), again.surface().nodes, again.projections().values]).toEqual(derived)
      }),
      { numRuns: 150 },
    ))
})

describe('a log that is cut at any byte', () => {
  it('opens with the events before the cut, closes the open turn, and says what was cut', async () => {
    const disk = createMemoryDisk()
    const host = await windowOn(disk)
    const session = await host.sessions.create({ cwd: '/project', id: 's' })
    for (const draft of wholeTurn(1)) session.append(draft)
    await session.close()
    const { text } = disk.logs.get('s')!
    const original = session.events()
    const headerEnd = text.indexOf('\n')
    const cut = createMemoryDisk()
    const { sessions } = await windowOn(cut)
    for (let size = 0; size < text.length; size += runCount({ full: 1, desk: 5 })) {
      cut.logs.set('s', { text: text.slice(0, size), cuts: new Map(), note: null, modifiedAt: 0, lease: null })
      if (size < headerEnd) {
        await expect(sessions.open('s')).rejects.toMatchObject({ code: 'UNREADABLE' })
        expect(cut.logs.get('s')!.text).toBe(text.slice(0, size))
        expect(await sessions.list()).toMatchObject([{ id: 's', problem: expect.any(String) }])
        continue
      }
      const opened = await sessions.open('s')
      const events = opened.events()
      const lines = text.slice(headerEnd, size).split('\n').filter((line) => line !== '')
      const whole = lines.map(rowOf).filter((row) => row !== null)
      const kept = whole.reduce((count, row) => count + (row.deltas?.length ?? 1), 0)
      expect(events.slice(0, kept)).toEqual(original.slice(0, kept))
      expect(brokenRules(events)).toEqual([])
      expect(events.filter(({ type }) => type === 'turn/start').length).toBe(events.filter(({ type }) => type === 'turn/end').length)
      expect(events.some(({ type }) => type === 'log/repaired')).toBe(whole.length < lines.length)
      await opened.close()
    }
  })
})

function rowOf(line: string): { readonly deltas?: readonly string[] } | null {
  try {
    return JSON.parse(line) as { readonly deltas?: readonly string[] }
  } catch {
    // Half a line.
    return null
  }
}
