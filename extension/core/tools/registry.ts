import { isJsonObject, snapshotJson } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import { everyLayer } from '../kernel/plugin.ts'
import type { Context, Dispatcher, Plugin, ScopeKey } from '../kernel/plugin.ts'
import { scopeChain } from '../kernel/scope-chain.ts'
import type { ToolDeclaration } from '../model/contract.ts'
import type { Approvals } from '../policy/approval.ts'
import { checkSchema } from '../schema/check-schema.ts'
import { schemaSnapshot } from '../schema/compile.ts'
import { RESERVED_TOOL_NAME, ToolError } from './definition.ts'
import type { Execution, ExecutionRequest, ToolDefinition } from './definition.ts'
import { StagedCall } from './pipeline.ts'
import { UNLISTED_TOOLS, type AbsentTool, type PresentationMode, type ToolAbsence, type Tools } from './service.ts'

export interface ToolRegistryOptions {
  readonly dispatch: Dispatcher
  /** Makes the opaque identity of each execution. */
  readonly randomId: () => string
  /** Names in the order of their declarations, with the marker for all others. Absent: by name. */
  readonly order?: () => readonly string[]
  /** How tools are presented where no layer says. Absent: native. */
  readonly mode?: () => PresentationMode
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
/** One registration: its own object, so that the same definition registered twice is taken back one by one. */
interface Entry {
  readonly definition: ToolDefinition
  /** What a model is told, as it was when it was registered: detached, so that nobody reaches the definition through it, and frozen, so that it can be shared. */
  readonly declaration: ToolDeclaration
  /** Name of the plugin it came from. */
  readonly group: string
}
/** What a scope was shown, with the layers it stood below then: binding a layer anew changes what it inherits. */
interface Shown {
  readonly chain: readonly ScopeKey[]
  readonly mode: PresentationMode
  readonly declarations: readonly ToolDeclaration[]
}
interface Absence extends ToolAbsence {
  readonly make: () => ToolDefinition
  readonly group: string
}
type Guard = (exec: Execution) => string | undefined
type ExplainAbsent = (name: string) => string | undefined

const BY_NAME = [UNLISTED_TOOLS] as const

/** All layers of tools. Look-up is nearest first: agent, preset, global. Source: runtime specification 2.2, 4. */
export class ToolRegistry {
  readonly dispatch: Dispatcher
  readonly randomId: () => string
  readonly approvals: () => Approvals | undefined
  readonly #order: () => readonly string[]
  readonly #mode: () => PresentationMode
  /** What fills the reserved name. */
  #code: Entry | null = null
  /** The order that `#schemas` was made with. */
  #usedOrder: readonly string[] | null = null
  readonly #layers = new Map<ScopeKey | null, Map<string, Entry>>()
  readonly #restrictions = new Map<ScopeKey, Set<Restriction>>()
  readonly #guards = new Map<ScopeKey | null, Set<Guard>>()
  /** How many there ever were. */
  #guardsAdded = 0
  readonly #modes = new Map<ScopeKey, PresentationMode>()
  readonly #explainers = new Set<ExplainAbsent>()
  readonly #absences = new Set<Absence>()
  /** Projections by layer, thrown away on every change. */
  #schemas = new WeakMap<object, Shown>()
  readonly #globalKey = {}

  constructor(options: ToolRegistryOptions, approvals: () => Approvals | undefined) {
    this.dispatch = options.dispatch
    this.randomId = options.randomId
    this.#order = options.order ?? (() => BY_NAME)
    this.#mode = options.mode ?? (() => 'native')
    this.approvals = approvals
  }

