import { isJsonObject } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolResultView } from '../../protocol/cards.ts'

/** The line of a change of the board, before and after. */
export function updateWords(action: string, task: string, owner: string | undefined): { readonly title: string; readonly doneTitle: string } {
  const [now, done] = words[action] ?? ['Change', 'Changed']
  if (action !== 'reassign') return { title: `${now} ${task}`, doneTitle: `${done} ${task}` }
  const who = owner === undefined || owner.trim() === '' ? null : owner.trim()
  return who === null ? { title: `Take ${task} from its owner`, doneTitle: `Took ${task} from its owner` } : { title: `Give ${task} to ${who}`, doneTitle: `Gave ${task} to ${who}` }
}

const words: Readonly<Record<string, readonly [now: string, done: string]>> = {
  claim: ['Claim', 'Claimed'],
  release: ['Release', 'Released'],
  edit: ['Edit', 'Edited'],
  set_dependencies: ['Change what blocks', 'Changed what blocks'],
  complete: ['Complete', 'Completed'],
  reopen: ['Reopen', 'Reopened'],
  delete: ['Delete', 'Deleted'],
}

export const taskOf = (id: string): string => id.replace(/^task-(\d+)$/, 'task $1')

/** In the body, what the task is: its number and subject. */
export function taskDone({ isError, meta }: PresentedResult): ToolResultView | undefined {
  if (isError || !isJsonObject(meta ?? null)) return undefined
  const { id, subject, status } = meta as { readonly [key: string]: unknown }
  if (typeof id !== 'string' || typeof subject !== 'string' || typeof status !== 'string') return undefined
  return { card: 'generic', content: [{ type: 'text', text: `${id} [${status.replace('_', ' ')}] ${subject}` }] }
}
