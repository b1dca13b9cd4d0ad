import { candidates } from './shell/judge-script.ts'
import { gitRemotesAt, hostsIn, hostsOf, isAtHost, isNetworkCommand } from './shell/hosts.ts'
import { isFedByInput } from './shell/inner-runs.ts'
import { factsOf } from './shell/known-commands.ts'
import { isKnownInScript } from './shell/open-words.ts'
import type { ShellCommand, ShellScript, ShellWord } from './shell/shell-parts.ts'
import type { CommandRule } from './rules.ts'

interface Reach {
  readonly script: ShellScript
  /** A file by its name as the command would find it. */
  readonly isInside: (name: string) => Promise<boolean>
  readonly isHostAllowed: (host: string) => boolean
}

/**
 * Why a rule that fits a command was not meant for this one, or null.
 *
 * A rule that begins a command was given for what its words say. What may follow them stays in the workspace and off
 * the network, and turns nothing that reads into something else.
 */
export async function beyondRule({ words, isPrefix }: CommandRule, command: ShellCommand, { script, isInside, isHostAllowed }: Reach): Promise<string | null> {
  if (isFedByInput(command)) return `\`${command.words[0]?.source ?? ''}\` does what it is fed`
  if (!isPrefix) return null
  const rest = command.words.slice(words.length)
  const own = { words: command.words.slice(0, words.length) }
  if (factsOf(own).isReadOnly) return `the rule for \`${words.join(' ')}\` is for reading, and this does more`
  const starter = programOption(words, rest)
  if (starter !== null) return `\`${starter}\` may start another program or write elsewhere`
  // A rule that names its hosts was given for those.
  const meant = isNetworkCommand(words) ? hostsOf(own) : []
  const other = meant.length === 0 ? undefined : hostsOf(command).find((host) => !meant.includes(host) && !isHostAllowed(host))
  if (other !== undefined) return `it names the host ${other}`
  const address = otherRemote(words, command, { script, isHostAllowed })
  if (address !== null) return `it names the repository ${address}`
  for (const [at, word] of rest.entries()) {
    const before = (at === 0 ? command.words[words.length - 1] : rest[at - 1])?.text ?? ''
    if (isMessage(before, word)) continue
    if (word.text === null && !isKnownInScript(word, script)) return `only running tells what \`${word.source}\` is`
    const doubt = await beyondWord(word, { isNetwork: isNetworkCommand(words), isInside, isHostAllowed })
    if (doubt !== null) return doubt
    if (word.text !== null) continue
    for (const value of script.values) {
      const inValue = await beyondWord(value, { isNetwork: false, isInside, isHostAllowed })
      if (inValue !== null) return inValue
    }
  }
  return null
}

/** A rule of git that does not name the other repository is for those that the project knows by a name. */
function otherRemote(words: readonly string[], command: ShellCommand, { script, isHostAllowed }: Pick<Reach, 'script' | 'isHostAllowed'>): string | null {
  const isOther = (text: string) => {
    const hosts = hostsIn(text)
    return (hosts.length > 0 || isAtHost(text)) && (hosts.length === 0 || !hosts.every(isHostAllowed))
  }
  const remotes = gitRemotesAt(command.words.map(({ guess }) => guess)) ?? []
  for (const at of remotes) {
    const word = command.words[at]
    if (at < words.length || word === undefined) continue
    const may = word.text === null ? [word.guess, ...script.values.map(({ guess }) => guess)] : [word.text]
    if (may.some(isOther)) return `\`${word.source}\``
  }
  return null
}

