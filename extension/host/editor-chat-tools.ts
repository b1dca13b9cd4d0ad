import { withoutMarks } from '../base/marked-code.ts'
import { visibleText } from '../base/visible-text.ts'
import type { BlobStore } from '../capabilities/blob-store.ts'
import type { OfferedCall, OfferedTools, PreparedOffer } from '../capabilities/editor-chat.ts'
import type { EditorToolPart } from '../capabilities/editor-tools.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Services } from '../core/kernel/plugin.ts'
import type { ToolContent } from '../core/log/message.ts'
import type { ToolResult } from '../core/tools/definition.ts'
import type {} from '../core/tools/service.ts'
import type {} from '../features/editor-calls/service.ts'
import { presentCall } from './present-tool.ts'

interface Parts {
  readonly services: Pick<Services, 'editorCalls' | 'tools'>
  readonly blobs: Pick<BlobStore, 'getAttachment'>
  readonly l10n: Localization
}

/** Bosun's tools for the editor's own chat: the words around the calls, which the pipeline makes. */
export class EditorChatTools implements OfferedTools {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async prepare(call: OfferedCall): Promise<PreparedOffer> {
    const { services, l10n } = this.#parts
    const card = presentCall((name) => services.tools.get(name, null), call.tool, call.input)
    const question = await services.editorCalls.prepare(call)
    return {
      message: card === null ? l10n.t('Use {tool}', { tool: call.tool }) : visibleText(card.title),
      question: question && { title: l10n.t('Bosun: {effect}', { effect: visibleText(withoutMarks(question.effect)) }), text: visibleText(question.why) },
    }
  }

  async invoke(call: OfferedCall): Promise<readonly EditorToolPart[]> {
    const result = await this.#parts.services.editorCalls.run(call)
    if (result.isError) throw new Error(wordsOf(result))
    const sessionId = this.#parts.services.editorCalls.sessionOf(call.chat)
    return await Promise.all(result.content.map((block) => this.#partOf(block, sessionId)))
  }

  async #partOf(block: ToolContent, sessionId: string | undefined): Promise<EditorToolPart> {
    if (block.type === 'text') return { type: 'text', text: block.text }
    const { attachmentId, mediaType } = block.attachment
    return { type: 'image', bytes: await this.#parts.blobs.getAttachment(sessionId ?? '', attachmentId), mediaType }
  }
}

/** As the model of a session of Bosun's is told it. */
function wordsOf({ content }: ToolResult): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n').trim()
  return text === '' ? 'The call failed and did not say why.' : text.replace(/^Error: /, '')
}
