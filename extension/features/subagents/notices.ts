import { fitEnds } from '../../base/text.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeSummary } from '../../core/log/notice.ts'
import type { ChildOutcome, ChildStopReason } from './service.ts'

/** UTF-8 bytes of the closing message that a notice repeats. */
const maxClosingBytes = 48_000

const statusWords: Readonly<Record<ChildStopReason, string>> = {
  completed: 'has finished',
  aborted: 'was stopped before it finished',
  error: 'failed',
  'max-tokens': 'was cut off at the limit of its answer',
  refusal: 'was kept from working',
}

/** Words from one agent to one that it started. */
export const coordinatorMessage = (id: string, senderSessionId: string, text: string): UserMessage => ({
  id,
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'coordinator', form: 'relay', senderSessionId },
})

/** Tells an agent that one it started is at rest, with its last words. Source: agent tools specification 6.3. */
export function settledMessage(id: string, child: { readonly id: string; readonly label: string }, { stopReason, output, diagnostic }: ChildOutcome): UserMessage {
  const status = `Your agent ${child.id} (${child.label}) ${statusWords[stopReason]}.${diagnostic === undefined ? '' : ` ${diagnostic}`}`
  const text = `${status}\nIts closing message: ${output.trim() === '' ? 'none' : `\n${closing(output)}`}`
  return {
    id,
    role: 'user',
    content: [{ type: 'text', text }],
    source: { kind: 'subagent-settled', form: 'notice', summary: noticeSummary(`“${child.label}” ${statusWords[stopReason]}`), senderSessionId: child.id },
  }
}

function closing(output: string): string {
  const half = maxClosingBytes / 2
  const { head, tail, omittedBytes } = fitEnds(output, { headBytes: half, tailBytes: half })
  return omittedBytes === 0 ? head : `${head}\n[${omittedBytes} bytes left out; ask it with send_message for what is missing]\n${tail}`
}
