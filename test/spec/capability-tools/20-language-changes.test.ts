import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { LanguageAnswer, LanguageCodeAction, LanguageEdit, LanguageProblem, Languages } from '../../../extension/capabilities/languages.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import { fileChangesFrom } from '../../../extension/core/tools/file-changes.ts'
import { MAX_CHANGED_FILES } from '../../../extension/tools/language/change-plan.ts'
import { TIMEOUT_MS } from '../../../extension/tools/language/lsp-call.ts'
import { RETRY_DELAYS_MS } from '../../../extension/tools/language/patient-service.ts'
import { folderOutside } from '../../support/folder-outside.ts'
import { createFakeProblemFeed } from '../../support/fake-problem-feed.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import type { SettingValues } from '../../support/memory-settings.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  application = undefined
})

const names = Array.from({ length: 3 }, (_, index) => `src/part-${index}.ts`)
const at = (line: number, from: number, to: number) => ({ start: { line, character: from }, end: { line, character: to } })
const empty: LanguageAnswer = { kind: 'symbols', symbols: [] }

interface Setup {
  readonly rename?: Languages['rename']
  readonly actions?: readonly LanguageCodeAction[] | (() => Promise<never>)
  readonly edit?: LanguageEdit | null | (() => Promise<never>)
  readonly answer?: ApprovalAnswer | ((request: ApprovalRequest) => Promise<ApprovalAnswer>)
  readonly settings?: SettingValues
  readonly isTrusted?: boolean
  readonly ask?: LanguageAnswer
  /** The test turns the time of the whole call. */
  readonly timesOut?: true
}

/** Files that name `tide` once, a service that renames it, and a person who answers. */
async function start(setup: Setup = {}) {
  const clock = createManualClock()
  const turned: readonly number[] = [...RETRY_DELAYS_MS, ...(setup.timesOut === true ? [TIMEOUT_MS] : [])]
  const renames: string[] = []
  const feed = createFakeProblemFeed()
  const paths: { folder: string } = { folder: '' }
  const renameAll: Languages['rename'] = ({ newName }) =>
    Promise.resolve({ files: names.map((name) => ({ path: join(paths.folder, name), edits: [{ range: at(0, 13, 17), newText: newName }] })), others: [] })
  const languages: Languages = {
    ask: () => Promise.resolve(setup.ask ?? empty),
    async rename(request, signal) {
      renames.push(request.newName)
      return await (setup.rename ?? renameAll)(request, signal)
    },
    codeActions: async () => (typeof setup.actions === 'function' ? await setup.actions() : (setup.actions ?? [])),
    codeActionEdit: async () => (typeof setup.edit === 'function' ? await setup.edit() : (setup.edit ?? null)),
  }
  const whole = await wholeApplication({
    settings: { 'tools.newProblems.waitMs': 0, ...setup.settings },
    alter: (world) => ({
      ...world,
      languages,
      problemFeed: feed,
      workspace: { ...world.workspace, isTrusted: () => setup.isTrusted ?? true },
      clock: { ...world.clock, schedule: (delayMs, fire) => (turned.includes(delayMs) ? clock.schedule(delayMs, fire) : world.clock.schedule(delayMs, fire)) },
    }),
  })
  application = whole
  const { ctx, folder } = whole
  paths.folder = folder
  await mkdir(join(folder, 'src'))
  for (const name of names) await writeFile(join(folder, name), 'export const tide = 1\n')
  const asked: ApprovalRequest[] = []
  ctx.on('approval/request', async (request) => {
    asked.push(request)
    return typeof setup.answer === 'function' ? await setup.answer(request) : (setup.answer ?? { outcome: 'allowed-once' })
  })
  const agent = await ctx.agents.create({ cwd: folder, preset: 'editor' })
  agent.session.append({ type: 'turn/start', data: { turn: 1 } })
  let count = 0
  const call = (name: string, args: object, signal = new AbortController().signal) =>
    ctx.tools.execute({ callId: `c${++count}`, name, arguments: { ...args }, agent, signal })
  const lsp = (args: object = {}, signal?: AbortSignal) => call('lsp', { operation: 'rename', file_path: names[0], line: 1, character: 14, new_name: 'height', ...args }, signal)
  const texts = async () => await Promise.all(names.map(async (name) => await readFile(join(folder, name), 'utf8')))
  const untouched = names.map(() => 'export const tide = 1\n')
  return { ctx, folder, agent, asked, renames, clock, feed, call, lsp, texts, untouched }
}
const failed = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) as string })
/** Let every pause pass as it comes. */
async function through<T>(clock: ReturnType<typeof createManualClock>, work: Promise<T>): Promise<T> {
  const progress = { isDone: false }
  const done = work.finally(() => (progress.isDone = true))
  while (!progress.isDone) {
    await new Promise(setImmediate)
    clock.advance(4_000)
  }
  return await done
}

