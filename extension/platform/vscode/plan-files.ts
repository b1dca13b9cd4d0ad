import * as vscode from 'vscode'
import { messageOf } from '../../base/message-of.ts'

/** Scheme of plans under review: documents that the person may change, kept in the log of their session. */
export const PLAN_SCHEME = 'bosun-plan'

/** What stands behind the documents. Both throw words for the person. */
export interface PlanStore {
  /** `isOpen`: it may still be changed. */
  read(name: string): Promise<{ readonly text: string; readonly isOpen: boolean }>
  write(name: string, text: string): Promise<void>
}

/** Plans as files of the editor: read from and written to the session's log, so that what is saved survives the window. */
export class PlanFiles implements vscode.FileSystemProvider {
  readonly #store: PlanStore
  readonly #changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>()
  readonly #times = new Map<string, number>()
  readonly onDidChangeFile = this.#changes.event

  constructor(store: PlanStore) {
    this.#store = store
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(this.#changes, vscode.workspace.registerFileSystemProvider(PLAN_SCHEME, this, { isCaseSensitive: true }))
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {})
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { text, isOpen } = await this.#read(uri)
    const mtime = this.#times.get(uri.path) ?? 0
    return { type: vscode.FileType.File, ctime: 0, mtime, size: Buffer.byteLength(text), ...(!isOpen && { permissions: vscode.FilePermission.Readonly }) }
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return new TextEncoder().encode((await this.#read(uri)).text)
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    try {
      await this.#store.write(planNameOf(uri), new TextDecoder().decode(content))
    } catch (error) {
      throw vscode.FileSystemError.NoPermissions(messageOf(error))
    }
    this.#times.set(uri.path, Date.now())
    this.#changes.fire([{ type: vscode.FileChangeType.Changed, uri }])
  }

  readDirectory(): [string, vscode.FileType][] {
    return []
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  async #read(uri: vscode.Uri): Promise<{ readonly text: string; readonly isOpen: boolean }> {
    try {
      return await this.#store.read(planNameOf(uri))
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(messageOf(error))
    }
  }
}

export const planUriOf = (name: string): vscode.Uri => vscode.Uri.from({ scheme: PLAN_SCHEME, path: `/${name}` })
export const planNameOf = ({ path }: vscode.Uri): string => path.slice(1)
