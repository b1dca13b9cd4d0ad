import { Minimatch } from 'minimatch'
import { isFedByInput } from './inner-runs.ts'
import { factsOf, mayDoMore } from './known-commands.ts'
import { changesSharedGit } from './shared-git.ts'
import type { ShellCommand, ShellScript, ShellWord } from './shell-parts.ts'
import { isHarmlessVariable } from './variables.ts'

/** What a script would do, as far as reading it tells. */
export interface ScriptFacts {
  /** Commands that are not known to only read; empty for a script that only reads. */
  readonly acting: readonly ShellCommand[]
  /** Files that the reading commands and the redirects would read, as they are written. */
  readonly reads: readonly PathWord[]
  /** Files that redirects would write, the null device left out. */
  readonly writes: readonly PathWord[]
  /** Folders the script changes to. */
  readonly folders: readonly PathWord[]
  /** Patterns by which its programs choose files themselves, leading dots and all depths included. */
  readonly globs: readonly string[]
  /** It starts git, which takes orders from the settings of the repository that it finds. */
  readonly startsGit: boolean
  /** A command of git in it that changes what all work trees of the repository have in common, as it is written. */
  readonly sharedGit: string | null
  /** What it throws away for good, in words. */
  readonly destroys: string | null
  /** Why reading it does not tell enough, in words; null when it does. */
  readonly unclear: string | null
}

export interface PathWord {
  /** Null when only running tells. */
  readonly path: string | null
  readonly isPattern: boolean
  readonly source: string
  /** The text of the file would be shown, not its name alone. */
  readonly showsText: boolean
}

export function judgeScript(script: ShellScript): ScriptFacts {
  const { commands, hidden, redirects, assigned, used, unknown } = script
  const facts = commands.map((command) => {
    const known = factsOf(command)
    return { command, ...known, isReadOnly: known.isReadOnly && !mayDoMore(command, script) }
  })
  const odd = assigned.find((name) => !isHarmlessVariable(name))
  const lost = facts.find(({ changesFolder, isReadOnly }) => changesFolder && !isReadOnly)
  const secret = used.find((name) => secretVariable.test(name) && !assigned.includes(name))
  return {
    acting: facts.filter(({ isReadOnly }) => !isReadOnly).map(({ command }) => command),
    reads: [
      ...facts.flatMap(({ command, changesFolder, isReadOnly, paths }) => (changesFolder || !isReadOnly ? [] : paths.flatMap((word) => pathWords(word, showsText(command))))),
      ...redirects.filter(({ direction }) => direction === 'read').flatMap(({ target }) => pathWords(target, true)),
    ],
    writes: redirects.filter(({ direction, target }) => direction === 'write' && !isDevice(target)).flatMap(({ target }) => pathWords(target, false)),
    folders: facts.filter(({ changesFolder }) => changesFolder).flatMap(({ paths }) => paths.flatMap((word) => pathWords(word, false))),
    destroys: [...facts, ...hidden.map(factsOf)].find(({ destroys }) => destroys !== null)?.destroys ?? (runsDecoded(commands) ? 'runs a script that an encoding hides' : null),
    startsGit: commands.some(({ words: [program] }) => program?.text?.split('/').at(-1) === 'git'),
    sharedGit: sharedGitOf([...facts.filter(({ isReadOnly }) => !isReadOnly).map(({ command }) => command), ...hidden]),
    globs: facts.flatMap(({ globs, isReadOnly }) => (isReadOnly ? globs : [])),
    unclear:
      unknown.length > 0 ? `it holds syntax that cannot be judged (${unknown[0]})`
      : lost !== undefined ? `only running tells where \`${lost.command.words.map(({ source }) => source).join(' ')}\` leads`
      : odd !== undefined ? `it sets the variable ${odd}, which changes what commands do`
      : secret !== undefined ? `it shows the variable ${secret}, which looks like a secret`
      : null,
  }
}

const sharedGitOf = (commands: readonly ShellCommand[]): string | null => commands.find(changesSharedGit)?.words.map(({ source }) => source).join(' ') ?? null

