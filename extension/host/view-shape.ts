import { snapshotJson } from '../base/json.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { toJsonSchema } from '../core/schema/compile.ts'
import type { PropertySpecs, ValueSpec } from '../core/schema/spec.ts'
import { validate } from '../core/schema/validate.ts'
import type { ToolCallView, ToolResultView } from '../protocol/cards.ts'

/**
 * What a presenter made, as data that a view can draw: detached, of a known card, each field of its kind.
 *
 * Shape:  undefined for anything else; the row then shows the tool's name and arguments. Further fields are let through.
 * Errors: what an accessor of the view throws, and `JsonError` for what cannot be sent.
 */
export const asCallView = (view: unknown): ToolCallView | undefined => asView(callShapes(), view) as ToolCallView | undefined
export const asResultView = (view: unknown): ToolResultView | undefined => asView(resultShapes(), view) as ToolResultView | undefined

type Shapes = Readonly<Record<string, readonly JsonObject[]>>

function asView(shapes: Shapes, view: unknown): Json | undefined {
  if (typeof view !== 'object' || view === null) return undefined
  const copy = snapshotJson(view, 'view') as JsonObject
  const card = copy['card']
  const fitting = typeof card === 'string' && Object.hasOwn(shapes, card) ? shapes[card]! : []
  return fitting.some((shape) => validate(shape, copy).length === 0) ? copy : undefined
}

const text = { type: 'string' } as const
const number = { type: 'number' } as const
const boolean = { type: 'boolean' } as const
const list = (items: ValueSpec): ValueSpec => ({ type: 'array', items })
const object = (properties: PropertySpecs): ValueSpec => ({ type: 'object', properties, additionalProperties: true })
const needed = <S extends ValueSpec>(spec: S): S & { readonly required: true } => ({ ...spec, required: true })

const content = list({
  oneOf: [
    object({ type: { type: 'string', const: 'text', required: true }, text: needed(text) }),
    object({ type: { type: 'string', const: 'image', required: true }, attachmentId: needed(text), mediaType: needed(text), name: text }),
  ],
})
const locations = list(object({ path: needed(text), line: number }))
const diffs = needed(list(object({ path: needed(text), oldText: needed({ oneOf: [text, { type: 'null' }] }), newText: needed(text), oldStart: number, newStart: number })))
const kind: ValueSpec = { type: 'string', enum: ['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch', 'other'] }
const truncated = needed(boolean)
const total = needed(number)
const only = (word: string) => ({ type: 'string', const: word, required: true }) as const

/** Made at the first card, not when the program starts. */
const once = (make: () => Readonly<Record<string, readonly PropertySpecs[]>>): (() => Shapes) => {
  let made: Shapes | undefined
  return () => (made ??= Object.fromEntries(Object.entries(make()).map(([card, forms]) => [card, forms.map((form) => toJsonSchema(object(form)))])))
}

const callShapes = once(() => ({
  generic: [{ title: needed(text), kind, subject: text, rawInput: { type: 'json' }, content, locations }],
  terminal: [{ title: needed(text), description: text, cwd: text }],
  diff: [{ title: needed(text), diffs, locations }],
}))

const resultShapes = once(() => ({
  generic: [{ title: text, content }],
  terminal: [{ title: text, output: text, exitCode: number, signal: text, timedOut: boolean, aborted: boolean, durationMs: number, logPath: text }],
  diff: [{ title: text, diffs, note: text }],
  search: [
    { shape: only('matches'), files: needed(list(object({ path: needed(text), matches: needed(list(object({ lineNumber: needed(number), line: needed(text) }))) }))), truncated, total },
    { shape: only('paths'), paths: needed(list(text)), truncated, total },
  ],
  read: [{ path: needed(text), offset: needed(number), lines: needed(list(object({ number: needed(number), text: needed(text) }))), totalLines: needed(number), lang: text, content }],
  web: [
    { kind: only('search'), sources: needed(list(object({ url: needed(text), title: text, snippet: text, publishedAt: text }))), answer: text, truncated },
    { kind: only('fetch'), url: needed(text), statusCode: needed(number), truncated },
  ],
  question: [{ items: needed(list(object({ question: needed(text), options: needed(list(text)), selected: needed(list(text)), custom: text }))) }],
}))
