import { clipped } from '../../base/text.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Question, Questions } from '../../features/questions/service.ts'
import { presentCall, presentResult } from './ask-user-question.card.ts'

/** What a person can still be asked in one go. */
const MAX_QUESTIONS = 50
const MAX_OPTIONS = 100
/** UTF-16 units of a question, its header, a label or its description. */
const MAX_TEXT_CHARS = 10_000

/** `ask_user_question`: put questions before the person and wait for the answers. Source: agent tools specification 3. */
export function createAskUserQuestion(questions: Pick<Questions, 'ask'>): ToolDefinition {
  return defineTool({
    name: 'ask_user_question',
    description:
      'Ask the person when only they can decide. Put everything you need into one call. ' +
      'Offer options where you can, the one you would take first with "(Recommended)" at the end of its label; they can always answer in their own words or skip.',
    parameters: {
      questions: {
        type: 'array',
        required: true,
        items: {
          type: 'object',
          properties: {
            id: { type: 'string', required: true },
            question: { type: 'string', required: true },
            header: { type: 'string', description: 'One or two words.' },
            options: {
              type: 'array',
              items: {
                type: 'object',
                properties: { label: { type: 'string', required: true }, description: { type: 'string' } },
                additionalProperties: true,
              },
            },
            multi_select: { type: 'boolean' },
          },
          additionalProperties: true,
        },
      },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          answers: {
            type: 'array',
            required: true,
            items: {
              type: 'object',
              properties: {
                id: { type: 'string', required: true },
                selected: { type: 'array', items: { type: 'string' }, required: true },
                custom: { type: 'string' },
              },
              additionalProperties: false,
            },
          },
        },
        additionalProperties: false,
      },
      render: (_args, value) => [{ type: 'text', text: JSON.stringify(value) }],
      presentationMeta: (_args, { answers }) => answers.map(({ id, selected, custom }) => ({ id, selected, ...(custom !== undefined && { custom }) })),
    },
    limits: [
      { of: 'questions', max: MAX_QUESTIONS, unit: 'items' },
      { of: 'options of a question', max: MAX_OPTIONS, unit: 'items' },
      { of: 'one text', max: MAX_TEXT_CHARS, unit: 'characters' },
    ],
    canAskAgain: true,
    async execute(args, exec) {
      checkQuestions(args.questions)
      if (exec.agent === undefined) throw invalid('A question belongs to a session, and this call has none.')
      const answers = await questions.ask({ agent: exec.agent, callId: exec.callId, questions: args.questions, signal: exec.signal, addContext: exec.deferContext })
      return { answers }
    },
    presentCall,
    presentResult,
  })
}

function checkQuestions(questions: readonly Question[]): void {
  if (questions.length > MAX_QUESTIONS) throw invalid(`There are ${questions.length} questions, at most ${MAX_QUESTIONS} can be asked at once. Ask what matters most.`)
  const ids = new Set<string>()
  for (const { id, question, header, options } of questions) {
    if ((options?.length ?? 0) > MAX_OPTIONS) throw invalid(`Question “${clipped(id, 100)}” has ${options?.length} options, at most ${MAX_OPTIONS}. Offer the likely ones; the person can answer in their own words.`)
    const longest = Math.max(...[id, question, header, ...(options ?? []).flatMap(({ label, description }) => [label, description])].map((text) => text?.length ?? 0))
    if (longest > MAX_TEXT_CHARS) throw invalid(`A text of question “${clipped(id, 100)}” has ${longest} characters, at most ${MAX_TEXT_CHARS}. Say it shorter, or put it into your answer before you ask.`)
    if (question.trim() === '') throw invalid(`Question “${id}” has no text.`)
    if (ids.has(id)) throw invalid(`Two questions have the id “${id}”. Give each its own.`)
    ids.add(id)
    const labels = options?.map(({ label }) => label) ?? []
    if (labels.some((label) => label.trim() === '')) throw invalid(`An option of question “${id}” has no label.`)
    if (new Set(labels).size !== labels.length) throw invalid(`Two options of question “${id}” have the same label.`)
  }
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
