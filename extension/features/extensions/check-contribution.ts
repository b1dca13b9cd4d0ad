import { stringifyJson } from '../../base/json.ts'
import { utf8Length } from '../../base/text.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Contribution } from '../../capabilities/contributions.ts'
import { placeholderProblem } from '../../core/prompt/interpolate.ts'
import { toJsonSchema, toParameterSchema } from '../../core/schema/compile.ts'
import type { Plugin, PluginContext, PromptSection, Tool } from '../../../bosun.d.ts'
import { reservedToolPrefixes } from '../../core/tools/definition.ts'
import { declarationCaps } from '../../core/tools/lent/declaration-caps.ts'
import { ExtensionApiError } from './api-error.ts'

/** UTF-16 units of a prompt section. */
export const MAX_SECTION = 8_000
const MAX_NAME = 64

const toolName = /^[A-Za-z][\w-]{0,63}$/
const services: ReadonlySet<unknown> = new Set(['tools', 'systemPrompt'] satisfies (keyof PluginContext)[])

/**
 * Hold a contribution to the shape that it must have, whoever wrote it.
 *
 * Errors: `ExtensionApiError` `INVALID_CONTRIBUTION`, which names the extension, the part and what to do.
 */
export function checkContribution(contribution: Contribution): void {
  const problem = problemOf(contribution)
  if (problem !== null) throw new ExtensionApiError('INVALID_CONTRIBUTION', contribution.extensionId, `${contribution.extensionId} cannot register ${problem}`)
}

/** Of what, and what is wrong with it; null when nothing is. */
function problemOf(contribution: Contribution): string | null {
  switch (contribution.kind) {
    case 'tool':
      return within(named('the tool', contribution.tool), toolProblem(contribution.tool))
    case 'section':
      return within(named('the prompt section', contribution.section), sectionProblem(contribution.section))
    case 'plugin':
      return within(named('the plugin', contribution.plugin), pluginProblem(contribution.plugin))
    case 'policy':
      return typeof contribution.listener === 'function' ? null : 'its policy: it is a function of the call.'
    case 'results':
      return typeof contribution.observer === 'function' ? null : 'its observer of results: it is a function of the call and its result.'
  }
}

const within = (what: string, problem: string | null) => (problem === null ? null : `${what}: ${problem}`)

/** Names are others' text, of any length and kind. */
function named(what: string, value: unknown): string {
  const name = isObject(value) ? value['name'] : undefined
  return typeof name === 'string' ? `${what} ${JSON.stringify(name.slice(0, 80))}` : what
}

function toolProblem(tool: Tool): string | null {
  if (!isObject(tool)) return 'it is an object with name, description, parameters, output and execute.'
  const { name, description, parameters, output, execute, timeoutMs, readOnly } = tool
  if (typeof name !== 'string' || !toolName.test(name)) return 'its name has 1 to 64 letters, digits, dashes or underscores, a letter first.'
  const prefix = reservedToolPrefixes.find((each) => name.startsWith(each))
  if (prefix !== undefined) return `names that begin ${prefix} belong to others. Choose another name.`
  if (typeof description !== 'string' || description.trim() === '') return 'it needs a description, which the model reads.'
  if (description.length > declarationCaps.descriptionChars) return `its description has ${description.length} characters; ${declarationCaps.descriptionChars} at most are told to the model.`
  if (!isObject(output) || typeof output['render'] !== 'function') return 'it needs an output with a schema and a renderer: output: { schema, render }.'
  if (!isOptional(output['presentationMeta'], 'function')) return 'output.presentationMeta is a function or left out.'
  if (typeof execute !== 'function') return 'it needs a body: execute is a function.'
  for (const part of ['finalizeContent', 'isConcurrencySafe', 'presentCall', 'presentResult'] as const) {
    if (!isOptional(tool[part], 'function')) return `${part} is a function or left out.`
  }
  if (!isOptional(readOnly, 'boolean')) return 'readOnly is true, false or left out.'
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && Number.isFinite(timeoutMs) && timeoutMs > 0)) return 'timeoutMs is a positive number of milliseconds or left out.'
  return schemaProblem('parameters', () => toParameterSchema(parameters)) ?? schemaProblem('output.schema', () => toJsonSchema(tool.output.schema))
}

function schemaProblem(part: string, compile: () => ReturnType<typeof toJsonSchema>): string | null {
  try {
    const bytes = utf8Length(stringifyJson(compile()))
    return bytes > declarationCaps.schemaBytes ? `${part} has ${bytes} bytes as JSON Schema; ${declarationCaps.schemaBytes} at most are taken.` : null
  } catch (error) {
    return `${part} is no schema that Bosun knows. ${thrownText(error) ?? 'It cannot be read.'}`
  }
}

function sectionProblem(section: PromptSection): string | null {
  if (!isObject(section)) return 'it is an object with name and text.'
  const { name, text, order, tools } = section
  if (!isName(name)) return `its name has 1 to ${MAX_NAME} characters.`
  if (typeof text !== 'string' || text.trim() === '') return 'it needs a text.'
  if (text.length > MAX_SECTION) return `its text has ${text.length} characters; ${MAX_SECTION} at most are told to the model.`
  if (order !== undefined && !(typeof order === 'number' && Number.isFinite(order))) return 'order is a number or left out.'
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((tool) => typeof tool === 'string'))) return 'tools is a list of names or left out.'
  return placeholderProblem(text, name)
}

function pluginProblem(plugin: Plugin): string | null {
  if (!isObject(plugin)) return 'it is an object with name and apply.'
  const { name, inject, apply } = plugin
  if (!isName(name)) return `its name has 1 to ${MAX_NAME} characters.`
  if (typeof apply !== 'function') return 'it needs apply, a function of the context.'
  if (inject === undefined) return null
  if (!Array.isArray(inject)) return 'inject is a list of services or left out.'
  const unknown = (inject as readonly unknown[]).find((service) => !services.has(service))
  return unknown === undefined ? null : `there is no service ${JSON.stringify(unknown)} for other extensions. Known: ${[...services].join(', ')}.`
}

const isName = (name: unknown): name is string => typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isOptional = (value: unknown, type: 'function' | 'boolean'): boolean => value === undefined || typeof value === type