describe('a rename across several files', () => {
  it('is one approval that shows every file with its changes, and is made in all of them', async () => {
    const { asked, lsp, texts, agent, folder, renames } = await start()
    const result = await lsp()
    expect(asked.map(({ toolName, details }) => [toolName, details?.effect, details?.changes?.length])).toEqual([['lsp', 'Rename `tide → height` in 3 files', 3]])
    expect(asked[0]?.details?.changes?.[1]).toEqual({
      target: join(folder, 'src/part-1.ts'),
      path: 'src/part-1.ts',
      before: 'export const tide = 1\n',
      after: 'export const height = 1\n',
      hunks: [{ oldStart: 1, newStart: 1, oldText: 'export const tide = 1\n', newText: 'export const height = 1\n' }],
    })
    expect(await texts()).toEqual(names.map(() => 'export const height = 1\n'))
    // What was shown is what was made: the service was asked once.
    expect(renames).toEqual(['height'])
    expect(textOf(result)).toBe(['Renamed tide to height in 3 files:', ...names.map((name) => `${name}: 1 place`)].join('\n'))
    expect(agent.session.events().filter(({ type }) => type === 'fs/before-image')).toHaveLength(3)
    expect(fileChangesFrom(result.meta)).toEqual(names.map((name) => ({ path: join(folder, name), before: expect.stringMatching(/^[0-9a-f]{64}$/) as string })))
  })
  it('offers to allow changes in the folder that holds all of them', async () => {
    const { asked, lsp } = await start()
    await lsp()
    expect(asked[0]?.details?.always?.map(({ label }) => label)).toContain('Always allow changing files in `src/` of this workspace')
  })
  it('that is denied changes nothing', async () => {
    const { lsp, texts, untouched } = await start({ answer: { outcome: 'rejected' } })
    expect(outcomeOf(await lsp())).toEqual(failed('DENIED', /refused/))
    expect(await texts()).toEqual(untouched)
  })
  it('has a card of all files, drawn from its facts alone', async () => {
    const { lsp, ctx, agent } = await start()
    const { meta } = await lsp()
    const tool = ctx.tools.get('lsp', agent.scope)
    const args = { operation: 'rename', file_path: names[0], line: 1, character: 14, new_name: 'height' }
    expect(tool?.presentCall?.(args as never)).toEqual({ card: 'generic', title: 'Rename what stands at src/part-0.ts:1 to height', kind: 'edit', locations: [{ path: 'src/part-0.ts', line: 1 }] })
    expect(tool?.presentResult?.(args as never, { content: [], isError: false, meta: meta! })).toEqual({
      card: 'diff',
      title: 'Renamed tide to height in 3 files',
      diffs: names.map((path) => ({ path, oldText: 'export const tide = 1\n', newText: 'export const height = 1\n', oldStart: 1, newStart: 1 })),
    })
    expect(tool?.presentResult?.(args as never, { content: [], isError: false, meta: { made: 7 } })).toBeUndefined()
  })
  it('runs alone, while questions overlap', async () => {
    const { ctx, agent } = await start()
    const mode = (operation: string) => ctx.tools.executionMode({ name: 'lsp', arguments: { operation, file_path: 'a.ts', line: 1, character: 1, new_name: 'x', title: 'x' }, agent })
    expect(['rename', 'applyCodeAction', 'codeActions', 'hover'].map(mode)).toEqual(['exclusive', 'exclusive', 'parallel', 'parallel'])
  })
  it('keeps line ends, marks and what is not renamed byte for byte', async () => {
    const { lsp, folder } = await start()
    await writeFile(join(folder, names[2]!), '\u{FEFF}export const tide = 1\r\nexport const é = 2\r\n')
    await lsp()
    expect(await readFile(join(folder, names[2]!), 'utf8')).toBe('\u{FEFF}export const height = 1\r\nexport const é = 2\r\n')
  })
})

