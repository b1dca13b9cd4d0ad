import * as z from 'zod'
import { issueWords } from '../../base/issue-words.ts'
import { messageOf } from '../../base/message-of.ts'
import { placeholderProblem } from '../prompt/interpolate.ts'
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
  sessionTools: z.boolean().optional(),
  mcpServers: z.union([z.boolean(), z.array(text)]).optional(),
  extensions: z.union([z.boolean(), z.array(text)]).optional(),
  shell: z.enum(['fresh', 'persistent']).optional(),
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
  if (!outcome.success) throw broken(issueWords(outcome.error.issues))
  const { $schema: _, name = id, description = '', order = 100, presentation = 'native', runtimeContext = true, instructions = true, compaction = true, sessionTools = true, mcpServers = true, extensions = false, shell = 'fresh', needs, sections, persona, permissions, tools } = outcome.data
  const twice = twiceIn(tools)
  if (twice !== undefined) throw broken(`tools: ${twice} stands there twice`)
  const words = sections ?? []
  const same = twiceIn(words.map((section) => section.name))
  if (same !== undefined) throw broken(`sections: two are named ${same}`)
  // Else it would be found out with the first message, and with each one after.
  const unfilled = [...words, ...(persona === undefined ? [] : [{ name: 'persona', text: persona }])].map((section) => placeholderProblem(section.text, section.name)).find((problem) => problem !== null)
  if (unfilled != null) throw broken(unfilled)
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
    ...(!sessionTools && { hasSessionTools: false }),
    ...(mcpServers !== true && { mcpServers }),
    ...(extensions !== false && { extensions }),
    ...(shell === 'persistent' && { hasPersistentShell: true }),
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
    throw broken(`It is not JSON: ${messageOf(error)}`)
  }
  return presetFrom(id, content)
}

/** The file of a copy: name and order are the new owner's to give. */
export function presetFileText({ description, presentation, tools, needs, sections, persona, hasRuntimeContext, hasInstructions, hasCompaction, hasSessionTools, mcpServers, extensions, hasPersistentShell, permissions }: Preset): string {
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
    ...(hasSessionTools === false && { sessionTools: false }),
    ...(mcpServers !== undefined && { mcpServers }),
    ...(extensions !== undefined && { extensions }),
    ...(hasPersistentShell === true && { shell: 'persistent' }),
    ...(permissions && { permissions }),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

/** The first that stands there a second time; a file may hold tens of thousands. */
function twiceIn(names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

const broken = (reason: string) => new PresetError('PRESET_BROKEN', reason)
