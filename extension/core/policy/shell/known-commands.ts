import { mayBeOption } from './open-words.ts'
import { gitVerbAt } from './shared-git.ts'
import type { ShellCommand, ShellScript, ShellWord } from './shell-parts.ts'

/** What is known about one command of a script before it runs. */
export interface CommandFacts {
  /** It changes nothing and starts nothing else, as far as its words go. */
  readonly isReadOnly: boolean
  /** Words that name files it would read. */
  readonly paths: readonly ShellWord[]
  /** Patterns by which it chooses files itself. */
  readonly globs: readonly string[]
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
  const unknown = { isReadOnly: false, paths: namedPaths(command), globs: [], changesFolder: false, destroys }
  if (name === null || destroys !== null) return unknown
  // Asks where a program is; any other use of it starts one.
  if (name === 'command') return { ...unknown, isReadOnly: /^-[vV]$/.test(args[0]?.text ?? ''), paths: [] }
  if (name === 'popd') return { ...unknown, changesFolder: true }
  if (name === 'cd' || name === 'pushd') return { ...unknown, isReadOnly: args.length === 1 && !/^[-+]/.test(args[0]?.text ?? ''), paths: args, changesFolder: true }
  if (name === 'git') return isGitReading(args) ? { ...unknown, isReadOnly: true, globs: gitGlobs(args) } : unknown
  if (versioned.has(name) && args.length === 1 && /^(--version|-v|-V|version)$/.test(args[0]?.text ?? '')) return { ...unknown, isReadOnly: true }
  const rule = readers.get(name)
  if (rule === undefined) return unknown
  if (name === 'sed' && !isSedPrinting(args)) return unknown
  if (name === 'date' && !isDateShowing(args)) return unknown
  if (name === 'set' && args.length === 0) return unknown
  const texts = args.map(({ text }) => text ?? '')
  const isRefused = texts.some((text) => rule.refuse?.test(text) === true || isRefusedOption(text, rule)) || (rule.maxOperands !== undefined && operands(args).length > rule.maxOperands)
  return isRefused ? unknown : { ...unknown, isReadOnly: true, globs: name === 'rg' ? ripgrepGlobs(texts) : [] }
}

/**
 * Whether a command that only reads, as far as its known words go, may do more by a word that only running tells.
 *
 * Such a word may be an option, or several; where the command has options that write or start something that is too much.
 */
export function mayDoMore({ words: [program, ...args] }: ShellCommand, script: Pick<ShellScript, 'assigned' | 'values'>): boolean {
  const name = nameOf(program) ?? ''
  const isOpen = (word: ShellWord) => mayBeOption(word, script)
  const rule = readers.get(name)
  switch (name) {
    // They set variables by the names they are given.
    case 'read':
    case 'wait':
      return args.some(({ text }) => text === null)
    // Only its first words are options.
    case 'printf':
      return args[0] !== undefined && isOpen(args[0])
    case 'test':
    case '[':
      // Followed by an operator or by nothing it is an operand, whatever it is.
      return args.some((word, at) => isOpen(word) && (word.isSplit === true || !(args[at + 1] === undefined || testJoint.test(args[at + 1]?.text ?? ''))))
    // No file whose name ends as `*.ts` does is one of its orders.
    case 'find':
      return operandWords(args, name).some((word) => isOpen(word) && !(word.text !== null && /\.\w+$/.test(word.text)))
    case 'grep':
    case 'egrep':
    case 'fgrep':
      return operandWords(args, name).some((word) => word.text === null && isOpen(word))
    default:
      return (name === 'git' || (rule !== undefined && (rule.refuse ?? rule.refuseLetters ?? rule.refuseLong) !== undefined)) && operandWords(args, name).some(isOpen)
  }
}

const testJoint = /^(==?|!=|<|>|-eq|-ne|-l[te]|-g[te]|-nt|-ot|-ef|-a|-o|\)|\])$/

/** What may be an option: not what follows `--`, nor the one word that an option takes. */
function operandWords(args: readonly ShellWord[], name: string): readonly ShellWord[] {
  const end = name === 'find' ? -1 : args.findIndex(({ text }) => text === '--')
  const own = end === -1 ? args : args.slice(0, end)
  const valued = name === 'git' ? gitValued : name === 'find' ? findValued : /^(-e|--regexp)$/
  return own.filter((word, at) => word.isSplit === true || word.isPattern || !valued.test(own[at - 1]?.text ?? ''))
}

