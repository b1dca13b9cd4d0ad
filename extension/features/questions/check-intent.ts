import type { Question } from './service.ts'

/** What keeps the intent of a question from being shown, in words for its author; undefined when it is fine or there is none. */
export function problemOfIntent({ id, intent, options, detail }: Question): string | undefined {
  if (intent === undefined) return undefined
  if (!options?.some(({ label }) => label === intent.approve)) return `The intent of question “${id}” approves by “${intent.approve}”, which is none of its options. Name one of them.`
  if (detail === undefined || detail.trim() === '') return `Question “${id}” has an intent, but no detail to decide on. Give the text that is decided on as its detail.`
  return undefined
}