  register(definition: ToolDefinition, { scope, group }: { readonly scope: ScopeKey | null; readonly group: string }): Undo {
    const declaration = declarationFrom(definition)
    const { name } = declaration
    if (name === RESERVED_TOOL_NAME) throw new ToolError('RESERVED_NAME', `${RESERVED_TOOL_NAME} is reserved; choose another name.`)
    const layer = this.#layers.get(scope) ?? new Map<string, Entry>()
    if (layer.has(name)) {
      throw new ToolError(
        'DUPLICATE_TOOL',
        scope === null
          ? `A tool named ${name} is registered already. Register it through an agent's own context to shadow it there.`
          : `A tool named ${name} is registered already in ${scope.label}. Dispose that registration first.`,
      )
    }
    const entry: Entry = { definition, declaration, group }
    this.#layers.set(scope, layer.set(name, entry))
    return this.#published(() => {
      if (layer.get(name) !== entry) return false
      layer.delete(name)
      if (layer.size === 0) this.#layers.delete(scope)
      return true
    })
  }

  registerCode(definition: ToolDefinition, group: string): Undo {
    const declaration = declarationFrom(definition)
    if (declaration.name !== RESERVED_TOOL_NAME) throw new ToolError('RESERVED_NAME', `Only ${RESERVED_TOOL_NAME} runs programs; register ${declaration.name} as any other tool.`)
    if (this.#code !== null) throw new ToolError('DUPLICATE_TOOL', `${RESERVED_TOOL_NAME} is registered already.`)
    const entry: Entry = { definition, declaration, group }
    this.#code = entry
    return this.#published(() => {
      if (this.#code !== entry) return false
      this.#code = null
      return true
    })
  }

  presentAs(mode: PresentationMode, scope: ScopeKey | null): Undo {
    if (scope === null) throw new ToolError('INVALID_RESTRICTION', 'Only a scoped context may declare how tools are presented.')
    if (!MODES.includes(mode)) throw new ToolError('INVALID_RESTRICTION', `Tools are presented as one of ${MODES.join(', ')}.`)
    if (this.#modes.has(scope)) throw new ToolError('INVALID_RESTRICTION', `${scope.label} declares a presentation mode already.`)
    this.#modes.set(scope, mode)
    return this.#published(() => this.#modes.delete(scope))
  }

  restrict(filter: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }, scope: ScopeKey | null): Undo {
    if (scope === null) throw new ToolError('INVALID_RESTRICTION', 'Only a scoped context may restrict tools.')
    const restriction = this.#compileRestriction(filter, scope)
    const own = this.#restrictions.get(scope) ?? new Set<Restriction>()
    this.#restrictions.set(scope, own.add(restriction))
    return this.#published(() => {
      if (!own.delete(restriction)) return false
      if (own.size === 0) this.#restrictions.delete(scope)
      return true
    })
  }

  declareAbsent(absence: Absence): Undo {
    this.#absences.add(absence)
    return () => void this.#absences.delete(absence)
  }

  absent(): readonly AbsentTool[] {
    return [...this.#absences]
      .map(({ make, ...absence }) => {
        const definition = make()
        declarationFrom(definition)
        return { ...absence, definition }
      })
      .sort((left, right) => byCodeUnits(left.definition.name, right.definition.name))
  }

  guard(check: Guard, scope: ScopeKey | null): Undo {
    const guards = this.#guards.get(scope) ?? new Set<Guard>()
    // Wrapped, so that the same function can guard twice and each registration goes alone.
    const own: Guard = (exec) => check(exec)
    this.#guardsAdded += 1
    this.#guards.set(scope, guards.add(own))
    return () => {
      guards.delete(own)
      if (guards.size === 0 && this.#guards.get(scope) === guards) this.#guards.delete(scope)
    }
  }

  explainAbsent(explain: ExplainAbsent): Undo {
    // Wrapped, so that each registration goes alone.
    const own: ExplainAbsent = (name) => explain(name)
    this.#explainers.add(own)
    return () => void this.#explainers.delete(own)
  }

  /** Why a name is not offered; null when nobody knows. */
  absence(name: string): string | null {
    for (const explain of this.#explainers) {
      const reason: unknown = explain(name)
      if (typeof reason === 'string') return reason
    }
    // What is there and kept from this agent is as unknown to it as what never was.
    if (this.#layers.get(null)?.has(name) === true) return null
    const declared = [...this.#absences].find(({ make }) => make().name === name)
    return declared === undefined ? null : `There is no tool named ${JSON.stringify(name)} here. What it needs: ${declared.needs} Use one of the declared tools.`
  }

  get(name: string, scope: ScopeKey | null): ToolDefinition | undefined {
    return this.#entry(name, scope)?.definition
  }

  groupOf(name: string, scope: ScopeKey | null): string | undefined {
    return this.#entry(name, scope)?.group
  }

  #entry(name: string, scope: ScopeKey | null): Entry | undefined {
    if (name === RESERVED_TOOL_NAME) return scope === null || this.mode(scope) !== 'native' ? (this.#code ?? undefined) : undefined
    const nearer: ScopeKey[] = []
    for (const key of [...scopeChain(scope), null]) {
      const found = this.#layers.get(key)?.get(name)
      // What a nearer layer restricts is what it inherits: its own registrations are exempt.
      if (found) return nearer.every((below) => this.#admits(below, name)) ? found : undefined
      if (key) nearer.push(key)
    }
    return undefined
  }

  list(scope: ScopeKey | null): readonly ToolDefinition[] {
    return this.#visible(scope).map(({ definition }) => definition)
  }

  #visible(scope: ScopeKey | null): readonly Entry[] {
    const names = new Set([...scopeChain(scope), null].flatMap((key) => [...(this.#layers.get(key)?.keys() ?? [])]))
    return inOrder([...names].sort(byCodeUnits), this.#order()).flatMap((name) => this.#entry(name, scope) ?? [])
  }

  schemas(scope: ScopeKey | null): readonly ToolDeclaration[] {
    const key = scope ?? this.#globalKey
    const order = this.#order()
    if (order !== this.#usedOrder) {
      this.#usedOrder = order
      this.#schemas = new WeakMap()
    }
    const chain = scopeChain(scope)
    const mode = this.mode(scope)
    const known = this.#schemas.get(key)
    if (known?.mode === mode && known.chain.length === chain.length && known.chain.every((layer, index) => layer === chain[index])) return known.declarations
    const declarations = Object.freeze(this.#direct(scope, mode).map(({ declaration }) => declaration))
    this.#schemas.set(key, { chain, mode, declarations })
    return declarations
  }

  /** What a model may call itself. */
  #direct(scope: ScopeKey | null, mode: PresentationMode): readonly Entry[] {
    const code = mode === 'native' || this.#code === null ? [] : [this.#code]
    if (mode === 'code') return code
    if (code.length === 0) return this.#visible(scope)
    const all = new Map([...this.#visible(scope), ...code].map((entry) => [entry.declaration.name, entry]))
    return inOrder([...all.keys()].sort(byCodeUnits), this.#order()).map((name) => all.get(name)!)
  }

  mode(scope: ScopeKey | null): PresentationMode {
    for (const key of scopeChain(scope)) {
      const mode = this.#modes.get(key)
      if (mode) return mode
    }
    return this.#mode()
  }

  executionMode({ name, arguments: raw, agent }: Pick<ExecutionRequest, 'name' | 'arguments' | 'agent'>): 'parallel' | 'exclusive' {
    try {
      const definition = this.get(name, agent?.scope ?? null)
      if (definition?.isConcurrencySafe === undefined) return 'exclusive'
      const args = snapshotJson(raw)
      const isValid = isJsonObject(args) && (definition.validateArguments?.(args) ?? []).length === 0
      const answer: unknown = isValid && definition.isConcurrencySafe(args)
      return answer === true ? 'parallel' : 'exclusive'
    } catch {
      // Arguments that are no JSON or a classifier that fails: the call runs alone, and the pipeline reports what is wrong.
      return 'exclusive'
    }
  }

  begin(request: ExecutionRequest): StagedCall {
    return new StagedCall(this, request)
  }

  /** Guards that apply at `scope`: global first, then from the farthest layer to the nearest. A guard that one of them adds, in whichever layer, comes too. */
  *guards(scope: ScopeKey | null): Iterable<Guard> {
    const seen = new Set<Guard>()
    for (let known = -1; known !== this.#guardsAdded; ) {
      known = this.#guardsAdded
      for (const key of [null, ...scopeChain(scope).toReversed()]) {
        for (const guard of this.#guards.get(key) ?? []) {
          if (seen.has(guard)) continue
          seen.add(guard)
          yield guard
        }
      }
    }
  }

  #admits(layer: ScopeKey, name: string): boolean {
    for (const { allow, deny } of this.#restrictions.get(layer) ?? []) {
      if (deny?.has(name) || (allow && !allow.has(name))) return false
    }
    return true
  }

  #compileRestriction({ allow, deny }: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }, scope: ScopeKey): Restriction {
    const named = [...(allow ?? []), ...(deny ?? [])]
    // An empty list beside a filled one would hide everything, or nothing, without saying so.
    if (named.length === 0 || allow?.length === 0 || deny?.length === 0) throw new ToolError('INVALID_RESTRICTION', 'A restriction names at least one tool to allow or to deny.')
    if (named.includes(RESERVED_TOOL_NAME)) throw new ToolError('INVALID_RESTRICTION', `${RESERVED_TOOL_NAME} cannot be restricted.`)
    const known = new Set(this.#visible(scope.parent).map(({ declaration }) => declaration.name))
    const unknown = named.filter((name) => !known.has(name))
    if (unknown.length > 0) {
      throw new ToolError('INVALID_RESTRICTION', `Unknown tools: ${unknown.join(', ')}. Known here: ${[...known].join(', ')}.`)
    }
    return { allow: allow ? new Set(allow) : null, deny: deny ? new Set(deny) : null }
  }

  /** Tell of what was just registered. `remove` takes it back and says whether it was still there. A listener that throws takes it back at once. */
  #published(remove: () => boolean): Undo {
    const undo = (): void => {
      if (remove()) this.#announce()
    }
    this.#schemas = new WeakMap()
    try {
      this.dispatch.emitStrict('tools/change', everyLayer, [])
    } catch (error) {
      // Those that heard of it hear that it is gone.
      undo()
      throw error
    }
    return undo
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
  presentation(scope: ScopeKey | null = this.#user.scope) {
    return this.#registry.mode(scope)
  }
  registerCode(definition: ToolDefinition): Undo {
    return this.#own(() => this.#registry.registerCode(definition, this.#user.fiber.name))
  }
  restrict(filter: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }): Undo {
    return this.#own((scope) => this.#registry.restrict(filter, scope))
  }
  declareAbsent(absence: ToolAbsence, make: () => ToolDefinition): Undo {
    return this.#own(() => this.#registry.declareAbsent({ ...absence, make, group: this.#user.fiber.name }))
  }
  absent() {
    return this.#registry.absent()
  }
  guard(check: Guard): Undo {
    return this.#own((scope) => this.#registry.guard(check, scope))
  }
  explainAbsent(explain: ExplainAbsent): Undo {
    return this.#own(() => this.#registry.explainAbsent(explain))
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

const MODES: readonly PresentationMode[] = ['native', 'code', 'both']
const OPTIONAL_FUNCTIONS = ['validateArguments', 'finalizeContent', 'isConcurrencySafe', 'presentCall', 'presentResult'] as const

/** What a sound definition says to a model from now on: each part read once, so that it cannot become another. */
function declarationFrom(definition: ToolDefinition): ToolDeclaration {
  const { name, description, parameters, output, timeoutMs } = definition
  if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name)) {
    throw new ToolError('INVALID_DEFINITION', `A tool's name has 1 to 64 letters, digits, dots, dashes or underscores; got ${JSON.stringify(name)}.`)
  }
  if (typeof description !== 'string') throw new ToolError('INVALID_DEFINITION', `${name} needs a description.`)
  if (typeof output?.render !== 'function' || typeof output.schema !== 'object' || output.schema === null) {
    throw new ToolError('INVALID_DEFINITION', `${name} needs an output schema and a renderer.`)
  }
  if (typeof definition.execute !== 'function') throw new ToolError('INVALID_DEFINITION', `${name} needs a body: execute is a function.`)
  for (const part of OPTIONAL_FUNCTIONS) {
    if (definition[part] !== undefined && typeof definition[part] !== 'function') throw new ToolError('INVALID_DEFINITION', `${part} of ${name} is a function or left out.`)
  }
  if (output.presentationMeta !== undefined && typeof output.presentationMeta !== 'function') {
    throw new ToolError('INVALID_DEFINITION', `presentationMeta of ${name} is a function or left out.`)
  }
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new ToolError('INVALID_DEFINITION', `${name} declares a time-out of ${timeoutMs} ms; it must be positive and finite.`)
  }
  const declared = schemaSnapshot(parameters, 'parameters')
  checkSchema(declared)
  // Models call with an object of named arguments; a provider refuses every request that declares anything else.
  if (declared['type'] !== 'object') throw new ToolError('UNSUPPORTED_SCHEMA', `The parameters of ${name} are an object: {"type": "object", "properties": …}.`)
  checkSchema(schemaSnapshot(output.schema, 'output schema'))
  return Object.freeze({ name, description, parameters: declared })
}

const byCodeUnits = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)
