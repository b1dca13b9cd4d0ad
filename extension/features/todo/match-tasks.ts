import type { Task, Todo } from './events.ts'

/** How alike two wordings must be, as the share of words they have in common, to be one task. */
const ALIKE = 0.6
/** Pairs of wordings that are compared: every list of today is far below; one of a log that knew no cap is not worth a wait. */
const MAX_PAIRS = 250_000

/**
 * Which task each entry of a list means: the one of the same words, else of the same words but for case and signs, else one worded much
 * alike. Each task is meant once. Null: a new one.
 */
export function matchTasks(tasks: readonly Task[], todos: readonly Pick<Todo, 'content'>[]): readonly (Task | null)[] {
  const free = new Set(tasks)
  const found = new Map<number, Task>()
  const take = (index: number, task: Task | undefined) => {
    if (task === undefined) return
    free.delete(task)
    found.set(index, task)
  }
  const open = () => [...todos.entries()].filter(([index]) => !found.has(index))
  for (const words of [(text: string) => text, plain]) {
    const byWords = Map.groupBy(free, ({ content }) => words(content))
    for (const [index, { content }] of open()) take(index, byWords.get(words(content))?.shift())
  }
  const left = open()
  if (left.length * free.size > MAX_PAIRS) return todos.map((_todo, index) => found.get(index) ?? null)
  const wordings = new Map([...free].map((task) => [task, new Set(wordsOf(task.content))]))
  for (const [index, { content }] of left) {
    const words = new Set(wordsOf(content))
    take(index, [...free].find((task) => likeness(wordings.get(task) ?? new Set(), words) >= ALIKE))
  }
  return todos.map((_todo, index) => found.get(index) ?? null)
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const plain = (text: string): string => wordsOf(text).join(' ')

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((word) => b.has(word)).length
  return a.size + b.size === 0 ? 0 : common / Math.max(a.size, b.size)
}
