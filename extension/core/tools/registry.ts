import { deepFreeze, snapshotJson } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import { everyLayer } from '../kernel/plugin.ts'
import type { Context, Dispatcher, Plugin, ScopeKey } from '../kernel/plugin.ts'
import { scopeChain } from '../kernel/scope-chain.ts'
import type { ToolDeclaration } from '../model/contract.ts'
import type { Approvals } from '../policy/approval.ts'
import { checkSchema } from '../schema/check-schema.ts'
import { RESERVED_TOOL_NAME, ToolError } from './definition.ts'
import type { Execution, ExecutionRequest, ToolDefinition } from './definition.ts'
import { StagedCall } from './pipeline.ts'
import { UNLISTED_TOOLS, type PresentationMode, type Tools } from './service.ts'

export interface ToolRegistryOptions {
  readonly dispatch: Dispatcher
  /** Makes the opaque identity of each execution. */
  readonly randomId: () => string
  /** Names in the order of their declarations, with the marker for all others. Absent: by name. */
  readonly order?: () => readonly string[]
}

/** The plugin that offers the tools service. */
export function createToolsPlugin(options: ToolRegistryOptions): Plugin {
  return {
    name: 'tools',
    apply(ctx) {
      const registry = new ToolRegistry(options, () => ctx.get('approvals'))
      ctx.provide('tools', (user: Context) => new ToolsView(registry, user))
    },
  }
}

interface Restriction {
  readonly allow: ReadonlySet<string> | null
  readonly deny: ReadonlySet<string> | null
}
type Guard = (exec: Execution) => string | undefined

/** All layers of tools. Look-up is nearest first: agent, preset, global. Source: runtime specification 2.2, 4. */
export class ToolRegistry {
  readonly dispatch: Dispatcher
  readonly randomId: () => string
  readonly approvals: () => Approvals | undefined
  readonly #order: () => readonly string[]
  /** The order that `#schemas` was made with. */
  #usedOrder: readonly string[] | null = null
  readonly #layers = new Map<ScopeKey | null, Map<string, ToolDefinition>>()
  readonly #restrictions = new Map<ScopeKey, Set<Restriction>>()
  readonly #guards = new Map<ScopeKey | null, Set<Guard>>()
  readonly #modes = new Map<ScopeKey, PresentationMode>()
  readonly #groups = new WeakMap<ToolDefinition, string>()
  /** Projections by layer, thrown away on every change. */
  #schemas = new WeakMap<object, readonly ToolDeclaration[]>()
  readonly #globalKey = {}

  constructor(options: ToolRegistryOptions, approvals: () => Approvals | undefined) {
    this.dispatch = options.dispatch
    this.randomId = options.randomId
    this.#order = options.order ?? (() => [UNLISTED_TOOLS])
    this.approvals = approvals
  }

