import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { LanguageAnswer, LanguageQuestion, Languages } from '../../../extension/capabilities/languages.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { MAX_LOCATIONS, MAX_RESULT_CHARS } from '../../../extension/tools/language/answer-text.ts'
import { RETRY_DELAYS_MS } from '../../../extension/tools/language/patient-service.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const empty: LanguageAnswer = { kind: 'locations', locations: [] }
const symbols: LanguageAnswer = { kind: 'symbols', symbols: [{ name: 'a', kind: 'function', uri: 'file:///a', range: range(0, 0) }] }
function range(line: number, character: number) {
  return { start: { line, character }, end: { line, character: character + 3 } }
}

let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  application = undefined
})

/** Language services that answer as they are told, in order; the last answer stays. */
async function start(...answers: readonly (LanguageAnswer | ((question: LanguageQuestion) => LanguageAnswer | Promise<LanguageAnswer>))[]) {
  const asked: LanguageQuestion[] = []
  const clock: ManualClock = createManualClock()
  const languages: Languages = {
    async ask(question) {
      asked.push(question)
      const answer = answers[Math.min(asked.length, answers.length) - 1] ?? empty
      return typeof answer === 'function' ? await answer(question) : answer
    },
    rename: () => Promise.resolve(null),
    codeActions: () => Promise.resolve([]),
    codeActionEdit: () => Promise.resolve(null),
  }
  const whole = await wholeApplication({ alter: (world) => ({ ...world, languages, clock: { ...world.clock, schedule: (delayMs, fire) => (RETRY_DELAYS_MS.includes(delayMs) ? clock.schedule(delayMs, fire) : world.clock.schedule(delayMs, fire)) } }) })
  application = whole
  const { ctx, folder } = whole
  const agent = await ctx.agents.create({ cwd: folder, preset: 'editor' })
  agent.session.append({ type: 'turn/start', data: { turn: 1 } })
  await writeFile(join(folder, 'a.ts'), 'const one = 1\nexport { one }\r\n')
  let count = 0
  const lsp = (args: object = {}, options: { readonly agent?: Agent | undefined; readonly signal?: AbortSignal } = {}) =>
    ctx.tools.execute({
      callId: `c${++count}`,
      name: 'lsp',
      arguments: { operation: 'goToDefinition', file_path: 'a.ts', line: 1, character: 7, ...args },
      agent: 'agent' in options ? options.agent : agent,
      signal: options.signal ?? new AbortController().signal,
    } as never)
  const uri = (name: string) => pathToFileURL(join(folder, name)).href
  return { ctx, folder, agent, asked, clock, lsp, uri }
}
const failed = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) as string })

