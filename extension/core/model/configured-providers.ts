import type { ModelFactsSetting, ProviderSetting } from '../settings/specs.ts'
import type { RetryPolicy } from './contract.ts'
import { overridesFor, factsFrom, type ModelOverrides } from './model-overrides.ts'
import type { ModelFacts, ProviderConfig } from './provider-config.ts'
import { fallbackFacts, makers, providerTable, wireFacts, type ProviderRow } from './provider-table.ts'

/** The providers of the table and of the settings, complete; an entry named like a row of the table changes that row. */
export function configuredProviders(
  entries: Readonly<Record<string, ProviderSetting>>,
  retryPolicy: RetryPolicy,
  overrides: ModelOverrides = {},
  table: readonly ProviderRow[] = providerTable,
): { readonly configs: readonly ProviderConfig[]; readonly problems: readonly string[] } {
  const problems: string[] = []
  const known = table.map((row) => complete(row, entries[row.id], { retryPolicy, overrides }))
  const own = Object.entries(entries).flatMap(([id, entry]) => {
    if (table.some((row) => row.id === id)) return []
    const maker = makers[entry.api]
    if (entry.baseUrl === undefined && maker !== undefined) return [complete({ id, name: id, ...maker }, entry, { retryPolicy, overrides })]
    if (entry.baseUrl === undefined) {
      problems.push(`The provider "${id}" in bosun.providers has no baseUrl. Add the address of its server, such as http://127.0.0.1:8000/v1.`)
      return []
    }
    const row = { id, name: id, baseUrl: entry.baseUrl, keyName: null, isKeyOptional: true }
    return [complete(row, entry, { retryPolicy, overrides })]
  })
  return { configs: [...known, ...own], problems }
}

function complete(row: ProviderRow, entry: ProviderSetting | undefined, { retryPolicy, overrides }: { readonly retryPolicy: RetryPolicy; readonly overrides: ModelOverrides }): ProviderConfig {
  const api = row.api ?? entry?.api ?? 'openai-compatible'
  const stated = factsOf(entry)
  const facts: ModelFacts = { ...wireFacts[api], ...row.facts, ...stated }
  return {
    id: row.id,
    name: entry?.name ?? row.name,
    api,
    baseUrl: (entry?.baseUrl ?? row.baseUrl).replace(/\/+$/, ''),
    keyName: entry?.keyName === undefined ? row.keyName : entry.keyName,
    isKeyOptional: entry?.keyName === undefined ? (row.isKeyOptional ?? false) : entry.keyName === null,
    // Described by the person, it is wanted.
    isPreset: entry === undefined && row.isPreset === true,
    isLocal: entry?.isLocal ?? row.isLocal ?? false,
    headers: lowerCased({ ...row.headers, ...entry?.headers }),
    models: { ...row.models, ...modelsOf(entry) },
    overrides: overridesFor(row.id, overrides),
    stated,
    defaults: {
      contextWindow: facts.contextWindow ?? fallbackFacts.contextWindow,
      maxOutputTokens: facts.maxOutputTokens ?? fallbackFacts.maxOutputTokens,
      images: facts.images ?? fallbackFacts.images,
      reasoningEfforts: facts.reasoningEfforts ?? fallbackFacts.reasoningEfforts,
    },
    nativeKind: row.nativeKind ?? null,
    keyCheckPath: row.keyCheckPath ?? null,
    effortStyle: entry?.effortStyle ?? row.effortStyle ?? 'reasoning_effort',
    reasoningPassback: entry?.reasoningPassback ?? row.reasoningPassback ?? 'never',
    retryPolicy: { ...retryPolicy, ...said(entry?.retry) },
  }
}

function modelsOf(entry: ProviderSetting | undefined): Readonly<Record<string, ModelFacts>> {
  if (entry?.models === undefined) return {}
  return Array.isArray(entry.models)
    ? Object.fromEntries((entry.models as readonly string[]).map((id) => [id, {}]))
    : Object.fromEntries(Object.entries(entry.models as Readonly<Record<string, ModelFactsSetting>>).map(([id, facts]) => [id, factsFrom(facts)]))
}

/** One spelling, so that a header of the person takes the place of Bosun's and is not sent beside it. */
const lowerCased = (headers: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function factsOf(entry: ProviderSetting | undefined): ModelFacts {
  const { contextWindow, maxOutputTokens, images, reasoningEfforts } = entry ?? {}
  return said({ contextWindow, maxOutputTokens, images, reasoningEfforts })
}

/** Without the fields that nothing is said of. */
function said<T extends object>(fields: T | undefined): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  // What is filtered out is exactly what the type takes away.
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined)) as never
}
