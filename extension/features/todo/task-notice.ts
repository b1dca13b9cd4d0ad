import { assertNever } from '../../base/assert-never.ts'
import type { Task } from './events.ts'
import { differences, type TaskDifference } from './history.ts'

/**
 * What the model is told of what the person did to the list it knows; null when that is nothing.
 * Notes are the person's own and told with it.
 */
export function taskNotice(known: readonly Task[], tasks: readonly Task[] | null): { readonly text: string; readonly summary: string } | null {
  if (tasks === null) return known.length === 0 ? null : { text: 'The person dismissed the task list. Write a new one only if the work still needs it.', summary: 'You dismissed the task list' }
  const changes = differences(known, tasks)
  if (changes.length === 0) return null
  return {
    text: `The person changed the task list: ${changes.map(wordsOf).join('; ')}. It is now:\n${listText(tasks)}`,
    summary: 'You changed the task list',
  }
}

/** Tells a list again that was summarised away. */
export const taskReminder = (tasks: readonly Task[]): { readonly text: string; readonly summary: string } => ({
  text: `The task list, as it stands:\n${listText(tasks)}`,
  summary: 'The task list, told again',
})

const listText = (tasks: readonly Task[]): string => tasks.map(({ content, status, note }) => `${marks[status]} ${content}${note === undefined ? '' : ` (note: ${note})`}`).join('\n')

const marks = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const

function wordsOf(change: TaskDifference): string {
  switch (change.kind) {
    case 'added':
      return `added “${change.content}”`
    case 'removed':
      return `removed “${change.content}”`
    case 'completed':
      return `ticked “${change.content}”`
    case 'begun':
      return `began “${change.content}”`
    case 'reopened':
      return `reopened “${change.content}”`
    case 'noted':
      return `put a note to “${change.content}”`
    case 'reworded':
      return `reworded “${change.from}” as “${change.content}”`
    case 'moved':
      return 'changed the order'
    default:
      return assertNever(change, 'difference of a task list')
  }
}
