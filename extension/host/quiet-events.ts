import type { EventType } from '../core/log/event.ts'

/** Events that draw no row of their own: they stand in other rows, in the docks, or only in the log. Source: runtime specification 11.9. */
const quietEvents: ReadonlySet<string> = new Set([
  'request/header',
  'session/end-seed',
  'session/title',
  'agent/inbox/spliced',
  'agent-preset/selected',
  'approval/policy',
  'sandbox/mode',
  'permission/preset',
  'command/run',
  'command/done',
  'turn/paused',
  'todo/write',
  'fs/observed',
] satisfies readonly (EventType | FeatureEvent)[])

/** Features merge these into the log's events; a build without the feature still reads its logs. */
type FeatureEvent = 'todo/write' | 'fs/observed'

/** True for a known event without a row; an unknown one is shown as skipped. */
export function isQuietEvent(type: string): boolean {
  return quietEvents.has(type)
}
