import * as vscode from 'vscode'

/** Scheme of texts and images that Bosun shows in editors and that are no files: what stood before a change, long output, attachments. */
export const KEPT_SCHEME = 'bosun'

/** Contents kept for open editors; the oldest go first, their editors then say that they are gone. */
const MAX_KEPT = 300

/** Read-only contents by name, shown in native editors like files. Nothing of it is on a disk; the session's log can make it again. */
export class KeptFiles implements vscode.FileSystemProvider {
  readonly #contents = new Map<string, { readonly bytes: Uint8Array; readonly time: number }>()
  readonly #changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>()
  readonly onDidChangeFile = this.#changes.event
  readonly #scheme: string

  constructor(scheme = KEPT_SCHEME) {
    this.#scheme = scheme
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      this.#changes,
      vscode.workspace.registerFileSystemProvider(this.#scheme, this, { isCaseSensitive: true, isReadonly: true }),
    )
  }

  /** Keep the content under its name and give its address. The same name with other content updates its editors. */
  keep(name: string, content: string | Uint8Array): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: this.#scheme, path: `/${name.replaceAll(/[?#\\]/g, '_')}` })
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    const known = this.#contents.get(uri.path)
    this.#contents.delete(uri.path)
    this.#contents.set(uri.path, { bytes, time: Date.now() })
    if (known !== undefined && Buffer.compare(known.bytes, bytes) !== 0) this.#changes.fire([{ type: vscode.FileChangeType.Changed, uri }])
    for (const oldest of this.#contents.keys()) {
      if (this.#contents.size <= MAX_KEPT) break
      this.#contents.delete(oldest)
    }
    return uri
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {})
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { bytes, time } = this.#known(uri)
    return { type: vscode.FileType.File, ctime: time, mtime: time, size: bytes.length, permissions: vscode.FilePermission.Readonly }
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.#known(uri).bytes
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

  #known(uri: vscode.Uri) {
    const known = this.#contents.get(uri.path)
    if (known === undefined) throw vscode.FileSystemError.FileNotFound(uri)
    return known
  }
}
