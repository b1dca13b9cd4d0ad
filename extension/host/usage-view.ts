import type { Localization } from '../capabilities/localization.ts'
import { noCost, type CostSum } from '../core/cost/cost-projection.ts'
import type { BudgetUse } from '../core/cost/events.ts'
import { amountWords, budgetWords } from '../core/cost/words.ts'
import type { ContextBreakdown } from '../core/projections/context-breakdown.ts'
import type { ProjectionSnapshot } from '../core/projections/projection.ts'
import type { CostView, WindowPartView, WindowView } from '../protocol/view-state.ts'

/** Tools named one by one; the others are one line. */
const MAX_TOOLS = 6

/** What fills the model's window, the largest part first; null before anything does. */
export function windowView(values: ProjectionSnapshot['values']): WindowView | null {
  // The unit of this key makes this value.
  const breakdown = values['contextBreakdown'] as ContextBreakdown | undefined
  if (breakdown === undefined || breakdown.usedTokens === 0) return null
  const { parts, toolResultsByTool, usedTokens, contextWindow } = breakdown
  const list = Object.entries(parts).flatMap(([part, tokens]) => (tokens > 0 ? [{ part: part as WindowPartView['part'], tokens }] : []))
  return {
    usedTokens,
    windowTokens: contextWindow,
    parts: list.sort((a, b) => b.tokens - a.tokens),
    tools: largest(toolResultsByTool),
  }
}

function largest(byTool: ContextBreakdown['toolResultsByTool']): WindowView['tools'] {
  const sorted = Object.entries(byTool).filter(([, tokens]) => tokens > 0).sort(([, a], [, b]) => b - a)
  const rest = sorted.slice(MAX_TOOLS).reduce((sum, [, tokens]) => sum + tokens, 0)
  return [...sorted.slice(0, MAX_TOOLS).map(([name, tokens]) => ({ name, tokens })), ...(rest > 0 ? [{ name: null, tokens: rest }] : [])]
}

/** What was used and paid, those it started counted in; null before the first request. */
export function costView(sum: CostSum, own: CostSum, uses: readonly BudgetUse[], l10n: Localization): CostView | null {
  if (sum.requests === 0) return null
  const t = l10n.t.bind(l10n)
  const { inputTokens, cacheRead, cacheWrite, outputTokens, reasoning, amount, requests, unpriced } = sum
  return {
    amount: requests === unpriced ? null : amount,
    isWhole: unpriced === 0,
    words: amountWords(sum, t),
    startedWords: sum.requests > own.requests ? amountWords(minus(sum, own), t) : null,
    inputTokens,
    cacheRead,
    cacheWrite,
    outputTokens,
    reasoning,
    budgets: uses.map((use) => ({ words: budgetWords(use, t), share: Math.min(1, use.used / use.limit) })),
  }
}

/** Lines for the tooltip of the status bar. */
export function usageLines(window: WindowView | null, cost: CostView | null, { t }: Localization): readonly string[] {
  const lines: string[] = []
  if (window !== null && window.windowTokens !== null) {
    lines.push(t('{used} of {window} tokens of the model’s window', { used: tokensText(window.usedTokens), window: tokensText(window.windowTokens) }))
    const shown = window.parts.slice(0, 4).map(({ part, tokens }) => `${partName(part, t)} ${tokensText(tokens)}`)
    if (shown.length > 0) lines.push(shown.join(' · '))
  }
  if (cost !== null) {
    const read = cost.inputTokens + cost.cacheRead + cost.cacheWrite
    lines.push(t('Cost so far: {cost}', { cost: cost.words }))
    if (read > 0) lines.push(t('{share}% of what was read came from the cache', { share: Math.round((cost.cacheRead / read) * 100) }))
    for (const { words, share } of cost.budgets) if (share >= 0.8) lines.push(words)
  }
  return lines
}

function partName(part: WindowPartView['part'], t: Localization['t']): string {
  switch (part) {
    case 'system':
      return t('System prompt')
    case 'tools':
      return t('Tools')
    case 'instructions':
      return t('Instruction files')
    case 'runtimeContext':
      return t('Facts of the editor')
    case 'prompts':
      return t('Your messages')
    case 'notices':
      return t('Notes to the model')
    case 'assistantText':
      return t('Answers')
    case 'reasoning':
      return t('Thoughts')
    case 'toolCalls':
      return t('Tool calls')
    case 'toolResults':
      return t('Tool output')
    case 'summary':
      return t('Summary')
  }
}

/** `1234567` in a word: `1.2M`. */
export const tokensText = (tokens: number) => (tokens < 1_000 ? String(tokens) : tokens < 999_500 ? `${Math.round(tokens / 100) / 10}k` : `${Math.round(tokens / 100_000) / 10}M`)

function minus(sum: CostSum, own: CostSum): CostSum {
  return Object.fromEntries(Object.keys(noCost).map((key) => [key, sum[key as keyof CostSum] - own[key as keyof CostSum]])) as CostSum
}
