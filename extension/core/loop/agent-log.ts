import { isErrorOf } from '../../base/harness-error.ts'
import type { EventDraft, EventType, SessionEvent } from '../log/event.ts'
import { SessionError } from '../session/session.ts'
import type { Session } from '../session/session.ts'

/**
 * The way one agent writes to its session.
 *
 * A change of the inbox may be asked for by somebody who is being told about an event, when the log takes none. It then
 * waits for the end of that news and goes in before anything else of the agent, so that places in the lists stay true.
 */
export class AgentLog {
  readonly session: Session
  readonly #onFailure: (error: unknown) => void
  #waiting: (() => void)[] = []
  #isSuspended = false

  /** `onFailure` hears of a change that could not be written after all. */
  constructor(session: Session, onFailure: (error: unknown) => void) {
    this.session = session
    this.#onFailure = onFailure
  }

  get isSuspended(): boolean {
    return this.#isSuspended
  }

  /** The turn stands open from here until its session is opened again: nothing more of it is written. */
  suspend(): void {
    this.#isSuspended = true
  }

  /** Errors: as `Session.append`; `Error` while suspended. */
  append<T extends EventType>(draft: EventDraft<T>): SessionEvent<T> {
    if (this.#isSuspended) throw new Error('The turn waits for the person until its session is opened again.')
    this.#catchUp()
    return this.session.append(draft)
  }

  /** As `append`, also from inside an observer of the log. */
  appendSoon(draft: EventDraft): void {
    this.#catchUp()
    if (this.#waiting.length === 0) {
      try {
        this.session.append(draft)
        return
      } catch (error) {
        if (!isReentrant(error)) throw error
      }
    }
    this.#waiting.push(() => void this.session.append(draft))
    queueMicrotask(() => this.#catchUp())
  }

  #catchUp(): void {
    for (let write = this.#waiting[0]; write; write = this.#waiting[0]) {
      try {
        write()
      } catch (error) {
        if (isReentrant(error)) return
        this.#onFailure(error)
      }
      this.#waiting.shift()
    }
  }
}

const isReentrant = (error: unknown) => isErrorOf(SessionError, error, 'REENTRANT')
