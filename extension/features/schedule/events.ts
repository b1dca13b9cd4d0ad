/** A reminder as version 1 of the log writes it, with exactly these fields. Source: agent tools specification 5.1. */
export type PlainSchedule =
  | (Base & { readonly kind: 'after'; readonly afterSeconds: number })
  | (Base & { readonly kind: 'at' })
  | (Base & { readonly kind: 'every'; readonly everySeconds: number })

type Base = {
  /** `schedule-N`; never used again. */
  readonly id: string
  /** Trimmed, not empty. */
  readonly prompt: string
  /** Canonical UTC, `YYYY-MM-DDTHH:mm:ss.sssZ`: of what recurs, its next slot. */
  readonly scheduledAt: string
}

/** What stands in a calendar rather than so many seconds away. */
export type CalendarRule = {
  /** A recurrence rule (`FREQ=…`) or five cron fields. */
  readonly rule: string
  /** IANA, canonical. */
  readonly timeZone: string
  /** Wall time of the zone from which a recurrence rule counts, `YYYY-MM-DDTHH:mm:00`. */
  readonly start: string
}

/** Tell the person, or do it as a task that the person allowed when it was made. */
export type ScheduleAction = 'tell' | 'do'
/** What becomes of a time that went by while nobody could deliver it: delivered once, or left out. */
export type CatchUp = 'once' | 'skip'

/** A reminder with what version 1 has no words for. */
export type FullSchedule = (PlainSchedule | (Base & { readonly kind: 'calendar'; readonly calendar: CalendarRule })) & {
  readonly action: ScheduleAction
  readonly catchUp: CatchUp
}

/** Exactly the operations of the specification; a strict reader of version 1 reads every log of ours. */
export type ScheduleChange =
  | { readonly version: 1; readonly operation: 'create'; readonly schedule: PlainSchedule }
  | { readonly version: 1; readonly operation: 'delete'; readonly id: string }
  | { readonly version: 1; readonly operation: 'dispatch'; readonly id: string; readonly acceptedAt?: string }

/**
 * What version 1 cannot say: reminders with more than its fields, which live in these events alone, and what the person does with
 * any reminder. `next`: its next slot, null when there is none; worked out when it was written, so that a replay needs no calendar.
 */
export type ScheduleAdjustment =
  | { readonly version: 1; readonly operation: 'create'; readonly schedule: FullSchedule }
  | { readonly version: 1; readonly operation: 'delete'; readonly id: string }
  | { readonly version: 1; readonly operation: 'dispatch' | 'skip'; readonly id: string; readonly acceptedAt: string; readonly next: string | null }
  | { readonly version: 1; readonly operation: 'pause'; readonly id: string }
  | { readonly version: 1; readonly operation: 'resume'; readonly id: string; readonly next: string }
  | { readonly version: 1; readonly operation: 'snooze' | 'run'; readonly id: string; readonly until: string }
  /** The whole reminder as it is now; one that comes once stays so, and one that recurs. */
  | { readonly version: 1; readonly operation: 'edit'; readonly id: string; readonly schedule: FullSchedule }

declare module '../../core/log/event.ts' {
  interface EventMap {
    'schedule/change': ScheduleChange
    'schedule/adjust': ScheduleAdjustment
  }
}
