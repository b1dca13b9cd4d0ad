import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../extension/base/json.ts'
import { HarnessError } from '../../../../extension/base/harness-error.ts'
import type { UserMessage } from '../../../../extension/core/log/message.ts'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import { PresentedError } from '../../../../extension/core/tools/definition.ts'
import type { BodyExecution, Execution, ExecutionRequest, PreExecuteAnswer, ToolDefinition, ToolResult } from '../../../../extension/core/tools/definition.ts'
import { answeringApprovals, createPipelineBench, echoTool } from '../../../support/pipeline-bench.ts'

class SampleError extends HarnessError<'SAMPLE'> {}
const sample = () => new SampleError('SAMPLE', 'sample failure')

const message = (id: string): UserMessage => ({ id, role: 'user', content: [], source: { kind: 'user' } })
const contexts = (result: ToolResult) => result.additionalContexts?.map(({ id }) => id)
const outcome = (result: ToolResult) =>
  result.isError ? [result.error.info?.code ?? 'no code', result.error.message] : ['ok', result.value]

const textOf = (result: ToolResult): string => (result.isError ? result.error.message : '')

const setUp = (more: Partial<ToolDefinition> = {}) => {
  const bench = createPipelineBench()
  bench.tools.register(echoTool(more))
  const run = (request: Partial<ExecutionRequest> = {}) => bench.tools.execute(bench.request('echo', { word: 'hi' }, request))
  return { ...bench, ctx: bench.kernel.root, run }
}

describe('a call that goes well', () => {
  it('gives the value, the rendered content and the card facts, all frozen', async () => {
    const result = await setUp().run()
    expect(result).toEqual({ isError: false, value: { word: 'hi' }, content: [{ type: 'text', text: 'hi' }], meta: { length: 2 } })
    expect(Object.isFrozen(result) && Object.isFrozen(result.content[0])).toBe(true)
  })
  it('has no card facts when nested', async () => {
    expect('meta' in (await setUp().run({ parent: { id: 't' } }))).toBe(false)
  })
  it('gives the body its immutable identity and frozen arguments', async () => {
    let seen: BodyExecution | undefined
    await setUp({ execute: (_args, exec) => ((seen = exec), { word: '' }) }).run({ rootCallId: 'root' })
    expect([seen?.callId, seen?.rootCallId, seen?.name, seen?.arguments, Object.isFrozen(seen), Object.isFrozen(seen?.arguments)]).toEqual([
      'call-1', 'root', 'echo', { word: 'hi' }, true, true,
    ])
  })
  it('passes progress on and keeps it out of the result', async () => {
    const heard: string[] = []
    const result = await setUp({ execute: (_args, exec) => (exec.progress('half'), { word: 'x' }) }).run({ onProgress: (text) => void heard.push(text) })
    expect([heard, JSON.stringify(result).includes('half')]).toEqual([['half'], false])
  })
  it('ignores unknown arguments at the root', async () => {
    const { tools, request } = setUp()
    expect(outcome(await tools.execute(request('echo', { word: 'hi', more: 1 })))).toEqual(['ok', { word: 'hi' }])
  })
})

describe('arguments', () => {
  const check = async (args: unknown, code: string, text: string) => {
    const { tools, request, ctx } = setUp()
    let wasPolicyAsked = false
    ctx.on('tools/pre-execute', (_exec, next) => ((wasPolicyAsked = true), next()))
    const result = await tools.execute(request('echo', args))
    expect([outcome(result)[0], textOf(result).includes(text), wasPolicyAsked]).toEqual([code, true, false])
  }
  it('that break the schema are refused before policy, with every violation', () =>
    check({ word: 1 }, 'INVALID_ARGS', '"word" must be a string'))
  it('that are raw text are refused with the one thing to mend', () => check('{"word":', 'INVALID_ARGS', 'cannot be read: the text stops where a value should be'))
  it('that JSON cannot carry are refused', () => check({ word: 'x', n: Number.NaN }, 'INVALID_ARGS', 'Invalid arguments for echo'))
  it('that are no JSON outrank an aborted signal', async () => {
    const { tools, request } = setUp()
    const result = await tools.execute(request('echo', { word: () => 1 }, { signal: AbortSignal.abort() }))
    expect(outcome(result)[0]).toBe('INVALID_ARGS')
  })
  it('are read once: a getter cannot change its mind', async () => {
    let reads = 0
    const { tools, request } = setUp()
    const args = { get word() { return `read ${++reads}` } }
    expect(outcome(await tools.execute(request('echo', args)))).toEqual(['ok', { word: 'read 1' }])
  })
})

