import type { Json } from '../../../base/json.ts'
import { clipped } from '../../../base/text.ts'
import type { CardContent, ToolCallView, ToolResultView } from '../../../protocol/cards.ts'
import type { PresentedResult } from '../definition.ts'

/** The call of a tool that somebody lends: its own title and whose it is. */
export const presentCall = ({ title, lender }: { readonly title: string; readonly lender: string }, args: Json): ToolCallView => ({
  card: 'generic',
  title: `${clipped(title, 80)} (${lender})`,
  kind: 'other',
  rawInput: args,
})

export const presentResult = ({ content }: PresentedResult): ToolResultView => ({
  card: 'generic',
  content: content.map((block): CardContent =>
    block.type === 'text' ? { type: 'text', text: block.text } : { type: 'image', attachmentId: block.attachment.attachmentId, mediaType: block.attachment.mediaType },
  ),
})
