import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { chmod, lstat, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { ChangeOutcome, FileErrorCode } from '../../extension/capabilities/file-system.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { EditorFileSystem } from '../../extension/platform/vscode/editor-file-system.ts'
import { createDiskWorld } from '../contract/disk-world.ts'
import { fileSystemContract } from '../contract/file-system.suite.ts'

const maxBytes = 1_000_000

const createWorld = () => {
  const files = new EditorFileSystem(new NodeFileSystem())
  return createDiskWorld(files, () => files.dispose())
}

describe('the file system of the editor', () => {
  fileSystemContract({ describe, it, create: createWorld })
})

describe('a file that is open in the editor', () => {
  let folder: string
  let files: EditorFileSystem

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'open-files-')))
    files = new EditorFileSystem(new NodeFileSystem())
    // An editor in a browser saves by itself after a second.
    await vscode.workspace.getConfiguration('files').update('autoSave', 'off', vscode.ConfigurationTarget.Global)
  })
  after(async () => {
    files.dispose()
    await vscode.workspace.getConfiguration('files').update('autoSave', undefined, vscode.ConfigurationTarget.Global)
    await rm(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    // Closing a changed editor would ask; the text is thrown away first.
    for (const document of vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && uri.scheme === 'file')) {
      await vscode.window.showTextDocument(document)
      await vscode.commands.executeCommand('workbench.action.files.revert')
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
  })

  const lines = (count: number, end = '\n') => Array.from({ length: count }, (_, index) => `line ${index + 1}${end}`).join('')
  const put = async (name: string, content: string | Uint8Array) => {
    await writeFile(join(folder, name), content)
    // Files that stand there for long; one that was written a moment ago is another matter.
    await utimes(join(folder, name), new Date(0), new Date(1_700_000_000_000))
    return vscode.Uri.file(join(folder, name))
  }
  const onDisk = async (name: string) => await readFile(join(folder, name), 'utf8')
  const open = async (uri: vscode.Uri) => await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri))
  /** As the person types, unsaved. */
  const type = async (editor: vscode.TextEditor, line: number, text: string) =>
    ok(await editor.edit((edit) => edit.insert(new vscode.Position(line, 0), text)))
  const replace = async (name: string, from: string, to: string): Promise<ChangeOutcome> => {
    const target = await files.resolve(name, folder)
    const { text, version } = await files.readText(target, { maxBytes })
    const start = text.indexOf(from)
    ok(start >= 0, `${from} stands in the file`)
    return await files.editText({ target, replacements: [{ start, end: start + from.length, newText: to }], expect: { kind: 'version', version }, label: 'Bosun: edit' })
  }
  const failsWith = async (work: Promise<unknown>, code: FileErrorCode) =>
    await rejects(work, (error: unknown) => {
      equal((error as { code?: unknown }).code, code, String(error))
      return true
    })
  const shownTabs = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label))

  it('keeps what the person has not saved; undo takes back the change of the agent alone; cursor and focus stay', async () => {
    const editor = await open(await put('dirty.txt', lines(60)))
    await type(editor, 0, 'mine\n')
    editor.selection = new vscode.Selection(3, 2, 3, 5)
    editor.revealRange(new vscode.Range(3, 0, 3, 0))
    const typed = editor.document.getText()
    const [range] = editor.visibleRanges

    const outcome = await replace('dirty.txt', 'line 50\n', 'agent was here\nand here\n')

    deepEqual([outcome.isUnsaved, outcome.wasReformatted, outcome.before], [true, false, typed])
    equal(editor.document.getText(), typed.replace('line 50\n', 'agent was here\nand here\n'))
    equal(outcome.after, editor.document.getText())
    equal(await onDisk('dirty.txt'), lines(60), 'the disk is as it was')
    ok(editor.document.isDirty)
    equal(vscode.window.activeTextEditor, editor)
    ok(editor.selection.isEqual(new vscode.Selection(3, 2, 3, 5)))
    equal(editor.visibleRanges[0]?.start.line, range?.start.line)

    await vscode.commands.executeCommand('undo')
    equal(editor.document.getText(), typed)
    await vscode.commands.executeCommand('undo')
    equal(editor.document.getText(), lines(60))
  })

  it('is saved when it was saved before, as one undo stop', async () => {
    const editor = await open(await put('clean.txt', lines(20)))
    const outcome = await replace('clean.txt', 'line 3\n', 'third\n')
    deepEqual([outcome.isUnsaved, editor.document.isDirty], [false, false])
    equal(await onDisk('clean.txt'), lines(20).replace('line 3\n', 'third\n'))
    equal((await files.readText(await files.resolve('clean.txt', folder), { maxBytes })).version, outcome.version)
    await vscode.commands.executeCommand('undo')
    equal(editor.document.getText(), lines(20))
  })

  it('is edited again without reading in between', async () => {
    await open(await put('twice.txt', 'a b c\n'))
    const target = await files.resolve('twice.txt', folder)
    const first = await replace('twice.txt', 'a', 'A')
    await files.editText({ target, replacements: [{ start: 2, end: 3, newText: 'B' }], expect: { kind: 'version', version: first.version }, label: 'Bosun: edit' })
    equal(await onDisk('twice.txt'), 'A B c\n')
  })

  it('that is not the active one changes in the background', async () => {
    const background = await put('background.txt', lines(5))
    await open(background)
    const active = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(await put('active.txt', 'x\n')), { preview: false })
    const tabs = shownTabs()
    await replace('background.txt', 'line 2', 'second')
    equal(await onDisk('background.txt'), lines(5).replace('line 2', 'second'))
    equal(vscode.window.activeTextEditor, active)
    deepEqual(shownTabs(), tabs)
  })

  it('that no tab shows is changed on the disk and opens none', async () => {
    const uri = await put('hidden.txt', 'hidden\n')
    const document = await vscode.workspace.openTextDocument(uri)
    const tabs = shownTabs()
    await replace('hidden.txt', 'hidden', 'seen')
    equal(await onDisk('hidden.txt'), 'seen\n')
    deepEqual(shownTabs(), tabs)
    equal(document.isDirty, false)
  })

  it('is read as the person sees it', async () => {
    const editor = await open(await put('seen.txt', 'old\n'))
    await type(editor, 0, 'unsaved ')
    const target = await files.resolve('seen.txt', folder)
    const file = await files.readText(target, { maxBytes })
    deepEqual([file.text, file.source, file.isDirty], ['unsaved old\n', 'buffer', true])
    const { lines: shown, isDirty } = await files.readLines(target, { offset: 1, limit: 10, maxLineLength: 100, maxBytes: 1000 })
    deepEqual([shown.map(({ text }) => text), isDirty], [['unsaved old'], true])
  })

  it('with unsaved text that was not read is stale', async () => {
    const editor = await open(await put('unread.txt', 'old\n'))
    const target = await files.resolve('unread.txt', folder)
    const { version } = await files.readText(target, { maxBytes })
    await type(editor, 0, 'mine ')
    await failsWith(files.writeText({ target, text: 'all new\n', expect: { kind: 'version', version }, label: 'Bosun: write' }), 'FS_STALE_VERSION')
    deepEqual([editor.document.getText(), await onDisk('unread.txt')], ['mine old\n', 'old\n'])
  })

  it('is written whole with small changes, so that marks elsewhere stay', async () => {
    const editor = await open(await put('whole.txt', lines(40)))
    editor.selection = new vscode.Selection(30, 0, 30, 4)
    const target = await files.resolve('whole.txt', folder)
    const { version } = await files.readText(target, { maxBytes })
    const changes: number[] = []
    const listener = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (document === editor.document) changes.push(...contentChanges.map(({ rangeLength }) => rangeLength))
    })
    await files.writeText({ target, text: lines(40).replace('line 3\n', 'third\n'), expect: { kind: 'version', version }, label: 'Bosun: write' })
    listener.dispose()
    equal(await onDisk('whole.txt'), lines(40).replace('line 3\n', 'third\n'))
    ok(Math.max(...changes) < 10, `only the changed line: ${changes.join(', ')}`)
    ok(editor.selection.isEqual(new vscode.Selection(30, 0, 30, 4)))
  })

  for (const [name, bytes, expected] of [
    ['UTF-8 with a mark', Buffer.from('\u{FEFF}é a\n'), Buffer.from('\u{FEFF}é b\n')],
    ['UTF-16', Buffer.from('\u{FEFF}é a\r\n', 'utf16le'), Buffer.from('\u{FEFF}é b\r\n', 'utf16le')],
    ['CRLF', Buffer.from('x\r\na\r\ny\r\n'), Buffer.from('x\r\nb\r\ny\r\n')],
    ['mixed line ends', Buffer.from('x\r\na\ny\r\n'), Buffer.from('x\r\nb\ny\r\n')],
    ['lone CRs', Buffer.from('x\ra\ny\n'), Buffer.from('x\rb\ny\n')],
    ['Latin-1', Buffer.from('\u00e9 a\n', 'latin1'), Buffer.from('\u00e9 b\n', 'latin1')],
    ['no final line end', Buffer.from('x\na'), Buffer.from('x\nb')],
  ] as const) {
    it(`keeps every other byte: ${name}`, async () => {
      const editor = await open(await put('bytes.txt', bytes))
      await replace('bytes.txt', 'a', 'b')
      deepEqual(await readFile(join(folder, 'bytes.txt')), expected)
      equal(editor.document.isDirty, false)
    })
  }

  for (const isDirty of [false, true]) {
    it(`written whole keeps its CRLF, changing only what differs${isDirty ? ', beside unsaved text' : ''}`, async () => {
      const name = isDirty ? 'crlf-dirty.txt' : 'crlf.txt'
      const editor = await open(await put(name, lines(20, '\r\n')))
      if (isDirty) await type(editor, 0, 'mine ')
      const target = await files.resolve(name, folder)
      const { text, version } = await files.readText(target, { maxBytes })
      const wanted = text.replace('line 3\r\n', 'third\r\nmore\r\n')
      const changes: number[] = []
      const listener = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document === editor.document) changes.push(...contentChanges.map(({ rangeLength }) => rangeLength))
      })
      const outcome = await files.writeText({ target, text: wanted.replaceAll('\r\n', '\n'), expect: { kind: 'version', version }, label: 'Bosun: write' })
      listener.dispose()
      deepEqual([editor.document.getText(), outcome.after, outcome.isUnsaved], [wanted, wanted, isDirty])
      equal(await onDisk(name), isDirty ? lines(20, '\r\n') : wanted)
      ok(changes.length > 0 && Math.max(...changes) < 20, `only the changed line: ${changes.join(', ')}`)
    })
  }

  it('that is new has the line ends that the editor is set to', async () => {
    const settings = vscode.workspace.getConfiguration('files')
    await settings.update('eol', '\r\n', vscode.ConfigurationTarget.Global)
    try {
      const target = await files.resolve('new-crlf.txt', folder)
      const outcome = await files.writeText({ target, text: 'a\nb\n', expect: { kind: 'absent' }, label: 'Bosun: write' })
      deepEqual([outcome.after, await onDisk('new-crlf.txt')], ['a\r\nb\r\n', 'a\r\nb\r\n'])
    } finally {
      await settings.update('eol', undefined, vscode.ConfigurationTarget.Global)
    }
  })

  it('that is new and for its owner alone is closed to others, with the folders that are made for it', async () => {
    const target = await files.resolve('closed/own.txt', folder)
    await files.writeText({ target, text: 'a\n', expect: { kind: 'absent' }, isForOwnerAlone: true, label: 'Bosun: write' })
    equal(await onDisk('closed/own.txt'), 'a\n')
    deepEqual([await stat(join(folder, 'closed/own.txt')), await stat(join(folder, 'closed'))].map(({ mode }) => mode & 0o777), [0o600, 0o700])
    await rejects(files.writeText({ target, text: 'b\n', expect: { kind: 'absent' }, isForOwnerAlone: true, label: 'Bosun: write' }), { code: 'FS_STALE_VERSION' })
  })

  it('keeps its mode, and a link stays a link', async () => {
    await put('script.sh', 'echo a\n')
    await chmod(join(folder, 'script.sh'), 0o755)
    await symlink('script.sh', join(folder, 'link.sh'))
    const editor = await open(vscode.Uri.file(join(folder, 'link.sh')))
    await type(editor, 0, '# mine\n')
    const outcome = await replace('script.sh', 'echo a', 'echo b')
    ok(outcome.isUnsaved, 'the document behind the link is the one that changed')
    equal(editor.document.getText(), '# mine\necho b\n')
    await editor.document.save()
    equal(await onDisk('script.sh'), '# mine\necho b\n')
    equal((await stat(join(folder, 'script.sh'))).mode & 0o777, 0o755)
    ok((await lstat(join(folder, 'link.sh'))).isSymbolicLink())
  })

  it('takes in what saving does to it', async () => {
    const formatter = vscode.languages.registerDocumentFormattingEditProvider({ pattern: '**/format-me.txt' }, {
      provideDocumentFormattingEdits: (document) => [
        vscode.TextEdit.replace(new vscode.Range(0, 0, document.lineCount, 0), document.getText().toUpperCase()),
      ],
    })
    const settings = vscode.workspace.getConfiguration('editor')
    await settings.update('formatOnSave', true, vscode.ConfigurationTarget.Global)
    try {
      await open(await put('format-me.txt', 'ONE\nTWO\n'))
      const outcome = await replace('format-me.txt', 'TWO', 'three')
      deepEqual([outcome.wasReformatted, outcome.after, await onDisk('format-me.txt')], [true, 'ONE\nTHREE\n', 'ONE\nTHREE\n'])
      await replace('format-me.txt', 'THREE', 'FOUR')
      equal(await onDisk('format-me.txt'), 'ONE\nFOUR\n')
    } finally {
      formatter.dispose()
      await settings.update('formatOnSave', undefined, vscode.ConfigurationTarget.Global)
    }
  })

  it('follows when the disk changed under it', async () => {
    const editor = await open(await put('outside.txt', 'one\n'))
    await writeFile(join(folder, 'outside.txt'), 'two\n')
    const outcome = await replace('outside.txt', 'two', 'three')
    equal(outcome.before, 'two\n')
    equal(await onDisk('outside.txt'), 'three\n')
    for (let waited = 0; editor.document.getText() !== 'three\n' && waited < 10_000; waited += 100) await new Promise((resolve) => setTimeout(resolve, 100))
    equal(editor.document.getText(), 'three\n')
  })

  it('stays as it is when the editor is told that it is read-only', async () => {
    const settings = vscode.workspace.getConfiguration('files')
    await settings.update('readonlyInclude', { '**/*.lock': true }, vscode.ConfigurationTarget.Global)
    try {
      await put('yarn.lock', 'a\n')
      await failsWith(replace('yarn.lock', 'a', 'b'), 'FS_READONLY')
      equal(await onDisk('yarn.lock'), 'a\n')
    } finally {
      await settings.update('readonlyInclude', undefined, vscode.ConfigurationTarget.Global)
    }
  })

  it('that the person renames, alone or with its folder, is told under both real paths', async () => {
    const told: string[] = []
    const undo = files.onDidRename((from, to) => told.push(`${from} > ${to}`))
    const rename = async (from: string, to: string) => {
      const edit = new vscode.WorkspaceEdit()
      edit.renameFile(vscode.Uri.file(join(folder, from)), vscode.Uri.file(join(folder, to)))
      ok(await vscode.workspace.applyEdit(edit))
      for (let waited = 0; !told.some((line) => line.endsWith(join(folder, to))) && waited < 5_000; waited += 50) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    try {
      await put('before.txt', 'a\n')
      await mkdir(join(folder, 'old'))
      await rename('before.txt', 'after.txt')
      await rename('old', 'new')
      deepEqual(told, [`${join(folder, 'before.txt')} > ${join(folder, 'after.txt')}`, `${join(folder, 'old')} > ${join(folder, 'new')}`])
    } finally {
      undo()
    }
  })

  it('in an encoding of the editor is read and written in it', async () => {
    const settings = vscode.workspace.getConfiguration('files')
    await settings.update('encoding', 'windows1251', vscode.ConfigurationTarget.Global)
    try {
      await put('russian.txt', Uint8Array.of(0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x0a))
      const outcome = await replace('russian.txt', 'вет', 'ма')
      deepEqual([outcome.after, outcome.form.encoding], ['Прима\n', 'windows1251'])
      deepEqual(await readFile(join(folder, 'russian.txt')), Buffer.from([0xcf, 0xf0, 0xe8, 0xec, 0xe0, 0x0a]))
      await failsWith(replace('russian.txt', 'ма', '漢'), 'FS_UNENCODABLE')
    } finally {
      await settings.update('encoding', undefined, vscode.ConfigurationTarget.Global)
    }
  })

  /** `bytes` as they are, with what must be read of them and put into them, and what must be stored then. */
  const inEncoding = async (name: string, bytes: Uint8Array, [from, to]: readonly [string, string], stored: Uint8Array) => {
    await put(name, bytes)
    await replace(name, from, to)
    deepEqual(await readFile(join(folder, name)), Buffer.from(stored))
  }
  const withSettings = async (values: Readonly<Record<string, unknown>>, work: () => Promise<void>) => {
    const settings = vscode.workspace.getConfiguration('files')
    const before = Object.keys(values).map((key) => [key, settings.inspect(key)?.globalValue] as const)
    for (const [key, value] of Object.entries(values)) await settings.update(key, value, vscode.ConfigurationTarget.Global)
    try {
      await work()
    } finally {
      for (const [key, value] of before) await settings.update(key, value, vscode.ConfigurationTarget.Global)
    }
  }
  const sjis = { ni: [0x93, 0xfa], hon: [0x96, 0x7b] } as const

  it('in Shift-JIS by the settings is read and written in it, also where it has been plain ASCII so far', async () =>
    await withSettings({ encoding: 'shiftjis' }, async () => {
      await inEncoding('ja.txt', Uint8Array.of(0x61, ...sjis.ni, 0x0a), ['日', '日本'], Uint8Array.of(0x61, ...sjis.ni, ...sjis.hon, 0x0a))
      await inEncoding('ascii.txt', Buffer.from('a\n'), ['a', '本'], Uint8Array.of(...sjis.hon, 0x0a))
      await inEncoding('utf8.txt', Buffer.from('日a\n'), ['a', '本'], Buffer.from('日本\n'))
      await open(await put('shown.txt', Buffer.from('a\n')))
      await replace('shown.txt', 'a', '本')
      deepEqual(await readFile(join(folder, 'shown.txt')), Buffer.from([...sjis.hon, 0x0a]))
    }))
  it('in Latin-1 by the settings stays in it, also where it has been plain ASCII so far', async () =>
    await withSettings({ encoding: 'iso88591' }, async () => {
      await inEncoding('latin.txt', Uint8Array.of(0xe9, 0x61), ['a', 'à'], Uint8Array.of(0xe9, 0xe0))
      await inEncoding('ascii.txt', Buffer.from('a'), ['a', 'à'], Uint8Array.of(0xe0))
    }))
  it('in an encoding that the person opened it with is read and written in that', async () => {
    const uri = await put('reopened.txt', Uint8Array.of(...sjis.ni, 0x0a))
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri, { encoding: 'shiftjis' }))
    const outcome = await replace('reopened.txt', '日', '日本')
    deepEqual([outcome.form.encoding, await readFile(join(folder, 'reopened.txt'))], ['shiftjis', Buffer.from([...sjis.ni, ...sjis.hon, 0x0a])])
  })
  it('in an encoding that the editor guesses is read and written in that', async () =>
    await withSettings({ autoGuessEncoding: true, candidateGuessEncodings: ['shiftjis', 'utf8'] }, async () => {
      const line = [...sjis.ni, ...sjis.hon, 0x82, 0xcc, 0x93, 0xfa, 0x96, 0x7b, 0x0a]
      const bytes = Uint8Array.from(Array.from({ length: 30 }, () => line).flat())
      await put('guessed.txt', bytes)
      const target = await files.resolve('guessed.txt', folder)
      const { form, text } = await files.readText(target, { maxBytes })
      deepEqual([form.encoding, text.slice(0, 2)], ['shiftjis', '日本'])
    }))
  it('that is large is read in its encoding too, by lines as well as whole', async () =>
    await withSettings({ encoding: 'shiftjis' }, async () => {
      await put('large.txt', Buffer.concat([Buffer.from([...sjis.ni, 0x0a]), Buffer.from('x'.repeat(99).concat('\n').repeat(45_000))]))
      const target = await files.resolve('large.txt', folder)
      const lines = await files.readLines(target, { offset: 1, limit: 1, maxLineLength: 100, maxBytes: 1_000 })
      const whole = await files.readText(target, { maxBytes: 50_000_000 })
      deepEqual([lines.lines[0]?.text, lines.form.encoding, lines.version], ['日', 'shiftjis', whole.version])
    }))
  it('in UTF-16 without a mark is binary, and stays as it is', async () => {
    const bytes = Uint8Array.of(0, 0x61, 0, 0x0a)
    await put('utf16be.txt', bytes)
    await failsWith(replace('utf16be.txt', 'a', 'b'), 'FS_NOT_TEXT')
    deepEqual(await readFile(join(folder, 'utf16be.txt')), Buffer.from(bytes))
  })

  it('keeps what the person types while the change is being saved, and tells it apart from the change', async () => {
    const editor = await open(await put('saving.txt', lines(5)))
    let typed: Thenable<boolean> | undefined
    const saving = vscode.workspace.onWillSaveTextDocument((event) => {
      if (event.document !== editor.document) return
      // A formatter that takes its time, and a person who types on when it has done its work.
      event.waitUntil(new Promise<readonly vscode.TextEdit[]>((resolve) => setTimeout(() => resolve([]), 500)))
    })
    const saved = vscode.workspace.onDidSaveTextDocument((document) => {
      if (document === editor.document) typed ??= editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'typed\n'))
    })
    try {
      const outcome = await replace('saving.txt', 'line 5', 'five')
      equal(await typed, true)
      const after = lines(5).replace('line 5', 'five')
      deepEqual([outcome.wasReformatted, outcome.after, await onDisk('saving.txt'), editor.document.getText()], [false, after, after, `typed\n${after}`])
    } finally {
      saving.dispose()
      saved.dispose()
    }
  })
  it('whose save fails gets its change taken back, and keeps what the person typed meanwhile', async () => {
    // The provider takes no writes, which the editor learns only when it saves.
    const contents = new Map<string, Uint8Array>([['/a.txt', Buffer.from(lines(5))]])
    const provider = vscode.workspace.registerFileSystemProvider('bosun-full', {
      ...memoryProvider(contents),
      writeFile: () => {
        throw vscode.FileSystemError.Unavailable('the disk is full')
      },
    })
    const editor = await open(vscode.Uri.parse('bosun-full://host/a.txt'))
    const saving = vscode.workspace.onWillSaveTextDocument((event) => {
      if (event.document === editor.document) event.waitUntil(Promise.resolve([vscode.TextEdit.insert(new vscode.Position(0, 0), 'typed\n')]))
    })
    try {
      const target = await files.resolve('a.txt', 'bosun-full://host/')
      const { text, version } = await files.readText(target, { maxBytes })
      const start = text.indexOf('line 5')
      await failsWith(files.editText({ target, replacements: [{ start, end: start + 6, newText: 'five' }], expect: { kind: 'version', version }, label: 'Bosun: edit' }), 'FS_IO_ERROR')
      equal(editor.document.getText(), `typed\n${lines(5)}`)
    } finally {
      saving.dispose()
      await vscode.commands.executeCommand('workbench.action.files.revert')
      await vscode.commands.executeCommand('workbench.action.closeAllEditors')
      provider.dispose()
    }
  })
  it('is saved all the same when something that runs with saving fails or takes long', async () => {
    const editor = await open(await put('slow.txt', lines(3)))
    const saving = vscode.workspace.onWillSaveTextDocument((event) => {
      if (event.document !== editor.document) return
      event.waitUntil(Promise.reject(new Error('a broken formatter')))
      event.waitUntil(new Promise((resolve) => setTimeout(resolve, 10_000)))
    })
    try {
      const outcome = await replace('slow.txt', 'line 3', 'three')
      deepEqual([outcome.isUnsaved, await onDisk('slow.txt'), editor.document.getText()], [false, outcome.after, outcome.after])
    } finally {
      saving.dispose()
    }
  })
  it('that saves by itself is changed and saved once, whoever is first', async () =>
    await withSettings({ autoSave: 'afterDelay', autoSaveDelay: 50 }, async () => {
      const editor = await open(await put('auto.txt', lines(5)))
      for (let index = 1; index <= 5; index += 1) {
        const change = replace('auto.txt', `line ${index}`, `row ${index}`)
        await type(editor, 5, '')
        await change
      }
      for (let waited = 0; editor.document.isDirty && waited < 10_000; waited += 50) await new Promise((resolve) => setTimeout(resolve, 50))
      equal(await onDisk('auto.txt'), lines(5).replaceAll('line', 'row'))
    }))
  it('loses nothing when the person types in it all the time', async () => {
    const editor = await open(await put('busy.txt', lines(50)))
    const over = new AbortController()
    let typed = 0
    const typing = (async () => {
      while (!over.signal.aborted) if (await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 't\n'))) typed += 1
    })()
    let done = 0
    for (let index = 1; index <= 20; index += 1) {
      const from = `line ${index}\n`
      const outcome = await replace('busy.txt', from, `row ${index}\n`).catch((error: unknown) => {
        // Somebody typed between the look and the change: nothing was changed then.
        equal((error as { code?: unknown }).code, 'FS_STALE_VERSION', String(error))
        return null
      })
      if (outcome !== null) done += 1
      equal(editor.document.getText().includes(from), outcome === null)
    }
    over.abort()
    await typing
    const text = editor.document.getText()
    deepEqual([text.match(/^t$/gm)?.length ?? 0, text.match(/^row \d+$/gm)?.length ?? 0, text.match(/^(row|line) \d+$/gm)?.length], [typed, done, 50])
  })
  it('with thousands of places is changed in all of them, as one undo stop', async () => {
    const editor = await open(await put('many.txt', 'x\n'.repeat(20_000)))
    const target = await files.resolve('many.txt', folder)
    const { version } = await files.readText(target, { maxBytes })
    const replacements = Array.from({ length: 20_000 }, (_, index) => ({ start: index * 2, end: index * 2 + 1, newText: 'yy' }))
    await files.editText({ target, replacements, expect: { kind: 'version', version }, label: 'Bosun: edit' })
    equal(await onDisk('many.txt'), 'yy\n'.repeat(20_000))
    await vscode.commands.executeCommand('undo')
    equal(editor.document.getText(), 'x\n'.repeat(20_000))
  })

  it('of another file system is read and written through its provider', async () => {
    const contents = new Map<string, Uint8Array>([['/a.txt', Buffer.from('one\n')]])
    const provider = vscode.workspace.registerFileSystemProvider('bosun-test', memoryProvider(contents))
    try {
      const target = await files.resolve('a.txt', 'bosun-test://host/')
      deepEqual([target.path, target.exists], ['bosun-test://host/a.txt', true])
      const { text, version } = await files.readText(target, { maxBytes })
      equal(text, 'one\n')
      await files.writeText({ target, text: 'two\n', expect: { kind: 'version', version }, label: 'Bosun: write' })
      equal(Buffer.from(contents.get('/a.txt')!).toString(), 'two\n')
    } finally {
      provider.dispose()
    }
  })
})

function memoryProvider(contents: Map<string, Uint8Array>): vscode.FileSystemProvider {
  return {
    onDidChangeFile: new vscode.EventEmitter<vscode.FileChangeEvent[]>().event,
    watch: () => new vscode.Disposable(() => {}),
    stat(uri) {
      const bytes = contents.get(uri.path)
      if (bytes === undefined && uri.path !== '/') throw vscode.FileSystemError.FileNotFound(uri)
      return { type: bytes === undefined ? vscode.FileType.Directory : vscode.FileType.File, ctime: 0, mtime: 0, size: bytes?.length ?? 0 }
    },
    readFile: (uri) => contents.get(uri.path)!,
    writeFile: (uri, bytes) => void contents.set(uri.path, bytes),
    readDirectory: () => [],
    createDirectory: () => {},
    delete: (uri) => void contents.delete(uri.path),
    rename: () => {},
  }
}