describe('unknown tools', () => {
  it('fail with a hint, reach post-execute and skip policy', async () => {
    const { tools, request, ctx } = setUp()
    const seen: string[] = []
    ctx.on('tools/pre-execute', (_exec, next) => (seen.push('pre'), next()))
    ctx.on('tools/post-execute', (_exec, _result, next) => (seen.push('post'), next()))
    expect([outcome(await tools.execute(request('nope')))[0], seen]).toEqual(['UNKNOWN_TOOL', ['post']])
  })
  it('are also those that went between listing and dispatch', async () => {
    const bench = createPipelineBench()
    const undo = bench.tools.register(echoTool())
    const [listed] = bench.tools.schemas()
    undo()
    expect(outcome(await bench.tools.execute(bench.request(listed?.name ?? '', { word: 'hi' })))[0]).toBe('UNKNOWN_TOOL')
  })
})

describe('other arguments', () => {
  const once = (args: Json) => {
    let isDone = false
    return (_exec: Execution, next: () => Promise<PreExecuteAnswer>): PreExecuteAnswer | Promise<PreExecuteAnswer> => {
      if (isDone) return next()
      isDone = true
      return { kind: 'rewrite', arguments: args, by: 'a hook' }
    }
  }
  it('of a listener are judged anew, and the body and the model get them', async () => {
    const { ctx, run } = setUp()
    const judged: Json[] = []
    ctx.on('tools/pre-execute', once({ word: 'new' }))
    ctx.on('tools/pre-execute', (exec, next) => (judged.push(exec.arguments), next()))
    const result = await run()
    expect([outcome(result), judged]).toEqual([['ok', { word: 'new' }], [{ word: 'new' }]])
    expect(result.additionalContexts).toMatchObject([{ content: [{ text: expect.stringContaining('changed by a hook before it ran. It ran with: {"word":"new"}') as unknown }] }])
  })
  it('that break the schema fail the call, and no body runs', async () => {
    const { ctx, run } = setUp({ execute: () => { throw new Error('the body ran') } })
    ctx.on('tools/pre-execute', once({ word: 1 }))
    expect(outcome(await run())).toEqual(['INVALID_ARGS', expect.stringContaining('as a hook changed them')])
  })
  it('may be denied like any', async () => {
    const { ctx, run } = setUp()
    ctx.on('tools/pre-execute', once({ word: 'rm' }))
    ctx.on('tools/pre-execute', (exec, next) => (JSON.stringify(exec.arguments).includes('rm') ? { kind: 'deny', reason: 'no rm' } : next()))
    expect(outcome(await run())).toEqual(['DENIED', 'no rm'])
  })
  it('that never settle deny the call', async () => {
    const { ctx, run } = setUp()
    let count = 0
    ctx.on('tools/pre-execute', () => ({ kind: 'rewrite', arguments: { word: String(count++) }, by: 'a hook' }))
    expect([outcome(await run())[0], count]).toEqual(['DENIED', 4])
  })

  const edited = async (args: Json, judge: (args: Json) => PreExecuteAnswer = () => ({ kind: 'ask' })) => {
    const bench = setUp()
    const { asked, approvals } = answeringApprovals(() => ({ outcome: 'allowed-once', arguments: args }))
    bench.ctx.provide('approvals', approvals)
    bench.ctx.on('tools/pre-execute', (exec) => judge(exec.arguments))
    const scope = bench.kernel.createScope('agent', null)
    const agent = { id: 'agent', scope, session: { length: 0 } } as unknown as Agent
    const result = await bench.run({ agent })
    summaries = result.additionalContexts?.map(({ source }) => source.kind === 'plugin' ? source.summary : undefined)
    return [outcome(result), asked.length]
  }
  let summaries: readonly unknown[] | undefined
  it('of the person run without a second question', async () => {
    expect(await edited({ word: 'mine' })).toEqual([['ok', { word: 'mine' }], 1])
    expect(summaries).toEqual([expect.stringMatching(/^You changed the arguments of /)])
  })
  it('of the person are still held to what is denied', async () =>
    expect(await edited({ word: 'rm' }, (args) => (JSON.stringify(args).includes('rm') ? { kind: 'deny', reason: 'no rm' } : { kind: 'ask' }))).toEqual([['DENIED', 'no rm'], 1]))
  it('of the person that break the schema fail the call', async () => expect(await edited({ word: 7 })).toEqual([['INVALID_ARGS', expect.stringContaining('as the person changed them')], 1]))
})