/** Every text in a script that may name a file: words, the values of options and variables, what stands behind a colon, and paths inside of quoted programs. */
export function namedFiles(script: ShellScript): readonly string[] {
  const all = [...script.commands, ...script.hidden]
  const written = all.map((command) => command.written ?? command)
  const programs = written.filter(({ words: [program] }) => interpreters.has(program?.text?.split('/').at(-1) ?? '')).flatMap(({ words }) => words)
  // Where words may come out of other programs, everything that is printed may be a file's name.
  const isFed = written.some((command) => isFedByInput(command) || /^(read|mapfile|readarray|cpio|rsync|tar)$/.test(command.words[0]?.text ?? ''))
  const printed = all.filter((command) => isPrinting(command) && (isFed || command.isSubstituted === true)).flatMap(({ words }) => words.slice(1).map(({ guess }) => guess))
  return [
    ...fileWords({ ...script, commands: all }).flatMap(braceTexts).flatMap(candidates),
    ...programs.flatMap(({ guess }) => (/\s|[('"]/.test(guess) ? piecesOf(guess) : [])),
    ...printed.flatMap((text) => text.split(/\s+|\\[nt0]/)),
    ...(programs.length > 0 ? script.inputs.flatMap(piecesOf) : []),
    ...(isFed ? script.inputs.flatMap((text) => text.split(/\s+/)) : []),
  ].filter((text) => text !== '')
}

const piecesOf = (text: string): readonly string[] => text.split(/[^\w.~/\\@+-]+/)
const isPrinting = ({ words: [program] }: ShellCommand) => program?.text === 'echo' || program?.text === 'printf'

/** Something decodes and something does what it is fed. */
function runsDecoded(commands: readonly ShellCommand[]): boolean {
  const decodes = ({ words: [program, ...args] }: ShellCommand) => {
    const has = (option: RegExp) => args.some(({ text }) => text !== null && option.test(text))
    switch (program?.text?.split('/').at(-1)) {
      case 'base64':
      case 'base32':
      case 'basenc':
        return has(/^(-\w*[dD]|--decode)/)
      case 'xxd':
        return has(/^-\w*r/)
      case 'openssl':
        return has(/^-d$/)
      case 'uudecode':
        return true
      default:
        return false
    }
  }
  return commands.some(decodes) && commands.some((command) => isFedByInput(command) || /^(eval|source|\.)$/.test(command.words[0]?.text ?? '') || (command.words.some(({ variables }) => variables === null) && interpreters.has(command.words[0]?.text ?? '')))
}

/** The first pattern of the shell that spells out so much of a secret-looking name that it asks for it, or null. `*` alone does not. */
export function patternForSecret(script: ShellScript, secretPatterns: readonly string[]): string | null {
  const commands = script.commands.filter(showsText)
  const asks = ({ isPattern, guess }: ShellWord) => isPattern && /^\.|[a-z0-9]/i.test(guess.split('/').at(-1) ?? '') && spellsOutSecret(guess, secretPatterns)
  return fileWords({ ...script, commands }).find(asks)?.source ?? null
}

const fileWords = ({ commands, redirects, values }: ShellScript): readonly ShellWord[] => [
  ...commands.flatMap((command) => factsOf(command).paths),
  ...redirects.map(({ target }) => target),
  ...values,
]

/** More alternatives than this in one word are not written out; a pattern asks anyway. */
const MAX_COMMAS = 10

/** `a.{b,c}` is two names. */
function braceTexts({ guess, isPattern }: ShellWord): readonly string[] {
  const isSmall = isPattern && guess.includes('{') && !guess.includes('..') && guess.split(',').length - 1 <= MAX_COMMAS
  return isSmall ? new Minimatch(guess, { platform: 'linux', nonegate: true, nocomment: true }).braceExpand() : [guess]
}

/** The rest of a pattern, taken as it stands, is a secret-looking name. */
function spellsOutSecret(pattern: string, secretPatterns: readonly string[]): boolean {
  const segments = pattern.split('/')
  return secretPatterns.some((line) => {
    if (line.startsWith('!')) return false
    const probe = line.replace(/^\*\*\//, '').replace(/\/\*\*$/, '').replaceAll('*', 'x').split('/')
    const tail = segments.slice(-probe.length)
    // As in the shell, a star is no leading dot.
    return tail.length === probe.length && new Minimatch(tail.join('/'), { platform: 'linux', dot: false, nonegate: true, nocomment: true }).match(probe.join('/'))
  })
}

const interpreters = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'eval', 'python', 'python3', 'node', 'deno', 'bun', 'perl', 'ruby', 'php', 'ssh', 'sudo', 'env', 'xargs', 'awk', 'gawk', 'trap', 'watch', 'su', 'pwsh'])

/** Programs that show names, sizes and counts of files and not what stands in them. */
const namesOnly = new Set(['ls', 'stat', 'du', 'df', 'file', 'wc', 'find', 'tree', 'realpath', 'readlink', 'echo', 'printf', 'md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'cksum'])
const showsText = ({ words: [program] }: ShellCommand) => !namesOnly.has(program?.text ?? '')

function pathWords(word: ShellWord, showsText: boolean): readonly PathWord[] {
  const make = (path: string | null): PathWord => ({ path, isPattern: word.isPattern, source: word.source, showsText })
  if (word.text === null) return [make(null)]
  if (!word.text.startsWith('-')) return [make(word.text)]
  // An option names a file only by its value.
  return candidates(word.text).filter((text) => word.isPattern || text.includes('/')).map(make)
}

/** Every text in a word that may name a file. */
export function candidates(text: string): readonly string[] {
  const afterOption = /^-[A-Za-z](.+)$/.exec(text)?.[1]
  const afterEquals = /=(.+)$/s.exec(text)?.[1]
  const behindColon = /^[^/\\]*:(.+)$/s.exec(text)?.[1]
  const behindAt = /^@(.+)$/s.exec(afterEquals ?? text)?.[1]
  // `type=local,dest=/root`
  const listed = text.includes(',') ? text.split(',').map((part) => /=(.+)$/s.exec(part)?.[1]) : []
  return [text.startsWith('-') ? undefined : text, afterOption, afterEquals, behindColon, behindAt, ...listed].filter((value) => value !== undefined)
}

const isDevice = ({ text }: ShellWord) => text !== null && /^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/.test(text)

/** Names that people give to keys in the environment. */
const secretVariable = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)(_|$)/i
