import { afterAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { createWorkflowRig, testCodeRuntime, type WorkflowRigOptions } from '../../support/workflow-rig.ts'

const runtime = testCodeRuntime()
afterAll(() => runtime.dispose())
const rig = (options?: WorkflowRigOptions) => createWorkflowRig(runtime, options)
const fail = () => ({ stopReason: 'error', output: 'partial' }) as const

describe('7.1 before a run exists', () => {
  it('META_INVALID lists every violation at once, and unknown fields', async () => {
    const meta: Json = { name: ' ', whenToUse: 3, author: 'me', phases: [{ detail: 'x' }, 5, { title: 't', colour: 'red' }] }
    const { failure, agent } = rig()
    const { code, message } = await failure('return 1', { meta })
    expect(code).toBe('META_INVALID')
    for (const part of ['meta.name is empty', 'meta.description is missing', 'meta.whenToUse is no text', 'meta.author is not known', 'meta.phases[0].title is missing', 'meta.phases[1] is no object', 'meta.phases[2].colour is not known']) expect(message).toContain(part)
    expect(agent.log).toEqual([])
  })
  it.each([
    ['does not parse', 'const a = ;', 'line 1, column 11'],
    ['does not parse further down', 'const a = 1\n\nreturn }', 'line 3'],
    ['has a header of meta', 'export const meta = {}\nreturn 1', 'meta is an argument of its own'],
  ])('SCRIPT_PARSE for a script that %s', async (_, script, words) => {
    const { failure, agent } = rig()
    expect(await failure(script)).toMatchObject({ code: 'SCRIPT_PARSE', message: expect.stringContaining(words) })
    expect(agent.log).toEqual([])
  })
  it('no workflow in a folder that is not trusted', async () => expect(await rig({ isTrusted: false }).failure('return 1')).toMatchObject({ code: 'NOT_TRUSTED' }))
})

describe('7.1 what a script gives', () => {
  const gives: readonly [what: string, script: string, value: Json, options?: WorkflowRigOptions][] = [
    ['null when it returns nothing', 'await agent("a")', null],
    ['the text of an agent', 'return await agent("a")', 'did a'],
    ['null for an agent that failed', 'return [await agent("a")]', [null], { mind: fail }],
    ['the object of an agent with a schema', 'return (await agent("a", { schema: { type: "object", properties: { n: { type: "integer" } } } })).n', 3, { mind: () => ({ stopReason: 'completed', output: '', structured: { n: 3 } }) }],
    ['null when an agent with a schema ended without its object', 'return [await agent("a", { schema: { type: "object" } })]', [null], { mind: () => 'only words' }],
    ['a slot for each function of parallel, null where one throws', 'return await parallel([() => agent("a"), () => { throw new Error("x") }, async () => 3, () => Promise.reject(1)])', ['did a', null, 3, null]],
    ['each item through the stages, null where one throws, which skips the later ones', 'let late = 0; const r = await pipeline([1, 2, 3], (p, i, at) => { if (i === 2) throw 0; return [p, i, at] }, (p, i) => { late++; return [...p, i] }); return [r, late]', [[[1, 1, 0, 1], null, [3, 3, 2, 3]], 2]],
    ['items without a barrier between them', 'const seen = []; await pipeline(["slow", "quick"], (x) => agent(x), (x, item) => seen.push(item)); return seen', ['quick', 'slow'], { mind: ({ prompt }) => (prompt === 'slow' ? new Promise((done) => setTimeout(() => done('s'), 150)) : 'q') }],
    ['empty lists', 'return [await parallel([]), await pipeline([], (x) => x)]', [[], []]],
    ['args as they were given', 'args.a.push(2); return args', { a: [1, 2] }],
    ['nothing of the world', 'return [typeof require, typeof process, typeof setTimeout, typeof fetch, typeof host]', Array(5).fill('undefined')],
  ]
  it.each(gives)('%s', async (_, script, value, options) => expect(await rig(options).result(script, { args: { a: [1] } })).toEqual(value))
  it('args are undefined when they are left out', async () => expect(await rig().result('return typeof args')).toBe('undefined'))
})

describe('7.1 what ends a run, whatever the script does with it', () => {
  const ends: readonly [inner: string, script: string, words: string, options?: WorkflowRigOptions][] = [
    ['INVALID_ARGUMENT', 'await agent("  ")', 'not empty'],
    ['INVALID_ARGUMENT', 'await agent(5)', 'not empty'],
    ['INVALID_ARGUMENT', 'await agent("a", "b")', 'no object'],
    ['INVALID_ARGUMENT', 'await agent("a", { label: 3 })', 'label'],
    ['INVALID_ARGUMENT', 'await agent("a", { schema: { type: "object", f() {} } })', 'is a function'],
    ['INVALID_ARGUMENT', 'await parallel("no")', 'list'],
    ['INVALID_ARGUMENT', 'await parallel([agent("a")])', 'number 1 is none'],
    ['INVALID_ARGUMENT', 'await pipeline([1])', 'at least one stage'],
    ['INVALID_ARGUMENT', 'await pipeline([1], 2)', 'number 1 is none'],
    ['INVALID_ARGUMENT', 'phase("")', 'title'],
    ['INVALID_ARGUMENT', 'log({})', 'text'],
    ['INVALID_ARGUMENT', 'await agent("a", { label: "x".repeat(4001) })', '4000'],
    ['INVALID_ARGUMENT', 'await agent("a", { phase: "x".repeat(4001) })', '4000'],
    ['INVALID_ARGUMENT', 'log("x".repeat(10001)); await agent("a")', '10000'],
    ['UNSUPPORTED_OPTION', 'await agent("a", { effort: "high" })', 'not take effort yet'],
    ['UNSUPPORTED_OPTION', 'await agent("a", { isolation: "worktree" })', 'not take isolation yet'],
    ['UNSUPPORTED_OPTION', 'await agent("a", { agentType: "x" })', 'not take agentType yet'],
    ['UNSUPPORTED_OPTION', 'await agent("a", { temperature: 1 })', 'knows no option temperature'],
    ['UNSUPPORTED_SCHEMA', 'await agent("a", { schema: { type: "array" } })', 'object'],
    ['UNSUPPORTED_SCHEMA', 'await agent("a", { schema: { type: "object", patternProperties: {} } })', 'patternProperties'],
    ['ITEM_CAP', 'await parallel(Array.from({ length: 4097 }, () => () => 1))', '4096'],
    ['ITEM_CAP', 'await pipeline(Array.from({ length: 4097 }), (x) => x)', '4096'],
    ['ITEM_CAP', 'for (let i = 0; i < 10001; i++) log("x"); await agent("a")', '10000', { limits: { syncTimeoutMs: 60_000 } }],
    ['ITEM_CAP', 'for (let i = 0; i < 10001; i++) console.log("x"); await agent("a")', '10000', { mind: () => new Promise(() => undefined), limits: { syncTimeoutMs: 60_000 } }],
    ['AGENT_CAP', 'await Promise.all(Array.from({ length: 10000 }, (_, i) => agent("a" + i)))', '1000 agents'],
    ['AGENT_CAP', 'for (let i = 0; i < 4; i++) await agent("a")', '3 agents', { limits: { maxTotalAgents: 3 } }],
    ['AGENT_START', 'await agent("a")', 'no more today', { mind: () => { throw new Error('no more today') } }],
    ['AGENT_RESULT', 'await agent("a")', 'neither text nor an object', { mind: () => ({ stopReason: 'completed', output: 7 as unknown as string }) }],
    ['RESULT_UNSERIALIZABLE', 'return { f() {} }', 'result.f is a function'],
    ['RESULT_UNSERIALIZABLE', 'return [undefined]', 'result[0] is undefined'],
    ['SCRIPT_FAILED', 'await agent("a")\nthrow new Error("mine")', 'Error: mine (workflow.js:2:'],
    ['SCRIPT_FAILED', 'for (;;);', '2000 ms'],
    ['SCRIPT_FAILED', 'await agent("a"); for (;;);', '2000 ms'],
  ]
  it.each(ends)('%s: %s', async (inner, script, words, options) => expect(await rig(options).failure(script)).toEqual({ code: 'WORKFLOW_FAILED', inner, message: expect.stringContaining(words) }))

  it.each([
    ['caught by the script', 'try { await agent("") } catch {} return 1'],
    ['in a slot of parallel', 'return await parallel([() => agent("")])'],
    ['in a stage of pipeline', 'return await pipeline([1], () => agent(""))'],
    ['never awaited', 'agent(""); await agent("b"); return 1'],
  ])('%s it ends the run all the same', async (_, script) => expect(await rig().failure(script)).toMatchObject({ inner: 'INVALID_ARGUMENT' }))

  it('an object that looks the same is an ordinary throw', async () => {
    const script = `
      let made
      const fake = Object.assign(new Error('x'), { name: 'WorkflowError', code: 'AGENT_CAP' })
      return await parallel([() => { throw fake }, () => { throw { code: 'CANCELLED' } }])`
    expect(await rig().result(script)).toEqual([null, null])
  })

  it('never gives part of a result', async () => {
    const { failure } = rig()
    expect((await failure('await agent("secret part"); throw new Error("x")')).message).not.toContain('did secret part')
  })
})

describe('7.1 children', () => {
  it('are one-shot children of spawn with label, phase, model and schema of the call', async () => {
    const { run, asked, agent } = rig()
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    await run(`phase('Look'); await agent('First line\\nsecond', { schema: ${JSON.stringify(schema)}, provider: 'p', model: 'm' }); await agent('b', { label: 'L', phase: 'Other' })`)
    expect(asked.map(({ signal: _, ...request }) => request)).toEqual([
      { parent: agent, provider: 'spawn', label: 'First line', prompt: 'First line\nsecond', purpose: { kind: 'workflow', runId: 'id-1', name: 'test', phase: 'Look' }, callId: 'call', schema, model: { provider: 'p', model: 'm' } },
      { parent: agent, provider: 'spawn', label: 'L', prompt: 'b', purpose: { kind: 'workflow', runId: 'id-1', name: 'test', phase: 'Other' }, callId: 'call' },
    ])
  })
  it('have the first line of the prompt as their label, 48 characters at most', async () => {
    const { run, asked } = rig()
    await run(`await agent('${'x'.repeat(80)}')`)
    expect(asked[0]?.label).toHaveLength(48)
  })
  it('take the model that meta names for their phase', async () => {
    const { run, asked } = rig()
    await run('await agent("a", { phase: "Deep" })', { meta: { name: 'n', description: 'd', phases: [{ title: 'Deep', provider: 'p', model: 'big' }] } })
    expect(asked[0]?.model).toEqual({ provider: 'p', model: 'big' })
  })
  it('are at work no more at once than there are slots, first come first served', async () => {
    const { run, asked, mostAtOnce } = rig({ limits: { concurrency: 3 }, mind: ({ prompt }) => new Promise((done) => setTimeout(() => done(prompt), 5)) })
    const { agentsStarted } = await run('return await parallel(Array.from({ length: 20 }, (_, i) => () => agent("a" + i)))')
    expect([agentsStarted, mostAtOnce(), asked.map(({ prompt }) => prompt)]).toEqual([20, 3, Array.from({ length: 20 }, (_, i) => `a${i}`)])
  })
  it('that nobody waits for are stopped and released before the run is over', async () => {
    const { run, stillRunning, logOf } = rig({ mind: () => new Promise(() => undefined) })
    expect((await run('agent("a"); phase("p"); await parallel([() => 1]); return 2')).result).toBe(2)
    expect([stillRunning(), logOf('tool-workflow/agent-end'), logOf('tool-workflow/run-end')]).toEqual([0, [{ runId: 'id-1', seq: 1, outcome: 'cancelled' }], [{ runId: 'id-1', stopReason: 'completed' }]])
  })
})

describe('7.1 cancellation', () => {
  const forever = () => new Promise<string>(() => undefined)
  /** Stopped when `agents` of them are at work, none of which ever ends. */
  const cancelled = async (script: string, { agents = 1, ...options }: WorkflowRigOptions & { readonly agents?: number } = {}) => {
    const stop = new AbortController()
    let asked = 0
    const mind = () => {
      asked += 1
      if (asked === agents) setImmediate(() => stop.abort(new Error('The person stopped it.')))
      return forever()
    }
    const made = rig({ mind, ...options })
    return { ...(await made.failure(script, { signal: stop.signal })), made, stop }
  }
  it('ends children and script with its first reason, which the caller hears', async () => {
    const { code, message, made } = await cancelled('await parallel([() => agent("a"), () => agent("b")])', { agents: 2 })
    expect([code, message]).toEqual(['WORKFLOW_CANCELLED', expect.stringContaining('The person stopped it.')])
    expect([made.stillRunning(), made.logOf('tool-workflow/agent-end').map(({ outcome }) => outcome), made.logOf('tool-workflow/run-end')[0]?.['stopReason']]).toEqual([0, ['cancelled', 'cancelled'], 'cancelled'])
  })
  it('is thrown by every hook that is called after it, and nothing is told any more', async () => {
    const { code, made } = await cancelled('try { await agent("a") } catch (e) {} try { log("late") } catch {} await agent("more")')
    expect([code, made.asked.length, made.logOf('tool-workflow/log')]).toEqual(['WORKFLOW_CANCELLED', 1, []])
  })
  it('turns a result that comes after it into a cancel', async () => {
    expect(await cancelled('try { await agent("a") } catch {} return "done all the same"')).toMatchObject({ code: 'WORKFLOW_CANCELLED' })
  })
  it('is forced after its grace on children and scripts that do not end', async () => {
    const begun = performance.now()
    const { made } = await cancelled('try { await agent("a") } catch {} for (;;);', { limits: { syncTimeoutMs: 60_000 } })
    // Long before its slice would have ended by itself.
    expect(performance.now() - begun).toBeLessThan(30_000)
    expect(made.logOf('tool-workflow/run-end')).toEqual([{ runId: 'id-1', stopReason: 'cancelled', error: 'The person stopped it.' }])
  })
  it('before the first slice keeps the script from beginning', async () => {
    const made = rig()
    expect(await made.failure('await agent("a")', { signal: AbortSignal.abort(new Error('early')) })).toMatchObject({ message: 'early' })
    expect([made.asked, made.agent.log]).toEqual([[], []])
  })
  it('that comes after the result changes nothing', async () => {
    const stop = new AbortController()
    const made = rig({ mind: forever })
    const running = made.run('agent("a"); await parallel([]); return 1', { signal: stop.signal })
    const { result } = await running
    stop.abort()
    expect(result).toBe(1)
  })
})

describe('7.1 records', () => {
  it('say in the log what was run, each agent with its one end, phases, lines and results', async () => {
    const { run, logOf, agent, news } = rig({ mind: ({ prompt }) => new Promise((done) => setTimeout(() => done(prompt === 'bad' ? fail() : 'fine'), prompt === 'bad' ? 120 : 40)) })
    await run('phase("P"); log("hello"); await parallel([() => agent("good"), () => agent("bad")]); return 1', { args: { a: 1 } })
    expect(agent.log.map(({ type }) => type.replace('tool-workflow/', ''))).toEqual(['run-start', 'plan', 'phase', 'log', 'agent-start', 'agent-start', 'journal', 'agent-end', 'agent-end', 'run-end'])
    expect(logOf('tool-workflow/agent-start')).toEqual([
      { runId: 'id-1', seq: 1, label: 'good', phase: 'P', childId: 'child-1' },
      { runId: 'id-1', seq: 2, label: 'bad', phase: 'P', childId: 'child-2' },
    ])
    expect(logOf('tool-workflow/agent-end').toSorted((a, b) => Number(a['seq']) - Number(b['seq']))).toEqual([{ runId: 'id-1', seq: 1, outcome: 'completed' }, { runId: 'id-1', seq: 2, outcome: 'failed' }])
    expect(news.map(([name]) => name.replace('workflow/', ''))).toEqual(['start', 'phase', 'log', 'agent-start', 'agent-start', 'agent-end', 'agent-end', 'end'])
  })
  it('are not made for a call of a program, which is told live all the same', async () => {
    const { run, agent, news } = rig()
    await run('await agent("a")', { isRecorded: false })
    expect([agent.log, news.length]).toEqual([[], 4])
  })
  it('end with the first line that cannot be written, and the run goes on', async () => {
    const made = rig()
    const append = made.agent.session.append
    made.agent.session.append = ((draft: Parameters<typeof append>[0]) => {
      if (draft.type === 'tool-workflow/agent-start') throw new Error('disk full')
      return append(draft)
    }) as typeof append
    expect((await made.run('return await agent("a")')).result).toBe('did a')
    expect(made.agent.log.map(({ type }) => type)).toEqual(['tool-workflow/run-start', 'tool-workflow/plan'])
  })
})

describe('12.9 a run that goes on where it was', () => {
  const script = 'return await parallel(args.items.map((item) => () => agent(item)))'
  const args = { items: ['a', 'b', 'a', 'c'] }
  /** Runs with `b` failing, and gives what its log holds. */
  const first = async (isCutOff: boolean) => {
    const made = rig({ mind: ({ prompt }) => (prompt === 'b' ? fail() : `first ${prompt}`) })
    await made.run(script, { args })
    return isCutOff ? made.agent.log.filter(({ type }) => type !== 'tool-workflow/run-end') : made.agent.log
  }
  it('asks only for what is not finished when the same script comes again after it was cut off', async () => {
    const { run, asked, logOf } = rig({ events: await first(true), mind: ({ prompt }) => `second ${prompt}` })
    expect(await run(script, { args })).toMatchObject({ agentsStarted: 1, result: ['first a', 'second b', 'first a', 'first c'] })
    expect(asked.map(({ prompt }) => prompt)).toEqual(['b'])
    expect(logOf('tool-workflow/plan').at(-1)?.['resumedFrom']).toBe('id-1')
  })
  it('begins anew when the same script had come to its end, unless its run is named', async () => {
    const fresh = rig({ events: await first(false) })
    expect((await fresh.run(script, { args })).agentsStarted).toBe(4)
    const named = rig({ events: await first(false), mind: ({ prompt }) => `again ${prompt}` })
    expect(await named.run(script, { args, resumeRunId: 'id-1' })).toMatchObject({ agentsStarted: 1, result: ['first a', 'again b', 'first a', 'first c'] })
  })
  it('asks anew where prompt, schema or model changed, or one more of the same is asked for; labels do not count', async () => {
    const changed = rig({ events: await first(true) })
    const { agentsStarted } = await changed.run('for (const [p, o] of [["a", { label: "x" }], ["a", {}], ["a", {}], ["c", { model: "m" }], ["d", {}]]) await agent(p, o)', { resumeRunId: 'id-1' })
    expect(agentsStarted).toBe(3)
  })
  it('goes on over several cuts', async () => {
    const second = rig({ events: await first(true), mind: ({ prompt }) => (prompt === 'b' ? fail() : 'x') })
    await second.run(script, { args })
    const third = rig({ events: second.agent.log.slice(0, -1) })
    expect((await third.run(script, { args })).agentsStarted).toBe(1)
  })
  it('is refused for a run that is not there', async () => expect(await rig().failure('return 1', { resumeRunId: 'nope' })).toMatchObject({ code: 'UNKNOWN_RUN' }))
  it('hands a result to the script only once it is on the disk', async () => {
    const order: string[] = []
    const made = rig()
    made.agent.session.flush = async () => void order.push('flushed')
    await made.run('await agent("a"); log("after")')
    expect(order.length).toBeGreaterThanOrEqual(2)
    expect(made.agent.log.findIndex(({ type }) => type === 'tool-workflow/journal')).toBeLessThan(made.agent.log.findIndex(({ type }) => type === 'tool-workflow/log'))
  })
  it('is resumed by a person without a call; the model hears how it ended', async () => {
    const made = rig({ events: await first(false) })
    const { runId } = made.workflows.resume(made.agent, 'id-1')
    expect(made.workflows.isRunning(runId)).toBe(false)
    while (made.agent.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    expect([made.asked.map(({ prompt }) => prompt), made.agent.received[0]?.verb, made.agent.received[0]?.message.source]).toEqual([['b'], 'followup', { kind: 'plugin', plugin: 'workflow', form: 'notice', summary: 'test completed' }])
  })
  it('gives the result of each finished member from the log', async () => {
    const made = rig({ events: await first(true) })
    const { runId } = await made.run(script, { args })
    expect([made.workflows.resultOf(made.agent, runId, 1), made.workflows.resultOf(made.agent, runId, 2), made.workflows.resultOf(made.agent, 'id-1', 2)]).toEqual(['first a', 'did b', undefined])
  })
})