describe('policy judges every file that a change would touch', () => {
  it('a session that may only read is refused before the service is asked', async () => {
    const { lsp, renames, texts, untouched } = await start({ settings: { 'permissions.defaultPreset': 'read-only' } })
    expect(outcomeOf(await lsp())).toEqual(failed('DENIED', /read-only/))
    expect([renames, await texts()]).toEqual([[], untouched])
  })
  it('a folder that is not trusted is refused in the same way', async () => {
    const { lsp, renames } = await start({ isTrusted: false })
    expect(outcomeOf(await lsp())).toEqual(failed('WORKSPACE_UNTRUSTED', /not trusted/))
    expect(renames).toEqual([])
  })
  it('plan mode refuses it', async () => {
    const { lsp, ctx, agent, renames } = await start()
    ctx.plan.set(agent, true)
    expect(outcomeOf(await lsp())).toEqual(failed('DENIED', /[Pp]lan/))
    expect(renames).toEqual([])
  })
  const also = (path: (folder: string) => string): Languages['rename'] => {
    const place: { folder?: string } = {}
    return ({ path: from }) => {
      place.folder = from.slice(0, from.indexOf('/src/'))
      return Promise.resolve({ files: [from, path(place.folder)].map((one) => ({ path: one, edits: [{ range: at(0, 0, 1), newText: 'X' }] })), others: [] })
    }
  }
  it('a secret-looking file among them refuses all', async () => {
    const { lsp, folder, texts, untouched, asked } = await start({ rename: also((folder) => join(folder, '.env')) })
    await writeFile(join(folder, '.env'), 'KEY=1')
    expect(outcomeOf(await lsp())).toEqual(failed('DENIED', /\.env looks like a secret/))
    expect([await texts(), await readFile(join(folder, '.env'), 'utf8'), asked]).toEqual([untouched, 'KEY=1', []])
  })
  it('a file outside of the workspace is asked for, and no standing answer is offered', async () => {
    const outside = await folderOutside('rename')
    onTestFinished(() => rm(outside, { recursive: true }))
    await writeFile(join(outside, 'other.ts'), 'const other = 1\n')
    const { lsp, asked } = await start({ rename: also(() => join(outside, 'other.ts')), answer: { outcome: 'rejected' } })
    await lsp()
    expect(asked.map(({ details }) => [details?.why, details?.always])).toEqual([['It is outside of the workspace.', undefined]])
  })
  it('a rule that allows editing allows it, one that denies one of the files denies it', async () => {
    const allow = { tool: 'edit', path: 'src/**', decision: 'allow' }
    const first = await start({ settings: { 'permissions.rules': [allow] } })
    await first.lsp()
    expect([first.asked.length, (await first.texts())[2]]).toEqual([0, 'export const height = 1\n'])
    await application?.dispose()
    const second = await start({ settings: { 'permissions.rules': [allow, { tool: 'edit', path: 'src/part-2.ts', decision: 'deny' }] } })
    expect(outcomeOf(await second.lsp())).toEqual(failed('DENIED', /rule of the person denies/))
    expect(await second.texts()).toEqual(second.untouched)
  })
})

