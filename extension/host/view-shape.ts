import { snapshotJson } from '../base/json.ts'
import type { Json } from '../base/json.ts'
import type { CardContent, CardKind, FileDiff, FileLocation, ToolCallView, ToolResultView } from '../protocol/cards.ts'

/**
 * What a presenter made, as data that a view can draw: a copy of a known card, with its known fields, each of its kind.
 *
 * Shape:  undefined for anything else; the row then shows the tool's name and arguments.
 * Errors: what an accessor of the view throws, and `JsonError` for a raw input that cannot be sent.
 * Source: each field is tied to the types of the protocol by the compiler. Not the schema language, for a talk of thousands
 *         of cards: a read card of 300 lines took 650 µs through it and a fraction of that here (2026-11-30).
 */
export const asCallView = (view: unknown): ToolCallView | undefined => asView(callShapes, view) as ToolCallView | undefined
export const asResultView = (view: unknown): ToolResultView | undefined => asView(resultShapes, view) as ToolResultView | undefined

/** The copy of a value of its kind; undefined for any other. */
type Shape = (value: unknown) => unknown
interface Optional {
  readonly optional: Shape
}
/** Every field that `T` has, so that one that is added to the protocol is not forgotten here. */
type Fields<T> = { readonly [Name in keyof T]-?: Shape | Optional }

function asView(shapes: ReadonlyMap<unknown, readonly Shape[]>, view: unknown): unknown {
  if (typeof view !== 'object' || view === null) return undefined
  for (const shape of shapes.get((view as { card?: unknown }).card) ?? []) {
    const copy = shape(view)
    if (copy !== undefined) return copy
  }
  return undefined
}

function object<T>(fields: Fields<T>): Shape {
  const parts = Object.entries<Shape | Optional>(fields).map(([name, field]) => (typeof field === 'function' ? { name, shape: field, isNeeded: true } : { name, shape: field.optional, isNeeded: false }))
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const copy: Record<string, unknown> = {}
    for (const { name, shape, isNeeded } of parts) {
      const slot: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
      if (slot === undefined && !isNeeded) continue
      const part = slot === undefined ? undefined : shape(slot)
      if (part === undefined) return undefined
      copy[name] = part
    }
    return copy
  }
}

const list =
  (item: Shape): Shape =>
  (value) => {
    if (!Array.isArray(value)) return undefined
    const copy: unknown[] = []
    for (const slot of value as readonly unknown[]) {
      const part = item(slot)
      if (part === undefined) return undefined
      copy.push(part)
    }
    return copy
  }
const either =
  (...shapes: readonly Shape[]): Shape =>
  (value) => {
    for (const shape of shapes) {
      const copy = shape(value)
      if (copy !== undefined) return copy
    }
    return undefined
  }
const optional = (shape: Shape): Optional => ({ optional: shape })
const word =
  (...words: readonly unknown[]): Shape =>
  (value) => (words.includes(value) ? value : undefined)

const text: Shape = (value) => (typeof value === 'string' ? value : undefined)
const number: Shape = (value) => (Number.isFinite(value) ? value : undefined)
const boolean: Shape = (value) => (typeof value === 'boolean' ? value : undefined)
const json: Shape = (value): Json => snapshotJson(value, 'view')
const texts = list(text)

type Call<Card extends ToolCallView['card']> = Extract<ToolCallView, { readonly card: Card }>
type Result<Card extends ToolResultView['card']> = Extract<ToolResultView, { readonly card: Card }>
type Item<T> = T extends readonly (infer Element)[] ? Element : never
type Search<S> = Extract<Result<'search'>, { readonly shape: S }>
type Web<K> = Extract<Result<'web'>, { readonly kind: K }>

const content = list(
  either(
    object<Extract<CardContent, { type: 'text' }>>({ type: word('text'), text }),
    object<Extract<CardContent, { type: 'image' }>>({ type: word('image'), attachmentId: text, mediaType: text, name: optional(text) }),
  ),
)
const locations = list(object<FileLocation>({ path: text, line: optional(number), column: optional(number) }))
const diffs = list(object<FileDiff>({ path: text, oldText: either(text, word(null)), newText: text, oldStart: optional(number), newStart: optional(number) }))
const kinds = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch', 'other'] satisfies readonly CardKind[]

const callShapes: ReadonlyMap<unknown, readonly Shape[]> = new Map<ToolCallView['card'], readonly Shape[]>([
  ['generic', [object<Call<'generic'>>({ card: text, title: text, doneTitle: optional(text), kind: optional(word(...kinds)), subject: optional(text), cwd: optional(text), rawInput: optional(json), face: optional(word('plan', 'agent')), content: optional(content), locations: optional(locations) })]],
  ['terminal', [object<Call<'terminal'>>({ card: text, title: text, description: optional(text), cwd: optional(text), typed: optional(word('text', 'enter', 'nothing')) })]],
  ['diff', [object<Call<'diff'>>({ card: text, title: text, diffs, locations: optional(locations), isDraft: optional(boolean) })]],
])

const resultShapes: ReadonlyMap<unknown, readonly Shape[]> = new Map<ToolResultView['card'], readonly Shape[]>([
  ['generic', [object<Result<'generic'>>({ card: text, title: optional(text), face: optional(word('plan')), content: optional(content), jobId: optional(text), agentId: optional(text) })]],
  [
    'terminal',
    [object<Result<'terminal'>>({ card: text, title: optional(text), output: optional(text), exitCode: optional(number), signal: optional(text), timedOut: optional(boolean), aborted: optional(boolean), durationMs: optional(number), logPath: optional(text), cwd: optional(text), omittedBytes: optional(number), sandbox: optional(word('confined', 'denied')), jobId: optional(text), isTyped: optional(boolean) })],
  ],
  ['diff', [object<Result<'diff'>>({ card: text, title: optional(text), diffs, note: optional(text), isDraft: optional(boolean) })]],
  [
    'search',
    [
      object<Search<'matches'>>({
        card: text,
        shape: word('matches'),
        files: list(object<Item<Search<'matches'>['files']>>({ path: text, matches: list(object<Item<Item<Search<'matches'>['files']>['matches']>>({ lineNumber: number, line: text, column: optional(number) })) })),
        truncated: boolean,
        total: number,
        query: optional(object<NonNullable<Search<'matches'>['query']>>({ pattern: text, isCaseSensitive: boolean, files: optional(text), isMultiline: optional(boolean), includesIgnored: optional(boolean) })),
      }),
      object<Search<'paths'>>({ card: text, shape: word('paths'), paths: texts, truncated: boolean, total: number }),
    ],
  ],
  ['read', [object<Result<'read'>>({ card: text, path: text, offset: number, lines: list(object<Item<Result<'read'>['lines']>>({ number, text })), totalLines: number, lang: optional(text), content: optional(content) })]],
  [
    'web',
    [
      object<Web<'search'>>({ card: text, kind: word('search'), sources: list(object<Item<Web<'search'>['sources']>>({ url: text, title: optional(text), snippet: optional(text), publishedAt: optional(text) })), answer: optional(text), truncated: boolean }),
      object<Web<'fetch'>>({ card: text, kind: word('fetch'), url: text, statusCode: number, truncated: boolean }),
    ],
  ],
  ['question', [object<Result<'question'>>({ card: text, items: list(object<Item<Result<'question'>['items']>>({ question: text, options: texts, selected: texts, custom: optional(text) })) })]],
])
