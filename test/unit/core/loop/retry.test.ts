import { describe, expect, it } from 'vitest'
import { delayFor } from '../../../../extension/core/loop/retry.ts'
import type { Failure, FailureCode, RetryPolicy } from '../../../../extension/core/model/contract.ts'
import { createLoopRig, linesOf, prompt, settled } from '../../../support/loop-rig.ts'
import type { LoopRigOptions } from '../../../support/loop-rig.ts'
import { createScriptedAdapter, failWith, sayText } from '../../../support/scripted-adapter.ts'

const normal: RetryPolicy = { mode: 'normal', maxRetries: 5, initialDelayMs: 500, maxDelayMs: 10_000, jitter: 0.1 }
const always: RetryPolicy = { ...normal, mode: 'always' }
const fails = (code: FailureCode, providerRetryAfterMs?: number): Failure => ({
  code,
  message: code,
  ...(providerRetryAfterMs !== undefined && { providerRetryAfterMs }),
})

describe('the wait before a retry', () => {
  const check = (policy: RetryPolicy, retry: number, failure: Failure, delayMs: number | null, chance = 0.5) =>
    expect(delayFor(policy, { failure, retry, chance })).toBe(delayMs)
  it.each([[1, 500], [2, 1000], [3, 2000], [4, 4000], [5, 8000]])('doubles: before retry %i it is %i ms', (retry, delayMs) => check(normal, retry, fails('SERVER'), delayMs))
  it('has a longest', () => check(always, 9, fails('SERVER'), 10_000))
  it('stays finite however often it fails', () => check(always, 5000, fails('SERVER'), 10_000))
  it('is spread evenly to both sides', () => {
    check(normal, 1, fails('SERVER'), 450, 0)
    check(normal, 1, fails('SERVER'), 550, 1)
  })
  it('is the provider’s own when that is not too long, without spread', () => check(normal, 1, fails('RATE_LIMIT', 7000), 7000, 1))
  it('may be none at the provider’s wish', () => check(normal, 1, fails('RATE_LIMIT', 0), 0))
  it('is given up when the provider asks for more than the longest', () => check(normal, 1, fails('RATE_LIMIT', 10_001), null))
  it('is our own then in always mode', () => check(always, 2, fails('RATE_LIMIT', 60_000), 1000))
  it('is given up after the last retry, but never in always mode', () => {
    check(normal, 6, fails('SERVER'), null)
    check(always, 6, fails('SERVER'), 10_000)
  })
  it.each(['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT'] as const)('is there for %s', (code) => check(normal, 1, fails(code), 500))
  it.each(['AUTH', 'QUOTA', 'STREAM_CLOSED', 'CONTEXT_WINDOW_EXCEEDED', 'INVALID_REQUEST', 'CERTIFICATE', 'MALFORMED_RESPONSE', 'HTTP_418', 'UNKNOWN'] as const)(
    'is not there for %s, in no mode',
    (code) => {
      check(normal, 1, fails(code), null)
      check(always, 1, fails(code), null)
    },
  )
})

