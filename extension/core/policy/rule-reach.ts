import { candidates } from './shell/judge-script.ts'
import { hostsIn, isNetworkCommand } from './shell/hosts.ts'
import { isFedByInput } from './shell/inner-runs.ts'
import { factsOf } from './shell/known-commands.ts'
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
  if (starter !== null) return `\`${starter}\` starts another program`
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

async function beyondWord({ guess, source, isPattern }: ShellWord, { isNetwork, isInside, isHostAllowed }: Omit<Reach, 'script'> & { readonly isNetwork: boolean }): Promise<string | null> {
  const host = isNetwork ? undefined : candidates(guess).flatMap(hostsIn).find((name) => !isHostAllowed(name))
  if (host !== undefined) return `it names the host ${host}`
  if (/^[\w.-]*@?[a-z][a-z0-9+.-]*:/i.test(guess) && hostsIn(guess).length > 0) return null
  for (const name of candidates(guess)) {
    if (name === '' || hostsIn(name).length > 0) continue
    if (isPattern && /[{]/.test(name) && /(^|[{,])(\/|~|\.\.)/.test(name)) return `\`${source}\` may stand for files outside of the workspace`
    if (!(await isInside(name))) return `it names \`${source}\`, outside of the workspace`
  }
  return null
}

/** Its value is text for people. */
const isMessage = (before: string, { source }: ShellWord) => /^(-m|-am|--message|--title|--body|--grep|--testNamePattern)$/.test(before) && !source.startsWith('-')

/** A variable of the script itself, whose every value stands there. */
function isKnownInScript({ variables }: ShellWord, { assigned, values }: ShellScript): boolean {
  return variables != null && variables.length > 0 && variables.every((name) => assigned.includes(name)) && values.every(({ text }) => text !== null && !text.startsWith('-'))
}

/** Options of git before or behind its command by which it starts programs, beyond what the rule spells out. */
function programOption(words: readonly string[], rest: readonly ShellWord[]): string | null {
  if (words[0] !== 'git') return null
  const isBeforeCommand = words.length === 1
  const found = rest.find(({ guess }) => /^(--upload-pack|--receive-pack|--exec|--ext-diff|--textconv|--open-files-in-pager)(=|$)/.test(guess) || /^-(c|-exec-path|-config-env)/.test(guess) && isBeforeCommand || guess.startsWith('ext::'))
  return found?.source ?? null
}
