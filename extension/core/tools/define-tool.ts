import { isSnapshot, type Json } from '../../base/json.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import type { ToolContent } from '../log/message.ts'
import { toJsonSchema, toParameterSchema } from '../schema/compile.ts'
import type { InferArgs, InferValue, ParameterSpecs, ValueSpec } from '../schema/spec.ts'
import { validate } from '../schema/validate.ts'
import { ToolError } from './definition.ts'
import type { BodyExecution, Execution, PresentedResult, ToolDefinition, ToolLimit, ToolResult } from './definition.ts'

/** A tool as its author writes it: arguments and canonical value are typed by the two schemas. */
export interface ToolSpec<Parameters extends ParameterSpecs, Output extends ValueSpec> {
  readonly name: string
  readonly description: string
  readonly parameters: Parameters
  readonly output: {
    readonly schema: Output
    /** Text and images for the model. */
    readonly render: (args: InferArgs<Parameters>, value: InferValue<Output>) => readonly ToolContent[]
    /** Small durable facts for the card. */
    readonly presentationMeta?: (args: InferArgs<Parameters>, value: InferValue<Output>) => Json | undefined
  }
  readonly execute: (
    args: InferArgs<Parameters>,
    exec: BodyExecution,
  ) => InferValue<Output> | Promise<InferValue<Output>>
  readonly finalizeContent?: (exec: Execution, result: ToolResult) => readonly ToolContent[] | undefined
  readonly timeoutMs?: number
  readonly canAskAgain?: true
  readonly limits?: readonly ToolLimit[]
  readonly isConcurrencySafe?: (args: InferArgs<Parameters>) => boolean
  readonly presentCall?: (args: InferArgs<Parameters>) => ToolCallView | undefined
  readonly presentResult?: (args: InferArgs<Parameters>, result: PresentedResult) => ToolResultView | undefined
}

/**
 * Make a tool definition from typed parts.
 *
 * Arguments are validated hard in `execute` and before policy, and softly in the presenters and the classifier:
 * an old or malformed record gives no card and is not safe to overlap, it never throws.
 * Errors: `SchemaError` for a schema outside the language; the definition's `execute` throws `ToolError` `INVALID_ARGS`.
 */
export function defineTool<const Parameters extends ParameterSpecs, const Output extends ValueSpec>(
  spec: ToolSpec<Parameters, Output>,
): ToolDefinition {
  type Args = InferArgs<Parameters>
  type Value = InferValue<Output>
  const parameters = toParameterSchema(spec.parameters)
  // Each call asks several times: to be classified, before policy, before the body, for its cards.
  const sound = new WeakSet<object>()
  const validateArguments = (args: Json): readonly string[] => {
    const isKept = isSnapshot(args)
    if (isKept && sound.has(args)) return []
    const violations = validate(parameters, args)
    if (isKept && violations.length === 0) sound.add(args)
    return violations
  }
  // Validation is what makes the untyped JSON the inferred type; each cast below stands behind it.
  const softly = <T>(args: Json, use: (typed: Args) => T): T | undefined => {
    if (validateArguments(args).length > 0) return undefined
    try {
      return use(args as unknown as Args)
    } catch {
      // A presenter's failure may not break a replay; without a view the generic card is drawn.
      return undefined
    }
  }
  const { render, presentationMeta } = spec.output
  return {
    name: spec.name,
    description: spec.description,
    parameters,
    output: {
      schema: toJsonSchema(spec.output.schema),
      render: (args, value) => render(args as unknown as Args, value as unknown as Value),
      ...(presentationMeta && { presentationMeta: (args: Json, value: Json) => presentationMeta(args as unknown as Args, value as unknown as Value) }),
    },
    validateArguments,
    execute(args, exec) {
      const violations = validateArguments(args)
      if (violations.length > 0) throw invalidArguments(spec.name, violations)
      return spec.execute(args as unknown as Args, exec)
    },
    ...(spec.finalizeContent && { finalizeContent: spec.finalizeContent }),
    ...(spec.timeoutMs !== undefined && { timeoutMs: spec.timeoutMs }),
    ...(spec.canAskAgain && { canAskAgain: spec.canAskAgain }),
    ...(spec.limits && { limits: spec.limits }),
    ...(spec.isConcurrencySafe && {
      isConcurrencySafe: (args: Json) => softly(args, (typed) => spec.isConcurrencySafe?.(typed) === true) === true,
    }),
    ...(spec.presentCall && { presentCall: (args: Json) => softly(args, (typed) => spec.presentCall?.(typed)) }),
    ...(spec.presentResult && {
      presentResult: (args: Json, result: PresentedResult) => softly(args, (typed) => spec.presentResult?.(typed, result)),
    }),
  }
}

/** The failure of arguments that break the declared schema: all violations, `; ` between them. */
export const invalidArguments = (tool: string, violations: readonly string[]): ToolError =>
  new ToolError('INVALID_ARGS', `Invalid arguments for ${tool}: ${violations.join('; ')}. Correct them and call again.`)
