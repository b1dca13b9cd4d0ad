import { catalogueRows, type MakerRow } from './catalogue-data.ts'
import type { ModelFacts } from './provider-config.ts'

/** Whose service is asked for which model. */
export interface ModelRoute {
  readonly provider: string
  readonly model: string
  readonly baseUrl?: string
  /** A server on this machine cuts windows as it was started; what the maker says of its weights does not hold there. */
  readonly isLocal?: boolean
}

/**
 * What is known of a model beforehand, by its exact name, else by the name without a date, else by its family.
 *
 * A maker's prices and efforts hold at the maker's own service only. Elsewhere (a router, a gateway, another host) the window, the
 * output cap and the kinds of input stand, and what it costs stays unknown. Undefined where nothing is known.
 */
export function catalogueFacts(route: ModelRoute, rows: readonly MakerRow[] = catalogueRows): ModelFacts | undefined {
  if (route.isLocal === true) return undefined
  const own = rows.find((row) => isOwn(row, route))
  const facts = own && factsIn(own, route.model)
  if (facts) return facts
  // Routers write the maker before the name and, some of them, a variant after it.
  const name = route.model.replace(/^.*\//, '').replace(/:[a-z]+$/, '')
  for (const row of rows) {
    const found = factsIn(row, name)
    if (found === undefined) continue
    const { contextWindow, maxOutputTokens, images } = found
    return { ...(contextWindow !== undefined && { contextWindow }), ...(maxOutputTokens !== undefined && { maxOutputTokens }), ...(images !== undefined && { images }) }
  }
  return undefined
}

/** Names of the models that a provider's own service is known to offer, best first; empty for others. */
export function catalogueModels(provider: string, rows: readonly MakerRow[] = catalogueRows): readonly string[] {
  return Object.keys(rows.find(({ providers }) => providers.includes(provider))?.models ?? {})
}

function isOwn({ providers, hosts }: MakerRow, { provider, baseUrl }: ModelRoute): boolean {
  return providers.includes(provider) || (baseUrl !== undefined && hosts.includes(hostOf(baseUrl)))
}

function factsIn({ models, families }: MakerRow, model: string): ModelFacts | undefined {
  return own(models, model) ?? own(models, withoutDate(model)) ?? familyOf(families, model)
}

/** The longest beginning of the name that ends where a word ends. */
function familyOf(families: MakerRow['families'], model: string): ModelFacts | undefined {
  const fits = (family: string) => model.startsWith(family) && !/^[a-z0-9]/i.test(model.slice(family.length))
  const family = Object.keys(families).filter(fits).sort((a, b) => b.length - a.length)[0]
  return family === undefined ? undefined : families[family]
}

/** `-20250929`, `-2025-09-29`, `@20250929`, `-09-2025`, `-001`, `-latest` and `-preview` name a state of a model, not another one. */
function withoutDate(model: string): string {
  return model.replace(/(?:[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2}|\d{2}-20\d{2}|\d{2}-\d{2}|00\d|latest|preview))+$/, '')
}

const own = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined => (Object.hasOwn(table, key) ? table[key] : undefined)

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
