import type * as z from 'zod'
import { modelFactsSchema, type ModelFactsSetting } from '../settings/specs.ts'
import type { ModelPrice } from './contract.ts'
import type { ModelFacts } from './provider-config.ts'

/** What the person says of models, by `name` or `provider/name`. */
export type ModelOverrides = Readonly<Record<string, ModelFacts>>

/** Entries beyond this many are not read. */
const MAX_ENTRIES = 2_000

/** The good entries of what the person wrote, and of each bad one why it does not count. `where` names the place, for the words. */
export function modelOverridesFrom(raw: unknown, where: string): { readonly overrides: ModelOverrides; readonly problems: readonly string[] } {
  if (raw === undefined) return { overrides: {}, problems: [] }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { overrides: {}, problems: [`${where} must hold an object of facts by model, such as {"my-model": {"contextWindow": 131072}}.`] }
  }
  const problems: string[] = []
  const entries = Object.entries(raw)
  if (entries.length > MAX_ENTRIES) problems.push(`${where} holds ${entries.length} models; only the first ${MAX_ENTRIES} are read.`)
  const good = entries.slice(0, MAX_ENTRIES).flatMap(([name, entry]) => {
    const parsed = modelFactsSchema.safeParse(entry)
    if (parsed.success && name.trim() !== '') return [[name, factsFrom(parsed.data)] as const]
    problems.push(`What ${where} says of "${name}" does not count: ${parsed.success ? 'a model needs a name' : reasonOf(parsed.error)}. Correct the entry or take it out.`)
    return []
  })
  return { overrides: Object.fromEntries(good), problems }
}

/** Those for the models of one provider, by the plain name of the model. The name with its provider counts for more. */
export function overridesFor(provider: string, overrides: ModelOverrides): Readonly<Record<string, ModelFacts>> {
  const prefix = `${provider}/`
  const entries = Object.entries(overrides)
  const own = entries.flatMap(([name, facts]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), facts] as const] : []))
  const merged = new Map(entries)
  for (const [name, facts] of own) merged.set(name, { ...merged.get(name), ...facts })
  return Object.fromEntries(merged)
}

/** Errors: none; what is not said of the cache costs as much as other input. */
export function factsFrom({ price, ...facts }: ModelFactsSetting): ModelFacts {
  return { ...facts, ...(price && { price: priceFrom(price) }) }
}

function priceFrom({ input, cacheRead = input, cacheWrite = input, output }: NonNullable<ModelFactsSetting['price']>): ModelPrice {
  return { currency: 'USD', input, cacheRead, cacheWrite, output }
}

function reasonOf(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'it is no object of facts'
  return issue.path.length > 0 ? `${issue.path.join('.')}: ${issue.message}` : issue.message
}
