import type { ShellCommand, ShellWord } from './shell-parts.ts'

/** What is known about one command of a script before it runs. */
export interface CommandFacts {
  /** It changes nothing and starts nothing else, as far as its words go. */
  readonly isReadOnly: boolean
  /** Words that name files it would read. */
  readonly paths: readonly ShellWord[]
  /** It changes the folder for what comes after it. */
  readonly changesFolder: boolean
  /** What it throws away for good, in words; null when nothing is known to be. */
  readonly destroys: string | null
}

/** What the table and the rules below say about a command. Anything not known is not read-only. */
export function factsOf(command: ShellCommand): CommandFacts {
  const [program, ...args] = command.words
  const name = nameOf(program)
  const destroys = name === null ? null : destruction(name, args)
  const unknown = { isReadOnly: false, paths: namedPaths(command), changesFolder: false, destroys }
  if (name === null || destroys !== null) return unknown
  if (name === 'cd' || name === 'pushd') return { isReadOnly: args.length === 1, paths: args, changesFolder: true, destroys }
  if (name === 'git') return isGitReading(args) ? { ...unknown, isReadOnly: true } : unknown
  if (versioned.has(name) && args.length === 1 && /^(--version|-v|-V|version)$/.test(args[0]?.text ?? '')) return { ...unknown, isReadOnly: true }
  const rule = readers.get(name)
  if (rule === undefined) return unknown
  if (name === 'sed' && !isSedPrinting(args)) return unknown
  const texts = args.map(({ text }) => text ?? '')
  const isRefused = texts.some((text) => rule.refuse?.test(text) === true) || (rule.maxOperands !== undefined && operands(args).length > rule.maxOperands)
  return isRefused ? unknown : { ...unknown, isReadOnly: true }
}

/** Words of a command that may name files, so that a secret-looking one is seen: not what is printed, searched for or written in a message. */
function namedPaths({ words }: ShellCommand): readonly ShellWord[] {
  const [program, ...args] = words
  const name = nameOf(program)
  if (name === null) return args
  if (name === 'git') return withoutValues(args, /^(-m|--message|--format|--pretty|--author|--grep|-S|-G)$/, /^(--message|--format|--pretty|--author|--grep)=/)
  switch (readers.get(name)?.operands) {
    case 'none':
      return []
    case 'after-pattern': {
      const rest = withoutValues(args, /^(-e|--regexp|-A|-B|-C|-m|-d|-D|-g|--glob|-t|-T|--type|-j|-M|--include|--exclude|--exclude-dir)$/, /^(--regexp|--include|--exclude(-dir)?|--glob|-g)/)
      const hasPattern = args.some(({ text }) => text !== null && /^(-e|-f|--regexp|--file|--files)(=|$)/.test(text))
      const at = hasPattern ? -1 : rest.findIndex(({ text }) => text === null || !text.startsWith('-'))
      return rest.filter((_, index) => index !== at)
    }
    case 'before-expression':
      return withoutValues(args, /^-(i?name|i?path|i?wholename|i?regex|type|maxdepth|mindepth|newer\w*|size|perm|user|group|[acm](time|min))$/, /^$/)
    default:
      return args
  }
}

function withoutValues(args: readonly ShellWord[], takesValue: RegExp, holdsValue: RegExp): readonly ShellWord[] {
  return args.filter(({ text }, at) => !takesValue.test(args[at - 1]?.text ?? '') && !(text !== null && holdsValue.test(text)))
}

interface ReaderRule {
  /** Which words name files: none, all but options, those after the pattern, those before the expression. */
  readonly operands: 'none' | 'all' | 'after-pattern' | 'before-expression'
  /** With such a word it writes or starts something. */
  readonly refuse?: RegExp
  /** A further operand would be written to. */
  readonly maxOperands?: number
}

