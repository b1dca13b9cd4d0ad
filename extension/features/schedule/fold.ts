import type { Json, JsonObject } from '../../base/json.ts'
import type { SessionEvent, SessionHeader } from '../../core/log/event.ts'
import type { FullSchedule } from './events.ts'
import { millisecondsOf, msOf, nextSlot } from './instants.ts'

/** An active reminder with what the person did with it. Lossless JSON. */
export type ScheduleEntry = {
  readonly schedule: FullSchedule
  /** Which event speaks of its end: version 1's, or ours. */
  readonly isPlain: boolean
  readonly isPaused: boolean
  /** In the place of `scheduledAt` for the next delivery, also while it is paused when the person said run. */
  readonly instead: { readonly at: string; readonly isRun: boolean } | null
}

/** What a log says of its reminders. Lossless JSON, kept beside the log. */
export type ScheduleState = {
  /** Events before this number came with a fork and do not count. */
  readonly from: number
  /** Of the newest id. */
  readonly lastNumber: number
  /** In order of creation. */
  readonly entries: readonly ScheduleEntry[]
  /** Why the log cannot be believed: `corrupt_schedule_log` from here on. */
  readonly problem: string | null
}

export const isRecurring = ({ kind }: Pick<FullSchedule, 'kind'>): boolean => kind === 'every' || kind === 'calendar'

export const startOfSchedules = (header?: Pick<SessionHeader, 'seedLength'>): ScheduleState => ({ from: header?.seedLength ?? 0, lastNumber: 0, entries: [], problem: null })

/**
 * One event more. Strict: what does not fit what came before makes the log corrupt for good, and nothing is guessed.
 * Source: agent tools specification 5.1.
 */
export function stepSchedules(state: ScheduleState, event: SessionEvent): ScheduleState {
  if ((event.type !== 'schedule/change' && event.type !== 'schedule/adjust') || event.seq < state.from || state.problem !== null) return state
  // What was read from a disk is looked at key by key below.
  const data = event.data as unknown as JsonObject
  const next = event.type === 'schedule/change' ? changed(state, data) : adjusted(state, data)
  return typeof next === 'string' ? { ...state, problem: `event ${event.seq}: ${next}` } : next
}

function changed(state: ScheduleState, data: JsonObject): ScheduleState | string {
  if (data['version'] !== 1) return `version ${JSON.stringify(data['version'])} is not 1`
  switch (data['operation']) {
    case 'create': {
      if (!hasKeys(data, ['version', 'operation', 'schedule'])) return surplus
      const schedule = data['schedule']
      const problem = scheduleProblem(schedule, false)
      // Checked just now.
      return problem ?? created(state, { ...(schedule as unknown as FullSchedule), action: 'tell', catchUp: 'once' }, true)
    }
    case 'delete':
      if (!hasKeys(data, ['version', 'operation', 'id'])) return surplus
      return withEntry(state, data, (entry) => (entry.isPlain ? null : 'it is not a reminder of version 1'))
    case 'dispatch': {
      const isBare = hasKeys(data, ['version', 'operation', 'id'])
      if (!isBare && !hasKeys(data, ['version', 'operation', 'id', 'acceptedAt'])) return surplus
      return withEntry(state, data, (entry) => {
        const { schedule } = entry
        if (!entry.isPlain) return 'it is not a reminder of version 1'
        if (schedule.kind !== 'every') return isBare ? null : 'a reminder that comes once is dispatched without acceptedAt'
        const acceptedAt = millisecondsOf(data['acceptedAt'])
        if (acceptedAt === null) return 'a reminder that recurs is dispatched with acceptedAt'
        return movedOn(entry, nextSlot(msOf(schedule.scheduledAt), schedule.everySeconds, acceptedAt))
      })
    }
    default:
      return `operation ${JSON.stringify(data['operation'])} is unknown`
  }
}

