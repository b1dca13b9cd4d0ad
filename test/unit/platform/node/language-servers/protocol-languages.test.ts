import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LanguageError, type LanguageQuestion } from '../../../../../extension/capabilities/languages.ts'
import type { LanguageServerConfig } from '../../../../../extension/capabilities/language-servers.ts'
import type { ProcessRunner } from '../../../../../extension/capabilities/process.ts'
import { createDirectRunner } from '../../../../../extension/platform/node/direct-runner.ts'
import { NodeFileSystem } from '../../../../../extension/platform/node/file-system.ts'
import { createProtocolLanguages } from '../../../../../extension/platform/node/language-servers/protocol-languages.ts'
import { RESTART_DELAYS_MS, START_TIMEOUT_MS } from '../../../../../extension/platform/node/language-servers/server-supervisor.ts'
import { createManualClock } from '../../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../../support/quiet-logger.ts'
import { realClock } from '../../../../support/real-clock.ts'

const program = fileURLToPath(new URL('../../../../support/language-server.ts', import.meta.url))
const text = 'def tide\nuse tide wrong\n'
const never = new AbortController().signal

let folder: string
let processes: ProcessRunner
let undo: () => Promise<void>
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'bosun-lsp-')))
  processes = createDirectRunner()
  undo = () => Promise.resolve()
  await writeFile(join(folder, 'a.toy'), text)
})
afterEach(async () => {
  await undo()
  await processes.dispose()
  await rm(folder, { recursive: true })
})

/** The services over a real server in one of its modes; pauses of restarts and the limit of a start pass when the test says so. */
function start(mode: readonly string[], change: Partial<LanguageServerConfig> = {}) {
  const clock = createManualClock()
  const turned = [...RESTART_DELAYS_MS, START_TIMEOUT_MS]
  const config: LanguageServerConfig = { command: process.execPath, args: [program, ...mode], languages: ['toy'], files: [], env: {}, ...change }
  const languages = createProtocolLanguages({
    configs: { toy: config },
    folder,
    files: new NodeFileSystem(),
    processes,
    clock: { ...realClock, schedule: (delayMs, fire) => (turned.includes(delayMs) ? clock.schedule(delayMs, fire) : realClock.schedule(delayMs, fire)) },
    logger: createRecordingLogger(),
  })
  undo = () => languages.dispose()
  const path = join(folder, 'a.toy')
  const ask = (question: Partial<LanguageQuestion> = {}, signal = never) => languages.ask({ operation: 'hover', path, position: { line: 0, character: 5 }, ...question }, signal)
  const state = () => languages.list().map(({ state: word, reason }) => [word, reason])
  return { languages, clock, ask, state, path, uri: pathToFileURL(path).href }
}
const fails = async (work: Promise<unknown>, code: string, message: RegExp) => {
  const error: unknown = await work.then(() => null, (thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(LanguageError)
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string })
}
const at = (line: number, from: number, to: number) => ({ start: { line, character: from }, end: { line, character: to } })

describe('a server that the person configured', () => {
  it('is started by the first question, not before, and answers', async () => {
    const { ask, state } = start(['ok'])
    expect(state()).toEqual([['waiting', null]])
    expect(await ask()).toEqual({ kind: 'hover', contents: '**tide**' })
    expect(state()).toEqual([['running', null]])
  })
  it('may mix Location and LocationLink', async () => {
    const { ask, uri } = start(['ok'])
    expect(await ask({ operation: 'goToDefinition', position: { line: 1, character: 6 } })).toEqual({ kind: 'locations', locations: [{ uri, range: at(0, 4, 8) }, { uri, range: at(0, 4, 8) }] })
  })
  it('answers each kind of question it offers, and refuses the others by name', async () => {
    const { ask, uri, languages, path } = start(['ok'])
    expect(await ask({ operation: 'findReferences' })).toMatchObject({ locations: [{ range: at(0, 4, 8) }, { range: at(1, 4, 8) }] })
    expect(await ask({ operation: 'documentSymbols' })).toEqual({ kind: 'symbols', symbols: [{ name: 'tide', kind: 'function', uri, range: at(0, 4, 8) }] })
    expect(await ask({ operation: 'diagnostics' })).toEqual({ kind: 'problems', problems: [{ range: at(0, 0, 1), severity: 'error', message: 'wrong 1', source: 'toy' }] })
    expect(await ask({ position: { line: 1, character: 0 } })).toEqual({ kind: 'hover', contents: null })
    await fails(ask({ operation: 'incomingCalls' }), 'LSP_UNSUPPORTED_OPERATION', /does not offer incomingCalls/)
    expect(await languages.rename({ path, position: { line: 0, character: 4 }, newName: 'ebb' }, never)).toEqual({ files: [{ path, edits: [{ range: at(0, 4, 8), newText: 'ebb' }, { range: at(1, 4, 8), newText: 'ebb' }] }], others: [] })
    const place = { path, range: at(0, 0, 1) }
    expect(await languages.codeActions(place, never)).toEqual([{ title: 'Shout', kind: 'refactor' }, { title: 'Run it', isCommand: true }])
    expect(await languages.codeActionEdit({ ...place, title: 'Shout' }, never)).toEqual({ files: [{ path, edits: [{ range: at(0, 0, 8), newText: 'DEF TIDE' }] }], others: [] })
    expect(await languages.codeActionEdit({ ...place, title: 'Run it' }, never)).toEqual({ files: [], others: [], command: 'toy.run' })
    expect(await readFile(path, 'utf8')).toBe(text)
  })
  it('answers questions that overlap, each about its own file', async () => {
    const { ask } = start(['ok'])
    await writeFile(join(folder, 'b.toy'), 'def ebb\n')
    const answers = await Promise.all([ask(), ask({ path: join(folder, 'b.toy') }), ask()])
    expect(answers.map((answer) => answer.kind === 'hover' && answer.contents)).toEqual(['**tide**', '**ebb**', '**tide**'])
  })
  it('that starts slowly is waited for', async () => expect(await start(['slow']).ask()).toMatchObject({ contents: '**tide**' }))
  it('is found by globs too, and none is found for other files', async () => {
    const { ask } = start(['ok'], { languages: [], files: ['**/*.toy'] })
    expect(await ask()).toMatchObject({ contents: '**tide**' })
    await fails(ask({ path: join(folder, 'a.zig') }), 'LSP_UNAVAILABLE', /No language server is configured for \.zig files/)
  })
  it('is gone after disposing, with its program', async () => {
    const { ask, languages, state } = start(['ok'])
    await ask()
    await languages.dispose()
    expect(state()).toEqual([['stopped', null]])
    await fails(ask(), 'LSP_DISPOSED', /was stopped/)
  })
})

