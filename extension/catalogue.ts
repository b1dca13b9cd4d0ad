import type { Json, JsonObject } from './base/json.ts'
import type { Application } from './compose.ts'
import type { ScopeKey } from './core/kernel/plugin.ts'
import type { ToolEffect } from './core/policy/tool-effects.ts'
import { isSessionTool } from './core/presets/session-tools.ts'
import { settings } from './core/settings/specs.ts'
import { RESERVED_TOOL_NAME, type ToolDefinition, type ToolLimit } from './core/tools/definition.ts'
import { inlineCapOf } from './core/tools/guards/spill.ts'
import type {} from './features/dynamic-plugins/service.ts'
import type {} from './features/schedule/service.ts'
import type {} from './features/teams/service.ts'

/** One tool as a document shows it. */
export interface CatalogueEntry {
  readonly description: string
  readonly parameters: JsonObject
  readonly output: JsonObject
  /** Those that show it, or would if what it needs were so. */
  readonly presets: readonly string[]
  /** Some of its calls may overlap with others. */
  readonly parallelSafe: boolean
  readonly timeoutMs: number | null
  readonly limits: readonly ToolLimit[]
  /** UTF-8 bytes of a result that stay in the talk; null: all. */
  readonly maxInlineBytes: number | null
  /** The plugin it comes from. */
  readonly group: string | null
  /** Kinds of what its calls may do to the world, as policy sees them. */
  readonly effects: readonly ToolEffect['kind'][]
  /** What must be so before it is there, for people; null for one that is. */
  readonly needs: string | null
}

export interface CatalogueRow extends CatalogueEntry {
  readonly name: string
  /** Other tools of the same name, where they stand in its place. */
  readonly variants: readonly CatalogueEntry[]
}

/** Services without which some tools would not be there yet. */
const awaited = ['tools', 'codeMode', 'dynamicPlugins', 'presets', 'settings', 'permissions', 'jobs', 'skills', 'teams', 'subagents', 'workflows', 'schedules', 'history', 'web'] as const

/** Every tool of an application, by name: also those that cannot work here, are off, or are only in some layer. */
export async function catalogueOf({ ctx }: Pick<Application, 'ctx'>): Promise<readonly CatalogueRow[]> {
  await ctx.plugin({ name: 'catalogue', inject: awaited, apply: () => {} }).ready
  const maxInlineBytes = ctx.settings.get(settings.toolsMaxInlineBytes)
  const namesOf = (scope: ScopeKey) => new Set([...ctx.tools.list(scope), ...ctx.tools.schemas(scope)].map(({ name }) => name))
  const presets = ctx.presets.list().flatMap(({ id, problem }) => {
    const preset = ctx.presets.get(id)
    if (preset === undefined) return []
    const scope = problem === undefined ? ctx.presets.scopeOf(id) : null
    return [{ id, named: preset.tools, scope, shown: scope === null ? new Set(preset.tools) : namesOf(scope) }]
  })
  const naming = (name: string) => presets.filter(({ named }) => named.includes(name)).map(({ id }) => id)

  const entry = (tool: ToolDefinition, more: Pick<CatalogueEntry, 'presets' | 'group' | 'needs'>, scope: ScopeKey | null = null): CatalogueEntry => ({
    description: tool.description,
    parameters: tool.parameters,
    output: tool.output.schema,
    presets: more.presets,
    parallelSafe: tool.isConcurrencySafe !== undefined,
    timeoutMs: tool.timeoutMs ?? null,
    limits: tool.limits ?? [],
    maxInlineBytes: inlineCapOf(tool.name, maxInlineBytes),
    group: more.group,
    effects: effectsOf(tool, (args) => ctx.permissions.effectOf(tool.name, args, scope).kind),
    needs: more.needs,
  })

  const shared = [...ctx.tools.list(null), ...[ctx.tools.get(RESERVED_TOOL_NAME, null) ?? []].flat()].map((tool): CatalogueRow => {
    const { name } = tool
    const showing = presets.filter(({ shown }) => shown.has(name)).map(({ id }) => id)
    const variants = presets.flatMap(({ id, scope, shown }) => {
      const own = scope !== null && shown.has(name) && name !== RESERVED_TOOL_NAME ? ctx.tools.get(name, scope) : undefined
      return own === undefined || own === tool ? [] : [entry(own, { presets: [id], group: ctx.tools.groupOf(name, scope) ?? null, needs: null }, scope)]
    })
    return { name, ...entry(tool, { presets: showing, group: ctx.tools.groupOf(name, null) ?? null, needs: hiddenBy(name, ctx) }), variants }
  })
  const rows = new Map(shared.map((row) => [row.name, row]))
  for (const { definition, group, needs, presets: own, effects } of ctx.tools.absent()) {
    const { name } = definition
    const usual = entry(definition, { presets: own ?? naming(name), group, needs })
    const one = effects === undefined ? usual : { ...usual, effects }
    const row = rows.get(name)
    rows.set(name, row === undefined ? { name, ...one, variants: [] } : { ...row, variants: [...row.variants, one] })
  }
  return [...rows.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1))
}

/** Why no preset shows a tool that is there. */
function hiddenBy(name: string, { settings: values }: Pick<Application['ctx'], 'settings'>): string | null {
  if (values.get(settings.toolsDisabled).includes(name)) return 'Its name taken out of the setting bosun.tools.disabled.'
  return isSessionTool(name) && !values.get(settings.historyTools) ? 'The setting bosun.history.tools, which is off.' : null
}

/** Of a call with what must be given, with each of the values that are named for that, and with all that may be. */
function effectsOf({ parameters }: ToolDefinition, kindOf: (args: JsonObject) => ToolEffect['kind']): readonly ToolEffect['kind'][] {
  const properties = (parameters['properties'] ?? {}) as { readonly [name: string]: JsonObject }
  const required = (parameters['required'] ?? []) as readonly string[]
  const sample = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, valueFor(properties[name] ?? {})]))
  const given = sample(required)
  const choices = required.flatMap((name) => ((properties[name]?.['enum'] ?? []) as readonly Json[]).map((value) => ({ ...given, [name]: value })))
  const kinds = [given, ...choices, sample(Object.keys(properties))].map(kindOf)
  return [...new Set(kinds)]
}

function valueFor(schema: JsonObject): Json {
  const [first] = (schema['enum'] ?? []) as readonly Json[]
  if (first !== undefined) return first
  const empty: Readonly<Record<string, Json>> = { string: 'x', number: 1, integer: 1, boolean: true, array: [], object: {} }
  return empty[typeof schema['type'] === 'string' ? schema['type'] : ''] ?? null
}
