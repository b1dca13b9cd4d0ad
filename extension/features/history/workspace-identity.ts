import { isErrorOf } from '../../base/harness-error.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'

export interface WorkspaceIdentityParts {
  readonly files: Pick<FileSystem, 'resolve' | 'stat' | 'readText'>
  readonly now: () => number
}

/** A folder may become a repository, or move. */
const KEPT_MS = 60_000
const MAX_POINTER_BYTES = 4_096

/**
 * Tells which folders are one workspace: the same real folder, or folders of one repository, its worktrees included.
 *
 * Shape:  a text that is equal for folders of one workspace.
 * Source: agent specification 12.15; git's own files, `gitrepository-layout`: `.git` as a folder or as a file with `gitdir:`, and `commondir`.
 */
export class WorkspaceIdentity {
  readonly #parts: WorkspaceIdentityParts
  readonly #known = new Map<string, { readonly at: number; readonly identity: Promise<string> }>()

  constructor(parts: WorkspaceIdentityParts) {
    this.#parts = parts
  }

  of(cwd: string): Promise<string> {
    const known = this.#known.get(cwd)
    const now = this.#parts.now()
    if (known !== undefined && now - known.at < KEPT_MS) return known.identity
    const identity = this.#find(cwd)
    this.#known.set(cwd, { at: now, identity })
    return identity
  }

  async #find(cwd: string): Promise<string> {
    try {
      const { path } = await this.#parts.files.resolve(cwd, '/')
      return (await this.#repositoryOf(path)) ?? `folder ${path}`
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      // A folder that cannot be looked at is the one that is called the same.
      return `folder ${cwd}`
    }
  }

  /** Of the nearest repository around the folder. Remote folders have none that can be read here. */
  async #repositoryOf(folder: string): Promise<string | null> {
    if (folder.includes('://')) return null
    for (let at = folder; ; ) {
      const dot = await this.#parts.files.resolve(`${at}/.git`, '/')
      if (dot.exists) return `repository ${await this.#commonFolder(dot.path, at)}`
      const parent = at.replace(/[\\/][^\\/]*$/, '')
      if (parent === at || parent === '') return null
      at = parent
    }
  }

  async #commonFolder(dotGit: string, worktree: string): Promise<string> {
    const { files } = this.#parts
    const target = await files.resolve(dotGit, '/')
    if ((await files.stat(target)).kind === 'directory') return target.path
    const pointed = /^gitdir: (.+)$/m.exec(await this.#pointer(dotGit, '/'))?.[1]
    if (pointed === undefined) return dotGit
    const gitFolder = await files.resolve(pointed.trim(), worktree)
    const common = await this.#pointer(`${gitFolder.path}/commondir`, '/').catch((error: unknown) => {
      // A submodule has no common folder: it is a repository of its own.
      if (isErrorOf(FileError, error, 'FS_NOT_FOUND')) return '.'
      throw error
    })
    return (await files.resolve(common.trim(), gitFolder.path)).path
  }

  async #pointer(path: string, cwd: string): Promise<string> {
    const { files } = this.#parts
    return (await files.readText(await files.resolve(path, cwd), { maxBytes: MAX_POINTER_BYTES })).text
  }
}