function adjusted(state: ScheduleState, data: JsonObject): ScheduleState | string {
  if (data['version'] !== 1) return `version ${JSON.stringify(data['version'])} is not 1`
  switch (data['operation']) {
    case 'create': {
      if (!hasKeys(data, ['version', 'operation', 'schedule'])) return surplus
      const problem = scheduleProblem(data['schedule'], true)
      return problem ?? created(state, data['schedule'] as unknown as FullSchedule, false)
    }
    case 'delete':
      if (!hasKeys(data, ['version', 'operation', 'id'])) return surplus
      return withEntry(state, data, (entry) => (entry.isPlain ? 'it is a reminder of version 1' : null))
    case 'dispatch':
    case 'skip': {
      if (!hasKeys(data, ['version', 'operation', 'id', 'acceptedAt', 'next'])) return surplus
      const { next } = data
      if (millisecondsOf(data['acceptedAt']) === null || (next !== null && millisecondsOf(next) === null)) return noInstant
      return withEntry(state, data, (entry) => {
        if (entry.isPlain) return 'it is a reminder of version 1'
        if (next !== null && !isRecurring(entry.schedule)) return 'a reminder that comes once has no next time'
        return movedOn(entry, next as string | null)
      })
    }
    case 'pause':
      if (!hasKeys(data, ['version', 'operation', 'id'])) return surplus
      return withEntry(state, data, (entry) => (entry.isPaused ? 'it is paused already' : { ...entry, isPaused: true, instead: null }))
    case 'resume': {
      if (!hasKeys(data, ['version', 'operation', 'id', 'next'])) return surplus
      const { next } = data
      if (millisecondsOf(next) === null) return noInstant
      return withEntry(state, data, (entry) => (entry.isPaused ? { ...entry, isPaused: false, schedule: { ...entry.schedule, scheduledAt: next as string } } : 'it is not paused'))
    }
    case 'snooze':
    case 'run': {
      if (!hasKeys(data, ['version', 'operation', 'id', 'until'])) return surplus
      const { until } = data
      if (millisecondsOf(until) === null) return noInstant
      const isRun = data['operation'] === 'run'
      return withEntry(state, data, (entry) => (entry.isPaused && !isRun ? 'it is paused' : { ...entry, instead: { at: until as string, isRun } }))
    }
    case 'edit': {
      if (!hasKeys(data, ['version', 'operation', 'id', 'schedule'])) return surplus
      const problem = scheduleProblem(data['schedule'], true)
      if (problem !== null) return problem
      const schedule = data['schedule'] as unknown as FullSchedule
      return withEntry(state, data, (entry) => {
        if (schedule.id !== entry.schedule.id) return 'an edit keeps the id'
        if (isRecurring(schedule) !== isRecurring(entry.schedule)) return 'an edit keeps whether it recurs'
        if (entry.isPlain && (schedule.kind === 'calendar' || schedule.action !== 'tell' || schedule.catchUp !== 'once')) return 'version 1 could not end what the edit makes of it'
        return { ...entry, schedule, instead: null }
      })
    }
    default:
      return `operation ${JSON.stringify(data['operation'])} is unknown`
  }
}

const surplus = 'its keys are not those of its operation'
const noInstant = 'a time in it is not canonical UTC'

function created(state: ScheduleState, schedule: FullSchedule, isPlain: boolean): ScheduleState | string {
  const number = numberOf(schedule.id)
  if (number <= state.lastNumber) return `${schedule.id} was created before`
  return { ...state, lastNumber: number, entries: [...state.entries, { schedule, isPlain, isPaused: false, instead: null }] }
}

/** `change` gives the entry as it is then, null when it is gone, or words for what is wrong. */
function withEntry(state: ScheduleState, data: JsonObject, change: (entry: ScheduleEntry) => ScheduleEntry | string | null): ScheduleState | string {
  const entry = state.entries.find(({ schedule }) => schedule.id === data['id'])
  if (entry === undefined) return `${JSON.stringify(data['id'])} is not active`
  const next = change(entry)
  if (typeof next === 'string') return `${entry.schedule.id}: ${next}`
  return { ...state, entries: next === null ? state.entries.filter((each) => each !== entry) : state.entries.map((each) => (each === entry ? next : each)) }
}

const movedOn = (entry: ScheduleEntry, next: string | null): ScheduleEntry | null => (next === null ? null : { ...entry, instead: null, schedule: { ...entry.schedule, scheduledAt: next } })

const numberOf = (id: string): number => Number(id.slice('schedule-'.length))

const ownKeys = { after: ['afterSeconds'], at: [], every: ['everySeconds'], calendar: ['calendar'] } as const

function scheduleProblem(schedule: Json | undefined, isFull: boolean): string | null {
  if (typeof schedule !== 'object' || schedule === null || Array.isArray(schedule)) return 'its schedule is no object'
  const { id, kind, prompt, scheduledAt, afterSeconds, everySeconds, calendar, action, catchUp } = schedule as JsonObject
  if (kind !== 'after' && kind !== 'at' && kind !== 'every' && !(isFull && kind === 'calendar')) return `kind ${JSON.stringify(kind)} is unknown`
  if (!hasKeys(schedule as JsonObject, ['id', 'kind', 'prompt', 'scheduledAt', ...ownKeys[kind], ...(isFull ? ['action', 'catchUp'] : [])])) return 'the keys of its schedule are not those of its kind'
  if (typeof id !== 'string' || !/^schedule-[1-9]\d{0,14}$/.test(id)) return 'its id is not schedule-N'
  if (typeof prompt !== 'string' || prompt === '' || prompt.trim() !== prompt) return 'its prompt is empty or padded'
  if (millisecondsOf(scheduledAt) === null) return noInstant
  if (kind === 'after' && !isPositive(afterSeconds)) return 'its afterSeconds is no whole number from 1'
  if (kind === 'every' && !(isPositive(everySeconds) && everySeconds >= MIN_EVERY_SECONDS)) return `its everySeconds is no whole number from ${MIN_EVERY_SECONDS}`
  if (kind === 'calendar' && !isCalendar(calendar)) return 'its calendar rule is not complete'
  if (isFull && ((action !== 'tell' && action !== 'do') || (catchUp !== 'once' && catchUp !== 'skip'))) return 'its action or catchUp is unknown'
  return null
}

/** What recurs comes at most this often. */
export const MIN_EVERY_SECONDS = 300

export const isPositive = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1

function isCalendar(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { rule, timeZone, start } = value as JsonObject
  return hasKeys(value as JsonObject, ['rule', 'timeZone', 'start']) && [rule, timeZone, start].every((text) => typeof text === 'string' && text !== '')
}

const hasKeys = (data: JsonObject, keys: readonly string[]): boolean => Object.keys(data).length === keys.length && keys.every((key) => Object.hasOwn(data, key))
