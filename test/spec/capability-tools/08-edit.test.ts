import { rm, symlink, truncate } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { createFileRig, failed, type FileRig } from '../../support/file-rig.ts'
import { notebookJson } from '../../support/notebook-json.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/* Chapter 8, the line "edit" of chapter 19, 20.2, 20.3 and the notebooks of 20.12. What needs an editor stands in test/editor/file-system.test.ts. */

let rig: FileRig
beforeAll(async () => {
  rig = await createFileRig()
})
afterAll(() => rig.application.dispose())
beforeEach(() => rig.next())

/** A file that was read, after an edit of it. */
const edited = async (before: string | Uint8Array, old: string, next: string, more: object = {}) => {
  await rig.put('f', before)
  await rig.read('f')
  const result = await rig.edit('f', old, next, more)
  return { result, after: await rig.contentOf('f') }
}
const refused = async (before: string, args: readonly [old: string, next: string, more?: object], code: string, message: RegExp) => {
  const { result, after } = await edited(before, ...args)
  expect(outcomeOf(result)).toEqual(failed(code, message))
  expect(after).toBe(before)
}

describe('edit', () => {
  it('0 matches', () => refused('one\n', ['two', 'x'], 'FS_EDIT_NOT_FOUND', /was not found/))
  it('1 match', async () => {
    const { result, after } = await edited('one\ntwo\nthree\n', 'two', '2')
    expect(after).toBe('one\n2\nthree\n')
    expect(textOf(result)).toBe('Edited f at line 2. It now reads:\n1: one\n2: 2\n3: three')
    expect(outcomeOf(result)).toMatchObject({ path: 'f', before: 'one\ntwo\nthree\n', after: 'one\n2\nthree\n' })
  })
  it('2 matches', () => refused('x\ny\nx\n', ['x', 'z'], 'FS_AMBIGUOUS_EDIT', /2 times[^]*\n {2}line 1: x\n {2}line 3: x$/))
  it('`replace_all` count', async () => {
    const { result, after } = await edited('x x\nx\n', 'x', 'y', { replace_all: true })
    expect([after, textOf(result)]).toEqual(['y y\ny\n', 'Edited f in 3 places. It now reads:\n1: y y\n2: y'])
    expect(outcomeOf(result)).toMatchObject({ replacements: 3, lines: [1, 1, 2] })
  })
  it('`aa` in `aaa` counts once', async () => expect((await edited('aaa', 'aa', 'b')).after).toBe('ba'))
  it('`$&` literal', async () => expect((await edited('a b c', 'b', "$& $1 $$ $'")).after).toBe("a $& $1 $$ $' c"))
  it('old == new', () => refused('x', ['x', 'x'], 'INVALID_ARGS', /the same text/))
  it('empty old', () => refused('x', ['', 'y'], 'INVALID_ARGS', /old_string is empty/))
  it('multi-line old vs CRLF file', async () => expect((await edited('a\r\nb\r\nc\r\n', 'a\nb\n', 'A\nB\nX\n')).after).toBe('A\r\nB\r\nX\r\nc\r\n'))
  it('mixed-EOL file keeps untouched lines', async () => expect((await edited('a\r\nb\nc\r\nd\re\n', 'b', 'B\nC')).after).toBe('a\r\nB\nC\nc\r\nd\re\n'))
  it('BOM kept', async () => expect((await edited('\u{FEFF}a b\n', 'a', 'A')).after).toBe('\u{FEFF}A b\n'))
  it('delete whole content', async () => expect((await edited('all\n', 'all\n', '')).after).toBe(''))
  it('late NUL stays where it is', async () => {
    const before = `${'a\n'.repeat(5_000)}\0end x\n`
    expect((await edited(before, 'x', 'y')).after).toBe(before.replace('x', 'y'))
  })
  it('early NUL is refused as binary', async () => {
    await rig.put('f', 'a\0b')
    expect(outcomeOf(await rig.read('f'))).toEqual(failed('FS_NOT_TEXT'))
  })
  it('hunk card for pure insertion and for pure deletion', async () => {
    const card = async (before: string, old: string, next: string) => {
      const { result } = await edited(before, old, next)
      return rig.application.ctx.tools.get('edit')?.presentResult?.({ file_path: 'f', old_string: old, new_string: next }, result)
    }
    await rig.put('f', '')
    await rig.read('f')
    const insertion = await rig.write('f', 'new\n')
    expect(rig.application.ctx.tools.get('write')?.presentResult?.({ file_path: 'f', content: 'new\n' }, insertion)).toMatchObject({ card: 'diff', diffs: [{ oldText: null, newText: 'new\n' }] })
    expect(await card('gone\n', 'gone\n', '')).toMatchObject({ card: 'diff', diffs: [{ oldText: 'gone\n', newText: '' }] })
    expect(await card('a\nb\n', 'a\n', 'a\nx\n')).toMatchObject({ card: 'diff', diffs: [{ path: 'f', oldText: 'a\nb\n', newText: 'a\nx\nb\n', oldStart: 1, newStart: 1 }] })
  })
  it('old string over the end without a line end', async () => expect((await edited('a\nb', '\nb', '\nc\n')).after).toBe('a\nc\n'))
  it('new string that holds the old one', async () => expect((await edited('ab', 'b', 'bbb')).after).toBe('abbb'))
  it('through a symlink', async () => {
    await rig.put('real', 'a')
    await symlink('real', rig.at('l'))
    await rig.read('l')
    await rig.edit('l', 'a', 'b')
    expect(await rig.contentOf('real')).toBe('b')
  })
  it('hundreds of thousands of matches are replaced as quickly as one', async () => {
    const { result, after } = await edited('x,'.repeat(300_000) + 'x\n'.repeat(200_000), 'x', 'yy', { replace_all: true })
    expect(after).toBe('yy,'.repeat(300_000) + 'yy\n'.repeat(200_000))
    expect(textOf(result)).toMatch(/^Edited f in 500000 places\. It now reads:\n1: yy,yy/)
  })
  it('a thousand edits of one file, each on what the last one made', async () => {
    await rig.put('f', Array.from({ length: 1_000 }, (_, index) => `old ${index}.\r\n`).join(''))
    await rig.read('f', { limit: 1 })
    for (let index = 0; index < 1_000; index += 1) expect((await rig.edit('f', `old ${index}.`, `new ${index}.`)).isError).toBe(false)
    expect(await rig.contentOf('f')).toBe(Array.from({ length: 1_000 }, (_, index) => `new ${index}.\r\n`).join(''))
  })
  it('a text of more than 10 MB is not given whole, but its changed lines are', async () => {
    const { result } = await edited(`${'line\n'.repeat(2_200_000)}end\n`, 'end', 'END')
    expect(textOf(result)).toBe('Edited f at line 2200001. It now reads:\n2199998: line\n2199999: line\n2200000: line\n2200001: END')
    expect(outcomeOf(result)).toMatchObject({ before: null, after: null, added: 1, removed: 1 })
    expect(rig.application.ctx.tools.get('edit')?.presentResult?.({ file_path: 'f', old_string: 'end', new_string: 'END' }, result)).toMatchObject({ diffs: [{ newStart: 2_199_998 }] })
  })
  it('a file over what can be changed is refused, and stays', async () => {
    await rig.put('f', 'x\n')
    await rig.read('f')
    await truncate(rig.at('f'), 60 * 1024 * 1024)
    expect(outcomeOf(await rig.edit('f', 'x', 'y'))).toEqual(failed('FS_TOO_LARGE', /62914560 bytes/))
  })
  it('a folder that took the place of the file', async () => {
    await rig.put('f', 'x')
    await rig.read('f')
    await rm(rig.at('f'))
    await rig.put('f/inside', 'x')
    expect(outcomeOf(await rig.edit('f', 'x', 'y'))).toEqual(failed('FS_NOT_REGULAR_FILE', /folder/))
  })
})