describe('policy', () => {
  it('a denial fails the call with its reason, never runs the body or the execute chain, and reaches post-execute', async () => {
    const seen: string[] = []
    const { ctx, run } = setUp({ execute: () => (seen.push('body'), { word: '' }) })
    ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'not here' }))
    ctx.on('tools/execute', (_exec, next) => (seen.push('execute'), next()))
    ctx.on('tools/post-execute', (_exec, _result, next) => (seen.push('post'), next()))
    expect([outcome(await run()), seen]).toEqual([['DENIED', 'not here'], ['post']])
  })
  it('keeps the code of an untrusted workspace', async () => {
    const { ctx, run } = setUp()
    ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'no trust', code: 'WORKSPACE_UNTRUSTED' }))
    expect(outcome(await run())[0]).toBe('WORKSPACE_UNTRUSTED')
  })
  it('a throw is final: it keeps a harness code and skips post-execute', async () => {
    const { ctx, run } = setUp()
    let wasPosted = false
    ctx.on('tools/pre-execute', () => {
      throw sample()
    })
    ctx.on('tools/post-execute', (_exec, _result, next) => ((wasPosted = true), next()))
    expect([outcome(await run()), wasPosted]).toEqual([['SAMPLE', 'sample failure'], false])
  })
  it.each([undefined, null, {}, { kind: 'block', feedback: 'no' }, 'allow'])('a listener that answers %j allows nothing', async (answer) => {
    let wasRun = false
    const { ctx, run } = setUp({ execute: () => ((wasRun = true), { word: '' }) })
    ctx.on('tools/pre-execute', () => answer as never)
    expect([(await run()).isError, wasRun]).toEqual([true, false])
  })
  it('listeners of one agent never gate another or an agent-less call', async () => {
    const { kernel, ctx, run, agent } = setUp()
    const [one, two] = [kernel.createScope('one', null), kernel.createScope('two', null)]
    ctx.scoped(one).on('tools/pre-execute', () => ({ kind: 'deny', reason: 'one only' }))
    const codes = await Promise.all([run({ agent: agent(one) }), run({ agent: agent(two) }), run()])
    expect(codes.map((result) => outcome(result)[0])).toEqual(['DENIED', 'ok', 'ok'])
  })
})

