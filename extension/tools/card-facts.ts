import { isJsonArray, type Json, type JsonArray } from '../base/json.ts'
import type { ToolContent } from '../core/log/message.ts'
import type { CardContent } from '../protocol/cards.ts'

/*
 * Reading the durable facts of a card: they may come from an older version or a foreign log,
 * so each reader gives undefined for what is not there. None throws.
 */

export const asArray = (value: Json | undefined): JsonArray | undefined => (value !== undefined && isJsonArray(value) ? value : undefined)
export const asString = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined)
export const asBoolean = (value: Json | undefined): boolean | undefined => (typeof value === 'boolean' ? value : undefined)
export const asNumber = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined)
export const asStrings = (value: Json | undefined): readonly string[] | undefined => {
  const array = asArray(value)
  return array?.every((item) => typeof item === 'string') === true ? array : undefined
}

/** Every item by `read`, or undefined when one of them cannot be read. */
export function asList<T>(value: Json | undefined, read: (item: Json) => T | undefined): readonly T[] | undefined {
  const items = asArray(value)?.map(read)
  return items?.every((item) => item !== undefined) === true ? items : undefined
}

/** What the model got, for a card body. */
export const textContent = (content: readonly ToolContent[]): readonly CardContent[] =>
  content.map((block) =>
    block.type === 'text'
      ? block
      : { type: 'image', attachmentId: block.attachment.attachmentId, mediaType: block.attachment.mediaType, ...(block.attachment.name !== undefined && { name: block.attachment.name }) },
  )

/** The text the model got, when it is nothing but text. */
export const soleText = (content: readonly ToolContent[]): string | undefined => {
  const [block] = content
  return content.length === 1 && block?.type === 'text' ? block.text : undefined
}
