import * as vscode from 'vscode'
import type { JsonObject } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import { EditorToolError, type EditorToolPart, type EditorTools } from '../../capabilities/editor-tools.ts'
import { linkedToken } from './linked-token.ts'

/** The tools that extensions registered with `vscode.lm`; none in editors without it. */
export function createVscodeTools(): EditorTools {
  return {
    // Extensions write the schema as JSON into their manifest; the editor's types only say `object`.
    list: () => lentTools().map(({ name, description, inputSchema }) => ({ name, description, inputSchema: (inputSchema ?? {}) as JsonObject })),
    async invoke({ name, input, signal }) {
      if (!lentTools().some((tool) => tool.name === name)) throw new EditorToolError('EDITOR_TOOL_GONE', `The editor has no tool ${name} any more. Do without it.`)
      const { token, dispose } = linkedToken(signal)
      try {
        // Outside of a request of the editor's chat: what the tool wants confirmed, the editor asks in a dialog.
        const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token)
        return result.content.map(partFrom)
      } catch (error) {
        if (signal.aborted) throw signal.reason
        throw errorFrom(name, error)
      } finally {
        dispose()
      }
    },
    onDidChange(listener) {
      // The editor tells no more of its tools than that extensions came or went.
      const subscription = vscode.extensions.onDidChange(listener)
      return () => subscription.dispose()
    },
  }
}

/** Editors that were built without the interface have none. */
const lentTools = (): readonly vscode.LanguageModelToolInformation[] => (vscode as Partial<typeof vscode>).lm?.tools ?? []

function partFrom(part: unknown): EditorToolPart {
  if (part instanceof vscode.LanguageModelTextPart) return { type: 'text', text: part.value }
  if (part instanceof vscode.LanguageModelPromptTsxPart) return { type: 'text', text: textOfPrompt(part.value) }
  if (part instanceof vscode.LanguageModelDataPart) {
    if (part.mimeType.startsWith('image/')) return { type: 'image', bytes: part.data, mediaType: part.mimeType }
    if (/^text\/|[/+]json$/.test(part.mimeType)) return { type: 'text', text: new TextDecoder().decode(part.data) }
    return { type: 'other', kind: part.mimeType, bytes: part.data.length }
  }
  return { type: 'other', kind: (part as object | null)?.constructor?.name ?? typeof part, bytes: 0 }
}

/** The words of a rendered prompt, whose pieces stand under `children` and `text`; what is none is told as JSON. */
function textOfPrompt(value: unknown): string {
  const words: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('text' in node && typeof node.text === 'string') words.push(node.text, 'lineBreakBefore' in node && node.lineBreakBefore === true ? '\n' : '')
    if ('children' in node && Array.isArray(node.children)) for (const child of node.children as readonly unknown[]) visit(child)
    if ('node' in node) visit(node.node)
  }
  visit(value)
  const text = words.join('')
  return text === '' ? (JSON.stringify(value) ?? '') : text
}

function errorFrom(name: string, error: unknown): EditorToolError {
  const message = messageOf(error)
  const isRefused = error instanceof vscode.CancellationError || message === 'Canceled'
  if (isRefused) return new EditorToolError('EDITOR_TOOL_REFUSED', `The person, or the editor, did not let ${name} run. Ask the person how to go on.`, { cause: error })
  return new EditorToolError('EDITOR_TOOL_FAILED', message.trim() === '' ? `${name} failed and did not say why.` : message.slice(0, 20_000), { cause: error })
}
