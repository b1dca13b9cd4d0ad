import * as z from 'zod'
import type { SandboxMode } from '../log/event.ts'
import type { Projection } from './projection.ts'

/**
 * What the log says a session may do; null where it says nothing yet.
 *
 * Shape:  `waiting` are the approvals that nobody has answered, oldest first. A folder that is not trusted caps the mode, which the
 *         log does not know: ask the service `permissions` for what is in force.
 */
export type SessionPermissionsView = {
  readonly preset: string | null
  readonly mode: SandboxMode | null
  readonly policy: 'ask' | 'never' | null
  readonly waiting: readonly string[]
}

export const permissionsProjection: Projection<SessionPermissionsView, SessionPermissionsView> = {
  key: 'permissions',
  stateVersion: 1,
  schema: () =>
    z.strictObject({
      preset: z.string().nullable(),
      mode: z.enum(['read-only', 'workspace-write', 'danger-full-access']).nullable(),
      policy: z.enum(['ask', 'never']).nullable(),
      waiting: z.array(z.string()),
    }),
  parts: 'none',
  start: () => ({ preset: null, mode: null, policy: null, waiting: [] }),
  step: (state, event) => {
    switch (event.type) {
      case 'permission/preset':
        return { ...state, preset: event.data.preset }
      case 'sandbox/mode':
        return { ...state, mode: event.data.mode }
      case 'approval/policy':
        return { ...state, policy: event.data.policy }
      case 'approval/asked':
        return { ...state, waiting: [...state.waiting, event.data.id] }
      case 'approval/decided':
        return { ...state, waiting: state.waiting.filter((id) => id !== event.data.id) }
      default:
        return state
    }
  },
  view: (state) => state,
}