describe('an edit that fails teaches', () => {
  const source = 'class A {\n\trun() {\n\t\treturn “x”\n\t}\n\n\tstop() {}   \n}\n'
  const rows: readonly [name: string, args: readonly [old: string, next: string], message: RegExp][] = [
    ['indentation, tabs for spaces', ['    run() {\n        return “x”', 'y'], /Only the indentation differs: the file has tabs there, old_string has spaces\. The nearest region:\n1: class A \{\n2: \trun\(\) \{/],
    ['smart quotes', ['return "x"', 'y'], /Only typographic characters \(.*\) differ\. The nearest region:\n1: class A \{\n2: \trun\(\) \{\n3: \t\treturn “x”/],
    ['white space at line ends', ['\tstop() {}\n}', 'y'], /Only white space at line ends differs\. The nearest region:\n4: \t\}\n5: \n6: \tstop/],
    ['white space inside lines', ['run()  {', 'y'], /Only white space inside lines differs/],
    ['upper and lower case', ['Class a {', 'y'], /Only upper and lower case differs/],
    ['line ends', ['class A {\r\trun', 'y'], /Only line ends differ: the lines there end in LF/],
    ['already applied', ['walk() {', 'stop() {}'], /new_string stands there already, at line 6/],
    ['a unique anchor in other surroundings', ['\t\treturn “x”\n\t}\n\n\tpause() {}', 'y'], /It differs from line 6 on\. The nearest region:\n1: class A \{/],
    ['nothing alike', ['qqqqqqqqqq', 'y'], /No part of the file resembles it\. Read the file again/],
  ]
  it.each(rows)('%s', (_name, [old, next], message) => refused(source, [old, next], 'FS_EDIT_NOT_FOUND', message))
  it('already applied shows the region', () => refused('a\n  stop() {}\nb\n', ['walk() {}', 'stop() {}'], 'FS_EDIT_NOT_FOUND', /stands there already, at line 2: .* The nearest region:\n1: a\n2: {3}stop\(\) \{\}\n3: b$/))
  it('what is nearly there goes before a new text that stands elsewhere', () =>
    refused('call(one, two)\nx\ny\nz\n\tcall(one)\n', ['    call(one)', 'call(one, two)'], 'FS_EDIT_NOT_FOUND', /Only the indentation differs: .* \(new_string stands in the file already, at line 1\.\) The nearest region:\n3: y\n4: z\n5: \tcall\(one\)$/))
  it('in a line with a very long run of blanks, at once', () => refused(`a\nb${' '.repeat(300_000)}c\n`, ['zzz qqq', 'x'], 'FS_EDIT_NOT_FOUND', /No part of the file resembles it/))
  it('near_line with two equally near is refused', () => refused('x\na\nx\nb\nx\n', ['x', 'y', { near_line: 4 }], 'FS_AMBIGUOUS_EDIT', /3 times/))
  it('near_line that tells them apart', async () => expect((await edited('x\na\nb\nx\n', 'x', 'y', { near_line: 3 })).after).toBe('x\na\nb\ny\n'))
})

describe('an edit of a notebook', () => {
  const json = notebookJson()
  const put = async (text: string) => {
    await rig.put('a.ipynb', text)
    await rig.read('a.ipynb')
  }
  /** Only the JSON of one source differs. */
  const expectSources = async (before: string, changed: Readonly<Record<number, Json>>) => {
    const after = await rig.contentOf('a.ipynb')
    const sourceless = (text: string) => text.replaceAll(/"source": (\[[^\]]*\]|"(?:[^"\\]|\\.)*")/g, '"source": …')
    expect(sourceless(after)).toBe(sourceless(before))
    const cells = (text: string) => (JSON.parse(text) as { readonly cells: readonly { readonly source: Json }[] }).cells.map(({ source }) => source)
    expect(cells(after)).toEqual(cells(before).map((source, index) => changed[index] ?? source))
  }

  it('changes the source of a cell by the text that read shows, and shows it again with the same numbers', async () => {
    await put(json)
    const result = await rig.edit('a.ipynb', 'x = 1\nprint(x)', 'x = 2\nprint(x, "é")')
    expect(textOf(result)).toBe('Edited a.ipynb at line 6. It now reads:\n3: Words é\n4: \n5: # %% cell 2 [code python] id=calc\n6: x = 2\n7: print(x, "é")\n8: x\n9: # %% output of cell 2 [stdout]\n10: 1')
    await expectSources(json, { 1: ['x = 2\n', 'print(x, "é")\n', 'x'] })
  })
  it('keeps the rest of the source to the letter', async () => {
    const own = json.replace('"Words é"', '"Words \\u00e9 \\/"').replace('"x = 1\\n",\n', '"x = 1\\n" ,\n')
    await put(own)
    await rig.edit('a.ipynb', '# Title', '# Other\n\nmore')
    expect(await rig.contentOf('a.ipynb')).toBe(own.replace('"# Title\\n",', '"# Other\\n",\n    "\\n",\n    "more\\n",'))
  })
  it('writes into an empty cell by way of its JSON, and empties a cell', async () => {
    await put(json)
    await rig.edit('a.ipynb', '# Title\nWords é', '')
    await expectSources(json, { 0: [] })
    await rig.edit('a.ipynb', '"id": "empty",\n   "metadata": {},\n   "outputs": [],\n   "source": []', '"id": "empty",\n   "metadata": {},\n   "outputs": [],\n   "source": ["y"]')
    await expectSources(json, { 0: [], 2: ['y'] })
  })
  it('keeps a source that is one string one', async () => {
    await put(json)
    await rig.edit('a.ipynb', 'plain string', 'two\n"lines"')
    await expectSources(json, { 3: 'two\n"lines"' })
  })
  it('keeps indentation by four, CRLF and a BOM', async () => {
    const own = `\u{FEFF}${JSON.stringify(JSON.parse(json), null, 4).replaceAll('\n', '\r\n')}`
    await put(own)
    await rig.edit('a.ipynb', 'print(x)\n', 'print(x)\nprint(y)\n')
    expect(await rig.contentOf('a.ipynb')).toBe(own.replace('"print(x)\\n",\r\n', '"print(x)\\n",\r\n                "print(y)\\n",\r\n'))
  })
  it('on one line stays on one line', async () => {
    const own = JSON.stringify(JSON.parse(json))
    await put(own)
    await rig.edit('a.ipynb', 'x = 1', 'x = 1\ny = 2')
    expect(await rig.contentOf('a.ipynb')).toBe(own.replace('"x = 1\\n",', '"x = 1\\n","y = 2\\n",'))
  })
  it('does not match headings or outputs, nor across cells', async () => {
    await put(json)
    expect(outcomeOf(await rig.edit('a.ipynb', '<Figure>', 'x'))).toMatchObject({ replacements: 1 })
    await rig.next()
    await put(json)
    expect(outcomeOf(await rig.edit('a.ipynb', 'id=calc', 'x'))).toEqual(failed('FS_EDIT_NOT_FOUND'))
    expect(outcomeOf(await rig.edit('a.ipynb', 'Words é\n\n# %% cell 2', 'x'))).toEqual(failed('FS_EDIT_NOT_FOUND'))
    expect(await rig.contentOf('a.ipynb')).toBe(json)
  })
  it('that would leave no notebook is refused', async () => {
    await put(json)
    expect(outcomeOf(await rig.edit('a.ipynb', '"nbformat": 4,', '"nbformat": ,'))).toEqual(failed('INVALID_ARGS', /no notebook any more/))
    expect(await rig.contentOf('a.ipynb')).toBe(json)
  })
  it('of several places is told apart by the numbers of read', async () => {
    const own = notebookJson({ firstSource: ['plain string'] })
    await put(own)
    expect(outcomeOf(await rig.edit('a.ipynb', 'plain string', 'x'))).toEqual(failed('FS_AMBIGUOUS_EDIT', /2 times[^]*line 6: plain string\n/))
    await rig.edit('a.ipynb', 'plain string', 'x', { near_line: 7 })
    await expectSources(own, { 1: ['x'] })
  })
  it('that changed meanwhile is stale', async () => {
    await put(json)
    await rig.put('a.ipynb', json.replace('x = 1', 'x = 9'))
    rig.nextStep()
    expect(outcomeOf(await rig.edit('a.ipynb', 'print(x)', 'y'))).toEqual(failed('FS_STALE_VERSION', /Nothing was done\.[^]*\n-x = 1\n\+x = 9\n print\(x\)\nIt need not be read again/))
    rig.nextStep()
    expect((await rig.edit('a.ipynb', 'print(x)', 'y')).isError).toBe(false)
    await expectSources(json, { 1: ['x = 9\n', 'y\n', 'x'] })
  })
  it('in what read does not show is stale, and says so', async () => {
    await put(json)
    await rig.edit('a.ipynb', 'x = 1', 'x = 2')
    await rig.put('a.ipynb', json.replace('x = 1', 'x = 2').replace('"execution_count": 3', '"execution_count": 4'))
    rig.nextStep()
    expect(outcomeOf(await rig.edit('a.ipynb', 'print(x)', 'y'))).toEqual(failed('FS_STALE_VERSION', /Nothing that read shows of it is different/))
  })
  it('may follow an edit without a read', async () => {
    await put(json)
    await rig.edit('a.ipynb', 'x = 1', 'x = 2')
    expect((await rig.edit('a.ipynb', 'x = 2', 'x = 3')).isError).toBe(false)
  })
})
