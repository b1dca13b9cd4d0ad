import { expectTypeOf, it } from 'vitest'
import type { Json, JsonObject } from '../../../../extension/base/json.ts'
import type { InferArgs, InferValue } from '../../../../extension/core/schema/spec.ts'

it('infers argument and value types from the schema language', () => {
  expectTypeOf<
    InferArgs<{
      path: { type: 'string'; required: true }
      limit: { type: 'number' }
      mode: { type: 'string'; enum: readonly ['a', 'b'] }
      items: { type: 'array'; items: { type: 'object'; properties: { id: { type: 'integer'; required: true } }; additionalProperties: false } }
    }>
  >().toEqualTypeOf<{
    readonly path: string
    readonly limit?: number
    readonly mode?: 'a' | 'b'
    readonly items?: readonly { readonly id: number }[]
  }>()
  expectTypeOf<InferValue<{ oneOf: readonly [{ type: 'null' }, { type: 'string'; const: 'x' }] }>>().toEqualTypeOf<null | 'x'>()
  expectTypeOf<InferValue<{ type: 'json' }>>().toEqualTypeOf<Json>()
  expectTypeOf<InferValue<{ type: 'object'; additionalProperties: true }>>().toEqualTypeOf<JsonObject>()
})
