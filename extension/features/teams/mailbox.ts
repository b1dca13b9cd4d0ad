import { utf8Length } from '../../base/text.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Subagents } from '../subagents/service.ts'
import { TeamError } from './error.ts'
import type { TeamMail } from './events.ts'
import { teamLimits } from './limits.ts'
import type { Received } from './received.ts'
import type { TeamLog } from './team-log.ts'

export interface MailboxParts {
  readonly lead: Agent
  readonly log: TeamLog
  readonly logger: Logger
  readonly subagents: () => Pick<Subagents, 'send'>
  /** The live agent of a member, under this Lead. */
  readonly liveMember: (id: string) => Agent | undefined
  /** What reached a session that need not be live. Errors: whatever keeps it from being read. */
  readonly receivedBy: (sessionId: string) => Promise<Received>
  /** The folder is trusted and the host stays, so that agents may be woken. */
  readonly mayWake: () => boolean
}

/**
 * Mail of one team on its way: what is queued durably is delivered in order, target by target, stored there, and then acknowledged.
 *
 * What a target has, in its inbox or its talk, is never delivered again, so a crash between the two doubles nothing.
 * Source: agent tools specification 8.1.
 */
export class Mailbox {
  readonly #parts: MailboxParts
  /** Deliveries under way, by target. */
  readonly #work = new Map<string, Promise<void>>()
  #isClosed = false

  constructor(parts: MailboxParts) {
    this.#parts = parts
  }

  /** Deliver what waits for one, as far as that goes now. Never rejects. */
  pump(targetId: string): Promise<void> {
    const next = (this.#work.get(targetId) ?? Promise.resolve()).then(() => this.#deliver(targetId)).catch((error: unknown) => {
      this.#parts.logger.warn('Mail of a team could not be delivered and waits.', { team: this.#parts.lead.id, target: targetId, error: String(error) })
    })
    this.#work.set(targetId, next)
    return next.finally(() => {
      if (this.#work.get(targetId) === next) this.#work.delete(targetId)
    })
  }

  /** To everybody for whom something waits. */
  async pumpAll(): Promise<void> {
    await Promise.all([...new Set(this.#parts.log.ledger.mail.map(({ targetId }) => targetId))].map((id) => this.pump(id)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#work.values())
  }

  async #deliver(targetId: string): Promise<void> {
    const { lead, log } = this.#parts
    for (;;) {
      if (this.#isClosed || log.ledger.failure !== null) return
      const waiting = log.ledger.mail.filter((one) => one.targetId === targetId)
      const batch = waiting.length === 0 ? null : targetId === lead.id ? await this.#toLead(waiting[0]!) : await this.#toMember(targetId, waiting)
      if (batch === null) return
      for (const { id } of batch) await log.change(() => ({ record: { type: 'team/message/delivered', data: { version: 1, teamId: lead.id, messageId: id, targetId } }, result: undefined }))
    }
  }

  async #toLead(mail: TeamMail): Promise<readonly TeamMail[] | null> {
    const { lead, receivedBy, mayWake } = this.#parts
    if ((await receivedBy(lead.id)).mail.includes(mail.id)) return [mail]
    if (mail.delivery === 'waking' && !mayWake()) return null
    if (mail.delivery === 'waking') lead.followup(messageOf(lead.id, mail))
    else lead.inject(messageOf(lead.id, mail))
    await lead.session.flush()
    return [mail]
  }

  /** One that is live gets the oldest; one that sleeps is woken by the first that wakes, with what is queued before that. */
  async #toMember(targetId: string, waiting: readonly TeamMail[]): Promise<readonly TeamMail[] | null> {
    const { lead, liveMember, receivedBy, subagents, mayWake } = this.#parts
    const [first] = waiting as readonly [TeamMail, ...TeamMail[]]
    const has = new Set((await receivedBy(targetId)).mail)
    if (has.has(first.id)) return [first]
    const live = liveMember(targetId)
    if (live !== undefined && first.delivery === 'quiet') {
      live.inject(messageOf(lead.id, first))
      await live.session.flush()
      return [first]
    }
    const end = waiting.findIndex(({ delivery }) => delivery === 'waking')
    const waking = waiting[end]
    if (waking === undefined || !mayWake()) return null
    const ahead = waiting.slice(0, end).filter(({ id }) => !has.has(id))
    await subagents().send({
      from: lead,
      childId: targetId,
      message: messageOf(lead.id, waking),
      mode: 'next-turn',
      ahead: ahead.map((mail) => messageOf(lead.id, mail)),
      purpose: { kind: 'team', name: this.#parts.log.ledger.members.get(targetId)?.name ?? targetId },
    })
    return waiting.slice(0, end + 1)
  }
}

/** What is said, with a first block that names message and sender. Errors: `TEAM_INVALID_ARGUMENT`, `TEAM_MESSAGE_TOO_LARGE`. */
export function framed({ id, senderName, text }: { readonly id: string; readonly senderName: string; readonly text: string }): TeamMail['content'] {
  if (text.trim() === '') throw new TeamError('TEAM_INVALID_ARGUMENT', 'The message is empty. Nothing was sent; say what the member is to do or to know.')
  const content: TeamMail['content'] = [
    { type: 'text', text: `Team message ${id} from ${senderName}:` },
    { type: 'text', text },
  ]
  const bytes = utf8Length(JSON.stringify(content))
  if (bytes > teamLimits.maxMessageBytes) throw new TeamError('TEAM_MESSAGE_TOO_LARGE', `The message has ${bytes} bytes with its frame; ${teamLimits.maxMessageBytes} is the most. Nothing was sent; write the material to a file and name it.`)
  return content
}

function messageOf(teamId: string, { id, senderId, senderName, content }: TeamMail): UserMessage {
  return { id, role: 'user', content, source: { kind: 'team-message', teamId, messageId: id, senderId, senderName } }
}