describe('a change that cannot be made whole changes nothing', () => {
  it('when a file changed while the person looked at it', async () => {
    const { lsp, texts, folder } = await start({
      answer: async () => {
        await writeFile(join(application!.folder, names[1]!), 'export const tide = 2\n')
        return { outcome: 'allowed-once' }
      },
    })
    expect(outcomeOf(await lsp())).toEqual(failed('FS_STALE_VERSION', /part-1\.ts changed/))
    expect((await texts()).every((text) => text.includes('tide'))).toBe(true)
    expect(await readFile(join(folder, names[1]!), 'utf8')).toBe('export const tide = 2\n')
  })
  it('when one of the files cannot be written', async () => {
    const { lsp, folder, texts, untouched } = await start()
    await chmod(join(folder, names[2]!), 0o444)
    expect(outcomeOf(await lsp())).toEqual(failed('FS_READONLY', /part-2\.ts/))
    expect(await texts()).toEqual(untouched)
  })
  it.each([
    ['creates a file', ['create src/new.ts'], /also create src\/new\.ts/],
    ['renames and deletes files', ['rename a.ts to b.ts', 'delete c.ts'], /also rename a\.ts to b\.ts, delete c\.ts/],
  ])('when it also %s', async (_name, others, message) => {
    const { lsp, texts, untouched, asked } = await start({ rename: ({ path }) => Promise.resolve({ files: [{ path, edits: [{ range: at(0, 0, 1), newText: 'X' }] }], others }) })
    expect(outcomeOf(await lsp())).toEqual(failed('LSP_UNSUPPORTED_OPERATION', message))
    expect([await texts(), asked]).toEqual([untouched, []])
  })
  it('when its places overlap', async () => {
    const { lsp } = await start({ rename: ({ path }) => Promise.resolve({ files: [{ path, edits: [{ range: at(0, 0, 5), newText: 'X' }, { range: at(0, 4, 6), newText: 'Y' }] }], others: [] }) })
    expect(outcomeOf(await lsp())).toEqual(failed('LSP_MALFORMED_RESPONSE', /overlap/))
  })
  it('when it gives the places of one file twice, under two names', async () => {
    const { lsp, texts, untouched, asked } = await start({ rename: ({ path }) => Promise.resolve({ files: [path, path.replace('/src/', '/src/../src/')].map((one) => ({ path: one, edits: [{ range: at(0, 13, 17), newText: 'X' }] })), others: [] }) })
    expect(outcomeOf(await lsp())).toEqual(failed('LSP_MALFORMED_RESPONSE', /under two names/))
    expect([await texts(), asked]).toEqual([untouched, []])
  })
  it('when a file that it would change is gone already', async () => {
    const { lsp, texts, untouched, asked } = await start({ rename: ({ path }) => Promise.resolve({ files: [path, `${path}.gone`].map((one) => ({ path: one, edits: [{ range: at(0, 0, 1), newText: 'X' }] })), others: [] }) })
    expect(outcomeOf(await lsp())).toEqual(failed('FS_NOT_FOUND', /part-0\.ts\.gone/))
    expect([await texts(), asked]).toEqual([untouched, []])
  })
  it('when a file is deleted while the person looks at it', async () => {
    const { lsp, folder } = await start({
      answer: async () => {
        await rm(join(application!.folder, names[1]!))
        return { outcome: 'allowed-once' }
      },
    })
    expect(outcomeOf(await lsp())).toEqual(failed('FS_NOT_FOUND', /part-1\.ts/))
    expect(await readFile(join(folder, names[0]!), 'utf8')).toBe('export const tide = 1\n')
    expect(await readdir(join(folder, 'src'))).toEqual(['part-0.ts', 'part-2.ts'])
  })
  it('when the service throws', async () => {
    const { lsp, texts, untouched, asked } = await start({ rename: () => Promise.reject(new Error('boom in the service')) })
    expect(outcomeOf(await lsp())).toEqual(failed('LSP_REFUSED', /boom in the service/))
    expect([await texts(), asked]).toEqual([untouched, []])
  })
  it('when it touches too many files', async () => {
    const files = Array.from({ length: MAX_CHANGED_FILES + 1 }, (_, index) => ({ path: `/x/${index}`, edits: [] }))
    const { lsp } = await start({ rename: () => Promise.resolve({ files, others: [] }) })
    expect(outcomeOf(await lsp())).toEqual(failed('LSP_TOO_MANY_CHANGES', /in 501 files; at most/))
  })
  it('when the call is stopped while the service thinks: its late answer is dropped', async () => {
    const late = Promise.withResolvers<LanguageEdit | null>()
    const { lsp, texts, untouched, renames } = await start({ rename: async (_request, signal) => await Promise.race([late.promise, new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))]) })
    const stop = new AbortController()
    const result = lsp({}, stop.signal)
    await expect.poll(() => renames.length).toBe(1)
    stop.abort()
    expect(outcomeOf(await result)).toMatchObject({ code: expect.stringMatching(/ABORTED/) as string })
    late.resolve({ files: [], others: [] })
    expect(await texts()).toEqual(untouched)
  })
  it('when the service does not say in time what would change', async () => {
    const { lsp, clock, renames } = await start({ timesOut: true, rename: async (_request, signal) => await new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))) })
    const result = lsp()
    await expect.poll(() => renames.length).toBe(1)
    clock.advance(TIMEOUT_MS)
    expect(outcomeOf(await result)).toEqual(failed('TOOL_TIMEOUT', /60000 ms what would change/))
  })
})