describe('approval', () => {
  const ask = async (answer: Parameters<typeof answeringApprovals>[0] | null, withAgent = true) => {
    const { kernel, ctx, run, agent } = setUp()
    const answering = answer && answeringApprovals(answer)
    if (answering) ctx.provide('approvals', answering.approvals)
    ctx.on('tools/pre-execute', () => ({ kind: 'ask', reason: 'is it fine?' }))
    const result = await run(withAgent ? { agent: agent(kernel.createScope('a', null)) } : {})
    return { result: outcome(result), asked: answering?.asked.map(({ toolName, callId, arguments: args, reason }) => ({ toolName, callId, args, reason })) }
  }
  it('allows the call once it is given, having shown tool, call, arguments and reason', async () =>
    expect(await ask(() => ({ outcome: 'allowed-once' }))).toEqual({
      result: ['ok', { word: 'hi' }],
      asked: [{ toolName: 'echo', callId: 'call-1', args: { word: 'hi' }, reason: 'is it fine?' }],
    }))
  it('refuses with distinct texts', async () => {
    const texts = await Promise.all(
      ([{ outcome: 'rejected' }, { outcome: 'rejected', note: 'use b' }, { outcome: 'cancelled' }, { outcome: 'unavailable' }] as const).map(
        async (answer) => (await ask(() => answer)).result,
      ),
    )
    expect(texts.map(([code]) => code)).toEqual(['DENIED', 'DENIED', 'DENIED', 'DENIED'])
    expect(new Set(texts.map(([, text]) => text)).size).toBe(4)
    expect(texts[1]?.[1]).toContain('use b')
  })
  it('is a denial without a service, and without an agent', async () => {
    expect((await ask(null)).result).toEqual(['DENIED', 'is it fine?'])
    expect((await ask(() => ({ outcome: 'allowed-once' }), false)).result[0]).toBe('DENIED')
  })
  it('an unknown outcome or a throw is an error, never a grant', async () => {
    expect((await ask(() => ({ outcome: 'maybe' }) as never)).result[0]).toBe('no code')
    expect((await ask(() => Promise.reject(sample()))).result).toEqual(['SAMPLE', 'sample failure'])
  })
  it('comes before the guards, which can still veto', async () => {
    const { kernel, ctx, tools, run, agent } = setUp()
    const answering = answeringApprovals(() => ({ outcome: 'allowed-once' }))
    ctx.provide('approvals', answering.approvals)
    ctx.on('tools/pre-execute', () => ({ kind: 'ask' }))
    tools.guard(() => 'vetoed')
    const result = await run({ agent: agent(kernel.createScope('a', null)) })
    expect([outcome(result), answering.asked.length]).toEqual([['DENIED', 'vetoed'], 1])
  })
})

describe('guards', () => {
  it('run global first, then farthest to nearest; the first text denies', async () => {
    const { kernel, ctx, tools, run, agent } = setUp()
    const preset = kernel.createScope('preset', null)
    const near = kernel.createScope('near', preset)
    const seen: string[] = []
    const guard = (name: string, text?: string) => () => (seen.push(name), text)
    ctx.scoped(near).tools.guard(guard('near', 'stop'))
    ctx.scoped(preset).tools.guard(guard('preset'))
    tools.guard(guard('global'))
    expect([outcome(await run({ agent: agent(near) })), seen]).toEqual([['DENIED', 'stop'], ['global', 'preset', 'near']])
  })
  it('that an earlier guard registers runs for the same call', async () => {
    const { tools, run } = setUp()
    tools.guard(() => (tools.guard(() => 'late veto'), undefined))
    expect(outcome(await run())).toEqual(['DENIED', 'late veto'])
  })
  it('that throw are final', async () => {
    const { tools, run } = setUp()
    tools.guard(() => {
      throw sample()
    })
    expect(outcome(await run())[0]).toBe('SAMPLE')
  })
})