describe('a turn whose requests fail', () => {
  async function run(options: LoopRigOptions, waits: readonly number[]) {
    const rig = createLoopRig({ settings: { 'llm.retry.jitter': 0 }, ...options })
    const agent = await rig.newAgent()
    agent.followup(prompt('go'))
    await settled()
    for (const ms of waits) {
      rig.clock.advance(ms)
      await settled()
    }
    const story = linesOf(agent.session).filter((line) => /^(retry|end|assistant|step \d)/.test(line))
    return { ...rig, agent, story }
  }
  const busy = failWith(fails('SERVER'))

  it('logs each wait and each new attempt, numbered, in the same step', async () => {
    const { story, agent } = await run({ answers: [busy, failWith(fails('TIMEOUT')), sayText('ok')] }, [500, 1000])
    expect(story).toEqual(['step 1', 'retry 1 in 500 for SERVER', 'retry 1 started', 'retry 2 in 1000 for TIMEOUT', 'retry 2 started', 'assistant ok', 'end completed'])
    const [scheduled, started] = agent.session.events().filter(({ type }) => type.startsWith('llm/retry'))
    expect(scheduled?.data).toEqual({
      retryId: expect.any(String), turn: 1, step: 1, provider: 'scripted', mode: 'normal', policyKey: 'settings', retry: 1, maxRetries: 5, delayMs: 500, failure: fails('SERVER'),
    })
    const retryId = scheduled?.type === 'llm/retry' ? scheduled.data.retryId : null
    expect(started?.data).toEqual({ retryId, turn: 1, step: 1, retry: 1 })
  })
  it('does not send again before the time', async () => {
    const { adapter, clock, agent } = await run({ answers: [failWith(fails('RATE_LIMIT', 3000)), sayText('ok')] }, [2999])
    expect(adapter.requests).toHaveLength(1)
    clock.advance(1)
    await agent.whenIdle()
    expect(adapter.requests).toHaveLength(2)
  })
  it.each([8, -8])('waits as long as it has to when the clock is set by %i hours meanwhile', async (hours) => {
    const { adapter, clock, agent } = await run({ answers: [failWith(fails('RATE_LIMIT', 3000)), sayText('ok')] }, [1000])
    clock.jump(hours * 3_600_000)
    clock.advance(1999)
    await settled()
    expect(adapter.requests).toHaveLength(1)
    clock.advance(1)
    await agent.whenIdle()
    expect([adapter.requests.length, linesOf(agent.session).at(-1)]).toEqual([2, 'end completed'])
  })
  it('gives up after as many retries as the settings say, with the last failure', async () => {
    const { story, agent } = await run({ answers: [busy, busy, failWith(fails('TRANSPORT'))], settings: { 'llm.retry.jitter': 0, 'llm.retry.maxRetries': 2 } }, [500, 1000])
    expect(story.at(-1)).toBe('end error')
    expect(agent.session.events().at(-1)).toMatchObject({ data: { reason: { failure: { code: 'TRANSPORT' } } } })
  })
  it('counts anew in each step and turn', async () => {
    const { agent, clock } = await run({ answers: [busy, sayText('1'), busy, sayText('2')] }, [500])
    agent.followup(prompt('again'))
    await settled()
    clock.advance(500)
    await agent.whenIdle()
    expect(linesOf(agent.session).filter((line) => /^retry \d in/.test(line))).toEqual(['retry 1 in 500 for SERVER', 'retry 1 in 500 for SERVER'])
  })
  it('counts anew for another provider', async () => {
    const other = createScriptedAdapter([busy, sayText('ok')], { provider: 'other' })
    const { agent, story } = await run(
      {
        answers: [busy],
        prepare: (ctx) => {
          ctx.models.register(other)
          let attempt = 0
          ctx.on('agent/request', async (_place, next) => ({ ...(await next()), provider: attempt++ === 0 ? 'scripted' : 'other' }))
        },
      },
      [500, 500],
    )
    expect(story.filter((line) => / in /.test(line))).toEqual(['retry 1 in 500 for SERVER', 'retry 1 in 500 for SERVER'])
    expect(agent.session.messages()).toHaveLength(2)
  })
  it('goes on counting for a provider that is asked again in the same step', async () => {
    const other = createScriptedAdapter([busy, sayText('ok')], { provider: 'other' })
    const { story } = await run(
      {
        answers: [busy, busy],
        prepare: (ctx) => {
          ctx.models.register(other)
          let attempt = 0
          ctx.on('agent/request', async (_place, next) => ({ ...(await next()), provider: attempt++ % 2 === 0 ? 'scripted' : 'other' }))
        },
      },
      [500, 500, 1000],
    )
    expect(story.filter((line) => / in /.test(line))).toEqual(['retry 1 in 500 for SERVER', 'retry 1 in 500 for SERVER', 'retry 2 in 1000 for SERVER'])
  })
  it('goes by the adapter’s own policy where it has one', async () => {
    const policy: RetryPolicy = { mode: 'always', maxRetries: 0, initialDelayMs: 20, maxDelayMs: 20, jitter: 0 }
    const { story, agent } = await run({ adapter: createScriptedAdapter([busy, busy, sayText('ok')], { retryPolicy: policy }) }, [20, 20])
    expect(story.at(-1)).toBe('end completed')
    const data = agent.session.events().find(({ type }) => type === 'llm/retry')?.data
    expect(data).toMatchObject({ mode: 'always', policyKey: 'provider' })
    expect(data).not.toHaveProperty('maxRetries')
  })
  it('ends at once for a failure that does not pass', async () => {
    const { story } = await run({ answers: [failWith(fails('AUTH'))] }, [])
    expect(story).toEqual(['step 1', 'end error'])
  })
  it('leaves its place to other listeners when it gives up', async () => {
    const { story } = await run(
      { answers: [failWith(fails('CONTEXT_WINDOW_EXCEEDED')), sayText('ok')], prepare: (ctx) => ctx.on('agent/request-error', () => ({ kind: 'retry' })) },
      [],
    )
    expect(story).toEqual(['step 1', 'assistant ok', 'end completed'])
  })
})
