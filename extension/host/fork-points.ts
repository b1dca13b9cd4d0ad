import type { EventDraft, SessionEvent } from '../core/log/event.ts'
import type { AttachmentRef } from '../core/log/message.ts'
import { promptText } from '../core/session/titles.ts'
import type { Session } from '../core/session/session.ts'

/** The event a row of the talk was made from. Row ids are made from sequence numbers. */
export function seqOfRow(rowId: string): number | null {
  const [, digits] = /^e(\d{1,15})(?:\.\d+)?$/.exec(rowId) ?? []
  return digits === undefined ? null : Number(digits)
}

/** Where to fork for all up to event `seq`: the earliest end of a turn that does not precede it. Null while that turn runs. Source: runtime specification 11.6. */
export function forkAfter(session: Session, seq: number): number | null {
  return session.milestones().find((event) => event.seq >= seq && event.type === 'turn/end')?.seq ?? null
}

/**
 * Where to fork for all up to now: before the turn that runs and before the command that asks for it, so that what was chosen after the
 * last turn comes along. Null before the first turn has ended.
 */
export function forkNow(session: Session, commandId: string | null): number | null {
  const events = session.milestones()
  const ended = events.findLast(({ type }) => type === 'turn/end')
  if (ended === undefined) return null
  const next = events.find((event) => event.seq > ended.seq && (event.type === 'turn/start' || (event.type === 'command/run' && event.data.commandId === commandId)))
  return next === undefined ? session.length - 1 : next.seq - 1
}

/** The newest of each choice about the session as a whole that was made behind `boundary`: its name, who answers, what it may do. A copy begins with them. */
export function laterChoices(session: Session, boundary: number): readonly EventDraft[] {
  const newest = new Map<string, EventDraft>()
  for (const event of session.milestones()) {
    if (event.seq <= boundary || !isChoice(event)) continue
    newest.delete(event.type)
    newest.set(event.type, { type: event.type, data: event.data } as EventDraft)
  }
  return [...newest.values()]
}

function isChoice(event: SessionEvent): boolean {
  switch (event.type) {
    case 'agent/configured':
    case 'approval/policy':
    case 'permission/preset':
    case 'sandbox/mode':
      return true
    case 'session/title':
      return event.data.source.kind === 'user'
    default:
      return false
  }
}

/** Where to fork to say a turn's words anew: just before it began. */
export interface RestartPoint {
  /** Null when nothing stands before the turn. */
  readonly boundary: number | null
  /** What the person said in that turn, up to and with the message. */
  readonly text: string
  readonly images: readonly AttachmentRef[]
}

/** Null when `seq` is no message of a person. */
export function forkBefore(session: Session, seq: number): RestartPoint | null {
  const events = session.milestones()
  const at = events.findIndex((event) => event.seq === seq)
  const isPrompt = (event: SessionEvent | undefined): event is SessionEvent<'user/message'> => event?.type === 'user/message' && event.data.source.kind === 'user'
  if (!isPrompt(events[at])) return null
  const start = events.slice(0, at + 1).findLastIndex(({ type }) => type === 'turn/start')
  const prompts = events.slice(start, at + 1).filter(isPrompt)
  const startSeq = events[start]?.seq ?? 0
  return {
    boundary: startSeq === 0 ? null : startSeq - 1,
    text: prompts.map(({ data }) => promptText(data).trim()).join('\n\n'),
    images: prompts.flatMap(({ data }) => data.content.flatMap((block) => (block.type === 'image' ? [block.attachment] : []))),
  }
}

/** A turn to go back to, by the words that began it. */
export interface TurnChoice {
  readonly turn: number
  readonly promptSeq: number
  readonly text: string
  readonly at: number
}

/** The turns that a person began, newest first. */
export function turnChoices(session: Session): readonly TurnChoice[] {
  const choices: TurnChoice[] = []
  let turn = 0
  let isNamed = true
  for (const event of session.milestones()) {
    if (event.type === 'turn/start') {
      ;({ turn } = event.data)
      isNamed = false
    } else if (event.type === 'user/message' && event.data.source.kind === 'user' && !isNamed) {
      choices.push({ turn, promptSeq: event.seq, text: promptText(event.data).trim(), at: event.time })
      isNamed = true
    }
  }
  return choices.reverse()
}
