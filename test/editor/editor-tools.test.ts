import * as vscode from 'vscode'
import type { JsonObject } from '../../extension/base/json.ts'
import type { EditorToolPart } from '../../extension/capabilities/editor-tools.ts'
import { createVscodeTools } from '../../extension/platform/vscode/editor-tools.ts'
import { editorToolsContract, type ToolStep } from '../contract/editor-tools.suite.ts'

/** A tool of an extension of the person's; `test/fixtures/editor-models` names it to the editor. */
class Echo implements vscode.LanguageModelTool<JsonObject> {
  readonly inputs: JsonObject[] = []
  step: ToolStep = []
  wasCancelled = false

  async invoke({ input }: vscode.LanguageModelToolInvocationOptions<JsonObject>, token: vscode.CancellationToken): Promise<vscode.LanguageModelToolResult> {
    this.inputs.push(input)
    if (this.step === 'refused') throw new vscode.CancellationError()
    if (this.step instanceof Error) throw this.step
    if (this.step !== 'hang') return new vscode.LanguageModelToolResult(this.step.map(partOf))
    await new Promise<void>((resolve) => void token.onCancellationRequested(() => resolve()))
    this.wasCancelled = true
    return new vscode.LanguageModelToolResult([])
  }
}

function partOf(part: EditorToolPart): vscode.LanguageModelTextPart | vscode.LanguageModelDataPart {
  if (part.type === 'text') return new vscode.LanguageModelTextPart(part.text)
  return part.type === 'image' ? vscode.LanguageModelDataPart.image(part.bytes, part.mediaType) : new vscode.LanguageModelDataPart(new Uint8Array(part.bytes), part.kind)
}

describe('the tools of the editor', () => {
  editorToolsContract({
    describe,
    it,
    create: async () => {
      const echo = new Echo()
      const registration = vscode.lm.registerTool('acme_echo', echo)
      return {
        tools: createVscodeTools(),
        answer: (step) => void (echo.step = step),
        calls: () => echo.inputs,
        wasCancelled: () => echo.wasCancelled,
        dispose: async () => void registration.dispose(),
      }
    },
  })
})
