import { FAILSAFE_SCHEMA, load, YAMLException } from 'js-yaml'
import * as z from 'zod'
import { utf8Length } from '../../base/text.ts'
import { SkillError, type SkillFacts } from './service.ts'

/** Lower-case words with single hyphens. Source: capability specification 13. */
export const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Characters of a name. */
const MAX_NAME = 64
/** UTF-8 bytes between the two lines of dashes. */
const MAX_FRONT_MATTER_BYTES = 16_384

export interface ParsedSkill {
  readonly facts: SkillFacts
  /** Behind the front matter, verbatim. */
  readonly body: string
}

const text = z.string({ error: 'must be text' }).trim().min(1, { error: 'is empty' })
const spellings = { true: true, yes: true, on: true, '1': true, false: false, no: false, off: false, '0': false } as const
const flag = z
  .string({ error: 'must be true or false' })
  .transform((word) => word.toLowerCase())
  .pipe(z.enum(Object.keys(spellings) as (keyof typeof spellings)[], { error: 'must be true or false' }))
  .transform((word) => spellings[word])

/** YAML's plainest schema gives nothing but text, lists and maps; other keys are for other readers. */
const frontMatterSchema = z.looseObject({
  name: text,
  description: text,
  whenToUse: text.optional(),
  metadata: z.record(z.string(), z.unknown(), { error: 'must be a map' }).optional(),
  'disable-model-invocation': flag.default(false),
  'user-invocable': flag.default(true),
})

/** A flag that is written otherwise would be passed over, and the skill be open to whom it should not. */
const misspelt: ReadonlyMap<string, string> = new Map([
  ['disableModelInvocation', 'disable-model-invocation'],
  ['userInvocable', 'user-invocable'],
])

/**
 * A skill as its file says it: YAML front matter between two lines of three dashes, then the instructions.
 *
 * Errors: `SkillError` `SKILL_BROKEN`, with what is wrong and what to do.
 */
export function parseSkill(source: string): ParsedSkill {
  const { yaml, body } = partsOf(source)
  const bytes = utf8Length(yaml)
  if (bytes > MAX_FRONT_MATTER_BYTES) throw broken(`Its front matter has ${bytes} bytes; at most ${MAX_FRONT_MATTER_BYTES} are read. Move what is long below it.`)
  return { facts: factsFrom(mapIn(yaml)), body: body.toWellFormed() }
}

function partsOf(source: string): { readonly yaml: string; readonly body: string } {
  const start = /^---[ \t]*\r?\n/.exec(source)?.[0].length
  const fence = /^---[ \t]*$/gm
  fence.lastIndex = start ?? 0
  const end = start === undefined ? null : fence.exec(source)
  if (end === null) throw broken('It has no front matter. Begin the file with a line of three dashes, name and description, and three dashes again.')
  return { yaml: source.slice(start, end.index), body: source.slice(fence.lastIndex).replace(/^\r?\n/, '') }
}

function mapIn(yaml: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = yaml.trim() === '' ? {} : load(yaml, { schema: FAILSAFE_SCHEMA, maxAliases: 100, maxDepth: 20 })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    // The front matter begins on the second line of the file, and the parser counts from 0.
    const line = error.mark === undefined ? '' : ` in line ${error.mark.line + 2}`
    throw broken(`Its front matter is no YAML: ${error.reason}${line}. Put a text that holds a colon or # in quotes.`, error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw broken('Its front matter is no list of names and values. Write name and description into it.')
  // Checked above; an object that is no array has names and values.
  return value as Readonly<Record<string, unknown>>
}

function factsFrom(map: Readonly<Record<string, unknown>>): SkillFacts {
  for (const [wrong, right] of misspelt) if (Object.hasOwn(map, wrong)) throw broken(`Its front matter says ${wrong}. Write ${right}.`)
  const outcome = frontMatterSchema.safeParse(map)
  if (!outcome.success) {
    const [issue] = outcome.error.issues
    const key = String(issue?.path[0] ?? '')
    throw broken(Object.hasOwn(map, key) ? `Its front matter is wrong: ${key} ${issue?.message}.` : `Its front matter says no ${key}. Add one.`)
  }
  const { name, description, whenToUse, 'disable-model-invocation': isDisabled, 'user-invocable': isForPerson } = outcome.data
  if (!SKILL_NAME.test(name) || name.length > MAX_NAME) {
    throw broken(`Its name ${JSON.stringify(name.slice(0, MAX_NAME))} cannot be used. A name is at most ${MAX_NAME} lower-case letters and digits, with single hyphens between.`)
  }
  return { name, description, ...(whenToUse !== undefined && { whenToUse }), isForModel: !isDisabled, isForPerson }
}

const broken = (reason: string, cause?: unknown) => new SkillError('SKILL_BROKEN', reason, { cause })
