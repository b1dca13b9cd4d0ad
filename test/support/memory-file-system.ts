import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { applyEdits, decodeText, editBytes, encodeText, utf8, withLineEnds, type Encoded } from '../../extension/base/encoding.ts'
import { LineWindowScanner } from '../../extension/base/line-window.ts'
import {
  danglingLink,
  fileAborted,
  ioError,
  MAX_WHOLE_TEXT_CHARS,
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
  type WriteChange,
} from '../../extension/capabilities/file-system.ts'
import { editInTurn } from '../../extension/platform/node/edit-in-turn.ts'

interface Entry {
  bytes: Uint8Array
  modifiedAt: number
  isReadonly: boolean
}

/** Files in memory, with `/` paths. Passes the contract of `FileSystem`; a test looks at and changes `entries` directly. */
export class MemoryFileSystem implements FileSystem {
  readonly entries = new Map<string, Entry>()
  readonly folders = new Set<string>(['/'])
  #time = 0

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    for (const [path, content] of Object.entries(files)) this.put(path, content)
  }

  put(path: string, content: string | Uint8Array): void {
    this.makeFolder(posix.dirname(path))
    const isReadonly = this.entries.get(path)?.isReadonly ?? false
    this.entries.set(path, { bytes: typeof content === 'string' ? Buffer.from(content) : content, modifiedAt: ++this.#time, isReadonly })
  }

  text(path: string): string | null {
    const entry = this.entries.get(path)
    return entry ? Buffer.from(entry.bytes).toString() : null
  }

  makeFolder(path: string): void {
    for (let at = path; !this.folders.has(at); at = posix.dirname(at)) this.folders.add(at)
  }

  async resolve(path: string, cwd: string, signal?: AbortSignal): Promise<FileTarget> {
    checkNotAborted(signal)
    if (path.includes('\0')) throw ioError(path.replaceAll('\0', '\\0'), 'a path cannot hold a NUL character')
    const full = posix.resolve(cwd, path.replace(/^file:\/\//, ''))
    return { key: full as FileKey, path: full, spelling: path, isDanglingLink: false, exists: this.entries.has(full) || this.folders.has(full) }
  }

  async stat({ path, spelling }: FileTarget, signal?: AbortSignal): Promise<FileStat> {
    checkNotAborted(signal)
    const entry = this.entries.get(path)
    if (entry) return { kind: 'file', size: entry.bytes.length, modifiedAt: entry.modifiedAt, isReadonly: entry.isReadonly }
    if (this.folders.has(path)) return { kind: 'directory', size: 0, modifiedAt: 0, isReadonly: false }
    throw notFound(spelling)
  }

  async readText(target: FileTarget, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<TextFile> {
    const bytes = await this.readBytes(target, options)
    const decoded = decodeText(bytes)
    if (!decoded) throw notText(target.spelling)
    return { text: decoded.text, form: decoded.form, version: versionOf(bytes), source: 'disk', isDirty: false }
  }

  async readLines(target: FileTarget, window: LineWindow, signal?: AbortSignal): Promise<FileLines> {
    const { text, form, version } = await this.readText(target, { maxBytes: Infinity, ...(signal && { signal }) })
    const scanner = new LineWindowScanner(window)
    scanner.write(text)
    const { lines, totalLines, isByteCapped } = scanner.end()
    return { lines, totalLines, isByteCapped, ...(text.length <= MAX_WHOLE_TEXT_CHARS && { wholeText: text }), form, version, source: 'disk', isDirty: false }
  }

  async readBytes({ path, spelling }: FileTarget, { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<Uint8Array> {
    checkNotAborted(signal)
    if (this.folders.has(path)) throw notRegular(spelling, 'directory')
    const entry = this.entries.get(path)
    if (!entry) throw notFound(spelling)
    if (entry.bytes.length > maxBytes) throw tooLarge(spelling, entry.bytes.length, maxBytes)
    return entry.bytes
  }

  async readDirectory({ path, spelling }: FileTarget, signal?: AbortSignal): Promise<readonly DirectoryEntry[]> {
    checkNotAborted(signal)
    if (!this.folders.has(path)) throw this.entries.has(path) ? ioError(spelling, 'it is a file, not a folder') : notFound(spelling)
    const below = (paths: Iterable<string>, kind: DirectoryEntry['kind']) =>
      [...paths].filter((one) => one !== '/' && posix.dirname(one) === path).map((one) => ({ name: posix.basename(one), kind }))
    return [...below(this.folders, 'directory'), ...below(this.entries.keys(), 'file')].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  async writeText({ target, text, expect, signal }: WriteChange): Promise<ChangeOutcome> {
    const current = this.#current(target, expect, signal)
    const decoded = current && decodeText(current)
    const codec = decoded?.codec ?? utf8
    const brings = codec.label.startsWith('utf') && text.startsWith('\u{FEFF}')
    const after = withLineEnds(decoded?.form.eol ?? 'none', brings ? text.slice(1) : text)
    return this.#publish(target, { before: decoded?.text ?? null, after, encoding: codec.label, encoded: encodeText(after, codec, brings || (decoded?.form.hasBom ?? false)) })
  }

  async editText({ target, replacements, expect, signal }: EditChange): Promise<ChangeOutcome> {
    const current = this.#current(target, expect, signal)!
    const decoded = decodeText(current)
    if (!decoded) throw notText(target.spelling)
    const after = applyEdits(decoded.text, replacements)
    return this.#publish(target, { before: decoded.text, after, encoding: decoded.codec.label, encoded: editBytes(current, decoded, replacements) })
  }

  editTexts(change: EditsChange): Promise<readonly ChangeOutcome[]> {
    return editInTurn(this, change, Infinity)
  }

  async putBytes({ target, bytes, expect, signal }: BytesChange): Promise<FileVersion | null> {
    this.#current(target, expect, signal)
    if (bytes === null) this.entries.delete(target.path)
    else this.put(target.path, bytes)
    return bytes === null ? null : versionOf(bytes)
  }

  decode(_target: FileTarget, bytes: Uint8Array): Promise<string | null> {
    return Promise.resolve(decodeText(bytes)?.text ?? null)
  }

  #current({ path, spelling, isDanglingLink }: FileTarget, expect: Expectation, signal: AbortSignal | undefined): Uint8Array | null {
    checkNotAborted(signal)
    if (isDanglingLink) throw danglingLink(spelling)
    if (this.folders.has(path)) throw notRegular(spelling, 'directory')
    const entry = this.entries.get(path)
    if (expect.kind === 'absent' && entry) throw staleVersion(spelling, 'exists by now')
    if (expect.kind === 'version' && !entry) throw staleVersion(spelling, 'was deleted')
    if (expect.kind === 'version' && entry && versionOf(entry.bytes) !== expect.version) throw staleVersion(spelling, 'changed')
    if (entry?.isReadonly) throw readonlyFile(spelling)
    for (let at = posix.dirname(path); at !== '/'; at = posix.dirname(at)) {
      if (this.entries.has(at)) throw ioError(spelling, 'a part of its path is a file, not a folder; choose another path')
    }
    return entry?.bytes ?? null
  }

  #publish(
    { path, spelling }: FileTarget,
    { before, after, encoding, encoded }: { readonly before: string | null; readonly after: string; readonly encoding: string; readonly encoded: Encoded },
  ): ChangeOutcome {
    if ('unencodable' in encoded) throw unencodable(spelling, encoding, encoded.unencodable)
    this.put(path, encoded.bytes)
    const form = decodeText(encoded.bytes)?.form ?? { encoding: 'utf8', hasBom: false, eol: 'none' as const }
    return { version: versionOf(encoded.bytes), before, after, form, wasReformatted: false, isUnsaved: false }
  }
}

const versionOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}` as FileVersion

function checkNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw fileAborted()
}
