import type { Machine } from '../../capabilities/machine.ts'
import { GitError, runGit, type GitNeeds as GitRunNeeds } from '../../core/git/run-git.ts'

/** Bytes that git may say before it is stopped. */
const MAX_SAID_BYTES = 64 * 1024 * 1024
/** For one question. A command waits for the answers, so a git that hangs must not hold it up for long. */
export const GIT_DEADLINE_MS = 10_000

export interface GitNeeds extends GitRunNeeds {
  readonly machine: Pick<Machine, 'platform'>
}

/** Errors of each: `GitError`; the signal’s reason once it fired. Without git there is no repository. */
export interface GitFacts {
  /** Whether the folder lies in a repository. It may be reached by a link: all paths below are as it is spelled, and below it. */
  isIn(folder: string, signal: AbortSignal): Promise<boolean>
  /** The commit that is checked out; null before the first. */
  head(folder: string, signal: AbortSignal): Promise<string | null>
  /** Files below `folder` whose content no commit holds: changed, staged, and unknown to git but not ignored. Absolute. */
  uncommitted(folder: string, signal: AbortSignal): Promise<readonly string[]>
  /** Contents in a commit, with the line ends that git gives files when it checks them out. Absent where it does not hold the path. */
  contents(folder: string, commit: string, paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>
  /** Which of the paths git ignores. */
  ignored(folder: string, paths: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>
}

/** What git knows, asked without ever changing a thing: no lock, no index, no program that a repository names. */
export function createGitFacts(needs: GitNeeds): GitFacts {
  const git = async (cwd: string, args: readonly string[], signal: AbortSignal, stdin?: string): Promise<{ readonly exitCode: number | null; readonly bytes: Uint8Array }> => {
    try {
      return await runGit(needs, { cwd, args, signal, maxBytes: MAX_SAID_BYTES, deadlineMs: GIT_DEADLINE_MS, ...(stdin !== undefined && { stdin }) })
    } catch (error) {
      // Without git there is nothing that it knows.
      if (error instanceof GitError && error.code === 'GIT_MISSING') return { exitCode: null, bytes: new Uint8Array() }
      throw error
    }
  }
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

  /** Source: gitattributes, "End-of-line conversion"; git-config, `core.autocrlf` and `core.eol`. Filters of a repository are programs, and are not run. */
  async function checkedOutWithCr(folder: string, paths: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const relative = paths.map((path) => fromFolder(folder, path))
    const [config, attributes] = await Promise.all([
      git(folder, ['config', '-z', '--get-regexp', '^core\\.(autocrlf|eol)$'], signal),
      git(folder, ['check-attr', '-z', '--stdin', 'text', 'eol'], signal, relative.map((path) => `${path}\0`).join('')),
    ])
    // A value stands in a line of its own; the last of several holds.
    const settings = text(config.bytes).toLowerCase().split('\0')
    const setting = (name: string) => settings.findLast((line) => line.startsWith(`${name}\n`))?.slice(name.length + 1)
    const [autocrlf, eol] = [setting('core.autocrlf'), setting('core.eol')]
    const isByDefault = autocrlf === 'true' || (autocrlf !== 'input' && (eol === 'crlf' || (eol !== 'lf' && needs.machine.platform === 'win32')))
    const fields = text(attributes.bytes).split('\0')
    const known = new Map<string, string>()
    for (let at = 0; at + 2 < fields.length; at += 3) known.set(`${fields[at + 1]} ${fields[at]}`, fields[at + 2] ?? '')
    const isWithCr = (path: string) => {
      const [isText, ends] = [known.get(`text ${path}`), known.get(`eol ${path}`)]
      if (isText === 'unset') return false
      if (ends === 'crlf' || ends === 'lf') return ends === 'crlf'
      return isText === 'set' || isText === 'auto' ? isByDefault : autocrlf === 'true'
    }
    return new Set(paths.filter((_path, index) => isWithCr(relative[index] ?? '')))
  }

  return {
    async isIn(folder, signal) {
      const said = await git(folder, ['rev-parse', '--show-toplevel'], signal)
      if (said.exitCode !== 0) return false
      if (!isAbsolute.test(text(said.bytes))) throw unusable('rev-parse --show-toplevel')
      return true
    },
    async head(folder, signal) {
      const said = await git(folder, ['rev-parse', '--verify', '--quiet', 'HEAD'], signal)
      if (said.exitCode !== 0) return null
      const commit = text(said.bytes).trim()
      if (!/^[0-9a-f]{40,64}$/.test(commit)) throw unusable('rev-parse HEAD')
      return commit
    },
    async uncommitted(folder, signal) {
      // Paths come from the top of the repository, whatever folder asks.
      const [top, said] = await Promise.all([
        git(folder, ['rev-parse', '--show-prefix'], signal),
        git(folder, ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', '--', '.'], signal),
      ])
      if (said.exitCode !== 0 || top.exitCode !== 0) throw unusable('status')
      const prefix = text(top.bytes).replace(/\r?\n$/, '')
      const lines = text(said.bytes).split('\0').filter((line) => line !== '')
      if (!lines.every((line) => statusLine.test(line))) throw unusable('status')
      return lines.map((line) => line.slice(3)).filter((path) => path.startsWith(prefix)).map((path) => belowFolder(folder, path.slice(prefix.length)))
    },
    async contents(folder, commit, paths, signal) {
      const relative = paths.filter((path) => isBelow(folder, path) && !path.includes('\n'))
      const said = await git(folder, ['cat-file', '--batch'], signal, relative.map((path) => `${commit}:./${fromFolder(folder, path)}\n`).join(''))
      const found: ReadonlyMap<string, Uint8Array> = said.exitCode === 0 ? batchContents(said.bytes, relative) : new Map()
      const withCr = found.size === 0 ? new Set() : await checkedOutWithCr(folder, [...found.keys()], signal)
      return new Map([...found].map(([path, bytes]) => [path, withCr.has(path) ? withLineEnds(bytes) : bytes]))
    },
    async ignored(folder, paths, signal) {
      const said = await git(folder, ['check-ignore', '-z', '--stdin'], signal, paths.map((path) => `./${fromFolder(folder, path)}\0`).join(''))
      return new Set(text(said.bytes).split('\0').filter((path) => path !== '').map((path) => belowFolder(folder, path.replace(/^\.\//, ''))))
    },
  }
}

/** Git spells paths with `/` everywhere. */
const separatorOf = (folder: string) => (/^[A-Za-z]:\\|^\\\\/.test(folder) ? '\\' : '/')
const withEnd = (folder: string) => (folder.endsWith(separatorOf(folder)) ? folder : folder + separatorOf(folder))
const isBelow = (folder: string, path: string) => path.startsWith(withEnd(folder))
const fromFolder = (folder: string, path: string) => path.slice(withEnd(folder).length).replaceAll(separatorOf(folder), '/')
const belowFolder = (folder: string, path: string) => withEnd(folder) + path.replaceAll('/', separatorOf(folder))

/** What has such line ends already, or is no text, is left as it is. */
function withLineEnds(bytes: Uint8Array): Uint8Array {
  const count = bytes.reduce((sum, byte) => (byte === 10 ? sum + 1 : sum), 0)
  if (count === 0 || bytes.includes(13) || bytes.includes(0)) return bytes
  const longer = new Uint8Array(bytes.length + count)
  let at = 0
  for (const byte of bytes) {
    if (byte === 10) longer[at++] = 13
    longer[at++] = byte
  }
  return longer
}

const isAbsolute = /^(?:\/|[A-Za-z]:[\\/])/
/** Source: git-status, "Short Format": two letters, a blank, the path. */
const statusLine = /^[ MTADRCU?!]{2} ./
const unusable = (question: string) => new GitError('GIT_FAILED', `git ${question} gave no answer that can be used.`)

/** Source: git-cat-file, "BATCH OUTPUT": a line `<hash> <type> <size>`, the content, a line end; or `<name> missing`. */
function batchContents(bytes: Uint8Array, paths: readonly string[]): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>()
  let at = 0
  for (const path of paths) {
    const end = bytes.indexOf(10, at)
    if (end < 0) break
    const line = new TextDecoder().decode(bytes.subarray(at, end))
    at = end + 1
    if (line.endsWith(' missing')) continue
    const [, type, size] = line.split(' ')
    if (type !== 'blob' || size === undefined || !/^\d+$/.test(size)) {
      if (size !== undefined && /^\d+$/.test(size)) at += Number(size) + 1
      continue
    }
    found.set(path, bytes.slice(at, at + Number(size)))
    at += Number(size) + 1
  }
  return found
}
