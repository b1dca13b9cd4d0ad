import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import { clipped } from '../../base/text.ts'
import { checkSchema as checkSubset } from '../../core/schema/check-schema.ts'
import { WorkflowError } from './error.ts'
import { MAX_META_CHARS, type WorkflowMeta } from './meta.ts'

/** One `agent()` of a script, checked. */
export interface AgentRequest {
  readonly prompt: string
  readonly label: string
  readonly phase?: string
  readonly schema?: JsonObject
  /** Of models, in the place of the parent's. */
  readonly provider?: string
  readonly model?: string
}

/** Length of a label made from a prompt, in UTF-16 units. */
export const MAX_LABEL_CHARS = 48
const deferred = ['effort', 'isolation', 'agentType']
const texts = ['label', 'phase', 'provider', 'model'] as const

/**
 * `phase` is the one that `phase()` named last; a phase of `meta` may name the model of its agents.
 * Errors: `WorkflowError` `INVALID_ARGUMENT`, `UNSUPPORTED_OPTION`, `UNSUPPORTED_SCHEMA`, each of which ends the run.
 */
export function agentRequest(prompt: Json | undefined, options: Json | undefined, phase: Json | undefined, meta: WorkflowMeta): AgentRequest {
  if (typeof prompt !== 'string' || prompt.trim() === '') throw new WorkflowError('INVALID_ARGUMENT', 'agent() takes a prompt first, a text that is not empty.')
  if (!isJsonObject(options)) throw new WorkflowError('INVALID_ARGUMENT', 'The options of agent() are no object.')
  for (const name of Object.keys(options)) {
    if (deferred.includes(name)) throw new WorkflowError('UNSUPPORTED_OPTION', `agent() does not take ${name} yet. Leave it out.`)
    if (name !== 'schema' && !(texts as readonly string[]).includes(name)) throw new WorkflowError('UNSUPPORTED_OPTION', `agent() knows no option ${name}. It takes label, phase, schema, provider and model.`)
  }
  for (const name of texts) if (options[name] !== undefined && typeof options[name] !== 'string') throw new WorkflowError('INVALID_ARGUMENT', `The option ${name} of agent() is no text.`)
  const long = texts.find((name) => typeof options[name] === 'string' && options[name].length > MAX_META_CHARS)
  if (long !== undefined) throw new WorkflowError('INVALID_ARGUMENT', `The option ${long} of agent() has more than ${MAX_META_CHARS} characters. Say it shorter.`)
  const text = (name: (typeof texts)[number]) => (typeof options[name] === 'string' ? options[name] : undefined)
  const schema = options['schema']
  if (schema !== undefined) checkSchema(schema)
  const ofPhase = text('phase') ?? (typeof phase === 'string' ? phase : undefined)
  const planned = meta.phases?.find(({ title }) => title === ofPhase)
  const provider = text('provider') ?? planned?.provider
  const model = text('model') ?? planned?.model
  return {
    prompt,
    label: text('label') ?? clipped(prompt.trim().split('\n', 1)[0]!.trim(), MAX_LABEL_CHARS),
    ...(ofPhase !== undefined && { phase: ofPhase }),
    ...(isJsonObject(schema) && { schema }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
  }
}

function checkSchema(schema: Json): void {
  if (!isJsonObject(schema)) throw new WorkflowError('UNSUPPORTED_SCHEMA', 'The schema of agent() is no object.')
  try {
    checkSubset(schema)
  } catch (error) {
    throw new WorkflowError('UNSUPPORTED_SCHEMA', `The schema of agent() cannot be used: ${messageOf(error)}`, { cause: error })
  }
  if (schema['type'] !== 'object') throw new WorkflowError('UNSUPPORTED_SCHEMA', 'The schema of agent() must be that of an object: give it "type": "object" at its root.')
}
