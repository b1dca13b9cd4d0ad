import { afterAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { createWorkflowRig, testCodeRuntime, type WorkflowRigOptions } from '../../support/workflow-rig.ts'

const runtime = testCodeRuntime()
afterAll(() => runtime.dispose())
const rig = (options: WorkflowRigOptions = {}) => createWorkflowRig(runtime, { ...options, limits: { syncTimeoutMs: 700, ...options.limits } })
const forever = () => new Promise<string>(() => undefined)
const soon = (done: () => boolean) =>
  new Promise<void>((resolve) => {
    const look = () => (done() ? resolve() : setTimeout(look, 5))
    look()
  })

describe('7.1 a hostile or broken script', () => {
  const faults: readonly [what: string, script: string, words: string | RegExp][] = [
    ['an endless loop', 'for (;;);', '700 ms'],
    ['an endless loop of awaits', 'for (;;) await 0', '700 ms'],
    // Memory or time, whichever it meets first.
    ['an endless chain of promises', 'const spin = () => Promise.resolve().then(spin); return spin()', /700 ms|64 MB/],
    ['an endless chain of promises beside agents', 'const f = () => Promise.resolve().then(f); f(); await agent("a")', /700 ms|64 MB/],
    ['an endless chain of promises that fills its memory first', 'const f = () => Promise.resolve().then(f); f(); await agent("a")', '64 MB'],
    ['memory that runs out where nobody waits', '(async () => { const a = []; for (;;) a.push(new Array(1e6).fill(1)) })(); await agent("a")', '64 MB'],
    ['an expression that backtracks for ever', 'return /(a+)+b/.test("a".repeat(60))', '700 ms'],
    ['a loop while agents work', 'agent("a"); agent("b"); for (;;);', '700 ms'],
    ['a promise that nothing settles', 'await new Promise(() => {})', 'nothing will settle'],
    ['a thenable that never calls back', 'return { then() {} }', 'nothing will settle'],
    ['a list that takes all memory', 'const a = []; for (;;) a.push(new Array(1e6).fill(1))', '64 MB'],
    ['a text that takes all memory', 'let s = "x"; for (;;) s += s', 'too long'],
    ['a buffer that takes all memory', 'return new Uint8Array(2 ** 31).length', 'array buffer'],
    ['recursion without end', 'const f = () => f() + 1; return f()', 'too deeply'],
    ['a module', 'return await import("fs")', 'could not load module'],
    ['a throw without a value', 'throw undefined', 'undefined'],
    ['a throw that cannot be told', 'throw { toString() { throw 1 } }', 'without text'],
    ['a getter that throws in the options', 'await agent("a", { get label() { throw new Error("mine") } })', 'Error: mine'],
    ['a proxy that throws in the options', 'await agent("a", new Proxy({}, { ownKeys() { throw new Error("mine") } }))', 'Error: mine'],
  ]
  it.each(faults)('ends with its failure, and nobody of it works on: %s', async (_, script, words) => {
    const made = rig({ mind: forever, ...(typeof words === 'string' && words !== '700 ms' && { limits: { syncTimeoutMs: 60_000 } }) })
    expect(await made.failure(script)).toMatchObject({ code: 'WORKFLOW_FAILED', inner: 'SCRIPT_FAILED', message: expect.stringMatching(words) })
    expect(made.stillRunning()).toBe(0)
  })

  it.each([
    ['an agent asked with a thenable', 'await agent({ then(done) { done("x") } })', 'INVALID_ARGUMENT'],
    ['an option with the name of the prototype', 'await agent("a", { ["__proto__"]: 1 })', 'UNSUPPORTED_OPTION'],
    ['a list that lies about its length', 'await parallel(new Proxy([() => 1], { get: (t, k) => k === "length" ? 1e9 : t[k] }))', 'ITEM_CAP'],
    ['a prompt of 5 MB', 'await agent("x".repeat(5e6))', 'INVALID_ARGUMENT'],
    ['a result of 5 MB', 'return "x".repeat(5e6)', 'RESULT_UNSERIALIZABLE'],
    ['a result deeper than 500 levels', 'let a = {}; for (let i = 0; i < 5000; i++) a = { a }; return a', 'RESULT_UNSERIALIZABLE'],
    ['a result that contains itself', 'const a = {}; a.a = a; return a', 'RESULT_UNSERIALIZABLE'],
    ['a result with NaN', 'return [NaN]', 'RESULT_UNSERIALIZABLE'],
    ['a result with a bigint', 'return 1n', 'RESULT_UNSERIALIZABLE'],
    ['a result with a key that is a symbol', 'return { [Symbol("x")]: 1 }', 'RESULT_UNSERIALIZABLE'],
    ['a result with holes', 'return [1, , 2]', 'RESULT_UNSERIALIZABLE'],
    ['a result of an own kind', 'return new Map([[1, 2]])', 'RESULT_UNSERIALIZABLE'],
    ['a result with undefined in it', 'return { a: undefined }', 'RESULT_UNSERIALIZABLE'],
  ])('is told what was wrong with %s', async (_, script, inner) => expect(await rig().failure(script)).toMatchObject({ inner }))

  const gives: readonly [what: string, script: string, value: Json][] = [
    ['a rejection that nobody awaits', 'Promise.reject(new Error("x")); await agent("a"); return 1', 1],
    ['an await of a thenable', 'return { then(done) { done(4) } }', 4],
    ['minus zero, which JSON has not', 'return [1 / -0 < 0, -0]', [true, 0]],
    ['a key named __proto__, which stays a key', 'return [JSON.parse("{\\"__proto__\\": {\\"a\\": 1}}")].map((v) => [Object.keys(v), v.a === undefined])', [[['__proto__'], true]]],
    ['a value that stands twice', 'const a = {}; return [a, a]', [{}, {}]],
    ['a list that grows while it is worked through', 'const l = [() => { l.push(() => 2); return 1 }]; return await parallel(l)', [1]],
    ['names that cannot be overwritten', 'agent = 3; delete globalThis.agent; return typeof agent', 'function'],
    ['code made from text, which finds no more than the script', 'return [new Function("return typeof host + typeof process")(), await agent.constructor("return typeof host")()]', ['undefinedundefined', 'undefined']],
    ['2,000 lines', 'for (let i = 0; i < 2000; i++) log("x" + i); return await agent("a")', 'did a'],
  ]
  it.each(gives)('may have %s', async (_, script, value) => expect(await rig({ limits: { syncTimeoutMs: 60_000 } }).result(script)).toEqual(value))

  it('finds args as data, also under the names of a prototype', async () => {
    const args = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toString":"t"}') as Json
    expect(await rig().result('return [Object.keys(args).sort(), {}.polluted === undefined, args.toString]', { args })).toEqual([['__proto__', 'constructor', 'toString'], true, 't'])
  })

  it('that breaks the language breaks itself alone: the engine runs the next one', async () => {
    const made = rig()
    expect(await made.failure('Promise.prototype.then = () => { throw 1 }; await parallel([() => agent("a")])')).toMatchObject({ inner: 'SCRIPT_FAILED' })
    expect(await made.result('return await parallel([() => agent("b")])')).toEqual(['did b'])
  })

  it('gets an answer of 5 MB of an agent refused, and the run says why', async () => {
    const made = rig({ mind: () => 'x'.repeat(5_000_000) })
    expect(await made.failure('return (await agent("a")).length')).toMatchObject({ inner: 'AGENT_RESULT', message: expect.stringContaining('1000000') })
    expect([made.stillRunning(), JSON.stringify(made.logOf('tool-workflow/journal')).length]).toEqual([0, 2])
  })
})

describe('7.1 a cancel', () => {
  it.each(['before the script is checked', 'while it is checked', 'in its first slice', 'while agents start', 'while they work', 'while results are written'])('%s leaves no agent at work and one end', async (moment) => {
    const stop = new AbortController()
    const cancel = () => stop.abort(new Error('Stop.'))
    let flushes = 0
    const made = rig({
      limits: { concurrency: 2 },
      mind: async ({ prompt }) => {
        if (moment === 'while agents start') cancel()
        if (moment === 'while they work' && prompt === 'a2') cancel()
        return moment === 'while they work' ? await forever() : 'x'
      },
    })
    made.agent.session.flush = async () => {
      flushes += 1
      if (moment === 'while results are written' && flushes === 2) cancel()
    }
    if (moment === 'before the script is checked') cancel()
    if (moment === 'while it is checked') queueMicrotask(cancel)
    if (moment === 'in its first slice') setTimeout(cancel, 60)
    const script = `${moment === 'in its first slice' ? 'const t = Date.now(); while (Date.now() - t < 200);' : ''}return await parallel([1, 2, 3, 4, 5].map((n) => () => agent('a' + n)))`
    await expect(made.run(script, { signal: stop.signal })).rejects.toThrow('Stop.')
    await soon(() => made.stillRunning() === 0)
    const starts = made.logOf('tool-workflow/run-start').length
    expect([made.logOf('tool-workflow/run-end').length, made.logOf('tool-workflow/agent-start').length]).toEqual([starts, made.logOf('tool-workflow/agent-end').length])
    expect(made.workflows.isRunning('id-1')).toBe(false)
  })
})

describe('12.9 a run in the background', () => {
  it('lets its caller go on at once, and tells it how it ended', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const made = rig({ mind: () => promise })
    const { runId } = await made.workflows.start(made.request('return await agent("a")'))
    expect([made.workflows.isRunning(runId), made.agent.received]).toEqual([true, []])
    resolve('the answer')
    await soon(() => made.agent.received.length > 0)
    expect(made.agent.received.map(({ verb, message }) => [verb, message.source])).toEqual([['followup', { kind: 'plugin', plugin: 'workflow', form: 'notice', summary: 'test completed' }]])
    expect(JSON.stringify(made.agent.received[0]?.message.content)).toContain('the answer')
    expect([made.workflows.isRunning(runId), made.logOf('tool-workflow/run-end')]).toEqual([false, [{ runId, stopReason: 'completed' }]])
  })
  it('outlives its call, and ends with a person’s cancel, which starts no turn', async () => {
    const stop = new AbortController()
    const made = rig({ mind: forever })
    const { runId } = await made.workflows.start(made.request('await agent("a")', { signal: stop.signal }))
    await soon(() => made.stillRunning() === 1)
    stop.abort(new Error('The turn is over.'))
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(made.workflows.isRunning(runId)).toBe(true)
    made.workflows.cancel(runId, 'The person cancelled it.')
    await soon(() => made.agent.received.length > 0)
    expect([made.agent.received[0]?.verb, made.stillRunning()]).toEqual(['inject', 0])
  })
  it.each([
    ['does not parse', 'const a = ;', {}, 'SCRIPT_PARSE'],
    ['goes on from a run that is not there', 'return 1', { resumeRunId: 'nope' }, 'UNKNOWN_RUN'],
  ])('is refused at once where its script %s', async (_, script, more, code) => {
    const made = rig()
    await expect(made.workflows.start(made.request(script, more))).rejects.toMatchObject({ code })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect([made.agent.received, made.agent.log]).toEqual([[], []])
  })
  it('ends with the session, and tells nobody', async () => {
    const made = rig({ mind: forever })
    await made.workflows.start(made.request('await agent("a")'))
    await soon(() => made.stillRunning() === 1)
    made.agent.isDisposed = true
    await made.workflows.endRunsOf(made.agent)
    expect([made.agent.received, made.stillRunning(), made.logOf('tool-workflow/run-end')[0]?.['stopReason']]).toEqual([[], 0, 'cancelled'])
  })
})

