import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { CodeError } from '../../../extension/capabilities/code-runtime.ts'
import type { Capabilities } from '../../../extension/compose.ts'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import type { ToolContent } from '../../../extension/core/log/message.ts'
import { markdownOf } from '../../../extension/core/session/archive/markdown.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { BodyExecution, ToolDefinition } from '../../../extension/core/tools/definition.ts'
import type {} from '../../../extension/core/tools/code-dispatch.ts'
import type {} from '../../../extension/features/code-mode/service.ts'
import { notAwaited } from '../../../extension/features/code-mode/words.ts'
import { fakeTool, gate, prompt, textOf } from '../../support/loop-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { replayLog } from '../../../extension/headless-replay.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 7: presentation modes and Code Mode, in the whole application with the real machine for programs. */

let home: string
let application: WholeApplication | undefined
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'bosun-code-')))
  await mkdir(join(home, 'work'))
})
afterEach(() => application?.dispose())
afterAll(() => rm(home, { recursive: true, force: true }))

interface Wanted {
  readonly preset?: string
  readonly settings?: Readonly<Record<string, unknown>>
  readonly tools?: readonly ToolDefinition[]
  readonly answer?: (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>
  readonly alter?: (world: Capabilities) => Capabilities
  readonly answers?: readonly ScriptedAnswer[]
}
async function start({ preset = 'code', settings = {}, tools = [], answer = () => ({ outcome: 'allowed-once' }), alter, answers = [] }: Wanted = {}) {
  const adapter = createScriptedAdapter(answers)
  application = await wholeApplication({ home, adapters: [adapter], settings: { 'model.provider': 'scripted', 'model.name': 'm1', ...settings }, ...(alter && { alter }) })
  const { ctx, folder } = application
  await ctx.plugin({ name: 'ready', inject: ['codeMode', 'agents', 'presets', 'tools'], apply: () => {} }).ready
  const asked: ApprovalRequest[] = []
  ctx.approvals.attach()
  ctx.on('approval/request', async (request) => {
    asked.push(request)
    return answer(request)
  })
  const agent = await ctx.agents.create({ cwd: folder, preset })
  // The preset lists what comes with Bosun; what a test brings is the agent's own.
  for (const tool of tools) ctx.scoped(agent.scope).tools.register(tool)
  const turn = async (...more: readonly ScriptedAnswer[]) => {
    adapter.play(...more)
    agent.followup(prompt('go'))
    await agent.whenIdle()
  }
  const program = async (code: string) => {
    await turn(callTools({ id: null, name: 'run_code', args: { code, description: 'Does what the test wants' } }), sayText('done'))
    const result = agent.session.events().findLast((event) => event.type === 'tool/result') as SessionEvent<'tool/result'>
    return { text: textOf(result.data.message), code: result.data.error?.code, isError: result.data.message.content[0].isError }
  }
  return { ...application, adapter, agent, asked, turn, program }
}

const dispatches = (agent: Agent) =>
  agent.session.events().flatMap((event) => {
    if (event.type === 'tool/code-dispatch-start') return [`start ${event.data.subCallId.replace(/^.*:code:/, '')} ${event.data.name}`]
    if (event.type === 'tool/code-dispatch') return [`end ${event.data.subCallId.replace(/^.*:code:/, '')} ${event.data.isError ? (event.data.error?.code ?? 'failed') : 'ok'}`]
    return []
  })

describe('presentation', () => {
  it('native shows the schemas of all tools and neither run_code nor a word of programs', async () => {
    const { adapter, turn } = await start({ preset: 'standard' })
    await turn(sayText('hi'))
    const { tools, system = '' } = adapter.requests[0]!
    expect([tools.length > 20, tools.some(({ name }) => name === 'run_code'), system.includes('ToolArgsMap')]).toEqual([true, false, false])
  })
  it('code shows run_code alone, with the rule and the declarations of all others in the prompt', async () => {
    const { adapter, turn } = await start()
    await turn(sayText('hi'))
    const { tools, system = '' } = adapter.requests[0]!
    expect(tools.map(({ name }) => name)).toEqual(['run_code'])
    expect([system.includes('# Programs\n'), system.includes('interface ToolArgsMap {'), system.includes('declare const tools: {')]).toEqual([true, true, true])
    expect(system.indexOf('# Programs\n')).toBeLessThan(system.indexOf('interface ToolArgsMap'))
    expect(system).not.toContain('Call<"run_code">')
  })
  it('both shows all schemas, run_code and the declarations, without the rule', async () => {
    const { adapter, turn } = await start({ preset: 'standard', settings: { 'tools.presentation': 'both' } })
    await turn(sayText('hi'))
    const { tools, system = '' } = adapter.requests[0]!
    expect([tools.some(({ name }) => name === 'read'), tools.some(({ name }) => name === 'run_code'), system.includes('# Programs\n'), system.includes('interface ToolArgsMap')]).toEqual([true, true, false, true])
  })
  it('the setting wins over the preset, but where the words of a preset are the whole prompt', async () => {
    const { ctx } = await start({ preset: 'standard', settings: { 'tools.presentation': 'code' } })
    const modes = ['standard', 'minimal', 'code'].map((id) => ctx.tools.presentation(ctx.presets.scopeOf(id)))
    expect(modes).toEqual(['code', 'native', 'code'])
  })
  it('no words of a tool end the block that the declarations stand in', async () => {
    const { adapter, turn } = await start({ tools: [echo('look', { description: 'Takes\n````json\n{}\n````\nand looks.' })] })
    await turn(sayText('hi'))
    const [, fence, block] = /# What programs can call\n(`+)ts\n([\s\S]*?)\n\1(?:\n|$)/.exec(adapter.requests[0]!.system ?? '') ?? []
    expect([fence, block?.includes('and looks.'), block?.endsWith('\n}')]).toEqual(['`````', true, true])
  })
  it('a session keeps how it began; one that begins later has what the setting says then', async () => {
    const { ctx, settings, agent, folder } = await start({ preset: 'standard' })
    await settings.set('tools.presentation', 'code', 'user')
    const later = await ctx.agents.create({ cwd: folder, preset: 'standard' })
    expect([agent, later].map(({ scope }) => ctx.tools.presentation(scope))).toEqual(['native', 'code'])
  })
  it('a direct call of anything else is unknown under code, and says the way', async () => {
    const { agent, turn } = await start()
    await turn(callTools({ id: 'c1', name: 'read', args: { file_path: 'a' } }), sayText('done'))
    const result = agent.session.events().find((event) => event.type === 'tool/result') as SessionEvent<'tool/result'>
    expect([result.data.error?.code, textOf(result.data.message)]).toEqual(['UNKNOWN_TOOL', expect.stringContaining('run_code')])
  })
  it('an order of tools that names a native one ends the turn with the way out', async () => {
    const { agent, turn } = await start({ settings: { 'tools.order': ['read', '<unlisted-tools>'] } })
    await turn(sayText('hi'))
    const end = agent.session.events().findLast((event) => event.type === 'turn/end') as SessionEvent<'turn/end'>
    expect(end.data.reason).toMatchObject({ kind: 'error', failure: { message: expect.stringContaining('bosun.tools.order names read') } })
  })
  it('the declarations are the same bytes for the same tools, in every session and after a restart', async () => {
    const { ctx } = await start()
    const text = ctx.codeMode.declarations(ctx.presets.scopeOf('code'))
    const again = await application!.restart()
    await again.ctx.plugin({ name: 'ready', inject: ['codeMode', 'presets', 'tools'], apply: () => {} }).ready
    expect(again.ctx.codeMode.declarations(again.ctx.presets.scopeOf('code'))).toBe(text)
  })
  it('the declarations follow the tools that come, change and go', async () => {
    const { ctx, agent } = await start()
    const { tools } = ctx.scoped(agent.scope)
    const lines = () => ctx.codeMode.declarations(agent.scope).split('\n').filter((line) => line.endsWith('look: {}'))
    const before = ctx.codeMode.declarations(agent.scope)
    expect(lines()).toEqual([])
    const undo = tools.register(echo('look', { description: 'One.' }))
    expect(lines()).toEqual(['/** One. */ look: {}'])
    undo()
    const second = tools.register(echo('look', { description: 'Two.' }))
    expect(lines()).toEqual(['/** Two. */ look: {}'])
    second()
    expect(ctx.codeMode.declarations(agent.scope)).toBe(before)
  })
})

const anything = { schema: {}, render: (_args: Json, value: Json): readonly ToolContent[] => [{ type: 'text', text: JSON.stringify(value) }] }
const echo = (name: string, more: Partial<ToolDefinition> = {}) => fakeTool(name, (args) => args, { isConcurrencySafe: () => true, output: anything, ...more })

describe('a program', () => {
  it('prints and returns: lines first, then texts raw and other JSON with two spaces, five levels deep', async () => {
    const { program } = await start()
    const { text } = await program('console.log("a", { b: 1 }); console.error("c"); return { d: [{ e: { f: { g: { h: 1 } } } }] }')
    expect(text).toBe('a {"b":1}\nc\n{\n  "d": [\n    {\n      "e": {\n        "f": {\n          "g": {"h":1}\n        }\n      }\n    }\n  ]\n}')
    expect((await program('return "plain"')).text).toBe('plain')
    expect((await program('const a: number = 1')).text).toBe('The program ended without output.')
    expect((await program('return null')).text).toBe('null')
    expect((await program('return ""')).text).toBe('The program ended without output.')
  })
  it('is refused with a blank description', async () => {
    const { agent, turn } = await start()
    await turn(callTools({ id: 'c1', name: 'run_code', args: { code: 'return 1', description: ' ' } }), sayText('done'))
    const result = agent.session.events().find((event) => event.type === 'tool/result') as SessionEvent<'tool/result'>
    expect(result.data.error?.code).toBe('INVALID_ARGS')
  })
  it('finds every visible tool and never itself', async () => {
    const { program, ctx, agent } = await start()
    const { text } = await program('return Object.keys(tools)')
    expect(JSON.parse(text)).toEqual(ctx.tools.list(agent.scope).map(({ name }) => name).toSorted())
    expect(text).not.toContain('run_code')
  })
  it('gets canonical values, whole, and acts on the world', async () => {
    const { program, folder } = await start()
    await writeFile(join(folder, 'a.txt'), 'one\n')
    const { text } = await program('const a = await tools.read({ file_path: "a.txt" }); await tools.edit({ file_path: "a.txt", old_string: "one", new_string: "two" }); return typeof a')
    expect([text, await readFile(join(folder, 'a.txt'), 'utf8')]).toEqual(['object', 'two\n'])
  })
  it('gets a ToolCallError with three fields and nothing else', async () => {
    const { program } = await start({ tools: [fakeTool('fails', () => { throw new Error('no luck') })] })
    const { text } = await program(`
      try { await tools.fails() } catch (error) {
        const { name, toolName, message } = error
        return [error instanceof ToolCallError, error instanceof Error, Object.getOwnPropertyNames(error).sort(), name, toolName, message, "code" in error, error.stack === undefined]
      }`)
    expect(JSON.parse(text)).toEqual([true, true, ['message', 'name', 'toolName'], 'ToolCallError', 'fails', 'no luck', false, true])
  })
  it('loses only the call whose arguments are no JSON', async () => {
    const { program, agent } = await start({ tools: [echo('echo')] })
    const { text } = await program('const bad = await tools.echo({ a: [undefined] }).catch((error) => error.message); return [bad, await tools.echo({ a: 1 })]')
    expect(JSON.parse(text)).toEqual([expect.stringContaining('arguments.a[0] is undefined'), { a: 1 }])
    expect(dispatches(agent)).toEqual(['start 1 echo', 'end 1 ok'])
  })
  it('fails with its kind, what was printed and the number of calls whose effects stay', async () => {
    const { program } = await start({ tools: [echo('echo')] })
    const failed = await program('console.log("before"); await tools.echo({}); throw new TypeError("odd")')
    expect(failed).toEqual({ isError: true, code: 'CODE_RUN_FAILED', text: expect.stringMatching(/^Error: The program failed \(exception\): TypeError: odd.*It had made 1 call, whose effects stay\.\nPrinted before:\nbefore$/s) })
  })
  it.each([
    ['calls that it does not wait for', 'tools.echo({}); return 1', `${notAwaited}\n1`],
    ['a function that it does not wait for', 'async function main() { await tools.echo({}); await tools.echo({}) }\nmain()', notAwaited],
    ['the first of two calls', 'return await Promise.race([tools.echo(1), new Promise(() => tools.slow())])', `${notAwaited}\n1`],
    ['nothing that it called', 'console.log("a"); tools.echo({}); await tools.echo({})', 'a'],
  ])('that ends before %s is told so', async (_what, code, text) => {
    const slow = fakeTool('slow', (_args, exec) => new Promise((resolve) => exec.signal.addEventListener('abort', () => resolve(null))), { isConcurrencySafe: () => true, output: anything })
    const { program } = await start({ tools: [echo('echo'), slow] })
    expect((await program(code)).text).toBe(text)
  })
  it('that does not catch the failure of a call says which tool it was', async () => {
    const { program } = await start({ tools: [echo('echo'), fakeTool('fails', () => { throw new Error('no luck') })] })
    expect((await program('await tools.echo({}); await tools.fails()')).text).toContain('(exception): ToolCallError of fails: no luck. It had made 2 calls')
  })
  const misnamed: readonly [string, string, string][] = [
    ['another way of writing it', 'await tools.readFile({})', 'there is no tool named "readFile". Near to it: '],
    ['a letter too many', 'await tools.reead({})', 'there is no tool named "reead". Near to it: read'],
    ['taken out of the object', 'const { reed } = tools; await reed()', 'there is no tool named "reed". Near to it: read'],
    ['nothing like any', 'tools.xxxxxxxxxxxxxxxxx()', 'there is no tool named "xxxxxxxxxxxxxxxxx". The names of all are Object.keys(tools)'],
  ]
  it.each(misnamed)('that calls a tool which is not there is told so, with the nearest names: %s', async (_, code, words) => {
    const { program } = await start()
    expect((await program(code)).text).toContain(`(exception): TypeError: not a function: ${words}`)
  })
  it('may ask whether there is a tool, which is no more than any object says', async () => {
    const { program } = await start()
    const { text } = await program('return ["nope" in tools, "read" in tools, typeof tools.nope, typeof tools.then, await tools === tools, Object.isFrozen(tools), Object.getPrototypeOf(tools), Object.hasOwn(tools, "nope"), tools[Symbol.iterator] === undefined, "toString" in tools]')
    expect(JSON.parse(text)).toEqual([false, true, 'undefined', 'undefined', true, true, null, false, true, false])
  })
  it('is not told of a tool that it only asked for, where something else is no function', async () => {
    const { program } = await start({ tools: [echo('echo')] })
    expect((await program('if (tools.nope === undefined) await tools.echo({}); null.x')).text).not.toContain('nope')
  })
  it('returns and prints the failures of its calls as what they are: name, tool and message', async () => {
    const { program } = await start({ tools: [fakeTool('fails', () => { throw new Error('no luck') })] })
    const { text } = await program('const [{ reason }] = await Promise.allSettled([tools.fails()]); console.log(reason, { reason }); return { all: [reason] }')
    const [line, ...rest] = text.split('\n')
    expect([line, JSON.parse(rest.join('\n'))]).toEqual(['ToolCallError of fails: no luck {"reason":ToolCallError of fails: no luck}', { all: [{ name: 'ToolCallError', toolName: 'fails', message: 'no luck' }] }])
  })
  it('may send no half of a character to a call, and what it prints and returns has whole ones before the model', async () => {
    const { program, agent } = await start({ tools: [echo('echo')] })
    const { text } = await program('let said; try { await tools.echo({ a: ["\\u{1f600}".slice(0, 1)] }) } catch (error) { said = error.message } console.log(said); console.log("a" + "\\u{1f600}"[0]); return "b" + "\\u{1f600}"[1]')
    expect(text).toMatch(/^Invalid arguments for echo: arguments\.a\[0\] holds half a character.*\na\ufffd+\nb\ufffd$/)
    expect(agent.session.events().every((event) => JSON.stringify(event.data).match(/\\ud[89a-f]/) === null)).toBe(true)
  })
  it('that fails counts as made the calls that began, not those that waited for their turn', async () => {
    const slow = fakeTool('slow', (_args, exec) => new Promise((resolve) => exec.signal.addEventListener('abort', () => resolve(null))), { output: anything })
    const { program, agent } = await start({ tools: [fakeTool('fails', () => { throw new Error('no luck') }), slow, echo('look')] })
    const { text } = await program('await Promise.all([tools.fails(), tools.slow(), tools.look(), tools.look()])')
    expect([text, dispatches(agent)]).toEqual([expect.stringContaining('It had made 2 calls, whose effects stay.'), ['start 1 fails', 'end 1 failed', 'start 2 slow', expect.stringMatching(/^end 2 ABORTED/)]])
  })
  const capped: readonly [string, string, string, Readonly<Record<string, unknown>>][] = [
    ['syntax', 'return (', 'syntax', {}],
    ['an enum', 'enum A { x }', 'syntax', {}],
    ['time of computing', 'for (;;);', 'timeout', { 'code.computeMs': 200 }],
    ['time in all', 'for (;;) await tools.echo({})', 'timeout', { 'code.maxWallMs': 300, 'code.maxCalls': 1_000_000 }],
    ['memory', 'const a = []; for (;;) a.push("x".repeat(1e5) + a.length)', 'memory-limit', { 'code.maxMemory': 32 }],
    ['stack', 'const f = () => f() + 1; return f()', 'stack-limit', {}],
    ['output', 'console.log("x".repeat(2000))', 'output-limit', { 'code.maxOutputBytes': 1000 }],
    ['calls', 'for (let i = 0; i < 100; i++) await tools.echo({})', 'call-limit', { 'code.maxCalls': 20 }],
    ['results that are no JSON', 'return new Map()', 'invalid-output', {}],
  ]
  it.each(capped)('that breaks the cap of %s is refused by its kind', async (_, code, kind, settings) => {
    const { program } = await start({ settings, tools: [echo('echo')] })
    expect(await program(code)).toEqual({ isError: true, code: 'CODE_RUN_FAILED', text: expect.stringContaining(`The program failed (${kind}): `) })
  }, 20_000)
  it('prints large outputs into a file, with its ends before the model; a value it works with is never cut', async () => {
    const { program, agent } = await start({ tools: [echo('big', { execute: () => 'y'.repeat(200_000) })] })
    const { text } = await program('const big = await tools.big(); console.log(big.length); return big')
    expect([text.startsWith('200000\nyyy'), text.includes('run_code-result.txt'), Buffer.byteLength(text) <= 50_000]).toEqual([true, true, true])
    const kept = agent.session.events().find((event) => event.type === 'tool/code-dispatch') as SessionEvent<'tool/code-dispatch'>
    const [block] = kept.data.content
    expect(block?.type === 'text' && [Buffer.byteLength(block.text) <= 50_000, block.text.includes('big-result.txt')]).toEqual([true, true])
  })
  it('runs under the caps that the person set', async () => {
    let limits: unknown
    const { program } = await start({
      settings: { 'code.computeMs': 1_000, 'code.maxWallMs': 2_000, 'code.maxMemory': 32, 'code.maxOutputBytes': 4_000, 'code.maxCalls': 20, 'agent.maxParallelSubCalls': 3 },
      alter: (world) => ({ ...world, codeRuntime: { ...world.codeRuntime, run: async (of) => ((limits = of.limits), { value: null, calls: 0 }) } }),
    })
    await program('return 1')
    expect(limits).toEqual({ sliceMs: 1_000, computeMs: 1_000, memoryBytes: 33_554_432, stackBytes: 524_288, outputBytes: 4_000, calls: 20, callsAtOnce: 3 })
  })
  it('shows the person each line as it is printed', async () => {
    const { program, ctx, agent } = await start()
    const shown: unknown[] = []
    ctx.on('agent/progress', (told) => void shown.push([told.agent === agent, told.progress]))
    await program('console.log("one"); console.error("two")')
    expect(shown).toEqual([[true, 'one\n'], [true, 'two\n']])
  })
  it('runs nowhere in a folder that is not trusted', async () => {
    const { program } = await start({ alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => false } }) })
    expect(await program('return 1')).toEqual({ isError: true, code: 'WORKSPACE_UNTRUSTED', text: expect.stringContaining('not trusted') })
  })
  it('without a machine for programs is a failed call, no crash', async () => {
    const { program } = await start({ alter: (world) => ({ ...world, codeRuntime: { ...world.codeRuntime, run: () => Promise.reject(new CodeError('CODE_UNAVAILABLE', 'Programs cannot run here.')) } }) })
    expect(await program('return 1')).toEqual({ isError: true, code: 'CODE_RUN_FAILED', text: expect.stringContaining('(unavailable): Programs cannot run here.') })
  })
})

