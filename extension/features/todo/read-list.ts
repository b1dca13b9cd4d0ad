import type { Task, Todo } from './events.ts'

/*
 * The log holds a list to being a list; what stands in it may come from another build or a foreign hand. An entry that cannot be read is
 * left out, so that the rest of the list, and the session, go on.
 */

export const todosIn = (list: readonly unknown[]): readonly Todo[] => list.filter(isTodo)
export const tasksIn = (list: readonly unknown[]): readonly Task[] => list.filter(isTask)
export const textsIn = (list: readonly unknown[]): readonly string[] => list.filter((each) => typeof each === 'string')

const isTodo = (value: unknown): value is Todo => isRecord(value) && hasWords(value)

const isTask = (value: unknown): value is Task =>
  isRecord(value) &&
  hasWords(value) &&
  typeof value['id'] === 'string' &&
  ['string', 'undefined'].includes(typeof value['note']) &&
  ['number', 'undefined'].includes(typeof value['turn']) &&
  (value['files'] === undefined || (Array.isArray(value['files']) && value['files'].every((file) => typeof file === 'string')))

const hasWords = (value: Readonly<Record<string, unknown>>): boolean => typeof value['content'] === 'string' && statuses.has(value['status'])

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const statuses: ReadonlySet<unknown> = new Set<Todo['status']>(['pending', 'in_progress', 'completed'])
