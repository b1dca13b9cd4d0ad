import type { Undo } from '../../base/undo.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { FullSchedule } from './events.ts'
import type { ScheduleEntry } from './fold.ts'
import type { CreateArgs, CreateRequest } from './request.ts'

/** Outcomes of the domain: they are values, so that programs can go by them. Source: agent tools specification 5.2; the last three are ours. */
export type ScheduleFailureCode =
  | 'invalid_prompt'
  | 'invalid_selector'
  | 'invalid_rule'
  | 'invalid_time_zone'
  | 'not_future'
  | 'time_out_of_range'
  | 'frequency_too_high'
  | 'corrupt_schedule_log'
  | 'persistence_uncertain'
  | 'internal_error'
  | 'not_approved'
  | 'too_many_schedules'
  | 'schedule_not_found'

export interface ScheduleFailure {
  readonly code: ScheduleFailureCode
  readonly message: string
  /** Of `persistence_uncertain`. */
  readonly operation?: 'create' | 'list' | 'delete' | 'change'
  readonly id?: string
}

/** A reminder as the model sees it; what only ours have is there when it says something. */
export type ScheduleView = Omit<FullSchedule, 'action' | 'catchUp'> & {
  readonly state: 'scheduled' | 'overdue'
  readonly deliveryMode: 'session-local'
  readonly action?: 'do'
  readonly catchUp?: 'skip'
  readonly isPaused?: true
  readonly snoozedUntil?: string
}

export type ScheduleDeletion = { readonly id: string; readonly deleted: true } | { readonly id: string; readonly deleted: false; readonly code: 'schedule_not_found' }

export const isFailure = <T extends object>(outcome: T | ScheduleFailure): outcome is ScheduleFailure => 'code' in outcome && 'message' in outcome

/** What a person may make of a reminder; one that comes once stays so, and one that recurs. */
export type ScheduleEdit = { readonly prompt?: string; readonly when?: { readonly atMs: number } | { readonly everySeconds: number } | { readonly rule: string; readonly timeZone: string } }

/** Where an agent's deliveries stand. */
export type DeliveryState =
  | 'running'
  /** The folder is not trusted, another window writes, or the host goes after one turn. */
  | 'held'
  /** Something could not be written, or cannot be believed; nothing is delivered any more in this window. */
  | 'faulted'

/**
 * Reminders of the live root agents. Source: agent tools specification 5.
 *
 * Whatever is asked of one agent, and what falls due, happens one after the other. Nothing here rejects but for the signal.
 */
export interface Schedules {
  readonly limits: { readonly promptChars: number; readonly ruleChars: number; readonly active: number }
  /** What is wrong with arguments before anything is read or written. */
  read(args: CreateArgs): CreateRequest | ScheduleFailure
  create(agent: Agent | undefined, request: CreateRequest, signal: AbortSignal): Promise<ScheduleView | ScheduleFailure>
  list(agent: Agent | undefined, signal: AbortSignal): Promise<readonly ScheduleView[] | ScheduleFailure>
  remove(agent: Agent | undefined, id: string, signal: AbortSignal): Promise<ScheduleDeletion | ScheduleFailure>
  /** What the person does. `untilMs` is epoch milliseconds. */
  pause(agent: Agent, id: string): Promise<ScheduleView | ScheduleFailure>
  resume(agent: Agent, id: string): Promise<ScheduleView | ScheduleFailure>
  snooze(agent: Agent, id: string, untilMs: number): Promise<ScheduleView | ScheduleFailure>
  runNow(agent: Agent, id: string): Promise<ScheduleView | ScheduleFailure>
  edit(agent: Agent, id: string, change: ScheduleEdit): Promise<ScheduleView | ScheduleFailure>
  /** Once more later, of one that was just delivered. */
  again(agent: Agent, delivered: FullSchedule, untilMs: number): Promise<ScheduleView | ScheduleFailure>
  /** Null for an agent that holds none: a child. */
  state(agent: Agent): { readonly entries: readonly ScheduleEntry[]; readonly delivery: DeliveryState; readonly problem: string | null } | null
  /** Look at the clock again, as after the machine slept. Cheap when nothing is due. */
  look(): void
  onDidChange(listener: (agent: Agent) => void): Undo
  onDidDeliver(listener: (news: { readonly agent: Agent; readonly delivered: readonly FullSchedule[] }) => void): Undo
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    schedules: Schedules
  }
}
