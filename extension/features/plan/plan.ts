import { Emitter } from '../../base/emitter.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import type { Plan } from './service.ts'

/** What the log of a session says about its plan mode. */
interface PlanState {
  isActive: boolean
  /** It was on at some time, so the model is told when it is off. */
  wasActive: boolean
}

export interface PlanBook extends Plan {
  state(session: Session): Readonly<PlanState>
  /** A step was accepted: what waits for it takes hold. */
  settle(agent: Agent): void
  forget(agent: Agent): void
}

export function createPlanBook({ logger }: { readonly logger: Logger }): PlanBook {
  const folds = new WeakMap<Session, { readonly state: PlanState; seen: number }>()
  const leaving = new Set<string>()
  const changes = new Emitter<void>((error) => logger.error('A listener for plan mode failed.', { error: String(error) }))

  function state(session: Session): PlanState {
    let fold = folds.get(session)
    if (fold === undefined) {
      fold = { state: { isActive: false, wasActive: false }, seen: 0 }
      folds.set(session, fold)
    }
    if (fold.seen < session.length) {
      for (const event of session.events(fold.seen)) {
        if (event.type !== 'plan/mode') continue
        fold.state.isActive = event.data.active
        fold.state.wasActive ||= event.data.active
      }
      fold.seen = session.length
    }
    return fold.state
  }

  function write({ id, session }: Agent, active: boolean): void {
    leaving.delete(id)
    session.append({ type: 'plan/mode', data: { active } })
    changes.emit()
  }

  return {
    state,
    isActive: (session) => state(session).isActive,
    pending: ({ header }) => (leaving.has(header.id) ? false : null),
    enter(agent) {
      if (leaving.delete(agent.id)) {
        changes.emit()
        return true
      }
      if (state(agent.session).isActive) return false
      write(agent, true)
      return true
    },
    leave(agent) {
      if (!state(agent.session).isActive || leaving.has(agent.id)) return false
      if (agent.status === 'idle') write(agent, false)
      else {
        leaving.add(agent.id)
        changes.emit()
      }
      return true
    },
    settle(agent) {
      if (leaving.has(agent.id)) write(agent, false)
    },
    forget: (agent) => void leaving.delete(agent.id),
    onDidChange: (listener) => changes.listen(listener),
  }
}
