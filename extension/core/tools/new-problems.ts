import { clipped } from '../../base/text.ts'
import type { InferValue, ValueSpec } from '../schema/spec.ts'

/** Problems that a change is said to have brought; more are counted. */
export const MAX_NEW_PROBLEMS = 10
/** Characters (UTF-16 units) of each one's message. */
const MAX_MESSAGE_CHARS = 300

/**
 * In the value of a call that changed a file, under `newProblems`: what the language services find wrong with it now and did
 * not before. Put there by a listener, never by the tool itself. Source: capability specification 20.4.
 */
export const newProblemsSchema = {
  type: 'object',
  properties: {
    errors: { type: 'integer', required: true },
    warnings: { type: 'integer', required: true },
    first: {
      type: 'array',
      required: true,
      items: {
        type: 'object',
        properties: {
          line: { type: 'integer', required: true },
          severity: { type: 'string', enum: ['error', 'warning'], required: true },
          message: { type: 'string', required: true },
          source: { type: 'string' },
          path: { type: 'string', description: 'Of a change to several files: where.' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies ValueSpec
export type NewProblems = InferValue<typeof newProblemsSchema>

/** For the model: one sentence, then one line for each. */
export function newProblemsText(problems: NewProblems): string {
  const { errors, warnings, first } = problems
  const more = errors + warnings - first.length
  return [
    `The editor now finds ${newProblemsWords(problems)} in ${first.some(({ path }) => path !== undefined) ? 'the files' : 'the file'}, which the text before this change did not have:`,
    ...first.map(({ path, line, severity, message, source }) => `  ${path === undefined ? '' : `${path} `}line ${line}: ${severity}: ${shown(message)}${source === undefined ? '' : ` [${source}]`}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n')
}

/** For the card: one line, with the first of them. */
export function newProblemsLine(problems: NewProblems): string {
  const [first] = problems.first
  return `New: ${newProblemsWords(problems)}.${first === undefined ? '' : ` ${first.path === undefined ? '' : `${first.path}, `}Line ${first.line}: ${shown(first.message)}`}`
}

const shown = (message: string) => clipped(message.replaceAll(/\s+/g, ' ').trim(), MAX_MESSAGE_CHARS)

/** Such as `1 error and 2 warnings`. */
function newProblemsWords({ errors, warnings }: Pick<NewProblems, 'errors' | 'warnings'>): string {
  return [...(errors > 0 ? [counted(errors, 'error')] : []), ...(warnings > 0 ? [counted(warnings, 'warning')] : [])].join(' and ')
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