const readers = new Map<string, ReaderRule>([
  ...['echo', 'printf', 'true', 'false', ':', 'pwd', 'whoami', 'id', 'uname', 'nproc', 'uptime', 'seq', 'sleep', 'test', '[', 'exit', 'return', 'break', 'continue', 'wait', 'basename', 'dirname', 'which', 'type', 'shift', 'read', 'tr'].map(
    (name) => [name, { operands: 'none' }] as const,
  ),
  ['date', { operands: 'none', refuse: /^(-s|--set)/ }],
  ['hostname', { operands: 'none', maxOperands: 0 }],
  ['set', { operands: 'none', refuse: /^(?!pipefail$)[^-+]/ }],
  ...['ls', 'cat', 'head', 'tail', 'wc', 'stat', 'file', 'du', 'df', 'realpath', 'readlink', 'cmp', 'diff', 'comm', 'cut', 'nl', 'tac', 'rev', 'fold', 'column', 'paste', 'join', 'expand', 'strings', 'od', 'hexdump', 'md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'cksum'].map(
    (name) => [name, { operands: 'all' }] as const,
  ),
  ['tree', { operands: 'all', refuse: /^-o/ }],
  ['sort', { operands: 'all', refuse: /^(-\w*o|--output|--compress-program|-T|--temporary-directory)/ }],
  ['uniq', { operands: 'all', maxOperands: 1 }],
  ['xxd', { operands: 'all', refuse: /^-r/, maxOperands: 1 }],
  ['jq', { operands: 'after-pattern' }],
  ['sed', { operands: 'after-pattern' }],
  ...['grep', 'egrep', 'fgrep'].map((name) => [name, { operands: 'after-pattern', refuse: /^(-[a-zA-Z]*[rR]|--recursive|--dereference-recursive|-d|--directories)/ }] as const),
  ['rg', { operands: 'after-pattern', refuse: /^(--pre|--search-zip|-[a-zA-Z]*[zu.]|--hostname-bin|--hidden|--no-ignore|--unrestricted|-\.)/ }],
  ['find', { operands: 'before-expression', refuse: /^-(delete|exec|execdir|ok|okdir|fprint\w*|fls)$/ }],
])

/** Programs that may be asked for their version. */
const versioned = new Set(['node', 'npm', 'npx', 'pnpm', 'yarn', 'bun', 'deno', 'tsc', 'python', 'python3', 'pip', 'pip3', 'go', 'cargo', 'rustc', 'ruby', 'java', 'javac', 'gcc', 'clang', 'make', 'cmake', 'docker', 'bash', 'php', 'dotnet'])

