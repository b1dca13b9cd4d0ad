import { encodeText, utf8 } from '../../base/encoding.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import { FileError, ioError, versionOfBytes, type FileSystem, type FileTarget, type FileVersion } from '../../capabilities/file-system.ts'
import type { Session } from '../../core/session/session.ts'
import type { Image } from './events.ts'
import { joinLines, lineEdits, splitLines } from './line-merge.ts'

/** Bytes of one file that is compared and merged; a larger one is taken back as a whole. */
export const MAX_REVIEWED_BYTES = 10 * 1024 * 1024
/** Bytes of one file that is kept: as many as a tool may change. */
const MAX_KEPT_BYTES = 50 * 1024 * 1024
/** Texts of images held for the next look, in bytes of what was read. */
const MAX_HELD_BYTES = 20 * 1024 * 1024

export interface ImagesNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'readBytes' | 'readText' | 'decode'>
  readonly blobs: Pick<BlobStore, 'putBeforeImage' | 'getBeforeImage'>
}

/** A file as it is now. */
export interface Now {
  readonly target: FileTarget
  /** Null: no file. */
  readonly image: Image
  readonly version: FileVersion | null
  readonly bytes: Uint8Array | null
  /** Null: no text, or too large to be compared. */
  readonly lines: readonly string[] | null
}

/** Contents of files at the moments that the log names. */
export class Images {
  readonly #needs: ImagesNeeds
  readonly #held = new Map<string, { readonly lines: readonly string[] | null; readonly bytes: number }>()
  #heldBytes = 0

  constructor(needs: ImagesNeeds) {
    this.#needs = needs
  }

  /** Null where it is no text, too large, or not kept any more. */
  async lines(session: Session, target: FileTarget, image: Image): Promise<readonly string[] | null> {
    if (image === null) return []
    const key = `${session.id}/${image}`
    const held = this.#held.get(key)
    if (held !== undefined) return held.lines
    const bytes = await this.bytes(session, image)
    // It may be kept later.
    if (bytes === null) return null
    const lines = await this.#linesOf(target, bytes)
    this.#hold(key, { lines, bytes: bytes.length })
    return lines
  }

  async bytes(session: Session, image: Image): Promise<Uint8Array | null> {
    if (image === null) return null
    try {
      return await this.#needs.blobs.getBeforeImage(session.id, image)
    } catch {
      // The store says only that the content is gone or damaged; both mean that it cannot be had.
      return null
    }
  }

