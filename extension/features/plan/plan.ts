import { Emitter } from '../../base/emitter.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import { createExceptions, type Exceptions } from './exceptions.ts'
import { noPlan, stepPlan, type PlanState } from './plan-state.ts'
import { selectionOutcome } from './selection.ts'
import type { Plan } from './service.ts'

export interface PlanBook extends Plan, Pick<Exceptions, 'covers'> {
  state(session: Session): PlanState
  /** A step was accepted: what waits for it takes hold. Gives the notice for the model, when one is due. */
  settle(agent: Agent): UserMessage | null
  /** The agent is live again: a selection that its host did not live to write is written now. */
  restore(agent: Agent): void
}

export function createPlanBook({ logger, newId }: { readonly logger: Logger; readonly newId: () => string }): PlanBook {
  const folds = new WeakMap<Session, { state: PlanState; seen: number }>()
  const changes = new Emitter<void>((error) => logger.error('A listener for plan mode failed.', { error: String(error) }))
  const exceptions = createExceptions({ newId })

  function state(session: Session): PlanState {
    const fold = folds.get(session) ?? { state: noPlan, seen: 0 }
    folds.set(session, fold)
    if (fold.seen < session.length) {
      // The first look passes over what streamed.
      for (const event of fold.seen === 0 ? session.milestones() : session.events(fold.seen)) fold.state = stepPlan(fold.state, event)
      fold.seen = session.length
    }
    return fold.state
  }

  /** What waits stays waiting when it cannot be written. */
  function commit({ session }: Agent): void {
    const { pending } = state(session)
    if (pending === null) return
    try {
      session.append({ type: 'plan/mode', data: { active: pending.active } })
    } catch (error) {
      logger.warn('Plan mode could not be written into its session’s log; it waits on.', { error: String(error) })
      return
    }
    changes.emit()
  }

  return {
    state,
    isActive: (session) => state(session).isActive,
    isHeld(session) {
      const { isActive, pending } = state(session)
      return isActive || pending?.active === true
    },
    pending: (session) => state(session).pending?.active ?? null,
    set({ session }, target, { isSilent = false } = {}) {
      const { isTurnOpen, isActive, pending } = state(session)
      const outcome = selectionOutcome({ isTurnOpen, isActive, pending: pending?.active ?? null }, target)
      if (outcome === 'noop') return outcome
      if (outcome === 'committed') session.append({ type: 'plan/mode', data: { active: target } })
      else session.append({ type: 'plan/selected', data: { active: target, ...(isSilent && { isSilent }) }, ignorable: true })
      changes.emit()
      return outcome
    },
    settle(agent) {
      const before = state(agent.session)
      commit(agent)
      const { isActive, isNarrated } = state(agent.session)
      if (before.told === null || before.told === isActive || !isNarrated) return null
      return noticeMessage({ id: newId(), plugin: 'plan', ...(isActive ? notices.on : notices.off) })
    },
    restore(agent) {
      if (!state(agent.session).isTurnOpen) commit(agent)
    },
    allowOnce(agent, callId) {
      const isAllowed = exceptions.allow(agent, callId)
      if (isAllowed) changes.emit()
      return isAllowed
    },
    covers: exceptions.covers,
    onDidChange: (listener) => changes.listen(listener),
  }
}

const notices = {
  on: { text: 'The person turned plan mode on.', summary: 'Plan mode was turned on' },
  off: { text: 'The person turned plan mode off.', summary: 'Plan mode was turned off' },
}
