import type { Json } from '../../base/json.ts'
import type { ImageBlock, Message, ModelRequest, TextBlock } from '../../core/model/contract.ts'
import { writtenJson } from '../wire/body.ts'
import { callObjectText } from '../wire/call-object.ts'
import { base64Of, hasImages, imagesThatFit, LEFT_OUT } from '../wire/images.ts'
import type { WriteContext } from '../wire/wire.ts'

/** What a block of an answer is sent back with: the item's own fields, as the server sent them. */
export type ItemState =
  | { readonly type: 'reasoning'; readonly id: string; readonly summary: readonly Json[]; readonly encrypted_content: string }
  | { readonly type: 'message'; readonly id: string; readonly phase?: string }
  | { readonly type: 'function_call'; readonly id: string }

/**
 * The items of a request as JSON. An item without images always gives the same bytes.
 *
 * The server keeps nothing of the talk, so its own items go back as they came: thought under its cipher, and only to the model
 * that thought it.
 * Errors: `ModelError` `UNSUPPORTED_CONTENT` for an image that the model cannot read.
 */
export async function inputItems(request: ModelRequest, context: WriteContext): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const options = { ...context, kept: imagesThatFit(request.messages, context.info.input.includes('image')), loadAttachment: request.loadAttachment }
  const items: Uint8Array<ArrayBuffer>[] = []
  for (const message of request.messages) items.push(...(context.written.get(message) ?? (await itemsOf(message, options))))
  return items
}

interface Options extends WriteContext {
  readonly kept: ReadonlySet<ImageBlock>
  readonly loadAttachment: ModelRequest['loadAttachment']
}

async function itemsOf(message: Message, options: Options): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const items = (await contentOf(message, options)).map(writtenJson)
  if (!hasImages(message)) options.written.set(message, items)
  return items
}

async function contentOf(message: Message, options: Options): Promise<readonly object[]> {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: await parts(message.content, options) }]
    case 'tool': {
      const [{ callId, content }] = message.content
      const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n')
      const words = text.trim() === '' ? 'The tool gave no output.' : text
      return [{ type: 'function_call_output', call_id: callIdOf(callId), output: !hasImages(message) ? words : await parts(content, options) }]
    }
    case 'assistant':
      return answerItems(message, options)
  }
}

function answerItems({ content, source }: Extract<Message, { role: 'assistant' }>, { config, info }: Options): readonly object[] {
  const isOwn = source.provider === config.id && source.model === info.id
  const items = content.flatMap((block, index): readonly { readonly type: string; readonly [field: string]: unknown }[] => {
    const state = isOwn ? (source.replayState?.blocks?.[index] as ItemState | null | undefined) : undefined
    switch (block.type) {
      case 'reasoning':
        return state?.type === 'reasoning' ? [{ type: 'reasoning', id: state.id, summary: state.summary, encrypted_content: state.encrypted_content }] : []
      case 'text': {
        if (block.text === '') return []
        const own = state?.type === 'message' ? { id: state.id, status: 'completed', ...(state.phase !== undefined && { phase: state.phase }) } : {}
        return [{ type: 'message', ...own, role: 'assistant', content: [{ type: 'output_text', text: block.text, annotations: [] }] }]
      }
      case 'tool-call': {
        const own = state?.type === 'function_call' ? { id: state.id } : {}
        return [{ type: 'function_call', ...own, call_id: callIdOf(block.id), name: block.name, arguments: callObjectText(block.arguments) }]
      }
    }
  })
  // Thought that led to nothing is refused: what it led to was cut off with the cap of the answer.
  return items.filter((item, index) => item.type !== 'reasoning' || items.slice(index + 1).some(({ type }) => type !== 'reasoning'))
}

function parts(content: readonly (TextBlock | ImageBlock)[], { kept, loadAttachment }: Options): Promise<readonly object[]> {
  return Promise.all(
    content.map(async (block) => {
      if (block.type === 'text') return { type: 'input_text', text: block.text }
      if (!kept.has(block)) return { type: 'input_text', text: LEFT_OUT }
      return { type: 'input_image', detail: 'auto', image_url: `data:${block.attachment.mediaType};base64,${await base64Of(block, loadAttachment)}` }
    }),
  )
}

/** At most 64 characters; the end of an id is what tells it from others. */
const callIdOf = (id: string): string => id.slice(-64)
