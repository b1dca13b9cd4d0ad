import { describe, expect, it } from 'vitest'
import { costProjection, dayOf } from '../../../../extension/core/cost/cost-projection.ts'
import type {} from '../../../../extension/core/cost/events.ts'
import { createCostLedger } from '../../../../extension/core/cost/ledger.ts'
import type { Session } from '../../../../extension/core/session/session.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'

async function setUp(events = createMemoryEventStore()) {
  const rig = await createSessionRig({ events })
  rig.projections.register(costProjection)
  const ledger = createCostLedger({ sessions: rig.sessions, projections: rig.projections, logger: rig.logger, now: () => rig.clock.now() })
  rig.kernel.root.on('session/created', ledger.opened)
  const create = (id: string, parentSession?: string) => rig.sessions.create({ cwd: '/p', id, ...(parentSession !== undefined && { parentSession, origin: 'subagent' as const }) })
  return { ...rig, ledger, create, events }
}
const spend = (session: Session, amount: number) =>
  session.append({ type: 'cost/estimated', ignorable: true, data: { purpose: 'turn', provider: 'p', model: 'm', usage: { inputTokens: 1, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, amount } })

describe('the ledger', () => {
  it('follows what live sessions spend, without reading a log', async () => {
    const { ledger, create } = await setUp()
    const parent = await create('parent')
    const child = await create('child', 'parent')
    await ledger.treeCost('parent')
    const heard: string[] = []
    const stop = ledger.onDidChange((id) => heard.push(id))
    spend(child, 2)
    spend(parent, 1)
    stop()
    spend(child, 4)
    expect([ledger.knownTreeCost('parent').amount, ledger.knownTreeCost('child').amount, heard]).toEqual([7, 6, ['child', 'parent']])
  })

  it('keeps what a closed session cost', async () => {
    const { ledger, create } = await setUp()
    await create('parent')
    const child = await create('child', 'parent')
    spend(child, 2)
    await child.close()
    expect((await ledger.treeCost('parent')).amount).toBe(2)
  })

  it('counts on without a child that cannot be read, and says so', async () => {
    const before = await setUp()
    const parent = await before.create('parent')
    spend(parent, 1)
    const child = await before.create('child', 'parent')
    spend(child, 2)
    await child.close()
    await parent.close()
    const after = await setUp(before.events)
    after.sessions.valueOf = (id) => (id === 'child' ? Promise.reject(new Error('The disk is gone.')) : Promise.resolve(undefined))
    await after.sessions.open('parent')
    expect((await after.ledger.treeCost('parent')).amount).toBe(1)
    expect(after.logger.lines).toContainEqual(expect.objectContaining({ message: 'The cost of a session could not be read.' }))
  })

  it('comes to an end when parents go in a circle', async () => {
    const { ledger, create } = await setUp()
    await create('a', 'b')
    await create('b', 'a')
    expect(['a', 'b']).toContain(await ledger.rootOf('a'))
    expect((await ledger.treeCost('a')).amount).toBe(0)
  })

  it('takes a day as it is where the person is', () => expect(dayOf(new Date(2026, 0, 5, 23, 59).getTime())).toBe('2026-01-05'))
})
