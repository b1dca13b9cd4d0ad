/** Dollars in few characters: `$0.12`, `$12.30`, `$0.0042` where cents would say nothing, `$1,204`. */
export function formatDollars(amount: number): string {
  if (amount >= 1_000) return `$${Math.round(amount).toLocaleString('en-US')}`
  if (amount === 0 || amount >= 0.01) return `$${amount.toFixed(2)}`
  if (amount < 0.0001) return '<$0.0001'
  return `$${amount.toFixed(4)}`
}
