import type { ShellScript, ShellWord } from './shell-parts.ts'

type Context = Pick<ShellScript, 'assigned' | 'values'>

/** A variable of the script itself, whose every value stands there; none of them is an option or, where the shell splits it, several words. */
export function isKnownInScript({ variables, isSplit }: ShellWord, { assigned, values }: Context): boolean {
  if (variables == null || variables.length === 0 || !variables.every((name) => assigned.includes(name))) return false
  return values.every((value) => value.text !== null && !mayBeginWithDash(value) && (isSplit !== true || !/[\s*?[]/.test(value.text)))
}

/** An option, as far as reading tells: what only running tells may be one, and several words besides. */
export function mayBeOption(word: ShellWord, script: Context): boolean {
  if (word.text !== null) return word.isPattern && mayBeginWithDash(word)
  if (word.source.startsWith('-')) return true
  if (isKnownInScript(word, script)) return false
  return word.isSplit === true || !/^["']?[\w./@+:,=]/.test(word.source)
}

/** Files that begin with a dash are taken in by a pattern that begins with a wildcard. */
const mayBeginWithDash = ({ text, isPattern }: ShellWord) => text !== null && (text.startsWith('-') || (isPattern && /^[*?[{]/.test(text)))

/** Numbers, whatever they are. */
export const isCount = ({ source }: ShellWord): boolean => /^(\$[#?$!]|\$\{#\w+\})$/.test(source)
