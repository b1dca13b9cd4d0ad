import type { Json, JsonObject } from '../base/json.ts'
import type { ApprovalRequest } from '../core/policy/approval.ts'
import type { Permissions } from '../core/policy/permissions.ts'

/** UTF-16 units of a text that is edited in the chat; longer ones are edited afterwards, in the file. */
const MAX_EDITABLE = 100_000

/** The argument that a person may change before they allow a call: the command, or the new text; null when there is none. */
function editableField(permissions: Pick<Permissions, 'effectOf'>, { agent, toolName, arguments: args }: ApprovalRequest): { readonly args: JsonObject; readonly field: string; readonly text: string } | null {
  if (args === undefined || typeof args !== 'object' || args === null || Array.isArray(args)) return null
  // The checks above leave objects; the type system cannot tell them from read-only arrays.
  const all = args as JsonObject
  const { kind } = permissions.effectOf(toolName, args, agent.scope)
  const names = kind === 'shell' ? ['command'] : kind === 'edit' ? ['new_string', 'content'] : kind === 'script' ? ['script'] : []
  for (const field of names) {
    const text: Json | undefined = Object.hasOwn(all, field) ? all[field] : undefined
    if (typeof text === 'string' && text.length <= MAX_EDITABLE) return { args: all, field, text }
  }
  return null
}

export const editableText = (permissions: Pick<Permissions, 'effectOf'>, request: ApprovalRequest): string | null => editableField(permissions, request)?.text ?? null

/** The script that a call would run, to be read in an editor; null when it runs none. */
export const scriptOf = (permissions: Pick<Permissions, 'effectOf'>, request: ApprovalRequest): string | null =>
  permissions.effectOf(request.toolName, request.arguments ?? null, request.agent.scope).kind === 'script' ? (editableField(permissions, request)?.text ?? null) : null

/** The arguments with what the person wrote in them; null when nothing of the call can be changed. */
export function editedArguments(permissions: Pick<Permissions, 'effectOf'>, request: ApprovalRequest, edited: string): JsonObject | null {
  const found = editableField(permissions, request)
  return found === null ? null : { ...found.args, [found.field]: edited }
}