describe('the time that a program may take', () => {
  /** Time that a test moves on, for what waits for minutes; all else goes by itself. */
  const slowly = () => {
    const clock = createManualClock()
    const alter = (world: Capabilities): Capabilities => ({
      ...world,
      clock: {
        ...world.clock,
        monotonicMs: () => world.clock.monotonicMs() + clock.monotonicMs(),
        schedule: (delayMs, fire) => (delayMs > 60_000 ? clock.schedule(delayMs, fire) : world.clock.schedule(delayMs, fire)),
      },
    })
    return { alter, advance: (minutes: number) => clock.advance(minutes * 60_000) }
  }
  const timeout = { isError: true, code: 'CODE_RUN_FAILED', text: expect.stringContaining('(timeout): The program ran longer than 600000 ms in all, waiting for the person not counted.') }
  /** A program that calls `work`, which ends when it is let, and `change`, which the person has to allow: what becomes of it. */
  const rig = async () => {
    const { alter, advance } = slowly()
    const work = gate()
    const leave = gate()
    const ends = fakeTool('work', async (_args, exec) => {
      await Promise.race([work.opened, new Promise((resolve) => exec.signal.addEventListener('abort', resolve))])
      return 'worked'
    }, { isConcurrencySafe: () => true })
    const started = await start({
      alter,
      tools: [ends, echo('change')],
      answer: async ({ toolName, signal }) => {
        if (toolName === 'change') await Promise.race([leave.opened, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        return { outcome: 'allowed-once' }
      },
    })
    const isAsked = (tool: string) => expect.poll(() => started.asked.some(({ toolName }) => toolName === tool)).toBe(true)
    const isBegun = () => expect.poll(() => dispatches(started.agent).some((line) => line.endsWith(' work')) && started.asked.length > 0).toBe(true)
    return { ...started, advance, work, leave, isAsked, isBegun }
  }

  it('stands still while its call waits for leave, however long the person thinks', async () => {
    const { program, advance, leave, isAsked } = await rig()
    const ended = program('return (await tools.change({ n: 1 })).n')
    await isAsked('change')
    advance(11)
    leave.open()
    expect(await ended).toMatchObject({ isError: false, text: '1' })
  })
  it('stands still while a question of its call is open', async () => {
    const { program, advance, ctx } = await rig()
    ctx.questions.attach()
    const ended = program('const { answers } = await tools.ask_user_question({ questions: [{ id: "q", question: "Which?" }] }); return answers[0].custom')
    await expect.poll(() => ctx.questions.pending().length).toBe(1)
    advance(11)
    ctx.questions.answer(ctx.questions.pending()[0]!.id, [{ id: 'q', selected: [], custom: 'this' }])
    expect(await ended).toMatchObject({ isError: false, text: 'this' })
  })
  it('goes on while a call works beside one that waits for leave', async () => {
    const { program, advance, isAsked } = await rig()
    const ended = program('return await Promise.all([tools.work(), tools.change()])')
    await isAsked('change')
    advance(11)
    expect(await ended).toEqual(timeout)
  })
  it('stands still once the call beside one that waits for leave has done its work', async () => {
    const { program, advance, work, leave, agent, isAsked } = await rig()
    const ended = program('return await Promise.all([tools.work(), tools.change({ n: 1 })])')
    await isAsked('change')
    advance(9)
    work.open()
    await expect.poll(() => dispatches(agent)).toContain('end 1 ok')
    advance(11)
    leave.open()
    expect(await ended).toMatchObject({ isError: false })
  })
  it('goes on where it stood when the person has answered', async () => {
    const { program, advance, leave, isAsked } = await rig()
    const ended = program('await tools.change(); return await tools.work()')
    await isAsked('change')
    advance(11)
    leave.open()
    await isAsked('work')
    advance(9)
    advance(2)
    expect(await ended).toEqual(timeout)
  })
  it('ends it where nobody was asked', async () => {
    const { program, advance, isBegun } = await rig()
    const ended = program('return await tools.work()')
    await isBegun()
    advance(11)
    expect(await ended).toEqual(timeout)
  })
})

describe('the calls of a program', () => {
  it('overlap where they are safe, up to the cap, and come to the log in the order in which they were made', async () => {
    let [running, most] = [0, 0]
    const full = gate()
    const look = echo('look', {
      async execute(args) {
        most = Math.max(most, ++running)
        if (running === 3) full.open()
        await full.opened
        // The first ends last.
        for (let turns = (args as { n: number }).n % 3; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        return args
      },
    })
    const { program, agent } = await start({ tools: [look], settings: { 'agent.maxParallelSubCalls': 3 } })
    const { text } = await program('return (await Promise.all([1,2,3,4,5,6,7].map((n) => tools.look({ n })))).map(({ n }) => n)')
    expect(JSON.parse(text)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(most).toBe(3)
    expect(dispatches(agent).filter((line) => line.startsWith('end'))).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `end ${n} ok`))
  })
  it('run alone where they are not, with what follows waiting for all of it', async () => {
    const trace: string[] = []
    const last = gate()
    const noting = (name: string, isSafe: boolean) => fakeTool(name, async (args, exec: BodyExecution) => {
      const n = exec.callId.replace(/^.*:code:/, '')
      trace.push(`begin ${n}`)
      if (n === '4') last.open()
      // What would overlap has the time to; the third ends only when the fourth has begun.
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
      if (n === '3') await last.opened
      trace.push(`end ${n}`)
      return null
    }, { isConcurrencySafe: () => isSafe, output: anything })
    const { program } = await start({ tools: [noting('look', true), noting('act', false)] })
    await program('await Promise.all([tools.look(), tools.act(), tools.look(), tools.look()])')
    expect(trace.slice(0, 6)).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'begin 4'])
  })
  it('are judged one by one: one slow approval holds the next start back, bodies go on', async () => {
    const door = gate()
    const { program, agent, asked } = await start({
      settings: { 'permissions.rules': [{ tool: 'look', decision: 'ask' }, { tool: 'free', decision: 'allow' }] },
      tools: [echo('free'), echo('look')],
      answer: async () => {
        await door.opened
        return { outcome: 'allowed-once' }
      },
    })
    const ended = program('return await Promise.all([tools.free(), tools.look(), tools.free()])')
    await expect.poll(() => asked.length).toBe(1)
    expect(dispatches(agent).filter((line) => line.startsWith('start'))).toEqual(['start 1 free', 'start 2 look'])
    door.open()
    await ended
    expect(dispatches(agent).filter((line) => line.startsWith('start'))).toEqual(['start 1 free', 'start 2 look', 'start 3 free'])
    expect(asked[0]).toMatchObject({ toolName: 'look', callId: expect.stringMatching(/:code:2$/) })
  })
  it('that are denied are thrown in the program and told by the log', async () => {
    const { program, agent } = await start({ settings: { 'permissions.rules': [{ tool: 'look', decision: 'deny' }] }, tools: [echo('look')] })
    expect((await program('try { await tools.look() } catch (error) { return error.name }')).text).toBe('ToolCallError')
    expect(dispatches(agent)).toEqual(['start 1 look', 'end 1 DENIED'])
  })
  it('that wait when the program ends never begin and leave no word; one that runs is stopped, waited for and told, and the model hears that it did not wait', async () => {
    const trace: string[] = []
    const begun = gate()
    const slow = fakeTool('slow', (_args, exec) => {
      begun.open()
      return new Promise((resolve) => exec.signal.addEventListener('abort', () => setImmediate(() => (trace.push('stopped'), resolve(null)))))
    }, { output: anything })
    const { program, agent } = await start({
      tools: [slow, echo('look'), echo('pause')],
      // No call of the pipeline: it ends when the slow one has begun.
      alter: (world) => ({ ...world, codeRuntime: { ...world.codeRuntime, run: (of) => world.codeRuntime.run({ ...of, call: (name, args, over) => (name === 'pause' ? begun.opened.then(() => null) : of.call(name, args, over)) }) } }),
    })
    const { text } = await program('tools.slow(); tools.look(); tools.look(); await tools.pause(); return "over"')
    expect([text, trace]).toEqual([`${notAwaited}\nover`, ['stopped']])
    expect(dispatches(agent)).toEqual(['start 1 slow', 'end 1 ABORTED'])
    expect(agent.session.events().at(-1)?.type).toBe('turn/end')
  })
  it('are stopped by a cancel, those that wait with them', async () => {
    const slow = fakeTool('slow', (_args, exec) => new Promise((_, reject) => exec.signal.addEventListener('abort', () => reject(exec.signal.reason as Error))))
    const { turn, agent } = await start({ tools: [slow, echo('look')] })
    const turned = turn(callTools({ id: 'c1', name: 'run_code', args: { code: 'await Promise.all([tools.slow(), tools.look()])', description: 'Waits' } }))
    await expect.poll(() => dispatches(agent)).toEqual(['start 1 slow'])
    agent.cancel({ kind: 'user' })
    await turned
    expect(dispatches(agent)).toEqual(['start 1 slow', expect.stringMatching(/^end 1 /)])
    const result = agent.session.events().findLast((event) => event.type === 'tool/result') as SessionEvent<'tool/result'>
    expect([result.data.message.content[0].isError, result.data.error?.code, textOf(result.data.message)]).toEqual([true, 'ABORTED', 'Error: The program was stopped. It had made 1 call, whose effects stay.'])
  })
  it('that are being settled when their program is stopped have their end in the log, inside of the turn; the program is told as stopped', async () => {
    const settling = gate()
    const { turn, agent, ctx } = await start({ tools: [echo('look')] })
    ctx.on('tools/post-execute', async (exec, _result, next) => {
      if (exec.name === 'look') {
        settling.open()
        await new Promise((resolve) => exec.signal.addEventListener('abort', () => setImmediate(resolve), { once: true }))
      }
      return await next()
    })
    const turned = turn(callTools({ id: 'c1', name: 'run_code', args: { code: 'await tools.look({})', description: 'Looks and waits' } }))
    await settling.opened
    agent.cancel({ kind: 'user' })
    await turned
    const result = agent.session.events().findLast((event) => event.type === 'tool/result') as SessionEvent<'tool/result'>
    expect([dispatches(agent), result.data.error?.code, textOf(result.data.message)]).toEqual([['start 1 look', 'end 1 ABORTED'], 'ABORTED', 'Error: The program was stopped. It had made 1 call, whose effects stay.'])
    const types = agent.session.events().map(({ type }) => type)
    expect([types.lastIndexOf('tool/code-dispatch') < types.lastIndexOf('tool/result'), types.at(-1)]).toEqual([true, 'turn/end'])
  })
  it('that are cancelled in the middle of a hundred leave none at work, and each that began has its one end', async () => {
    let [running, finished] = [0, 0]
    const reached = gate()
    const look = fakeTool('look', async (args, exec: BodyExecution) => {
      const { n } = args as { n: number }
      running += 1
      try {
        if (n < 40) return (finished += 1)
        if (running === 10) reached.open()
        return await new Promise((_, reject) => exec.signal.addEventListener('abort', () => reject(exec.signal.reason as Error)))
      } finally {
        running -= 1
      }
    }, { isConcurrencySafe: () => true, output: anything })
    const { turn, agent } = await start({ tools: [look], settings: { 'agent.maxParallelSubCalls': 10 } })
    const turned = turn(callTools({ id: 'c1', name: 'run_code', args: { code: 'await Promise.all(Array.from({ length: 100 }, (_, n) => tools.look({ n })))', description: 'Looks a hundred times' } }))
    await reached.opened
    agent.cancel({ kind: 'user' })
    await turned
    const lines = dispatches(agent)
    const ends = lines.filter((line) => line.startsWith('end'))
    expect([running, finished, lines.filter((line) => line.startsWith('start')).length, ends.length]).toEqual([0, 40, 50, 50])
    expect(ends.map((line) => line.split(' ')[1])).toEqual(Array.from({ length: 50 }, (_, at) => String(at + 1)))
    expect(ends.map((line) => line.endsWith(' ok'))).toEqual(Array.from({ length: 50 }, (_, at) => at < 40))
    const results = agent.session.events().filter((event) => event.type === 'tool/result')
    expect(results).toHaveLength(1)
    expect(agent.session.events().at(-1)?.type).toBe('turn/end')
  })
  it('stand under their program in a replay of the log, and in the document of an export', async () => {
    const { program, agent, ctx, folder } = await start()
    await writeFile(join(folder, 'c.txt'), 'one\n')
    await program('await tools.read({ file_path: "c.txt" }); await tools.edit({ file_path: "c.txt", old_string: "one", new_string: "two" }); await tools.read({ file_path: "missing.txt" }).catch(() => 0); return "over"')
    await agent.session.flush()
    const lines = (await replayLog({ ...application!, ctx }, join(home, 'sessions', agent.id, 'events.jsonl'))) as readonly Readonly<Record<string, Json>>[]
    const cards = lines.filter(({ kind }) => kind === 'card').map(({ callId, name, parent = null, isError, card }) => [(callId as string).replace(/^.*:code:/, 'n'), name, parent !== null, isError, (card as { card?: string } | null)?.card ?? null])
    expect(cards.slice(1)).toEqual([
      ['n1', 'read', true, false, 'read'],
      ['n2', 'edit', true, false, 'diff'],
      ['n3', 'read', true, true, 'generic'],
    ])
    expect(cards[0]!.slice(1, 4)).toEqual(['run_code', false, false])
    const { parent } = lines.find(({ name }) => name === 'edit')!
    expect(parent).toBe(lines[0]!['callId'])
    const text = markdownOf({ title: 'T', id: agent.id, cwd: folder, createdAt: 0 }, agent.session.events())
    expect(text).toContain('It called:\n\n- **read** `{"file_path":"c.txt"}`\n- **edit** `{"file_path":"c.txt","old_string":"one","new_string":"two"}`\n- **read** failed `{"file_path":"missing.txt"}`')
  })
  it('pass their pictures on to the model behind the result, and what else they have to say, in order', async () => {
    const picture: ToolContent = { type: 'image', attachment: { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 1 } }
    const note = (text: string) => ({ id: `n-${text}`, role: 'user' as const, content: [{ type: 'text' as const, text }], source: { kind: 'plugin' as const, plugin: 'test' } })
    const look = fakeTool('look', (args, exec) => {
      exec.deferContext(note((args as { say: string }).say))
      return null
    }, { output: { schema: {}, render: () => [picture] } })
    const { program, agent } = await start({ tools: [look] })
    await program('await tools.look({ say: "one" }); await tools.look({ say: "two" }); throw new Error("after")')
    const messages = agent.session.events().flatMap((event) => (event.type === 'user/message' && event.data.source.kind === 'plugin' ? [event.data] : []))
    expect(messages.filter(({ source }) => source.kind === 'plugin' && ['tools-code-mode', 'test'].includes(source.plugin)).map(({ content }) => (content[0]?.type === 'text' ? content[0].text : content[0]?.type))).toEqual(['image', 'one', 'image', 'two'])
  })
  it('end the turn when one asks for it and the program succeeds', async () => {
    const last = fakeTool('last', (_args, exec) => {
      exec.concludeTurn()
      return null
    }, { output: anything })
    const { turn, adapter } = await start({ tools: [last] })
    await turn(callTools({ id: 'c1', name: 'run_code', args: { code: 'await tools.last()', description: 'Ends it' } }))
    expect(adapter.requests).toHaveLength(1)
  })
  it('keep what a card needs, so that changes inside of programs can be looked at and taken back', async () => {
    const { program, agent, ctx, folder } = await start()
    await writeFile(join(folder, 'b.txt'), 'one\n')
    await writeFile(join(folder, 'kept.txt'), 'one\n')
    await program('for (const file_path of ["kept.txt", "b.txt"]) { await tools.read({ file_path }); await tools.edit({ file_path, old_string: "one", new_string: "two" }) }')
    const first = agent.session.events().find((event) => event.type === 'tool/code-dispatch' && event.data.name === 'edit') as SessionEvent<'tool/code-dispatch'>
    await expect.poll(() => ctx.reviews.of(agent.session).files.length).toBe(2)
    await ctx.reviews.keep(agent.session, { kind: 'call', callId: first.data.subCallId })
    const told = agent.session.events().findLast((event) => event.type === 'tool/code-dispatch') as SessionEvent<'tool/code-dispatch'>
    expect(told.data.meta).toBeDefined()
    expect(ctx.tools.get('edit', null)?.presentResult?.(told.data.arguments, { content: told.data.content, isError: false, meta: told.data.meta! })).toMatchObject({ card: 'diff' })
    await expect.poll(() => ctx.reviews.of(agent.session).files.map(({ path }) => path)).toEqual([join(folder, 'b.txt')])
    await ctx.reviews.undo(agent.session, { kind: 'call', callId: told.data.subCallId })
    expect(await readFile(join(folder, 'b.txt'), 'utf8')).toBe('one\n')
    expect([ctx.reviews.of(agent.session).files, await readFile(join(folder, 'kept.txt'), 'utf8')]).toEqual([[], 'two\n'])
  })
  it('pass no picture on that a listener took out of the result', async () => {
    const picture: ToolContent = { type: 'image', attachment: { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 1 } }
    const { program, agent, ctx } = await start({ tools: [fakeTool('look', () => null, { output: { schema: {}, render: () => [picture] } })] })
    ctx.on('tools/post-execute', async ({ name }, _result, next) => (name === 'look' ? { kind: 'accept', content: [{ type: 'text', text: 'none' }] } : next()))
    await program('await tools.look()')
    expect(agent.session.events().some((event) => event.type === 'user/message' && event.data.source.kind === 'plugin' && event.data.source.plugin === 'tools-code-mode')).toBe(false)
  })
  it('have ended before the call of a runtime that breaks under them has', async () => {
    const trace: string[] = []
    const begun = gate()
    const slow = fakeTool('slow', (_args, exec) => {
      begun.open()
      return new Promise((resolve) => exec.signal.addEventListener('abort', () => setImmediate(() => (trace.push('ended'), resolve('over')))))
    })
    const { program, agent } = await start({
      tools: [slow],
      alter: (world) => ({
        ...world,
        codeRuntime: {
          ...world.codeRuntime,
          run: async ({ call }) => {
            void call('slow', [{}], new AbortController().signal).catch(() => undefined)
            await begun.opened
            throw new CodeError('CODE_CRASHED', 'It broke.')
          },
        },
      }),
    })
    expect(await program('return 1')).toMatchObject({ code: 'CODE_RUN_FAILED', text: expect.stringContaining('(worker-exit): It broke. It had made 1 call') })
    expect([trace, dispatches(agent)]).toEqual([['ended'], ['start 1 slow', 'end 1 ABORTED']])
  })
  it.each(['run_code', 'nobody_has_it'])('are those of visible tools alone, whatever a runtime hands on: %s is none', async (name) => {
    const { program, agent } = await start({
      alter: (world) => ({ ...world, codeRuntime: { ...world.codeRuntime, run: async ({ call }) => ({ value: await call(name, [{ code: 'return 1', description: 'Goes round' }], new AbortController().signal), calls: 1 }) } }),
    })
    expect([await program('return 1'), dispatches(agent)]).toEqual([{ isError: true, code: 'CODE_RUN_FAILED', text: `Error: The program failed (worker-exit): There is no tool named "${name}" for programs. It had made no call.` }, []])
  })
  it('that wait for the person when the window closes are not asked for again, since their program is gone', async () => {
    const { agent, adapter, asked, folder } = await start({ tools: [], answer: () => new Promise(() => undefined) })
    await writeFile(join(folder, 'd.txt'), 'one\n')
    adapter.play(callTools({ id: 'c1', name: 'run_code', args: { code: 'await tools.read({ file_path: "d.txt" }); await tools.edit({ file_path: "d.txt", old_string: "one", new_string: "two" })', description: 'Edits a file' } }))
    agent.followup(prompt('go'))
    await expect.poll(() => asked.length).toBe(1)
    const again = await application!.restart()
    await again.ctx.plugin({ name: 'ready', inject: ['codeMode', 'agents'], apply: () => {} }).ready
    again.ctx.approvals.attach()
    const opened = await again.ctx.agents.resume(agent.id)
    await opened.whenIdle()
    expect(again.ctx.approvals.pending()).toEqual([])
    expect(dispatches(opened)).toEqual(['start 1 read', 'end 1 ok', 'start 2 edit', expect.stringMatching(/^end 2 /)])
    expect(opened.session.events().findLast(({ type }) => type.startsWith('turn/'))?.type).toBe('turn/end')
    expect(await readFile(join(folder, 'd.txt'), 'utf8')).toBe('one\n')
  })
  it('that wait for the person when the time of their program is over are withdrawn, and nothing of them is done', async () => {
    const waits = gate()
    const { program, agent, ctx, folder } = await start({
      answer: ({ signal }) => {
        waits.open()
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ outcome: 'cancelled' }), { once: true }))
      },
      alter: (world) => ({
        ...world,
        codeRuntime: {
          ...world.codeRuntime,
          run: async ({ call }) => {
            const over = new AbortController()
            const called = call('write', [{ file_path: 'late.txt', content: 'no' }], over.signal).catch(() => null)
            await waits.opened
            over.abort()
            await called
            throw new CodeError('CODE_TIME', 'It ran too long.')
          },
        },
      }),
    })
    expect((await program('return 1')).text).toContain('(timeout): It ran too long. It had made 1 call')
    expect([ctx.approvals.pending(), dispatches(agent)]).toEqual([[], ['start 1 write', expect.stringMatching(/^end 1 /)]])
    await expect(readFile(join(folder, 'late.txt'), 'utf8')).rejects.toThrow('ENOENT')
  })
  it('of a tool named __proto__ are made like any other', async () => {
    const { program } = await start({ tools: [echo('__proto__')] })
    expect((await program('return await tools["__proto__"]({ a: 1 })')).text).toBe('{\n  "a": 1\n}')
  })
  it('are kept whole where whoever shortens them for the log throws', async () => {
    const { program, agent, ctx } = await start({ tools: [echo('look', { execute: () => 'all of it' })] })
    ctx.on('tools/code-dispatch-log', () => { throw new Error('broken') })
    await program('await tools.look()')
    expect(agent.session.events().find((event) => event.type === 'tool/code-dispatch')?.data).toMatchObject({ content: [{ type: 'text' }] })
  })
  it('work without a session, and leave no log', async () => {
    const { ctx } = await start()
    ctx.tools.register(echo('look'))
    ctx.permissions.declare('look', () => ({ kind: 'none' }))
    const result = await ctx.tools.execute({ callId: 'alone', name: 'run_code', arguments: { code: 'return await tools.look({ a: 1 })', description: 'Runs alone' }, signal: new AbortController().signal })
    expect(result.isError ? result.error : result.value).toEqual({ logs: [], result: { a: 1 } })
  })
  it('can be made by one agent while another is native, and the other way round', async () => {
    const { ctx, agent, folder, program } = await start()
    const native = await ctx.agents.create({ cwd: folder, preset: 'standard' })
    expect([agent, native].map(({ scope }) => ctx.tools.schemas(scope).some(({ name }) => name === 'run_code'))).toEqual([true, false])
    expect((await program('return 1')).text).toBe('1')
  })
})

