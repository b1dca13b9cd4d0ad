import { constants } from 'node:fs'
import { access, lstat, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve as joinPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { editorConfigFor, storedAsConfigured } from '../../base/editor-config.ts'
import { applyEdits, decodeText, editBytes, encodeText, readingsOf, sniffBytes, utf8, withLineEnds, type Encoded } from '../../base/encoding.ts'
import {
  ioError,
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
} from '../../capabilities/file-system.ts'
import type { WorkspaceFolder } from '../../capabilities/workspace.ts'
import { editInTurn } from './edit-in-turn.ts'
import { checkNotAborted, withFileErrors } from './file-failure.ts'
import { checkExpected, publish, readCurrent, remove, type CurrentFile } from './publish-file.ts'
import { readPlainFile } from './read-plain-file.ts'
import { readStart, readWhole, scanLines, versionOf, withRegularFile } from './read-file.ts'

export interface NodeFileSystemOptions {
  /** With more than one folder, a relative path may begin with a folder's name. */
  readonly folders?: () => readonly WorkspaceFolder[]
  /** Called with the path just before a change is published; tests use it to come in between. */
  readonly beforePublish?: (path: string) => Promise<void>
}

/**
 * Files on the disk of this machine.
 *
 * A change is written to a temporary file beside the target, synced, and put in its place in one step, so that every reader
 * sees the old or the new content whole. Mode and owner are kept; a link on the way is kept and its target replaced.
 * The new content is a new file: other hard links to the old one keep the old content, and extended attributes are not
 * taken over. Changes to one target wait for each other.
 */
export class NodeFileSystem implements FileSystem {
  readonly #options: NodeFileSystemOptions
  readonly #changes = new Map<FileKey, Promise<unknown>>()

  constructor(options: NodeFileSystemOptions = {}) {
    this.#options = options
  }

  async resolve(path: string, cwd: string, signal?: AbortSignal): Promise<FileTarget> {
    checkNotAborted(signal)
    if (path.includes('\0')) throw ioError(path.replaceAll('\0', '\\0'), 'a path cannot hold a NUL character')
    return withFileErrors(path, async () => {
      const full = await this.#fullPath(path, cwd)
      const { canonical, exists } = await canonicalPath(full)
      const isDanglingLink = !exists && (await isLink(canonical))
      return { key: keyOf(canonical), path: canonical, spelling: path, isDanglingLink, exists }
    })
  }

  async stat(target: FileTarget, signal?: AbortSignal): Promise<FileStat> {
    checkNotAborted(signal)
    return withFileErrors(target.spelling, async () => {
      const facts = await stat(target.path)
      return { kind: kindOf(facts), size: facts.size, modifiedAt: facts.mtimeMs, isReadonly: await isReadonly(target.path, facts) }
    })
  }

  async readText(target: FileTarget, { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<TextFile> {
    const bytes = await this.readBytes(target, { maxBytes, ...(signal && { signal }) })
    const decoded = decodeText(bytes)
    if (!decoded) throw notText(target.spelling)
    return { text: decoded.text, form: decoded.form, version: versionOf(bytes), source: 'disk', isDirty: false }
  }

  async readLines(target: FileTarget, window: LineWindow, signal?: AbortSignal): Promise<FileLines> {
    return withFileErrors(target.spelling, () =>
      withRegularFile(target, async (file) => {
        const head = await readStart(file, sniffBytes)
        for (const reading of readingsOf(head)) {
          const lines = await scanLines(file, reading, window, signal)
          if (lines) return { ...lines, source: 'disk', isDirty: false }
        }
        throw notText(target.spelling)
      }),
    )
  }

  async readBytes(target: FileTarget, { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<Uint8Array> {
    checkNotAborted(signal)
    return withFileErrors(target.spelling, () =>
      withRegularFile(target, async (file, facts) => {
        if (facts.size > maxBytes) throw tooLarge(target.spelling, facts.size, maxBytes)
        const bytes = await readWhole(file, { size: facts.size, maxBytes, signal })
        if (bytes.length > maxBytes) throw tooLarge(target.spelling, bytes.length, maxBytes)
        return bytes
      }),
    )
  }

  async readDirectory(target: FileTarget, signal?: AbortSignal): Promise<readonly DirectoryEntry[]> {
    checkNotAborted(signal)
    return withFileErrors(target.spelling, async () => {
      const entries = await readdir(target.path, { withFileTypes: true })
      return entries
        .map((entry) => ({ name: entry.name, kind: entry.isSymbolicLink() ? ('link' as const) : kindOf(entry) }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    })
  }

  writeText({ target, text, expect, isForOwnerAlone, signal }: WriteChange): Promise<ChangeOutcome> {
    return this.#change({ target, expect, signal, isForOwnerAlone: isForOwnerAlone === true }, async (current) => {
      if (current === null) {
        const stored = storedAsConfigured(text, await editorConfigFor(target.path.replaceAll('\\', '/'), readConfig))
        return { before: null, after: stored.text, encoding: stored.encoding, encoded: stored.encode() }
      }
      const decoded = decodeText(current.bytes)
      const codec = decoded?.codec ?? utf8
      // A mark at the start of the text is no content: it says how the file wants to be stored.
      const brings = codec.label.startsWith('utf') && text.startsWith('\u{FEFF}')
      const after = withLineEnds(decoded?.form.eol ?? 'none', brings ? text.slice(1) : text)
      const encoded = encodeText(after, codec, brings || (decoded?.form.hasBom ?? false))
      return { before: decoded?.text ?? null, after, encoding: codec.label, encoded }
    })
  }

  editText({ target, replacements, expect, signal }: EditChange): Promise<ChangeOutcome> {
    return this.#change({ target, expect, signal, isForOwnerAlone: false }, async (current) => {
      if (!current) throw staleVersion(target.spelling, 'was deleted')
      const decoded = decodeText(current.bytes)
      if (!decoded) throw notText(target.spelling)
      const encoded = editBytes(current.bytes, decoded, replacements)
      return { before: decoded.text, after: applyEdits(decoded.text, replacements), encoding: decoded.codec.label, encoded }
    })
  }

  editTexts(change: EditsChange): Promise<readonly ChangeOutcome[]> {
    return editInTurn(this, change, Infinity)
  }

  putBytes({ target, bytes, expect, signal }: BytesChange): Promise<FileVersion | null> {
    return this.#inTurn(target.key, () =>
      withFileErrors(target.spelling, async () => {
        checkNotAborted(signal)
        const current = await readCurrent(target)
        checkExpected(target, expect, current)
        if (current && (await isReadonly(target.path, current.stat))) throw readonlyFile(target.spelling)
        if (bytes !== null) await publish({ target, bytes, current, signal, beforePublish: this.#options.beforePublish })
        else if (current) await remove({ target, current, beforePublish: this.#options.beforePublish })
        return bytes === null ? null : versionOf(bytes)
      }),
    )
  }

  decode(_target: FileTarget, bytes: Uint8Array): Promise<string | null> {
    return Promise.resolve(decodeText(bytes)?.text ?? null)
  }

  async #change(
    { target, expect, signal, isForOwnerAlone }: { readonly target: FileTarget; readonly expect: Expectation; readonly signal: AbortSignal | undefined; readonly isForOwnerAlone: boolean },
    compute: (current: CurrentFile | null) => Promise<ComputedChange>,
  ): Promise<ChangeOutcome> {
    return this.#inTurn(target.key, () =>
      withFileErrors(target.spelling, async () => {
        checkNotAborted(signal)
        const current = await readCurrent(target)
        checkExpected(target, expect, current)
        if (current && (await isReadonly(target.path, current.stat))) throw readonlyFile(target.spelling)
        const { before, after, encoding, encoded } = await compute(current)
        if ('unencodable' in encoded) throw unencodable(target.spelling, encoding, encoded.unencodable)
        await publish({ target, bytes: encoded.bytes, current, isForOwnerAlone, signal, beforePublish: this.#options.beforePublish })
        const form = decodeText(encoded.bytes)?.form ?? { encoding: 'utf8', hasBom: false, eol: 'none' }
        return { version: versionOf(encoded.bytes), before, after, form, wasReformatted: false, isUnsaved: false }
      }),
    )
  }

  /** One change of a target after the other, so that the check and the change belong together. */
  async #inTurn<T>(key: FileKey, work: () => Promise<T>): Promise<T> {
    const previous = this.#changes.get(key)
    const turn = (async () => {
      await previous?.catch(() => {})
      return work()
    })()
    this.#changes.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#changes.get(key) === turn) this.#changes.delete(key)
    }
  }

  async #fullPath(path: string, cwd: string): Promise<string> {
    if (/^file:\/\//i.test(path)) return fileURLToPath(path)
    if (/^[a-z][\w+.-]+:\/\//i.test(path)) throw ioError(path, "it is not on this machine's disk; use a path, or a file: URI")
    if (isAbsolute(path)) return joinPath(path)
    const folders = this.#options.folders?.() ?? []
    const [first, ...rest] = path.split(/[/\\]/)
    const folder = folders.length > 1 ? folders.find(({ name }) => name === first) : undefined
    if (folder) return joinPath(folder.path, ...rest)
    // `..` means the folder above the real one, not above the link that led here.
    return joinPath(path.includes('..') || cwd.includes('..') ? await realpath(cwd) : cwd, path)
  }
}

/** Bytes of an `.editorconfig`. */
const MAX_CONFIG_BYTES = 256 * 1024

async function readConfig(path: string): Promise<string | null> {
  return await readPlainFile(path, MAX_CONFIG_BYTES).then(
    (bytes) => decodeText(bytes)?.text ?? null,
    // What is not there, or cannot be read, says nothing of other files.
    () => null,
  )
}

/** What a change makes of a file. */
interface ComputedChange {
  readonly before: string | null
  readonly after: string
  readonly encoding: string
  readonly encoded: Encoded
}

/** The deepest ancestor that exists is followed through its links; what does not exist yet is put below it. */
async function canonicalPath(path: string): Promise<{ readonly canonical: string; readonly exists: boolean }> {
  const missing: string[] = []
  for (let at = path; ; at = dirname(at)) {
    try {
      return { canonical: join(await realpath(at), ...missing), exists: missing.length === 0 }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || dirname(at) === at) throw error
      missing.unshift(basename(at))
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (facts) => facts.isSymbolicLink(),
    () => false,
  )
}

const keyOf = (path: string) => (process.platform === 'linux' ? path : path.toLowerCase()) as FileKey

const kindOf = (facts: { isFile(): boolean; isDirectory(): boolean }): FileStat['kind'] => (facts.isFile() ? 'file' : facts.isDirectory() ? 'directory' : 'other')

/** The superuser may write anything; a file without any write bit is meant to be left alone all the same. */
async function isReadonly(path: string, { mode }: { readonly mode: number | bigint }): Promise<boolean> {
  if ((Number(mode) & 0o222) === 0) return true
  return access(path, constants.W_OK).then(
    () => false,
    () => true,
  )
}
