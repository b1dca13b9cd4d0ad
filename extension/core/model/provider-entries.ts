import type * as z from 'zod'
import { providerSchema, type ProviderSetting } from '../settings/specs.ts'
import { wireApis } from './provider-config.ts'

export interface ProviderEntries {
  readonly entries: Readonly<Record<string, ProviderSetting>>
  /** Of each bad entry, why it does not count. */
  readonly problems: readonly string[]
}

/** The good entries of `bosun.providers`; a bad one spoils no other. */
export function providerEntriesFrom(raw: unknown): ProviderEntries {
  if (raw === undefined || raw === null) return { entries: {}, problems: [] }
  if (typeof raw !== 'object' || Array.isArray(raw)) {
    return { entries: {}, problems: ['bosun.providers must hold an object of servers by name, such as {"my-server": {"baseUrl": "http://127.0.0.1:8000/v1"}}.'] }
  }
  const problems: string[] = []
  const good = Object.entries(raw).flatMap(([id, entry]) => {
    const reasons = reasonsAgainst(id, entry)
    const parsed = reasons.length === 0 ? providerSchema.safeParse(entry) : null
    if (parsed?.success === true) return [[id, parsed.data] as const]
    problems.push(`The provider "${id}" in bosun.providers does not count: ${reasons.join('; ')}. Correct it or take it out; the others work.`)
    return []
  })
  return { entries: Object.fromEntries(good), problems }
}

function reasonsAgainst(id: string, entry: unknown): readonly string[] {
  if (id.trim() === '') return ['it needs a name']
  // The name stands before the slash in `provider/model`.
  if (id.includes('/')) return ['a name cannot hold a slash']
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return ['it must be an object']
  const parsed = providerSchema.safeParse(entry)
  return parsed.success ? [] : parsed.error.issues.map(reasonOf)
}

const wanted: Readonly<Record<string, string>> = {
  api: `must be one of ${wireApis.join(', ')}`,
  baseUrl: 'must be an address that begins with http:// or https://',
  models: 'must be a list of model names, or an object of facts by model',
  headers: 'must be an object of texts by header name',
  keyName: 'must be the name of a key, or null',
  contextWindow: 'must be a whole number of tokens',
  maxOutputTokens: 'must be a whole number of tokens',
  images: 'must be true or false',
  isLocal: 'must be true or false',
  reasoningEfforts: 'must be a list of words',
  reasoningPassback: 'must be "always" or "never"',
  effortStyle: 'must be "reasoning_effort", "deepseek" or "openrouter"',
  retry: 'must be an object of mode, maxRetries, initialDelayMs, maxDelayMs and jitter',
  name: 'must be a text',
}

function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const at = issue.path.length > 0 ? `${issue.path.join('.')} has` : 'there is'
    return `${at} no field ${issue.keys.map((key) => `"${key}"`).join(', ')}`
  }
  const field = String(issue.path[0] ?? '')
  const path = issue.path.join('.')
  if (wanted[field] === undefined) return `${path}: ${issue.message}`
  return path === field ? `${field} ${wanted[field]}` : `${field} ${wanted[field]}, which ${path} is not`
}
