import { readCallArguments } from '../../base/call-arguments.ts'
import type { JsonObject } from '../../base/json.ts'
import type { EditorContent, EditorMessagePart, EditorModel, EditorModelMessage } from '../../capabilities/editor-models.ts'
import { ModelError, type ImageBlock, type Message, type ModelRequest, type TextBlock } from '../../core/model/contract.ts'

type MessagesFor = (
  request: Pick<ModelRequest, 'system' | 'messages' | 'loadAttachment'>,
  model: Pick<EditorModel, 'name' | 'canReadImages'>,
) => Promise<readonly EditorModelMessage[]>

/**
 * The talk as the editor wants it: the system prompt as the person's first message, the results of one answer's calls
 * together, reasoning left out. The same messages always give the same parts, and an answer is taken apart once.
 *
 * Errors: `ModelError` `UNSUPPORTED_CONTENT` for an image that the model cannot read.
 */
export function createEditorMessages(): MessagesFor {
  const known = new WeakMap<AssistantMessage, readonly EditorMessagePart[]>()
  const answerParts = (answer: AssistantMessage) => {
    const parts = known.get(answer) ?? partsOfAnswer(answer)
    known.set(answer, parts)
    return parts
  }
  return ({ system, messages, loadAttachment }, model) => editorMessages({ system, messages, sources: { loadAttachment, model, answerParts } })
}

async function editorMessages({ system, messages, sources }: { readonly system: string | undefined; readonly messages: readonly Message[]; readonly sources: Sources }): Promise<readonly EditorModelMessage[]> {
  const result: EditorModelMessage[] = system === undefined ? [] : [{ role: 'user', parts: [{ type: 'text', text: system }] }]
  let previous: Message | undefined
  for (const message of messages) {
    const parts = await partsOf(message, sources)
    const last = result.at(-1)
    if (message.role === 'tool' && previous?.role === 'tool' && last !== undefined) result[result.length - 1] = { ...last, parts: [...last.parts, ...parts] }
    else if (parts.length > 0) result.push({ role: message.role === 'assistant' ? 'assistant' : 'user', parts })
    previous = message
  }
  return result
}

interface Sources {
  readonly loadAttachment: ModelRequest['loadAttachment']
  readonly model: Pick<EditorModel, 'name' | 'canReadImages'>
  readonly answerParts: (answer: AssistantMessage) => readonly EditorMessagePart[]
}

type AssistantMessage = Extract<Message, { role: 'assistant' }>

async function partsOf(message: Message, sources: Sources): Promise<readonly EditorMessagePart[]> {
  switch (message.role) {
    case 'user':
      return await contentOf(message.content, sources)
    case 'assistant':
      return sources.answerParts(message)
    case 'tool': {
      const [{ callId, content }] = message.content
      const parts = await contentOf(content, sources)
      return [{ type: 'result', callId, content: parts.length > 0 ? parts : [{ type: 'text', text: 'The tool gave no output.' }] }]
    }
  }
}

const partsOfAnswer = ({ content }: AssistantMessage): readonly EditorMessagePart[] =>
  content.flatMap((block): readonly EditorMessagePart[] => {
    if (block.type === 'tool-call') return [{ type: 'call', callId: block.id, name: block.name, input: inputFrom(block.arguments) }]
    return block.type === 'text' && block.text !== '' ? [{ type: 'text', text: block.text }] : []
  })

async function contentOf(blocks: readonly (TextBlock | ImageBlock)[], { loadAttachment, model }: Sources): Promise<readonly EditorContent[]> {
  const parts: EditorContent[] = []
  for (const block of blocks) {
    if (block.type === 'text') {
      if (block.text !== '') parts.push(block)
      continue
    }
    if (!model.canReadImages) {
      const message = `The conversation holds an image and ${model.name} reads text only. Choose a model that reads images, or start a new session.`
      throw new ModelError({ code: 'UNSUPPORTED_CONTENT', message })
    }
    parts.push({ type: 'image', bytes: await loadAttachment(block.attachment.attachmentId), mediaType: block.attachment.mediaType })
  }
  return parts
}

/** The editor takes objects alone; what is none is shown inside of one. */
function inputFrom(text: string): JsonObject {
  const read = readCallArguments(text)
  if (read.ok && typeof read.value === 'object' && read.value !== null && !Array.isArray(read.value)) return read.value as JsonObject
  return { not_an_object: text }
}