describe('12.9 resuming', () => {
  const script = 'return await parallel(["a", "b"].map((item) => () => agent(item)))'
  const cutOff = async () => {
    const made = rig({ mind: ({ prompt }) => (prompt === 'b' ? { stopReason: 'error', output: '' } : 'first') })
    await made.run(script)
    return made.agent.log.filter(({ type }) => type !== 'tool-workflow/run-end')
  }
  it('twice at once goes on once: nobody is asked twice', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const made = rig({ events: await cutOff(), mind: () => promise })
    made.workflows.resume(made.agent, 'id-1')
    expect(() => made.workflows.resume(made.agent, 'id-1')).toThrow(expect.objectContaining({ code: 'RUN_UNDER_WAY' }))
    await expect(made.run(script)).rejects.toMatchObject({ code: 'RUN_UNDER_WAY' })
    await expect(made.run(script, { resumeRunId: 'id-1' })).rejects.toMatchObject({ code: 'RUN_UNDER_WAY' })
    resolve('second')
    await soon(() => made.agent.received.length > 0)
    expect(made.asked.map(({ prompt }) => prompt)).toEqual(['b'])
    expect(made.agent.received.map(({ message }) => message.source)).toEqual([expect.objectContaining({ summary: 'test completed' })])
  })
  it('is refused while the run that goes on from it works, also by the name of an older one', async () => {
    const made = rig({ events: await cutOff(), mind: forever })
    const stop = new AbortController()
    const running = made.run(script, { signal: stop.signal })
    await soon(() => made.asked.length > 0)
    expect(() => made.workflows.resume(made.agent, 'id-1')).toThrow('still under way')
    stop.abort(new Error('Enough.'))
    await expect(running).rejects.toThrow('Enough.')
    expect(made.workflows.resume(made.agent, 'id-1').runId).toBeTypeOf('string')
    await made.workflows.dispose()
  })
  it('is refused where another window writes the session: its run would leave no record', async () => {
    const made = rig({ events: await cutOff() })
    Object.assign(made.agent.session, { access: 'read-only' })
    expect(() => made.workflows.resume(made.agent, 'id-1')).toThrow('only be read here')
    expect(made.asked).toEqual([])
  })
  it('is given up when the session closes while the script is still checked', async () => {
    const made = rig({ events: await cutOff() })
    const running = made.run(script)
    made.agent.isDisposed = true
    await expect(running).rejects.toMatchObject({ code: 'NO_AGENT' })
    expect(made.asked).toEqual([])
  })
  it('finds a good end behind every place where the log can be torn', async () => {
    const whole = rig()
    await whole.run(script)
    for (let kept = 2; kept < whole.agent.log.length; kept++) {
      const made = rig({ events: whole.agent.log.slice(0, kept) })
      const finished = made.logOf('tool-workflow/journal').length
      const { agentsStarted, result } = await made.run(script)
      expect([agentsStarted, result]).toEqual([2 - finished, ['did a', 'did b']])
    }
  })
})
