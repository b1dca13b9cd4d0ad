import type { McpPromptFacts } from '../../capabilities/mcp.ts'

/** Characters of a description in the `/` menu. */
export const MAX_MENU_CHARS = 120

/** `/mcp_<server>_<prompt>` in the letters that a command may have. */
export const promptCommandName = (server: string, prompt: string): string => `mcp_${server}_${prompt}`.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '_').slice(0, 80)

/** What may be typed behind the command. */
export const promptHint = ({ arguments: all }: McpPromptFacts): string => all.map(({ name, isRequired }) => (isRequired ? name : `[${name}]`)).join(' ')

/**
 * The words behind a command as the arguments of a prompt: `name=value`, else one after the other; quotes keep words together, and the
 * last argument takes what is left.
 *
 * Errors: `Error` that names what is missing.
 */
export function promptArguments({ name, arguments: all }: McpPromptFacts, typed: string): Readonly<Record<string, string>> {
  const given: Record<string, string> = {}
  const plain: string[] = []
  for (const word of typed.match(/[\w.-]+="[^"]*"|"[^"]*"|\S+/g) ?? []) {
    const [, key = '', value = ''] = /^([\w.-]+)=(.*)$/s.exec(word) ?? []
    if (all.some((each) => each.name === key)) given[key] = unquoted(value)
    else plain.push(unquoted(word))
  }
  const open = all.filter(({ name: each }) => !Object.hasOwn(given, each))
  for (const [index, { name: each }] of open.entries()) {
    const words = index === open.length - 1 ? plain.splice(0) : plain.splice(0, 1)
    if (words.length > 0) given[each] = words.join(' ')
  }
  const missing = all.filter(({ name: each, isRequired }) => isRequired && !Object.hasOwn(given, each)).map(({ name: each }) => each)
  if (missing.length > 0) throw new Error(`The prompt ${name} needs ${missing.join(', ')}. Write them behind the command, such as ${missing[0]}="…".`)
  return given
}

const unquoted = (word: string): string => (/^".*"$/s.test(word) ? word.slice(1, -1) : word)
