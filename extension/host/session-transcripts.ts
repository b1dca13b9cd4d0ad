import type { Localization } from '../capabilities/localization.ts'
import type { Clock } from '../capabilities/clock.ts'
import type { SessionEvent } from '../core/log/event.ts'
import type { Session } from '../core/session/session.ts'
import type { FindPresenters } from './present-tool.ts'
import { Transcript, type RowChange } from './transcript.ts'

/** Events folded before the event loop gets its turn: a long log opens without blocking the editor. */
const SLICE = 2_000

interface Parts {
  readonly clock: Clock
  readonly l10n: Localization
  readonly find: (sessionId: string) => FindPresenters
  readonly isKnownEvent: (type: string) => boolean
  /** After an event of a session whose rows are complete. */
  readonly onRows: (sessionId: string, changes: readonly RowChange[]) => void
}

/** The rows of the sessions that were shown, kept up to date while they live. */
export class SessionTranscripts {
  readonly #options: Parts
  readonly #open = new Map<string, OpenTranscript>()

  constructor(options: Parts) {
    this.#options = options
  }

  /** The rows of the whole log so far; later events follow by themselves. */
  async of(session: Session): Promise<Transcript> {
    const known = this.#open.get(session.id)
    if (known !== undefined) return await known.ready
    const transcript = new Transcript({
      find: this.#options.find(session.id),
      l10n: this.#options.l10n,
      isKnownEvent: this.#options.isKnownEvent,
    })
    const open: OpenTranscript = { transcript, nextSeq: 0, isComplete: false, ready: Promise.resolve(transcript) }
    this.#open.set(session.id, open)
    open.ready = this.#foldAll(session, open)
    return await open.ready
  }

  /** The rows if they are complete. */
  live(sessionId: string): Transcript | undefined {
    const open = this.#open.get(sessionId)
    return open?.isComplete === true ? open.transcript : undefined
  }

  note(session: Session, event: SessionEvent): void {
    const open = this.#open.get(session.id)
    if (open?.isComplete !== true || event.seq < open.nextSeq) return
    open.nextSeq = event.seq + 1
    this.#options.onRows(session.id, open.transcript.apply(event))
  }

  progress(sessionId: string, callId: string, text: string): void {
    const transcript = this.live(sessionId)
    if (transcript !== undefined) this.#options.onRows(sessionId, transcript.progress(callId, text))
  }

  setWaiting(sessionId: string, callId: string, isWaiting: boolean): void {
    const transcript = this.live(sessionId)
    if (transcript !== undefined) this.#options.onRows(sessionId, transcript.setWaiting(callId, isWaiting))
  }

  forget(sessionId: string): void {
    this.#open.delete(sessionId)
  }

  async #foldAll(session: Session, open: OpenTranscript): Promise<Transcript> {
    for (;;) {
      const events = session.events(open.nextSeq, open.nextSeq + SLICE)
      open.transcript.replay(events)
      open.nextSeq = Math.max(open.nextSeq, (events.at(-1)?.seq ?? -1) + 1)
      // No event can come between this test and the flag: both happen in one go.
      if (open.nextSeq >= session.length || events.length === 0) break
      await new Promise<void>((resolve) => void this.#options.clock.schedule(0, resolve))
    }
    open.isComplete = true
    return open.transcript
  }
}

interface OpenTranscript {
  readonly transcript: Transcript
  nextSeq: number
  isComplete: boolean
  ready: Promise<Transcript>
}
