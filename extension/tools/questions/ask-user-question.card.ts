import { isJsonObject, type Json } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asArray, asString, asStrings, textContent } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface AskUserQuestionArgs {
  readonly questions: readonly {
    readonly id: string
    readonly question: string
    readonly options?: readonly { readonly label: string; readonly description?: string }[]
  }[]
}

export const presentCall = ({ questions }: AskUserQuestionArgs): ToolCallView => ({
  card: 'generic',
  title: questions.length === 1 ? `Ask: ${questions[0]?.question ?? ''}` : `Ask ${questions.length} questions`,
  kind: 'other',
  content: questions.map(({ question, options = [] }) => ({
    type: 'text',
    text: [question, ...options.map(({ label }) => `- ${label}`)].join('\n'),
  })),
})

export function presentResult({ questions }: AskUserQuestionArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return { card: 'generic', title: 'Question not answered', content: textContent(content) }
  const answers = asArray(meta)?.map(answerFrom)
  if (answers === undefined || answers.length !== questions.length) return undefined
  return {
    card: 'question',
    items: questions.map(({ question, options = [] }, index) => ({
      question,
      options: options.map(({ label }) => label),
      selected: answers[index]?.selected ?? [],
      ...(answers[index]?.custom !== undefined && { custom: answers[index].custom }),
    })),
  }
}

function answerFrom(meta: Json): { readonly selected: readonly string[]; readonly custom?: string } | undefined {
  if (!isJsonObject(meta)) return undefined
  const custom = asString(meta['custom'])
  return { selected: asStrings(meta['selected']) ?? [], ...(custom !== undefined && { custom }) }
}
