import type * as vscode from 'vscode'
import type * as api from '../../bosun.d.ts'
import type { Json } from '../../extension/base/json.ts'
import type { InferArgs, InferValue, ParameterSpecs, ValueSpec } from '../../extension/core/schema/spec.ts'
import type { ExtensionApiError, ExtensionApiErrorCode } from '../../extension/features/extensions/api-error.ts'
import type { activate } from '../../extension/main.ts'
import type { ToolCallView, ToolResultView } from '../../extension/protocol/cards.ts'

/*
 * `bosun.d.ts` is written by hand for those who read it. What is false here does not compile: the types that other extensions see are those
 * that Bosun works with.
 */
type Is<Holds extends true> = Holds
type Fits<From, To> = [From] extends [To] ? true : false
type Same<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false

const parameters = {
  text: { type: 'string', required: true },
  kind: { type: 'string', enum: ['a', 'b'] },
  many: { type: 'array', items: { type: 'object', properties: { on: { type: 'boolean', required: true }, at: { type: 'number' } }, additionalProperties: false } },
  one: { oneOf: [{ type: 'null' }, { type: 'integer', const: 3 }] },
  any: { type: 'json' },
  open: { type: 'object', additionalProperties: true },
  list: { type: 'array' },
} as const satisfies api.ParameterSpecs

/** Each line is an assertion. */
export type Held = [
  Is<Fits<ReturnType<typeof activate>, api.BosunExtension>>,
  Is<Fits<vscode.ExtensionContext, api.ExtensionContext>>,
  Is<Fits<api.BosunApi, vscode.Disposable | { dispose(): unknown }>>,
  Is<Fits<ExtensionApiError, api.BosunApiError>>,
  Is<Same<ExtensionApiErrorCode, api.BosunApiError['code']>>,
  Is<Fits<api.Json, Json>>,
  Is<Fits<Json, api.Json>>,
  Is<Fits<api.ValueSpec, ValueSpec>>,
  Is<Fits<ValueSpec, api.ValueSpec>>,
  Is<Fits<api.ParameterSpecs, ParameterSpecs>>,
  Is<Fits<ParameterSpecs, api.ParameterSpecs>>,
  Is<Same<api.InferArgs<typeof parameters>, InferArgs<typeof parameters>>>,
  Is<Same<api.InferValue<(typeof parameters)['many']>, InferValue<(typeof parameters)['many']>>>,
  Is<Fits<api.ToolCallView, ToolCallView>>,
  Is<Fits<api.ToolResultView, ToolResultView>>,
]

declare const bosun: api.BosunApi
const count = { schema: { type: 'integer' }, render: (_args: unknown, value: number) => [{ type: 'text', text: `${value}` }] } as const

/** What must not compile. */
export const refused = [
  // @ts-expect-error A policy never allows.
  () => bosun.registerPolicy(() => ({ decision: 'allow', reason: 'Fine.' })),
  // @ts-expect-error A decision has a reason.
  () => bosun.registerPolicy(() => ({ decision: 'deny' })),
  // @ts-expect-error A tool has an output.
  () => bosun.registerTool({ name: 'a', description: 'A', parameters: {}, execute: () => 1 }),
  // @ts-expect-error The value is of the schema.
  () => bosun.registerTool({ name: 'a', description: 'A', parameters: {}, output: count, execute: () => 'one' }),
  // @ts-expect-error Arguments are those that were declared.
  () => bosun.registerTool({ name: 'a', description: 'A', parameters: { text: { type: 'string' } }, output: count, execute: ({ other }) => other }),
  // @ts-expect-error A result is only looked at.
  () => bosun.observeResults((_call, result) => void (result.isError = false)),
  // @ts-expect-error A plugin has a body.
  () => bosun.registerPlugin({ name: 'a', inject: ['tools'] }),
]
