import type { ShellCommand } from './shell-parts.ts'

/** Options of git itself whose value is the next word. */
const takesValue = /^(-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--attr-source)$/

/** Where the command of git stands among its words, behind options and their values; -1 without one. */
export const gitVerbAt = (texts: readonly string[]): number => texts.findIndex((text, at) => !text.startsWith('-') && !takesValue.test(texts[at - 1] ?? ''))

/** Commands that read, or change no more than the work tree, its index and the branch that stands there. */
const own: ReadonlySet<string> = new Set([
  ...['add', 'rm', 'mv', 'restore', 'reset', 'apply', 'am', 'clean', 'commit', 'merge', 'rebase', 'cherry-pick', 'revert', 'read-tree', 'write-tree', 'commit-tree', 'update-index', 'checkout-index', 'hash-object'],
  ...['status', 'rev-parse', 'ls-files', 'ls-tree', 'ls-remote', 'cat-file', 'describe', 'shortlog', 'merge-base', 'rev-list', 'for-each-ref', 'count-objects', 'name-rev', 'check-ignore', 'check-attr', 'show-ref', 'whatchanged', 'version', 'var', 'fsck', 'help'],
  ...['diff', 'difftool', 'log', 'show', 'blame', 'annotate', 'diff-tree', 'diff-index', 'diff-files', 'range-diff', 'grep', 'archive', 'format-patch', 'bundle', 'cherry', 'merge-file', 'merge-tree', 'verify-commit', 'verify-tag', 'clone'],
])

/**
 * Whether a command of git would change what all work trees of a repository have in common: other branches, tags, stash, settings,
 * remotes, other work trees. One that only running tells counts as such.
 *
 * Source: gitrepository-layout, "worktrees"; git-worktree, "Refs".
 */
export function changesSharedGit({ words: [program, ...args] }: ShellCommand): boolean {
  if (program?.text?.split('/').at(-1) !== 'git') return false
  const texts = args.map(({ text }) => text)
  const at = gitVerbAt(texts.map((text) => text ?? ''))
  // `git --version` and its like.
  if (at < 0) return false
  const verb = texts[at]
  const rest = texts.slice(at + 1)
  const end = rest.indexOf('--')
  const options = end < 0 ? rest : rest.slice(0, end)
  const has = (option: RegExp) => options.some((text) => text == null || option.test(text))
  switch (verb) {
    case undefined:
    case null:
      return true
    // Files, not another branch, on which the next commit would land.
    case 'checkout':
      return (end < 0 && !rest.includes('.')) || has(/^-[bB]|^--orphan|^--detach/)
    case 'rebase':
      return has(/^--update-refs/)
    case 'config':
      return !/^(--get\b.*|--list|-l|get|list)$/.test(rest.find((text) => text !== null && !/^--(local|worktree|global|system|show-\w+|null|includes)$/.test(text)) ?? '')
    default:
      return !own.has(verb)
  }
}
