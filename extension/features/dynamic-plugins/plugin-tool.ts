import { utf8Length } from '../../base/text.ts'
import { stringifyJson, type Json } from '../../base/json.ts'
import type { ParameterSpecs } from '../../core/schema/spec.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { BodyExecution, ToolDefinition } from '../../core/tools/definition.ts'
import { MAX_PAYLOAD_BYTES, TOOL_MS } from './caps.ts'
import type { Declared } from './declared.ts'
import { DynamicPluginError } from './error.ts'

export interface PluginToolParts {
  readonly pluginId: string
  readonly declared: Declared['tools'][number]
  /** Errors: whatever the plugin failed by. */
  readonly execute: (args: Json, exec: BodyExecution) => Promise<Json>
}

/**
 * A tool that a host half declared, as the registry holds it: its arguments are held to what it declared, its calls are judged as those
 * of any tool nobody knows, and run alone. Its card is made of plain facts, since a presenter must do without the plugin.
 *
 * Errors: `SchemaError` for parameters outside of the schema language.
 */
export function pluginTool({ pluginId, declared: { name, description, parameters }, execute }: PluginToolParts): ToolDefinition {
  return defineTool({
    name,
    description,
    // Whatever is no spec is refused as it is compiled.
    parameters: parameters as unknown as ParameterSpecs,
    output: {
      schema: { type: 'json' },
      render: (_args, value) => [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value, null, 2) }],
      presentationMeta: () => ({ pluginId }),
    },
    timeoutMs: TOOL_MS,
    limits: [{ of: 'its value', max: MAX_PAYLOAD_BYTES, unit: 'bytes' }],
    async execute(args, exec) {
      const value = await execute(args as unknown as Json, exec)
      const bytes = utf8Length(stringifyJson(value))
      if (bytes > MAX_PAYLOAD_BYTES) throw new DynamicPluginError('RUN_FAILED', `${name} gives ${bytes} bytes, and a tool of a plugin may give ${MAX_PAYLOAD_BYTES}. Let it give less.`)
      return value
    },
    presentCall: (args) => ({ card: 'generic', title: name, kind: 'other', rawInput: args as unknown as Json }),
    presentResult: (_args, { content, isError }) => (isError ? undefined : { card: 'generic', title: name, content: content.flatMap((block) => (block.type === 'text' ? [block] : [])) }),
  })
}
