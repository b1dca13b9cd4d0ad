import { HarnessError } from './harness-error.ts'

/** Any value that JSON carries without loss. Arrays are dense, objects plain, numbers finite and never negative zero. */
export type Json = null | boolean | number | string | JsonArray | JsonObject
export type JsonArray = readonly Json[]
export type JsonObject = { readonly [key: string]: Json }

/** A value that JSON cannot carry without loss. `path` says where it stands, from the name of the root. */
export class JsonError extends HarnessError<'NOT_JSON'> {
  readonly path: string

  constructor(path: string, problem: string) {
    super('NOT_JSON', `${path} ${problem}. Pass only null, booleans, strings, finite numbers, plain arrays and plain objects.`)
    this.path = path
  }
}

/**
 * Take a detached, deeply frozen copy of `value`, reading each slot exactly once. `toJSON` is ignored.
 *
 * Shape:  `root` names the value in errors, such as `arguments`.
 * Errors: `JsonError` for what JSON would lose: cycles, holes, class instances, symbol or hidden keys, `undefined`, functions,
 *         big integers, `NaN`, infinities and negative zero. What an accessor throws goes through as it is.
 * Source: runtime specification 3.3. Depth costs no stack; the same object in two places is fine; other realms' objects are.
 */
export function snapshotJson(value: unknown, root = 'value'): Json {
  if (isScalar(value)) return value
  const stack: Frame[] = []
  const open = new Set<object>()
  const result = enter(value, stack, open, root)
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.next === frame.size) {
      Object.freeze(frame.copy)
      open.delete(frame.source)
      stack.pop()
      continue
    }
    const key = frame.keys === null ? frame.next : frame.keys[frame.next]!
    frame.next++
    const slot = (frame.source as Record<string | number, unknown>)[key]
    put(frame.copy, key, isScalar(slot) ? slot : enter(slot, stack, open, root))
  }
  return result
}

/**
 * Freeze `value` and everything below it, in place. Only arrays and plain objects: an abort signal, a function or a byte array
 * stays as it is. What is frozen already is taken to be frozen to its ground, so a shared history costs nothing.
 */
export function deepFreeze<T>(value: T): T {
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    const next = stack.pop()
    if (!isContainer(next) || Object.isFrozen(next) || !(isPlainArray(next) || isPlainObject(next))) continue
    for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(next))) stack.push(descriptor.value)
    Object.freeze(next)
  }
  return value
}

/** Freeze lossless JSON that nobody else holds, such as parsed text, in place and to its ground. */
export function freezeJson<T extends Json>(value: T): T {
  const stack: Json[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (!isContainer(next)) continue
    for (const slot of Object.values(next)) if (isContainer(slot)) stack.push(slot)
    Object.freeze(next)
  }
  return value
}

/** Same JSON value; the order of keys does not matter. */
export function jsonEquals(left: Json, right: Json): boolean {
  const stack: [Json, Json][] = [[left, right]]
  for (let pair = stack.pop(); pair !== undefined; pair = stack.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (!isContainer(a) || !isContainer(b) || isJsonArray(a) !== isJsonArray(b)) return false
    const keys = Object.keys(a)
    if (keys.length !== Object.keys(b).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false
      stack.push([(a as JsonObject)[key]!, (b as JsonObject)[key]!])
    }
  }
  return true
}

export const isJsonArray = (value: Json): value is JsonArray => Array.isArray(value)
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON text of `value`, without spaces. Unlike `JSON.stringify`, depth does not overflow the stack. */
export function stringifyJson(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    // JSON.stringify recurses; a value too deep for its stack is written step by step.
    if (!(error instanceof RangeError)) throw error
    return write(value, Object.keys)
  }
}

/** JSON text with sorted keys: equal values give equal text. */
export const stableStringify = (value: Json): string => write(value, (object) => Object.keys(object).sort())

interface Frame {
  readonly source: object
  readonly copy: Json[] | Record<string, Json>
  /** Null for an array. */
  readonly keys: readonly string[] | null
  readonly size: number
  next: number
}

function isScalar(value: unknown): value is null | boolean | number | string {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  return typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)
}

