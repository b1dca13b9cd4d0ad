import type { Json } from '../../base/json.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type { ToolContent } from '../log/message.ts'
import type { Execution, PostExecuteDecision, ToolResult } from '../tools/definition.ts'
import type {} from '../tools/service.ts'
import { changingPathMatcher, styleOf } from './paths.ts'
import { withoutSecretDiffs } from './secret-diffs.ts'

/** Shapes of keys and tokens that their issuers publish, so that nothing else is taken for one. */
const shapes: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: 'private key', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g },
  { name: 'AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { name: 'GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{60,251})\b/g },
  { name: 'GitLab token', pattern: /\bglpat-[A-Za-z0-9_-]{20,}/g },
  { name: 'Slack token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g },
  { name: 'npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { name: 'Google API key', pattern: /\bAIza[0-9A-Za-z_-]{35}/g },
  { name: 'Stripe key', pattern: /\b[rs]k_live_[0-9A-Za-z]{20,}/g },
  { name: 'API key', pattern: /\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{30,}/g },
]

/** Tools whose output comes from programs. What `read` gives stays as it is: it is edited and written back. */
const outputTools: ReadonlySet<string> = new Set(['bash', 'pwsh', 'job_output', 'terminal_read', 'terminal_send'])

/** `text` with each known shape of a secret replaced by what it was. */
export function redactSecrets(text: string): string {
  return shapes.reduce((left, { name, pattern }) => left.replace(pattern, `[${name} left out]`), text)
}

/**
 * Takes known shapes of secrets, and what git shows of secret-looking files, out of what programs print, before programs, cards, files and models see it.
 *
 * Done around the body, so that whatever looks at the result later, a cap on its size too, sees the one that stays.
 * What a listener puts in its place is looked at as well.
 * Source: design 6.2.
 */
export function secretRedaction({ sensitivePaths, machine }: { readonly sensitivePaths: () => readonly string[]; readonly machine: Pick<Machine, 'platform'> }): Plugin {
  const secretPattern = changingPathMatcher(sensitivePaths, styleOf(machine))
  const isSecret = (path: string): boolean => path !== '' && secretPattern(`/${path}`) !== null
  const cleanerFor = ({ arguments: args }: Pick<Execution, 'arguments'>): Clean => {
    const command = JSON.stringify(args)
    const isSearch = command.includes('git') && command.includes('grep')
    return (text) => redactSecrets(withoutSecretDiffs(text, isSecret, { isSearch }))
  }
  return {
    name: 'secret-redaction',
    apply(ctx) {
      ctx.on('tools/execute', (exec, next) => (outputTools.has(exec.name) ? next().then((result) => withoutSecrets(result, cleanerFor(exec))) : next()))
      ctx.on('tools/post-execute', (exec, _result, next) => (outputTools.has(exec.name) ? next().then((decision) => cleaned(decision, exec)) : next()))

      function cleaned(decision: PostExecuteDecision, exec: Execution): PostExecuteDecision {
        if (decision.kind !== 'accept') return decision
        const clean = cleanerFor(exec)
        if (decision.value !== undefined) return { ...decision, value: redacted(decision.value, clean) }
        return decision.content === undefined ? decision : { ...decision, content: decision.content.map((part) => redactedPart(part, clean)) }
      }
    },
  }
}

type Clean = (text: string) => string

/** The same object when nothing was found in it. */
function withoutSecrets(result: ToolResult, clean: Clean): ToolResult {
  if (!result.isError) {
    const value = redacted(result.value, clean)
    return value === result.value ? result : { ...result, value }
  }
  const message = clean(result.error.message)
  const meta = result.meta === undefined ? undefined : redacted(result.meta, clean)
  if (message === result.error.message && meta === result.meta) return result
  return { ...result, error: { ...result.error, message }, content: result.content.map((part) => redactedPart(part, clean)), ...(meta !== undefined && { meta }) }
}

const redactedPart = (part: ToolContent, clean: Clean): ToolContent => (part.type === 'text' ? { ...part, text: clean(part.text) } : part)

/** The same for every text in `value`; the same object when nothing was found in it. */
export function redacted(value: Json, clean: Clean = redactSecrets): Json {
  if (typeof value === 'string') return clean(value)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, entry]: [string, Json]) => [key, redacted(entry, clean)] as const)
  if (entries.every(([key, entry]) => entry === (value as Readonly<Record<string, Json>>)[key])) return value
  return Array.isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries)
}
