import * as vscode from 'vscode'
import { messageOf } from '../../base/message-of.ts'

/** Scheme of texts and images that Bosun shows in editors and that are no files: what stood before a change, long output, attachments. */
const KEPT_SCHEME = 'bosun'

/** Contents kept for open editors; the oldest go first and are drawn again when they are asked for. */
const MAX_KEPT = 300

/**
 * Read-only contents by name, shown in native editors like files. Nothing of it is on a disk: an editor that the window brought back
 * after it was loaded again, or whose content was let go, has it drawn again by `redraw`, which throws words for the person where it cannot.
 */
export class KeptFiles implements vscode.FileSystemProvider {
  readonly #contents = new Map<string, Kept>()
  readonly #changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>()
  readonly onDidChangeFile = this.#changes.event
  readonly #redraw: (name: string) => Promise<string | Uint8Array>
  readonly #drawing = new Map<string, Promise<Kept>>()
  readonly scheme: string

  constructor(redraw: (name: string) => Promise<string | Uint8Array>, scheme = KEPT_SCHEME) {
    this.#redraw = redraw
    this.scheme = scheme
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      this.#changes,
      vscode.workspace.registerFileSystemProvider(this.scheme, this, { isCaseSensitive: true, isReadonly: true }),
    )
  }

  /**
   * Keep the content under its name and give its address. The same name with other content updates its editors. `side` tells apart
   * contents of one name that stand beside each other: a diff shows two names as a file that was renamed. With `like` the editor shows
   * it under the path of that file, as another state of it.
   */
  keep(name: string, content: string | Uint8Array, { side = '', like }: { readonly side?: string; readonly like?: vscode.Uri } = {}): vscode.Uri {
    const path = `/${name.replaceAll(/[?#\\]/g, '_')}`
    const uri = vscode.Uri.from(like === undefined ? { scheme: this.scheme, authority: side, path } : { scheme: this.scheme, path: like.path, query: path })
    const known = this.#contents.get(keyOf(uri))
    const { bytes } = this.#put(keyOf(uri), content)
    if (known !== undefined && Buffer.compare(known.bytes, bytes) !== 0) this.#changes.fire([{ type: vscode.FileChangeType.Changed, uri }])
    return uri
  }

  #put(key: string, content: string | Uint8Array): Kept {
    const kept = { bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content, time: Date.now() }
    this.#contents.delete(key)
    this.#contents.set(key, kept)
    for (const oldest of this.#contents.keys()) {
      if (this.#contents.size <= MAX_KEPT) break
      this.#contents.delete(oldest)
    }
    return kept
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {})
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { bytes, time } = await this.#known(uri)
    return { type: vscode.FileType.File, ctime: time, mtime: time, size: bytes.length, permissions: vscode.FilePermission.Readonly }
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return (await this.#known(uri)).bytes
  }

  readDirectory(): [string, vscode.FileType][] {
    return []
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  writeFile(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  async #known(uri: vscode.Uri): Promise<Kept> {
    const key = keyOf(uri)
    const known = this.#contents.get(key)
    if (known !== undefined) return known
    // Asked for its size and its content at once, it is drawn once.
    const drawing = this.#drawing.get(key) ?? this.#draw(uri)
    this.#drawing.set(key, drawing)
    try {
      return await drawing
    } finally {
      this.#drawing.delete(key)
    }
  }

  async #draw(uri: vscode.Uri): Promise<Kept> {
    try {
      const content = await this.#redraw((uri.query === '' ? uri.path : uri.query).slice(1))
      // Opened anew in the meantime: that is newer.
      return this.#contents.get(keyOf(uri)) ?? this.#put(keyOf(uri), content)
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(messageOf(error))
    }
  }
}

/** What is shown under the path of a file has its own in the query. */
const keyOf = ({ authority, path, query }: vscode.Uri) => (query === '' ? `${authority}${path}` : query)

interface Kept {
  readonly bytes: Uint8Array
  readonly time: number
}
