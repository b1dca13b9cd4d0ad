import type { Undo } from '../../base/undo.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import type { TaskEdit } from '../../protocol/task-edit.ts'
import type { Task } from './events.ts'
import type { TaskChange } from './history.ts'

/** The task list of each session, which person and model share. Source: agent tools specification 4 and 12.13. */
export interface Tasks {
  /** `tasks` null: there is no list. `dropped`: what the model left out unfinished. */
  of(session: Session): { readonly tasks: readonly Task[] | null; readonly dropped: readonly Task[] }
  /** What the person does to the list. The model hears of it once, with its next step. Errors: as `Session.append`. */
  edit(agent: Agent, edit: TaskEdit): { readonly ok: true } | { readonly ok: false; readonly problem: string }
  /** What became of the list, oldest first. */
  history(session: Session): readonly TaskChange[]
  /** A list changed, by the person or the model. */
  onDidChange(listener: (sessionId: string) => void): Undo
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    tasks: Tasks
  }
}
