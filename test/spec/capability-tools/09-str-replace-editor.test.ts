import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { MAX_OUTPUT_CHARS } from '../../../extension/tools/files/str-replace-editor.ts'
import { outcomeOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
let agent: Agent
let folder: string
let count = 0
beforeAll(async () => {
  application = await wholeApplication({ settings: { 'permissions.defaultPreset': 'danger-full-access' } })
})
afterAll(() => application.dispose())
beforeEach(async () => {
  folder = join(application.folder, `case-${++count}`)
  await mkdir(folder)
  agent = await application.ctx.agents.create({ cwd: folder, preset: 'minimal' })
  agent.session.append({ type: 'turn/start', data: { turn: 1 } })
})

const at = (name: string) => join(folder, name)
const put = (name: string, text: string | Uint8Array) => writeFile(at(name), text)
const contentOf = (name: string) => readFile(at(name), 'utf8')
const run = (command: string, path: string, more: object = {}): Promise<ToolResult> =>
  application.ctx.tools.execute({ callId: `call-${++count}`, name: 'str_replace_editor', arguments: { command, path, ...more }, agent, signal: new AbortController().signal })
const view = (name: string, more: object = {}) => run('view', at(name), more)
const failed = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) as string })

describe('view', () => {
  it('numbers lines six wide, counts what follows the last line end, and authorises a change', async () => {
    await put('a', 'one\ntwo\r\n')
    expect(outcomeOf(await view('a'))).toBe(`${at('a')} (3 lines)\n     1  one\n     2  two\r\n     3  `)
    expect(outcomeOf(await run('str_replace', at('a'), { old_str: 'one', new_str: '1' }))).toBe(`Replaced the text in ${at('a')}.`)
  })
  it('empty file 1 line', async () => {
    await put('a', '')
    expect(outcomeOf(await view('a'))).toBe(`${at('a')} (1 line)\n     1  `)
  })
  it('view range -1 is the end', async () => {
    await put('a', '1\n2\n3')
    expect(outcomeOf(await view('a', { view_range: [2, -1] }))).toBe(`${at('a')} (3 lines, lines 2 to 3)\n     2  2\n     3  3`)
  })
  it.each([
    [[1], /two whole numbers/],
    [[1, 2, 3], /two whole numbers/],
    [[0, 2], /begins at line 0/],
    [[4, 4], /begins at line 4, and the file has 3 lines/],
    [[1, 9], /ends at line 9/],
    [[3, 2], /before it begins/],
  ])('view range errors: %j', async (view_range, message) => {
    await put('a', '1\n2\n3')
    expect(outcomeOf(await view('a', { view_range }))).toEqual(failed('INVALID_ARGS', message))
  })
  it('directory listing filters and order: two levels, by code units, without hidden names, node_modules and __pycache__', async () => {
    await mkdir(at('d/e/f'), { recursive: true })
    await mkdir(at('d/node_modules'))
    await mkdir(at('d/__pycache__'))
    for (const name of ['d/B', 'd/a', 'd/.hidden', 'd/e/x', 'd/e/f/deep']) await put(name, '')
    expect(outcomeOf(await view('d'))).toBe([`${at('d')}: what is in it, two levels deep, without hidden files`, `d\t${at('d')}`, `f\t${at('d/B')}`, `f\t${at('d/a')}`, `d\t${at('d/e')}`, `d\t${at('d/e/f')}`, `f\t${at('d/e/x')}`].join('\n'))
    expect(outcomeOf(await view('d', { view_range: [1, 2] }))).toEqual(failed('INVALID_ARGS', /for files/))
  })
  it('keeps the head of a long answer and says how to see the rest', async () => {
    await put('a', 'x'.repeat(MAX_OUTPUT_CHARS))
    const text = outcomeOf(await view('a')) as string
    expect([text.slice(0, MAX_OUTPUT_CHARS).length, text.slice(MAX_OUTPUT_CHARS)]).toEqual([MAX_OUTPUT_CHARS, expect.stringMatching(/^\n\(Cut at 16000 characters\. Find the lines/)])
  })
  it('remembers what is not there, so that it can be created', async () => {
    expect(outcomeOf(await view('a'))).toEqual(failed('FS_NOT_FOUND', /does not exist/))
    expect(outcomeOf(await run('create', at('a'), { file_text: 'x' }))).toBe(`Created ${at('a')}.`)
  })
  it.each([
    ['a FIFO', 'pipe', 'FS_NOT_REGULAR_FILE'],
    ['binary content', 'bin', 'FS_NOT_TEXT'],
  ])('refuses %s', async (_name, name, code) => {
    execFileSync('mkfifo', [at('pipe')])
    await put('bin', Buffer.from([1, 0, 255, 254, 0]))
    expect(outcomeOf(await view(name))).toEqual(failed(code, /./))
  })
})

describe('create', () => {
  it('makes a file with its folders, also an empty one', async () => {
    await run('create', at('new/sub/a'), { file_text: 'x\r\ny' })
    await run('create', at('empty'), { file_text: '' })
    expect([await contentOf('new/sub/a'), await contentOf('empty')]).toEqual(['x\r\ny', ''])
  })
  it.each([
    ['create existing: a file that is there', { file_text: 'x' }, /is there already/],
    ['no text', {}, /needs file_text/],
  ])('refuses %s, and nothing is changed', async (_name, more, message) => {
    await put('a', 'as it was')
    expect(outcomeOf(await run('create', at('a'), more))).toEqual(failed('INVALID_ARGS', message))
    expect(await contentOf('a')).toBe('as it was')
  })
})

describe('str_replace', () => {
  const rows: readonly [name: string, before: string, old_str: string, new_str: string | undefined, after: string][] = [
    ['replaces the one match', 'a b c', 'b', 'B', 'a B c'],
    ['deletes without new_str', 'a b c', ' b', undefined, 'a c'],
    ['takes text literally', 'a.b', 'a.b', '$&$1', '$&$1'],
    ['keeps line ends that it does not touch', 'a\r\nb\nc\r\n', 'b', 'B', 'a\r\nB\nc\r\n'],
    ['CR not normalised: it is matched as data', 'a\r\nb', 'a\r\n', 'x', 'xb'],
    ['keeps a BOM', '\u{FEFF}a b', 'a', 'A', '\u{FEFF}A b'],
    ['counts matches that do not overlap', 'aaa', 'aa', 'b', 'ba'],
  ]
  it.each(rows)('%s', async (_name, before, old_str, new_str, after) => {
    await put('a', before)
    await view('a')
    expect((await run('str_replace', at('a'), { old_str, ...(new_str !== undefined && { new_str }) })).isError).toBe(false)
    expect(await contentOf('a')).toBe(after)
  })
  const refused: readonly [name: string, before: string, more: object, code: string, message: RegExp][] = [
    ['a miss', 'a b', { old_str: 'x' }, 'FS_EDIT_NOT_FOUND', /was not found in .* No part of the file resembles it/],
    ['CR not normalised: a match that needs other line ends', 'a\r\nb', { old_str: 'a\nb' }, 'FS_EDIT_NOT_FOUND', /Only line ends differ: the lines there end in CRLF, those of old_str do not\. The nearest region:\n1: a/],
    ['ambiguous lists lines: several matches', 'x\ny\nx\n', { old_str: 'x' }, 'FS_AMBIGUOUS_EDIT', /2 times .*\n {2}line 1: x\n {2}line 3: x$/],
    ['an empty old_str', 'a', { old_str: '' }, 'INVALID_ARGS', /may not be empty/],
    ['no old_str', 'a', {}, 'INVALID_ARGS', /needs old_str/],
  ]
  it.each(refused)('refuses %s, and nothing is changed', async (_name, before, more, code, message) => {
    await put('a', before)
    await view('a')
    expect(outcomeOf(await run('str_replace', at('a'), more))).toEqual(failed(code, message))
    expect(await contentOf('a')).toBe(before)
  })
  it('asks the guard before the arguments', async () => {
    await put('a', 'a')
    expect(outcomeOf(await run('str_replace', at('a'), { old_str: '' }))).toEqual(failed('FS_NOT_OBSERVED', /Read it first/))
  })
  it('refuses a file that changed since it was viewed', async () => {
    await put('a', 'a')
    await view('a')
    await put('a', 'b')
    expect(outcomeOf(await run('str_replace', at('a'), { old_str: 'b', new_str: 'c' }))).toEqual(failed('FS_STALE_VERSION', /changed since/))
  })
})

describe('insert', () => {
  const rows: readonly [name: string, before: string, insert_line: number, after: string][] = [
    ['insert 0: at the top', 'a\nb\n', 0, 'X\na\nb\n'],
    ['after a line', 'a\nb\n', 1, 'a\nX\nb\n'],
    ['after the last line', 'a\nb\n', 2, 'a\nb\nX\n'],
    ['insert at count: after what follows the last line end', 'a\nb\n', 3, 'a\nb\n\nX'],
    ['after a last line without an end', 'a\nb', 2, 'a\nb\nX'],
    ['into an empty file', '', 0, 'X'],
    ['of a CRLF file with its line ends', 'a\r\nb\r\n', 1, 'a\r\nX\r\nb\r\n'],
    ['at the top of a CRLF file', 'a\r\nb', 0, 'X\r\na\r\nb'],
    ['after the last line of a CRLF file', 'a\r\nb', 2, 'a\r\nb\r\nX'],
    ['of mixed line ends with those of the place', 'a\nb\r\nc\r\n', 1, 'a\nX\r\nb\r\nc\r\n'],
  ]
  it.each(rows)('puts whole lines %s', async (_name, before, insert_line, after) => {
    await put('a', before)
    await view('a')
    expect(outcomeOf(await run('insert', at('a'), { insert_line, new_str: 'X' }))).toBe(`Inserted the text into ${at('a')} after line ${insert_line}.`)
    expect(await contentOf('a')).toBe(after)
  })
  it('takes a CR that is sent as data', async () => {
    await put('a', 'a\r\nb\r\n')
    await view('a')
    await run('insert', at('a'), { insert_line: 1, new_str: 'X\r' })
    expect(await contentOf('a')).toBe('a\r\nX\r\nb\r\n')
  })
  it.each([
    ['a line past the end', { insert_line: 9, new_str: 'x' }, /from 0 to 2/],
    ['a line below 0', { insert_line: -1, new_str: 'x' }, /from 0 to 2/],
    ['no line', { new_str: 'x' }, /needs insert_line and new_str/],
    ['no text', { insert_line: 1 }, /needs insert_line and new_str/],
  ])('refuses %s, and nothing is changed', async (_name, more, message) => {
    await put('a', 'a\nb')
    await view('a')
    expect(outcomeOf(await run('insert', at('a'), more))).toEqual(failed('INVALID_ARGS', message))
    expect(await contentOf('a')).toBe('a\nb')
  })
})

describe('the path', () => {
  it('relative path refused, with the likely absolute one', async () =>
    expect(outcomeOf(await run('view', './src/a'))).toEqual(failed('INVALID_ARGS', new RegExp(`Maybe you mean ${folder}/src/a\\.`))))
  it('may not be blank', async () => expect(outcomeOf(await run('view', ' '))).toEqual(failed('INVALID_ARGS', /blank/)))
  it('may be a folder for view alone', async () => {
    await mkdir(at('d'))
    for (const [command, more] of [['str_replace', { old_str: 'a' }], ['insert', { insert_line: 0, new_str: 'x' }]] as const) {
      expect((await run(command, at('d'), more)).isError).toBe(true)
    }
  })
})

it('is exclusive, offers no escalation and keeps the file as it was', async () => {
  await put('a', 'before')
  await view('a')
  await run('str_replace', at('a'), { old_str: 'before', new_str: 'after' })
  expect(application.ctx.tools.executionMode({ name: 'str_replace_editor', arguments: { command: 'view', path: at('a') }, agent })).toBe('exclusive')
  const image = agent.session.events().find(({ type }) => type === 'fs/before-image')
  expect(image?.data).toMatchObject({ path: at('a'), digest: expect.any(String) as string })
})

describe('its cards', () => {
  const call = (args: object) => application.ctx.tools.get('str_replace_editor', agent.scope)?.presentCall?.(args as never)
  it.each([
    [{ command: 'view', path: '/a', view_range: [3, 4] }, { card: 'generic', title: 'View /a', kind: 'read', subject: '/a', locations: [{ path: '/a', line: 3 }] }],
    [{ command: 'create', path: '/a', file_text: 'x' }, { card: 'diff', title: 'Create /a', diffs: [{ path: '/a', oldText: null, newText: 'x' }], locations: [{ path: '/a' }] }],
    [{ command: 'str_replace', path: '/a', old_str: 'x' }, { card: 'diff', title: 'Edit /a', diffs: [{ path: '/a', oldText: 'x', newText: '' }], locations: [{ path: '/a' }] }],
    [{ command: 'insert', path: '/a', insert_line: 2, new_str: 'x' }, { card: 'generic', title: 'Insert into /a', kind: 'edit', subject: '/a', content: [{ type: 'text', text: 'x' }], locations: [{ path: '/a', line: 2 }] }],
    [{ command: 'undo', path: '/a' }, undefined],
    [{ command: 'view' }, undefined],
  ])('of %j', (args, card) => expect(call(args)).toEqual(card))
  it('has no completed one', () => expect(application.ctx.tools.get('str_replace_editor', agent.scope)?.presentResult).toBeUndefined())
})
