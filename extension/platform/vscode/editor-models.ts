import * as vscode from 'vscode'
import { messageOf } from '../../base/message-of.ts'
import {
  EditorModelError,
  type EditorContent,
  type EditorMessagePart,
  type EditorModel,
  type EditorModelErrorCode,
  type EditorModelMessage,
  type EditorModelPart,
  type EditorModels,
} from '../../capabilities/editor-models.ts'
import { linkedToken } from './linked-token.ts'

/** `vscode.lm`: the models that the person's extensions bring. */
export function createVscodeModels(): EditorModels {
  return {
    list: async () => (await vscode.lm.selectChatModels()).map(modelFrom),
    async *ask({ modelId, messages, tools, options, signal }) {
      const model = await find(modelId)
      const { token, cancel, dispose } = linkedToken(signal)
      try {
        const response = await model.sendRequest(
          messages.map(messageFrom),
          {
            justification: vscode.l10n.t('Bosun answers your messages with this model.'),
            // The editor's types want mutable lists and schemas; it only sends them on.
            ...(tools.length > 0 && { tools: tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters as object })) }),
            ...(Object.keys(options).length > 0 && { modelOptions: { ...options } }),
          },
          token,
        )
        for await (const part of response.stream) yield partFrom(part)
      } catch (error) {
        throw errorFrom(error)
      } finally {
        // Also when nobody reads on: the vendor is told to stop.
        cancel()
        dispose()
      }
    },
    onDidChange(listener) {
      const subscription = vscode.lm.onDidChangeChatModels(listener)
      return () => subscription.dispose()
    },
  }
}

/** What newer editors say beside the stable interface. */
interface SaidCapabilities {
  readonly capabilities?: { readonly supportsImageToText?: boolean; readonly supportsToolCalling?: boolean | number }
}

function modelFrom(model: vscode.LanguageModelChat): EditorModel {
  const { capabilities } = model as SaidCapabilities
  return {
    id: idOf(model),
    name: model.name,
    vendor: model.vendor,
    maxInputTokens: model.maxInputTokens,
    canReadImages: capabilities?.supportsImageToText === true,
    canCallTools: capabilities?.supportsToolCalling === undefined ? null : Boolean(capabilities.supportsToolCalling),
  }
}

const idOf = ({ vendor, id }: vscode.LanguageModelChat) => `${vendor}/${id}`

async function find(modelId: string): Promise<vscode.LanguageModelChat> {
  const slash = modelId.indexOf('/')
  const [found] = await vscode.lm.selectChatModels({ vendor: modelId.slice(0, slash), id: modelId.slice(slash + 1) })
  if (found === undefined) throw new EditorModelError('NOT_FOUND', `There is no model ${modelId}.`)
  return found
}

function messageFrom({ role, parts }: EditorModelMessage): vscode.LanguageModelChatMessage {
  const kind = role === 'user' ? vscode.LanguageModelChatMessageRole.User : vscode.LanguageModelChatMessageRole.Assistant
  return new vscode.LanguageModelChatMessage(kind, parts.map(inputFrom))
}

function inputFrom(part: EditorMessagePart): vscode.LanguageModelInputPart {
  switch (part.type) {
    case 'call':
      return new vscode.LanguageModelToolCallPart(part.callId, part.name, part.input)
    case 'result':
      return new vscode.LanguageModelToolResultPart(part.callId, part.content.map(contentFrom))
    default:
      return contentFrom(part)
  }
}

function contentFrom(part: EditorContent): vscode.LanguageModelTextPart | vscode.LanguageModelDataPart {
  return part.type === 'text' ? new vscode.LanguageModelTextPart(part.text) : vscode.LanguageModelDataPart.image(part.bytes, part.mediaType)
}

function partFrom(part: unknown): EditorModelPart {
  if (part instanceof vscode.LanguageModelTextPart) return { type: 'text', text: part.value }
  if (part instanceof vscode.LanguageModelToolCallPart) return { type: 'call', callId: part.callId, name: part.name, input: part.input }
  if (part instanceof vscode.LanguageModelDataPart) return { type: 'other', kind: part.mimeType }
  return { type: 'other', kind: (part as object | null)?.constructor?.name ?? typeof part }
}

const codes: Readonly<Record<string, EditorModelErrorCode>> = {
  [vscode.LanguageModelError.NoPermissions.name]: 'NO_PERMISSION',
  [vscode.LanguageModelError.Blocked.name]: 'BLOCKED',
  [vscode.LanguageModelError.NotFound.name]: 'NOT_FOUND',
}

/** The editor wraps what a vendor threw; the words are in the cause. */
function errorFrom(error: unknown): EditorModelError {
  if (error instanceof EditorModelError) return error
  const code = error instanceof vscode.LanguageModelError ? (codes[error.code] ?? 'UNKNOWN') : 'UNKNOWN'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
  const message = messageOf(error)
  return new EditorModelError(code, cause === '' || message.includes(cause) ? message : `${message} ${cause}`.trim(), { cause: error })
}
