import * as z from 'zod'
import type { Json } from '../../base/json.ts'
import { placeholderProblem } from '../../core/prompt/interpolate.ts'
import { MAX_HANDLERS, MAX_SECTION_CHARS, MAX_SECTIONS, MAX_TOOLS } from './caps.ts'
import { DynamicPluginError } from './error.ts'
import { observedEventNames } from './observed-events.ts'

const name = z.string().min(1).max(100)
const parameters = z.custom<{ readonly [name: string]: Json }>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'parameters is an object of specs by name')

const schema = z.strictObject({
  handlers: z.array(name).max(MAX_HANDLERS, `at most ${MAX_HANDLERS} handlers`),
  tools: z.array(z.strictObject({ name: z.string().regex(/^[\w.-]{1,64}$/, 'a name of a tool has 1 to 64 letters, digits, dots, dashes or underscores'), description: z.string('a tool needs a description').min(1, 'a tool needs a description').max(4_000), parameters })).max(MAX_TOOLS, `at most ${MAX_TOOLS} tools`),
  events: z.array(z.enum(observedEventNames)),
  sections: z.array(z.strictObject({ name, text: z.string().min(1).max(MAX_SECTION_CHARS, `at most ${MAX_SECTION_CHARS} characters a section`), order: z.number().min(0).max(1_000).exactOptional() })).max(MAX_SECTIONS, `at most ${MAX_SECTIONS} sections`),
})

/** What a host half brings, as it said when it had started. */
export type Declared = z.infer<typeof schema>

export const nothingDeclared: Declared = { handlers: [], tools: [], events: [], sections: [] }

/** Errors: `DynamicPluginError` `RUN_FAILED` with the first thing that is wrong and where. */
export function readDeclared(raw: Json | undefined): Declared {
  const refused = (where: string, why: string) => new DynamicPluginError('RUN_FAILED', `What the plugin declares is not right (${where}): ${why.replace(/\.$/, '')}. Define a corrected package and run that.`)
  const parsed = schema.safeParse(raw)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw refused(issue?.path.join('.') ?? '', issue?.message ?? 'it cannot be read')
  }
  // No request could be made with it, so nobody could ask the model to mend it.
  for (const { name: section, text } of parsed.data.sections) {
    const problem = placeholderProblem(text, section)
    if (problem !== null) throw refused('sections', problem)
  }
  return parsed.data
}
