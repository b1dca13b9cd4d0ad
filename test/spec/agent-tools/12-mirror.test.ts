import { describe, expect, it } from 'vitest'
import { settled } from '../../support/loop-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createMemoryEventStore } from '../../support/memory-event-store.ts'
import { createSessionRig } from '../../support/session-rig.ts'
import { prompt, stepStart, textDelta, turnEnd, turnStart, wholeTurn } from '../../support/session-talk.ts'

/** Two windows over one disk: the first writes, the second shows. */
async function twoWindows() {
  const here = createMemoryEventStore()
  const there = createMemoryEventStore({ disk: here.disk, pid: 2 })
  const writer = await createSessionRig({ events: here })
  const session = await writer.sessions.create({ cwd: '/project', id: 's' })
  for (const draft of wholeTurn(1)) session.append(draft)
  await session.flush()
  const clock = createManualClock()
  const rig = await createSessionRig({ events: there, clock })
  const mirror = await rig.sessions.open('s')
  const heard: string[] = []
  rig.kernel.root.on('session/mirrored', (_session, event) => void heard.push(event.type))
  rig.kernel.root.on('session/event', (_session, event) => void heard.push(`as if written here: ${event.type}`))
  const look = async () => {
    clock.advance(500)
    await settled()
  }
  return { here, session, mirror, rig, heard, look }
}

describe('12.14 a session that another window writes', () => {
  it('is shown as it goes on: each event comes as it was written, streamed parts too, and nothing here acts on it', async () => {
    const { session, mirror, heard, look } = await twoWindows()
    const before = mirror.length
    const stop = mirror.follow()
    for (const draft of [turnStart(2), stepStart(2, 1), prompt('more'), textDelta(2, 1, 'one'), textDelta(2, 1, 'two')]) session.append(draft)
    await session.flush()
    await look()
    expect(mirror.events(before)).toEqual(session.events(before))
    expect([heard, mirror.access, mirror.openTurn()?.turn]).toEqual([['turn/start', 'step/start', 'user/message', 'assistant/chunk', 'assistant/chunk'], 'read-only', 2])
    expect(mirror.messages()).toEqual(session.messages())
    expect(mirror.projections().values).toEqual(session.projections().values)
    stop()
  })

  it('is looked at only while somebody follows it', async () => {
    const { session, mirror, look } = await twoWindows()
    const before = mirror.length
    const stops = [mirror.follow(), mirror.follow()]
    stops[0]!()
    stops[0]!()
    session.append(turnStart(2))
    await session.flush()
    await look()
    expect(mirror.length).toBe(before + 1)
    stops[1]!()
    session.append(turnEnd(2))
    await session.flush()
    await look()
    expect(mirror.length).toBe(before + 1)
    mirror.follow()
    await look()
    expect(mirror.length).toBe(before + 2)
  })

  it('can be written here once its writer is gone', async () => {
    const { here, session, mirror, rig, look } = await twoWindows()
    mirror.follow()
    expect(() => mirror.append(turnStart(2))).toThrow(expect.objectContaining({ code: 'READ_ONLY' }) as Error)
    here.crash()
    const own = await rig.sessions.open('s')
    await look()
    expect([own.access, own.events().slice(0, session.length)]).toEqual(['write', session.events()])
    expect(own.follow()).toBeTypeOf('function')
  })

  it('stays as it stands when what is added cannot follow, and says so once', async () => {
    const { here, mirror, rig, look } = await twoWindows()
    const before = mirror.length
    mirror.follow()
    here.disk.logs.get('s')!.text += '{"type":"turn/end","seq":99}\n'
    await look()
    await look()
    expect([mirror.length, rig.logger.lines.filter(({ level }) => level === 'warn').length]).toEqual([before, 1])
  })
})
