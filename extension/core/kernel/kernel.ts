import type { Logger } from '../../capabilities/logger.ts'
import { Scope } from '../../base/scope.ts'
import { thrownLine, thrownText } from '../../base/thrown-text.ts'
import type { AsyncUndo, Undo } from '../../base/undo.ts'
import { createListenerTable } from './dispatcher.ts'
import type { ListenerTable } from './dispatcher.ts'
import type {
  Context,
  ContextCore,
  Fiber,
  FiberState,
  Kernel,
  ListenOptions,
  Plugin,
  PointListener,
  PointName,
  ScopeKey,
  ServiceName,
  Services,
} from './plugin.ts'
import { isAtOrAbove } from './scope-chain.ts'

/**
 * The plugin container: services, lifecycles, layers and extension points.
 *
 * Errors: none of its own; a plugin that throws in `apply` is `failed` and its registrations are gone.
 */
export function createKernel({ logger }: { readonly logger: Logger }): Kernel {
  return new KernelCore(logger)
}

type AnyProvider = unknown
interface ServiceSlot {
  readonly provider: AnyProvider
}
/** A layer key and the place of its parent, which only the kernel can reach. */
interface Binding {
  readonly layer: Scope
  parent: ScopeKey | null
}

class KernelCore implements Kernel {
  readonly logger: Logger
  readonly listeners: ListenerTable
  /** This kernel's own class of contexts: each service is one getter on it, so no proxy is needed. */
  readonly #ContextClass: typeof PluginContext
  readonly #services = new Map<string, ServiceSlot>()
  readonly #fibers = new Set<PluginFiber>()
  readonly #bindings = new WeakMap<ScopeKey, Binding>()
  readonly root: Context
  readonly #rootFiber: PluginFiber

  constructor(logger: Logger) {
    this.logger = logger
    this.listeners = createListenerTable(logger)
    this.#ContextClass = class extends PluginContext {}
    this.#rootFiber = new PluginFiber(this, { name: 'root', apply: () => {} }, null)
    this.#rootFiber.start()
    this.root = this.createContext(this.#rootFiber, null)
  }

  get dispatch() {
    return this.listeners.dispatch
  }

  createContext(fiber: PluginFiber, scope: ScopeKey | null): Context {
    // The getters of the services are there at run time; `Services` types them.
    return new this.#ContextClass({ kernel: this, fiber, scope }) as unknown as Context
  }

  createScope(label: string, parent: ScopeKey | null): ScopeKey {
    if (parent) this.layer(parent)
    const binding: Binding = { layer: new Scope(), parent }
    const key: ScopeKey = Object.freeze({
      label,
      get parent() {
        return binding.parent
      },
    })
    this.#bindings.set(key, binding)
    return key
  }

  rebindScope(key: ScopeKey, parent: ScopeKey | null): void {
    const binding = this.#binding(key)
    if (parent) this.layer(parent)
    if (isAtOrAbove(key, parent)) throw new Error(`Layer ${key.label} cannot be put below itself.`)
    binding.parent = parent
  }

  async disposeScope(key: ScopeKey): Promise<void> {
    await this.#bindings.get(key)?.layer.dispose()
  }

  /** Errors: `Error` when the layer is unknown or disposed. */
  layer(key: ScopeKey): Scope {
    return this.#binding(key).layer
  }

  #binding(key: ScopeKey): Binding {
    const binding = this.#bindings.get(key)
    if (!binding) throw new Error(`Layer ${key.label} was not made by this kernel.`)
    if (binding.layer.isDisposed) throw new Error(`Layer ${key.label} is disposed; nothing can be registered in it any more.`)
    return binding
  }

  service(name: string): ServiceSlot | undefined {
    return this.#services.get(name)
  }

