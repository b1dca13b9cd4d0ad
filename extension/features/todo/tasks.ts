import { Emitter } from '../../base/emitter.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import { editTasks } from './edit-tasks.ts'
import { historyOf } from './history.ts'
import type { Tasks } from './service.ts'
import { taskNotice, taskReminder } from './task-notice.ts'
import { isDone, noTasks, stepTasks, TASKS_PLUGIN, type TaskState } from './task-state.ts'

export interface TaskBook extends Tasks {
  /** Something of the list of this session stands in its log. */
  changed(session: Session): void
  /** What a step has to tell the model again, beside the messages that come in with it; null for nothing. */
  reminder(session: Session, messages: readonly UserMessage[]): UserMessage | null
}

/** The lists of all sessions, read from their logs. */
export function createTaskBook({ logger, newId }: { readonly logger: Logger; readonly newId: () => string }): TaskBook {
  const folds = new WeakMap<Session, { state: TaskState; seen: number }>()
  const changes = new Emitter<string>((error) => logger.error('A listener of the task lists failed.', { error: String(error) }))

  function state(session: Session): TaskState {
    const fold = folds.get(session) ?? { state: noTasks, seen: 0 }
    folds.set(session, fold)
    if (fold.seen < session.length) {
      // The first look passes over what streamed.
      for (const event of fold.seen === 0 ? session.milestones() : session.events(fold.seen)) fold.state = stepTasks(fold.state, event)
      fold.seen = session.length
    }
    return fold.state
  }

  /** One notice waits at most; it says all that the person did since the model last heard, or goes when they took it back. */
  function tell(agent: Agent): void {
    const { known, tasks } = state(agent.session)
    const notice = taskNotice(known, tasks)
    const waiting = agent.inbox.nextStep.find(isOurs)
    if (waiting !== undefined) {
      if (notice === null) agent.queue.remove(waiting.id)
      else agent.queue.edit(waiting.id, [{ type: 'text', text: notice.text }])
    } else if (notice !== null) agent.inject(noticeMessage({ id: newId(), plugin: TASKS_PLUGIN, ...notice }))
  }

  return {
    of(session) {
      const { tasks, dropped } = state(session)
      return { tasks, dropped }
    },
    edit(agent, edit) {
      const edited = editTasks(state(agent.session), edit, newId)
      if (!edited.ok) return edited
      const { action, tasks, dropped } = edited
      agent.session.append({ type: 'todo/edited', data: { action, tasks, dropped }, ignorable: true })
      tell(agent)
      return { ok: true }
    },
    history: (session) => historyOf(session.milestones()),
    changed: (session) => changes.emit(session.id),
    reminder(session, messages) {
      const { tasks, isForgotten } = state(session)
      if (!isForgotten || tasks === null || tasks.every(isDone) || messages.some(isOurs)) return null
      return noticeMessage({ id: newId(), plugin: TASKS_PLUGIN, ...taskReminder(tasks) })
    },
    onDidChange: (listener) => changes.listen(listener),
  }
}

const isOurs = ({ source }: UserMessage): boolean => source.kind === 'plugin' && source.plugin === TASKS_PLUGIN
