import * as vscode from 'vscode'
import type { JsonObject } from '../../base/json.ts'
import type { OfferedCall, OfferedTools } from '../../capabilities/editor-chat.ts'
import type { EditorToolPart } from '../../capabilities/editor-tools.ts'
import { linkedSignal } from './linked-signal.ts'

interface Parts {
  /** What may be offered, from which value of the setting on. */
  readonly tools: readonly { readonly name: string; readonly tool: string; readonly from: 'read' | 'all' }[]
  readonly start: () => Promise<OfferedTools>
  readonly onError: (error: unknown) => void
}

const SETTING = 'bosun.editorChat.offerTools'

/**
 * Bosun's tools in the editor's list of tools, as far as the setting offers them. Each composes Bosun only when it is called.
 * Nothing in editors without such a list.
 */
export function offerTools({ tools, start, onError }: Parts): vscode.Disposable {
  const { lm } = vscode as Partial<typeof vscode>
  if (typeof lm?.registerTool !== 'function') return { dispose() {} }
  const offered = new Map<string, vscode.Disposable>()
  const update = () => {
    const value = vscode.workspace.getConfiguration().get(SETTING)
    for (const { name, tool, from } of tools) {
      const isWanted = value === 'all' || value === from
      if (isWanted === offered.has(name)) continue
      if (isWanted) offered.set(name, lm.registerTool(name, offeredTool(tool, start, onError)))
      else {
        offered.get(name)?.dispose()
        offered.delete(name)
      }
    }
  }
  update()
  const following = vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration(SETTING)) update()
  })
  return {
    dispose() {
      following.dispose()
      for (const registration of offered.values()) registration.dispose()
      offered.clear()
    },
  }
}

function offeredTool(tool: string, start: Parts['start'], onError: Parts['onError']): vscode.LanguageModelTool<object> {
  return {
    async prepareInvocation({ input, ...options }, token) {
      try {
        const { message, question } = await called({ tool, input, chat: chatIn(options) }, token, async (call) => await (await start()).prepare(call))
        return { invocationMessage: message, ...(question && { confirmationMessages: { title: question.title, message: new vscode.MarkdownString(question.text) } }) }
      } catch (error) {
        // Nothing is asked here then, so Bosun asks itself where policy wants a question.
        if (!token.isCancellationRequested) onError(error)
        return undefined
      }
    },
    async invoke({ input, toolInvocationToken }, token) {
      const parts = await called({ tool, input, chat: chatIn(toolInvocationToken) }, token, async (call) => await (await start()).invoke(call))
      return new vscode.LanguageModelToolResult(parts.map(resultPart))
    },
  }
}

async function called<T>({ tool, input, chat }: { readonly tool: string; readonly input: object; readonly chat: string | null }, token: vscode.CancellationToken, work: (call: OfferedCall) => Promise<T>): Promise<T> {
  const { signal, dispose } = linkedSignal(token)
  try {
    // The editor has read it as JSON.
    return await work({ tool, input: input as JsonObject, chat, signal })
  } catch (error) {
    throw signal.aborted ? new vscode.CancellationError() : error
  } finally {
    dispose()
  }
}

/** What names the chat is in no published type, so it is looked for; without it all calls share one session. */
function chatIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  const { sessionResource, chatSessionResource, sessionId } = value as Readonly<Record<string, unknown>>
  const resource = sessionResource ?? chatSessionResource
  if (resource instanceof vscode.Uri) return resource.toString()
  return typeof sessionId === 'string' && sessionId !== '' ? sessionId : null
}

function resultPart(part: EditorToolPart): vscode.LanguageModelTextPart | vscode.LanguageModelDataPart {
  if (part.type === 'text') return new vscode.LanguageModelTextPart(part.text)
  const bytes = part.type === 'image' ? part.bytes.length : part.bytes
  if (part.type === 'image' && typeof (vscode as Partial<typeof vscode>).LanguageModelDataPart?.image === 'function') return vscode.LanguageModelDataPart.image(part.bytes, part.mediaType)
  return new vscode.LanguageModelTextPart(`[${bytes} bytes of ${part.type === 'image' ? part.mediaType : part.kind}, which cannot be shown here.]`)
}
