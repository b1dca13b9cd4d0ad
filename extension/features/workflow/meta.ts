import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { WorkflowError } from './error.ts'

/** UTF-16 units of one text that a run shows: of its meta, a label, a phase. */
export const MAX_META_CHARS = 4_000
const MAX_PHASES = 200

/** What a workflow says of itself. */
export interface WorkflowMeta {
  readonly name: string
  readonly description: string
  readonly whenToUse?: string
  readonly phases?: readonly { readonly title: string; readonly detail?: string; readonly provider?: string; readonly model?: string }[]
}

/** Errors: `WorkflowError` `META_INVALID` that names every violation at once. */
export function checkedMeta(meta: Json): WorkflowMeta {
  const problems = isJsonObject(meta) ? [...textProblems(meta, 'meta', { name: true, description: true, whenToUse: false }, ['phases']), ...phaseProblems(meta['phases'])] : ['meta is no object']
  if (problems.length > 0) throw new WorkflowError('META_INVALID', `The meta of this workflow cannot be used: ${problems.join('; ')}.`)
  // Every field was looked at above.
  return meta as unknown as WorkflowMeta
}

function phaseProblems(phases: Json | undefined): readonly string[] {
  if (phases === undefined) return []
  if (!isJsonArray(phases)) return ['meta.phases is no list']
  if (phases.length > MAX_PHASES) return [`meta.phases has ${phases.length} entries, and ${MAX_PHASES} is the most`]
  return phases.flatMap((phase, index) =>
    isJsonObject(phase) ? textProblems(phase, `meta.phases[${index}]`, { title: true, detail: false, provider: false, model: false }) : [`meta.phases[${index}] is no object`],
  )
}

/** `fields`: which must be there. */
function textProblems(object: JsonObject, path: string, fields: Readonly<Record<string, boolean>>, others: readonly string[] = []): readonly string[] {
  const problems = Object.entries(fields).flatMap(([name, isRequired]) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    if (value === undefined) return isRequired ? [`${path}.${name} is missing`] : []
    if (typeof value !== 'string') return [`${path}.${name} is no text`]
    if (value.length > MAX_META_CHARS) return [`${path}.${name} has ${value.length} characters, and ${MAX_META_CHARS} is the most`]
    return value.trim() === '' ? [`${path}.${name} is empty`] : []
  })
  const unknown = Object.keys(object).filter((name) => !Object.hasOwn(fields, name) && !others.includes(name))
  return [...problems, ...unknown.map((name) => `${path}.${name} is not known`)]
}
