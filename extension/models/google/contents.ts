import type { ImageBlock, Message, ModelRequest } from '../../core/model/contract.ts'
import { listed, writtenJson, type BodyPiece } from '../wire/body.ts'
import { callObjectText } from '../wire/call-object.ts'
import { base64Of, hasImages, imagesOf, imagesThatFit, LEFT_OUT } from '../wire/images.ts'
import type { WriteContext } from '../wire/wire.ts'
import { usesBudget } from './thinking.ts'

/** A request of 20 MB is taken, its images written in letters. */
const MAX_IMAGE_BYTES = 14 * 1024 * 1024

/** What a part of an answer is sent back with, as the server sent it. */
export interface PartState {
  readonly thoughtSignature?: string
  /** Of a call, where the server named it. */
  readonly id?: string
}

/** A model since 3 refuses a call without a signature. The provider names this one for calls that another model made. */
const UNSIGNED = 'skip_thought_signature_validator'

/**
 * The contents of a request as one JSON list. Messages of one side in a row become one.
 *
 * Errors: `ModelError` `UNSUPPORTED_CONTENT` for an image that the model cannot read.
 */
export async function contentList(request: ModelRequest, context: WriteContext): Promise<readonly BodyPiece[]> {
  const options: Options = {
    ...context,
    calls: new Map(),
    kept: imagesThatFit(request.messages, context.info.input.includes('image'), MAX_IMAGE_BYTES),
    loadAttachment: request.loadAttachment,
  }
  const contents: { readonly role: string; readonly parts: BodyPiece[] }[] = []
  for (const message of request.messages) {
    if (message.role === 'assistant') noteCalls(message, options)
    const parts = context.written.get(message) ?? (await partsOf(message, options))
    if (parts.length === 0) continue
    const role = message.role === 'assistant' ? 'model' : 'user'
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts: [...parts] })
  }
  return ['[', ...contents.flatMap(({ role, parts }, index) => [`${index === 0 ? '' : ','}{"role":"${role}","parts":[`, ...listed(parts), ']}']), ']']
}

type AssistantMessage = Extract<Message, { role: 'assistant' }>
type Known = { readonly name: string; readonly id?: string }

interface Options extends WriteContext {
  /** The calls so far: a result is told by the call's name here. */
  readonly calls: Map<string, Known>
  readonly kept: ReadonlySet<ImageBlock>
  readonly loadAttachment: ModelRequest['loadAttachment']
}

async function partsOf(message: Message, options: Options): Promise<readonly BodyPiece[]> {
  const parts = (await contentOf(message, options)).map(writtenJson)
  if (!hasImages(message)) options.written.set(message, parts)
  return parts
}

function noteCalls(message: AssistantMessage, options: Options): void {
  message.content.forEach((block, index) => {
    if (block.type !== 'tool-call') return
    const id = stateOf(message, index, options)?.id
    options.calls.set(block.id, { name: block.name, ...(id !== undefined && { id }) })
  })
}

async function contentOf(message: Message, options: Options): Promise<readonly object[]> {
  switch (message.role) {
    case 'user':
      return (await Promise.all(message.content.map(async (block) => (block.type === 'text' ? textPart(block.text) : await imagePart(block, options))))).flat()
    case 'tool':
      return resultOf(message, options)
    case 'assistant':
      return answerOf(message, options)
  }
}

async function resultOf(message: Extract<Message, { role: 'tool' }>, options: Options): Promise<readonly object[]> {
  const [{ callId, content, isError }] = message.content
  const { name, ...id } = options.calls.get(callId) ?? { name: 'unknown' }
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n')
  const images = (await Promise.all(imagesOf(message).map((image) => imagePart(image, options)))).flat()
  const words = text.trim() !== '' ? text : images.length > 0 ? 'The images follow.' : 'The tool gave no output.'
  const result = { ...id, name, response: isError ? { error: words } : { output: words } }
  if (images.length === 0) return [{ functionResponse: result }]
  // Only models since 3 read images inside of a result.
  return usesBudget(options.info.id) ? [{ functionResponse: result }, ...images] : [{ functionResponse: { ...result, parts: images } }]
}

function answerOf(message: AssistantMessage, options: Options): readonly object[] {
  const isOwn = isOwnAnswer(message, options)
  const needsSignature = !isOwn && !usesBudget(options.info.id)
  const firstCall = message.content.findIndex(({ type }) => type === 'tool-call')
  return message.content.flatMap((block, index): readonly object[] => {
    const { thoughtSignature, id } = stateOf(message, index, options) ?? {}
    const signed = thoughtSignature === undefined ? {} : { thoughtSignature }
    switch (block.type) {
      case 'text':
        return block.text === '' && thoughtSignature === undefined ? [] : [{ text: block.text, ...signed }]
      case 'reasoning':
        return thoughtSignature === undefined ? [] : [{ text: block.text, thought: true, ...signed }]
      case 'tool-call': {
        const functionCall = { ...(id !== undefined && { id }), name: block.name, args: JSON.parse(callObjectText(block.arguments)) as unknown }
        return [{ functionCall, ...signed, ...(needsSignature && index === firstCall && { thoughtSignature: UNSIGNED }) }]
      }
    }
  })
}

const isOwnAnswer = ({ source }: AssistantMessage, { config, info }: Options): boolean => source.provider === config.id && source.model === info.id

function stateOf(message: AssistantMessage, index: number, options: Options): PartState | null | undefined {
  return isOwnAnswer(message, options) ? (message.source.replayState?.blocks?.[index] as PartState | null | undefined) : undefined
}

const textPart = (text: string): readonly object[] => (text === '' ? [] : [{ text }])

async function imagePart(image: ImageBlock, { kept, loadAttachment }: Options): Promise<readonly object[]> {
  if (!kept.has(image)) return [{ text: LEFT_OUT }]
  return [{ inlineData: { mimeType: image.attachment.mediaType, data: await base64Of(image, loadAttachment) } }]
}
