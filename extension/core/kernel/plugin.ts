import type { AsyncUndo, Undo } from '../../base/undo.ts'

/**
 * Services by name, filled in by the modules that define them through declaration merging:
 * `declare module '../kernel/plugin.ts' { interface Services { tools: ToolRegistry } }`.
 */
export interface Services {}
export type ServiceName = keyof Services & string

/**
 * Extension points by name with their kind, filled in by their owners through declaration merging:
 * `interface ExtensionPoints { 'tools/result': Emit<[execution: Execution, result: ToolResult]> }`.
 */
export interface ExtensionPoints {}
export type PointName = keyof ExtensionPoints & string

/** Listeners get `next()` and call it or answer themselves; the dispatcher supplies the last default. */
export type Waterfall<Args extends readonly unknown[], Result> = {
  readonly kind: 'waterfall'
  readonly args: Args
  readonly result: Result
  readonly listener: (...args: [...Args, next: () => Promise<Result>]) => Result | Promise<Result>
}
/** Awaited one by one; a throw reaches the dispatcher. */
export type Serial<Args extends readonly unknown[]> = {
  readonly kind: 'serial'
  readonly args: Args
  readonly result: void
  readonly listener: (...args: Args) => void | Promise<void>
}
/** Started together, all awaited; the first throw reaches the dispatcher. */
export type Parallel<Args extends readonly unknown[]> = {
  readonly kind: 'parallel'
  readonly args: Args
  readonly result: void
  readonly listener: (...args: Args) => void | Promise<void>
}
/** Synchronous observers; a throw is contained and logged, unless the owner of the point says otherwise. */
export type Emit<Args extends readonly unknown[]> = {
  readonly kind: 'emit'
  readonly args: Args
  readonly result: void
  readonly listener: (...args: Args) => void
}

export type PointsOfKind<Kind extends string> = {
  [Name in PointName]: ExtensionPoints[Name] extends { readonly kind: Kind } ? Name : never
}[PointName]
type PartsOf<Name extends PointName> = ExtensionPoints[Name] extends {
  readonly args: infer Args extends readonly unknown[]
  readonly result: infer Result
  readonly listener: infer Listener
}
  ? { args: Args; result: Result; listener: Listener }
  : never
export type PointArgs<Name extends PointName> = PartsOf<Name>['args']
export type PointResult<Name extends PointName> = PartsOf<Name>['result']
export type PointListener<Name extends PointName> = PartsOf<Name>['listener']

/**
 * A layer of contributions. Resolution goes nearest first: agent, then preset, then global (null).
 * A key is bound to its parent once.
 */
export interface ScopeKey {
  readonly label: string
  readonly parent: ScopeKey | null
}

/**
 * One capability of the application: everything that registers something is a plugin.
 *
 * `apply` runs when every service named in `inject` is there, and its registrations go when the plugin goes
 * or when one of those services goes. It may return an undo that is awaited on disposal.
 * Errors: a throw in `apply` fails the plugin (its registrations are taken back), never the application.
 */
export interface Plugin {
  readonly name: string
  readonly inject?: readonly ServiceName[]
  apply(ctx: Context): void | AsyncUndo | Promise<void | AsyncUndo>
}

export type FiberState = 'pending' | 'active' | 'failed' | 'disposed'

/** A mounted plugin. */
export interface Fiber {
  readonly name: string
  readonly state: FiberState
  /** Why it failed, or which services it waits for. */
  readonly reason: string | null
  /** Settles when the plugin has become active; rejects when it failed; stays open while services are missing. */
  readonly ready: Promise<void>
  /** Take everything back and wait until the work behind it has stopped. Idempotent. */
  dispose(): Promise<void>
}

export interface ListenOptions {
  /** Before the listeners that are there already. */
  readonly prepend?: boolean
}

/**
 * What a plugin sees of the application. Every registration through it belongs to the plugin (its fiber)
 * and to the layer `scope`.
 *
 * Services appear as properties (`ctx.tools`), typed by `Services`; reading one that is not injected and not there throws.
 */
export interface ContextCore {
  /** The layer that registrations are filed into; null is global. */
  readonly scope: ScopeKey | null
  readonly fiber: Fiber
  /** Mount a plugin as a child of this one. */
  plugin(plugin: Plugin): Fiber
  /** Own an undo; awaited on disposal. Returns the early undo. */
  effect(undo: AsyncUndo): () => Promise<void>
  /**
   * Offer a service. `provider` makes the view of it that one context gets, so that what is registered through
   * the view can be attributed to that context's plugin and layer; a plain object is the same for all.
   * Errors: `Error` when the name is taken.
   */
  provide<Name extends ServiceName>(name: Name, provider: Services[Name] | ((ctx: Context) => Services[Name])): Undo
  /** A service or undefined. */
  get<Name extends ServiceName>(name: Name): Services[Name] | undefined
  /** A listener in a scope gets only events of agents at or below that scope; without a scope it gets all. */
  on<Name extends PointName>(name: Name, listener: PointListener<Name>, options?: ListenOptions): Undo
  /** The same plugin in another layer: registrations made through it go to `scope` and are owned by this fiber. */
  scoped(scope: ScopeKey): Context
}

export type Context = ContextCore & Services

/** In the place of a scope: the event is about no layer, and listeners of all layers get it. */
export const everyLayer: ScopeKey = Object.freeze({ label: 'every layer', parent: null })

/** How the owner of an extension point runs it. `scope` is the agent's layer the event is about, null for agent-less ones. */
export interface Dispatcher {
  waterfall<Name extends PointsOfKind<'waterfall'>>(
    name: Name,
    scope: ScopeKey | null,
    args: PointArgs<Name>,
    last: () => Promise<PointResult<Name>>,
  ): Promise<PointResult<Name>>
  serial<Name extends PointsOfKind<'serial'>>(name: Name, scope: ScopeKey | null, args: PointArgs<Name>): Promise<void>
  parallel<Name extends PointsOfKind<'parallel'>>(name: Name, scope: ScopeKey | null, args: PointArgs<Name>): Promise<void>
  /** Contained: a throw goes to the log. `everyLayer` reaches listeners of all layers. */
  emit<Name extends PointsOfKind<'emit'>>(name: Name, scope: ScopeKey | null, args: PointArgs<Name>): void
  /** For points whose throw must reach the dispatcher (veto, rollback). */
  emitStrict<Name extends PointsOfKind<'emit'>>(name: Name, scope: ScopeKey | null, args: PointArgs<Name>): void
}

export interface Kernel {
  readonly root: Context
  readonly dispatch: Dispatcher
  /** A fresh layer key, bound to its parent. Whoever holds the kernel owns the binding. */
  createScope(label: string, parent: ScopeKey | null): ScopeKey
  /** Bind a layer to another parent. Errors: `Error` for a cycle, an unknown or a disposed key. */
  rebindScope(key: ScopeKey, parent: ScopeKey | null): void
  /** Take back everything filed into the layer, awaited; afterwards nothing can be registered in it. Idempotent. */
  disposeScope(key: ScopeKey): Promise<void>
  /** Every mounted plugin with its state, for the page that explains what loaded and what did not. */
  fibers(): readonly Fiber[]
  /** Names of the services that are there, for the same. */
  services(): readonly string[]
  dispose(): Promise<void>
}