describe('wrappers', () => {
  it('see a body failure normalised, and may answer for it', async () => {
    const { ctx, run } = setUp({ execute: () => { throw sample() } })
    ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      return result.isError ? { isError: false, value: { word: 'rescued' }, content: [] } : result
    })
    expect(await run()).toMatchObject({ isError: false, value: { word: 'rescued' }, content: [{ type: 'text', text: 'rescued' }], meta: { length: 7 } })
  })
  it('that answer themselves are held to the output schema', async () => {
    const { ctx, run } = setUp()
    ctx.on('tools/execute', () => ({ isError: false, value: { word: 1 }, content: [] }))
    expect(outcome(await run())[0]).toBe('INVALID_TOOL_OUTPUT')
  })
  it('that hand out the result of another call are revalidated', async () => {
    const { tools, request, ctx, run } = setUp()
    tools.register({ ...echoTool({ output: { schema: {}, render: () => [] }, execute: () => 7 }), name: 'other' })
    let kept: ToolResult | undefined
    ctx.on('tools/execute', async (_exec, next) => kept ?? (kept = await next()))
    await tools.execute(request('other', { word: 'hi' }))
    expect(outcome(await run())[0]).toBe('INVALID_TOOL_OUTPUT')
  })
  it('that add contexts to a failure leave its identity and its card facts', async () => {
    class Stopped extends PresentedError<'STOPPED'> {}
    const { ctx, run } = setUp({ execute: () => { throw new Stopped('STOPPED', 'stopped', { exitCode: 1 }) } })
    ctx.on('tools/execute', async (_exec, next) => ({ ...(await next()), additionalContexts: [message('wrapper')] }))
    const result = await run()
    expect([outcome(result), result.meta, contexts(result)]).toEqual([['STOPPED', 'stopped'], { exitCode: 1 }, ['wrapper']])
  })
  it('may swap the signal; the caller still reaches the body, and the caller\'s own comes back', async () => {
    const caller = new AbortController()
    const deadline = new AbortController()
    const seen: boolean[] = []
    const { ctx, run } = setUp({
      execute: async (_args, exec) => {
        deadline.abort()
        seen.push(exec.signal.aborted)
        return { word: 'x' }
      },
    })
    ctx.on('tools/execute', async (exec, next) => {
      const before = exec.signal
      exec.signal = deadline.signal
      const result = await next()
      exec.signal = before
      return result
    })
    ctx.on('tools/post-execute', (exec, _result, next) => (seen.push(exec.signal === caller.signal), next()))
    await run({ signal: caller.signal })
    expect(seen).toEqual([true, true])
  })
  it('that supply an aborted signal skip the body', async () => {
    let wasRun = false
    const { ctx, run } = setUp({ execute: () => ((wasRun = true), { word: '' }) })
    ctx.on('tools/execute', (exec, next) => ((exec.signal = AbortSignal.abort()), next()))
    expect([outcome(await run())[0], wasRun]).toEqual(['ABORTED', false])
  })
  it('that throw are final', async () => {
    const { ctx, run } = setUp()
    ctx.on('tools/execute', () => {
      throw sample()
    })
    expect(outcome(await run())[0]).toBe('SAMPLE')
  })
  it('whose answer needs the tool fail when it is gone meanwhile', async () => {
    const bench = createPipelineBench()
    const undo = bench.tools.register(echoTool())
    bench.kernel.root.on('tools/execute', () => {
      undo()
      return { isError: false, value: { word: 'x' }, content: [] }
    })
    expect(outcome(await bench.tools.execute(bench.request('echo', { word: 'hi' })))[0]).toBe('UNKNOWN_TOOL')
  })
})

