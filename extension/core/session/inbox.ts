import type { EventMap, InboxTarget, SessionEvent } from '../log/event.ts'
import type { UserMessage } from '../log/message.ts'

export type InboxSplice = EventMap['agent/inbox/spliced']

/** What waits for an agent, oldest first. */
export interface InboxLists {
  readonly nextTurn: readonly UserMessage[]
  readonly nextStep: readonly UserMessage[]
}

const emptyInbox: InboxLists = { nextTurn: [], nextStep: [] }

/** The inbox after one splice. Places outside the list count as its end, as in `Array.splice`. */
export function spliced(lists: InboxLists, { target, start, removedCount = 0, inserted }: InboxSplice): InboxLists {
  return target === 'next-turn'
    ? { ...lists, nextTurn: lists.nextTurn.toSpliced(start, removedCount, ...inserted) }
    : { ...lists, nextStep: lists.nextStep.toSpliced(start, removedCount, ...inserted) }
}

export interface RestoredInbox {
  readonly lists: InboxLists
  /** Taken by a turn that a crash cut off before they reached the talk, oldest first. They are not in `lists`. */
  readonly lost: readonly UserMessage[]
}

/**
 * What waits according to a log.
 *
 * A message that stands in both lists (a move that a crash cut in two) waits in the next step only.
 */
export function inboxFrom(events: Iterable<SessionEvent>): RestoredInbox {
  let lists = emptyInbox
  /** Claimed in the turn that is open, and not yet in the talk. */
  let claimed: UserMessage[] = []
  let lost: readonly UserMessage[] = []
  for (const { type, data } of events) {
    if (type === 'agent/inbox/spliced') {
      const before = listOf(lists, data.target)
      if (data.outcome === undefined && data.inserted.length === 0) {
        claimed.push(...before.slice(data.start, data.start + (data.removedCount ?? 0)))
      }
      lost = lost.filter(({ id }) => !data.inserted.some((message) => message.id === id))
      lists = spliced(lists, data)
    } else if (type === 'user/message') claimed = claimed.filter(({ id }) => id !== data.id)
    else if (type === 'turn/start') claimed = []
    else if (type === 'turn/end') {
      if (data.reason.kind === 'interrupted') lost = [...lost, ...claimed]
      claimed = []
    }
  }
  const stepIds = new Set(lists.nextStep.map(({ id }) => id))
  const nextTurn = lists.nextTurn.filter(({ id }) => !stepIds.has(id))
  const waiting = new Set([...stepIds, ...nextTurn.map(({ id }) => id)])
  // A moved message was taken out twice; it is lost once.
  const lostById = new Map(lost.filter(({ id }) => !waiting.has(id)).map((message) => [message.id, message]))
  return { lists: { ...lists, nextTurn }, lost: [...lostById.values()] }
}

/** The splices that empty the inbox a log ends with. */
export function canceledInbox(events: Iterable<SessionEvent>): readonly InboxSplice[] {
  const { nextTurn, nextStep } = waitingIn(events)
  const emptied = (target: InboxTarget, { length }: readonly UserMessage[]): readonly InboxSplice[] =>
    length === 0 ? [] : [{ target, start: 0, removedCount: length, inserted: [], outcome: 'canceled' }]
  return [...emptied('next-turn', nextTurn), ...emptied('next-step', nextStep)]
}

function waitingIn(events: Iterable<SessionEvent>): InboxLists {
  let lists = emptyInbox
  for (const { type, data } of events) if (type === 'agent/inbox/spliced') lists = spliced(lists, data)
  return lists
}

export interface InboxOptions {
  /** Makes the splice durable. A throw leaves the inbox as it was. */
  readonly record: (splice: InboxSplice) => void
  readonly onInserted: (message: UserMessage) => void
  readonly onClaimed: (message: UserMessage, turn: number) => void
  readonly onDiscarded: (message: UserMessage) => void
  readonly restored?: InboxLists
}

/** Taken out of the inbox for one step. */
export interface ClaimedMessages extends InboxLists {
  /** In the order in which the model sees them. */
  readonly all: readonly UserMessage[]
}

