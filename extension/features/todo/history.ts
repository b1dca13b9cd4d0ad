import type { SessionEvent } from '../../core/log/event.ts'
import type { Task } from './events.ts'
import { noTasks, stepTasks } from './task-state.ts'

/** One change of a list. */
export interface TaskChange {
  /** Epoch ms. */
  readonly at: number
  readonly by: 'model' | 'person' | 'plan' | 'turn'
  readonly changes: readonly TaskDifference[]
}

export type TaskDifference =
  | { readonly kind: 'added' | 'removed' | 'completed' | 'begun' | 'reopened' | 'noted'; readonly content: string }
  | { readonly kind: 'reworded'; readonly content: string; readonly from: string }
  | { readonly kind: 'moved' }

/** What happened to the list, oldest first; a list that stayed as it was is no change. */
export function historyOf(events: readonly SessionEvent[]): readonly TaskChange[] {
  let state = noTasks
  const history: TaskChange[] = []
  for (const event of events) {
    const next = stepTasks(state, event)
    if (next.tasks !== state.tasks) {
      const changes = differences(state.tasks ?? [], next.tasks ?? [])
      if (changes.length > 0) history.push({ at: event.time, by: authors.get(event.type) ?? 'model', changes })
    }
    state = next
  }
  return history
}

const authors: ReadonlyMap<string, TaskChange['by']> = new Map([
  ['todo/edited', 'person'],
  ['plan/approved', 'plan'],
  ['turn/start', 'turn'],
])

/** What makes `after` of `before`, task by task. */
export function differences(before: readonly Task[], after: readonly Task[]): readonly TaskDifference[] {
  const old = new Map(before.map((task) => [task.id, task]))
  const now = new Set(after.map(({ id }) => id))
  const changed = after.flatMap((task): TaskDifference[] => {
    const was = old.get(task.id)
    if (was === undefined) return [{ kind: 'added', content: task.content }]
    return [
      ...(was.content === task.content ? [] : [{ kind: 'reworded' as const, content: task.content, from: was.content }]),
      ...(was.status === task.status ? [] : [{ kind: statusWords[task.status], content: task.content }]),
      ...(was.note === task.note ? [] : [{ kind: 'noted' as const, content: task.content }]),
    ]
  })
  const removed = before.filter(({ id }) => !now.has(id)).map(({ content }) => ({ kind: 'removed' as const, content }))
  const order = (list: readonly Task[], others: ReadonlySet<string>) => list.flatMap(({ id }) => (others.has(id) ? [id] : [])).join(' ')
  const isMoved = order(before, now) !== order(after, new Set(old.keys()))
  return [...changed, ...removed, ...(isMoved ? [{ kind: 'moved' as const }] : [])]
}

const statusWords = { pending: 'reopened', in_progress: 'begun', completed: 'completed' } as const
