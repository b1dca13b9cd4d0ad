import { isHarmlessVariable } from './variables.ts'
import type { ShellCommand, ShellWord } from './shell-parts.ts'

/** What a command starts that its own words name. */
export interface InnerRun {
  readonly runs: { readonly kind: 'command'; readonly words: readonly ShellWord[] } | { readonly kind: 'script'; readonly text: string }
  /** As if it stood there by itself: no other user, machine, folder or time. */
  readonly isPlain: boolean
}

/** What a wrapper such as `env`, `xargs`, `sudo` or `sh -c` starts; nothing for all other commands. */
export function innerRuns({ words: [program, ...args] }: ShellCommand): readonly InnerRun[] {
  const name = program?.text?.split('/').at(-1) ?? ''
  if (shells.has(name)) return shellText(args)
  const wrapper = wrappers.get(name)
  if (wrapper !== undefined) return wrapped(args, wrapper)
  switch (name) {
    case 'env':
      return environment(args)
    case 'xargs':
      return fromInput(args)
    case 'eval':
      return args.every(({ text }) => text !== null) ? [script(args.map(({ text }) => text).join(' '), true)] : []
    case 'trap':
    case 'su':
      return asText(args, name)
    case 'ssh':
      return remote(args)
    case 'watch':
    case 'parallel':
    case 'coproc':
      return [script(args.filter(({ text }) => text?.startsWith('-') !== true).map(({ guess }) => guess).join(' '), false)]
    case 'alias':
      return args.flatMap(({ guess }) => (guess.includes('=') ? [script(guess.slice(guess.indexOf('=') + 1), false)] : []))
    case 'find':
      return foundCommands(args)
    default:
      return []
  }
}

export const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'ash'])
const interpreters: ReadonlySet<string> = new Set(['python', 'python2', 'python3', 'node', 'deno', 'bun', 'perl', 'ruby', 'php', 'lua', 'osascript', 'pwsh', 'powershell', 'psql', 'mysql', 'sqlite3', 'ed', 'ex', 'bc', 'at', 'batch', 'crontab'])

/** It does what its input says, so its words tell nothing. */
export function isFedByInput({ words: [program, ...args], written }: ShellCommand): boolean {
  if (written !== undefined && isFedByInput(written)) return true
  const name = program?.text?.split('/').at(-1) ?? ''
  if (name === 'xargs' || name === 'parallel') return true
  if (!shells.has(name) && !interpreters.has(name)) return false
  const operands = args.filter(({ text }) => text === null || text === '-' || text === '/dev/stdin' || !text.startsWith('-'))
  return args.some(({ text }) => text === '-s') || operands.length === 0 || operands[0]?.text === '-' || operands[0]?.text === '/dev/stdin'
}

interface Wrapper {
  /** Options that take the next word. */
  readonly valued: RegExp
  /** Words that stand before the command. */
  readonly before: number
  readonly isPlain: boolean
  /** With such an option it starts nothing. */
  readonly never?: RegExp
}

const plainWrapper = { valued: /^$/, before: 0, isPlain: true } as const
const wrappers: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ['time', plainWrapper],
  ['nohup', plainWrapper],
  ['builtin', plainWrapper],
  ['setsid', plainWrapper],
  ['command', { ...plainWrapper, never: /^-\w*[vV]/ }],
  ['exec', { ...plainWrapper, valued: /^-a$/ }],
  ['nice', { ...plainWrapper, valued: /^(-n|--adjustment)$/ }],
  ['ionice', { ...plainWrapper, valued: /^-[cnpPu]$/ }],
  ['timeout', { ...plainWrapper, valued: /^(-s|-k|--signal|--kill-after)$/, before: 1 }],
  ['stdbuf', { ...plainWrapper, valued: /^(-[ioe]|--input|--output|--error)$/ }],
  ['sudo', { valued: /^-[ugpCDRThr]$/, before: 0, isPlain: false }],
  ['doas', { valued: /^-[uC]$/, before: 0, isPlain: false }],
  ['chroot', { valued: /^$/, before: 1, isPlain: false }],
  ['strace', { valued: /^-[eopsPu]$/, before: 0, isPlain: false }],
  ['npx', { valued: /^-[pc]$/, before: 0, isPlain: false }],
])

function wrapped(args: readonly ShellWord[], { valued, before, isPlain, never }: Wrapper): readonly InnerRun[] {
  if (never !== undefined && args.some(({ text }) => text !== null && never.test(text))) return []
  const start = operandAt(args, valued)
  const words = args.slice(start + before)
  const skipsUnknown = args.slice(0, start + before).some(({ text }) => text === null)
  const assignments = words.findIndex(({ guess }) => !/^[A-Za-z_]\w*=/.test(guess))
  const inner = isPlain || assignments === -1 ? words : words.slice(assignments)
  return inner.length === 0 ? [] : [{ runs: { kind: 'command', words: inner }, isPlain: isPlain && !skipsUnknown }]
}