describe('the body', () => {
  const check = async (execute: ToolDefinition['execute'], code: string, text = '') => {
    const result = await setUp({ execute }).run()
    expect([outcome(result)[0], textOf(result).includes(text)]).toEqual([code, true])
    expect(result.content).toEqual([{ type: 'text', text: `Error: ${textOf(result)}` }])
  }
  it('that throws a plain error shows the message and no identity', () => check(() => { throw new Error('disk full') }, 'no code', 'disk full'))
  it('that throws one of our errors shows name and code', () => check(() => { throw sample() }, 'SAMPLE', 'sample'))
  it('that throws a value without text yields a fixed placeholder', () =>
    check(() => Promise.reject({ toString() { throw new Error('hostile') } }), 'no code', 'no text'))
  it('that returns a value outside its schema fails', () => check(() => ({ word: 1 }), 'INVALID_TOOL_OUTPUT', '"word" must be a string'))
  it('that returns what JSON cannot carry fails', () => check(() => ({ word: 'x', at: new Date(0) }), 'INVALID_TOOL_OUTPUT'))
  it('that returns nothing fails', () => check(() => undefined, 'INVALID_TOOL_OUTPUT'))
  it('keeps card facts of a failure', async () => {
    class Stopped extends PresentedError<'STOPPED'> {}
    const result = await setUp({ execute: () => { throw new Stopped('STOPPED', 'stopped', { exitCode: null }) } }).run()
    expect([outcome(result)[0], result.meta]).toEqual(['STOPPED', { exitCode: null }])
  })
  it('fails alone when its renderer or its facts throw', async () => {
    for (const broken of ['render', 'presentationMeta'] as const) {
      const output = { ...echoTool().output, [broken]: () => { throw new Error(`bad ${broken}`) } }
      expect(outcome(await setUp({ output }).run())).toEqual(['no code', `bad ${broken}`])
    }
  })
})

describe('cancelling', () => {
  it('before policy ends the call without asking anyone', async () => {
    const { ctx, run } = setUp()
    let wasAsked = false
    ctx.on('tools/pre-execute', (_exec, next) => ((wasAsked = true), next()))
    expect([outcome(await run({ signal: AbortSignal.abort() }))[0], wasAsked]).toEqual(['ABORTED_BEFORE_DISPATCH', false])
  })
  const during = async (point: 'tools/pre-execute' | 'tools/execute', shortCircuit = false) => {
    const { ctx, run } = setUp()
    const caller = new AbortController()
    if (point === 'tools/pre-execute') ctx.on(point, (_exec, next) => (caller.abort(), next()))
    else {
      ctx.on(point, (_exec, next) => {
        caller.abort()
        return shortCircuit ? { isError: false, value: { word: 'x' }, content: [] } : next()
      })
    }
    return outcome(await run({ signal: caller.signal }))[0]
  }
  it('during policy, during a wrapper and at its short-circuit counts as before dispatch', async () =>
    expect([await during('tools/pre-execute'), await during('tools/execute'), await during('tools/execute', true)]).toEqual([
      'ABORTED_BEFORE_DISPATCH', 'ABORTED_BEFORE_DISPATCH', 'ABORTED_BEFORE_DISPATCH',
    ]))
  it('during approval counts as before dispatch', async () => {
    const { kernel, ctx, run, agent } = setUp()
    const caller = new AbortController()
    ctx.provide('approvals', answeringApprovals(() => (caller.abort(), { outcome: 'cancelled' })).approvals)
    ctx.on('tools/pre-execute', () => ({ kind: 'ask' }))
    expect(outcome(await run({ agent: agent(kernel.createScope('a', null)), signal: caller.signal }))[0]).toBe('ABORTED_BEFORE_DISPATCH')
  })
  it('a refusal that settles after the cancel keeps its own identity', async () => {
    const { ctx, run } = setUp()
    const caller = new AbortController()
    ctx.on('tools/pre-execute', () => (caller.abort(), { kind: 'deny', reason: 'no' }))
    expect(outcome(await run({ signal: caller.signal }))).toEqual(['DENIED', 'no'])
  })
  const bodyAfterCancel = async (end: () => unknown) => {
    const caller = new AbortController()
    let isDone = false
    const { run } = setUp({
      execute: async () => {
        caller.abort()
        await new Promise(setImmediate)
        isDone = true
        return end()
      },
    })
    const result = await run({ signal: caller.signal })
    return [outcome(result)[0], isDone]
  }
  it('while the body runs waits for it, and turns a late success into the cancel', async () =>
    expect(await bodyAfterCancel(() => ({ word: 'late' }))).toEqual(['ABORTED', true]))
  it('while the body runs leaves its own failure', async () =>
    expect(await bodyAfterCancel(() => { throw sample() })).toEqual(['SAMPLE', true]))
  it('during post-execute turns a success into the cancel', async () => {
    const { ctx, run } = setUp()
    const caller = new AbortController()
    ctx.on('tools/post-execute', (_exec, _result, next) => (caller.abort(), next()))
    expect(outcome(await run({ signal: caller.signal }))[0]).toBe('ABORTED')
  })
})

