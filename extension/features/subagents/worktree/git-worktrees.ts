import type { WorktreeStore } from '../../../capabilities/worktree-store.ts'
import { GitError, runGit, type GitAnswer, type GitNeeds } from '../../../core/git/run-git.ts'
import { isWithin, type PathStyle } from '../../../core/policy/paths.ts'
import { WorktreeError, type ChangedFile } from './service.ts'

/** Git's answers that are read as lists. */
const MAX_LIST_BYTES = 32 * 1024 * 1024
/** One file of a child. */
const MAX_FILE_BYTES = 50 * 1024 * 1024
const QUESTION_MS = 60_000
/** Checking out a large repository takes its time. */
const CHECKOUT_MS = 10 * 60_000
/** Hooks of the repository are for the person's own work. */
const WITHOUT_HOOKS = ['-c', 'core.hooksPath=/dev/null', '-c', 'commit.gpgSign=false', '-c', 'gc.auto=0']
/** Who makes the commits that hold a child's work; the person need not have a name in git. Words are read, so they are English. */
const AS_BOSUN = { GIT_AUTHOR_NAME: 'Bosun', GIT_AUTHOR_EMAIL: 'bosun@localhost', GIT_COMMITTER_NAME: 'Bosun', GIT_COMMITTER_EMAIL: 'bosun@localhost', LC_ALL: 'C', LANGUAGE: 'C' }

export interface Repository {
  /** Top of the person's work tree, as git spells it. */
  readonly top: string
  /** The asked folder below it, with a slash at its end; empty at the top. */
  readonly prefix: string
  readonly head: string
}

/** A worktree as git is spoken to about it: by its own entry in the repository, never by what stands in its folder, which the child may change. */
export interface Place {
  readonly repository: string
  readonly root: string
  readonly gitDir: string
}

export interface GitWorktreesNeeds extends GitNeeds {
  readonly store: WorktreeStore
  readonly style: PathStyle
  readonly isSecret: (path: string) => boolean
}

export type GitWorktrees = ReturnType<typeof createGitWorktrees>

/**
 * What git has to do for worktrees of children.
 *
 * In the repository of the person it makes an entry below `worktrees`, a branch `bosun/…` and objects; index, branch, stash and files of
 * the person stay as they are. No hook runs. Errors of each: `WorktreeError`; the signal's reason.
 */
