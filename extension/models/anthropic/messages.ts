import type { ImageBlock, Message, ModelRequest, TextBlock } from '../../core/model/contract.ts'
import { bodyOf, listed, writtenJson, type BodyPiece } from '../wire/body.ts'
import { callObjectText } from '../wire/call-object.ts'
import { base64Of, hasImages, imagesThatFit, LEFT_OUT } from '../wire/images.ts'
import type { WriteContext } from '../wire/wire.ts'

const MARKER = '"cache_control":{"type":"ephemeral"}'

const markedEnd = `,${MARKER}}`

/** A block with the mark that what stands up to its end is to be kept. The mark is the block's last field, so no byte before it moves. */
export const marked = (block: string): string => `${block.slice(0, -1)}${markedEnd}`

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly blocks: Uint8Array<ArrayBuffer>[]
}

/**
 * The messages as one JSON list. Messages of one side in a row become one, as the protocol wants the results of parallel calls.
 *
 * Two blocks carry a cache mark: the last one, and the one that was last in the request before. The server finds what it kept only
 * within some twenty blocks before a mark, which one step with many calls passes; the second mark stands where it kept last.
 * Without the marks, the list of a talk begins byte for byte like the list one step earlier.
 * Errors: `ModelError` `UNSUPPORTED_CONTENT` for an image that the model cannot read.
 */
export async function messageList(request: ModelRequest, context: WriteContext): Promise<readonly BodyPiece[]> {
  const options = { ...context, kept: imagesThatFit(request.messages, context.info.input.includes('image')), loadAttachment: request.loadAttachment }
  const turns: Turn[] = []
  for (const message of request.messages) {
    const blocks = context.written.get(message) ?? (await blocksOf(message, options))
    if (blocks.length === 0) continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, blocks: [...blocks] })
  }
  const lastAnswer = turns.findLastIndex(({ role }) => role === 'assistant')
  mark(turns[lastAnswer - 1])
  if (lastAnswer !== turns.length - 1) mark(turns.at(-1))
  return ['[', ...turns.flatMap(({ role, blocks }, index) => [`${index === 0 ? '' : ','}{"role":"${role}","content":[`, ...listed(blocks), ']}']), ']']
}

function mark(turn: Turn | undefined): void {
  const last = turn?.blocks.pop()
  if (last !== undefined) turn?.blocks.push(bodyOf([last.subarray(0, -1), markedEnd]))
}

interface Options extends WriteContext {
  readonly kept: ReadonlySet<ImageBlock>
  readonly loadAttachment: ModelRequest['loadAttachment']
}

async function blocksOf(message: Message, options: Options): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const blocks = (await contentOf(message, options)).map(writtenJson)
  if (!hasImages(message)) options.written.set(message, blocks)
  return blocks
}

async function contentOf(message: Message, options: Options): Promise<readonly object[]> {
  switch (message.role) {
    case 'user':
      return parts(message.content, options)
    case 'tool': {
      const [{ callId, content, isError }] = message.content
      const result = await parts(content, options)
      const words = [{ type: 'text', text: 'The tool gave no output.' }]
      return [{ type: 'tool_result', tool_use_id: callIdOf(callId), content: result.length > 0 ? result : words, ...(isError && { is_error: true }) }]
    }
    case 'assistant':
      return answerOf(message, options)
  }
}

/** Thinking goes back exactly as it came, and only to the model that signed it. */
function answerOf({ content, source }: Extract<Message, { role: 'assistant' }>, { config, info }: Options): readonly object[] {
  const isOwn = source.provider === config.id && source.model === info.id
  return content.flatMap((block, index): readonly object[] => {
    switch (block.type) {
      case 'text':
        return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }]
      case 'tool-call':
        return [{ type: 'tool_use', id: callIdOf(block.id), name: block.name, input: JSON.parse(callObjectText(block.arguments)) as unknown }]
      case 'reasoning': {
        const state = isOwn ? (source.replayState?.blocks?.[index] as ThinkingState | null | undefined) : undefined
        if (state?.type === 'redacted_thinking') return [{ type: 'redacted_thinking', data: state.data }]
        return state?.type === 'thinking' ? [{ type: 'thinking', thinking: block.text, signature: state.signature }] : []
      }
    }
  })
}

/** What a block of thinking is sent back with. */
export type ThinkingState = { readonly type: 'thinking'; readonly signature: string } | { readonly type: 'redacted_thinking'; readonly data: string }

/** Empty text is refused. */
async function parts(content: readonly (TextBlock | ImageBlock)[], { kept, loadAttachment }: Options): Promise<readonly object[]> {
  const blocks = await Promise.all(
    content.map(async (block): Promise<readonly object[]> => {
      if (block.type === 'text') return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }]
      if (!kept.has(block)) return [{ type: 'text', text: LEFT_OUT }]
      return [{ type: 'image', source: { type: 'base64', media_type: block.attachment.mediaType, data: await base64Of(block, loadAttachment) } }]
    }),
  )
  return blocks.flat()
}

/** Other providers' ids may hold characters that are refused here. */
const callIdOf = (id: string): string => id.replaceAll(/[^\w-]/g, '_')
