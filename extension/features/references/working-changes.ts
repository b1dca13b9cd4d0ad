import { fitBytes } from '../../base/text.ts'
import { GitError, runGit, type GitNeeds } from '../../core/git/run-git.ts'
import { UnresolvedReference } from './service.ts'

export interface WorkingChangesNeeds extends GitNeeds {
  readonly isSecret: (path: string) => boolean
}

/** Git's name for a tree without files, to compare with before the first commit. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const MAX_NAMES_BYTES = 1_000_000
/** For one question; the message waits for the answers. */
export const CHANGES_DEADLINE_MS = 30_000
const MAX_UNTRACKED = 200

/**
 * What differs from the last commit below `cwd`: the diff of the working tree, then the names of new files.
 *
 * Files that look like secrets are left out and counted. At most a little more than `maxBytes` are read.
 * Errors: `UnresolvedReference` where there is no git, no repository or no change, and with git's own words where it fails.
 */
export async function workingChanges({ processes, clock, isSecret }: WorkingChangesNeeds, { cwd, maxBytes, signal }: { readonly cwd: string; readonly maxBytes: number; readonly signal: AbortSignal }): Promise<string> {
  const git = (args: readonly string[], cap: number) => askGit({ processes, clock }, { args, cwd, cap, signal })
  const listing = async (args: readonly string[], cap: number) => {
    const { exitCode, text, complaint } = await git(args, cap)
    // Half a list would pass for the whole.
    if (exitCode !== 0) throw new UnresolvedReference('UNAVAILABLE', `@changes: git failed${complaint === '' ? '' : ` (${complaint})`}. Take it out of the message, or mend that, then send again.`)
    return text
  }
  const inside = await git(['rev-parse', '--is-inside-work-tree'], 1_000)
  if (inside.exitCode !== 0) throw new UnresolvedReference('NOTHING_THERE', `@changes needs a git repository, and ${cwd} is in none. Take it out of the message, then send again.`)
  const base = (await git(['rev-parse', '--verify', '--quiet', 'HEAD'], 1_000)).exitCode === 0 ? 'HEAD' : EMPTY_TREE
  const [changed, untracked] = await Promise.all([
    listing(['diff', '--name-only', '--relative', '-z', base], MAX_NAMES_BYTES),
    listing(['ls-files', '--others', '--exclude-standard', '-z'], MAX_NAMES_BYTES),
  ])
  const all = namesOf(changed)
  const secrets = all.filter((name) => isSecret(`${cwd}/${name}`))
  const added = namesOf(untracked)
  const shown = added.filter((name) => !isSecret(`${cwd}/${name}`))
  const closed = secrets.length + added.length - shown.length
  const diff =
    all.length === secrets.length
      ? ''
      : await listing(['diff', '--relative', '--no-color', '--no-ext-diff', '--no-textconv', base, '--', '.', ...secrets.map((name) => `:(exclude,literal)${name}`)], maxBytes + 4)
  const parts = [
    diff.trimEnd(),
    shown.length > 0 && `New files that git does not follow yet:\n${shown.slice(0, MAX_UNTRACKED).join('\n')}${shown.length > MAX_UNTRACKED ? `\nand ${shown.length - MAX_UNTRACKED} more` : ''}`,
    closed > 0 && `${closed === 1 ? '1 file that looks like a secret was' : `${closed} files that look like secrets were`} left out.`,
  ].filter((part) => typeof part === 'string' && part !== '')
  if (parts.length === 0) throw new UnresolvedReference('NOTHING_THERE', '@changes: git sees no change since the last commit. Take it out of the message, then send again.')
  return parts.join('\n\n')
}

const namesOf = (text: string): readonly string[] => text.split('\0').filter((name) => name !== '')

async function askGit(needs: GitNeeds, question: { readonly args: readonly string[]; readonly cwd: string; readonly cap: number; readonly signal: AbortSignal }): Promise<{ readonly exitCode: number | null; readonly text: string; readonly complaint: string }> {
  const { cap, ...rest } = question
  try {
    const { exitCode, bytes, isCut, complaint } = await runGit(needs, { ...rest, maxBytes: cap, deadlineMs: CHANGES_DEADLINE_MS })
    return { exitCode: isCut ? 0 : exitCode, text: fitBytes(new TextDecoder().decode(bytes, { stream: isCut }), cap).text, complaint }
  } catch (cause) {
    if (!(cause instanceof GitError)) throw cause
    const words = cause.code === 'GIT_MISSING' ? '@changes needs git, which could not be started. Install git, or take @changes out of the message.' : `@changes: git did not answer within ${CHANGES_DEADLINE_MS / 1_000} s. Take it out of the message, or mend that, then send again.`
    throw new UnresolvedReference('UNAVAILABLE', words, { cause })
  }
}
