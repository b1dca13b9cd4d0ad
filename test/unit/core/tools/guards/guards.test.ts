import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../../extension/core/kernel/kernel.ts'
import type { ToolContent } from '../../../../../extension/core/log/message.ts'
import type { Execution, PostExecuteDecision, ToolDefinition, ToolResult } from '../../../../../extension/core/tools/definition.ts'
import { repeatReminder } from '../../../../../extension/core/tools/guards/repeat-reminder.ts'
import { spillGuard } from '../../../../../extension/core/tools/guards/spill.ts'
import { timeOutGuard } from '../../../../../extension/core/tools/guards/time-out.ts'
import type { Tools } from '../../../../../extension/core/tools/service.ts'
import { createFakeAgent } from '../../../../support/fake-agent.ts'
import { createManualClock } from '../../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../../support/quiet-logger.ts'
import type {} from '../../../../../extension/core/loop/points.ts'

const setUp = (timeoutMs?: number) => {
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  const definition = timeoutMs === undefined ? {} : { timeoutMs }
  kernel.root.provide('tools', { get: () => definition as ToolDefinition } as unknown as Tools)
  return { kernel, logger }
}
const execution = (over: Partial<Execution> = {}): Execution => ({
  callId: 'c1',
  rootCallId: 'c1',
  name: 'grep',
  arguments: { pattern: 'x' },
  token: { id: 't1' },
  signal: new AbortController().signal,
  agent: createFakeAgent(),
  ...over,
})
const text = (content: string): readonly ToolContent[] => [{ type: 'text', text: content }]
const accepted: PostExecuteDecision = { kind: 'accept' }
const success = (content: string): ToolResult => ({ isError: false, value: null, content: text(content) })

