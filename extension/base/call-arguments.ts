import { readAlmostJson, type AlmostJson } from './almost-json.ts'
import type { Json } from './json.ts'

/**
 * What a model wrote as the arguments of a call, read with patience: `{}` for nothing, and an object that was written as a
 * string (as some models do) as the object.
 */
export function readCallArguments(text: string): AlmostJson {
  if (text.trim() === '') return { ok: true, value: {}, isRepaired: false }
  const read = readAlmostJson(text)
  if (!read.ok || typeof read.value !== 'string' || !read.value.trimStart().startsWith('{')) return read
  const inner = readAlmostJson(read.value)
  if (inner.ok) return { ...inner, isRepaired: true }
  return { ...inner, problem: `is a string and not an object, and the text in that string ${inner.problem}` }
}

/** The arguments for whoever works with them: what cannot be read stays the raw text, which no tool accepts. */
export function argumentsFrom(text: string): Json {
  const read = readCallArguments(text)
  return read.ok ? read.value : text
}
