import { hash } from 'node:crypto'
import { minimatch } from 'minimatch'
import * as vscode from 'vscode'
import { isUri } from '../../base/is-uri.ts'
import { applyEdits, checkedRanges, countLineEnds, eolFrom, reversedEdits, withLineEnds, type Encoded } from '../../base/encoding.ts'
import { LineWindowScanner } from '../../base/line-window.ts'
import { messageOf } from '../../base/message-of.ts'
import {
  fileAborted,
  FileError,
  MAX_WHOLE_TEXT_CHARS,
  danglingLink,
  ioError,
  notFound,
  notRegular,
  notText,
  readonlyFile,
  staleVersion,
  tooLarge,
  unencodable,
  type BytesChange,
  type ChangeOutcome,
  type DirectoryEntry,
  type EditChange,
  type EditsChange,
  type Expectation,
  type FileKey,
  type FileLines,
  type FileStat,
  type FileSystem,
  type FileTarget,
  type FileVersion,
  type LineWindow,
  type TextFile,
  type TextReplacement,
  type WriteChange,
} from '../../capabilities/file-system.ts'
import type { WorkspaceFolder } from '../../capabilities/workspace.ts'
import type { Undo } from '../../base/undo.ts'
import { pathOf, uriOf } from './address.ts'
import { minimalEdits } from './minimal-edits.ts'
import { OpenDocuments } from './open-documents.ts'
import { unsavedNotebook } from './notebooks.ts'
import { decodeStored, encodeAs, encodingFor, formOf, isSameForm, storedAnew, withoutMark, type StoredText } from './stored-text.ts'

/** From this size on a window of lines is streamed from the disk. */
const STREAM_FROM_BYTES = 4 * 1024 * 1024
/** How long the editor may take to notice that another program wrote a file. */
const SETTLING_MS = 2_000
/** Whole text is held in memory to change it. */
const MAX_CHANGE_BYTES = 256 * 1024 * 1024

/**
 * Files as the person sees them in the editor.
 *
 * A file that is open is changed in its document, as one undo stop, with cursors, selections, scroll and focus left alone; it is
 * saved only when it was saved before, so what the person has not saved stays theirs. Every other file is changed through the
 * editor's own file service, and read back. `disk` serves what that service has no word for: real paths and streaming.
 * Source: design 6.1 "The way to the file", capability specification 5, 7, 8 "VS Code mapping".
 */
export class EditorFileSystem implements FileSystem {
  readonly #disk: FileSystem
  readonly #folders: () => readonly WorkspaceFolder[]
  readonly #documents: OpenDocuments
  readonly #changes = new Map<FileKey, Promise<unknown>>()
  /** When files were last saved through their documents by a change of ours: epoch ms, as the disk says. */
  readonly #ownSaves = new Map<FileKey, number>()

