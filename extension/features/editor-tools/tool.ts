import { isJsonObject, stringifyJson, type Json } from '../../base/json.ts'
import { clipped, utf8Length } from '../../base/text.ts'
import type { EditorToolFacts, EditorToolPart, EditorTools } from '../../capabilities/editor-tools.ts'
import type { McpContent } from '../../capabilities/mcp.ts'
import type { BodyExecution, ToolDefinition } from '../../core/tools/definition.ts'
import { declarationCaps } from '../../core/tools/lent/declaration-caps.ts'
import { presentCall, presentResult } from '../../core/tools/lent/lent-tool.card.ts'
import { canonicalValue, renderValue, type KeepImage } from '../../core/tools/lent/result-content.ts'
import { lentToolName } from '../../core/tools/lent/tool-name.ts'
import { declaredParameters } from '../../core/tools/lent/tool-schema.ts'

/** One call, with the time in which the editor asks the person. */
const TIMEOUT_MS = 600_000

export interface LentNeeds {
  readonly tools: Pick<EditorTools, 'invoke'>
  readonly sha256: (text: string) => string
  readonly keepImage: (exec: BodyExecution) => Promise<KeepImage | null>
}

/** The name of a tool of the editor for models: `vscode__<name>`, made safe. */
export const nameOfEditorTool = (raw: string, sha256: (text: string) => string): string => lentToolName({ prefix: 'vscode', lender: 'vscode', raw }, sha256)

/** A tool of the editor as one of ours. Shape: null when its schema is too large to be declared to a model. */
export function lentTool(facts: EditorToolFacts, needs: LentNeeds): ToolDefinition | null {
  const parameters = declaredParameters(facts.inputSchema)
  if (utf8Length(stringifyJson(parameters)) > declarationCaps.schemaBytes) return null
  const card = { title: facts.name, lender: 'VS Code' }
  return {
    name: nameOfEditorTool(facts.name, needs.sha256),
    description: clipped(facts.description, declarationCaps.descriptionChars),
    parameters,
    output: {
      schema: { type: 'object', properties: { content: { type: 'array' } }, required: ['content'], additionalProperties: false },
      render: (_args, value) => renderValue(value),
    },
    timeoutMs: TIMEOUT_MS,
    execute: async (args, exec) => await call(facts.name, args, exec, needs),
    presentCall: (args) => presentCall(card, args),
    presentResult: (_args, result) => presentResult(result),
  }
}

async function call(name: string, args: Json, exec: BodyExecution, { tools, keepImage }: LentNeeds): Promise<Json> {
  const parts = await tools.invoke({ name, input: isJsonObject(args) ? args : {}, signal: exec.signal })
  return await canonicalValue({ content: parts.map(contentOf), isError: false }, await keepImage(exec))
}

function contentOf(part: EditorToolPart): McpContent {
  switch (part.type) {
    case 'text':
      return part
    case 'image':
      return { type: 'image', data: base64Of(part.bytes), mediaType: part.mediaType }
    case 'other':
      return { type: 'text', text: `[${part.bytes} bytes of ${part.kind}, which cannot be shown here.]` }
  }
}

/** In pieces: an argument list has a limit. */
function base64Of(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768))
  return btoa(binary)
}
