import type { Json } from '../../base/json.ts'

/** What the model reads of a finished run: the value stays whole, its text is cut at `maxChars` UTF-16 units. */
export function outcomeText(name: string, { agentsStarted, result }: { readonly agentsStarted: number; readonly result: Json }, maxChars: number): string {
  const text = JSON.stringify(result, null, 2)
  const cut = text.slice(0, maxChars).toWellFormed()
  const rest = text.length - cut.length
  return `Workflow ${name} completed; ${agentsStarted} ${agentsStarted === 1 ? 'agent was' : 'agents were'} started.\n${cut}${rest > 0 ? `\n[${rest} more characters are left out]` : ''}`
}

/** UTF-16 units of a result that the model reads. */
export const MAX_SHOWN_RESULT_CHARS = 50_000