  /** `folders`: those that paths may be led by the name of, where several are open. */
  constructor(disk: FileSystem, folders: () => readonly WorkspaceFolder[] = () => []) {
    this.#disk = disk
    this.#folders = folders
    this.#documents = new OpenDocuments(async (uri) =>
      uri.scheme === 'file' ? await this.#disk.resolve(uri.fsPath, '/') : { key: keyOf(uri), path: pathOf(uri) },
    )
  }

  /** Texts of documents with unsaved changes, for searches to look at in the place of the disk. */
  unsavedTexts(): readonly { readonly path: string; readonly text: string }[] {
    return this.#documents.unsavedTexts()
  }

  dispose(): void {
    this.#documents.dispose()
  }

  async resolve(path: string, cwd: string, signal?: AbortSignal): Promise<FileTarget> {
    checkNotAborted(signal)
    const uri = virtualUri(path, cwd, this.#folders())
    if (uri === null) return await this.#disk.resolve(localPath(path), cwd, signal)
    const exists = await vscode.workspace.fs.stat(uri).then(
      () => true,
      () => false,
    )
    if (!exists && path.startsWith('/')) {
      // What is kept on the disk for the model, such as long output, is named by its path whatever folder is open.
      const local = await this.#disk.resolve(path, '/', signal)
      if (local.exists) return local
    }
    return { key: keyOf(uri), path: pathOf(uri), spelling: path, isDanglingLink: false, exists }
  }

  async stat(target: FileTarget, signal?: AbortSignal): Promise<FileStat> {
    checkNotAborted(signal)
    const uri = uriOf(target.path)
    if (uri.scheme === 'file') {
      const stat = await this.#disk.stat(target, signal)
      return { ...stat, isReadonly: stat.isReadonly || isSetReadonly(uri) }
    }
    return await withFileErrors(target, async () => {
      const { type, size, mtime, permissions } = await vscode.workspace.fs.stat(uri)
      const isReadonly =
        vscode.workspace.fs.isWritableFileSystem(uri.scheme) === false || ((permissions ?? 0) & vscode.FilePermission.Readonly) !== 0 || isSetReadonly(uri)
      return { kind: kindOf(type), size, modifiedAt: mtime, isReadonly }
    })
  }

  async readText(target: FileTarget, { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<TextFile> {
    checkNotAborted(signal)
    const document = await this.#documents.find(target)
    if (document?.isDirty === true) {
      const { bytes, version } = await storedBuffer(document)
      if (bytes.length > maxBytes) throw tooLarge(target.spelling, bytes.length, maxBytes)
      return { text: document.getText(), form: formOf(document), version, source: 'buffer', isDirty: true }
    }
    const bytes = await this.#storedBytes(target, { maxBytes, ...(signal && { signal }) })
    const stored = await decodeStored(bytes, uriOf(target.path), document?.encoding)
    if (stored === null) throw notText(target.spelling)
    const isShown = document !== undefined && document.getText() === stored.text
    return { text: stored.text, form: stored.form, version: versionOf(bytes), source: isShown ? 'buffer' : 'disk', isDirty: false }
  }

  async readLines(target: FileTarget, window: LineWindow, signal?: AbortSignal): Promise<FileLines> {
    const document = await this.#documents.find(target)
    if (document?.isDirty !== true) {
      const { kind, size } = await this.stat(target, signal)
      if (kind !== 'file') throw notRegular(target.spelling, kind)
      if (size >= STREAM_FROM_BYTES && uriOf(target.path).scheme === 'file') {
        const streamed = await this.#disk.readLines(target, window, signal)
        // The disk alone does not know the editor's encodings.
        const isForeign = streamed.form.encoding === 'latin1' && size <= MAX_CHANGE_BYTES && !isSameForm(streamed.form, await encodingFor(uriOf(target.path), document?.encoding, { mayGuess: true }))
        if (!isForeign) return streamed
      }
    }
    const { text, form, version, source, isDirty } = await this.readText(target, { maxBytes: MAX_CHANGE_BYTES, ...(signal && { signal }) })
    const scanner = new LineWindowScanner(window)
    scanner.write(text)
    const { lines, totalLines, isByteCapped } = scanner.end()
    return { lines, totalLines, isByteCapped, ...(text.length <= MAX_WHOLE_TEXT_CHARS && { wholeText: text }), form, version, source, isDirty }
  }

  async readBytes(target: FileTarget, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<Uint8Array> {
    const document = await this.#documents.find(target)
    const notebook = await this.#openNotebook(target)
    if (notebook?.isDirty === true) return unsavedNotebook(notebook, await this.#storedBytes(target, options))
    if (document?.isDirty !== true) return await this.#storedBytes(target, options)
    const { bytes } = await storedBuffer(document)
    if (bytes.length > options.maxBytes) throw tooLarge(target.spelling, bytes.length, options.maxBytes)
    return bytes
  }

  async readDirectory(target: FileTarget, signal?: AbortSignal): Promise<readonly DirectoryEntry[]> {
    checkNotAborted(signal)
    return await withFileErrors(target, async () => {
      const entries = await vscode.workspace.fs.readDirectory(uriOf(target.path))
      return entries
        .map(([name, type]) => ({ name, kind: (type & vscode.FileType.SymbolicLink) === 0 ? kindOf(type) : ('link' as const) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    })
  }

  writeText(change: WriteChange): Promise<ChangeOutcome> {
    // The file service of the editor knows no owners.
    if (change.isForOwnerAlone === true && uriOf(change.target.path).scheme === 'file') return this.#inTurn(change.target, () => this.#disk.writeText(change))
    return this.#change(change, {
      inDocument: (before) => minimalEdits(before, withLineEnds(eolFrom(countLineEnds(before)), change.text)),
      onDisk: async (stored, uri) => {
        if (stored === null) return await storedAnew(change.text, uri)
        const isMarkable = stored.form.encoding.startsWith('utf')
        const after = withLineEnds(stored.form.eol, isMarkable ? withoutMark(change.text) : change.text)
        return { after, encoding: stored.form.encoding, encoded: await stored.encode(after) }
      },
      // The document cannot be given a mark that it has not got.
      needsDisk: change.text.startsWith('\u{FEFF}'),
    })
  }

  editText(change: EditChange): Promise<ChangeOutcome> {
    return this.#change(change, {
      inDocument: () => change.replacements,
      onDisk: async (stored) => {
        if (stored === null) throw notText(change.target.spelling)
        return { after: applyEdits(stored.text, change.replacements), encoding: stored.form.encoding, encoded: await stored.edit(change.replacements) }
      },
      needsDisk: false,
    })
  }

  async editTexts(change: EditsChange): Promise<readonly ChangeOutcome[]> {
    const keys = change.edits.map(({ target }) => target.key)
    const previous = keys.map(async (key) => await this.#changes.get(key))
    const turn = (async () => {
      await Promise.allSettled(previous)
      return await this.#editTogether(change)
    })()
    for (const key of keys) this.#changes.set(key, turn)
    try {
      return await turn
    } finally {
      for (const key of keys) if (this.#changes.get(key) === turn) this.#changes.delete(key)
    }
  }

  putBytes({ target, bytes, expect, signal }: BytesChange): Promise<FileVersion | null> {
    return this.#inTurn(target, async () => {
      checkNotAborted(signal)
      const uri = uriOf(target.path)
      if (target.isDanglingLink) throw danglingLink(target.spelling)
      // A notebook without unsaved changes follows the disk by itself.
      if ((await this.#openNotebook(target))?.isDirty === true) throw ioError(target.spelling, 'it is open as a notebook with unsaved changes; save it or close it first')
      const document = await this.#documents.find(target)
      if (document?.isDirty === true) throw staleVersion(target.spelling, 'has unsaved changes in the editor, made')
      const current = await this.#currentBytes(target, signal)
      checkExpected(target, expect, current === null ? null : versionOf(current))
      if (current !== null && (await this.stat(target)).isReadonly) throw readonlyFile(target.spelling)
      if (bytes === null) {
        if (current !== null) await vscode.workspace.fs.delete(uri)
        return null
      }
      const stored = current === null ? null : await decodeStored(current, uri, document?.encoding)
      const next = await decodeStored(bytes, uri, document?.encoding)
      const change: DiskChange = { after: next?.text ?? '', encoding: next?.form.encoding ?? 'utf8', encoded: { bytes } }
      const request: ChangeRequest = { target, expect, label: '', ...(signal && { signal }) }
      return (await this.#changeDisk(request, current, stored, change)).version
    })
  }

  async decode(target: FileTarget, bytes: Uint8Array): Promise<string | null> {
    return (await decodeStored(bytes, uriOf(target.path), (await this.#documents.find(target))?.encoding))?.text ?? null
  }

  onDidRename(listener: (from: string, to: string) => void): Undo {
    const subscription = vscode.workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files) void this.#tellRename(oldUri, newUri, listener)
    })
    return () => subscription.dispose()
  }

  async #tellRename(oldUri: vscode.Uri, newUri: vscode.Uri, listener: (from: string, to: string) => void): Promise<void> {
    const canonical = async (uri: vscode.Uri) => {
      if (uri.scheme !== 'file') return pathOf(uri)
      // Where its folder cannot be read any more, it has the name by which the editor knows it.
      return await this.#disk.resolve(uri.fsPath, '/').then(({ path }) => path, () => uri.fsPath)
    }
    listener(await canonical(oldUri), await canonical(newUri))
  }

  #change(request: ChangeRequest, ways: ChangeWays): Promise<ChangeOutcome> {
    return this.#inTurn(request.target, async () => await this.#changeNow(request, ways))
  }

  /** One change of a target after the other, so that the check and the change belong together. */
  async #inTurn<T>(target: FileTarget, work: () => Promise<T>): Promise<T> {
    const { key } = target
    const previous = this.#changes.get(key)
    const turn = (async () => {
      await previous?.catch(() => {})
      return await withFileErrors(target, work)
    })()
    this.#changes.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#changes.get(key) === turn) this.#changes.delete(key)
    }
  }

  async #changeNow(request: ChangeRequest, ways: ChangeWays): Promise<ChangeOutcome> {
    const { target, expect, signal } = request
    checkNotAborted(signal)
    const uri = uriOf(target.path)
    if (target.isDanglingLink) throw danglingLink(target.spelling)
    await this.#refuseOpenNotebook(target)
    const document = await this.#documents.find(target)
    if (document?.isDirty === true) {
      const { version } = await storedBuffer(document)
      checkExpected(target, expect, version)
      return await this.#changeDocument(document, request, ways.inDocument(document.getText()))
    }
    const current = await this.#currentBytes(target, signal)
    checkExpected(target, expect, current === null ? null : versionOf(current))
    if (current !== null && (await this.stat(target)).isReadonly) throw readonlyFile(target.spelling)
    const stored = current === null ? null : await decodeStored(current, uri, document?.encoding)
    if (document !== undefined && stored !== null && !ways.needsDisk && isFaithful(document, stored) && (await this.#isSettled(target, uri))) {
      const edits = ways.inDocument(stored.text)
      if (fitsDocument(document, edits)) return await this.#changeDocument(document, request, edits)
    }
    return await this.#changeDisk(request, current, stored, await ways.onDisk(stored, uri))
  }

  /** One `WorkspaceEdit` over the documents of all files, so that one undo takes it back everywhere. */
  async #editTogether({ edits, label, signal }: EditsChange): Promise<readonly ChangeOutcome[]> {
    const parts: DocumentPart[] = []
    for (const edit of edits) parts.push(await withFileErrors(edit.target, async () => await this.#partOf(edit, signal)))
    checkNotAborted(signal)
    for (const { document, target, before } of parts) if (document.getText() !== before) throw staleVersion(target.spelling, 'changed')
    const first = parts[0]
    // Saved by the editor itself in the same breath, so that no tab comes up for it; what the person has not saved stays theirs to save.
    const isSaved = parts.every(({ wasDirty }) => !wasDirty)
    if (first !== undefined && !(await applyTogether(parts, { label, isRefactoring: isSaved }))) throw staleVersion(first.target.spelling, 'or another of the files changed')
    try {
      return await Promise.all(parts.map(async (part) => await withFileErrors(part.target, async () => await this.#outcomeOf(part))))
    } catch (error) {
      await this.#takeBack(parts, label)
      throw error
    }
  }

  async #partOf({ target, replacements, expect }: EditsChange['edits'][number], signal: AbortSignal | undefined): Promise<DocumentPart> {
    checkNotAborted(signal)
    const uri = uriOf(target.path)
    if (target.isDanglingLink) throw danglingLink(target.spelling)
    await this.#refuseOpenNotebook(target)
    const open = await this.#documents.find(target)
    const isDirty = open?.isDirty === true
    // A file that is gone is found before the editor is asked to open it.
    if (open === undefined) await this.#checkVersion(target, expect, signal)
    const document = open ?? (await vscode.workspace.openTextDocument(uri))
    if (isDirty) checkExpected(target, expect, (await storedBuffer(document)).version)
    else await this.#checkStored(document, { target, replacements, expect }, signal)
    const before = document.getText()
    const after = applyEdits(before, checkedRanges(before, replacements))
    const encoded = await encodeAs(after, document.encoding)
    if ('unencodable' in encoded) throw unencodable(target.spelling, document.encoding, encoded.unencodable)
    return { target, document, replacements, before, after, wasDirty: isDirty }
  }

  /** The document shows what is stored, and can hold the change without touching other lines. */
  async #checkStored(document: vscode.TextDocument, { target, replacements, expect }: EditsChange['edits'][number], signal: AbortSignal | undefined): Promise<void> {
    const stopAt = performance.now() + SETTLING_MS * 2
    for (;;) {
      const current = await this.#checkVersion(target, expect, signal)
      if ((await this.stat(target)).isReadonly) throw readonlyFile(target.spelling)
      const stored = current === null ? null : await decodeStored(current, document.uri, document.encoding)
      if (stored === null) throw notText(target.spelling)
      if (isFaithful(document, stored) && (await this.#isSettled(target, document.uri))) break
      const isMixed = stored.form.eol === 'mixed'
      if (isMixed || performance.now() > stopAt) throw ioError(target.spelling, 'the editor shows it with other line ends or in another encoding than it is stored in, so it cannot be changed together with other files. Nothing was changed; use edit for this file')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    if (!fitsDocument(document, replacements)) throw ioError(target.spelling, 'the new text has other line ends than the file. Nothing was changed')
  }

  async #checkVersion(target: FileTarget, expect: Expectation, signal: AbortSignal | undefined): Promise<Uint8Array | null> {
    const current = await this.#currentBytes(target, signal)
    checkExpected(target, expect, current === null ? null : versionOf(current))
    return current
  }

  /** After the change: saved, where the person had nothing unsaved in it. */
  async #outcomeOf({ target, document, before, after, wasDirty }: DocumentPart): Promise<ChangeOutcome> {
    if (wasDirty) {
      const { version } = await storedBuffer(document)
      return { version, before, after: document.getText(), form: formOf(document), wasReformatted: false, isUnsaved: true }
    }
    if (document.isDirty && !(await saveWhole(document))) throw ioError(target.spelling, 'the editor could not save it, and the change of all files was taken back')
    const bytes = await vscode.workspace.fs.readFile(document.uri)
    this.#ownSaves.set(target.key, (await vscode.workspace.fs.stat(document.uri)).mtime)
    const text = (await decodeStored(bytes, document.uri, document.encoding))?.text ?? document.getText()
    return { version: versionOf(bytes), before, after: text, form: formOf(document), wasReformatted: text !== after, isUnsaved: false }
  }

  async #takeBack(parts: readonly DocumentPart[], label: string): Promise<void> {
    const changed = parts.filter(({ document, before }) => document.getText() !== before)
    const back = changed.map((part) => ({ ...part, replacements: editsBack(part.document.getText(), part) }))
    await applyTogether(back, { label, isRefactoring: false })
    // What cannot be saved now could not be saved before either; it stands unsaved before the person, as it was.
    await Promise.allSettled(changed.filter(({ wasDirty }) => !wasDirty).map(async ({ document }) => await document.save()))
  }

  /**
   * Not written a moment ago by another program. The editor may still be taking such a change in, and refuses to save over
   * what it has not seen; it follows the disk by itself then. A time to come is of a clock that was set back, and of long ago.
   */
  async #isSettled({ key }: FileTarget, uri: vscode.Uri): Promise<boolean> {
    const { mtime } = await vscode.workspace.fs.stat(uri)
    return mtime === this.#ownSaves.get(key) || Math.abs(Date.now() - mtime) > SETTLING_MS
  }

  /** The document shows exactly what is stored, or holds unsaved text: it is edited where the person sees it. */
  async #changeDocument(document: vscode.TextDocument, request: ChangeRequest, edits: readonly TextReplacement[]): Promise<ChangeOutcome> {
    const { target, label, signal } = request
    const wasDirty = document.isDirty
    const before = document.getText()
    const after = applyEdits(before, checkedRanges(before, edits))
    const encoded = await encodeAs(after, document.encoding)
    if ('unencodable' in encoded) throw unencodable(target.spelling, document.encoding, encoded.unencodable)
    checkNotAborted(signal)
    if (document.getText() !== before) throw staleVersion(target.spelling, 'changed')
    if (edits.length > 0 && !(await applyToDocument(document, edits, label))) throw staleVersion(target.spelling, 'changed')
    const applied = document.getText()
    // What the person typed meanwhile is theirs to save.
    if (wasDirty || applied !== after) {
      const { version } = await storedBuffer(document)
      return { version, before, after: applied, form: formOf(document), wasReformatted: false, isUnsaved: document.isDirty }
    }
    if (document.isDirty && !(await saveWhole(document))) {
      const back = editsBack(document.getText(), { before, after, replacements: edits })
      await applyToDocument(document, back, label)
      throw ioError(target.spelling, back.length < edits.length ? 'the editor could not save it; the change was taken back but for what was typed over meanwhile' : 'the editor could not save it, and the change was taken back')
    }
    const saved = document.getText()
    const bytes = await vscode.workspace.fs.readFile(document.uri)
    this.#ownSaves.set(target.key, (await vscode.workspace.fs.stat(document.uri)).mtime)
    const stored = await decodeStored(bytes, document.uri, document.encoding)
    if (stored?.text !== saved && !document.isDirty) throw ioError(target.spelling, 'it was saved, but what is stored differs: another program changed it at the same time')
    // What the person typed since the save is none of the change.
    const text = stored?.text ?? saved
    return { version: versionOf(bytes), before, after: text, form: formOf(document), wasReformatted: text !== after, isUnsaved: false }
  }

  /** No document shows the file as it is stored: its bytes are changed, and a document without unsaved text follows by itself. */
  async #changeDisk(request: ChangeRequest, current: Uint8Array | null, stored: StoredText | null, next: DiskChange): Promise<ChangeOutcome> {
    const { target, signal } = request
    const uri = uriOf(target.path)
    if ('unencodable' in next.encoded) throw unencodable(target.spelling, next.encoding, next.encoded.unencodable)
    const { bytes } = next.encoded
    checkNotAborted(signal)
    // Right before the write, because the file service cannot compare and write in one step.
    const now = await this.#currentBytes(target, undefined)
    const isSame = now === null || current === null ? now === current : Buffer.compare(now, current) === 0
    if (!isSame || (await this.#documents.find(target))?.isDirty === true) throw staleVersion(target.spelling, current === null ? 'exists by now' : 'changed')
    try {
      await vscode.workspace.fs.writeFile(uri, bytes)
    } catch (error) {
      await this.#restore(uri, current)
      throw error instanceof vscode.FileSystemError && error.code !== 'NoPermissions' ? ioError(target.spelling, await this.#whyUnwritable(uri, error), error) : error
    }
    const written = await vscode.workspace.fs.readFile(uri)
    if (Buffer.compare(written, bytes) !== 0) throw ioError(target.spelling, 'it was written, but what is stored differs: another program changed it at the same time')
    const form = (await decodeStored(bytes, uri, (await this.#documents.find(target))?.encoding))?.form ?? { encoding: 'utf8', hasBom: false, eol: 'none' as const }
    return { version: versionOf(bytes), before: stored?.text ?? null, after: next.after, form, wasReformatted: false, isUnsaved: false }
  }

  /** The file service does not say so itself. */
  async #whyUnwritable(uri: vscode.Uri, error: Error): Promise<string> {
    for (let folder = vscode.Uri.joinPath(uri, '..'); folder.path !== '/'; folder = vscode.Uri.joinPath(folder, '..')) {
      try {
        const { type } = await vscode.workspace.fs.stat(folder)
        return (type & vscode.FileType.Directory) === 0 ? 'part of its path is a file' : error.message
      } catch {
        // This folder does not exist yet; the next one up decides.
      }
    }
    return error.message
  }

  /** A write that failed in the middle must not leave half a file. */
  async #restore(uri: vscode.Uri, current: Uint8Array | null): Promise<void> {
    try {
      if (current === null) await vscode.workspace.fs.delete(uri)
      else await vscode.workspace.fs.writeFile(uri, current)
    } catch {
      // Nothing was begun, or the disk takes nothing at all; the failure of the write itself is what is told.
    }
  }

  async #storedBytes(target: FileTarget, { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<Uint8Array> {
    // A FIFO or a device must not even be opened, and a file must not be loaded to find that it is too large.
    const { kind, size } = await this.stat(target, signal)
    if (kind !== 'file') throw notRegular(target.spelling, kind)
    if (size > maxBytes) throw tooLarge(target.spelling, size, maxBytes)
    const bytes = await withFileErrors(target, async () => await vscode.workspace.fs.readFile(uriOf(target.path)))
    checkNotAborted(signal)
    if (bytes.length > maxBytes) throw tooLarge(target.spelling, bytes.length, maxBytes)
    return bytes
  }

  async #currentBytes(target: FileTarget, signal: AbortSignal | undefined): Promise<Uint8Array | null> {
    try {
      return await this.#storedBytes(target, { maxBytes: MAX_CHANGE_BYTES, ...(signal && { signal }) })
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') return null
      throw error
    }
  }

  /** Also when it was opened through a link. */
  async #openNotebook(target: FileTarget): Promise<vscode.NotebookDocument | undefined> {
    for (const notebook of vscode.workspace.notebookDocuments) {
      if (notebook.isClosed || notebook.isUntitled) continue
      const { uri } = notebook
      if ((uri.scheme === 'file' ? (await this.#disk.resolve(uri.fsPath, '/')).key : keyOf(uri)) === target.key) return notebook
    }
    return undefined
  }

  /** A notebook editor holds cells, not the file's JSON; writing below it would lose one of the two. */
  async #refuseOpenNotebook(target: FileTarget): Promise<void> {
    if ((await this.#openNotebook(target)) !== undefined) throw ioError(target.spelling, 'it is open as a notebook; edit its cells, or close the notebook first')
  }
}

interface ChangeRequest {
  readonly target: FileTarget
  readonly expect: Expectation
  readonly label: string
  readonly signal?: AbortSignal
}

/** The same change for both ways to the file. */
interface ChangeWays {
  readonly inDocument: (before: string) => readonly TextReplacement[]
  readonly onDisk: (stored: StoredText | null, uri: vscode.Uri) => Promise<DiskChange>
  readonly needsDisk: boolean
}

interface DiskChange {
  readonly after: string
  readonly encoding: string
  readonly encoded: Encoded
}

/** One of the files of a change over several. */
interface DocumentPart {
  readonly target: FileTarget
  readonly document: vscode.TextDocument
  readonly replacements: readonly TextReplacement[]
  readonly before: string
  readonly after: string
  readonly wasDirty: boolean
}

/** As one undo stop over all of them; false when one of them changed meanwhile, and none is changed then. */
async function applyTogether(parts: readonly Pick<DocumentPart, 'document' | 'replacements'>[], { label, isRefactoring }: { readonly label: string; readonly isRefactoring: boolean }): Promise<boolean> {
  const edit = new vscode.WorkspaceEdit()
  for (const { document, replacements } of parts) {
    for (const { start, end, newText } of joinedWhereMany(document.getText(), replacements)) edit.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(end)), newText, { label, needsConfirmation: false })
  }
  return await vscode.workspace.applyEdit(edit, { isRefactoring })
}

/** Places that the editor is given one by one, so that cursors and folds between them stay; it takes long over very many. */
const MAX_SEPARATE_EDITS = 1_000

function joinedWhereMany(before: string, edits: readonly TextReplacement[]): readonly TextReplacement[] {
  const [first, last] = [edits[0], edits.at(-1)]
  if (first === undefined || last === undefined || edits.length <= MAX_SEPARATE_EDITS) return edits
  const inner = edits.map(({ start, end, newText }) => ({ start: start - first.start, end: end - first.start, newText }))
  return [{ start: first.start, end: last.end, newText: applyEdits(before.slice(first.start, last.end), inner) }]
}

/** What takes a change out of `now`, which grew out of `after`; where something else was put over it, it stays. */
function editsBack(now: string, { before, after, replacements }: Pick<DocumentPart, 'before' | 'after' | 'replacements'>): readonly TextReplacement[] {
  const back = reversedEdits(before, replacements)
  const typed = minimalEdits(after, now)
  return back.flatMap(({ start, end, newText }) => {
    if (typed.some((other) => other.start < end && other.end > start)) return []
    const shift = typed.reduce((sum, other) => (other.end <= start ? sum + other.newText.length - (other.end - other.start) : sum), 0)
    return [{ start: start + shift, end: end + shift, newText }]
  })
}

/** Times that a save is tried, and the wait between. */
const SAVE_TRIES = 4
const SAVE_PAUSE_MS = 150

/**
 * Save what the document holds; false when the editor cannot. Where the editor saves by itself, its save at the same moment may turn this
 * one away, which is no failure: it is waited for, and asked again. Elsewhere what runs with a save runs once.
 */
async function saveWhole(document: vscode.TextDocument): Promise<boolean> {
  const isSavedByItself = vscode.workspace.getConfiguration('files', document).get('autoSave') !== 'off'
  for (let tries = 0; tries < (isSavedByItself ? SAVE_TRIES : 1); tries += 1) {
    if (tries > 0) await new Promise((resolve) => setTimeout(resolve, SAVE_PAUSE_MS))
    if (!document.isDirty || (await document.save())) return true
  }
  return false
}

/** As one undo stop; false when the document changed meanwhile. */
async function applyToDocument(document: vscode.TextDocument, edits: readonly TextReplacement[], label: string): Promise<boolean> {
  const edit = new vscode.WorkspaceEdit()
  for (const { start, end, newText } of joinedWhereMany(document.getText(), edits)) {
    const range = new vscode.Range(document.positionAt(start), document.positionAt(end))
    edit.replace(document.uri, range, newText, { label, needsConfirmation: false })
  }
  return await vscode.workspace.applyEdit(edit)
}

/** Mixed line ends, and bytes that the document's encoding does not explain, are only in the file: the document shows others. */
const isFaithful = (document: vscode.TextDocument, stored: StoredText) => document.getText() === stored.text && isSameForm(stored.form, document.encoding)

/** The document turns every line end that is put into it into its own kind, a lone CR too. */
function fitsDocument(document: vscode.TextDocument, edits: readonly TextReplacement[]): boolean {
  const foreign = document.eol === vscode.EndOfLine.CRLF ? /(?<!\r)\n|\r(?!\n)/ : /\r/
  return edits.every(({ newText }) => !foreign.test(newText))
}

async function storedBuffer(document: vscode.TextDocument): Promise<{ readonly bytes: Uint8Array; readonly version: FileVersion }> {
  const bytes = await vscode.workspace.encode(document.getText(), { encoding: document.encoding })
  return { bytes, version: versionOf(bytes) }
}

const versionOf = (bytes: Uint8Array) => `sha256:${hash('sha256', bytes)}` as FileVersion

function checkExpected(target: FileTarget, expect: Expectation, version: FileVersion | null): void {
  if (expect.kind === 'absent') {
    if (version !== null) throw staleVersion(target.spelling, 'exists by now')
    return
  }
  if (version === null) throw staleVersion(target.spelling, 'was deleted')
  if (version !== expect.version) throw staleVersion(target.spelling, 'changed')
}

/** The person marked the file as read-only for the editor. Source: the settings `files.readonlyInclude` and `files.readonlyExclude`. */
function isSetReadonly(uri: vscode.Uri): boolean {
  const files = vscode.workspace.getConfiguration('files', uri)
  const relative = vscode.workspace.asRelativePath(uri, false)
  const matches = (key: string) =>
    Object.entries(files.get<Readonly<Record<string, boolean>>>(key, {})).some(
      ([glob, isOn]) => isOn && (minimatch(relative, glob, { dot: true }) || minimatch(uri.fsPath, glob, { dot: true })),
    )
  return matches('readonlyInclude') && !matches('readonlyExclude')
}

/** The address for a path of another file system than this machine's disk, or null. */
function virtualUri(path: string, cwd: string, folders: readonly WorkspaceFolder[]): vscode.Uri | null {
  if (isUri(path)) {
    const uri = vscode.Uri.parse(path, true)
    return isLocal(uri) ? null : uri
  }
  const named = namedFolder(path, folders)
  if (named !== null) return isLocal(named) ? null : named
  if (!isUri(cwd)) return null
  const base = vscode.Uri.parse(cwd, true)
  return isLocal(base) ? null : path.startsWith('/') ? base.with({ path }) : vscode.Uri.joinPath(base, path)
}

/** What a path means that is led by the name of one of several open folders, as paths are shown then. */
function namedFolder(path: string, folders: readonly WorkspaceFolder[]): vscode.Uri | null {
  const [first, ...rest] = path.split('/')
  const folder = folders.length > 1 ? folders.find(({ name }) => name === first) : undefined
  return folder === undefined ? null : vscode.Uri.joinPath(uriOf(folder.path), ...rest)
}

/** In a remote extension host the files beside it have the scheme `file`, while others may name them by the remote's address. */
const isLocal = ({ scheme }: vscode.Uri) => scheme === 'file' || scheme === 'vscode-remote'

const localPath = (path: string) => (isUri(path) ? vscode.Uri.file(vscode.Uri.parse(path, true).path).fsPath : path)

const keyOf = (uri: vscode.Uri) => pathOf(uri) as FileKey

function kindOf(type: vscode.FileType): FileStat['kind'] {
  if ((type & vscode.FileType.File) !== 0) return 'file'
  return (type & vscode.FileType.Directory) === 0 ? 'other' : 'directory'
}

function checkNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw fileAborted()
}

async function withFileErrors<T>({ spelling }: FileTarget, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FileError || error instanceof RangeError) throw error
    const code = error instanceof vscode.FileSystemError ? error.code : ''
    if (code === 'FileNotFound' || code === 'FileNotADirectory') throw notFound(spelling, error)
    if (code === 'FileIsADirectory') throw notRegular(spelling, 'directory')
    if (code === 'NoPermissions') throw readonlyFile(spelling, 'may not be written or read', error)
    throw ioError(spelling, messageOf(error), error)
  }
}
