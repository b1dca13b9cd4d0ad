import type { SessionEvent } from '../../core/log/event.ts'
import type { Task, Todo } from './events.ts'
import { matchTasks } from './match-tasks.ts'
import { tasksIn, textsIn, todosIn } from './read-list.ts'

/** Plugin name of the notices that tell the model what the person did. */
export const TASKS_PLUGIN = 'tasks'

/** Files that are remembered for the task at hand, and shown of one. */
const MAX_CHANGED = 200
const MAX_FILES = 20

/** The list that person and model share, as the log tells it. */
export interface TaskState {
  /** Null: there is none. */
  readonly tasks: readonly Task[] | null
  /** What the model left out of its list unfinished, until the person takes it back or lets it go. */
  readonly dropped: readonly Task[]
  /** The list as the model knows it. */
  readonly known: readonly Task[]
  /** The event with which it last heard of the list. */
  readonly toldAt: number
  /** That was summarised away since. */
  readonly isForgotten: boolean
  readonly turn: number
  /** Where each task that is under way was begun, by id. */
  readonly begun: Readonly<Record<string, number>>
  /** Files that changed lately, with the event that says so. */
  readonly changed: readonly { readonly path: string; readonly seq: number; readonly turn: number }[]
  /** The last list that the model wrote. */
  readonly writtenAt: number
}

export const noTasks: TaskState = { tasks: null, dropped: [], known: [], toldAt: -1, isForgotten: false, turn: 0, begun: {}, changed: [], writtenAt: -1 }

/** The state after one more event; the same object for events of others. */
export function stepTasks(state: TaskState, event: SessionEvent): TaskState {
  switch (event.type) {
    case 'todo/write':
      return written(state, todosIn(event.data.todos), event.seq)
    case 'todo/edited': {
      const { action, tasks, dropped } = event.data
      return { ...state, tasks: action === 'dismiss' ? null : tasksIn(tasks), dropped: tasksIn(dropped) }
    }
    case 'plan/approved':
      return seeded(state, textsIn(event.data.steps), event.seq)
    case 'user/message': {
      const { source } = event.data
      return source.kind === 'plugin' && source.plugin === TASKS_PLUGIN ? { ...state, known: state.tasks ?? [], toldAt: event.seq, isForgotten: false } : state
    }
    case 'compaction/summary':
      return event.data.shadowedSeqs.some((seq) => seq >= state.toldAt) ? { ...state, isForgotten: true } : state
    case 'turn/start':
      return state.tasks !== null && state.tasks.every(isDone) ? { ...noTasks, turn: event.data.turn } : { ...state, turn: event.data.turn }
    case 'fs/after-image':
      return { ...state, changed: [...state.changed, { path: event.data.path, seq: event.seq, turn: state.turn }].slice(-MAX_CHANGED) }
    default:
      return state
  }
}

export const isDone = ({ status }: Pick<Todo, 'status'>): boolean => status === 'completed'

/**
 * The model's list takes the place of the old one. What the person did and the model had not heard of yet stands: their additions stay,
 * their ticks count, what they removed stays away, and so does their order.
 */
function written(state: TaskState, todos: readonly Todo[], seq: number): TaskState {
  const before = state.tasks ?? []
  const known = new Map(state.known.map((task) => [task.id, task]))
  const now = new Map(before.map((task) => [task.id, task]))
  const added = before.filter(({ id }) => !known.has(id))
  const removed = state.known.filter(({ id }) => !now.has(id))
  const matches = matchTasks([...before, ...removed], todos)
  const theirs = todos.flatMap((todo, index): Task[] => {
    const match = matches[index] ?? null
    if (match === null) return [{ id: `t${seq}-${index + 1}`, ...todo }]
    if (!now.has(match.id)) return []
    // A tick of the person that the model did not know of.
    const isTheirs = (known.get(match.id)?.status ?? match.status) !== match.status
    return [completed({ ...match, content: todo.content, status: isTheirs ? match.status : todo.status }, match, state, seq)]
  })
  const meant = new Set(theirs.map(({ id }) => id))
  const kept = added.filter(({ id }) => !meant.has(id))
  const dropped = before.filter((task) => !meant.has(task.id) && known.has(task.id) && !isDone(task))
  const tasks = inOrderOf(before, state.known, [...theirs, ...kept])
  const begun = Object.fromEntries(tasks.filter(({ status }) => status === 'in_progress').map(({ id }) => [id, state.begun[id] ?? seq]))
  const [ids, contents] = [new Set(tasks.map(({ id }) => id)), new Set(tasks.map(({ content }) => content))]
  const open = [...state.dropped, ...dropped].filter(({ id, content }) => !ids.has(id) && !contents.has(content))
  // As the model wrote it, whatever the person's tick says.
  const said = new Map(todos.map(({ content, status }) => [content, status]))
  return { ...state, tasks, dropped: open, known: theirs.map((task) => ({ ...task, status: said.get(task.content) ?? task.status })), toldAt: seq, isForgotten: false, begun, writtenAt: seq }
}

/** With what changed while it was worked on, when this is what ends it. */
function completed(task: Task, before: Task, { begun, changed, turn, writtenAt }: TaskState, seq: number): Task {
  if (!isDone(task) || isDone(before)) return task
  const from = begun[task.id] ?? writtenAt
  const its = changed.filter((each) => each.seq > from && each.seq < seq)
  const files = [...new Set(its.map(({ path }) => path))].slice(-MAX_FILES)
  return files.length === 0 ? { ...task, turn } : { ...task, turn: its.at(-1)?.turn ?? turn, files }
}

/** Where the person moved tasks and the model did not know, they stand as the person put them. */
function inOrderOf(before: readonly Task[], known: readonly Task[], tasks: readonly Task[]): readonly Task[] {
  const common = (list: readonly Task[], other: readonly Task[]) => {
    const ids = new Set(other.map(({ id }) => id))
    return list.flatMap(({ id }) => (ids.has(id) ? [id] : [])).join(' ')
  }
  if (common(before, known) === common(known, before)) return tasks
  const place = new Map(before.map(({ id }, index) => [id, index]))
  const old = tasks.filter(({ id }) => place.has(id)).toSorted((left, right) => (place.get(left.id) ?? 0) - (place.get(right.id) ?? 0))
  return tasks.map((task) => (place.has(task.id) ? (old.shift() ?? task) : task))
}

/** The steps of an approved plan come after what is unfinished; what is done goes. The result of the review tells the model. */
function seeded(state: TaskState, steps: readonly string[], seq: number): TaskState {
  if (steps.length === 0) return state
  const open = (state.tasks ?? []).filter((task) => !isDone(task))
  const fresh = steps.filter((content) => !open.some((task) => task.content === content))
  const tasks = [...open, ...fresh.map((content, index): Task => ({ id: `p${seq}-${index + 1}`, content, status: 'pending' }))]
  return { ...state, tasks, known: tasks, toldAt: seq, isForgotten: false }
}