/** Options that git takes before its command and that only change how it shows things. */
const harmlessGitOption = /^(--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/

const gitReaders = new Map<string, RegExp | 'list'>([
  ...['status', 'rev-parse', 'ls-files', 'ls-tree', 'cat-file', 'describe', 'shortlog', 'merge-base', 'rev-list', 'for-each-ref', 'count-objects', 'name-rev', 'check-ignore', 'show-ref', 'whatchanged', 'version', 'var'].map(
    (name) => [name, /^$/] as const,
  ),
  ...['diff', 'log', 'show', 'blame', 'diff-tree', 'diff-index', 'range-diff'].map((name) => [name, /^(--output|--ext-diff|--textconv)/] as const),
  ['grep', /^(-O|--open-files-in-pager)/],
  ['branch', 'list'],
  ['tag', 'list'],
  ['remote', 'list'],
  ['stash', 'list'],
  ['worktree', 'list'],
  ['reflog', 'list'],
])

function isGitReading(args: readonly ShellWord[]): boolean {
  const texts = args.map(({ text }) => text)
  const at = texts.findIndex((text) => text === null || !harmlessGitOption.test(text))
  const name = texts[at]
  const rest = texts.slice(at + 1)
  if (name === undefined || name === null) return false
  const rule = gitReaders.get(name)
  if (rule === undefined) return false
  if (rule !== 'list') return rest.every((text) => text === null || text === '' || !rule.test(text))
  const [verb] = rest
  if (verb === undefined) return name !== 'stash' && name !== 'worktree'
  if (name === 'stash' || name === 'worktree' || name === 'reflog') return verb === 'list' || (name !== 'worktree' && verb === 'show')
  if (name === 'remote') return verb === '-v' || verb === 'get-url' || verb === 'show'
  return rest.every((text) => text !== null && /^(-a|-r|-v|-vv|-l|-n\d*|--list|--all|--remotes|--show-current|--sort=.*|--contains|--merged|--no-merged|--format=.*)$/.test(text))
}

/** `sed -n 10,20p file`: the script of sed may also write files and start programs. */
function isSedPrinting(args: readonly ShellWord[]): boolean {
  const options = args.filter(({ text }) => text?.startsWith('-') === true)
  const [script] = operands(args)
  return options.length === 1 && options[0]?.text === '-n' && /^(\d+|\$)(,(\d+|\$))?p$/.test(script?.text ?? '')
}

/** What a command throws away. Source: design 6.2, destructive git and mass deletion. */
function destruction(name: string, args: readonly ShellWord[]): string | null {
  const texts = args.map(({ text }) => text ?? '')
  const has = (option: RegExp) => texts.some((text) => option.test(text))
  switch (name) {
    case 'rm':
      return has(/^(-\w*[rRf]|--recursive|--force)/) || operands(args).length > 1 || args.some(({ isPattern, text }) => isPattern || text === null) ? 'deletes files for good' : null
    case 'find':
      return has(/^-(delete|exec|execdir)$/) && has(/^(-delete|rm|shred|unlink)$/) ? 'deletes files for good' : null
    case 'xargs':
      return has(/^(rm|shred|unlink)$/) ? 'deletes files for good' : null
    case 'shred':
    case 'dd':
      return 'overwrites data for good'
    case 'truncate':
      return 'empties files'
    case 'git':
      return gitDestruction(texts)
    default:
      return name.startsWith('mkfs') ? 'formats a disk' : null
  }
}

function gitDestruction(texts: readonly string[]): string | null {
  const at = texts.findIndex((text, index) => !text.startsWith('-') && !/^(-C|-c)$/.test(texts[index - 1] ?? ''))
  const rest = texts.slice(at + 1)
  const has = (option: RegExp) => rest.some((text) => option.test(text))
  switch (texts[at]) {
    case 'reset':
      return has(/^--(hard|merge|keep)$/) ? 'throws away changes that are not committed' : null
    case 'clean':
      return has(/^(-\w*[fdxX]|--force)/) && !has(/^(-\w*n|--dry-run)/) ? 'deletes files that git does not know' : null
    case 'checkout':
      return has(/^(--|-f|--force|\.|-p)$/) || has(/^\.\.?\//) ? 'throws away changes that are not committed' : null
    case 'switch':
      return has(/^(-f|--force|--discard-changes)$/) ? 'throws away changes that are not committed' : null
    case 'restore':
      return has(/^(-S|--staged)$/) && !has(/^(-W|--worktree)$/) ? null : 'throws away changes that are not committed'
    case 'stash':
      return has(/^(drop|clear)$/) ? 'throws away stashed changes' : null
    case 'branch':
      return has(/^(-D|--delete|-d|-f|--force)$/) && has(/^(-D|-f|--force)$/) ? 'deletes a branch that may not be merged' : null
    case 'push':
      return has(/^(-f|--force|--force-with-lease.*|--delete|-d|--mirror|--prune)$/) || has(/^\+/) ? 'overwrites or deletes work on the remote' : null
    case 'reflog':
    case 'gc':
      return has(/^(expire|delete|--prune=.*)$/) ? 'removes the last way back to lost commits' : null
    case 'filter-branch':
    case 'filter-repo':
      return 'rewrites the history'
    default:
      return null
  }
}

const operands = (args: readonly ShellWord[]) => args.filter(({ text }) => text === null || text === '-' || !text.startsWith('-'))

/** `/usr/bin/git` is git; a program that only running tells has no name. */
function nameOf(program: ShellWord | undefined): string | null {
  if (program === undefined || program.text === null || program.isPattern) return null
  return /^(?:\/usr)?(?:\/local)?\/bin\/([^/]+)$/.exec(program.text)?.[1] ?? program.text
}