/** Words of a command that may name files, so that a secret-looking one is seen: not what is printed, searched for or written in a message. */
function namedPaths({ words }: ShellCommand): readonly ShellWord[] {
  const [program, ...args] = words
  const name = nameOf(program)
  if (name === null) return args
  if (name === 'git') return withoutValues(args, gitValued, /^(--message|--format|--pretty|--author|--grep)=/)
  switch (readers.get(name)?.operands) {
    case 'none':
      // The shell looks into folders for a pattern, whoever gets the names.
      return args.filter(({ isPattern, text }) => isPattern && text?.includes('/') === true)
    case 'after-pattern': {
      const rest = withoutValues(args, /^(-e|--regexp|-A|-B|-C|-m|-d|-D|-g|--glob|-t|-T|--type|-j|-M|--include|--exclude|--exclude-dir)$/, /^(--regexp|--include|--exclude(-dir)?|--glob|-g)/)
      const hasPattern = args.some(({ text }) => text !== null && /^(-e|-f|--regexp|--file|--files)(=|$)/.test(text))
      const at = hasPattern ? -1 : rest.findIndex(({ text }) => text === null || !text.startsWith('-'))
      return rest.filter((_, index) => index !== at)
    }
    case 'before-expression':
      return withoutValues(args, findValued, /^$/)
    default:
      return args
  }
}

const gitValued = /^(-m|--message|--format|--pretty|--author|--grep|-S|-G)$/
const findValued = /^-(i?name|i?path|i?wholename|i?regex|type|maxdepth|mindepth|newer\w*|size|perm|user|group|[acm](time|min))$/

function withoutValues(args: readonly ShellWord[], takesValue: RegExp, holdsValue: RegExp): readonly ShellWord[] {
  return args.filter(({ text }, at) => !takesValue.test(args[at - 1]?.text ?? '') && !(text !== null && holdsValue.test(text)))
}

interface ReaderRule {
  /** Which words name files: none, all but options, those after the pattern, those before the expression. */
  readonly operands: 'none' | 'all' | 'after-pattern' | 'before-expression'
  /** With such a word it writes, starts or reads something that its words do not name. */
  readonly refuse?: RegExp
  /** Letters of options that do so, also in the midst of others; those that take a value end a row of letters. */
  readonly refuseLetters?: { readonly letters: string; readonly valued: string }
  /** Names of long options that do so; programs take the beginning of a name too. */
  readonly refuseLong?: readonly string[]
  /** A further operand would be written to. */
  readonly maxOperands?: number
}

