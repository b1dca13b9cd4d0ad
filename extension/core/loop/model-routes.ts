import type { Logger } from '../../capabilities/logger.ts'
import type { Plugin } from '../kernel/plugin.ts'
import { resolveChecked } from '../model/checked-info.ts'
import type { CallConfiguration, Failure, FailureCode, ModelInfo, ModelRegistry } from '../model/contract.ts'
import type { Agent } from '../session/agent.ts'
import { settings } from '../settings/specs.ts'
import { failureFrom } from './failure.ts'
import { failureOfRoutes, type FailedRoute } from './route-failure.ts'

/** Another model for the rest of a running turn, or for a request beside the turns. */
export interface ModelRoutes {
  /**
   * Where a request that failed for good is sent next: the first usable model of `model.fallback` that was not asked yet. Null when there
   * is none, and for a failure that another route would not mend. Whoever asks says in the log which route answered.
   */
  next(request: FailedRequest): Promise<KnownRoute | null>
  /** The person chose while the turn waits for a retry: it goes on at once with that model. False when nothing waits (any more). */
  useNow(agent: Agent, route: Route): Promise<boolean>
}

export interface Route {
  readonly provider: string
  readonly model: string
}

export interface FailedRequest {
  readonly failure: Failure
  /** All that were asked, the last one too. */
  readonly asked: readonly Route[]
  /** The last one stood in for another already. It is left for the next whatever it failed with. */
  readonly isFallback: boolean
}

export interface KnownRoute extends Route {
  readonly info: ModelInfo
}

declare module '../kernel/plugin.ts' {
  interface Services {
    modelRoutes: ModelRoutes
  }
}

/** Failures of the chosen model that another one may do without. A refused key is a thing to put right, not to work around. */
const outages: ReadonlySet<FailureCode> = new Set(['SERVER', 'TRANSPORT', 'TIMEOUT', 'RATE_LIMIT', 'QUOTA', 'EMPTY_RESPONSE', 'STREAM_CLOSED'])
/** What no other route mends. */
const everywhere: ReadonlySet<FailureCode> = new Set(['ABORTED', 'CONTEXT_WINDOW_EXCEEDED'])

interface TurnRoute {
  readonly turn: number
  /** Null: as chosen. */
  readonly route: KnownRoute | null
  /** What is chosen, as of the last request. */
  readonly chosen: Route | null
  /** What was asked last. */
  readonly asked: Route | null
  /** Routes that failed in this turn since the person last chose, the chosen one first. */
  readonly failed: readonly FailedRoute[]
}

/**
 * On an outage the same step goes on with the next model of `model.fallback`, and the rest of the turn with it; the next turn
 * begins with the chosen model again. Every change stands in the log (`llm/route`), never silently. Requests for titles and summaries
 * find their next route in the same way; their own events name it.
 *
 * Mounted after the retries, so that it is asked when they give up. A fallback is left for the next whatever it fails with.
 * When none is left, the turn ends with the failure of the chosen model, which also says why no fallback could be used.
 */