export function createGitWorktrees({ processes, clock, store, style, isSecret }: GitWorktreesNeeds) {
  interface Ask {
    readonly stdin?: string
    readonly env?: Readonly<Record<string, string>>
    readonly deadlineMs?: number
    readonly maxBytes?: number
    readonly signal: AbortSignal
  }
  async function ask(cwd: string, args: readonly string[], { deadlineMs = QUESTION_MS, maxBytes = MAX_LIST_BYTES, env, ...rest }: Ask): Promise<GitAnswer> {
    try {
      return await runGit({ processes, clock }, { args: [...WITHOUT_HOOKS, ...args], cwd, deadlineMs, maxBytes, env: { ...AS_BOSUN, ...env }, ...rest })
    } catch (cause) {
      if (cause instanceof GitError) throw new WorktreeError('GIT_UNAVAILABLE', `A worktree needs git. ${cause.message}`, { cause })
      throw cause
    }
  }
  /** What it says, where anything but success is a failure. */
  async function must(cwd: string, args: readonly string[], options: Ask): Promise<string> {
    const answer = await ask(cwd, args, options)
    if (answer.exitCode !== 0) throw failed(args[0] ?? '', answer)
    return new TextDecoder().decode(answer.bytes)
  }
  const inTree = ({ root, gitDir }: Place) => ({ GIT_DIR: gitDir, GIT_WORK_TREE: root })
  const names = (list: string) => list.split('\0').filter((name) => name !== '')

  async function find(cwd: string, signal: AbortSignal): Promise<Repository> {
    const inside = await ask(cwd, ['rev-parse', '--is-inside-work-tree'], { signal })
    const said = new TextDecoder().decode(inside.bytes).trim()
    if (inside.exitCode !== 0) throw new WorktreeError('NOT_A_REPOSITORY', `${cwd} is in no git repository that can be used (${inside.complaint}). Start the agent without a worktree, or make one with git init and a first commit.`)
    if (said !== 'true') throw new WorktreeError('NOT_A_REPOSITORY', `${cwd} is in a repository without a work tree. Start the agent without a worktree.`)
    const top = (await must(cwd, ['rev-parse', '--show-toplevel'], { signal })).replace(/\r?\n$/, '')
    const prefix = (await must(cwd, ['rev-parse', '--show-prefix'], { signal })).replace(/\r?\n$/, '')
    const head = await ask(cwd, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { signal })
    if (head.exitCode !== 0) throw new WorktreeError('NO_COMMIT', `The repository at ${top} has no commit yet, so there is nothing to start a worktree from. Commit something first, or start the agent without a worktree.`)
    if (isWithin(store.folder, top, style)) throw new WorktreeError('INSIDE_REPOSITORY', `Bosun keeps worktrees in ${store.folder}, which lies in the repository at ${top} itself. Start the agent without a worktree.`)
    return { top, prefix, head: new TextDecoder().decode(head.bytes).trim() }
  }

  /** A commit that holds the work tree of the person as it is, without what git ignores and what looks like a secret; the newest one where nothing differs. */
  async function snapshot(id: string, { top, head }: Repository, signal: AbortSignal): Promise<string> {
    const indexPath = (await must(top, ['rev-parse', '--git-path', 'index'], { signal })).replace(/\r?\n$/, '')
    const index = (await store.copyIn(id, absolute(indexPath, top))) ?? store.scratch(id)
    const options = { env: { GIT_INDEX_FILE: index }, signal, deadlineMs: CHECKOUT_MS }
    const changed = names(await must(top, ['diff', '--name-only', '--no-renames', '-z', 'HEAD'], { signal }))
    const added = names(await must(top, ['ls-files', '--others', '--exclude-standard', '-z'], { signal })).filter((name) => !name.endsWith('/'))
    const wanted = (list: readonly string[]) => list.filter((name) => !isSecret(`${top}/${name}`))
    const taken = [...wanted(changed), ...wanted(added)]
    if (taken.length === 0) return head
    await must(top, ['add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul'], { ...options, env: { ...options.env, GIT_LITERAL_PATHSPECS: '1' }, stdin: taken.map((name) => `${name}\0`).join('') })
    const tree = (await must(top, ['write-tree'], options)).trim()
    if (tree === (await must(top, ['rev-parse', `${head}^{tree}`], { signal })).trim()) return head
    return (await must(top, ['commit-tree', tree, '-p', head, '-m', 'What was not committed when the task began'], { signal })).trim()
  }

  async function add({ top }: Repository, { root, branch, base }: { readonly root: string; readonly branch: string; readonly base: string }, signal: AbortSignal): Promise<Place> {
    await must(top, ['worktree', 'add', '--quiet', '-b', branch, root, base], { signal, deadlineMs: CHECKOUT_MS })
    const gitDir = (await must(root, ['rev-parse', '--absolute-git-dir'], { signal })).replace(/\r?\n$/, '')
    return { repository: top, root, gitDir }
  }

  /** Never fails for what is gone already. */
  async function remove({ repository, root, branch }: { readonly repository: string; readonly root: string; readonly branch: string | null }, signal: AbortSignal): Promise<void> {
    const inside = await ask(repository, ['rev-parse', '--is-inside-work-tree'], { signal })
    // Where the whole repository is gone there is nothing to take out of it.
    if (inside.exitCode !== 0) return
    const removed = await ask(repository, ['worktree', 'remove', '--force', '--force', root], { signal, deadlineMs: CHECKOUT_MS })
    if (removed.exitCode !== 0 && !/is not a working tree/.test(removed.complaint)) throw failed('worktree remove', removed)
    if (branch === null) return
    const known = await ask(repository, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`], { signal })
    if (known.exitCode === 0) await must(repository, ['branch', '-D', '--quiet', branch], { signal })
  }

  /** Put all that stands in the worktree into a commit on its branch. Shape: null when it is as it began. */
  async function commit(place: Place, { branch, base, label }: { readonly branch: string; readonly base: string; readonly label: string }, signal: AbortSignal): Promise<{ readonly commit: string; readonly files: number } | null> {
    const options = { env: inTree(place), signal, deadlineMs: CHECKOUT_MS }
    const cwd = place.root
    await must(cwd, ['add', '--all', '--', '.'], options)
    const tree = (await must(cwd, ['write-tree'], options)).trim()
    if (tree === (await must(cwd, ['rev-parse', `${base}^{tree}`], options)).trim()) return null
    const head = (await must(cwd, ['rev-parse', '--verify', 'HEAD^{commit}'], options)).trim()
    const isCommitted = tree === (await must(cwd, ['rev-parse', `${head}^{tree}`], options)).trim()
    const made = isCommitted ? head : (await must(cwd, ['commit-tree', tree, '-p', head, '-m', label], options)).trim()
    await must(cwd, ['update-ref', `refs/heads/${branch}`, made], options)
    return { commit: made, files: (await changes(place.repository, base, made, signal)).length }
  }

  async function changes(repository: string, base: string, to: string, signal: AbortSignal): Promise<readonly ChangedFile[]> {
    const fields = names(await must(repository, ['diff-tree', '-r', '-z', '--no-renames', base, to], { signal }))
    const found: ChangedFile[] = []
    // Source: git-diff-tree, "RAW OUTPUT FORMAT": a line `:modes hashes status`, then the path.
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [before = '', after = '', , , status = ''] = (fields[at] ?? '').slice(1).split(' ')
      const path = fields[at + 1] ?? ''
      const isOther = [before, after].some((mode) => mode !== '000000' && !mode.startsWith('100'))
      const special = isOther ? 'other' : after === '100755' && before !== after ? 'executable' : undefined
      found.push({ path, kind: status === 'A' ? 'created' : status === 'D' ? 'deleted' : 'changed', ...(special && { special }), target: target(repository, path) })
    }
    return found
  }

  /** Where a path of the repository is in the person's work tree. */
  const target = (repository: string, path: string) => `${repository}/${path}`.replaceAll('/', style.isWindows ? '\\' : '/')

  /** What a commit holds of a file, as git would check it out. Null: no file. */
  async function content(repository: string, commitId: string, path: string, signal: AbortSignal): Promise<Uint8Array | null> {
    const there = await ask(repository, ['cat-file', '-e', `${commitId}:${path}`], { signal })
    if (there.exitCode !== 0) return null
    const answer = await ask(repository, ['cat-file', '--filters', `--path=${path}`, `${commitId}:${path}`], { signal, maxBytes: MAX_FILE_BYTES })
    if (answer.isCut) throw new WorktreeError('WORKTREE_FAILED', `${path} is larger than ${MAX_FILE_BYTES} bytes. Keep the branch, and take the file over with git.`)
    if (answer.exitCode !== 0) throw failed('cat-file', answer)
    return answer.bytes
  }

  return { find, snapshot, add, remove, commit, changes, content }
}

const absolute = (path: string, folder: string) => (/^(?:\/|[A-Za-z]:[\\/])/.test(path) ? path : `${folder}/${path}`)

function failed(what: string, { complaint }: GitAnswer): WorktreeError {
  if (/no space left|disk quota exceeded/i.test(complaint)) return new WorktreeError('NO_SPACE', `There is no room for the worktree (git ${what}: ${complaint}). Free some space on the disk, then try again.`)
  return new WorktreeError('WORKTREE_FAILED', `git ${what} failed: ${complaint === '' ? 'it did not say why' : complaint}. Mend that, or start the agent without a worktree.`)
}