describe('a server that', () => {
  it('cannot be found is given up at once, with the reason', async () => {
    const { ask, state } = start([], { command: 'no-such-language-server', args: [] })
    await fails(ask(), 'LSP_UNAVAILABLE', /toy does not run: The program "no-such-language-server" was not found.*Bosun: Show Language Servers/s)
    expect(state()).toMatchObject([['failed', expect.stringContaining('no-such-language-server')]])
  })
  it('crashes is started again after a pause, and asked the same once more', async () => {
    const { ask, clock, state } = start(['crash-once', join(folder, 'marked')])
    const answer = ask()
    await expect.poll(state).toEqual([['restarting', 'It ended with exit code 3: out of memory']])
    clock.advance(RESTART_DELAYS_MS[0]!)
    expect(await answer).toMatchObject({ contents: '**tide**' })
  })
  it('crashes each time is given up after growing pauses, until the person starts it again', async () => {
    const { ask, clock, state, languages } = start(['crash'])
    const asking = Array.from({ length: 3 }, () => ask().catch((error: unknown) => error))
    for (const delayMs of RESTART_DELAYS_MS) {
      await expect.poll(() => state()[0]?.[0]).toBe('restarting')
      clock.advance(delayMs)
    }
    // Each question is asked twice at most.
    expect(await Promise.all(asking)).toMatchObject([{ code: 'LSP_REFUSED' }, { code: 'LSP_REFUSED' }, { code: 'LSP_UNAVAILABLE' }])
    await expect.poll(state).toEqual([['failed', 'It ended with exit code 3: out of memory']])
    await fails(ask(), 'LSP_UNAVAILABLE', /out of memory/)
    await languages.restart('toy')
    expect(state()).toEqual([['running', null]])
  })
  it('fails before the handshake says why in its last words', async () => {
    const { ask, state } = start(['fail'])
    const answer = ask()
    answer.catch(() => {})
    await expect.poll(state).toEqual([['restarting', 'It ended with exit code 7: cannot find the licence']])
  })
  it('never shakes hands is ended after a minute', async () => {
    const { ask, clock, state } = start(['mute'])
    ask().catch(() => {})
    await expect.poll(() => state()[0]?.[0]).toBe('starting')
    await expect.poll(() => clock.waiting).toBeGreaterThan(0)
    clock.advance(START_TIMEOUT_MS)
    await expect.poll(state).toEqual([['restarting', 'It did not answer within 60 s']])
  })
  it('hangs in a question leaves it to the stop of the call, and the late answer is dropped', async () => {
    const { ask } = start(['hang'])
    const stop = new AbortController()
    const answer = ask({}, stop.signal)
    const outcome = answer.then(() => 'answered', (error: unknown) => error)
    setTimeout(() => stop.abort(new Error('stopped')), 500)
    expect(await outcome).toMatchObject({ message: 'stopped' })
  })
  it('floods with problems answers all the same, and a part of them is kept', async () => {
    const { ask } = start(['flood'])
    expect(await ask()).toMatchObject({ contents: '**tide**' })
    const problems = await ask({ operation: 'diagnostics' })
    expect(problems.kind === 'problems' && problems.problems.length).toBe(1_000)
  })
  it('sends what is no JSON between its answers is put up with for a while, then begun anew', async () => {
    const { ask, state } = start(['garbage'])
    expect(await ask()).toMatchObject({ contents: '**tide**' })
    for (let question = 0; question < 10 && state()[0]?.[0] === 'running'; question += 1) await ask().catch(() => {})
    expect(state()).toEqual([['restarting', 'It sent 5 messages that are none of the protocol']])
  })
  it.each([
    ['begins a message that is larger than the memory', 'huge', /It sent a message of 99999999999 bytes, and at most 67108864 are taken/],
    ['answers without an end', 'endless', /It sent \d+ bytes that begin no message/],
  ])('%s is ended before it fills the memory', async (_name, mode, reason) => {
    const { ask, languages, state } = start([mode])
    const asked = ask().catch(() => {})
    await expect.poll(state, { timeout: 50_000 }).toEqual([['restarting', expect.stringMatching(reason)]])
    await languages.dispose()
    await asked
  })
  it('answers with what is none of the protocol is told so', async () => {
    const { ask, languages, path } = start(['nonsense'])
    await fails(ask(), 'LSP_MALFORMED_RESPONSE', /none of the protocol/)
    await fails(ask({ operation: 'goToDefinition' }), 'LSP_MALFORMED_RESPONSE', /none of the protocol/)
    await fails(languages.codeActions({ path, range: at(0, 0, 1) }, never), 'LSP_MALFORMED_RESPONSE', /none of the protocol/)
  })
})
