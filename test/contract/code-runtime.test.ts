import { createRequire } from 'node:module'
import { afterAll, describe, expect, it } from 'vitest'
import type { Json } from '../../extension/base/json.ts'
import { CodeError, type CodeLimits, type CodeProgram } from '../../extension/capabilities/code-runtime.ts'
import { createQuickJsRuntime } from '../../extension/platform/node/quickjs/quickjs-runtime.ts'

const runtime = createQuickJsRuntime({
  entry: new URL('../../extension/platform/node/quickjs/isolate-main.ts', import.meta.url),
  wasm: createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm'),
  graceMs: 500,
})
afterAll(() => runtime.dispose())

const limits: CodeLimits = { sliceMs: 5_000, memoryBytes: 32 * 1_048_576, stackBytes: 524_288, outputBytes: 65_536, calls: 1_000, callsAtOnce: 4 }
const prelude = 'globalThis.ask = (value) => host("ask", value); globalThis.wait = () => host("wait")'

interface Wanted extends Partial<Omit<CodeProgram, 'limits'>> {
  readonly limits?: Partial<CodeLimits>
}
const run = (source: string, wanted: Wanted = {}) =>
  runtime.run({
    source,
    name: 'program.js',
    prelude,
    signal: new AbortController().signal,
    call: async (name, args, signal) => {
      if (name === 'wait') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
      return args[0] ?? null
    },
    ...wanted,
    limits: { ...limits, ...wanted.limits },
  })
const failure = async (source: string, wanted?: Wanted) => {
  const error: unknown = await run(source, wanted).then(({ value }) => value, (thrown: unknown) => thrown)
  return error instanceof CodeError ? { code: error.code, message: error.message } : { ended: error }
}

