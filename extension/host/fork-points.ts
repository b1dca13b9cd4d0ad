import type { SessionEvent } from '../core/log/event.ts'
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
