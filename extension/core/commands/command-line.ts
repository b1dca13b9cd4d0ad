import { CommandError } from './command.ts'

/** A command's name: lower-case letters, digits, dashes and underscores. Source: runtime specification 23. */
export const COMMAND_NAME = /^[a-z0-9_-]+$/

/** UTF-16 units a person may type after a command's name; longer text belongs in a message or a file. */
const MAX_ARGUMENTS = 100_000

export interface CommandLine {
  readonly name: string
  /** Trimmed. */
  readonly args: string
}

/** What a person typed into the composer: words for the model, or a command. */
export type TypedLine = { readonly kind: 'prompt'; readonly text: string } | { readonly kind: 'command'; readonly line: string }

/**
 * Tell a command from words.
 *
 * Only a slash as the very first character begins a command. `//` stands for a slash that is meant, and is sent as one. A path
 * (`/usr/bin/env is missing`) is no command: it has a slash or a dot in its first word.
 */
export function typedLine(text: string): TypedLine {
  if (text.startsWith('//')) return { kind: 'prompt', text: text.slice(1) }
  return /^\/[^\s/.]*(?:\s|$)/.test(text) ? { kind: 'command', line: text } : { kind: 'prompt', text }
}

/** Errors: `CommandError` `BAD_SYNTAX`. */
export function parseCommandLine(line: string): CommandLine {
  const [, name = '', rest = ''] = /^\/(\S*)([\s\S]*)$/.exec(line.trim()) ?? []
  if (name === '') throw new CommandError('BAD_SYNTAX', 'A command is a slash and a name, such as /help. Begin with // to send a slash to the model.')
  const lower = name.toLowerCase()
  if (!COMMAND_NAME.test(name)) {
    const isOnlyCase = COMMAND_NAME.test(lower)
    throw new CommandError('BAD_SYNTAX', isOnlyCase ? `Commands are written in lower case: /${lower}.` : `/${name} is no command: names have lower-case letters, digits, - and _ only. Begin with // to send it to the model.`)
  }
  const args = rest.trim()
  if (args.length > MAX_ARGUMENTS) throw new CommandError('BAD_SYNTAX', `This is too long for a command: ${args.length} characters, at most ${MAX_ARGUMENTS}. Put the text into a file and name the file.`)
  return { name, args }
}