  provide(name: string, provider: AnyProvider): Undo {
    if (this.#services.has(name)) throw new Error(`Service ${name} is already provided; dispose its plugin first.`)
    if (name in PluginContext.prototype) throw new Error(`${name} is a word of the context itself; give the service another name.`)
    const slot: ServiceSlot = { provider }
    this.#services.set(name, slot)
    const prototype: object = this.#ContextClass.prototype
    if (!Object.hasOwn(prototype, name)) {
      Object.defineProperty(prototype, name, {
        configurable: true,
        get(this: PluginContext) {
          return this.required(name)
        },
      })
    }
    this.#settle(name)
    return () => {
      if (this.#services.get(name) !== slot) return
      this.#services.delete(name)
      this.#settle(name)
    }
  }

  /** A service came or went: every plugin that wants it follows. */
  #settle(name: string): void {
    for (const fiber of [...this.#fibers]) if (fiber.plugin.inject?.includes(name as ServiceName)) fiber.follow()
  }

  track(fiber: PluginFiber): Undo {
    this.#fibers.add(fiber)
    return () => void this.#fibers.delete(fiber)
  }

  services(): readonly string[] {
    return [...this.#services.keys()]
  }

  fibers(): readonly Fiber[] {
    return [...this.#fibers]
  }

  async dispose(): Promise<void> {
    await this.#rootFiber.dispose()
  }
}

/** One mounted plugin and its life: pending, active, failed or disposed. Transitions never overlap. */
class PluginFiber implements Fiber {
  readonly plugin: Plugin
  readonly #kernel: KernelCore
  readonly #scopeKey: ScopeKey | null
  readonly #untrack: Undo
  readonly ready: Promise<void>
  #resolveReady: () => void = () => {}
  #rejectReady: (error: unknown) => void = () => {}
  #state: FiberState = 'pending'
  #reason: string | null = null
  /** Registrations of the current activation. */
  #effects: Scope | null = null
  #stopping: Promise<void> | null = null
  /** An `apply` that is still running; disposal waits for it. */
  #applying: Promise<void> | null = null
  #disposal: Promise<void> | null = null
  /** Frees the parent's hold on this fiber once it is gone. */
  onGone: () => void = () => {}

  constructor(kernel: KernelCore, plugin: Plugin, scopeKey: ScopeKey | null) {
    this.plugin = plugin
    this.#kernel = kernel
    this.#scopeKey = scopeKey
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve
      this.#rejectReady = reject
    })
    // Nobody has to wait for `ready`; a failure is also in `state` and `reason`.
    this.ready.catch(() => {})
    this.#untrack = kernel.track(this)
  }

  get name(): string {
    return this.plugin.name
  }
  get state(): FiberState {
    return this.#state
  }
  get reason(): string | null {
    return this.#reason
  }

  /** Errors: `Error` when the plugin is not active, so that nothing registers after its disposal. */
  effects(): Scope {
    if (!this.#effects || this.#effects.isDisposed) {
      throw new Error(`Plugin ${this.name} is ${this.#state}; it cannot register anything now.`)
    }
    return this.#effects
  }

  start(): void {
    this.follow()
  }

  /** Come to life or rest as the wanted services come and go. */
  follow(): void {
    if (this.#disposal || this.#state === 'failed') return
    const missing = (this.plugin.inject ?? []).filter((name) => !this.#kernel.service(name))
    if (missing.length > 0) {
      this.#reason = `waits for ${missing.join(', ')}`
      if (this.#effects) void this.#rest()
      return
    }
    if (!this.#effects && !this.#stopping) this.#activate()
  }

  #activate(): void {
    const effects = new Scope()
    this.#effects = effects
    this.#reason = null
    let outcome: void | AsyncUndo | Promise<void | AsyncUndo>
    try {
      outcome = this.plugin.apply(this.#kernel.createContext(this, this.#scopeKey))
    } catch (error) {
      this.#fail(effects, error)
      return
    }
    if (outcome instanceof Promise) {
      this.#applying = outcome.then(
        (undo) => this.#activated(effects, undo),
        (error: unknown) => this.#fail(effects, error),
      )
    } else if (effects.isDisposed) {
      // It disposed itself in `apply`.
      this.#applying = this.#activated(effects, outcome)
    } else void this.#activated(effects, outcome)
  }

  async #activated(effects: Scope, undo: void | AsyncUndo): Promise<void> {
    if (effects.isDisposed) {
      // It was taken down while `apply` still ran: what it hands back goes at once.
      try {
        await undo?.()
      } catch (error) {
        this.#report('stop', error)
      }
      return
    }
    if (undo) effects.add(undo)
    this.#state = 'active'
    this.#resolveReady()
  }

  #fail(effects: Scope, error: unknown): void {
    if (effects.isDisposed) {
      this.#report('start', error)
      return
    }
    this.#state = 'failed'
    this.#reason = thrownText(error) ?? 'It failed with a value that has no text.'
    this.#report('start', error)
    this.#rejectReady(error)
    this.#effects = null
    this.#stopping = effects.dispose().catch((failure: unknown) => this.#report('clean up', failure))
  }

  /** Give up the registrations because a service went; come back when it is there again. */
  async #rest(): Promise<void> {
    const effects = this.#effects
    if (!effects) return
    this.#effects = null
    this.#state = 'pending'
    this.#stopping = effects
      .dispose()
      .catch((error: unknown) => this.#report('stop', error))
      .then(() => this.#applying ?? undefined)
    await this.#stopping
    this.#stopping = null
    this.#applying = null
    this.follow()
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#end()
    return this.#disposal
  }

  async #end(): Promise<void> {
    const effects = this.#effects
    this.#untrack()
    if (this.#state !== 'failed') this.#state = 'disposed'
    // Whoever still waits for it is not left waiting. Without effect when it has been active.
    this.#rejectReady(new Error(`Plugin ${this.name} was disposed before it became active.`))
    try {
      // From here on nothing more can be registered.
      const disposal = effects?.dispose()
      await Promise.all([this.#stopping, disposal])
      await this.#applying
    } finally {
      this.#effects = null
      this.onGone()
    }
  }

  #report(what: string, error: unknown): void {
    this.#kernel.logger.error(`Plugin ${this.name} failed to ${what}.`, {
      error: thrownLine(error),
    })
  }
}

interface ContextParts {
  readonly kernel: KernelCore
  readonly fiber: PluginFiber
  readonly scope: ScopeKey | null
}

/** What one plugin sees in one layer. */
class PluginContext implements ContextCore {
  readonly #parts: ContextParts
  readonly #views = new Map<string, { readonly slot: ServiceSlot; readonly view: unknown }>()

  constructor(parts: ContextParts) {
    this.#parts = parts
  }

  get scope(): ScopeKey | null {
    return this.#parts.scope
  }

  get fiber(): Fiber {
    return this.#parts.fiber
  }

  plugin(plugin: Plugin): Fiber {
    const { kernel, scope } = this.#parts
    const child = new PluginFiber(kernel, plugin, scope)
    const release = this.effect(() => child.dispose())
    child.onGone = () => void release()
    child.start()
    return child
  }

  effect(undo: AsyncUndo): () => Promise<void> {
    const { kernel, fiber, scope } = this.#parts
    // Whichever goes first, the plugin or the layer, takes the registration with it and frees the other's hold.
    const layer = scope ? kernel.layer(scope) : null
    if (!layer) return fiber.effects().add(undo)
    let release = async (): Promise<void> => {}
    const early = fiber.effects().add(() => {
      void release()
      return undo()
    })
    release = layer.add(early)
    return release
  }

  provide<Name extends ServiceName>(name: Name, provider: Services[Name] | ((ctx: Context) => Services[Name])): Undo {
    const { kernel } = this.#parts
    return this.#owned(kernel.provide(name, provider))
  }

  on<Name extends PointName>(name: Name, listener: PointListener<Name>, options?: ListenOptions): Undo {
    const { kernel, fiber, scope } = this.#parts
    return this.#owned(kernel.listeners.add(name, { call: listener, scope, owner: fiber.name }, options))
  }

  get<Name extends ServiceName>(name: Name): Services[Name] | undefined {
    return this.#view(name) as Services[Name] | undefined
  }

  scoped(scope: ScopeKey): Context {
    const { kernel, fiber } = this.#parts
    kernel.layer(scope)
    return kernel.createContext(fiber, scope)
  }

  required(name: string): unknown {
    const view = this.#view(name)
    if (view === undefined) {
      throw new Error(`Service ${name} is not there. Name it in the plugin's inject, or ask with get().`)
    }
    return view
  }

  #view(name: string): unknown {
    const { kernel } = this.#parts
    const slot = kernel.service(name)
    if (!slot) return undefined
    const known = this.#views.get(name)
    if (known?.slot === slot) return known.view
    const view = typeof slot.provider === 'function' ? (slot.provider as (ctx: unknown) => unknown)(this) : slot.provider
    this.#views.set(name, { slot, view })
    return view
  }

  #owned(undo: Undo): Undo {
    let early: () => Promise<void>
    try {
      early = this.effect(undo)
    } catch (error) {
      undo()
      throw error
    }
    return () => void early()
  }
}
