import type { Json, JsonObject } from '../../base/json.ts'

/** Words for people and models; never applied to arguments. All lossless JSON. */
export interface Annotations {
  readonly description?: string
  readonly title?: string
  readonly default?: Json
  readonly examples?: readonly Json[]
}

/**
 * The schema language in which tools declare arguments and canonical values.
 * An object states `additionalProperties`; `required: true` on a property is the only spelling of required.
 * Source: runtime specification 3.1.
 */
export type ValueSpec =
  | ({ readonly type: 'string'; readonly enum?: readonly string[]; readonly const?: string } & Annotations)
  | ({ readonly type: 'number' | 'integer'; readonly enum?: readonly number[]; readonly const?: number } & Annotations)
  | ({ readonly type: 'boolean'; readonly enum?: readonly boolean[]; readonly const?: boolean } & Annotations)
  | ({ readonly type: 'null'; readonly enum?: readonly null[]; readonly const?: null } & Annotations)
  | ({ readonly type: 'array'; readonly items?: ValueSpec } & Annotations)
  | ({ readonly type: 'object'; readonly properties?: PropertySpecs; readonly additionalProperties: boolean } & Annotations)
  /** Author-only: any JSON. */
  | ({ readonly type: 'json' } & Annotations)
  /** Two branches or more, exactly one must match. */
  | ({ readonly oneOf: readonly ValueSpec[] } & Annotations)

export type PropertySpec = ValueSpec & { readonly required?: true }
export type PropertySpecs = { readonly [name: string]: PropertySpec }

/** Arguments of a tool: the properties of an implicit open object. */
export type ParameterSpecs = PropertySpecs

/** Levels of containers that inference follows; below, a value is plain `Json`. */
type Depth = [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
type Deeper<Left extends number> = Depth extends [...infer _Before, Left, infer Next extends number, ...infer _After] ? Next : 0

/**
 * The static type of values that a spec accepts. The whole language itself is any JSON: stated first, so that the compiler
 * does not walk every possible schema while it still infers which one stands there.
 */
export type InferValue<S, Left extends number = 16> = Left extends 0
  ? Json
  : ValueSpec extends S
  ? Json
  : S extends { readonly oneOf: readonly (infer Branch)[] }
    ? InferValue<Branch, Deeper<Left>>
    : S extends { readonly const: infer Const }
      ? Const
      : S extends { readonly enum: readonly (infer Member)[] }
        ? Member
        : S extends { readonly type: 'string' }
          ? string
          : S extends { readonly type: 'number' | 'integer' }
            ? number
            : S extends { readonly type: 'boolean' }
              ? boolean
              : S extends { readonly type: 'null' }
                ? null
                : S extends { readonly type: 'array'; readonly items: infer Item }
                  ? readonly InferValue<Item, Deeper<Left>>[]
                  : S extends { readonly type: 'array' }
                    ? readonly Json[]
                    : S extends { readonly type: 'object'; readonly properties: infer Properties }
                      ? InferProperties<Properties, Deeper<Left>>
                      : S extends { readonly type: 'object' }
                        ? JsonObject
                        : Json

type RequiredNames<P> = { [Name in keyof P]: P[Name] extends { readonly required: true } ? Name : never }[keyof P]
type Flat<T> = { readonly [Name in keyof T]: T[Name] }
type InferProperties<P, Left extends number> = Flat<
  { [Name in RequiredNames<P>]: InferValue<P[Name], Left> } & {
    [Name in Exclude<keyof P, RequiredNames<P>>]?: InferValue<P[Name], Left>
  }
>

/** The static type of a tool's arguments. */
export type InferArgs<P> = InferProperties<P, 16>
