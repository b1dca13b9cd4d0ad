import * as z from 'zod'
import type { Projection } from '../../core/projections/projection.ts'
import type { Task } from './events.ts'
import { noTasks, stepTasks, type TaskState } from './task-state.ts'

/** The list, or null. It stands over turns until it is dismissed; one that is done goes with the next turn, so that it can still be seen. */
export const todosProjection: Projection<TaskState, readonly Task[] | null> = {
  key: 'todos',
  stateVersion: 2,
  schema: () =>
    z
      .array(
        z.strictObject({
          id: z.string(),
          content: z.string(),
          status: z.enum(['pending', 'in_progress', 'completed']),
          note: z.string().exactOptional(),
          files: z.array(z.string()).exactOptional(),
          turn: z.number().exactOptional(),
        }),
      )
      .nullable(),
  start: () => noTasks,
  step: stepTasks,
  view: ({ tasks }) => tasks,
}