describe('a program', () => {
  const gives: readonly [string, string, Json][] = [
    ['what it returns', 'return { a: [1, "two", null, true], b: { c: -0.5 } }', { a: [1, 'two', null, true], b: { c: -0.5 } }],
    ['null when it returns nothing', 'const a = 1', null],
    ['what it awaits at the top', 'const a = await ask({ deep: [1] }); return a.deep', [1]],
    ['the same object in two places', 'const a = { x: 1 }; return [a, a]', [{ x: 1 }, { x: 1 }]],
    ['objects without a prototype', 'const a = Object.create(null); a.x = 1; return a', { x: 1 }],
    ['a string whole, unpaired halves too', 'return "é\\u0000\\ud800\\u2028"', 'é\u0000\ud800\u2028'],
    ['the last line though it is a comment', 'return 1 // one', 1],
    ['what a thenable resolves to', 'return { then(resolve) { resolve(5); resolve(6); throw new Error("late") } }', 5],
    ['its value though a rejection waits for nobody', 'Promise.reject(new Error("alone")); return 1', 1],
    ['nothing else of the world', 'return [typeof host, typeof require, typeof process, typeof setTimeout, typeof fetch, typeof std, typeof os, typeof WebAssembly, typeof Buffer]', Array(9).fill('undefined')],
    ['nothing of the world through functions made of text', 'return [Function("return typeof host")(), (0, eval)("typeof host"), await import("fs").then(() => "loaded", () => "refused")]', ['undefined', 'undefined', 'refused']],
  ]
  it.each(gives)('gives %s', async (_, source, value) => expect((await run(source)).value).toEqual(value))

  it('gives `__proto__` as a property of its own', async () => {
    const { value } = await run('return JSON.parse(\'{"__proto__": {"a": 1}}\')')
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  const errors: readonly [string, string, Json][] = [
    ['an error', 'return new TypeError("no")', { name: 'TypeError', message: 'no' }],
    ['errors within a value', 'return { a: [new Error("one")], b: new RangeError("two") }', { a: [{ name: 'Error', message: 'one' }], b: { name: 'RangeError', message: 'two' } }],
    ['what became of several promises', 'return await Promise.allSettled([Promise.reject(new Error("no")), 1])', [{ status: 'rejected', reason: { name: 'Error', message: 'no' } }, { status: 'fulfilled', value: 1 }]],
    ['an error of a class with a tool', 'return new (class Mine extends Error { name = "Mine"; toolName = "read" })("no")', { name: 'Mine', toolName: 'read', message: 'no' }],
    ['an error that does not let itself be read', 'return Object.defineProperty(new Error("no"), "message", { get() { throw 1 } })', { name: 'Error', message: '1' }],
    ['the same error twice', 'const e = new Error("no"); return [e, e]', [{ name: 'Error', message: 'no' }, { name: 'Error', message: 'no' }]],
  ]
  it.each(errors)('may return %s, and give it to a call', async (_, source, value) => {
    expect((await run(source)).value).toEqual(value)
    expect((await run(`return await ask(await (async () => {${source}})())`)).value).toEqual(value)
  })

  it('is told more of what ended it by what its prelude gives back, which cannot keep it from its end', async () => {
    const told = (explain: string) => failure('null.x', { prelude: `return ${explain}` })
    expect(await told('(name, message) => " <" + name + ">"')).toEqual({ code: 'CODE_THROWN', message: expect.stringContaining(' <TypeError>') })
    for (const explain of ['() => { throw new Error("mine") }', '() => ({ toString() { throw 1 } })', '1']) expect(await told(explain)).toMatchObject({ code: 'CODE_THROWN', message: expect.stringMatching(/^TypeError: /) })
  })

  const loses: readonly [string, string, string][] = [
    ['a function', 'return { a: [() => 1] }', 'result.a[0] is a function'],
    ['a symbol', 'return [Symbol("s")]', 'result[0] is a symbol'],
    ['a symbol key', 'return { [Symbol("s")]: 1 }', 'result has symbol or hidden keys'],
    ['a big integer', 'return 1n', 'result is a bigint'],
    ['NaN', 'return { "a b": NaN }', 'result["a b"] is NaN'],
    ['an infinity', 'return [-Infinity]', 'result[0] is -Infinity'],
    ['a cycle', 'const a = { b: [] }; a.b.push(a); return a', 'result.b[0] contains itself'],
    ['an array with holes', 'return [1, , 2]', 'result is an array with holes'],
    ['an array with more than elements', 'return Object.assign([1], { x: 2 })', 'result is an array with extra properties'],
    ['an array of a class', 'return new (class extends Array {})(2)', 'result is an array of its own kind'],
    ['a date', 'return new Date(0)', 'result is an object of its own kind'],
    ['a map', 'return { m: new Map() }', 'result.m is an object of its own kind'],
    ['an instance', 'return new (class A { x = 1 })()', 'result is an object of its own kind'],
    ['a nested undefined', 'return { a: undefined }', 'result.a is undefined'],
    ['too much depth', 'let a = []; for (let i = 0; i < 600; i++) a = [a]; return a', 'is nested deeper than 500 levels'],
  ]
  it.each(loses)('may not return %s', async (_, source, words) => expect(await failure(source)).toEqual({ code: 'CODE_RESULT', message: expect.stringContaining(words) }))

  const ends: readonly [string, string, CodeError['code'], string, Wanted?][] = [
    ['does not parse', 'const a = 1\nconst b = ;', 'CODE_SYNTAX', 'line 2, column 11: SyntaxError'],
    ['has a header of a module', 'export const meta = {}', 'CODE_SYNTAX', 'line 1, column 1: SyntaxError'],
    ['throws', 'const a = null\n\n  a.b()', 'CODE_THROWN', '(program.js:3:'],
    ['throws on its first line', 'null.b', 'CODE_THROWN', '(program.js:1:'],
    ['throws what is no error', 'throw { toString() { throw 1 } }', 'CODE_THROWN', 'a value without text'],
    ['throws plain facts', 'throw { code: 7, at: { x: [1] } }', 'CODE_THROWN', '{"code":7,"at":{"x":[1]}}'],
    ['throws an error that lies', 'const e = new Error("x"); Object.defineProperty(e, "message", { get() { throw 1 } }); throw e', 'CODE_THROWN', 'Error: 1'],
    ['never stops', 'for (;;);', 'CODE_TIME', '300 ms'],
    ['never stops though it catches everything', 'for (;;) try { for (;;); } catch {} finally { continue }', 'CODE_TIME', '300 ms'],
    ['never stops in a promise', 'await (async () => { for (;;); })().catch(() => 1); return 2', 'CODE_TIME', '300 ms'],
    ['never stops in an accessor of its result', 'return { get a() { for (;;); } }', 'CODE_TIME', '300 ms'],
    ['never stops in an accessor of what it throws', 'const e = new Error("x"); Object.defineProperty(e, "message", { get() { for (;;); } }); throw e', 'CODE_TIME', '300 ms'],
    ['never stops in an accessor of an argument', 'await ask({ get a() { for (;;); } })', 'CODE_TIME', '300 ms'],
    ['never stops in a thenable', 'return { then() { for (;;); } }', 'CODE_TIME', '300 ms'],
    ['never stops in a regular expression', 'return /(a+)+$/.test("a".repeat(60) + "b")', 'CODE_TIME', '300 ms'],
    ['floods itself with promises', 'const next = () => { Promise.resolve().then(next) }; next(); await new Promise(() => {})', 'CODE_TIME', '300 ms'],
    ['never stops after an answer', 'await ask(1); for (;;);', 'CODE_TIME', '300 ms'],
    ['computes where nothing interrupts it', 'return "a".repeat(2e6).indexOf("a".repeat(1e6) + "b")', 'CODE_TIME', 'in a way that nothing could interrupt', { limits: { sliceMs: 300 } }],
    ['computes too long in all', 'for (;;) { for (const end = Date.now() + 50; Date.now() < end;); await ask(1) }', 'CODE_TIME', '400 ms in all, waiting for calls not counted', { limits: { computeMs: 400 } }],
    ['takes too much memory', 'const a = []; for (;;) a.push("x".repeat(1e5) + a.length)', 'CODE_MEMORY', '32 MB', { limits: { sliceMs: 20_000 } }],
    ['takes too much memory in a promise that nobody waits for', '(async () => { const a = []; for (;;) a.push("x".repeat(1e5) + a.length) })(); await wait()', 'CODE_MEMORY', '32 MB', { limits: { sliceMs: 20_000 } }],
    ['takes too much memory in a chain of promises that nobody waits for', 'const keep = [], chain = () => Promise.resolve().then(() => { keep.push("x".repeat(1e4) + keep.length); return chain() }); chain(); await wait()', 'CODE_MEMORY', '32 MB', { limits: { sliceMs: 20_000 } }],
    ['takes too much memory and swallows that', 'const a = []; try { for (;;) a.push("x".repeat(1e5) + a.length) } catch {} await wait()', 'CODE_MEMORY', '32 MB', { limits: { sliceMs: 20_000 } }],
    ['asks for a giant at once', 'return "x".repeat(2 ** 29)', 'CODE_MEMORY', '32 MB'],
    ['calls itself', 'const f = () => 1 + f(); return f()', 'CODE_STACK', 'too deeply'],
    ['is nested without end', `return ${'('.repeat(50_000)}`, 'CODE_STACK', 'too deeply'],
    ['returns too much', 'return "é".repeat(40000)', 'CODE_OUTPUT', '65536 bytes'],
    ['returns the same thing too often', 'let a = ["x"]; for (let i = 0; i < 30; i++) a = [a, a]; return a', 'CODE_RESULT', 'larger than', { limits: { sliceMs: 20_000 } }],
    ['prints too much', 'for (;;) console.log("x".repeat(1000))', 'CODE_OUTPUT', '65536 bytes'],
    ['calls too often', 'for (;;) await ask(1)', 'CODE_CALLS', '1000 calls'],
    ['calls too often at once', 'await Promise.all(Array.from({ length: 1001 }, () => ask(1)))', 'CODE_CALLS', '1000 calls'],
    ['waits for nothing', 'await new Promise(() => {})', 'CODE_THROWN', 'nothing will settle'],
    ['waits for a thenable that never calls back', 'return { then() {} }', 'CODE_THROWN', 'nothing will settle'],
    ['replaces what promises are', 'Promise.prototype.then = () => {}; Object.defineProperty(Promise.prototype, "constructor", { get() { throw new Error("mine") } }); return 1', 'CODE_THROWN', 'mine'],
    ['passes what is no JSON', 'await ask({ f() {} })', 'CODE_THROWN', 'arguments[0].f is a function'],
    ['passes too much', 'await ask("x".repeat(70000))', 'CODE_THROWN', 'is larger than this program may return or send'],
  ]
  it.each(ends)('that %s ends and says why', async (_, source, code, words, wanted) => expect(await failure(source, words === '300 ms' ? { limits: { sliceMs: 300 } } : wanted)).toEqual({ code, message: expect.stringContaining(words) }))

  it('leaves the thread of the host free while it computes', async () => {
    // It computes until the host, going round its own loop meanwhile, has had enough.
    const stop = new AbortController()
    let turns = 0
    const turn = () => {
      turns += 1
      if (turns === 1_000) stop.abort()
      else if (turns < 1_000) setImmediate(turn)
    }
    setImmediate(turn)
    expect(await failure('for (;;);', { signal: stop.signal, limits: { sliceMs: 60_000 } })).toMatchObject({ code: 'CODE_CANCELLED' })
    expect(turns).toBe(1_000)
  })

  it('is told of a failed call by name, code and message, and may go on', async () => {
    const call = () => Promise.reject(new CodeError('CODE_TIME', 'Too late.'))
    expect((await run('try { await ask(1) } catch (e) { return [e instanceof Error, e.name, e.code, e.message] }', { call })).value).toEqual([true, 'CodeError', 'CODE_TIME', 'Too late.'])
  })

  it('reaches the host with nothing it replaced', async () => {
    const spoilt = `
      const taken = () => { throw new Error('taken') }, { ownKeys } = Reflect, { defineProperty } = Object
      const made = [Object, Array, Map, Promise, JSON, Reflect, Function.prototype, String.prototype, Map.prototype, Array.prototype]
      for (let at = 0; at < made.length; at++) for (let keys = ownKeys(made[at]), k = 0; k < keys.length; k++) try { if (typeof made[at][keys[k]] === 'function') made[at][keys[k]] = taken } catch {}
      defineProperty(Array.prototype, '0', { set: taken, configurable: true })
      defineProperty(Object.prototype, 'toJSON', { value: taken, enumerable: false })
      return [await ask('a'), await ask({ b: ['c'] })]`
    expect((await run(spoilt)).value).toEqual(['a', { b: ['c'] }])
    expect({}).not.toHaveProperty('toJSON')
  })

  it('finds nothing of the program before it', async () => {
    await run('globalThis.left = 1; Object.prototype.left = 2; return 1')
    expect((await run('return [typeof left, {}.left === undefined]')).value).toEqual(['undefined', true])
  })

  it('lets the loop of the host come round between its calls, however fast it makes them', async () => {
    let inTurn = 0
    let most = 0
    let turn: NodeJS.Immediate
    const next = () => {
      inTurn = 0
      turn = setImmediate(next)
    }
    next()
    const call = async () => {
      most = Math.max(most, (inTurn += 1))
      // As much work as one call through the pipeline, in which the program says what it does next.
      JSON.stringify(Array.from({ length: 3_000 }, (_, n) => ({ n })))
      return null
    }
    await run('await Promise.all(Array.from({ length: 3_000 }, (_, i) => ask(i)))', { call, limits: { calls: 0, callsAtOnce: 2 } })
    clearImmediate(turn!)
    expect(most).toBeLessThanOrEqual(64)
  })

  it('makes a hundred thousand calls, a few at once', async () => {
    let open = 0
    let most = 0
    const call = async (_: string, [value]: readonly Json[]) => {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setImmediate(resolve))
      open--
      return value!
    }
    const source = 'let sum = 0; for (let i = 0; i < 100; i++) sum += (await Promise.all(Array.from({ length: 1000 }, (_, k) => ask(k)))).length; return sum'
    expect(await run(source, { call, limits: { calls: 100_000, sliceMs: 5_000 } })).toEqual({ value: 100_000, calls: 100_000 })
    expect(most).toBe(4)
  }, 30_000)

  it('makes as many calls as it likes where no cap is set, one after the other, and prints between them', async () => {
    const lines: string[] = []
    const source = 'for (let i = 0; i < 1500; i++) await ask(i); console.log("done"); return 1'
    expect(await run(source, { print: (_level, text) => void lines.push(text), limits: { calls: 0, sliceMs: 5_000 } })).toEqual({ value: 1, calls: 1_500 })
    expect(lines).toEqual(['done'])
  })

  it('that says more than the host has taken waits for it, and nothing of it is lost or out of order', async () => {
    let turns = 0
    let isOver = false
    const count = () => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const lengths: number[] = []
    const perTurn = new Map<number, number>()
    const print = (_: string, text: string) => {
      lengths.push(Number(text.slice(0, 4)))
      perTurn.set(turns, (perTurn.get(turns) ?? 0) + text.length)
    }
    await run('for (let n = 1000; n < 3000; n++) console.log(n + "x".repeat(2000)); return 1', { print, limits: { outputBytes: 10_000_000, sliceMs: 20_000 } })
    isOver = true
    expect(lengths).toEqual(Array.from({ length: 2_000 }, (_, at) => 1_000 + at))
    expect(Math.max(...perTurn.values())).toBeLessThan(600_000)
  })

  it('is answered in the order of its calls, however long some are', async () => {
    const order: Json[] = []
    const call = async (_: string, [value]: readonly Json[]) => {
      order.push(typeof value === 'string' ? value.length : value!)
      return null
    }
    await run('await Promise.all([ask(1), ask("x".repeat(200000)), ask(2), ask("y".repeat(300000)), ask(3)])', { call, limits: { outputBytes: 1_000_000, callsAtOnce: 10 } })
    expect(order).toEqual([1, 200_000, 2, 300_000, 3])
  })

  const prints: readonly [what: string, args: string, shown: string][] = [
    ['texts as they are, between others too', '"a b", "it is {} and [x]"', 'a b it is {} and [x]'],
    ['a long text whole', '"x".repeat(20000)', 'x'.repeat(20_000)],
    ['a long text in a value up to its cap', '["x".repeat(10005)]', `["${'x'.repeat(10_000)}"… 5 more characters]`],
    ['scalars', 'null, undefined, true, 1.5, -0, NaN, Infinity, 10n, Symbol("s")', 'null undefined true 1.5 -0 NaN Infinity 10n Symbol(s)'],
    ['plain data as JSON', '{ a: [1, "two", null], "b c": { d: false } }, [], {}', '{"a":[1,"two",null],"b c":{"d":false}} [] {}'],
    ['what JSON has no words for', '{ u: undefined, f() {}, g: () => 1, c: class A {}, n: NaN, s: Symbol(), b: 2n }', '{"u":undefined,"f":[Function f],"g":[Function g],"c":[Function A],"n":NaN,"s":Symbol(),"b":2n}'],
    ['four levels', '{ a: { b: { c: { d: { e: 1 } } } } }, [[[[[1]]]]]', '{"a":{"b":{"c":{"d":[Object]}}}} [[[[[Array]]]]]'],
    ['a hundred items', 'Array.from({ length: 103 }, () => 0)', `[${'0,'.repeat(100)}… 3 more]`],
    ['a hundred keys', 'Object.fromEntries(Array.from({ length: 101 }, (_, n) => ["k" + n, 0]))', `{${Array.from({ length: 100 }, (_, n) => `"k${n}":0,`).join('')}… 1 more}`],
    ['a list with holes', '[1, , 2]', '[1,empty,2]'],
    ['a cycle', '(() => { const a = { b: [] }; a.b.push(a); return a })()', '{"b":[[Circular]]}'],
    ['a value that stands twice', '(() => { const a = { x: 1 }; return [a, a] })()', '[{"x":1},{"x":1}]'],
    ['accessors, which are not read', '{ get a() { throw new Error("no") }, set b(x) {}, get c() { return 1 }, set c(x) {} }', '{"a":[Getter],"b":[Setter],"c":[Getter/Setter]}'],
    ['a map and a set', 'new Map([["a", { b: 1 }], [1, new Set([2, "c"])]]), new Set()', 'Map(2) {"a" => {"b":1},1 => Set(2) {2,"c"}} Set(0) {}'],
    ['errors', 'new TypeError("no"), [new RangeError("far")], new Error()', 'TypeError: no [RangeError: far] Error'],
    ['an object of a class', 'new (class Point { x = 1 })(), [new (class Far { constructor() { this.a = [] } })()]', 'Point {"x":1} [Far {"a":[]}]'],
    ['an object without a prototype', 'Object.assign(Object.create(null), { a: 1 })', '[null prototype] {"a":1}'],
    ['dates, expressions, bytes', 'new Date(0), new Date(NaN), /a+/g, new Uint8Array([1, 2]), new ArrayBuffer(2)', 'Date 1970-01-01T00:00:00.000Z Date Invalid /a+/g Uint8Array(2) [1,2] ArrayBuffer {}'],
    ['a proxy that lets nobody look', 'new Proxy({}, { ownKeys() { throw new Error("no") } }), new Proxy([], { getOwnPropertyDescriptor() { throw 1 }, get: () => 3 })', '[Throws] [Throws]'],
  ]
  it.each(prints)('prints %s', async (_, args, shown) => {
    const lines: string[] = []
    await run(`console.log(${args})`, { print: (_level, text) => lines.push(text) })
    expect(lines).toEqual([shown])
  })
  it('prints no more than ten thousand values in a line', async () => {
    const lines: string[] = []
    await run('let a = 0; for (let n = 0; n < 4; n++) a = Array(100).fill(a); console.log(a)', { print: (_level, text) => lines.push(text) })
    const list = `[${'0,'.repeat(99)}0],`
    expect(lines).toEqual([`[[[${list.repeat(98)}[${'0,'.repeat(98)}… 2 more],… 1 more],… 99 more],… 99 more]`])
  })
  it('prints the same though it has replaced what it is printed with', async () => {
    const lines: string[] = []
    await run('Map.prototype.forEach = Object.keys = JSON.stringify = Object.getOwnPropertyDescriptor = () => "lie"; Object.prototype.toString = Array.prototype.join = () => "lie"; console.log({ a: new Map([[1, 2]]) })', { print: (_level, text) => lines.push(text) })
    expect(lines).toEqual(['{"a":Map(1) {1 => 2}}'])
  })

  it('tells nothing returned from a null that is', async () => {
    expect(await Promise.all([run('const a = 1'), run('return'), run('return null'), run('return undefined')])).toEqual([{ value: null, isNothing: true, calls: 0 }, { value: null, isNothing: true, calls: 0 }, { value: null, calls: 0 }, { value: null, isNothing: true, calls: 0 }])
  })

  it('prints as it goes, what it prints as one would read it', async () => {
    const lines: unknown[] = []
    await run('console.log("a", 1, { b: [2] }, undefined); console.error(new TypeError("no")); await ask(1); console.warn("late")', { print: (level, text) => lines.push([level, text]) })
    expect(lines).toEqual([['log', 'a 1 {"b":[2]} undefined'], ['error', 'TypeError: no'], ['warn', 'late']])
  })
})

describe('a cancellation', () => {
  /** So much is handed on at once, also by a program that then computes and never rests. */
  const begun = 'console.log("x".repeat(200_000));'
  it.each([
    ['before it begins', 'return 1', 'never'],
    ['while it waits', 'await wait()', 'called'],
    ['while it computes', `${begun} for (;;);`, 'printed'],
    ['while nothing can interrupt it', `${begun} for (;;) new Array(3e7).fill(1)`, 'printed'],
  ])('ends a program %s', async (_, source, last) => {
    const heard: string[] = []
    const stop = new AbortController()
    const end = (what: string) => {
      heard.push(what)
      stop.abort(new Error('enough'))
    }
    if (last === 'never') end(last)
    const call = (_name: string, _args: readonly Json[], signal: AbortSignal) =>
      new Promise<Json>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        end('called')
      })
    expect(await failure(source, { signal: stop.signal, call, print: () => end('printed'), limits: { sliceMs: 60_000, memoryBytes: 1_073_741_824, outputBytes: 1_000_000 } })).toMatchObject({ code: 'CODE_CANCELLED' })
    expect(heard).toEqual([last])
  })

  it('waits until the calls under way have ended', async () => {
    let isOver = false
    const stop = new AbortController()
    const call = async (_: string, __: readonly Json[], signal: AbortSignal) => {
      const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      stop.abort()
      await stopped
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
      isOver = true
      return null
    }
    expect(await failure('await ask(1)', { call, signal: stop.signal })).toMatchObject({ code: 'CODE_CANCELLED' })
    expect(isOver).toBe(true)
  })

  it('of calls that nobody waits for comes with the end of the program, which says that there were some', async () => {
    expect(await run('wait(); return 1')).toEqual({ value: 1, hasLeftCalls: true, calls: 1 })
    expect(await run('ask(1).then(ask)')).toEqual({ value: null, isNothing: true, hasLeftCalls: true, calls: 1 })
    expect(await run('ask(1); return await ask(2)', { limits: { callsAtOnce: 1 } })).toEqual({ value: 2, calls: 2 })
  })

  it.each([
    ['ends', 'return 1'],
    ['throws', 'throw 1'],
    ['breaks a cap', 'console.log("y".repeat(1000000))'],
  ])('a call that waits for its turn when the program %s is not made any more', async (_, end) => {
    const seen: boolean[] = []
    const call = async (_name: string, [value]: readonly Json[], signal: AbortSignal) => {
      seen.push(signal.aborted)
      return value!
    }
    await failure(`for (let n = 0; n < 30; n++) ask("x".repeat(140000)); ${end}`, { call, limits: { outputBytes: 1_000_000, callsAtOnce: 100 } })
    expect(seen.filter((isOver) => isOver)).toEqual([])
  })
})

