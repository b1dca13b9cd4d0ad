import type { JsonObject } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Context } from '../../core/kernel/plugin.ts'
import { checkSchema } from '../../core/schema/check-schema.ts'
import { validate } from '../../core/schema/validate.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import { SubagentError } from './service.ts'

export const STRUCTURED_OUTPUT = 'structured_output'

/** What a child gave as its result; null until a call of it has succeeded. */
export interface Capture {
  value(): JsonObject | null
}

/** Errors: `SubagentError` `UNSUPPORTED_CAPABILITY` for a schema that is no object's or is outside the supported subset. */
export function checkOutputSchema(schema: JsonObject): void {
  try {
    checkSchema(schema)
  } catch (error) {
    throw new SubagentError('UNSUPPORTED_CAPABILITY', `The schema of the result cannot be used: ${messageOf(error)}`, { cause: error })
  }
  if (schema['type'] !== 'object') throw new SubagentError('UNSUPPORTED_CAPABILITY', 'The schema of the result must be that of an object: give it "type": "object" at its root.')
}

/**
 * Give one child the tool that ends its run with a value of `schema`.
 *
 * A valid call ends the turn; the value counts once the whole call of the model has succeeded, so not when a listener blocked it or the
 * program around it failed. Whatever comes behind it in the same answer is denied.
 * Source: agent tools specification 6.8.
 */
export function offerStructuredOutput(ctx: Context, schema: JsonObject): Capture {
  /** By the call of the model that it was made in. */
  const given = new Map<string, JsonObject>()
  let captured: JsonObject | null = null
  ctx.tools.register(definitionFor(schema, (rootCallId, value) => given.set(rootCallId, value)))
  ctx.tools.guard(() => (captured === null ? undefined : 'The result is recorded, so this run is over. Nothing more can be done.'))
  ctx.on('tools/result', ({ callId, rootCallId }, result) => {
    if (callId !== rootCallId) return
    const value = given.get(rootCallId)
    given.delete(rootCallId)
    if (value !== undefined && !result.isError) captured ??= value
  })
  ctx.systemPrompt.section({
    name: `tool:${STRUCTURED_OUTPUT}`,
    order: 190,
    text: `End your work by calling ${STRUCTURED_OUTPUT} once, with the whole result. Only what you give there is read; a result in plain text is lost.`,
  })
  return { value: () => captured }
}

const definitionFor = (schema: JsonObject, take: (rootCallId: string, value: JsonObject) => void): ToolDefinition => ({
  name: STRUCTURED_OUTPUT,
  description: 'Give the result of your work and end it.',
  parameters: schema,
  output: {
    schema: { type: 'object', properties: { recorded: { type: 'boolean', const: true } }, required: ['recorded'], additionalProperties: false },
    render: () => [{ type: 'text', text: 'The result is recorded.' }],
  },
  validateArguments: (args) => validate(schema, args),
  execute(args, exec) {
    // Validated just now against a schema whose root is an object.
    take(exec.rootCallId, args as JsonObject)
    exec.concludeTurn()
    return { recorded: true }
  },
})