describe('the same task done natively and by a program', () => {
  const edits = ['a', 'b', 'c', 'd', 'e', 'f']
  const calls = [
    ...edits.flatMap((name) => [{ name: 'read', args: { file_path: `${name}.txt` } }, { name: 'edit', args: { file_path: `${name}.txt`, old_string: 'one', new_string: `two ${name}` } }]),
    { name: 'write', args: { file_path: '../outside.txt', content: 'no' } },
    { name: 'glob', args: { pattern: 'a.txt' } },
  ]
  const program = `for (const [name, args] of ${JSON.stringify(calls.map(({ name, args }) => [name, args]))}) await tools[name](args).catch(() => 'denied'); return 'done'`

  /** What came of it: the files, what was decided about each call, what was written down of it, and what the model was sent. */
  async function outcome(preset: string, answers: readonly ScriptedAnswer[]) {
    const { agent, turn, folder, adapter, asked } = await start({ preset, answer: (request) => ({ outcome: JSON.stringify(request.arguments).includes('outside') ? 'rejected' : 'allowed-once' }) })
    for (const name of edits) await writeFile(join(folder, `${name}.txt`), 'one\n')
    await turn(...answers)
    const files = await Promise.all(edits.map((name) => readFile(join(folder, `${name}.txt`), 'utf8')))
    const named = new Map<string, string>()
    const facts: unknown[] = []
    for (const { type, data } of agent.session.events()) {
      if (type === 'tool/call') named.set(data.callId, data.name)
      if (type === 'tool/code-dispatch') facts.push([data.name, data.isError, data.error ?? null, data.policy ?? null, data.meta ?? null])
      if (type === 'tool/result') {
        const [{ callId, isError }] = data.message.content
        if (named.get(callId) !== 'run_code') facts.push([named.get(callId), isError, data.error ?? null, data.policy ?? null, data.meta ?? null])
      }
    }
    const kept = agent.session.events().flatMap((event) => (event.type === 'fs/before-image' ? [event.data.path] : []))
    const sentBytes = adapter.requests.reduce((sum, { system, tools, messages }) => sum + Buffer.byteLength(JSON.stringify({ system, tools, messages })), 0)
    const seen = { files, facts, kept, asked: asked.map(({ toolName, details }) => [toolName, details?.effect, details?.why]) }
    await application!.dispose()
    return { seen, sentBytes, requests: adapter.requests.length }
  }

  it('has the same effects, the same decisions and the same facts in the log; the program sends fewer bytes', async () => {
    const native = await outcome('standard', [...calls.map(({ name, args }) => callTools({ id: null, name, args })), sayText('done')])
    const code = await outcome('code', [callTools({ id: null, name: 'run_code', args: { code: program, description: 'Edits six files at once' } }), sayText('done')])
    expect(code.seen).toEqual(native.seen)
    expect(native.seen.files).toEqual(edits.map((name) => `two ${name}\n`))
    expect(native.seen.asked).toHaveLength(edits.length + 1)
    expect([native.requests, code.requests]).toEqual([calls.length + 1, 2])
    expect(code.sentBytes).toBeLessThan(native.sentBytes / 2)
  }, 60_000)
})
