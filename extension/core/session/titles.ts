import { fitBytes, utf8Length } from '../../base/text.ts'
import type { UserMessage } from '../log/message.ts'
import { SessionError } from './session.ts'

/** UTF-8 bytes of any title. Source, with the two below: runtime specification 12.4. */
const maxTitleBytes = 80
const maxFallbackBytes = 40
const maxFallbackWords = 5

/** A title made from the first words of a prompt; null when it has no words. */
export function fallbackTitle(prompt: string): string | null {
  // Only the start can matter, and a prompt may hold megabytes.
  const words = prompt.slice(0, 4_096).trim().split(/\s+/).slice(0, maxFallbackWords).join(' ')
  const title = fitBytes(words, maxFallbackBytes).text.trimEnd()
  return title === '' ? null : title
}

/** The title a person typed, on one line. Errors: `INVALID_TITLE` when it is blank or too long. */
export function acceptedTitle(typed: string): string {
  const title = typed.trim().replace(/\s+/g, ' ')
  if (title === '') throw new SessionError('INVALID_TITLE', 'A title cannot be blank. Type at least one character.')
  const bytes = utf8Length(title)
  if (bytes <= maxTitleBytes) return title
  throw new SessionError('INVALID_TITLE', `A title holds at most ${maxTitleBytes} bytes and this one has ${bytes}. Shorten it.`)
}

/** A title out of what a model said: its first line without decoration, cut to fit; null when there are no words in it. */
export function titleFromAnswer(answer: string): string | null {
  const words = answer.replace(/<think>[\s\S]*?(?:<\/think>|$)/g, '')
  const line = words.split('\n').find((candidate) => /[\p{L}\p{N}]/u.test(candidate)) ?? ''
  const bare = line
    .replace(/\s+/g, ' ')
    .replace(/^[\s#>*_`-]+/, '')
    .replace(/^title\s*[:：]\s*/i, '')
    .replace(/^["'“”‘’«»「『*_`]+|["'“”‘’«»」』*_`]+$/g, '')
    .replace(/[.。]$/, '')
  const title = fitBytes(bare.trim(), maxTitleBytes).text.trimEnd()
  return title === '' ? null : title
}

/** Words of a message, without images. */
export function promptText(message: UserMessage): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join(' ')
}