/** Index of the first word that is no option and no option's value. */
function operandAt(args: readonly ShellWord[], valued: RegExp): number {
  let at = 0
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? null
    if (text === '--') return at + 1
    if (text === null || !text.startsWith('-') || text === '-') return at
    if (valued.test(text)) at++
  }
  return at
}

function environment(args: readonly ShellWord[]): readonly InnerRun[] {
  let at = 0
  let isPlain = true
  for (; at < args.length; at++) {
    const { text, guess } = args[at] as ShellWord
    const variable = /^([A-Za-z_]\w*)=/.exec(guess)?.[1]
    if (variable !== undefined) isPlain &&= isHarmlessVariable(variable)
    else if (text === '-u' || text === '--unset') at++
    else if (text === '-C' || text === '--chdir') [at, isPlain] = [at + 1, false]
    else if (text?.startsWith('-S') === true || text?.startsWith('--split-string') === true) {
      const rest = args.slice(at).map(({ guess: word }) => word).join(' ')
      return [script(rest.replace(/^(-S|--split-string)=?\s*/, ''), false)]
    } else if (text === null || !text.startsWith('-')) break
    else if (!/^(-i|-|-0|--ignore-environment|--null|--unset=.*)$/.test(text)) isPlain = false
  }
  const words = args.slice(at)
  return words.length === 0 ? [] : [{ runs: { kind: 'command', words }, isPlain }]
}

/** Words that come from elsewhere. */
const fed = (source: string): ShellWord => ({ text: null, guess: 'x', isPattern: false, source, variables: null })

function fromInput(args: readonly ShellWord[]): readonly InnerRun[] {
  const start = operandAt(args, /^(-[nLPIdsEa]|--(max-args|max-lines|max-procs|replace|delimiter|max-chars|arg-file))$/)
  const options = args.slice(0, start)
  const at = options.findIndex(({ text }) => text === '-I')
  const slot = at === -1 ? options.map(({ text }) => /^(?:-I|-i|--replace=)(.+)$/.exec(text ?? '')?.[1]).find((text) => text !== undefined) : (options[at + 1]?.text ?? undefined)
  const words = args.slice(start)
  if (words.length === 0) return []
  const inner = slot === undefined ? [...words, fed('what it is fed')] : words.map((word) => (word.guess.includes(slot) ? fed(word.source) : word))
  return [{ runs: { kind: 'command', words: inner }, isPlain: options.every(({ text }) => text !== null) }]
}

function shellText(args: readonly ShellWord[]): readonly InnerRun[] {
  const at = args.findIndex(({ text }) => text !== null && /^-[a-z]*c$/i.test(text))
  const text = args[at + 1]
  if (at === -1 || text === undefined) return []
  // Other options change how the text is read; words behind it are its `$0`, `$1`, which it may look at.
  const isPlain = text.text !== null && at === 0 && args.length === 2 && /^-c$/.test(args[0]?.text ?? '')
  return [script(text.guess, isPlain)]
}

function asText(args: readonly ShellWord[], name: string): readonly InnerRun[] {
  if (name === 'trap') return args.length < 2 || args[0]?.text === '-' || args[0]?.text?.startsWith('-') === true ? [] : [script(args[0]?.guess ?? '', args[0]?.text !== null)]
  const at = args.findIndex(({ text }) => text === '-c' || text === '--command')
  return at === -1 ? [] : [script(args[at + 1]?.guess ?? '', false)]
}

function remote(args: readonly ShellWord[]): readonly InnerRun[] {
  const start = operandAt(args, /^-[bcDEeFIiJLlmOopQRSWw]$/)
  const text = args.slice(start + 1).map(({ guess }) => guess).join(' ')
  return text === '' ? [] : [script(text, false)]
}

function foundCommands(args: readonly ShellWord[]): readonly InnerRun[] {
  return args.flatMap(({ text }, at): readonly InnerRun[] => {
    if (text === null || !/^-(exec|execdir|ok|okdir)$/.test(text)) return []
    const rest = args.slice(at + 1)
    const end = rest.findIndex((word) => word.text === ';' || word.text === '+')
    const words = (end === -1 ? rest : rest.slice(0, end)).map((word) => (word.guess.includes('{}') ? fed(word.source) : word))
    return words.length === 0 ? [] : [{ runs: { kind: 'command', words }, isPlain: false }]
  })
}

const script = (text: string, isPlain: boolean): InnerRun => ({ runs: { kind: 'script', text }, isPlain })