describe('a service that may still be starting', () => {
  it('is asked again until it knows what to rename', async () => {
    let count = 0
    const { lsp, clock, texts } = await start({
      rename: ({ path, newName }) => Promise.resolve(++count < 3 ? null : { files: [{ path, edits: [{ range: at(0, 13, 17), newText: newName }] }], others: [] }),
    })
    expect(textOf(await through(clock, lsp()))).toBe('Renamed tide to height in src/part-0.ts:\nsrc/part-0.ts: 1 place\n1: export const height = 1')
    expect([count, (await texts())[0]]).toEqual([3, 'export const height = 1\n'])
  })
  it('that never answers is not there', async () => {
    const { lsp, clock } = await start({ rename: () => Promise.resolve(null) })
    expect(outcomeOf(await through(clock, lsp()))).toEqual(failed('LSP_UNAVAILABLE', /\.ts files/))
  })
})

describe('what the session has read', () => {
  it('stays read after a rename, and what it has not read stays unread', async () => {
    const { call, lsp } = await start()
    await call('read', { file_path: names[0] })
    await lsp()
    expect(outcomeOf(await call('edit', { file_path: names[0], old_string: 'height', new_string: 'level' }))).toMatchObject({ path: names[0] })
    expect(outcomeOf(await call('edit', { file_path: names[1], old_string: 'height', new_string: 'level' }))).toEqual(failed('FS_NOT_OBSERVED', /has not been read/))
  })
})

it('new problems in any of the files are told with the change', async () => {
  const { lsp, feed, folder } = await start({ settings: { 'tools.newProblems.waitMs': 60_000 } })
  const problem: LanguageProblem = { range: at(0, 13, 19), severity: 'error', message: 'Duplicate identifier.', source: 'ts' }
  const paths = names.map((name) => join(folder, name))
  for (const path of paths) feed.setOpen(path, 1)
  const result = lsp()
  // Once for the text before, once for the one after.
  await expect.poll(() => feed.opened.length, { timeout: 60_000 }).toBe(2 * paths.length)
  for (const path of paths) feed.publish(path, path.endsWith('part-2.ts') ? [problem] : [], 2)
  expect(textOf(await result)).toContain('which the text before this change did not have:\n  src/part-2.ts line 1: error: Duplicate identifier. [ts]')
})

describe('code actions', () => {
  const listed: readonly LanguageCodeAction[] = [
    { title: 'Add missing import', kind: 'quickfix', isPreferred: true },
    { title: 'Move to a new file', kind: 'refactor.move', disabled: 'Only one statement.' },
    { title: 'Organize in the editor', isCommand: true },
  ]
  const edit = (folder: string, extra: Partial<LanguageEdit> = {}): LanguageEdit => ({ files: [{ path: join(folder, names[0]!), edits: [{ range: at(0, 0, 0), newText: "import './a'\n" }] }], others: [], ...extra })
  /** The edit needs the folder, which is known once the application runs. */
  const late = (extra: Partial<LanguageEdit> = {}) => ({ get edit() { return edit(application!.folder, extra) } })

  it('are listed with their kind, and what cannot be applied says why', async () => {
    const { lsp } = await start({ actions: listed })
    expect(textOf(await lsp({ operation: 'codeActions' }))).toBe('Add missing import  [quickfix]\nMove to a new file  [refactor.move]  (not here: Only one statement.)\nOrganize in the editor  (runs a command; cannot be applied)')
  })
  it.each([
    ['codeActions', {}],
    ['applyCodeAction', { title: 'Add missing import' }],
  ])('of a service that throws: %s says what it threw', async (operation, more) => {
    const { lsp, texts, untouched } = await start({ actions: () => Promise.reject(new Error('boom in the service')) })
    expect(outcomeOf(await lsp({ operation, ...more }))).toEqual(failed('LSP_REFUSED', /boom in the service/))
    expect(await texts()).toEqual(untouched)
  })
  it('whose changes cannot be worked out say what was thrown', async () => {
    const { lsp, texts, untouched, asked } = await start({ actions: listed, edit: () => Promise.reject(new Error('boom in the service')) })
    expect(outcomeOf(await lsp({ operation: 'applyCodeAction', title: 'Add missing import' }))).toEqual(failed('LSP_REFUSED', /boom in the service/))
    expect([await texts(), asked]).toEqual([untouched, []])
  })
  it('are applied by title, after one approval with their changes', async () => {
    const { lsp, texts, asked } = await start(Object.assign(late(), { actions: listed }))
    const result = await lsp({ operation: 'applyCodeAction', title: 'Add missing import' })
    expect(asked.map(({ details }) => [details?.effect, details?.changes?.map(({ path }) => path)])).toEqual([['Apply `Add missing import` in src/part-0.ts', ['src/part-0.ts']]])
    expect((await texts())[0]).toBe("import './a'\nexport const tide = 1\n")
    expect(textOf(result)).toMatch(/^Applied "Add missing import" in src\/part-0\.ts:\nsrc\/part-0\.ts: 1 place\n1: import '\.\/a'/)
  })
  it('that also run a command get their text changed alone, and say so', async () => {
    const { lsp } = await start(Object.assign(late({ command: 'editor.action.rename' }), { actions: listed }))
    expect(textOf(await lsp({ operation: 'applyCodeAction', title: 'Add missing import' }))).toContain('(The action would also run the command editor.action.rename of the editor; only its changes of text were made.)')
  })
  const refusals: readonly [name: string, title: string, edit: LanguageEdit | null, code: string, message: RegExp][] = [
    ['one that is a command', 'Organize in the editor', { files: [], others: [], command: '_typescript.organize' }, 'LSP_UNSUPPORTED_OPERATION', /by the command _typescript\.organize/],
    ['one that is disabled here', 'Move to a new file', null, 'LSP_REFUSED', /Only one statement/],
    ['one that is not there', 'Do it all', null, 'INVALID_ARGS', /There are:\n {2}Add missing import/],
  ]
  it.each(refusals)('%s is refused', async (_name, title, proposed, code, message) => {
    const { lsp, texts, untouched, asked } = await start({ actions: listed, edit: proposed })
    expect(outcomeOf(await lsp({ operation: 'applyCodeAction', title }))).toEqual(failed(code, message))
    expect([await texts(), asked]).toEqual([untouched, []])
  })
  it.each([
    [{ operation: 'rename', new_name: ' ' }, /needs new_name/],
    [{ operation: 'applyCodeAction' }, /needs title/],
  ])('%o lacks what it needs', async (args, message) => expect(outcomeOf(await (await start()).lsp(args))).toEqual(failed('INVALID_ARGS', message)))
})

