import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyListener, ToolCall } from '../../../../bosun.d.ts'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import { POLICY_TIMEOUT_MS } from '../../../../extension/features/extensions/policy.ts'
import { extensionRig, textOf, type ExtensionRig } from '../../../support/extension-rig.ts'
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts'

let rig: ExtensionRig
let agent: Agent
/** Turned by tests where a listener does not answer. */
let clock: ManualClock
beforeEach(async () => {
  clock = createManualClock()
  rig = await extensionRig({ alter: (world) => ({ ...world, clock: { ...world.clock, schedule: (delayMs, fire) => (delayMs === POLICY_TIMEOUT_MS ? clock.schedule(delayMs, fire) : world.clock.schedule(delayMs, fire)) } }) })
  agent = await rig.newAgent()
})
afterEach(() => rig.dispose())

const glob = () => rig.call(agent, 'glob', { pattern: '*.ts' })
const bash = () => rig.call(agent, 'bash', { command: 'touch made.txt', description: 'Make it' })
const warnings = () => rig.application.logger.lines.filter(({ message }) => message.startsWith('The policy of another extension')).map(({ facts }) => [facts?.['extension'], facts?.['problem']])

describe('a policy of another extension', () => {
  it('denies, and model and person are told by whom and why', async () => {
    rig.join().registerPolicy(({ tool }) => (tool === 'glob' ? { decision: 'deny', reason: 'No globs here.' } : undefined))
    const result = await glob()
    expect([textOf(result), result.error?.code, result.policy]).toEqual(['Error: The extension acme.sample refused this: No globs here.', 'DENIED', { by: 'guard', why: 'acme.sample: No globs here.' }])
    expect([rig.asked, clock.waiting]).toEqual([[], 0])
  })
  it('is told with as much of its reason as anybody reads', async () => {
    rig.join().registerPolicy(() => ({ decision: 'deny', reason: 'x'.repeat(1_001) }))
    expect(textOf(await glob())).toBe(`Error: The extension acme.sample refused this: ${'x'.repeat(999)}…`)
  })
  it('has the person asked where nothing else would', async () => {
    rig.join().registerPolicy(() => ({ decision: 'ask', reason: 'Look at it.' }))
    expect((await glob()).error).toBeUndefined()
    expect(rig.asked.map(({ reason }) => reason)).toEqual(['acme.sample: Look at it.'])
  })
  it('joins the question that is asked anyway, which keeps its words and its rules', async () => {
    rig.join().registerPolicy(() => ({ decision: 'ask', reason: 'It makes files.' }))
    await bash()
    expect(rig.asked.map(({ details }) => [details?.effect, details?.why.endsWith('acme.sample: It makes files.'), (details?.why.length ?? 0) > 40, (details?.always?.length ?? 0) > 0])).toEqual([['Run `touch made.txt`', true, true, true]])
  })
  it('is told facts that are frozen', async () => {
    const calls: ToolCall[] = []
    rig.join().registerPolicy((call) => void calls.push(call))
    await glob()
    expect(calls).toEqual([{ callId: 'call-1', rootCallId: 'call-1', tool: 'glob', arguments: { pattern: '*.ts' }, sessionId: agent.id, cwd: rig.application.folder, extensionId: null }])
    expect([Object.isFrozen(calls[0]), Object.isFrozen(calls[0]?.arguments)]).toEqual([true, true])
  })
  it('is not asked about what is refused anyway', async () => {
    rig.application.ctx.permissions.select(agent.id, 'read-only')
    const calls: string[] = []
    rig.join().registerPolicy(({ tool }) => void calls.push(tool))
    await rig.call(agent, 'write', { file_path: 'a.txt', content: 'x' })
    expect(calls).toEqual([])
  })
  it('holds for full access too, where a question that nobody may be asked is a no', async () => {
    rig.application.ctx.permissions.select(agent.id, 'danger-full-access')
    rig.join().registerPolicy(() => ({ decision: 'ask', reason: 'Look at it.' }))
    expect((await bash()).error?.code).toBe('DENIED')
    expect(rig.asked).toEqual([])
  })
  it('is one of several: the strictest counts', async () => {
    rig.join('a.one').registerPolicy(() => undefined)
    rig.join('b.two').registerPolicy(() => ({ decision: 'deny', reason: 'No.' }))
    rig.join('c.three').registerPolicy(() => ({ decision: 'ask', reason: 'Look.' }))
    expect(textOf(await glob())).toBe('Error: The extension b.two refused this: No.')
    expect(rig.asked).toEqual([])
  })
  it('is one of several that want the person asked: there is one question, with all their reasons', async () => {
    rig.join('a.one').registerPolicy(() => ({ decision: 'ask', reason: 'Look.' }))
    rig.join('b.two').registerPolicy(() => ({ decision: 'ask', reason: 'Look twice.' }))
    await glob()
    expect(rig.asked.map(({ reason }) => reason)).toEqual(['a.one: Look. b.two: Look twice.'])
  })
  it('goes with its registration', async () => {
    await rig.join().registerPolicy(() => ({ decision: 'deny', reason: 'No.' })).dispose()
    expect((await glob()).error).toBeUndefined()
  })

  const answers: readonly [what: string, listener: unknown, problem: string, reason: string][] = [
    ['allows', () => ({ decision: 'allow', reason: 'Fine.' }), 'an answer that is neither deny nor ask with a reason', 'acme.sample: Its policy gave an answer that Bosun does not know.'],
    ['says true', () => true, 'an answer that is neither deny nor ask with a reason', 'acme.sample: Its policy gave an answer that Bosun does not know.'],
    ['gives no reason', () => ({ decision: 'deny', reason: ' ' }), 'an answer that is neither deny nor ask with a reason', 'acme.sample: Its policy gave an answer that Bosun does not know.'],
    ['rewrites', () => ({ kind: 'rewrite', arguments: {}, by: 'me' }), 'an answer that is neither deny nor ask with a reason', 'acme.sample: Its policy gave an answer that Bosun does not know.'],
    ['throws', () => { throw new Error('broken') }, 'Error: broken', 'acme.sample: Its policy failed.'],
    ['rejects', () => Promise.reject(new Error('broken')), 'Error: broken', 'acme.sample: Its policy failed.'],
    ['gives what throws when it is looked at', () => ({ get decision() { throw new Error('broken') } }), 'Error: broken', 'acme.sample: Its policy failed.'],
    ['tries to change the call', (call: { tool: string }) => { call.tool = 'read' }, "TypeError: Cannot assign to read only property 'tool' of object '#<Object>'", 'acme.sample: Its policy failed.'],
  ]
  it.each(answers)('that %s has the person asked, and is logged', async (_what, listener, problem, reason) => {
    rig.join().registerPolicy(listener as PolicyListener)
    expect((await glob()).error).toBeUndefined()
    expect([rig.asked.map((request) => request.reason), warnings()]).toEqual([[reason], [['acme.sample', problem]]])
  })
  it('that does not answer in time has the person asked, and what it says later counts no more', async () => {
    const late = Promise.withResolvers<{ decision: 'deny'; reason: string }>()
    const asked = Promise.withResolvers<AbortSignal>()
    rig.join().registerPolicy((_call, signal) => (asked.resolve(signal), late.promise))
    const called = glob()
    const signal = await asked.promise
    clock.advance(POLICY_TIMEOUT_MS)
    expect((await called).error).toBeUndefined()
    expect([signal.aborted, rig.asked.map(({ reason }) => reason), warnings()]).toEqual([true, ['acme.sample: Its policy did not answer within 5 seconds.'], [['acme.sample', 'no answer within 5000 ms']]])
    late.resolve({ decision: 'deny', reason: 'Too late.' })
  })
  it('that is stopped with its turn says nothing', async () => {
    const asked = Promise.withResolvers<void>()
    rig.join().registerPolicy(() => (asked.resolve(), new Promise(() => {})))
    const called = glob()
    await asked.promise
    agent.cancel({ kind: 'user' })
    expect((await called).error?.code).toBe('ABORTED_BEFORE_DISPATCH')
    expect([rig.asked, warnings()]).toEqual([[], []])
  })
})