describe('the time-out guard', () => {
  const run = async (timeoutMs: number | undefined, body: (signal: AbortSignal, tools: { advance: (ms: number) => void; cancel: () => void }) => ToolResult) => {
    const { kernel } = setUp(timeoutMs)
    const clock = createManualClock()
    const caller = new AbortController()
    await kernel.root.plugin(timeOutGuard({ clock })).ready
    const exec = { ...execution({ signal: caller.signal }) }
    const result = await kernel.dispatch.waterfall('tools/execute', null, [exec], async () =>
      body(exec.signal, { advance: clock.advance, cancel: () => caller.abort() }),
    )
    return { result, waiting: clock.waiting, isRestored: exec.signal === caller.signal }
  }

  it('leaves tools without a deadline alone', async () =>
    expect(await run(undefined, (signal, { advance }) => (advance(1e9), success(String(signal.aborted))))).toMatchObject({ result: { content: text('false') } }))
  it('leaves a call that ends in time alone, and takes its timer back', async () =>
    expect(await run(100, (_signal, { advance }) => (advance(99), success('done')))).toEqual({ result: success('done'), waiting: 0, isRestored: true }))
  it('fires the signal at the deadline and replaces the result by TOOL_TIMEOUT', async () =>
    expect(await run(100, (signal, { advance }) => (advance(100), success(String(signal.aborted))))).toEqual({
      result: {
        isError: true,
        error: { message: 'grep did not finish within 100 ms. Narrow the request and try again.', info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' } },
        content: text('Error: grep did not finish within 100 ms. Narrow the request and try again.'),
      },
      waiting: 0,
      isRestored: true,
    }))
  it('reports a caller who cancelled first as cancelled: the result stays', async () =>
    expect(await run(100, (signal, { advance, cancel }) => (cancel(), advance(100), success(String(signal.aborted))))).toMatchObject({ result: { content: text('true') } }))
})

describe('the repeat reminder', () => {
  const setUpReminder = async (options: { thresholds?: readonly number[]; untracked?: readonly string[] } = {}) => {
    const { kernel } = setUp()
    await kernel.root.plugin(repeatReminder({ newId: () => 'm1', ...options })).ready
    const call = async (over: Partial<Execution>): Promise<string | undefined> => {
      const decision = await kernel.dispatch.waterfall('tools/post-execute', null, [execution(over), success('x')], async () => accepted)
      const [block] = decision.additionalContexts?.[0]?.content ?? []
      return block?.type === 'text' ? block.text : undefined
    }
    return { kernel, call }
  }
  const repeat = async (call: (over: Partial<Execution>) => Promise<string | undefined>, over: Partial<Execution>, times: number) => {
    const counts: number[] = []
    for (let count = 1; count <= times; count += 1) if ((await call(over)) !== undefined) counts.push(count)
    return counts
  }

  it('speaks at 3, 5 and 8 and then no more', async () => {
    const { call } = await setUpReminder()
    expect(await repeat(call, { agent: createFakeAgent() }, 12)).toEqual([3, 5, 8])
  })
  it('takes arguments that differ in key order for the same, and other arguments for a new run', async () => {
    const { call } = await setUpReminder({ thresholds: [2] })
    const agent = createFakeAgent()
    expect([
      await call({ agent, arguments: { a: 1, b: 2 } }),
      await call({ agent, arguments: { b: 2, a: 1 } }),
      await call({ agent, arguments: { b: 3, a: 1 } }),
    ].map((said) => said !== undefined)).toEqual([false, true, false])
  })
  it('names the call with at most 500 characters of arguments at later thresholds', async () => {
    const { call } = await setUpReminder({ thresholds: [2, 3] })
    const over = { agent: createFakeAgent(), arguments: { pattern: 'x'.repeat(2_000) } }
    await call(over)
    expect(await call(over)).not.toContain('xxx')
    expect(await call(over)).toContain(`{"pattern":"${'x'.repeat(488)}…`)
  })
  it('keeps agents apart, ignores nested calls, and sees through untracked tools', async () => {
    const { call } = await setUpReminder({ thresholds: [2], untracked: ['job_output'] })
    const [one, other] = [createFakeAgent({ id: 'a' }), createFakeAgent({ id: 'b' })]
    const said: boolean[] = []
    for (const over of [{ agent: one }, { agent: other }, { agent: one, parent: { id: 'p' } }, { agent: one, name: 'job_output' }, { agent: one }])
      said.push((await call(over)) !== undefined)
    expect(said).toEqual([false, false, false, false, true])
  })
  it('starts over when the person speaks, not when a plugin does', async () => {
    const { kernel, call } = await setUpReminder({ thresholds: [2] })
    const agent = createFakeAgent()
    const claimed = (source: { kind: 'user' } | { kind: 'plugin'; plugin: string }) =>
      kernel.dispatch.emit('agent/inbox/claimed', null, [{ agent, turn: 1, message: { id: 'u', role: 'user', content: [], source } }])
    await call({ agent })
    claimed({ kind: 'user' })
    expect(await call({ agent })).toBeUndefined()
    claimed({ kind: 'plugin', plugin: 'x' })
    expect(await call({ agent })).toBeDefined()
  })
  it.each([[[1]], [[2.5]], [[3, 3]]])('refuses the thresholds %j', (thresholds) => expect(() => repeatReminder({ thresholds, newId: String })).toThrow(RangeError))
})

describe('the spill guard', () => {
  const run = async (content: readonly ToolContent[], options: { cap?: number; over?: Partial<Execution>; fails?: boolean; decision?: PostExecuteDecision; path?: string } = {}) => {
    const { kernel, logger } = setUp()
    const saved: { sessionId: string; name: string; text: string }[] = []
    const blobs = {
      putSpill: async (sessionId: string, name: string, whole: string) => {
        if (options.fails) throw new Error('disk full')
        saved.push({ sessionId, name, text: whole })
        return { path: options.path ?? '/spill/1.txt', bytes: whole.length }
      },
    }
    await kernel.root.plugin(spillGuard({ blobs, logger, maxInlineBytes: () => options.cap ?? 200 })).ready
    const result: ToolResult = { isError: false, value: 'v', content }
    const decision = await kernel.dispatch.waterfall('tools/post-execute', null, [execution(options.over), result], async () => options.decision ?? accepted)
    const [block] = (decision.kind === 'accept' && decision.content) || []
    return { decision, saved, logger, replaced: block?.type === 'text' ? block.text : undefined }
  }
  const bytes = (content: string) => new TextEncoder().encode(content).length

  it('keeps a result of exactly the cap inline', async () => expect((await run(text('x'.repeat(200)))).decision).toEqual({ kind: 'accept' }))
  it('spills one byte more, whole, and stays within the cap with the notice', async () => {
    const whole = `${'h'.repeat(100)}${'t'.repeat(101)}`
    const { replaced = '', saved } = await run(text(whole))
    expect(saved).toEqual([{ sessionId: 'session-1', name: 'grep-result.txt', text: whole }])
    expect(replaced).toMatch(/^h+\n\[…\]\nt+\n\n\[\d+ bytes in the middle are left out\. All of this result is in \/spill\/1\.txt: /)
    expect(bytes(replaced)).toBeLessThanOrEqual(200)
    const omitted = Number(/\[(\d+) bytes/.exec(replaced)?.[1])
    expect(replaced.split('\n\n')[0]!.replace('\n[…]\n', '').length + omitted).toBe(201)
  })
  it('never splits a character', async () => {
    for (const cap of [197, 198, 199, 200]) {
      const { replaced = '' } = await run(text('😀'.repeat(100)), { cap })
      expect(replaced).not.toContain('\ufffd')
      expect(replaced).toMatch(/^(😀)+\n\[…\]\n(😀)+\n\n/u)
      expect(bytes(replaced)).toBeLessThanOrEqual(cap)
    }
  })
  it('keeps the original when saving fails, and says so in the diagnostics', async () => {
    const { decision, logger } = await run(text('x'.repeat(201)), { fails: true })
    expect(decision).toEqual({ kind: 'accept' })
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn'])
  })
  it('keeps the original when the notice alone is larger than the cap', async () =>
    expect((await run(text('x'.repeat(201)), { path: `/${'p'.repeat(300)}` })).decision).toEqual({ kind: 'accept' }))
  it('acts on the content that later listeners decided, and keeps their contexts', async () => {
    const additionalContexts = [{ id: 'm', role: 'user', content: [], source: { kind: 'user' } }] as const
    const { decision, replaced } = await run(text('small'), { decision: { kind: 'accept', content: text('y'.repeat(300)), additionalContexts } })
    expect(replaced).toMatch(/^y/)
    expect(decision.additionalContexts).toEqual(additionalContexts)
  })

  const untouched: readonly [string, readonly ToolContent[], Parameters<typeof run>[1]][] = [
    ['without a cap', text('x'.repeat(500)), { cap: 0 }],
    ['of read, which pages itself', text('x'.repeat(500)), { over: { name: 'read' } }],
    ['of calls made by programs', text('x'.repeat(500)), { over: { parent: { id: 'p' } } }],
    ['that nobody owns', text('x'.repeat(500)), { over: { agent: undefined as never } }],
    ['with an image in it', [...text('x'.repeat(500)), { type: 'image', attachment: { attachmentId: 'sha256:0', mediaType: 'image/png', bytes: 1 } }], {}],
    ['whose value a hook replaced', text('x'.repeat(500)), { decision: { kind: 'accept', value: 'other' } }],
    ['that a hook blocked', text('x'.repeat(500)), { decision: { kind: 'block', feedback: 'no' } }],
  ]
  it.each(untouched)('leaves results %s alone', async (_name, content, options) => {
    const { saved, replaced } = await run(content, options)
    expect([saved, replaced]).toEqual([[], undefined])
  })
})
