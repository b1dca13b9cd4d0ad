import * as vscode from 'vscode'
import type { EditorContent, EditorMessagePart, EditorModelMessage } from '../../extension/capabilities/editor-models.ts'
import { createVscodeModels } from '../../extension/platform/vscode/editor-models.ts'
import { editorModelsContract, type EditorModelsWorld, type VendorStep } from '../contract/editor-models.suite.ts'

/** A vendor of models in the editor, as an extension of the person's would register it; `test/fixtures/editor-models` names it. */
class Vendor implements vscode.LanguageModelChatProvider {
  readonly #changes = new vscode.EventEmitter<void>()
  readonly onDidChangeLanguageModelChatInformation = this.#changes.event
  readonly requests: ReturnType<EditorModelsWorld['requests']>[number][] = []
  script: readonly VendorStep[] = []
  wasCancelled = false
  hasEyes = true

  takeEyes(): void {
    this.hasEyes = false
    this.#changes.fire()
  }

  provideLanguageModelChatInformation(): vscode.LanguageModelChatInformation[] {
    const model = (id: string, name: string, maxInputTokens: number, imageInput: boolean) => ({
      id, name, family: 'acme', version: '1', maxInputTokens, maxOutputTokens: 1_000, capabilities: { imageInput, toolCalling: true },
    })
    return [model('one', 'Acme One', 64_000, false), ...(this.hasEyes ? [model('eyes', 'Acme Eyes', 32_000, true)] : [])]
  }

  async provideLanguageModelChatResponse(
    model: vscode.LanguageModelChatInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    this.requests.push({ model: model.id, messages: messages.map(messageOf), tools: (options.tools ?? []).map(({ name }) => name), options: { ...options.modelOptions } })
    this.wasCancelled = false
    token.onCancellationRequested(() => (this.wasCancelled = true))
    for (const step of this.script) {
      switch (step.type) {
        case 'text':
          progress.report(new vscode.LanguageModelTextPart(step.text))
          break
        case 'call':
          progress.report(new vscode.LanguageModelToolCallPart(step.callId, step.name, step.input as object))
          break
        case 'hang':
          await new Promise<void>((resolve) => void token.onCancellationRequested(() => resolve()))
          return
        case 'fail':
          throw failures[step.code](step.message)
      }
    }
  }

  provideTokenCount(): Promise<number> {
    return Promise.resolve(1)
  }
}

const failures = {
  NO_PERMISSION: (message: string) => vscode.LanguageModelError.NoPermissions(message),
  BLOCKED: (message: string) => vscode.LanguageModelError.Blocked(message),
  NOT_FOUND: (message: string) => vscode.LanguageModelError.NotFound(message),
  UNKNOWN: (message: string) => new Error(message),
}

const messageOf = ({ role, content }: vscode.LanguageModelChatRequestMessage): EditorModelMessage => ({
  role: role === vscode.LanguageModelChatMessageRole.User ? 'user' : 'assistant',
  parts: content.map(partOf),
})

function partOf(part: unknown): EditorMessagePart {
  if (part instanceof vscode.LanguageModelToolCallPart) return { type: 'call', callId: part.callId, name: part.name, input: part.input as Record<string, never> }
  if (part instanceof vscode.LanguageModelToolResultPart) return { type: 'result', callId: part.callId, content: part.content.map(contentOf) }
  return contentOf(part)
}

function contentOf(part: unknown): EditorContent {
  if (part instanceof vscode.LanguageModelDataPart) return { type: 'image', bytes: new Uint8Array(part.data), mediaType: part.mimeType }
  return { type: 'text', text: part instanceof vscode.LanguageModelTextPart ? part.value : String(part) }
}

describe('the models of the editor', () => {
  editorModelsContract({
    describe,
    it,
    create: async () => {
      const vendor = new Vendor()
      const registration = vscode.lm.registerLanguageModelChatProvider('acme', vendor)
      return {
        models: createVscodeModels(),
        play: (steps) => (vendor.script = steps),
        requests: () => vendor.requests,
        wasCancelled: () => vendor.wasCancelled,
        takeEyes: async () => vendor.takeEyes(),
        dispose: async () => void registration.dispose(),
      }
    },
  })
})