/** Check a container, put its empty copy on the stack and return that copy. */
function enter(value: unknown, stack: Frame[], open: Set<object>, root: string): Json {
  const refuse = (problem: string, key?: string | number) => new JsonError(pathOf(root, stack, key), problem)
  if (!isContainer(value)) throw refuse(scalarProblem(value))
  if (open.has(value)) throw refuse('contains itself')
  const names = Reflect.ownKeys(value)
  const keys = Object.keys(value)
  const isArray = Array.isArray(value)
  if (isArray ? !isPlainArray(value) : !isPlainObject(value)) throw refuse(`is ${instanceName(value)}`)
  const size = isArray ? value.length : keys.length
  if (isArray && keys.length < size) throw refuse('is an array with holes or hidden elements')
  if (isArray && keys.length > size) throw refuse('is an array with extra properties')
  // An array owns its hidden `length`; every other hidden or symbol key would be lost.
  if (names.length > size + (isArray ? 1 : 0)) {
    const lost = names.find((name) => typeof name === 'symbol' || (!keys.includes(name) && !(isArray && name === 'length')))
    throw refuse(`has ${typeof lost === 'symbol' ? 'a symbol key' : `the hidden key ${JSON.stringify(lost)}`}`)
  }
  const copy: Frame['copy'] = isArray ? [] : {}
  open.add(value)
  stack.push({ source: value, copy, keys: isArray ? null : keys, size, next: 0 })
  return copy
}

function put(copy: Frame['copy'], key: string | number, value: Json): void {
  if (key === '__proto__') Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
  else (copy as Record<string | number, Json>)[key] = value
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/** `Object.prototype` of any realm, or no prototype. */
function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === null || prototype === Object.prototype) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}

/** `Array.prototype` of any realm: itself an array, two steps above nothing. */
function isPlainArray(value: object): boolean {
  if (!Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === Array.prototype) return true
  if (prototype === null || !Array.isArray(prototype)) return false
  const above = Object.getPrototypeOf(prototype) as object | null
  return above !== null && Object.getPrototypeOf(above) === null
}

function scalarProblem(value: unknown): string {
  if (value === undefined) return 'is undefined'
  if (typeof value === 'number') return Object.is(value, -0) ? 'is negative zero' : `is ${value}`
  return `is a ${typeof value}`
}

function instanceName(value: object): string {
  const maker: unknown = (value as { constructor?: unknown }).constructor
  return typeof maker === 'function' && maker.name !== '' ? `an instance of ${maker.name}` : 'an object of its own kind'
}

const maxPathParts = 16

/** Where the slot stands that the topmost frame is reading. */
function pathOf(root: string, stack: readonly Frame[], last?: string | number): string {
  const parts = stack.map((frame) => pathPart(frame.keys === null ? frame.next - 1 : frame.keys[frame.next - 1]!))
  if (last !== undefined) parts.push(pathPart(last))
  if (parts.length <= maxPathParts) return root + parts.join('')
  return `${root}${parts.slice(0, maxPathParts / 2).join('')}…${parts.slice(-maxPathParts / 2).join('')}`
}

function pathPart(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

/** JSON text, container by container on a stack of our own. */
function write(value: Json, keysOf: (object: JsonObject) => readonly string[]): string {
  const parts: string[] = []
  const stack: { readonly source: JsonArray | JsonObject; readonly keys: readonly string[] | null; next: number }[] = []
  const open = (slot: Json) => {
    if (!isContainer(slot)) {
      parts.push(JSON.stringify(slot))
      return
    }
    const keys = isJsonArray(slot) ? null : keysOf(slot)
    parts.push(keys === null ? '[' : '{')
    stack.push({ source: slot, keys, next: 0 })
  }
  open(value)
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { source, keys } = frame
    const index = frame.next++
    if (index === (keys ?? (source as JsonArray)).length) {
      parts.push(keys === null ? ']' : '}')
      stack.pop()
      continue
    }
    if (index > 0) parts.push(',')
    if (keys === null) open((source as JsonArray)[index]!)
    else {
      parts.push(JSON.stringify(keys[index]), ':')
      open((source as JsonObject)[keys[index]!]!)
    }
  }
  return parts.join('')
}