describe('a name in the place of line and column', () => {
  const text = 'const tide = 1\nfunction high() {\n  return tide + tides()\n}\nconst other = tide\n'
  async function asked(args: object, ask?: LanguageAnswer) {
    const places: object[] = []
    const { call, folder } = await start({
      rename: ({ position, path }) => {
        places.push(position)
        return Promise.resolve({ files: [{ path, edits: [{ range: at(0, 0, 0), newText: '//' }] }], others: [] })
      },
      ...(ask && { ask }),
    })
    await writeFile(join(folder, 'src/names.ts'), text)
    const result = await call('lsp', { operation: 'rename', file_path: 'src/names.ts', new_name: 'x', ...args })
    return result.isError ? outcomeOf(result) : places[0]
  }
  it('is found where it stands alone', async () => expect(await asked({ symbol: 'high' })).toEqual({ line: 1, character: 9 }))
  it('is not found in a longer name', async () => expect(await asked({ symbol: 'tide', line: 3 })).toEqual({ line: 2, character: 9 }))
  it('that stands in several lines lists them', async () =>
    expect(await asked({ symbol: 'tide' })).toEqual(failed('INVALID_ARGS', /^"tide" stands in 3 lines\. Give line, or near_line for the nearest:\n {2}1: const tide = 1\n {2}3: return tide \+ tides\(\)\n {2}5: const other = tide$/)))
  it('takes the nearest to near_line', async () => expect(await asked({ symbol: 'tide', near_line: 4 })).toEqual({ line: 2, character: 9 }))
  it('takes the one place that declares it', async () =>
    expect(await asked({ symbol: 'tide' }, { kind: 'symbols', symbols: [{ name: 'tide', kind: 'constant', uri: 'file:///x', range: at(4, 0, 9) }] })).toEqual({ line: 4, character: 14 }))
  it('that is nowhere is refused', async () => expect(await asked({ symbol: 'ebb' })).toEqual(failed('INVALID_ARGS', /"ebb" does not stand in the file$/)))
  it('is looked for elsewhere when its line has it not', async () => expect(await asked({ symbol: 'high', line: 1, character: 1 })).toEqual({ line: 1, character: 9 }))
  it('or a place is needed', async () => expect(await asked({})).toEqual(failed('INVALID_ARGS', /line/)))
})
