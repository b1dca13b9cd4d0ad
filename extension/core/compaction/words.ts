import type { UserMessage } from '../log/message.ts'

/**
 * The last message of a request for a summary. What comes before it is the talk as the model knows it, so that the provider's cache
 * still serves.
 *
 * Source: runtime specification 13; the eight parts.
 */
const summaryRequest = (maxTokens: number): string => `This conversation is getting too long for your context window. Everything above is about to be replaced by a summary that you write now. You will go on with the work from that summary alone, so put in all you will need.

Answer with text only. Do not call any tool. Use at most ${Math.floor(maxTokens * 0.6)} words, fewer when less will do. Write these eight parts, each under its own heading:

1. Primary request and intent: what the person wants, with every later correction and constraint.
2. Key technical concepts: languages, frameworks, conventions and decisions that matter here.
3. Files and code: each file that was read, made or changed, why it matters, and the exact names, signatures or lines that will be needed.
4. Errors and fixes: what went wrong, how it was solved, and what the person said about it.
5. Pending jobs: what was asked for and is not done, and programs that still run.
6. Current work: what was being done just now, in detail.
7. Next step: the one thing to do next, in the person's own words where they say it.
8. Critical context: anything else that would be lost, such as identifiers, commands, versions, paths, values and open questions.

State only what the conversation shows. If it already begins with a summary, carry over what still matters of it.`

/** Ahead of a part of the talk whose beginning does not fit the same request. */
export const summarySoFar = (id: string, summary: string): UserMessage =>
  userMessage(id, `<summary-so-far>\nThe conversation is summarised in pieces. This is the summary of all that came before the messages below; carry over what still matters of it.\n\n${summary}\n</summary-so-far>`)

export const instruction = (id: string, maxTokens: number): UserMessage => userMessage(id, summaryRequest(maxTokens))

/** A part of the talk that is too large to be shown to the model as it is. */
export const partOfTalk = (id: string, text: string): UserMessage => userMessage(id, `<part-of-the-conversation>\n${text}\n</part-of-the-conversation>`)

const userMessage = (id: string, text: string): UserMessage => ({
  id,
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'plugin', plugin: 'compaction' },
})

/** What the log itself knows and a model might forget. */
export interface CarriedFacts {
  /** What the person said first, and later, as far as it is on the surface no longer. */
  readonly firstRequest: string | null
  readonly laterRequests: readonly string[]
  /** Path with range, oldest first. */
  readonly reads: readonly string[]
}

/** The text that stands for a part of the talk. */
export function summaryText(summary: string, { firstRequest, laterRequests, reads }: CarriedFacts): string {
  const parts = [
    'This takes the place of the earlier part of the conversation, which no longer fits. Go on from here as if you had read it all; do not mention the summary.',
    ...(firstRequest === null ? [] : [`# The person’s first request, in their words\n${firstRequest}`]),
    ...(laterRequests.length === 0 ? [] : [`# Later requests, in their words\n${laterRequests.join('\n---\n')}`]),
    `# Summary\n${summary}`,
    ...(reads.length === 0 ? [] : [`# Files read last\nTheir text is no longer above. Read again what you need before you rely on it.\n${reads.map((read) => `- ${read}`).join('\n')}`]),
  ]
  return `<compacted-summary>\n${parts.join('\n\n')}\n</compacted-summary>`
}
