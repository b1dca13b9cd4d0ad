import { readCallArguments } from '../../base/call-arguments.ts'
import type { JsonObject } from '../../base/json.ts'
import type { EditorContent, EditorMessagePart, EditorModel, EditorModelMessage } from '../../capabilities/editor-models.ts'
import { ModelError, type ImageBlock, type Message, type ModelRequest, type TextBlock } from '../../core/model/contract.ts'

/**
 * The talk as the editor wants it: the system prompt as the person's first message, the results of one answer's calls
 * together, reasoning left out. The same messages always give the same parts.
 *
 * Errors: `ModelError` `UNSUPPORTED_CONTENT` for an image that the model cannot read.
 */
export async function editorMessages(
  { system, messages, loadAttachment }: Pick<ModelRequest, 'system' | 'messages' | 'loadAttachment'>,
  model: Pick<EditorModel, 'name' | 'canReadImages'>,
): Promise<readonly EditorModelMessage[]> {
  const result: EditorModelMessage[] = system === undefined ? [] : [{ role: 'user', parts: [{ type: 'text', text: system }] }]
  let previous: Message | undefined
  for (const message of messages) {
    const parts = await partsOf(message, { loadAttachment, model })
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
}

async function partsOf(message: Message, sources: Sources): Promise<readonly EditorMessagePart[]> {
  switch (message.role) {
    case 'user':
      return await contentOf(message.content, sources)
    case 'assistant':
      return message.content.flatMap((block): readonly EditorMessagePart[] => {
        if (block.type === 'tool-call') return [{ type: 'call', callId: block.id, name: block.name, input: inputFrom(block.arguments) }]
        return block.type === 'text' && block.text !== '' ? [{ type: 'text', text: block.text }] : []
      })
    case 'tool': {
      const [{ callId, content }] = message.content
      const parts = await contentOf(content, sources)
      return [{ type: 'result', callId, content: parts.length > 0 ? parts : [{ type: 'text', text: 'The tool gave no output.' }] }]
    }
  }
}

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
