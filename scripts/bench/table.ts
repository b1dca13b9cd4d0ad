/** One measured figure beside its floor and its goal. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'ms' | 'bytes' | 'MB' | 'events/s' | 'files' | 'times'
  /** What the same work costs without the harness, in the same unit, in the same run. */
  readonly floor?: number
  /** Largest ratio to the floor, or largest value where there is no floor; smallest for rates. */
  readonly goal?: number
}

export const ratioOf = (figure: Figure): number | null => (figure.floor ? figure.value / figure.floor : null)

/** Whether the goal is met; null without a goal. */
export function isMet(figure: Figure): boolean | null {
  if (figure.goal === undefined) return null
  if (figure.unit === 'events/s') return figure.value >= figure.goal
  return (ratioOf(figure) ?? figure.value) <= figure.goal
}

/** The figures as a table for people. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const ratio = ratioOf(figure)
    const met = isMet(figure)
    return [
      figure.name,
      `${shown(figure.value)} ${figure.unit}`,
      figure.floor === undefined ? '' : `${shown(figure.floor)} ${figure.unit}`,
      ratio === null ? '' : `${ratio.toFixed(2)}×`,
      figure.goal === undefined ? '' : figure.unit === 'events/s' ? `≥ ${shown(figure.goal)}` : `≤ ${shown(figure.goal)}${figure.floor === undefined ? '' : '×'}`,
      met === null ? '' : met ? 'met' : 'missed',
    ]
  })
  const all = [['what', 'measured', 'floor', 'ratio', 'goal', ''], ...rows]
  const widths = all[0]?.map((_cell, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? []
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()).join('\n')
}

const shown = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en-US') : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
