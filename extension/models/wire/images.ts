import { ModelError, type ImageBlock, type Message, type ModelRequest } from '../../core/model/contract.ts'

/** Bytes of images one request may carry; the oldest beyond that are replaced by words. Source: runtime specification 16.2. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024

export const LEFT_OUT = '[An earlier image was left out: the request would be too large.]'

/**
 * The images of a request that it can carry, newest first.
 *
 * Errors: `ModelError` `UNSUPPORTED_CONTENT` for a model that reads text only.
 */
export function imagesThatFit(messages: readonly Message[], canReadImages: boolean, maxBytes = MAX_IMAGE_BYTES): ReadonlySet<ImageBlock> {
  const images: ImageBlock[] = []
  // A plain loop: it goes over the whole talk with each request.
  for (const message of messages) if (message.role !== 'assistant' && hasImages(message)) images.push(...imagesOf(message))
  if (images.length > 0 && !canReadImages) {
    const message = 'The conversation holds an image and this model reads text only. Choose a model that reads images, or start a new session.'
    throw new ModelError({ code: 'UNSUPPORTED_CONTENT', message })
  }
  const kept = new Set<ImageBlock>()
  let bytes = 0
  for (const image of images.toReversed()) {
    bytes += image.attachment.bytes
    if (bytes > maxBytes) break
    kept.add(image)
  }
  return kept
}

export function hasImages(message: Message): boolean {
  if (message.role === 'assistant') return false
  const blocks = message.role === 'tool' ? message.content[0].content : message.content
  return blocks.some(({ type }) => type === 'image')
}

export function imagesOf(message: Message): readonly ImageBlock[] {
  if (message.role === 'assistant') return []
  const blocks = message.role === 'tool' ? message.content[0].content : message.content
  return blocks.filter((block) => block.type === 'image')
}

export async function base64Of({ attachment }: ImageBlock, loadAttachment: ModelRequest['loadAttachment']): Promise<string> {
  const bytes = await loadAttachment(attachment.attachmentId)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
