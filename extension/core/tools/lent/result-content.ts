import { imageHeader } from '../../../base/image-header.ts'
import type { Json, JsonObject } from '../../../base/json.ts'
import { isJsonObject, stringifyJson } from '../../../base/json.ts'
import { clipped } from '../../../base/text.ts'
import type { McpContent, McpToolResult } from '../../../capabilities/mcp.ts'
import type { AttachmentRef, ToolContent } from '../../log/message.ts'
import { imageLimits } from '../../../protocol/image-limits.ts'

/** Keeps the bytes of an image as an attachment. */
export type KeepImage = (bytes: Uint8Array, mediaType: string) => Promise<AttachmentRef>

/**
 * What a tool that somebody lends returned, as the canonical value `{content, structuredContent?}`.
 *
 * Images become attachments when `keep` is there and all of them can be kept; else each is told in words, as sounds and resources are.
 * Source: runtime specification 21.
 */
export async function canonicalValue({ content, structuredContent }: McpToolResult, keep: KeepImage | null): Promise<JsonObject> {
  const images = content.flatMap((block) => (block.type === 'image' ? [imageOf(block.data)] : []))
  const canKeep = keep !== null && images.length <= imageLimits.maxImages && images.every((image) => image !== null)
  const kept = canKeep ? await Promise.all(images.map((image) => keep(image.bytes, image.mediaType))) : []
  let next = 0
  const blocks = content.map((block): Json => {
    if (block.type !== 'image') return inWords(block)
    const attachment = kept[next++]
    return attachment === undefined ? inWords(block) : { type: 'image', mimeType: attachment.mediaType, attachment: attachment as unknown as JsonObject }
  })
  return { content: blocks, ...(structuredContent !== undefined && { structuredContent }) }
}

/** What the model sees of a canonical value: texts as one, so that the cap on results can act on them. */
export function renderValue(value: Json): readonly ToolContent[] {
  const blocks = isJsonObject(value) && Array.isArray(value['content']) ? (value['content'] as readonly Json[]) : []
  const parts = blocks.flatMap((block): ToolContent[] => {
    if (!isJsonObject(block)) return []
    if (block['type'] === 'image') return [{ type: 'image', attachment: block['attachment'] as unknown as AttachmentRef }]
    return typeof block['text'] === 'string' ? [{ type: 'text', text: block['text'] }] : []
  })
  if (parts.length === 0) {
    const structured = isJsonObject(value) ? value['structuredContent'] : undefined
    return [{ type: 'text', text: structured === undefined ? 'The tool returned nothing.' : stringifyJson(structured) }]
  }
  return parts.every((part) => part.type === 'text') ? [{ type: 'text', text: parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n') }] : parts
}

/** The words of content, for a failure or a prompt. */
export const wordsOf = (content: readonly McpContent[]): string => content.map((block) => inWords(block).text).join('\n')

function inWords(block: McpContent): { readonly type: 'text'; readonly text: string } {
  const text = (words: string) => ({ type: 'text' as const, text: words })
  switch (block.type) {
    case 'text':
      return text(block.text)
    case 'image':
    case 'audio':
      return text(`[${block.type === 'image' ? 'An image' : 'A sound'}, ${block.mediaType}, ${byteCount(block.data)} bytes, which cannot be shown here.]`)
    case 'link':
      return text(`[The resource ${clipped(block.name, 200)} at ${block.uri}]`)
    case 'resource':
      return text(block.text === null ? `[The resource ${block.uri}, ${block.mediaType ?? 'no media type'}, ${block.bytes ?? 0} bytes that are no text]` : `[The resource ${block.uri}]\n${block.text}`)
  }
}

const byteCount = (base64: string): number => Math.floor((base64.length * 3) / 4)

function imageOf(base64: string): { readonly bytes: Uint8Array; readonly mediaType: string } | null {
  const bytes = bytesOf(base64)
  const header = bytes && imageHeader(bytes)
  if (bytes === null || header === null) return null
  const { width, height, mediaType } = header
  const fits = bytes.length <= imageLimits.maxBytes && width * height <= imageLimits.maxPixels && Math.max(width, height) <= imageLimits.maxSide
  return fits ? { bytes, mediaType } : null
}

function bytesOf(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    // Not base64: no image.
    return null
  }
}