describe('a question', () => {
  it('is about the text, counted from 0, and gives places relative to the workspace with their lines', async () => {
    const found: { uri: string }[] = []
    const { lsp, asked, uri, folder } = await start(() => ({ kind: 'locations', locations: found.map(({ uri: one }) => ({ uri: one, range: range(0, 6) })) }))
    found.push({ uri: uri('a.ts') }, { uri: 'file:///elsewhere/b.ts' }, { uri: 'untitled:New' })
    const result = await lsp()
    expect(asked).toEqual([{ operation: 'goToDefinition', path: join(folder, 'a.ts'), position: { line: 0, character: 6 } }])
    expect(textOf(result)).toBe('a.ts:1:7  const one = 1\n/elsewhere/b.ts:1:7\nuntitled:New:1:7')
    expect(outcomeOf(result)).toMatchObject({ kind: 'locations', total: 3, resolvedWorkspaceUri: pathToFileURL(folder).href })
  })
  it('may name a symbol of the line in the place of a column', async () => {
    const { lsp, asked } = await start(symbols)
    await lsp({ operation: 'incomingCalls', line: 2, character: 1, symbol: 'one' })
    expect(asked[0]?.position).toEqual({ line: 1, character: 9 })
  })
  it('column past the end of its line is clamped to the end, and says so', async () => {
    const { lsp, asked } = await start(symbols)
    expect(textOf(await lsp({ operation: 'outgoingCalls', line: 1, character: 99 }))).toMatch(/\(Line 1 has 13 characters, so its end was asked about, not character 99\.\)$/)
    expect(asked[0]?.position).toEqual({ line: 0, character: 13 })
  })
  const answers: readonly [operation: string, answer: LanguageAnswer, text: string][] = [
    ['hover', { kind: 'hover', contents: '**one**: number' }, '**one**: number'],
    ['documentSymbols', symbols, '/a:1:1  function a'],
    ['diagnostics', { kind: 'problems', problems: [{ range: range(1, 2), severity: 'error', message: 'no\n  good', source: 'ts 1' }] }, '2:3  error: no good [ts 1]'],
    ['diagnostics', { kind: 'problems', problems: [] }, 'The editor knows of no problems in this file.'],
  ]
  it.each(answers)('%s is answered in its own words', async (operation, answer, text) => expect(textOf(await (await start(answer)).lsp({ operation }))).toBe(text))
  it('takes the arguments of the catalogue', async () => {
    const { ctx } = await start(symbols)
    expect(ctx.tools.get('lsp')?.parameters).toMatchObject({
      properties: { operation: { type: 'string', enum: expect.arrayContaining(['goToDefinition', 'findReferences', 'goToImplementation', 'hover']) as string[] }, file_path: { type: 'string' }, line: { type: 'number' }, character: { type: 'number' } },
      required: ['operation', 'file_path', 'line', 'character'],
    })
  })
  it('101 locations: 100 are given, and that one more is not', async () => {
    const many = Array.from({ length: 101 }, (_, line) => ({ uri: 'untitled:x', range: range(line, 0) }))
    const result = await (await start({ kind: 'locations', locations: many })).lsp({ operation: 'findReferences' })
    expect(outcomeOf(result)).toMatchObject({ total: 101, locations: many.slice(0, 100) })
    expect(textOf(result)).toMatch(/untitled:x:100:1\n\(1 more is not shown\.\)$/)
  })
  it('exactly 100 locations: all are given', async () => {
    const many = Array.from({ length: 100 }, (_, line) => ({ uri: 'untitled:x', range: range(line, 0) }))
    expect(textOf(await (await start({ kind: 'locations', locations: many })).lsp({ operation: 'findReferences' }))).not.toContain('not shown')
  })
  it('hover null: nothing is said of the place', async () => {
    const { lsp } = await start(symbols, { kind: 'hover', contents: null })
    await lsp({ operation: 'documentSymbols' })
    const result = await lsp({ operation: 'hover' })
    expect([outcomeOf(result), textOf(result)]).toEqual([{ kind: 'hover', hover: null }, 'There is nothing to say about this place.'])
  })
  it('gives at most 100 places, and how many there are', async () => {
    const many = Array.from({ length: 130 }, (_, line) => ({ uri: 'untitled:x', range: range(line, 0) }))
    const text = textOf(await (await start({ kind: 'locations', locations: many })).lsp({ operation: 'findReferences' }))
    expect([text.split('\n').length, text]).toEqual([MAX_LOCATIONS + 1, expect.stringMatching(/\(30 more are not shown\.\)$/)])
  })
  it('gives at most 16 000 characters, its marker included', async () => {
    const text = textOf(await (await start({ kind: 'hover', contents: 'x'.repeat(20_000) })).lsp({ operation: 'hover' }))
    expect([text.length, text.endsWith('(Cut here. Ask about a smaller part.)')]).toEqual([MAX_RESULT_CHARS, true])
  })
  it('overlaps with its like, and is no read of the file', async () => {
    const { ctx, agent, lsp } = await start(symbols)
    await lsp({ operation: 'documentSymbols' })
    expect(ctx.tools.executionMode({ name: 'lsp', arguments: { operation: 'hover', file_path: 'a.ts', line: 1, character: 1 }, agent })).toBe('parallel')
    expect(agent.session.events().filter(({ type }) => type === 'fs/observed')).toEqual([])
  })
})

describe('what is refused', () => {
  const rows: readonly [name: string, args: object, code: string, message: RegExp][] = [
    ['a line of 0', { line: 0 }, 'INVALID_ARGS', /line must be a whole number of 1 or more/],
    ['half a column', { character: 1.5 }, 'INVALID_ARGS', /character must be/],
    ['a line past the end', { line: 9 }, 'INVALID_ARGS', /the file has 3 lines/],
    ['a blank path', { file_path: ' ' }, 'INVALID_ARGS', /blank/],
    ['an operation nobody knows', { operation: 'explain' }, 'INVALID_ARGS', /operation/],
    ['a symbol that is not in the file', { symbol: 'two' }, 'INVALID_ARGS', /"two" does not stand in the file, neither in line 1/],
    ['a search without words', { operation: 'workspaceSymbols' }, 'INVALID_ARGS', /needs query/],
    ['a file that is not there', { file_path: 'gone.ts' }, 'FS_NOT_FOUND', /gone\.ts/],
    ['a folder', { file_path: 'sub' }, 'FS_NOT_REGULAR_FILE', /folder/],
    ['a large file', { file_path: 'large.ts' }, 'FS_TOO_LARGE', /4000000/],
    ['binary content', { file_path: 'bin.ts' }, 'FS_NOT_TEXT', /binary/],
  ]
  it.each(rows)('%s', async (_name, args, code, message) => {
    const { lsp, folder, asked } = await start(symbols)
    await mkdir(join(folder, 'sub'))
    await writeFile(join(folder, 'bin.ts'), Buffer.from([0, 1, 2, 255, 0]))
    await writeFile(join(folder, 'large.ts'), '')
    await truncate(join(folder, 'large.ts'), 4_000_001)
    expect(outcomeOf(await lsp(args))).toEqual(failed(code, message))
    expect(asked).toEqual([])
  })
  it('a call without a session', async () => {
    const { lsp } = await start(symbols)
    expect(outcomeOf(await lsp({}, { agent: undefined }))).toEqual(failed('LSP_WORKSPACE_REQUIRED', /has none/))
  })
})

