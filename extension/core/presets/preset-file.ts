import * as z from 'zod'
import { PresetError } from './preset.ts'
import type { Preset } from './preset.ts'

/** `<id>.preset.json`: the id is the name of the file. */
export const presetSuffix = '.preset.json'
export const presetIdPattern = /^[a-z0-9][a-z0-9-]*$/

const text = z.string().trim().min(1)

const presetSchema = z.strictObject({
  $schema: z.string().optional(),
  name: text.max(60).optional(),
  description: z.string().trim().max(300).optional(),
  order: z.number().optional(),
  presentation: z.enum(['native', 'code', 'both']).optional(),
  tools: z.array(text).min(1),
  needs: z.array(text).optional(),
  sections: z.array(z.strictObject({ name: text, order: z.number(), text })).optional(),
  persona: text.optional(),
  runtimeContext: z.boolean().optional(),
  instructions: z.boolean().optional(),
  compaction: z.boolean().optional(),
  permissions: z.enum(['read-only', 'workspace-write', 'danger-full-access']).optional(),
})

/**
 * A preset as its file says it; what is left out has its usual value.
 *
 * Errors: `PresetError` `PRESET_BROKEN` with what is wrong and where.
 */
export function presetFrom(id: string, content: unknown): Preset {
  if (!presetIdPattern.test(id)) throw broken(`The name ${id} must be lower-case letters, digits and hyphens. Rename the file.`)
  const outcome = presetSchema.safeParse(content)
  if (!outcome.success) throw broken(outcome.error.issues.map(({ path, message }) => `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`).join('; '))
  const { $schema: _, name = id, description = '', order = 100, presentation = 'native', runtimeContext = true, instructions = true, compaction = true, needs, sections, persona, permissions, tools } = outcome.data
  const twice = tools.find((tool, index) => tools.indexOf(tool) !== index)
  if (twice !== undefined) throw broken(`tools: ${twice} stands there twice`)
  return {
    id,
    name,
    description,
    order,
    presentation,
    tools,
    hasRuntimeContext: runtimeContext,
    hasInstructions: instructions,
    hasCompaction: compaction,
    ...(needs && { needs }),
    ...(sections && { sections }),
    ...(persona !== undefined && { persona }),
    ...(permissions && { permissions }),
  }
}

/** The same, from the bytes of a file as text. */
export function presetFromText(id: string, json: string): Preset {
  let content: unknown
  try {
    content = JSON.parse(json)
  } catch (error) {
    throw broken(`It is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  return presetFrom(id, content)
}

/** The file of a copy: name and order are the new owner's to give. */
export function presetFileText({ description, presentation, tools, needs, sections, persona, hasRuntimeContext, hasInstructions, hasCompaction, permissions }: Preset): string {
  const content = {
    description,
    presentation,
    tools,
    ...(needs && { needs }),
    ...(sections && { sections }),
    ...(persona !== undefined && { persona }),
    runtimeContext: hasRuntimeContext,
    instructions: hasInstructions ?? true,
    compaction: hasCompaction ?? true,
    ...(permissions && { permissions }),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

const broken = (reason: string) => new PresetError('PRESET_BROKEN', reason)