/** The two lists of pending messages of an agent; every change is one durable splice. Source: runtime specification 10.1. */
export class Inbox {
  readonly #options: InboxOptions
  #lists: InboxLists

  constructor(options: InboxOptions) {
    this.#options = options
    this.#lists = options.restored ?? emptyInbox
  }

  get lists(): InboxLists {
    return this.#lists
  }

  get isEmpty(): boolean {
    return this.#lists.nextTurn.length === 0 && this.#lists.nextStep.length === 0
  }

  insert(target: InboxTarget, message: UserMessage, place: 'start' | 'end' = 'end'): void {
    const start = place === 'start' ? 0 : listOf(this.#lists, target).length
    this.#splice({ target, start, inserted: [message] })
    this.#options.onInserted(message)
  }

  /** Everything for the next step, and the oldest message for a turn when `withTurn`. */
  claim(turn: number, withTurn: boolean): ClaimedMessages {
    const nextStep = this.#take('next-step', this.#lists.nextStep.length)
    const nextTurn = withTurn ? this.#take('next-turn', 1) : []
    const all = [...nextStep, ...nextTurn]
    for (const message of all) this.#options.onClaimed(message, turn)
    return { nextStep, nextTurn, all }
  }

  /** Put back, before everything else, what was claimed and could not be used. */
  putBack({ nextStep, nextTurn }: InboxLists): void {
    if (nextStep.length > 0) this.#splice({ target: 'next-step', start: 0, inserted: nextStep })
    if (nextTurn.length > 0) this.#splice({ target: 'next-turn', start: 0, inserted: nextTurn })
  }

  /** Say that claimed messages will not be used. */
  drop({ all }: ClaimedMessages): void {
    for (const message of all) this.#options.onDiscarded(message)
  }

  discardAll(): void {
    const discarded = [...this.#take('next-step', this.#lists.nextStep.length, 'canceled'), ...this.#take('next-turn', this.#lists.nextTurn.length, 'canceled')]
    for (const message of discarded) this.#options.onDiscarded(message)
  }

  /** False when the message waits no longer. */
  edit(messageId: string, content: UserMessage['content']): boolean {
    const found = this.#find(messageId)
    if (!found) return false
    this.#splice({ target: found.target, start: found.start, removedCount: 1, inserted: [{ ...found.message, content }] })
    return true
  }

  remove(messageId: string): boolean {
    const found = this.#find(messageId)
    if (!found) return false
    this.#splice({ target: found.target, start: found.start, removedCount: 1, inserted: [], outcome: 'canceled' })
    this.#options.onDiscarded(found.message)
    return true
  }

  moveToStep(messageId: string): boolean {
    const found = this.#find(messageId)
    if (!found) return false
    if (found.target === 'next-step') return true
    // In before out: a crash between the two leaves the message waiting once, not lost.
    this.#splice({ target: 'next-step', start: this.#lists.nextStep.length, inserted: [found.message] })
    this.#splice({ target: 'next-turn', start: found.start, removedCount: 1, inserted: [] })
    return true
  }

  #take(target: InboxTarget, count: number, outcome?: 'canceled'): readonly UserMessage[] {
    const taken = listOf(this.#lists, target).slice(0, count)
    if (taken.length > 0) this.#splice({ target, start: 0, removedCount: taken.length, inserted: [], ...(outcome && { outcome }) })
    return taken
  }

  #find(messageId: string): { readonly target: InboxTarget; readonly start: number; readonly message: UserMessage } | undefined {
    for (const target of ['next-step', 'next-turn'] as const) {
      const list = listOf(this.#lists, target)
      const start = list.findIndex(({ id }) => id === messageId)
      const message = list[start]
      if (message) return { target, start, message }
    }
    return undefined
  }

  #splice(splice: InboxSplice): void {
    this.#options.record(splice)
    this.#lists = spliced(this.#lists, splice)
  }
}

const listOf = (lists: InboxLists, target: InboxTarget) => (target === 'next-turn' ? lists.nextTurn : lists.nextStep)