describe('a service that may still be starting', () => {
  const found: LanguageAnswer = { kind: 'locations', locations: [{ uri: 'untitled:x', range: range(0, 0) }] }
  /** Let every pause pass as it comes. */
  async function through<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
    const progress = { isDone: false }
    const done = work.finally(() => (progress.isDone = true))
    while (!progress.isDone) {
      await new Promise(setImmediate)
      clock.advance(4_000)
    }
    return await done
  }

  it('cold server retried: it is asked again until it knows something', async () => {
    const { lsp, asked, clock } = await start(empty, empty, found)
    expect(textOf(await through(clock, lsp()))).toBe('untitled:x:1:1')
    expect(asked).toHaveLength(3)
  })
  it('that throws says what it threw', async () => {
    const { lsp } = await start(() => Promise.reject(new Error('boom in the service')))
    expect(outcomeOf(await lsp())).toEqual(failed('LSP_REFUSED', /boom in the service/))
  })
  it('is believed once it has answered: its next empty answer is one', async () => {
    const { lsp, asked } = await start(found, empty)
    await lsp()
    expect(textOf(await lsp({ operation: 'goToImplementation' }))).toBe('No definition was found.'.replace('definition', 'implementation'))
    expect(asked).toHaveLength(2)
  })
  it('that knows the file and not the answer says that it may still be indexing', async () => {
    const { lsp, clock } = await start((question) => (question.operation === 'documentSymbols' ? symbols : empty))
    expect(textOf(await through(clock, lsp()))).toBe('No definition was found.\n(The language service may still be indexing; ask again if this looks wrong.)')
  })
  it('that knows nothing of the file either is not there', async () => {
    const { lsp, clock, asked } = await start((question) => (question.operation === 'documentSymbols' ? { kind: 'symbols', symbols: [] } : empty))
    expect(outcomeOf(await through(clock, lsp()))).toEqual(failed('LSP_UNAVAILABLE', /No language service of the editor answers for \.ts files/))
    expect(asked).toHaveLength(RETRY_DELAYS_MS.length + 2)
  })
  it('abort discards the late answer: it is left alone when the call is stopped', async () => {
    const { lsp, asked } = await start(empty)
    const stop = new AbortController()
    const result = lsp({}, { signal: stop.signal })
    await expect.poll(() => asked.length).toBe(1)
    stop.abort()
    expect(outcomeOf(await result)).toEqual(failed('ABORTED', /stopped/))
    expect(asked).toHaveLength(1)
  })
})

it('abort discards the late answer: one that comes after the stop is not given', async () => {
  const answered = Promise.withResolvers<LanguageAnswer>()
  const { lsp, asked } = await start(() => answered.promise)
  const stop = new AbortController()
  const result = lsp({}, { signal: stop.signal })
  await expect.poll(() => asked.length).toBe(1)
  stop.abort()
  answered.resolve({ kind: 'locations', locations: [{ uri: 'untitled:x', range: range(0, 0) }] })
  const outcome = await result
  expect(outcomeOf(outcome)).toEqual(failed('ABORTED', /./))
  expect(textOf(outcome)).not.toContain('untitled')
})

it('is not offered where there is no editor', async () => {
  application = await wholeApplication()
  expect(application.ctx.tools.get('lsp')).toBeUndefined()
})

it('stands in the prompt at place 112, between what stands at 111 and 113', async () => {
  const { ctx, agent, folder } = await start(symbols)
  for (const order of [111, 113]) ctx.systemPrompt.section({ name: `at-${order}`, order, text: 'x' })
  let names: readonly string[] = []
  ctx.on('system-prompt/assemble', (assembly, _context, next) => {
    names = assembly.sections.map(({ name }) => name)
    return next()
  })
  await ctx.systemPrompt.assemble({ agent, scope: agent.scope, provider: 'p', model: 'm', cwd: folder, step: 1 })
  expect(names.filter((name) => name === 'lsp' || name.startsWith('at-'))).toEqual(['at-111', 'lsp', 'at-113'])
})

describe('its cards', () => {
  it('are what is asked, then places by file', async () => {
    const { ctx, agent } = await start(symbols)
    const tool = ctx.tools.get('lsp', agent.scope)
    const args = { operation: 'findReferences', file_path: 'a.ts', line: 3, character: 1, symbol: 'one' }
    expect(tool?.presentCall?.(args)).toEqual({ card: 'generic', title: 'Look for references to one in a.ts', doneTitle: 'Looked for references to one in a.ts', kind: 'search', locations: [{ path: 'a.ts', line: 3 }] })
    const meta = { files: [{ path: 'a.ts', matches: [{ lineNumber: 3, line: 'one' }] }], total: 1, truncated: false }
    expect(tool?.presentResult?.(args, { content: [], isError: false, meta })).toEqual({ card: 'search', shape: 'matches', ...meta })
    expect(tool?.presentResult?.(args, { content: [{ type: 'text', text: 'Error: no' }], isError: true })).toEqual({ card: 'generic', content: [{ type: 'text', text: 'Error: no' }] })
    expect(tool?.presentResult?.(args, { content: [], isError: false, meta: { files: 7 } })).toBeUndefined()
    expect(tool?.presentCall?.({ operation: 'hover' })).toBeUndefined()
  })
})
