import { messageOf } from '../../base/message-of.ts'
import type { EventDraft } from '../../core/log/event.ts'
import type { Agent } from '../../core/session/agent.ts'
import { TeamError } from './error.ts'
import { emptyTeam, foldTeam, soundTeam, type TeamLedger } from './ledger.ts'

type TeamDraft = EventDraft<'team/member'> | EventDraft<'team/task'> | EventDraft<'team/message/queued'> | EventDraft<'team/message/delivered'>

/** The log of one Lead as its team: changes come one after the other, each durable before anybody hears of it. */
export class TeamLog {
  readonly #lead: Agent
  readonly #onDidChange: () => void
  #ledger: TeamLedger
  /** Events that the ledger holds. */
  #seen = 0
  #tail: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(lead: Agent, onDidChange: () => void) {
    this.#lead = lead
    this.#onDidChange = onDidChange
    this.#ledger = emptyTeam(lead.id)
  }

  /** As the log tells it, right or wrong. */
  get ledger(): TeamLedger {
    const { session } = this.#lead
    if (this.#seen === session.length) return this.#ledger
    const events = this.#seen === 0 ? session.milestones() : session.events(this.#seen)
    this.#ledger = foldTeam(this.#ledger, events)
    this.#seen = session.length
    return this.#ledger
  }

  /** Errors: `TeamError` `TEAM_CORRUPT_LOG`. */
  get sound(): TeamLedger {
    return soundTeam(this.ledger)
  }

  /**
   * One change: `plan` sees the team as all earlier ones left it, and gives what is recorded.
   * Errors: what `plan` throws, and then nothing is recorded; `TEAM_DISPOSED`; `TEAM_STORAGE_UNCERTAIN`, and then it is recorded here.
   */
  change<T>(plan: (team: TeamLedger) => { readonly record: TeamDraft; readonly result: T }): Promise<T> {
    const work = this.#tail.then(async () => {
      this.#checkOpen()
      const { record, result } = plan(this.sound)
      this.#lead.session.append(record)
      try {
        await this.#lead.session.flush()
      } catch (cause) {
        throw uncertain(cause)
      } finally {
        this.#onDidChange()
      }
      return result
    })
    // The next change waits for this one, whatever became of it; its caller hears of the failure.
    this.#tail = work.catch(() => undefined)
    return work
  }

  /** No change begins any more. Resolves once those that began are over. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#tail
  }

  #checkOpen(): void {
    if (this.#isClosed || this.#lead.isDisposed) throw disposed()
    if (this.#lead.session.access !== 'write') throw new TeamError('TEAM_DISPOSED', 'Another window writes the session of this team now. Go on there.')
  }
}

const uncertain = (cause: unknown) =>
  new TeamError('TEAM_STORAGE_UNCERTAIN', `It counts in this window, and it is not known whether it is on the disk (${messageOf(cause)}). List the members or the board before you do it again; mail that waits goes out by itself.`, { cause })

export const disposed = () => new TeamError('TEAM_DISPOSED', 'The session of this team is being closed. Nothing was done; it goes on when the session is opened again.')
