import { clipped, fitBytes } from '../../base/text.ts'
import type { ContentBlock, UserMessage, UserSource } from './message.ts'

/** Characters (UTF-16 units) of the line that a person sees over a message of a plugin. Source: runtime specification 11.4. */
export const maxSummaryChars = 120

/** The line over a message, cut to what it may hold and never inside a character. */
export const noticeSummary = (text: string): string => clipped(text, maxSummaryChars)

/** A message that a plugin puts before the model, with the line that the person sees over it. */
export const noticeMessage = ({ id, plugin, text, summary, form = 'notice' }: {
  readonly id: string
  readonly plugin: string
  readonly text: string
  readonly summary: string
  readonly form?: 'notice' | 'instructions'
}): UserMessage => ({
  id,
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'plugin', plugin, form, summary: noticeSummary(summary) },
})

/** Why a message may not be written, or null. A reader is not as strict: what stands in a log is read. */
export function summaryProblem({ source, content }: Pick<UserMessage, 'source' | 'content'>): string | null {
  const blocks: readonly ContentBlock[] = Array.isArray(content) ? content : []
  const sources = [source, ...blocks.map((block) => (block.type === 'text' ? block.source : undefined))]
  const long = sources.map(summaryOf).find((summary) => summary !== undefined && summary.length > maxSummaryChars)
  if (long === undefined) return null
  return `the summary of a notice has at most ${maxSummaryChars} characters, and ${JSON.stringify(fitBytes(long, 40).text)}… has ${long.length}; say the rest in its text`
}

function summaryOf(source: UserSource | undefined): string | undefined {
  const summary: unknown = typeof source === 'object' && 'summary' in source ? source.summary : undefined
  return typeof summary === 'string' ? summary : undefined
}
