import type { RequestHeader } from '../log/event.ts'
import type { CallConfiguration } from '../model/contract.ts'
import { estimateRequestTokens } from '../model/token-estimate.ts'
import type { ContextPressure } from '../projections/context-pressure.ts'
import type { Session, Surface } from '../session/session.ts'
import { cutAt } from './cut.ts'
import type { CompactionPolicy } from './policy.ts'
import { unitsOf, type Unit } from './units.ts'

/** A talk and the window it has to fit, as both are now. Tokens are the provider's, as far as is known, but where an estimate is named. */
export interface Situation {
  readonly surface: Surface
  readonly units: readonly Unit[]
  /** Tokens the next request fills, as far as the log can tell. */
  readonly projected: number
  /** The same; at least the room after the provider found a request too long. */
  readonly used: number
  /** Tokens it may fill. */
  readonly room: number
  /** Of the provider, for one token of the estimate. */
  readonly scale: number
  /** Units that a summary would take the place of, from the oldest. */
  readonly cut: number
}

export interface Need {
  readonly room: number
  readonly policy: CompactionPolicy
  /** System prompt and tools. */
  readonly header: Pick<RequestHeader, 'system' | 'tools'>
  /** The provider said that the request fills more than its window. */
  readonly isOverflow: boolean
  /** A person asks: also a talk that fits is made smaller. */
  readonly isManual: boolean
}

export function situationOf(session: Session, { room, policy, header, isOverflow, isManual }: Need): Situation {
  const surface = session.surface()
  const units = unitsOf(surface)
  const { system, tools = [] } = header
  const fixed = estimateRequestTokens({ ...(system !== undefined && { system }), tools, messages: [] })
  const talk = units.reduce((sum, unit) => sum + unit.tokens, 0)
  const projected = pressureOf(session).projectedTokens
  // What did not fit holds at least as much as would have fit.
  const used = isOverflow ? Math.max(projected, room) : projected
  const scale = Math.min(8, Math.max(0.5, used / Math.max(1, fixed + talk)))
  const free = Math.max(0, room / scale - fixed)
  const asked = 'tokens' in policy.retain ? policy.retain.tokens / scale : free * policy.retain.ratio
  const retain = Math.min(asked, isManual || isOverflow ? talk / 4 : free / 2)
  return { surface, units, projected, used, room, scale, cut: cutAt(units, retain) }
}

export const pressureOf = (session: Session): ContextPressure =>
  // The unit of this name makes this value.
  session.projections().values['contextPressure'] as ContextPressure

/** The configuration of the talk's newest request when it is still of the same model, so that the provider's cache serves. */
export function sameRoute(newest: RequestHeader | undefined, config: CallConfiguration): boolean {
  return newest !== undefined && newest.config.provider === config.provider && newest.config.model === config.model
}
