import type { ModelPrice, ModelRates, Usage } from '../model/contract.ts'

/** The rates that hold for a request of `inputTokens` (cached ones too) sent at `time` (epoch ms). */
export function ratesAt(price: ModelPrice, { inputTokens, time }: { readonly inputTokens: number; readonly time: number }): ModelRates {
  const { input, cacheRead, cacheWrite, output } = price.long && inputTokens > price.long.aboveTokens ? price.long : price
  const factor = isPeak(price.offPeak, time) ? 1 : (price.offPeak?.factor ?? 1)
  return { input: input * factor, cacheRead: cacheRead * factor, cacheWrite: cacheWrite * factor, output: output * factor }
}

/** Dollars. */
export function amountOf(usage: Usage, rates: ModelRates): number {
  const { inputTokens, cacheRead, cacheWrite, outputTokens, reasoning } = usage
  return dollars((inputTokens * rates.input + cacheRead * rates.cacheRead + cacheWrite * rates.cacheWrite + (outputTokens + reasoning) * rates.output) / 1e6)
}

/** Without the tail that sums of binary fractions grow. */
export const dollars = (amount: number): number => Math.round(amount * 1e9) / 1e9

export const inputOf = ({ inputTokens, cacheRead, cacheWrite }: Usage): number => inputTokens + cacheRead + cacheWrite

/** All tokens that went through the model, cached ones too. */
export const tokensOf = (usage: Usage): number => inputOf(usage) + usage.outputTokens + usage.reasoning

function isPeak(offPeak: ModelPrice['offPeak'], time: number): boolean {
  if (offPeak === undefined) return true
  const date = new Date(time)
  const hour = date.getUTCHours()
  return offPeak.peakDays.includes(date.getUTCDay()) && offPeak.peakHours.some(([from, to]) => hour >= from && hour < to)
}
