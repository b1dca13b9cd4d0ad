import type { Undo } from '../../base/undo.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'

/** Plan mode of each session: Bosun explores and writes a plan, and nothing is changed. Source: runtime specification 18.4, design 6.1. */
export interface Plan {
  /** It holds now: what changes anything is refused. A session that is not live is read from its log. */
  isActive(session: Session): boolean
  /** A change that waits for the next step; null when none does. */
  pending(session: Session): boolean | null
  /** At once, also in the middle of a turn. False when it held already. */
  enter(agent: Agent): boolean
  /** Idle: at once. In a turn: with the next step, so that the calls of this one are still held to it. False when nothing changed. */
  leave(agent: Agent): boolean
  onDidChange(listener: () => void): Undo
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    plan: Plan
  }
}

declare module '../../core/log/event.ts' {
  interface EventMap {
    'plan/mode': { readonly active: boolean }
  }
}
