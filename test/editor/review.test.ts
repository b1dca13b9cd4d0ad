import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { SessionEvent } from '../../extension/core/log/event.ts'
import type { Session } from '../../extension/core/session/session.ts'
import { Images } from '../../extension/features/checkpoints/images.ts'
import { reviewProjection } from '../../extension/features/checkpoints/projection.ts'
import { createRecorder } from '../../extension/features/checkpoints/recorder.ts'
import { createReviews } from '../../extension/features/checkpoints/reviews.ts'
import { NodeBlobStore } from '../../extension/platform/node/blob-store.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { EditorFileSystem } from '../../extension/platform/vscode/editor-file-system.ts'
import { ReviewMarks } from '../../extension/platform/vscode/review-marks.ts'
import { createFakeAgent } from '../support/fake-agent.ts'
import { createRecordingLogger } from '../support/quiet-logger.ts'

const ten = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n'

describe('review in the editor', () => {
  let folder: string
  let files: EditorFileSystem
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'review-')))
    files = new EditorFileSystem(new NodeFileSystem())
  })
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    files.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  /** A file that is open, with two changes of an agent in it. */
  async function changed(name: string) {
    const path = join(folder, name)
    await writeFile(path, ten)
    const document = await vscode.workspace.openTextDocument(path)
    await vscode.window.showTextDocument(document)
    const [blobs, logger, agent] = [new NodeBlobStore({ root: join(folder, 'sessions') }), createRecordingLogger(), createFakeAgent()]
    const view = () => agent.session.events().reduce((state, event: SessionEvent) => reviewProjection.step(state, event), reviewProjection.start()).view
    const session: Session = { ...agent.session, projections: () => ({ asOfSeq: 0, values: { review: view() } }) }
    Object.defineProperty(session, 'length', { get: () => agent.log.length })
    const images = new Images({ files, blobs })
    const recorder = createRecorder({ images, logger })
    const reviews = createReviews({ files, images, logger, settled: recorder.settled, tell: () => undefined })
    for (const [index, [old, next]] of [['two', 'TWO'], ['nine', 'NINE']].entries()) {
      await recorder.around({ session, callId: `c${index}`, hasOwnCard: true }, async () => {
        const target = await files.resolve(path, '/')
        const { text, version } = await files.readText(target, { maxBytes: 1_000_000 })
        const { digest } = await blobs.putBeforeImage(session.id, await files.readBytes(target, { maxBytes: 1_000_000 }))
        session.append({ type: 'fs/before-image', data: { callId: `c${index}`, path, digest }, ignorable: true })
        const start = text.indexOf(old!)
        await files.editText({ target, replacements: [{ start, end: start + old!.length, newText: next! }], expect: { kind: 'version', version }, label: 'edit' })
        return { isError: false, value: null, content: [] }
      })
    }
    // The file is new, so the changes went to the disk, and the document follows in its own time.
    for (const end = Date.now() + 20_000; document.getText() !== ten.replace('two', 'TWO').replace('nine', 'NINE'); ) {
      ok(Date.now() < end, 'the document follows')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return { path, document, reviews, session, logger }
  }

  it('takes a region back as one stop of the undo, around what the person typed and did not save', async () => {
    const { path, document, reviews, session, logger } = await changed('a.txt')
    const typed = new vscode.WorkspaceEdit()
    typed.insert(document.uri, new vscode.Position(5, 3), ', mine')
    await vscode.workspace.applyEdit(typed)
    const review = await reviews.file(session, path)
    const [first] = review!.hunks
    ok(first !== undefined, `${JSON.stringify(review)} ${JSON.stringify(logger.lines)}`)
    deepEqual([first.removed, first.added], [['two\n'], ['TWO\n']])
    deepEqual(await reviews.undo(session, { kind: 'hunk', path, hunk: first }), { paths: [path], conflicts: [], problems: [] })
    equal(document.getText(), ten.replace('six', 'six, mine').replace('nine', 'NINE'))
    ok(document.isDirty, 'what the person did not save is not saved for them')
    await vscode.commands.executeCommand('undo')
    equal(document.getText(), ten.replace('two', 'TWO').replace('six', 'six, mine').replace('nine', 'NINE'))
    await vscode.commands.executeCommand('redo')
    await reviews.undo(session, { kind: 'file', path })
    equal(document.getText(), ten.replace('six', 'six, mine'))
    await document.save()
    equal(await readFile(path, 'utf8'), ten.replace('six', 'six, mine'))
  })

  it('opens no editor and moves no cursor', async () => {
    const { path, reviews, session } = await changed('b.txt')
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    await reviews.undo(session, { kind: 'file', path })
    equal(await readFile(path, 'utf8'), ten)
    deepEqual(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs), [])
  })

  it('compares the gutter with the file without the changes, and puts Keep and Undo over each region', async () => {
    const path = join(folder, 'c.txt')
    await writeFile(path, ten.replace('two', 'TWO').replace('nine', 'NINE'))
    const document = await vscode.workspace.openTextDocument(path)
    await vscode.window.showTextDocument(document)
    const place = (line: number) => ({ baseFrom: line, baseTo: line + 1, from: line, to: line + 1 })
    const region = (line: number) => ({ startLine: line + 1, endLine: line + 1, hasLines: true, label: 'x', added: 1, removed: 1, place: place(line) })
    const marks = new ReviewMarks()
    try {
      marks.set([{ path, kind: 'changed', baseline: ten, added: 2, removed: 2, regions: [region(1), region(8)] }])
      const original = marks.provideOriginalResource(document.uri)
      equal((await vscode.workspace.openTextDocument(original!)).getText(), ten)
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', document.uri)
      deepEqual(
        lenses.map(({ range, command }) => [range.start.line, command?.command, command?.title]),
        [1, 8].flatMap((line, index) => [
          [line, 'bosun.keepChange', '$(check) Keep'],
          [line, 'bosun.undoChange', '$(discard) Undo'],
          [line, '', `Bosun, ${index + 1} of 2`],
        ]),
      )
      deepEqual((lenses[0]!.command!.arguments![0] as { readonly place: unknown }).place, place(1))
      marks.set([])
      deepEqual([marks.provideOriginalResource(document.uri), await vscode.commands.executeCommand('vscode.executeCodeLensProvider', document.uri)], [undefined, []])
    } finally {
      marks.dispose()
    }
  })
})
