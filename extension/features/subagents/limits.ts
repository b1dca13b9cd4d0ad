import { utf8Length } from '../../base/text.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { SubagentError, type SubagentLimits } from './service.ts'

/** Diagnostics and reads: agent tools specification 6.2, 6.4. The others are ours. */
export const subagentLimits: SubagentLimits = { promptBytes: 262_144, messageBytes: 65_536, waitingReports: 20, diagnosticBytes: 4_096, coldReads: 4 }

/** UTF-8 bytes of the words that say whose message it is, which do not count. */
const FRAME_BYTES = 1_000

/** Errors: `SubagentError` `EMPTY_MESSAGE`, `MESSAGE_TOO_LONG`. */
export function checkMessage({ content }: Pick<UserMessage, 'content'>): void {
  checkText(content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'), subagentLimits.messageBytes, FRAME_BYTES)
}

/** Errors: as `checkMessage`. */
export const checkPrompt = (prompt: string): void => checkText(prompt, subagentLimits.promptBytes, 0)

function checkText(text: string, most: number, frame: number): void {
  if (text.trim() === '') throw new SubagentError('EMPTY_MESSAGE', 'The message is empty. Nothing was delivered; write what the agent is to do or to know.')
  const bytes = utf8Length(text)
  if (bytes > most + frame) throw new SubagentError('MESSAGE_TOO_LONG', `A message to an agent has at most ${most} bytes, and this one has ${bytes}. Nothing was delivered; write the material to a file and name it.`)
}
