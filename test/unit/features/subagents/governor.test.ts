import { describe, expect, it } from 'vitest'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import { createGovernor } from '../../../../extension/features/subagents/governor.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { settled } from '../../../support/loop-rig.ts'

const open = new AbortController().signal
let count = 0
const agent = (owner?: Agent): Agent => ({ ...createFakeAgent({ id: `session-${++count}` }), ...(owner && { owner }), status: 'running' })

function governorWith(limits: { maxConcurrent?: number; maxDepth?: number; maxTotal?: number } = {}) {
  const now = { maxConcurrent: 1, maxDepth: 3, maxTotal: 100, ...limits }
  const clock = createManualClock()
  return { now, clock, governor: createGovernor({ clock, logger: createRecordingLogger(), limits: () => now }) }
}

/** Asks for places under one parent and says in which order they were given. */
function asking(governor: ReturnType<typeof governorWith>['governor'], parent = agent()) {
  const given: string[] = []
  const releases = new Map<string, () => void>()
  const ask = (name: string, more: { provider?: string; signal?: AbortSignal } = {}) =>
    governor.enter({ parent, signal: open, ...more }).then(
      (release) => {
        given.push(name)
        releases.set(name, release)
      },
      (error: unknown) => void given.push(`${name}: ${(error as { code?: string; message: string }).code ?? (error as Error).message}`),
    )
  return { given, ask, release: (name: string) => releases.get(name)?.() }
}

describe('places', () => {
  it('are given in the order in which they were asked for, one when one is given back', async () => {
    const { governor } = governorWith({ maxConcurrent: 2 })
    const { given, ask, release } = asking(governor)
    for (const name of ['a', 'b', 'c', 'd']) void ask(name)
    await settled()
    expect([given, governor.running, governor.queued]).toEqual([['a', 'b'], 2, 2])
    release('b')
    release('b')
    await settled()
    expect([given, governor.running, governor.queued]).toEqual([['a', 'b', 'c'], 2, 1])
  })
  it('go to the next one when one that waits is stopped', async () => {
    const { governor } = governorWith()
    const { given, ask, release } = asking(governor)
    const stop = new AbortController()
    for (const [name, signal] of [['a', open], ['b', stop.signal], ['c', open]] as const) void ask(name, { signal })
    stop.abort(new Error('stopped'))
    release('a')
    await settled()
    release('a')
    await settled()
    expect([given, governor.queued]).toEqual([['a', 'b: stopped', 'c'], 0])
  })
  it('grow and shrink with the setting while some wait', async () => {
    const { governor, now } = governorWith()
    const { given, ask, release } = asking(governor)
    for (const name of ['a', 'b', 'c', 'd']) void ask(name)
    await settled()
    now.maxConcurrent = 3
    governor.refresh()
    await settled()
    expect(given).toEqual(['a', 'b', 'c'])
    now.maxConcurrent = 1
    release('a')
    release('b')
    await settled()
    expect([given, governor.running]).toEqual([['a', 'b', 'c'], 1])
    release('c')
    await settled()
    expect(given).toEqual(['a', 'b', 'c', 'd'])
  })
  it('are lent while their agent waits for its own children, and taken back before anybody else gets one', async () => {
    const { governor } = governorWith()
    const parent = agent()
    const child = agent(parent)
    governor.bind(child, await governor.enter({ parent, signal: open }))
    const { given, ask, release } = asking(governor, child)
    const order: string[] = []
    const lent = governor.lend(child, async () => {
      await ask('grandchild')
      void ask('other')
      release('grandchild')
    }).then(() => order.push('back'))
    await settled()
    // The other one was first to ask for what the grandchild gave back.
    expect([given, order]).toEqual([['grandchild', 'other'], []])
    release('other')
    await lent
    expect([governor.running, governor.hasPlace(child), order]).toEqual([1, true, ['back']])
  })
  it('are lent once for calls side by side, and a stopped call does not wait for one', async () => {
    const { governor } = governorWith()
    const parent = agent()
    const child = agent(parent)
    governor.bind(child, await governor.enter({ parent, signal: open }))
    const { ask } = asking(governor)
    const stop = new AbortController()
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const both = Promise.all([governor.lend(child, () => first.promise, stop.signal), governor.lend(child, () => second.promise, stop.signal)])
    await ask('one that stays')
    first.resolve()
    await settled()
    expect([governor.hasPlace(child), governor.running]).toEqual([false, 1])
    second.resolve()
    await settled()
    stop.abort()
    await both
    expect([governor.hasPlace(child), governor.queued]).toEqual([false, 0])
  })
  it('wait for the end of a rate limit of their provider; those of others do not', async () => {
    const { governor, clock } = governorWith({ maxConcurrent: 9 })
    const { given, ask } = asking(governor)
    governor.backOff('busy', 1_000)
    governor.backOff('busy', 500)
    void ask('a', { provider: 'busy' })
    void ask('b', { provider: 'free' })
    await settled()
    expect(given).toEqual(['b'])
    clock.advance(999)
    await settled()
    expect(given).toEqual(['b'])
    clock.advance(1)
    await settled()
    expect([given, governor.queued]).toEqual([['b', 'a'], 0])
  })
})

describe('refusals', () => {
  const depths = (count: number) => {
    let at = agent()
    for (let level = 0; level < count; level += 1) at = agent(at)
    return at
  }
  const rows: readonly [what: string, parent: Agent, maxDepth: number | 'provider-managed' | undefined, code: string | null, words: readonly string[]][] = [
    ['the third level is allowed', depths(2), undefined, null, []],
    ['the fourth is not', depths(3), undefined, 'DEPTH_EXCEEDED', ['depth 4', ' 3 ']],
    ['an instance may allow less', depths(1), 1, 'DEPTH_EXCEEDED', ['depth 2', ' 1 ']],
    ['but not more', depths(3), 9, 'DEPTH_EXCEEDED', ['depth 4', ' 3 ']],
    ['none at all', depths(0), 0, 'DEPTH_EXCEEDED', ['depth 1', ' 0 ']],
    ['a provider that counts by itself is let through', depths(7), 'provider-managed', null, []],
    ['a depth that is no whole number is an error', depths(0), 1.5, 'RangeError', ['1.5']],
  ]
  it.each(rows)('%s', (_what, parent, maxDepth, code, words) => {
    const { governor } = governorWith()
    const check = () => governor.checkDepth(parent, maxDepth)
    if (code === null) return expect(check).not.toThrow()
    try {
      check()
      expect.unreachable()
    } catch (error) {
      expect((error as { code?: string; name: string }).code ?? (error as Error).name).toBe(code)
      for (const word of words) expect((error as Error).message).toContain(word)
    }
  })
  it('a reopened child is as deep as its header says', () => {
    const { governor } = governorWith()
    const reopened: Agent = { ...agent(), session: { header: { version: 0, id: 'x', createdAt: 0, delegationDepth: 3 } } as Agent['session'] }
    expect(governor.depthOf(reopened)).toBe(3)
    expect(() => governor.checkDepth(reopened)).toThrow('depth 4')
  })
  it('one tree may start so many in all', async () => {
    const { governor } = governorWith({ maxConcurrent: 9, maxTotal: 2 })
    const root = agent()
    const { given, ask } = asking(governor, root)
    await ask('a')
    await governor.enter({ parent: agent(root), signal: open })
    await ask('b')
    expect(given).toEqual(['a', 'b: FAN_OUT_EXCEEDED'])
    await expect(governor.enter({ parent: agent(), signal: open })).resolves.toBeTypeOf('function')
  })
})
