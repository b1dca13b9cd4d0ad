import { clipped } from '../../base/text.ts'

/** Steps of a plan that become tasks. */
export const MAX_STEPS = 40
/** Characters (UTF-16 units) of one. */
const MAX_STEP_CHARS = 200

interface Item {
  readonly heading: string
  readonly kind: 'number' | 'bullet'
  readonly text: string
}

/**
 * The top-level steps of a plan in Markdown, in order, each once: the numbered list under the heading that speaks of steps, else the
 * longest numbered list, else the bullets under such a heading. Empty for a plan without a list of steps.
 */
export function stepsOf(plan: string): readonly string[] {
  const items = itemsOf(plan)
  const numbered = items.filter(({ kind }) => kind === 'number')
  const chosen = longestUnder(numbered.filter(isOfSteps)) ?? longestUnder(numbered) ?? longestUnder(items.filter(isOfSteps)) ?? []
  return [...new Set(chosen.map(({ text }) => clipped(plain(text), MAX_STEP_CHARS)).filter((text) => text !== ''))].slice(0, MAX_STEPS)
}

const isOfSteps = ({ heading }: Item): boolean => /\b(steps?|plan|tasks?|changes|implementation|order|work|todo)\b/i.test(heading)

/** The items of the heading that has most; undefined without any. */
function longestUnder(items: readonly Item[]): readonly Item[] | undefined {
  const groups = Map.groupBy(items, ({ heading }) => heading)
  return [...groups.values()].toSorted((left, right) => right.length - left.length)[0]
}

/** List items that stand at the left edge, outside of code, with the nearest heading over them. */
function itemsOf(plan: string): readonly Item[] {
  const items: Item[] = []
  let heading = ''
  let fence: string | null = null
  for (const [index, line] of plan.split(/\r?\n/).entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== null) {
      if (mark?.startsWith(fence) === true) fence = null
      continue
    }
    if (mark !== undefined) {
      fence = mark
      continue
    }
    const title = /^#{1,6}\s+(.+)$/.exec(line)?.[1]
    // Two sections of one name are two.
    if (title !== undefined) heading = `${title} ${index}`
    const [, number, , text] = /^(?:(\d{1,3}[.)])|([-*+]))\s+(?:\[[ xX]\]\s+)?(\S.*)$/.exec(line) ?? []
    if (text !== undefined) items.push({ heading, kind: number === undefined ? 'bullet' : 'number', text })
  }
  return items
}

/** Without emphasis; code marks stay, since the view draws them. */
const plain = (text: string): string => text.replaceAll(/\*\*(.+?)\*\*|__(.+?)__/g, '$1$2').trim()
