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
  const copy = copyContainer(value, [root])
  snapshots.add(copy as object)
  return copy
}

/** What is a snapshot already stays as it is, also within another value: it is whole and frozen to its ground. */
const snapshots = new WeakSet<object>()

/** Whether `value` was made by `snapshotJson` or `parseSnapshot`, so that what was found out about it stays true. */
export const isSnapshot = (value: Json): value is JsonArray | JsonObject => isContainer(value) && snapshots.has(value)

/**
 * The value of JSON text, frozen: as a snapshot of it, without the copy.
 *
 * Errors: `SyntaxError` for what is no JSON. Negative zero, which a snapshot refuses, must not stand in it.
 */
export function parseSnapshot(text: string): Json {
  const value = freezeJson(JSON.parse(text) as Json)
  if (isContainer(value)) snapshots.add(value)
  return value
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
    for (const key of Reflect.ownKeys(next)) stack.push(Object.getOwnPropertyDescriptor(next, key)!.value)
    Object.freeze(next)
  }
  return value
}

/** Freeze lossless JSON that nobody else holds, such as parsed text, in place and to its ground. */
export function freezeJson<T extends Json>(value: T): T {
  const stack: Json[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (!isContainer(next)) continue
    if (isJsonArray(next)) {
      for (const slot of next) if (isContainer(slot)) stack.push(slot)
    } else {
      // Plain data of our own: walking its keys in place spares a list of them for each object.
      for (const key in next) if (isContainer(next[key])) stack.push(next[key])
    }
    Object.freeze(next)
  }
  return value
}

/** Where a text of `value` holds half a character (a surrogate without its other half), from the name of the root; null where none does. */
export function halfCharacterIn(value: Json, root = 'value'): string | null {
  if (isWellFormed(value)) return null
  const stack: { readonly value: Json; readonly path: Path }[] = [{ value, path: [root] }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value: one, path } = next
    if (typeof one === 'string' && !one.isWellFormed()) return pathText(path)
    if (!isContainer(one)) continue
    if (isJsonArray(one)) for (const [index, slot] of one.entries()) stack.push({ value: slot, path: [...path, index] })
    else for (const [key, slot] of Object.entries<Json>(one)) {
      if (!key.isWellFormed()) return `a key of ${pathText(path)}`
      stack.push({ value: slot, path: [...path, key] })
    }
  }
  return null
}

function isWellFormed(value: Json): boolean {
  const stack: Json[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string' && !next.isWellFormed()) return false
    if (!isContainer(next)) continue
    if (isJsonArray(next)) for (const slot of next) stack.push(slot)
    else {
      for (const key in next) {
        if (!key.isWellFormed()) return false
        stack.push(next[key]!)
      }
    }
  }
  return true
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

export const isJsonArray = (value: Json | undefined): value is JsonArray => Array.isArray(value)
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

/** From the name of the root down to a slot. */
type Path = (string | number)[]

function isScalar(value: unknown): value is null | boolean | number | string {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  return typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)
}

/** Deeper than this the copy goes on without recursion, at about twice the cost. */
const maxRecursion = 200

function copyContainer(value: unknown, path: Path): Json {
  if (isContainer(value) && snapshots.has(value)) return value as Json
  if (path.length > maxRecursion) return copyDeep(value, path)
  const { source, keys, size } = checkContainer(value, path)
  const copy = keys === null ? [] : {}
  for (let index = 0; index < size; index++) {
    const key = keys === null ? index : keys[index]!
    const slot = source[key]
    if (isScalar(slot)) put(copy, key, slot)
    else {
      path.push(key)
      put(copy, key, copyContainer(slot, path))
      path.pop()
    }
  }
  return Object.freeze(copy)
}

interface Frame extends Container {
  readonly copy: Json[] | Record<string, Json>
  next: number
}

/** The same on a stack of our own. `path` ends at `value`, and again when this returns. */
function copyDeep(value: unknown, path: Path): Json {
  const stack: Frame[] = []
  const open = new Set<object>()
  const enter = (slot: unknown): Json => {
    const container = checkContainer(slot, path)
    if (open.has(container.source)) throw new JsonError(pathText(path), 'contains itself')
    open.add(container.source)
    const copy = container.keys === null ? [] : {}
    stack.push({ ...container, copy, next: 0 })
    return copy
  }
  const result = enter(value)
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { source, keys, size, copy } = frame
    const index = frame.next++
    if (index === size) {
      Object.freeze(copy)
      open.delete(source)
      stack.pop()
      // The path of the outermost container is the caller's.
      if (stack.length > 0) path.pop()
      continue
    }
    const key = keys === null ? index : keys[index]!
    const slot = source[key]
    if (isScalar(slot)) put(copy, key, slot)
    else {
      path.push(key)
      put(copy, key, enter(slot))
    }
  }
  return result
}

interface Container {
  readonly source: Readonly<Record<string | number, unknown>>
  /** Null for an array. */
  readonly keys: readonly string[] | null
  readonly size: number
}

/** What is to be copied of `value`. Errors: `JsonError` when it is no container that JSON carries whole. */
function checkContainer(value: unknown, path: Path): Container {
  if (!isContainer(value)) throw new JsonError(pathText(path), scalarProblem(value))
  const names = Reflect.ownKeys(value)
  const keys = Object.keys(value)
  const isArray = Array.isArray(value)
  const size = isArray ? value.length : keys.length
  const isPlain = isArray ? isPlainArray(value) : isPlainObject(value)
  // An array owns its hidden `length`; every other hidden or symbol key would be lost.
  const isWhole = keys.length === size && names.length === size + (isArray ? 1 : 0)
  if (!isPlain || !isWhole) throw new JsonError(pathText(path), isPlain ? lossOf(names, keys, isArray ? size : null) : `is ${instanceName(value)}`)
  return { source: value as Record<string | number, unknown>, keys: isArray ? null : keys, size }
}

/** What JSON would lose of a container. `length` is null for an object. */
function lossOf(names: readonly (string | symbol)[], keys: readonly string[], length: number | null): string {
  if (length !== null && keys.length < length) return 'is an array with holes or hidden elements'
  if (length !== null && keys.length > length) return 'is an array with extra properties'
  const lost = names.find((name) => typeof name === 'symbol' || (!keys.includes(name) && !(length !== null && name === 'length')))
  return `has ${typeof lost === 'symbol' ? 'a symbol key' : `the hidden key ${JSON.stringify(lost)}`}`
}

function put(copy: Json[] | Record<string, Json>, key: string | number, value: Json): void {
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

function pathText([root, ...keys]: Path): string {
  const parts = keys.map(pathPart)
  if (parts.length <= maxPathParts) return `${root}${parts.join('')}`
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