  /** Read the file and keep what is read, so that whatever an action makes of it can be had again. Errors: `FileError`, also where a link stands in its place. */
  async now(session: Session, path: string): Promise<Now> {
    const target = await this.#targetAt(session, path)
    const bytes = await this.#read(target)
    const image = (await this.#needs.blobs.putBeforeImage(session.id, bytes)).digest
    return { target, image, bytes, version: image === null ? null : (`sha256:${image}` as FileVersion), lines: bytes === null ? [] : await this.#linesOf(target, bytes) }
  }

  /** The lines of the file as it is now, without keeping them. Null: no text. Errors: `FileError`. */
  async look(session: Session, path: string): Promise<Pick<Now, 'target' | 'image' | 'lines'>> {
    const target = await this.#targetAt(session, path)
    if (!target.exists) return { target, image: null, lines: [] }
    try {
      const { text, version } = await this.#needs.files.readText(target, { maxBytes: MAX_REVIEWED_BYTES })
      return { target, image: version.replace(/^sha256:/, ''), lines: splitLines(text) }
    } catch (error) {
      if (error instanceof FileError && (error.code === 'FS_NOT_TEXT' || error.code === 'FS_NOT_FOUND' || error.code === 'FS_TOO_LARGE')) return await this.now(session, path)
      throw error
    }
  }

  /** The image of a file as it is now. Errors: `FileError` `FS_TOO_LARGE` and others. */
  async keep(session: Session, path: string): Promise<Image> {
    const target = await this.#targetAt(session, path)
    return (await this.#needs.blobs.putBeforeImage(session.id, await this.#read(target))).digest
  }

  /** Null: no file, but nothing, a folder, a link or a pipe. Errors: `FileError` `FS_TOO_LARGE` and others. */
  async readBytes(session: Session, path: string, maxBytes = MAX_KEPT_BYTES): Promise<Uint8Array | null> {
    const target = await this.#ownTarget(session, path)
    if (target === null) return null
    try {
      return await this.#read(target, maxBytes)
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_REGULAR_FILE') return null
      throw error
    }
  }

  async keepBytes(session: Session, bytes: Uint8Array): Promise<Image> {
    return (await this.#needs.blobs.putBeforeImage(session.id, bytes)).digest
  }

  /** As `lines`, whatever stands at the path now. */
  async linesOf(session: Session, path: string, image: Image): Promise<readonly string[] | null> {
    return await this.lines(session, await this.#needs.files.resolve(path, '/'), image)
  }

  /** The name of bytes, whether they are kept or not. */
  async digestOf(bytes: Uint8Array): Promise<string> {
    return (await versionOfBytes(new Uint8Array(bytes))).replace(/^sha256:/, '')
  }

  /** Lines that differ; none for what is no text. */
  async counts(session: Session, path: string, before: Image, after: Image): Promise<{ readonly added: number; readonly removed: number }> {
    const [old, now] = [await this.linesOf(session, path, before), await this.linesOf(session, path, after)]
    const edits = old === null || now === null ? [] : lineEdits(old, now)
    return { added: edits.reduce((sum, { lines }) => sum + lines.length, 0), removed: edits.reduce((sum, { from, to }) => sum + to - from, 0) }
  }

  async put(session: Session, lines: readonly string[]): Promise<Image> {
    const encoded = encodeText(joinLines(lines), utf8, false)
    if ('unencodable' in encoded) throw new Error('The text holds half a character, which cannot be kept apart.')
    return (await this.#needs.blobs.putBeforeImage(session.id, encoded.bytes)).digest
  }

  async #targetAt(session: Session, path: string): Promise<FileTarget> {
    const target = await this.#ownTarget(session, path)
    if (target === null) throw ioError(path, 'a link in its path leads elsewhere now, and what it leads to is not looked at or changed. Take the link away first')
    return target
  }

  /** Null where a link leads elsewhere: what stands there is not what was changed. */
  async #ownTarget(session: Session, path: string): Promise<FileTarget | null> {
    const { files } = this.#needs
    const target = await files.resolve(path, '/')
    if (target.isDanglingLink) return null
    if (isSamePath(target.path, path)) return target
    // The folder of the session may be reached by a link; below it none is followed.
    const { cwd } = session.header
    const rest = cwd !== undefined && path.startsWith(cwd) ? path.slice(cwd.length) : null
    return cwd !== undefined && rest !== null && isSamePath(target.path, (await files.resolve(cwd, '/')).path + rest) ? target : null
  }

  async #read(target: FileTarget, maxBytes = MAX_KEPT_BYTES): Promise<Uint8Array | null> {
    if (!target.exists) return null
    try {
      return await this.#needs.files.readBytes(target, { maxBytes })
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') return null
      throw error
    }
  }

  async #linesOf(target: FileTarget, bytes: Uint8Array): Promise<readonly string[] | null> {
    const text = bytes.length > MAX_REVIEWED_BYTES ? null : await this.#needs.files.decode(target, bytes)
    return text === null ? null : splitLines(text)
  }

  #hold(key: string, entry: { readonly lines: readonly string[] | null; readonly bytes: number }): void {
    this.#held.set(key, entry)
    this.#heldBytes += entry.bytes
    for (const [oldest, { bytes }] of this.#held) {
      if (this.#heldBytes <= MAX_HELD_BYTES) break
      this.#held.delete(oldest)
      this.#heldBytes -= bytes
    }
  }
}

/** Some systems take upper and lower case for the same, and spell a path as it is stored. */
const isSamePath = (one: string, other: string): boolean => one === other || one.toLowerCase() === other.toLowerCase()
