import { readCallArguments } from '../../base/call-arguments.ts'
import { ModelError, type ImageBlock, type Message, type TextBlock, type ToolCallBlock } from '../../core/model/contract.ts'

/** Bytes of images one request may carry; the oldest beyond that are replaced by words. Source: runtime specification 16.2. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024

export interface WireOptions {
  readonly provider: string
  readonly reasoningPassback: 'always' | 'never'
  readonly canReadImages: boolean
  readonly loadAttachment: (attachmentId: string) => Promise<Uint8Array>
}

/**
 * The messages of a request as JSON texts, ready to be joined.
 *
 * A message without images always gives the same text, so it is written once and the texts of a growing talk share
 * their beginning byte for byte. `cache` is owned by the adapter.
 * Errors: `ModelError` `UNSUPPORTED_CONTENT` for an image that the model cannot read.
 */
export async function wireMessages(
  request: { readonly system?: string | undefined; readonly messages: readonly Message[] },
  options: WireOptions,
  cache: WeakMap<Message, string>,
): Promise<readonly string[]> {
  const kept = imagesThatFit(request.messages, options.canReadImages)
  const texts: string[] = request.system === undefined ? [] : [JSON.stringify({ role: 'system', content: request.system })]
  let toolImages: ImageBlock[] = []
  for (const message of request.messages) {
    if (message.role !== 'tool' && toolImages.length > 0) {
      texts.push(await imageMessage(toolImages, kept, options))
      toolImages = []
    }
    if (message.role === 'tool') toolImages.push(...imagesOf(message))
    texts.push(...(await wireMessage(message, kept, options, cache)))
  }
  if (toolImages.length > 0) texts.push(await imageMessage(toolImages, kept, options))
  return texts
}

async function wireMessage(
  message: Message,
  kept: ReadonlySet<ImageBlock>,
  options: WireOptions,
  cache: WeakMap<Message, string>,
): Promise<readonly string[]> {
  if (message.role === 'user' && imagesOf(message).length > 0) {
    const parts = await Promise.all(message.content.map((block) => contentPart(block, kept, options)))
    return [JSON.stringify({ role: 'user', content: parts })]
  }
  const known = cache.get(message)
  if (known !== undefined) return known === '' ? [] : [known]
  const text = plainMessage(message, options)
  cache.set(message, text)
  return text === '' ? [] : [text]
}

/** Without images; an empty text for a message that has nothing to say to this provider. */
function plainMessage(message: Message, { provider, reasoningPassback }: WireOptions): string {
  switch (message.role) {
    case 'user':
      return JSON.stringify({ role: 'user', content: joined(message.content) })
    case 'tool': {
      const [{ callId, content }] = message.content
      const text = joined(content)
      const words = content.some(({ type }) => type === 'image') ? 'The images follow.' : 'The tool gave no output.'
      return JSON.stringify({ role: 'tool', tool_call_id: callId, content: text.trim() === '' ? words : text })
    }
    case 'assistant': {
      const content = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
      const calls = message.content.filter((block) => block.type === 'tool-call')
      const reasoning = message.content.flatMap((block) => (block.type === 'reasoning' ? [block.text] : [])).join('')
      const isOwn = message.source.provider === provider
      if (content === '' && calls.length === 0) return ''
      return JSON.stringify({
        role: 'assistant',
        // Some servers refuse null here.
        content,
        // Servers that want reasoning back refuse a call without the field, so one by another model has an empty one.
        ...(reasoningPassback === 'always' && { reasoning_content: isOwn ? reasoning : '' }),
        ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
      })
    }
  }
}

function wireCall({ id, name, arguments: text }: ToolCallBlock): unknown {
  return { id, type: 'function', function: { name, arguments: objectText(text) } }
}

/**
 * Servers parse the arguments of earlier calls and expect an object: what is one stays byte for byte, what was read with
 * patience is shown as it was read, and what nobody could read is shown inside of an object.
 */
function objectText(text: string): string {
  const read = readCallArguments(text)
  if (!read.ok || typeof read.value !== 'object' || read.value === null || Array.isArray(read.value)) return JSON.stringify({ not_an_object: text })
  return read.isRepaired || text.trim() === '' ? JSON.stringify(read.value) : text
}

async function imageMessage(images: readonly ImageBlock[], kept: ReadonlySet<ImageBlock>, options: WireOptions): Promise<string> {
  const intro = { type: 'text', text: 'Images from the tool results above:' }
  const parts = await Promise.all(images.map((image) => contentPart(image, kept, options)))
  return JSON.stringify({ role: 'user', content: [intro, ...parts] })
}

async function contentPart(block: TextBlock | ImageBlock, kept: ReadonlySet<ImageBlock>, { loadAttachment }: WireOptions): Promise<unknown> {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (!kept.has(block)) return { type: 'text', text: '[An earlier image was left out: the request would be too large.]' }
  const bytes = await loadAttachment(block.attachment.attachmentId)
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { type: 'image_url', image_url: { url: `data:${block.attachment.mediaType};base64,${base64}` } }
}

function imagesThatFit(messages: readonly Message[], canReadImages: boolean): ReadonlySet<ImageBlock> {
  const images = messages.flatMap(imagesOf)
  if (images.length > 0 && !canReadImages) {
    const message = 'The conversation holds an image and this model reads text only. Choose a model that reads images, or start a new session.'
    throw new ModelError({ code: 'UNSUPPORTED_CONTENT', message })
  }
  const kept = new Set<ImageBlock>()
  let bytes = 0
  for (const image of images.toReversed()) {
    bytes += image.attachment.bytes
    if (bytes > MAX_IMAGE_BYTES) break
    kept.add(image)
  }
  return kept
}

function imagesOf(message: Message): readonly ImageBlock[] {
  if (message.role === 'assistant') return []
  const blocks = message.role === 'tool' ? message.content[0].content : message.content
  return blocks.filter((block) => block.type === 'image')
}

const joined = (content: readonly (TextBlock | ImageBlock)[]) =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n')