  register(definition: ToolDefinition, { scope, group }: { readonly scope: ScopeKey | null; readonly group: string }): Undo {
    checkDefinition(definition)
    const layer = this.#layers.get(scope) ?? new Map<string, ToolDefinition>()
    if (layer.has(definition.name)) {
      throw new ToolError(
        'DUPLICATE_TOOL',
        scope === null
          ? `A tool named ${definition.name} is registered already. Register it through an agent's own context to shadow it there.`
          : `A tool named ${definition.name} is registered already in ${scope.label}. Dispose that registration first.`,
      )
    }
    this.#layers.set(scope, layer.set(definition.name, definition))
    this.#groups.set(definition, group)
    const remove = (): boolean => {
      if (this.#layers.get(scope)?.get(definition.name) !== definition) return false
      layer.delete(definition.name)
      if (layer.size === 0) this.#layers.delete(scope)
      return true
    }
    this.#publish(() => void remove())
    return () => {
      if (remove()) this.#announce()
    }
  }

  presentAs(mode: PresentationMode, scope: ScopeKey | null): Undo {
    if (scope === null) throw new ToolError('INVALID_RESTRICTION', 'Only a scoped context may declare how tools are presented.')
    if (this.#modes.has(scope)) throw new ToolError('INVALID_RESTRICTION', `${scope.label} declares a presentation mode already.`)
    this.#modes.set(scope, mode)
    this.#announce()
    return () => {
      if (this.#modes.delete(scope)) this.#announce()
    }
  }

  restrict(filter: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }, scope: ScopeKey | null): Undo {
    if (scope === null) throw new ToolError('INVALID_RESTRICTION', 'Only a scoped context may restrict tools.')
    const restriction = this.#compileRestriction(filter, scope)
    const own = this.#restrictions.get(scope) ?? new Set<Restriction>()
    this.#restrictions.set(scope, own.add(restriction))
    this.#announce()
    return () => {
      if (!own.delete(restriction)) return
      if (own.size === 0) this.#restrictions.delete(scope)
      this.#announce()
    }
  }

  guard(check: Guard, scope: ScopeKey | null): Undo {
    const guards = this.#guards.get(scope) ?? new Set<Guard>()
    // Wrapped, so that the same function can guard twice and each registration goes alone.
    const own: Guard = (exec) => check(exec)
    this.#guards.set(scope, guards.add(own))
    return () => {
      guards.delete(own)
      if (guards.size === 0 && this.#guards.get(scope) === guards) this.#guards.delete(scope)
    }
  }

  get(name: string, scope: ScopeKey | null): ToolDefinition | undefined {
    const nearer: ScopeKey[] = []
    for (const key of [...scopeChain(scope), null]) {
      const found = this.#layers.get(key)?.get(name)
      // What a nearer layer restricts is what it inherits: its own registrations are exempt.
      if (found) return nearer.every((below) => this.#admits(below, name)) ? found : undefined
      if (key) nearer.push(key)
    }
    return undefined
  }

  groupOf(name: string, scope: ScopeKey | null): string | undefined {
    const definition = this.get(name, scope)
    return definition && this.#groups.get(definition)
  }

  list(scope: ScopeKey | null): readonly ToolDefinition[] {
    const names = new Set([...scopeChain(scope), null].flatMap((key) => [...(this.#layers.get(key)?.keys() ?? [])]))
    return inOrder([...names].sort(byCodeUnits), this.#order()).flatMap((name) => this.get(name, scope) ?? [])
  }

  schemas(scope: ScopeKey | null): readonly ToolDeclaration[] {
    const key = scope ?? this.#globalKey
    const order = this.#order()
    if (order !== this.#usedOrder) {
      this.#usedOrder = order
      this.#schemas = new WeakMap()
    }
    const known = this.#schemas.get(key)
    if (known) return known
    const made = this.list(scope).map(({ name, description, parameters }) =>
      // Detached, so that nobody can reach the registered definition through it, and frozen, so that it can be shared.
      deepFreeze({ name, description, parameters: snapshotJson(parameters) as ToolDeclaration['parameters'] }),
    )
    this.#schemas.set(key, Object.freeze(made))
    return made
  }

  mode(scope: ScopeKey | null): PresentationMode {
    for (const key of scopeChain(scope)) {
      const mode = this.#modes.get(key)
      if (mode) return mode
    }
    return 'native'
  }

  executionMode({ name, arguments: raw, agent }: Pick<ExecutionRequest, 'name' | 'arguments' | 'agent'>): 'parallel' | 'exclusive' {
    try {
      const definition = this.get(name, agent?.scope ?? null)
      return definition?.isConcurrencySafe?.(snapshotJson(raw)) === true ? 'parallel' : 'exclusive'
    } catch {
      // Arguments that are no JSON or a classifier that fails: the call runs alone, and the pipeline reports what is wrong.
      return 'exclusive'
    }
  }

  begin(request: ExecutionRequest): StagedCall {
    return new StagedCall(this, request)
  }

  /** Guards that apply at `scope`: global first, then from the farthest layer to the nearest. Read live: a guard may add one. */
  *guards(scope: ScopeKey | null): Iterable<Guard> {
    for (const key of [null, ...[...scopeChain(scope)].reverse()]) yield* this.#guards.get(key) ?? []
  }

  #admits(layer: ScopeKey, name: string): boolean {
    for (const { allow, deny } of this.#restrictions.get(layer) ?? []) {
      if (deny?.has(name) || (allow && !allow.has(name))) return false
    }
    return true
  }

  #compileRestriction({ allow, deny }: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }, scope: ScopeKey): Restriction {
    const named = [...(allow ?? []), ...(deny ?? [])]
    if (named.length === 0) throw new ToolError('INVALID_RESTRICTION', 'A restriction names at least one tool to allow or to deny.')
    if (named.includes(RESERVED_TOOL_NAME)) throw new ToolError('INVALID_RESTRICTION', `${RESERVED_TOOL_NAME} cannot be restricted.`)
    const known = new Set(this.list(scope.parent).map((tool) => tool.name))
    const unknown = named.filter((name) => !known.has(name))
    if (unknown.length > 0) {
      throw new ToolError('INVALID_RESTRICTION', `Unknown tools: ${unknown.join(', ')}. Known here: ${[...known].join(', ')}.`)
    }
    return { allow: allow ? new Set(allow) : null, deny: deny ? new Set(deny) : null }
  }

  /** A listener that throws while a registration is published takes it back. */
  #publish(rollBack: () => void): void {
    this.#schemas = new WeakMap()
    try {
      this.dispatch.emitStrict('tools/change', everyLayer, [])
    } catch (error) {
      rollBack()
      this.#schemas = new WeakMap()
      throw error
    }
  }

  #announce(): void {
    this.#schemas = new WeakMap()
    this.dispatch.emit('tools/change', everyLayer, [])
  }
}

/** `names` with those that `order` lists where it lists them; the others keep their order at its marker. */
function inOrder(names: readonly string[], order: readonly string[]): readonly string[] {
  if (order.length <= 1) return names
  const listed = new Set(order)
  const there = new Set(names)
  return order.flatMap((name) => (name === UNLISTED_TOOLS ? names.filter((other) => !listed.has(other)) : there.has(name) ? [name] : []))
}

/** The service as one context sees it: registrations are filed into its layer and belong to its plugin. */
class ToolsView implements Tools {
  readonly #registry: ToolRegistry
  readonly #user: Context

  constructor(registry: ToolRegistry, user: Context) {
    this.#registry = registry
    this.#user = user
  }

  register(definition: ToolDefinition): Undo {
    return this.#own((scope) => this.#registry.register(definition, { scope, group: this.#user.fiber.name }))
  }
  presentAs(mode: PresentationMode): Undo {
    return this.#own((scope) => this.#registry.presentAs(mode, scope))
  }
  restrict(filter: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }): Undo {
    return this.#own((scope) => this.#registry.restrict(filter, scope))
  }
  guard(check: Guard): Undo {
    return this.#own((scope) => this.#registry.guard(check, scope))
  }
  get(name: string, scope: ScopeKey | null = this.#user.scope) {
    return this.#registry.get(name, scope)
  }
  schemas(scope: ScopeKey | null = this.#user.scope) {
    return this.#registry.schemas(scope)
  }
  list(scope: ScopeKey | null = this.#user.scope) {
    return this.#registry.list(scope)
  }
  groupOf(name: string, scope: ScopeKey | null = this.#user.scope) {
    return this.#registry.groupOf(name, scope)
  }
  executionMode(request: Pick<ExecutionRequest, 'name' | 'arguments' | 'agent'>) {
    return this.#registry.executionMode(request)
  }
  begin(request: ExecutionRequest) {
    return this.#registry.begin(request)
  }
  async execute(request: ExecutionRequest) {
    const call = this.begin(request)
    await call.prepare()
    await call.run()
    return call.commit()
  }

  #own(register: (scope: ScopeKey | null) => Undo): Undo {
    const undo = register(this.#user.scope)
    try {
      const early = this.#user.effect(undo)
      return () => void early()
    } catch (error) {
      undo()
      throw error
    }
  }
}

function checkDefinition(definition: ToolDefinition): void {
  const { name, description, parameters, output, timeoutMs } = definition
  if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name)) {
    throw new ToolError('INVALID_DEFINITION', `A tool's name has 1 to 64 letters, digits, dots, dashes or underscores; got ${JSON.stringify(name)}.`)
  }
  if (name === RESERVED_TOOL_NAME) throw new ToolError('RESERVED_NAME', `${RESERVED_TOOL_NAME} is reserved; choose another name.`)
  if (typeof description !== 'string') throw new ToolError('INVALID_DEFINITION', `${name} needs a description.`)
  if (typeof output?.render !== 'function' || typeof output.schema !== 'object' || output.schema === null) {
    throw new ToolError('INVALID_DEFINITION', `${name} needs an output schema and a renderer.`)
  }
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new ToolError('INVALID_DEFINITION', `${name} declares a time-out of ${timeoutMs} ms; it must be positive and finite.`)
  }
  checkSchema(snapshotJson(parameters, 'parameters') as Readonly<Record<string, Json>>)
  checkSchema(snapshotJson(output.schema, 'output schema') as Readonly<Record<string, Json>>)
}

const byCodeUnits = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)
