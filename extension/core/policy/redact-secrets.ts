import type { Json } from '../../base/json.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type {} from '../tools/service.ts'

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

/** Takes known shapes of secrets out of what programs print, before programs and models see it. Source: design 6.2. */
export const secretRedaction: Plugin = {
  name: 'secret-redaction',
  apply(ctx) {
    ctx.on('tools/post-execute', async (exec, result, next) => {
      const decision = await next()
      if (!outputTools.has(exec.name) || decision.kind !== 'accept' || decision.content !== undefined) return decision
      if (result.isError) {
        const content = result.content.map((part) => (part.type === 'text' ? { ...part, text: redactSecrets(part.text) } : part))
        return result.content.some((part, at) => part.type === 'text' && part.text !== (content[at] as typeof part).text) ? { ...decision, content } : decision
      }
      const before = decision.value ?? result.value
      const value = redacted(before)
      return value === before ? decision : { ...decision, value }
    })
  },
}

/** The same object when nothing was found in it. */
function redacted(value: Json): Json {
  if (typeof value === 'string') return redactSecrets(value)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, entry]: [string, Json]) => [key, redacted(entry)] as const)
  if (entries.every(([key, entry]) => entry === (value as Readonly<Record<string, Json>>)[key])) return value
  return Array.isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries)
}