export function createModelRoutesPlugin({ logger }: { readonly logger: Logger }): Plugin {
  return {
    name: 'model-routes',
    inject: ['models', 'settings', 'retries'],
    apply(ctx) {
      const turns = new WeakMap<Agent, TurnRoute>()
      const stateOf = (agent: Agent, turn: number): TurnRoute => {
        const known = turns.get(agent)
        return known?.turn === turn ? known : { turn, route: null, chosen: null, asked: null, failed: [] }
      }

      const nextRoute: ModelRoutes['next'] = async ({ failure, asked, isFallback }) => {
        const isOutage = isFallback ? !everywhere.has(failure.code) : outages.has(failure.code)
        if (!isOutage) return null
        const failed = new Set(asked.map(keyOf))
        for (const text of ctx.settings.get(settings.modelFallback)) {
          const route = await usable(text)
          if (route !== null && !failed.has(keyOf(route))) return route
        }
        return null
      }

      ctx.provide('modelRoutes', {
        next: nextRoute,
        async useNow(agent, chosen) {
          const route = await known(ctx.models, chosen)
          const wait = ctx.retries.waiting(agent)
          if (wait === null) return false
          const state = stateOf(agent, wait.turn)
          note(agent, wait, { from: state.asked, to: chosen })
          turns.set(agent, { ...state, route, failed: [] })
          return ctx.retries.tryNow(agent)
        },
      })

      ctx.on('agent/request', async ({ agent, turn }, next) => {
        const base = await next()
        const state = stateOf(agent, turn)
        const chosen = { provider: base.provider, model: base.model }
        // A choice that the person made meanwhile counts for more than the route.
        const isChosenAnew = state.chosen !== null && keyOf(state.chosen) !== keyOf(chosen)
        const route = isChosenAnew ? null : state.route
        const config = routed(base, route)
        turns.set(agent, { ...state, route, chosen, failed: isChosenAnew ? [] : state.failed, asked: { provider: config.provider, model: config.model } })
        return config
      })

      ctx.on('agent/request-error', async ({ agent, turn, step, failure, signal }, next) => {
        const decision = await next()
        const state = stateOf(agent, turn)
        if (decision.kind === 'retry' || state.asked === null || signal.aborted) return decision
        const failed = [...state.failed, { route: state.asked, failure }]
        const route = await nextRoute({ failure, asked: failed.map((one) => one.route), isFallback: state.route !== null })
        if (signal.aborted) return decision
        if (route === null) return { kind: 'fail', failure: await failureOf(failed) }
        note(agent, { turn, step }, { from: state.asked, to: route, failure })
        turns.set(agent, { ...state, failed, route })
        return { kind: 'retry' }
      })

      /** Where a fallback was looked for, those that are not there have their say too. */
      async function failureOf(failed: readonly FailedRoute[]): Promise<Failure> {
        if (!failed.some(({ failure }) => outages.has(failure.code))) return failureOfRoutes(failed)
        const asked = new Set(failed.map(({ route }) => keyOf(route)))
        const others = ctx.settings.get(settings.modelFallback).map(routeFrom).filter((route) => !asked.has(keyOf(route)))
        const whys = await Promise.all(others.map((route) => known(ctx.models, route).then(() => [], (error: unknown) => [{ route, failure: failureFrom(error) }])))
        return failureOfRoutes([...failed, ...whys.flat()])
      }

      async function usable(text: string): Promise<KnownRoute | null> {
        try {
          return await known(ctx.models, routeFrom(text))
        } catch (error) {
          logger.warn('A model of bosun.model.fallback cannot be used.', { model: text, error: String(error) })
          return null
        }
      }
    },
  }
}

function note(agent: Agent, place: { readonly turn: number; readonly step: number }, change: { readonly from: Route | null; readonly to: Route; readonly failure?: Failure }): void {
  const { from, to, failure } = change
  const pair = ({ provider, model }: Route) => ({ provider, model })
  agent.session.append({
    type: 'llm/route',
    ignorable: true,
    data: { turn: place.turn, step: place.step, ...(from !== null && { from: pair(from) }), to: pair(to), ...(failure && { failure }) },
  })
}

/** A route as settings name it. Errors: as `known`. */
export const routeNamed = (models: Pick<ModelRegistry, 'get'>, text: string): Promise<KnownRoute> => known(models, routeFrom(text))

/** Errors: `Error` for a provider that is not there, `ModelError` for a model that it does not know. */
async function known(models: Pick<ModelRegistry, 'get'>, { provider, model }: Route): Promise<KnownRoute> {
  const adapter = models.get(provider)
  if (adapter === undefined) throw new Error(`There is no provider "${provider}".`)
  return { provider, model, info: await resolveChecked(adapter, model) }
}

/** The effort was chosen for another model; it stays where this one knows it too. */
export function routed({ reasoningEffort, ...config }: CallConfiguration, route: KnownRoute | null): CallConfiguration {
  const keepsEffort = reasoningEffort !== undefined && (route === null || route.info.reasoningEfforts.includes(reasoningEffort))
  return { ...config, ...(route !== null && { provider: route.provider, model: route.model }), ...(keepsEffort && { reasoningEffort }) }
}

/** Names of models may hold slashes, those of providers do not. */
function routeFrom(text: string): Route {
  const slash = text.indexOf('/')
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) }
}

const keyOf = ({ provider, model }: Route) => `${provider}/${model}`
