import { isJsonObject } from '../base/json.ts'
import type { ToolDefinition } from '../core/tools/definition.ts'

const ESCALATION_FIELDS = ['sandbox_permissions', 'justification']

/**
 * The same tool, which refuses arguments that ask for wider rights where none are offered: they are never dropped in silence, and
 * nobody is asked about a call that will be refused.
 * Source: capability specification 0.7.
 */
export function withoutEscalation(tool: ToolDefinition): ToolDefinition {
  return {
    ...tool,
    validateArguments(args) {
      const field = isJsonObject(args) ? ESCALATION_FIELDS.find((each) => Object.hasOwn(args, each)) : undefined
      const found = tool.validateArguments?.(args) ?? []
      return field === undefined ? found : [`${tool.name} does not offer ${field} here: call it without it, the person is asked when that is needed`, ...found]
    },
  }
}