const readers = new Map<string, ReaderRule>([
  ...['echo', 'true', 'false', ':', 'pwd', 'whoami', 'id', 'uname', 'nproc', 'uptime', 'seq', 'sleep', 'exit', 'return', 'break', 'continue', 'basename', 'dirname', 'which', 'type', 'shift', 'tr', 'date'].map(
    (name) => [name, { operands: 'none' }] as const,
  ),
  // These set a variable by its name, or look into the brackets of one.
  ['printf', { operands: 'none', refuse: /^-v/ }],
  ['wait', { operands: 'none', refuse: /^-\w*p/ }],
  ['read', { operands: 'none', refuse: /[^a-z0-9_-]/ }],
  ...['test', '['].map((name) => [name, { operands: 'none', refuse: /^-[vR]$/ }] as const),
  ['hostname', { operands: 'none', maxOperands: 0, refuse: /^-(?!-?(f|s|i|I|d|fqdn|short|domain|ip-address|all-ip-addresses)$)/ }],
  // `-k` takes assignments from behind a command, `-a` hands every variable on.
  ['set', { operands: 'none', refuse: /^(?!(pipefail|[-+][euvxfEC]*o?|--)$)/ }],
  ...['ls', 'cat', 'head', 'tail', 'wc', 'stat', 'du', 'df', 'realpath', 'readlink', 'cmp', 'comm', 'cut', 'nl', 'tac', 'rev', 'fold', 'column', 'paste', 'join', 'expand', 'strings', 'od', 'hexdump', 'md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'cksum'].map(
    (name) => [name, { operands: 'all' }] as const,
  ),
  ['diff', { operands: 'all', refuseLetters: { letters: 'r', valued: 'CDFIUWxXS' }, refuseLong: ['recursive'] }],
  ['file', { operands: 'all', refuseLetters: { letters: 'C', valued: 'efFmP' }, refuseLong: ['compile'] }],
  ['tree', { operands: 'all', refuseLetters: { letters: 'oR', valued: 'LPIHT' }, refuseLong: ['output'] }],
  ['sort', { operands: 'all', refuseLetters: { letters: 'oT', valued: 'ktS' }, refuseLong: ['output', 'compress-program', 'temporary-directory', 'files0-from'] }],
  ['uniq', { operands: 'all', maxOperands: 1 }],
  ['xxd', { operands: 'all', refuse: /^--?r/, maxOperands: 1 }],
  ['jq', { operands: 'after-pattern', refuse: /^(-\w*[fL]|--from-file|--library-path|--rawfile|--slurpfile)|(^|[^.\w"])env\b|\$ENV|\b(import|include)\b/ }],
  ['sed', { operands: 'after-pattern' }],
  ...['grep', 'egrep', 'fgrep'].map(
    (name) => [name, { operands: 'after-pattern', refuseLetters: { letters: 'rRd', valued: 'efABCmD' }, refuseLong: ['recursive', 'dereference-recursive', 'directories'] }] as const,
  ),
  [
    'rg',
    {
      operands: 'after-pattern',
      refuse: /^(--no-ignore|-tsh$|--type=sh$|sh$)/,
      refuseLetters: { letters: 'zu.L', valued: 'efABCmgtTjMrdE' },
      refuseLong: ['pre', 'search-zip', 'hostname-bin', 'hidden', 'unrestricted', 'follow', 'type-add'],
    },
  ],
  ['find', { operands: 'before-expression', refuse: /^-(delete|exec|execdir|ok|okdir|fprint\w*|fls|files0-from)$/ }],
])

function isRefusedOption(text: string, { refuseLetters, refuseLong = [] }: Pick<ReaderRule, 'refuseLetters' | 'refuseLong'>): boolean {
  const long = /^--([^=]+)/.exec(text)?.[1]
  if (long !== undefined) return refuseLong.some((name) => name.startsWith(long))
  if (refuseLetters === undefined || !/^-[^-]/.test(text)) return false
  for (const letter of text.slice(1)) {
    if (refuseLetters.letters.includes(letter)) return true
    if (refuseLetters.valued.includes(letter)) return false
  }
  return false
}

/** A value of `-g` takes in what ripgrep else leaves out; one with `!` only leaves out more. */
function ripgrepGlobs(texts: readonly string[]): readonly string[] {
  const values = texts.flatMap((text, at) => {
    const own = /^(?:-\w*g|--i?glob=)(.+)$/s.exec(text)?.[1]
    const value = own ?? (/^(-\w*g|--i?glob)$/.test(texts[at - 1] ?? '') ? text : null)
    // `--iglob` does not tell capital from small letters.
    return value === null ? [] : [value, value.toLowerCase()]
  })
  return values.filter((value) => !value.startsWith('!')).map((value) => value.replace(/^\/+/, ''))
}

/** `date -s`, `date 01011200` set the clock; `-f` shows a file. */
function isDateShowing(args: readonly ShellWord[]): boolean {
  return args.every(({ text }, at) => {
    if (/^(-d|--date|-r|--reference)$/.test(args[at - 1]?.text ?? '')) return true
    return text !== null && /^(\+.*|-[uRI]+|-I\w+|-d.*|-r|--utc|--universal|--rfc-\w+(=\w+)?|--iso-8601(=\w+)?|--date(=.*)?|--reference)$/s.test(text)
  })
}

/** Programs that may be asked for their version; not those that a file of the project may make another program of, as `yarnPath` does. */
const versioned = new Set(['node', 'npm', 'npx', 'bun', 'deno', 'tsc', 'python', 'python3', 'pip', 'pip3', 'go', 'ruby', 'java', 'javac', 'gcc', 'clang', 'make', 'cmake', 'docker', 'bash', 'php', 'dotnet'])

/** Options that git takes before its command and that only change how it shows things. */
const harmlessGitOption = /^(--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/

const gitReaders = new Map<string, 'words' | 'list'>([
  ...['status', 'rev-parse', 'ls-files', 'ls-tree', 'cat-file', 'describe', 'shortlog', 'merge-base', 'rev-list', 'for-each-ref', 'count-objects', 'name-rev', 'check-ignore', 'show-ref', 'whatchanged', 'version', 'var',
    'diff', 'log', 'show', 'blame', 'diff-tree', 'diff-index', 'range-diff', 'grep'].map((name) => [name, 'words'] as const),
  ...['branch', 'tag', 'remote', 'stash', 'worktree', 'reflog'].map((name) => [name, 'list'] as const),
])

/** Options of git that write a file, start a program or leave the repository, whatever the command. */
const gitRefused: Pick<ReaderRule, 'refuseLong'> = { refuseLong: ['output', 'ext-diff', 'textconv', 'filters', 'no-index', 'open-files-in-pager', 'contents', 'batch', 'batch-command', 'batch-check'] }
const gitGrepRefused: Pick<ReaderRule, 'refuseLetters' | 'refuseLong'> = { refuseLetters: { letters: 'O', valued: 'efABCm' }, refuseLong: ['untracked', 'no-exclude-standard'] }
const isGitOptionRefused = (text: string) => text !== '--text' && text !== '--no-color' && isRefusedOption(text, gitRefused)

/** The command of git and what follows it, or null behind options that are not harmless. */
function gitCommand(args: readonly ShellWord[]): { readonly name: string; readonly rest: readonly ShellWord[] } | null {
  const at = args.findIndex(({ text }) => text === null || !harmlessGitOption.test(text))
  const name = args[at]?.text
  return name === undefined || name === null ? null : { name, rest: args.slice(at + 1) }
}

function isGitReading(args: readonly ShellWord[]): boolean {
  const command = gitCommand(args)
  if (command === null) return false
  const { name } = command
  // What only running tells is a word of the program's own here; its files are looked at elsewhere.
  const rest = command.rest.map(({ text }) => text ?? '')
  const rule = gitReaders.get(name)
  if (rule === undefined || rest.some(isGitOptionRefused)) return false
  if (name === 'grep') return !rest.some((text) => isRefusedOption(text, gitGrepRefused))
  // A blob by its hash has no name by which a secret could be seen.
  if (name === 'cat-file') return !rest.some((text) => text === '' || /^[0-9a-f]{4,64}$/.test(text))
  if (rule === 'words') return true
  const [verb, ...more] = rest
  if (verb === undefined) return name !== 'stash' && name !== 'worktree'
  if (name === 'stash' || name === 'worktree' || name === 'reflog') return verb === 'list' || (name !== 'worktree' && verb === 'show')
  // `show` without `-n` asks the server.
  if (name === 'remote') return verb === 'get-url' || (/^(-v|--verbose|show)$/.test(verb) && more.length === 0) || (verb === 'show' && more[0] === '-n')
  return rest.every((text) => /^(-a|-r|-v|-vv|-l|-n\d*|--list|--all|--remotes|--show-current|--sort=.*|--contains|--merged|--no-merged|--format=.*)$/.test(text))
}

/** Pathspecs with wildcards or magic, where the text of files is shown. */
function gitGlobs(args: readonly ShellWord[]): readonly string[] {
  const command = gitCommand(args)
  if (command === null || !['diff', 'log', 'show', 'blame', 'diff-tree', 'diff-index', 'whatchanged', 'grep', 'stash', 'reflog'].includes(command.name)) return []
  const words = withoutValues(command.rest, /^(-m|--message|--format|--pretty|--author|--grep|-S|-G|-e)$/, /^-/)
  const hasPattern = command.rest.some(({ text }) => text === '-e' || text === '-f')
  return (command.name === 'grep' && !hasPattern ? words.slice(1) : words)
    .flatMap(({ text }) => (text !== null && /[*?[]|^:/.test(text) && !/^:(!|\^|\(exclude\))/.test(text) ? [text.replace(/^:(\([^)]*\)|\/|\d:)?/, '')] : []))
    .filter((text) => text !== '')
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
  const at = gitVerbAt(texts)
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
      return has(/^(-f|--force|--force-with-lease.*|--delete|-d|--mirror|--prune)$/) || has(/^[+:]/) ? 'overwrites or deletes work on the remote' : null
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