describe('post-execute', () => {
  it('may replace the content; value and facts stay', async () => {
    const { ctx, run } = setUp()
    ctx.on('tools/post-execute', () => ({ kind: 'accept', content: [{ type: 'text', text: 'short' }] }))
    expect(await run()).toEqual({ isError: false, value: { word: 'hi' }, content: [{ type: 'text', text: 'short' }], meta: { length: 2 } })
  })
  it('may replace the value, which is validated and rendered anew', async () => {
    const { ctx, run } = setUp()
    ctx.on('tools/post-execute', () => ({ kind: 'accept', value: { word: 'other' } }))
    expect(await run()).toEqual({ isError: false, value: { word: 'other' }, content: [{ type: 'text', text: 'other' }], meta: { length: 5 } })
  })
  it('may not replace both, nor the value of a failure, nor break the schema', async () => {
    const check = async (decision: object, more: Partial<ToolDefinition> = {}) => {
      const { ctx, run } = setUp(more)
      ctx.on('tools/post-execute', () => ({ kind: 'accept', ...decision }))
      return (await run()).isError
    }
    expect([
      await check({ content: [], value: { word: 'x' } }),
      await check({ value: { word: 'x' } }, { execute: () => { throw sample() } }),
      await check({ value: { word: 1 } }),
    ]).toEqual([true, true, true])
  })
  it.each([undefined, {}, { kind: 'deny', reason: 'no' }])('that answers %j fails the call: nothing is guessed', async (answer) => {
    const { ctx, run } = setUp()
    ctx.on('tools/post-execute', () => answer as never)
    expect((await run()).isError).toBe(true)
  })
  it('may not replace the value of a tool that is gone meanwhile', async () => {
    const bench = createPipelineBench()
    const undo = bench.tools.register(echoTool())
    bench.kernel.root.on('tools/post-execute', () => (undo(), { kind: 'accept', value: { word: 'x' } }))
    expect(outcome(await bench.tools.execute(bench.request('echo', { word: 'hi' })))[0]).toBe('UNKNOWN_TOOL')
  })
  it('leaves the wish of a wrapper to conclude the turn when it replaces the value', async () => {
    const { ctx, run } = setUp()
    ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      return result.isError ? result : { ...result, concludesTurn: true as const }
    })
    ctx.on('tools/post-execute', () => ({ kind: 'accept', value: { word: 'x' } }))
    expect(await run()).toMatchObject({ value: { word: 'x' }, concludesTurn: true })
  })
  it('may block: the feedback is the failure, and what the body deferred is dropped', async () => {
    const { ctx, run } = setUp({ execute: (_args, exec) => (exec.deferContext(message('deferred')), { word: 'x' }) })
    ctx.on('tools/post-execute', () => ({ kind: 'block', feedback: 'not like this', additionalContexts: [message('added')] }))
    const result = await run()
    expect([outcome(result)[1], contexts(result)]).toEqual(['not like this', ['added']])
  })
  it('orders contexts: deferred by the body, added by wrappers, added here; deferred ones survive a throw of the body', async () => {
    for (const isThrowing of [false, true]) {
      const { ctx, run } = setUp({
        execute: (_args, exec) => {
          exec.deferContext(message('body'))
          if (isThrowing) throw sample()
          return { word: 'x' }
        },
      })
      ctx.on('tools/execute', async (_exec, next) => ({ ...(await next()), additionalContexts: [message('wrapper')] }))
      ctx.on('tools/post-execute', () => ({ kind: 'accept', additionalContexts: [message('post')] }))
      const result = await run()
      expect([result.isError, contexts(result)]).toEqual([isThrowing, ['body', 'wrapper', 'post']])
    }
  })
  it.each(['body', 'wrapper', 'post'])('a context of the %s that JSON cannot carry fails this call alone', async (who) => {
    const bad = { ...message('bad'), at: new Date(0) } as UserMessage
    const { ctx, run } = setUp({ execute: (_args, exec) => (who === 'body' && exec.deferContext(bad), { word: 'x' }) })
    if (who === 'wrapper') ctx.on('tools/execute', async (_exec, next) => ({ ...(await next()), additionalContexts: [bad] }))
    if (who === 'post') ctx.on('tools/post-execute', () => ({ kind: 'accept', additionalContexts: [bad] }))
    const result = await run()
    expect([outcome(result)[0], contexts(result)]).toEqual(['NOT_JSON', undefined])
  })
  it('that throws fails the call', async () => {
    const { ctx, run } = setUp()
    ctx.on('tools/post-execute', () => {
      throw sample()
    })
    expect(outcome(await run())[0]).toBe('SAMPLE')
  })
})

