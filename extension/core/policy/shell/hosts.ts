import type { ShellCommand, ShellWord } from './shell-parts.ts'

/** Programs whose words name the hosts they speak to, addresses without a scheme too. */
const networkPrograms: ReadonlySet<string> = new Set(['curl', 'wget', 'ssh', 'scp', 'sftp', 'rsync', 'nc', 'ncat', 'telnet', 'ftp', 'ping', 'dig', 'nslookup', 'http', 'https', 'xh', 'aria2c'])
const gitNetwork = /^(clone|fetch|pull|push|ls-remote|remote|submodule|archive)$/

export function isNetworkCommand(words: readonly string[]): boolean {
  const [program = '', verb = ''] = words
  const name = program.split('/').at(-1) ?? ''
  return networkPrograms.has(name) || (name === 'git' && gitNetwork.test(verb))
}

/** Options of git that take the next word, where a remote may follow. */
const gitValued = /^(-o|-j|-s|-X|-b|-c|--(repo|push-option|server-option|depth|deepen|shallow-since|shallow-exclude|jobs|negotiation-tip|refmap|filter|strategy|strategy-option|branch|origin|reference|config|template))$/

/** Which words of a command of git that speaks to another repository may name it; the first one for those that name branches behind it. Null for other commands. */
export function gitRemotesAt(words: readonly string[]): readonly number[] | null {
  const isOperand = (at: number) => words[at]?.startsWith('-') !== true && !gitValued.test(words[at - 1] ?? '')
  const verb = words.findIndex((_, at) => at > 0 && isOperand(at))
  if (words[0] !== 'git' || verb === -1 || !gitNetwork.test(words[verb] ?? '')) return null
  const operands = words.flatMap((_, at) => (at > verb && isOperand(at) ? [at] : []))
  return /^(fetch|pull|push)$/.test(words[verb] ?? '') ? operands.slice(0, 1) : operands
}

/** `host:path` without a scheme, which is no folder. */
export const isAtHost = (text: string): boolean => /^(?:[\w.-]+@)?(\[[0-9a-f:]+\]|[\w.-]+):/i.test(text)

/** Hosts that the words of a command name, in small letters. */
export function hostsOf({ words: [program, ...args] }: ShellCommand): readonly string[] {
  const name = program?.text?.split('/').at(-1) ?? ''
  const found = args.flatMap(({ guess }) => hostsIn(guess))
  const bare = networkPrograms.has(name) ? operandsOf(args).flatMap(bareHost) : []
  return [...new Set([...found, ...bare])]
}

/** Hosts that one word names by an address. */
export function hostsIn(text: string): readonly string[] {
  const urls = [...text.matchAll(/\b[a-z][a-z0-9+.-]{0,20}:\/\/(?:[^\s/@'"]*@)?(\[[0-9a-f:]+\]|[^\s/:?#'"\\]+)/gi)].map(([, host = '']) => host)
  const secure = /^(?:[\w.-]+@)([\w-]+(?:\.[\w-]+)+):/.exec(text)?.[1]
  const device = /^\/dev\/(?:tcp|udp)\/([^/]+)/.exec(text)?.[1]
  return [...urls, secure, device].filter((host) => host !== undefined && host !== '').map((host) => (host ?? '').toLowerCase())
}

/** `*.example.com` means what stands below it and itself. */
export function matchesHost(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase()
  if (wanted === '*') return true
  return wanted.startsWith('*.') ? host === wanted.slice(2) || host.endsWith(wanted.slice(1)) : host === wanted || host.replace(/:\d+$/, '') === wanted
}

/** It only gets what stands at an address: it follows no redirect, sends no data and writes no file. */
export function isPlainFetch({ words: [program, ...args] }: ShellCommand): boolean {
  const texts = args.map(({ text }) => text)
  // Every word that is no option is an address.
  const isAddressed = operandsOf(args).every((word) => hostsIn(word.guess).length > 0 || bareHost(word).length > 0)
  if (!isAddressed) return false
  switch (program?.text) {
    case 'curl':
      return texts.every((text, at) => text !== null && (!text.startsWith('-') || curlReading.test(text)) && (!curlValued.test(texts[at - 1] ?? '') || !text.startsWith('@')))
    case 'wget':
      return texts.some((text) => text === '-qO-' || text === '-O-' || text === '--spider') && texts.every((text) => text !== null && (!text.startsWith('-') || /^(-q|-qO-|-O-|-nv|--spider|--max-redirect=0|--quiet|-T\d+|--timeout=\d+)$/.test(text)))
    default:
      return false
  }
}

const curlReading = /^(-[sSfiIgv46]+|-H|-A|-m|--silent|--show-error|--fail|--include|--head|--compressed|--max-time|--retry|--header|--user-agent|--connect-timeout|--get|-G)$/
const curlValued = /^(-H|--header|-A|--user-agent)$/

const operandsOf = (args: readonly ShellWord[]) => args.filter(({ guess }, at) => !guess.startsWith('-') && !/^-(H|A|m|o|d|F|X|u|T|e|b|c|K|i|p|P|l)$/.test(args[at - 1]?.text ?? ''))

function bareHost({ guess }: ShellWord): readonly string[] {
  const host = /^(?:[^\s/@]+@)?((?:[\w-]+\.)+[a-z]{2,}|localhost|\d+\.\d+\.\d+\.\d+)(?=$|[:/?#])/i.exec(guess)?.[1]
  return host === undefined ? [] : [host.toLowerCase()]
}
