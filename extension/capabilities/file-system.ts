import { HarnessError } from '../base/harness-error.ts'
import type { Brand } from '../base/brand.ts'
import type { TextForm, Unencodable } from '../base/encoding.ts'
import type { LineWindow } from '../base/line-window.ts'
import type { Undo } from '../base/undo.ts'

export type { LineWindow, TextForm }

/**
 * Files as the person sees them: the open buffer where there is one, else the disk.
 *
 * One contract suite runs against every provider (Node, editor, fake). Whatever is not touched by a change
 * keeps its bytes: encoding, BOM, line ends, mode, links. A failed change changes nothing.
 * Source: design 6.1 "The way to the file", capability specification 0.6, 4, 5, 7, 8.
 */
export interface FileSystem {
  /**
   * The file that `path` means: absolute, relative to `cwd`, led by a workspace folder's name, or a URI.
   * Links are followed and the deepest existing ancestor is canonical, so a target can be judged by a fence.
   *
   * Errors: `FS_IO_ERROR` for a path no file system can hold (NUL), `FS_SANDBOX_DENIED` never: judging is the caller's.
   */
  resolve(path: string, cwd: string, signal?: AbortSignal): Promise<FileTarget>
  /** Errors: `FS_NOT_FOUND`, `FS_IO_ERROR`. */
  stat(target: FileTarget, signal?: AbortSignal): Promise<FileStat>
  /**
   * The whole text, decoded as design 6.1 "What is text" says.
   *
   * Errors: `FS_NOT_FOUND`, `FS_NOT_REGULAR_FILE`, `FS_NOT_TEXT`, `FS_TOO_LARGE` (over `maxBytes`), `FS_ABORTED`, `FS_IO_ERROR`.
   */
  readText(target: FileTarget, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<TextFile>
  /**
   * A window of lines and the exact total, in bounded memory however large the file is. The same lines as `readText` gives.
   *
   * Errors: as `readText`, without `FS_TOO_LARGE`.
   */
  readLines(target: FileTarget, window: LineWindow, signal?: AbortSignal): Promise<FileLines>
  /** As it would be stored now: of a document with unsaved changes the bytes that saving it would write. */
  readBytes(target: FileTarget, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<Uint8Array>
  /** Names in a folder with their kind, sorted by name. */
  readDirectory(target: FileTarget, signal?: AbortSignal): Promise<readonly DirectoryEntry[]>
  /**
   * Put `text` as the whole content. New files follow the umask and the editor's settings; an existing file keeps
   * its encoding, BOM and mode. Parents are made. `text` is written with the line ends it has.
   *
   * Errors: `FS_STALE_VERSION` when `expect` does not hold at the moment of publishing, `FS_NOT_REGULAR_FILE`,
   *         `FS_READONLY`, `FS_UNENCODABLE` (a character the file's encoding cannot hold), `FS_ABORTED` (before publishing only), `FS_IO_ERROR`.
   */
  writeText(change: WriteChange): Promise<ChangeOutcome>
  /**
   * Replace ranges of the text of exactly the version named by `expect`; all other bytes stay. One labelled undo stop in an open document.
   *
   * Errors: as `writeText`.
   */
  editText(change: EditChange): Promise<ChangeOutcome>
  /**
   * Several files in one step, in the order of `edits`: all of them or none. In an editor one labelled undo stop takes all of it back,
   * also in files that are not open.
   *
   * Errors: as `editText`, of the first file that cannot be changed; no file is changed then.
   */
  editTexts(change: EditsChange): Promise<readonly ChangeOutcome[]>
  /**
   * Put exactly these bytes as the whole content, or take the file away where they are null. Gives the new version.
   *
   * Errors: as `writeText`, without `FS_UNENCODABLE`. A document with unsaved changes counts as what saving it would write, and is
   *         never written over: `FS_STALE_VERSION`.
   */
  putBytes(change: BytesChange): Promise<FileVersion | null>
  /** What these bytes say as the content of this file, as `readText` would read them; null when they are no text. */
  decode(target: FileTarget, bytes: Uint8Array): Promise<string | null>
  /** The person renamed or moved files in the editor: what was seen under the old canonical path goes with them. Absent where nobody tells. */
  onDidRename?(listener: (from: string, to: string) => void): Undo
}

/** Identity of a file after links are followed. Two spellings of one file have one key. */
export type FileKey = Brand<string, 'FileKey'>

export interface FileTarget {
  readonly key: FileKey
  /** Absolute path (scheme `file`) or URI text (other schemes), canonical: links followed. */
  readonly path: string
  /** As the caller spelled it. */
  readonly spelling: string
  /** Where the last step is a link that points to nothing. */
  readonly isDanglingLink: boolean
  readonly exists: boolean
}

/**
 * A token for "these very contents" of one target: equal tokens mean equal contents, whatever the file's times say.
 *
 * Shape: `sha256:` and 64 hex digits of the bytes as stored (for an open document: as they would be stored).
 */
export type FileVersion = Brand<string, 'FileVersion'>

/** The version of a file that is stored as these bytes. */
export async function versionOfBytes(bytes: Uint8Array<ArrayBuffer>): Promise<FileVersion> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}` as FileVersion
}

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other'
  /** Bytes on disk. */
  readonly size: number
  readonly modifiedAt: number
  readonly isReadonly: boolean
}

export interface TextFile {
  /** Exact text without BOM, line ends as they stand. */
  readonly text: string
  readonly form: TextForm
  readonly version: FileVersion
  /** `buffer`: an open document; `isDirty`: it has unsaved changes. */
  readonly source: 'buffer' | 'disk'
  readonly isDirty: boolean
}

/** UTF-16 units of a text that comes whole beside a window of its lines. */
export const MAX_WHOLE_TEXT_CHARS = 256 * 1024

export interface FileLines {
  readonly lines: readonly { readonly number: number; readonly text: string; readonly isCut: boolean }[]
  readonly totalLines: number
  /** The byte cap ended the window before `limit` lines. */
  readonly isByteCapped: boolean
  /** The whole exact text, where it has at most `MAX_WHOLE_TEXT_CHARS`. */
  readonly wholeText?: string
  readonly form: TextForm
  readonly version: FileVersion
  readonly source: 'buffer' | 'disk'
  readonly isDirty: boolean
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
}

/** What must hold when a change is published. */
export type Expectation = { readonly kind: 'absent' } | { readonly kind: 'version'; readonly version: FileVersion }

export interface WriteChange {
  readonly target: FileTarget
  /** Whole; where it brings no CRLF, the CRLF of the file it replaces is kept. */
  readonly text: string
  readonly expect: Expectation
  /** Name of the undo stop, such as "Bosun: write a.ts". */
  readonly label: string
  /** Of a new file: nobody else may read or write it, nor the folders that are made for it, where the system knows owners. */
  readonly isForOwnerAlone?: true
  readonly signal?: AbortSignal
}

export interface TextReplacement {
  /** UTF-16 offsets into the exact text of the expected version, end exclusive. Sorted, not overlapping. */
  readonly start: number
  readonly end: number
  readonly newText: string
}

export interface EditChange {
  readonly target: FileTarget
  readonly replacements: readonly TextReplacement[]
  readonly expect: { readonly kind: 'version'; readonly version: FileVersion }
  readonly label: string
  readonly signal?: AbortSignal
}

export interface EditsChange {
  /** Each file once. */
  readonly edits: readonly Pick<EditChange, 'target' | 'replacements' | 'expect'>[]
  readonly label: string
  readonly signal?: AbortSignal
}

export interface BytesChange {
  readonly target: FileTarget
  /** Null: the file goes. */
  readonly bytes: Uint8Array | null
  readonly expect: Expectation
  readonly signal?: AbortSignal
}

export interface ChangeOutcome {
  readonly version: FileVersion
  /** The exact text before (null: the file did not exist or was not text) and after, after the editor's save actions too. */
  readonly before: string | null
  readonly after: string
  readonly form: TextForm
  /** The save actions of the editor (formatter, organise imports) changed the text further. */
  readonly wasReformatted: boolean
  /** The change stands in a buffer that is not saved, because it held unsaved changes of the person. */
  readonly isUnsaved: boolean
}

export type FileErrorCode =
  | 'FS_NOT_FOUND'
  | 'FS_NOT_REGULAR_FILE'
  | 'FS_NOT_TEXT'
  | 'FS_TOO_LARGE'
  | 'FS_NOT_OBSERVED'
  | 'FS_STALE_VERSION'
  | 'FS_EDIT_NOT_FOUND'
  | 'FS_AMBIGUOUS_EDIT'
  | 'FS_SANDBOX_DENIED'
  | 'FS_READONLY'
  | 'FS_UNENCODABLE'
  | 'FS_IO_ERROR'
  | 'FS_ABORTED'

export class FileError extends HarnessError<FileErrorCode> {}

export const notFound = (spelling: string, cause?: unknown) =>
  new FileError('FS_NOT_FOUND', `${spelling} does not exist. Check the path, or list the folder.`, { cause })

export const notRegular = (spelling: string, kind: 'directory' | 'other') =>
  new FileError(
    'FS_NOT_REGULAR_FILE',
    kind === 'directory'
      ? `${spelling} is a folder, not a file. Name a file in it.`
      : `${spelling} is not a regular file (a FIFO, socket or device) and cannot be read or written as one.`,
  )

export const danglingLink = (spelling: string) =>
  new FileError('FS_NOT_REGULAR_FILE', `${spelling} is a link to a file that does not exist. Write to the file it points to, or remove the link.`)

export const notText = (spelling: string) => new FileError('FS_NOT_TEXT', `${spelling} is binary, not text. Use a program that understands its format.`)

export const tooLarge = (spelling: string, size: number, maxBytes: number) =>
  new FileError('FS_TOO_LARGE', `${spelling} has ${size} bytes; at most ${maxBytes} can be taken at once. Read or change a part of it by other means.`)

/** `what` says what happened, such as "changed" or "was deleted". */
export const staleVersion = (spelling: string, what: string, cause?: unknown) =>
  new FileError('FS_STALE_VERSION', `${spelling} ${what} since it was last read. Read it again, then repeat the change.`, { cause })

export const readonlyFile = (spelling: string, reason = 'is read-only', cause?: unknown) =>
  new FileError('FS_READONLY', `${spelling} ${reason}. Nothing was changed; ask the person to allow writing first.`, { cause })

export function unencodable(spelling: string, encoding: string, { character, line, column }: Unencodable): FileError {
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const found = `"${character.toWellFormed()}" (U+${point}) at line ${line}, column ${column} of the new text`
  return new FileError('FS_UNENCODABLE', `${spelling} is stored as ${encoding}, which cannot hold ${found}. Nothing was changed. Use other characters.`)
}

export const fileAborted = () => new FileError('FS_ABORTED', 'The operation was stopped; nothing was changed.')

/** `reason` is a clause in plain words, with the system's code where there is one. */
export const ioError = (spelling: string, reason: string, cause?: unknown) => new FileError('FS_IO_ERROR', `${spelling}: ${reason}.`, { cause })