describe('the end of a call', () => {
  it('finalizeContent has the last word, once, also for failures', async () => {
    let calls = 0
    const finalizeContent: ToolDefinition['finalizeContent'] = (_exec, result) => (calls++, [{ type: 'text', text: result.isError ? 'failed' : 'fine' }])
    const { ctx, run } = setUp({ finalizeContent })
    const texts = [(await run()).content]
    ctx.on('tools/pre-execute', () => {
      throw sample()
    })
    texts.push((await run()).content)
    expect([texts, calls]).toEqual([[[{ type: 'text', text: 'fine' }], [{ type: 'text', text: 'failed' }]], 2])
  })
  it('finalizeContent has no word on a tool that may only be called from a program, unless the call was cancelled', async () => {
    const { kernel, ctx, run, agent } = setUp({ finalizeContent: () => [{ type: 'text', text: 'finalized' }] })
    const scope = kernel.createScope('programs only', null)
    ctx.scoped(scope).tools.presentAs('code')
    const texts = [await run({ agent: agent(scope) }), await run({ agent: agent(scope), signal: AbortSignal.abort() })].map(({ content }) => JSON.stringify(content))
    expect([texts[0]?.includes('run_code'), texts[1]?.includes('finalized')]).toEqual([true, true])
  })
  it('a throwing finalizer is an error result', async () =>
    expect(outcome(await setUp({ finalizeContent: () => { throw sample() } }).run())[0]).toBe('SAMPLE'))
  it('concludes the turn only on success', async () => {
    const conclude = (isThrowing: boolean): Partial<ToolDefinition> => ({
      execute: (_args, exec) => {
        exec.concludeTurn()
        if (isThrowing) throw sample()
        return { word: 'x' }
      },
    })
    expect([await setUp(conclude(false)).run(), await setUp(conclude(true)).run()].map((result) => !result.isError && result.concludesTurn)).toEqual([true, false])
  })
  it('observers get one frozen outcome; their throws are contained', async () => {
    const { ctx, run, logger } = setUp()
    const seen: ToolResult[] = []
    ctx.on('tools/result', (_exec, result) => {
      seen.push(result)
      ;(result as { isError: boolean }).isError = true
    })
    ctx.on('tools/result', (_exec, result) => void seen.push(result))
    const result = await run()
    expect([result.isError, seen.every((one) => one === result), seen.length, logger.lines.length]).toEqual([false, true, 2, 1])
  })
})
