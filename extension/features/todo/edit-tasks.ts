import { assertNever } from '../../base/assert-never.ts'
import { MAX_TASK_CHARS, MAX_TASKS, type TaskEdit } from '../../protocol/task-edit.ts'
import type { Task, TaskAction } from './events.ts'

interface Lists {
  readonly tasks: readonly Task[] | null
  readonly dropped: readonly Task[]
}

export type Edited = { readonly ok: true; readonly action: TaskAction; readonly tasks: readonly Task[]; readonly dropped: readonly Task[] } | { readonly ok: false; readonly problem: string }

/** The list after what a person did to it, or words for them why it stays as it is. `newId` names a task that is added. */
export function editTasks({ tasks: held, dropped }: Lists, edit: TaskEdit, newId: () => string): Edited {
  const tasks = held ?? []
  const done = (action: TaskAction, next: readonly Task[], left: readonly Task[] = dropped): Edited => ({ ok: true, action, tasks: next, dropped: left })
  const changed = (id: string, action: TaskAction, change: (task: Task) => Task): Edited =>
    tasks.some((task) => task.id === id) ? done(action, tasks.map((task) => (task.id === id ? change(task) : task))) : gone
  switch (edit.do) {
    case 'tick':
      return changed(edit.id, edit.isDone ? 'tick' : 'untick', (task) => ({ ...task, status: edit.isDone ? 'completed' : 'pending' }))
    case 'note': {
      const note = edit.note.trim()
      if (note.length > MAX_TASK_CHARS) return tooLong
      return changed(edit.id, 'note', ({ note: _old, ...task }) => (note === '' ? task : { ...task, note }))
    }
    case 'move': {
      const task = tasks.find(({ id }) => id === edit.id)
      const others = tasks.filter(({ id }) => id !== edit.id)
      const at = edit.before === null ? others.length : others.findIndex(({ id }) => id === edit.before)
      if (task === undefined || at < 0) return gone
      return done('move', [...others.slice(0, at), task, ...others.slice(at)])
    }
    case 'add': {
      const content = edit.content.trim()
      if (content === '') return refused('A task needs words.')
      if (content.length > MAX_TASK_CHARS) return tooLong
      if (tasks.some((task) => task.content === content)) return refused('This task stands in the list already.')
      if (tasks.length >= MAX_TASKS) return refused(`A list holds at most ${MAX_TASKS} tasks. Remove some first.`)
      return done('add', [...tasks, { id: newId(), content, status: 'pending' }])
    }
    case 'remove':
      return tasks.some(({ id }) => id === edit.id) ? done('remove', tasks.filter(({ id }) => id !== edit.id)) : gone
    case 'take-back': {
      const task = dropped.find(({ id }) => id === edit.id)
      return task === undefined ? gone : done('take-back', [...tasks, task], dropped.filter(({ id }) => id !== edit.id))
    }
    case 'let-go':
      return done('let-go', tasks, [])
    case 'dismiss':
      return done('dismiss', [], [])
    default:
      return assertNever(edit, 'edit of a task list')
  }
}

const refused = (problem: string): Edited => ({ ok: false, problem })
const gone = refused('This task is not in the list any more.')
const tooLong = refused(`That is too long: at most ${MAX_TASK_CHARS} characters.`)
