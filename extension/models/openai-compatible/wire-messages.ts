import { type ImageBlock, type Message, type ModelRequest, type TextBlock, type ToolCallBlock } from '../../core/model/contract.ts'
import { writtenJson, type BodyPiece } from '../wire/body.ts'
import { callObjectText } from '../wire/call-object.ts'
import { base64Of, hasImages, imagesOf, imagesThatFit, LEFT_OUT } from '../wire/images.ts'
import type { WriteContext } from '../wire/wire.ts'

/**
 * The messages of a request as JSON. A message without images always gives the same bytes.
 *
 * Errors: `ModelError` `UNSUPPORTED_CONTENT` for an image that the model cannot read.
 */
export async function wireMessages(request: ModelRequest, context: WriteContext): Promise<readonly BodyPiece[]> {
  const options = { ...context, kept: imagesThatFit(request.messages, context.info.input.includes('image')), loadAttachment: request.loadAttachment }
  const pieces: BodyPiece[] = request.system === undefined ? [] : [JSON.stringify({ role: 'system', content: request.system })]
  let toolImages: ImageBlock[] = []
  for (const message of request.messages) {
    if (message.role !== 'tool' && toolImages.length > 0) {
      pieces.push(await imageMessage(toolImages, options))
      toolImages = []
    }
    if (message.role === 'tool' && hasImages(message)) toolImages.push(...imagesOf(message))
    pieces.push(...(context.written.get(message) ?? (await wireMessage(message, options))))
  }
  if (toolImages.length > 0) pieces.push(await imageMessage(toolImages, options))
  return pieces
}

interface Options extends WriteContext {
  readonly kept: ReadonlySet<ImageBlock>
  readonly loadAttachment: ModelRequest['loadAttachment']
}

async function wireMessage(message: Message, options: Options): Promise<readonly BodyPiece[]> {
  if (message.role === 'user' && hasImages(message)) {
    const parts = await Promise.all(message.content.map((block) => contentPart(block, options)))
    return [JSON.stringify({ role: 'user', content: parts })]
  }
  const plain = plainMessage(message, options)
  const written = plain === null ? [] : [writtenJson(plain)]
  options.written.set(message, written)
  return written
}

/** Without images; null for a message that has nothing to say to this provider. */
function plainMessage(message: Message, { config }: WriteContext): object | null {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: joined(message.content) }
    case 'tool': {
      const [{ callId, content }] = message.content
      const text = joined(content)
      const words = content.some(({ type }) => type === 'image') ? 'The images follow.' : 'The tool gave no output.'
      return { role: 'tool', tool_call_id: callId, content: text.trim() === '' ? words : text }
    }
    case 'assistant': {
      const content = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
      const calls = message.content.filter((block) => block.type === 'tool-call')
      const reasoning = message.content.flatMap((block) => (block.type === 'reasoning' ? [block.text] : [])).join('')
      const isOwn = message.source.provider === config.id
      if (content === '' && calls.length === 0) return null
      return {
        role: 'assistant',
        // Some servers refuse null here.
        content,
        // Servers that want reasoning back refuse a call without the field, so one by another model has an empty one.
        ...(config.reasoningPassback === 'always' && { reasoning_content: isOwn ? reasoning : '' }),
        ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
      }
    }
  }
}

function wireCall({ id, name, arguments: text }: ToolCallBlock): unknown {
  return { id, type: 'function', function: { name, arguments: callObjectText(text) } }
}

async function imageMessage(images: readonly ImageBlock[], options: Options): Promise<string> {
  const intro = { type: 'text', text: 'Images from the tool results above:' }
  const parts = await Promise.all(images.map((image) => contentPart(image, options)))
  return JSON.stringify({ role: 'user', content: [intro, ...parts] })
}

async function contentPart(block: TextBlock | ImageBlock, { kept, loadAttachment }: Options): Promise<unknown> {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (!kept.has(block)) return { type: 'text', text: LEFT_OUT }
  return { type: 'image_url', image_url: { url: `data:${block.attachment.mediaType};base64,${await base64Of(block, loadAttachment)}` } }
}

const joined = (content: readonly (TextBlock | ImageBlock)[]) =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n')