async function beyondWord({ guess, source, isPattern }: ShellWord, { isNetwork, isInside, isHostAllowed }: Omit<Reach, 'script'> & { readonly isNetwork: boolean }): Promise<string | null> {
  const host = isNetwork ? undefined : candidates(guess).flatMap(hostsIn).find((name) => !isHostAllowed(name))
  if (host !== undefined) return `it names the host ${host}`
  // What stands behind the scheme of an address is no file.
  if (hostsIn(guess).length > 0 && candidates(guess).some((text) => /^([a-z][a-z0-9+.-]{0,20}:\/\/|[\w.-]{1,100}@)/i.test(text))) return null
  for (const name of candidates(guess)) {
    if (name === '' || hostsIn(name).length > 0) continue
    if (isPattern && /[{]/.test(name) && /(^|[{,])(\/|~|\.\.)/.test(name)) return `\`${source}\` may stand for files outside of the workspace`
    if (!(await isInside(name))) return `it names \`${source}\`, outside of the workspace`
  }
  return null
}

/** Its value is text for people. */
const isMessage = (before: string, { source }: ShellWord) => /^(-m|-am|--message|--title|--body|--grep|--testNamePattern)$/.test(before) && !source.startsWith('-')

/** A word by which a known program starts others, takes its orders from elsewhere or writes by its own script, beyond what the rule spells out. */
function programOption(words: readonly string[], rest: readonly ShellWord[]): string | null {
  const [program = ''] = words
  const texts = rest.map(({ guess }) => guess)
  const end = texts.indexOf('--')
  const own = end === -1 ? texts : texts.slice(0, end)
  switch (program) {
    case 'git':
      return own.find((text, at) => gitStarters.test(text) || isLongOption(text, gitStartingOptions) || (words.length === 1 && (/^-(c|-exec-path|-config-env)/.test(text) || isGitRunner(text, own[at + 1] ?? '')))) ?? null
    case 'npm':
    case 'pnpm':
    case 'yarn':
    case 'bun':
      return own.find((text) => /^-[a-zA-Z]{0,3}g$/.test(text) || isLongOption(text, npmStartingOptions) || isLongOption(text.replace(/^-(?=\w{4})/, '--'), npmStartingOptions)) ?? null
    case 'make':
    case 'gmake':
      return own.find((text) => /^-[A-Za-z]*[fEIC]/.test(text) || isLongOption(text, ['file', 'makefile', 'eval', 'directory', 'include-dir']) || isMakeSetting(text)) ?? null
    case 'cargo':
      return own.find((text) => /^(--config|-Z|-C)/.test(text)) ?? null
    case 'go':
      return own.find((text) => /^--?(exec|toolexec|vettool|overlay|modfile)\b|\b-?-(extld|extldflags|wrapper|fplugin)\b/.test(text)) ?? null
    case 'dotnet':
      // A property may be a command that the build runs.
      return own.find((text) => /^(--?|\/)(p|property):/i.test(text) && !dotnetSettings.test(text)) ?? null
    case 'tar':
    case 'gtar':
    case 'bsdtar':
      return own.find((text, at) => /^-?[A-Za-z]*[IFP]/.test(text.startsWith('-') || (at === 0 && words.length === 1) ? text : '') || isLongOption(text, tarStartingOptions) || namesHost(text)) ?? null
    case 'zip':
      return own.find((text) => /^-(TT|@)/.test(text) || isLongOption(text, ['unzip-command', 'names-stdin'])) ?? null
    case 'rsync':
      return own.find((text) => /^-[A-Za-z]*e/.test(text) || isLongOption(text, ['rsh', 'rsync-path', 'files-from', 'password-file', 'config']) || namesHost(text)) ?? null
    case 'curl':
      return own.find((text) => /^-[A-Za-z]*K/.test(text) || isLongOption(text, ['config', 'resolve', 'connect-to', 'doh-url', 'unix-socket', 'abstract-unix-socket'])) ?? null
    case 'wget':
      return own.find((text) => /^-[A-Za-z]*e/.test(text) || isLongOption(text, ['config', 'execute', 'use-askpass'])) ?? null
    case 'cc':
    case 'gcc':
    case 'g++':
    case 'c++':
    case 'clang':
    case 'clang++':
      return own.find((text) => /^(@|-wrapper$|-specs=|--specs=|-f(pass-)?plugin|-B|-Xclang$|-fuse-ld=|-iplugindir)/.test(text)) ?? null
    case 'sed':
      return sedScripts(words.slice(1).concat(texts)).find((script) => !isPlainSed(script)) ?? null
    default:
      return null
  }
}

/** A long option by its whole name or by a beginning of it, as most programs take it. */
function isLongOption(text: string, names: readonly string[]): boolean {
  const given = /^--([a-z][\w-]*)/.exec(text)?.[1]
  return given !== undefined && names.some((name) => name.startsWith(given))
}

const gitStarters = /^-O|^ext::|^-x$/
const gitStartingOptions: readonly string[] = ['upload-pack', 'receive-pack', 'exec', 'ext-diff', 'textconv', 'open-files-in-pager', 'extcmd', 'repo', 'remote', 'multiple']
const npmStartingOptions: readonly string[] = ['script-shell', 'shell', 'node-options', 'userconfig', 'globalconfig', 'registry', 'preload', 'require', 'global', 'location', 'git']
const tarStartingOptions: readonly string[] = ['checkpoint-action', 'to-command', 'use-compress-program', 'info-script', 'new-volume-script', 'rsh-command', 'rmt-command', 'absolute-names', 'files-from']
const dotnetSettings = /^(--?|\/)(p|property):(Configuration|Platform|TargetFramework|RuntimeIdentifier|Version|VersionPrefix|VersionSuffix|TreatWarningsAsErrors|WarningLevel|CollectCoverage)=[\w.-]*$/i

/** `host:file`, `host::module`. */
const namesHost = (text: string) => candidates(text).some(isAtHost)
const isGitRunner = (text: string, following: string) => /^(config|filter-branch|difftool|mergetool|daemon|credential)$/.test(text) || (text === 'bisect' && following === 'run') || (text === 'submodule' && following === 'foreach')

/** A variable of make may name the program that it starts. */
const isMakeSetting = (text: string) => /^[\w.-]+[:+?!]?=/.test(text) && !/^\w+=(\d+|true|false|yes|no|on|off|debug|release)$/i.test(text)

/** Scripts among the words of sed: those behind `-e`, else the first that is no option. */
function sedScripts(words: readonly string[]): readonly string[] {
  const given = words.flatMap((word, at) => (words[at - 1] === '-e' ? [word] : []))
  const first = words.find((word) => !word.startsWith('-'))
  const isFile = words.some((word) => /^(-f|--file|--expression)/.test(word))
  return isFile ? ['-f'] : given.length > 0 ? given : first === undefined ? [] : [first]
}

/** It replaces, prints and deletes lines; it neither writes other files nor starts programs. */
const isPlainSed = (script: string) => script.split(/;|\n/).every((command) => /^\s*((\d+|\$|\/[^/]*\/)(,(\d+|\$|\/[^/]*\/))?)?\s*(s([^\w\s\\])(?:\\.|(?!\6).)*\6(?:\\.|(?!\6).)*\6[gipIm\d]*|[pdq=])?\s*$/.test(command))