describe('the runtime', () => {
  it('says where a program does not parse without running it', async () => {
    expect(await runtime.check('return 1')).toBeUndefined()
    expect(await runtime.check('await ask(1)\nreturn }')).toContain('line 2')
  })

  it('runs programs beside each other, and one that computes holds up no other', async () => {
    const stop = new AbortController()
    let isOver = false
    const slow = failure('for (;;);', { signal: stop.signal, limits: { sliceMs: 60_000 } }).finally(() => void (isOver = true))
    expect((await run('return await ask(1)')).value).toBe(1)
    expect(isOver).toBe(false)
    stop.abort()
    expect(await slow).toMatchObject({ code: 'CODE_CANCELLED' })
  })

  it('hands its threads neither the environment of the host nor the flags it was started with', async () => {
    const told = 'data:text/javascript,throw new Error(JSON.stringify([process.env, process.execArgv]))'
    process.env['BOSUN_TEST_SECRET'] = 'secret'
    const own = createQuickJsRuntime({ entry: new URL(told), wasm: createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm') })
    await expect(own.check('1')).rejects.toMatchObject({ code: 'CODE_CRASHED', message: expect.stringContaining('([{},[]])') })
    delete process.env['BOSUN_TEST_SECRET']
    await own.dispose()
  })

  it('ends its programs when it is shut down, as cancelled, and what they called with them', async () => {
    const own = createQuickJsRuntime({ entry: new URL('../../extension/platform/node/quickjs/isolate-main.ts', import.meta.url), wasm: createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm') })
    const called = Promise.withResolvers<AbortSignal>()
    const running = own.run({
      source: 'await host("wait")',
      name: 'p.js',
      prelude: 'globalThis.host = host',
      limits,
      signal: new AbortController().signal,
      call: (_name, _args, signal) => new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        called.resolve(signal)
      }),
    })
    running.catch(() => undefined)
    const signal = await called.promise
    await own.dispose()
    await expect(running).rejects.toMatchObject({ code: 'CODE_CANCELLED', message: expect.stringContaining('shutting down') })
    expect(signal.aborted).toBe(true)
  })

  it.each(['run', 'check'] as const)('ends a thread that comes to no beginning: %s', async (what) => {
    const stuck = createQuickJsRuntime({ entry: new URL('data:text/javascript,for (;;);'), wasm: createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm'), graceMs: 100, beginMs: 100 })
    const asked = what === 'check' ? stuck.check('return 1') : stuck.run({ source: 'return 1', name: 'p.js', prelude, limits: { ...limits, sliceMs: 100 }, signal: new AbortController().signal, call: async () => null })
    await expect(asked).rejects.toMatchObject({ code: 'CODE_TIME' })
    await stuck.dispose()
  })

  it('says so where it is not installed, and refuses programs once it is shut down', async () => {
    const broken = createQuickJsRuntime({ entry: new URL('file:///nowhere.js'), wasm: '/nowhere.wasm' })
    await expect(broken.check('1')).rejects.toMatchObject({ code: 'CODE_UNAVAILABLE' })
    const missing = createQuickJsRuntime({ entry: new URL('file:///nowhere.js'), wasm: createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm') })
    await expect(missing.check('1')).rejects.toMatchObject({ code: 'CODE_CRASHED' })
    await missing.dispose()
    await expect(missing.check('1')).rejects.toMatchObject({ code: 'CODE_UNAVAILABLE' })
  })
})

describe('a program in TypeScript', () => {
  const typescript = { language: 'typescript' } as const
  const gives: readonly [string, string, Json][] = [
    ['annotations, assertions and generics', 'interface P { a: string }\ntype Q = P | null;\nconst f = <T,>(x: T): T => x\nreturn f<Q>({ a: (await ask("x")) as string })!.a satisfies string', 'x'],
    ['a class with types', 'abstract class A { declare y: string; z?: number; constructor(private readonly x: number) {} get() { return this.x } }\nreturn new (class extends A {})(2).get()', 2],
    ['what is declared and not there', 'declare enum B { x }\ndeclare namespace N { const a: string }\nreturn 1', 1],
    ['plain JavaScript that no type checker would take', 'const namespace = 1, o = { enum: 2, module: 3 }; return namespace + o.enum + o.module', 6],
    ['strictly', 'try { undeclared = 1; return "loose" } catch (error) { return [error.name, (function () { return this })() === undefined] }', ['ReferenceError', true]],
  ]
  it.each(gives)('may have %s', async (_, source, value) => expect((await run(source, typescript)).value).toEqual(value))

  const refuses: readonly [string, string, string][] = [
    ['an enum', 'const a: number = 1\nenum A { x }', "line 2, column 1: TypeScript's enum is more than a type"],
    ['a constant enum', 'const enum A { x }', "line 1, column 7: TypeScript's enum"],
    ['a namespace', 'namespace N.M { export const a = 1 }', "line 1, column 1: TypeScript's namespace"],
    ['what does not parse', 'const a: string = 1\nconst b: number = ;', 'line 2, column 19: SyntaxError'],
    ['what does not parse on its first line', 'const b: number = ;', 'line 1, column 19: SyntaxError'],
  ]
  it.each(refuses)('may not have %s', async (_, source, message) => expect(await failure(source, typescript)).toEqual({ code: 'CODE_SYNTAX', message: expect.stringContaining(message) }))

  it('tells where it throws, on its first line too', async () => {
    expect(await failure('const a: any = null\n\n  a.b()', typescript)).toEqual({ code: 'CODE_THROWN', message: expect.stringContaining('(program.js:3:') })
    expect(await failure('null.b', typescript)).toEqual(await failure('null.b'))
  })
})
