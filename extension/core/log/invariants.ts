import type { Json, JsonObject } from '../../base/json.ts'
import type { SessionEvent } from './event.ts'
import type { EventPair, EventTypes } from './event-types.ts'
import type { AssistantMessage } from './message.ts'

export type InvariantRule = 'turn-order' | 'step-order' | 'inside-turn' | 'inside-step' | 'tool-call' | 'tool-result' | 'pairs'

/** Which rules are checked: all, unless `enabled` is false, the rule is in `block`, or `allow` is given and does not hold it. */
export interface InvariantOptions {
  readonly enabled?: boolean
  readonly allow?: readonly InvariantRule[]
  readonly block?: readonly InvariantRule[]
}

export interface Violation {
  readonly rule: InvariantRule
  readonly problem: string
}

/** What is open at the end of the log; crash repair closes it, unless it waits for the person. */
export interface OpenTurn {
  readonly turn: number
  readonly step: OpenStep | null
}
export interface OpenStep {
  readonly step: number
  /** Calls of the step that have no result, in model order. */
  readonly unanswered: readonly OpenCall[]
}
export interface OpenCall {
  readonly callId: string
  readonly name: string
  readonly arguments: string
  /** A `tool/call` was logged. */
  readonly isStarted: boolean
  /** The approval that it waits for: nobody has allowed it yet, so nothing of it was done. */
  readonly approvalId?: string
  /** Its body has asked the person something. */
  readonly hasAsked?: true
}

/**
 * Holds every log to the rules of turns, steps, calls and pairs, event by event, at a cost that does not grow with the log.
 *
 * Source: runtime specification 11.8; which type stands where and pairs with what is data in `EventTypes`.
 */
export class Invariants {
  readonly #types: EventTypes
  readonly #isChecked: (rule: InvariantRule) => boolean
  readonly #openPairs = new Map<string, EventPair>()
  /** Calls of the open step: from the assistant's message, and as they were started. */
  readonly #calls = new Map<string, Call>()
  /** Calls that wait for the person, by approval. */
  readonly #waiting = new Map<string, string>()
  #lastTurn = 0
  #isTurnOpen = false
  #lastStep = 0
  #isStepOpen = false

  constructor(types: EventTypes, options: InvariantOptions = {}) {
    const { enabled = true, allow, block } = options
    this.#types = types
    this.#isChecked = (rule) => enabled && (allow === undefined || allow.includes(rule)) && block?.includes(rule) !== true
  }

  get openTurn(): OpenTurn | null {
    if (!this.#isTurnOpen) return null
    if (!this.#isStepOpen) return { turn: this.#lastTurn, step: null }
    const approvals = new Map([...this.#waiting].map(([id, callId]) => [callId, id]))
    const unanswered = [...this.#calls.values()]
      .filter(({ isAnswered }) => !isAnswered)
      .map(({ isAnswered: _, hasAsked, ...call }): OpenCall => {
        const approvalId = approvals.get(call.callId)
        return { ...call, ...(approvalId !== undefined && { approvalId }), ...(hasAsked && { hasAsked: true }) }
      })
    return { turn: this.#lastTurn, step: { step: this.#lastStep, unanswered } }
  }

  /** What opened pairs of that name by, in log order, where nothing has closed them. */
  openPairs(name: string): readonly (readonly Json[])[] {
    return [...this.#openPairs.keys()].map((key) => JSON.parse(key) as readonly Json[]).flatMap(([pair, ...by]) => (pair === name ? [by] : []))
  }

  /** The first rule that `event` would break, or null. Changes nothing. */
  violation(event: SessionEvent): Violation | null {
    return this.#checked(this.#placeViolation(event)) ?? this.#checked(this.#orderViolation(event)) ?? this.#checked(this.#pairViolation(event))
  }

  /** Take a committed event into account. */
  advance(event: SessionEvent): void {
    switch (event.type) {
      case 'turn/start':
        this.#lastTurn = event.data.turn
        this.#isTurnOpen = true
        this.#lastStep = 0
        break
      case 'turn/end':
        this.#isTurnOpen = false
        this.#isStepOpen = false
        break
      case 'step/start':
        this.#lastStep = event.data.step
        this.#isStepOpen = true
        this.#calls.clear()
        break
      case 'step/end':
        this.#isStepOpen = false
        break
      case 'assistant/message':
        if (event.surfaceOp === 'append') this.#expectCalls(event.data.message)
        break
      case 'tool/call': {
        const { callId, name, arguments: args } = event.data
        this.#calls.set(callId, { callId, name, arguments: args, isStarted: true, isAnswered: false, hasAsked: false })
        break
      }
      case 'tool/result':
        if (event.surfaceOp === 'append') this.#answer(event.data.message.content[0].callId)
        break
      case 'approval/asked':
        if (event.data.callId !== undefined) this.#waiting.set(event.data.id, event.data.callId)
        break
      case 'approval/decided':
        this.#waiting.delete(event.data.id)
        break
      case 'session/end-seed':
        for (const [key, pair] of this.#openPairs) if (pair.isAlone === true) this.#openPairs.delete(key)
        break
      default:
        break
    }
    const rules = this.#types.get(event.type)
    if (rules?.asksForCall === true) this.#ask(event)
    if (rules?.opens !== undefined) this.#openPairs.set(pairKey(rules.opens, event), rules.opens)
    if (rules?.closes !== undefined) this.#openPairs.delete(pairKey(rules.closes, event))
  }

  #checked(found: Violation | null): Violation | null {
    return found !== null && this.#isChecked(found.rule) ? found : null
  }

  #placeViolation(event: SessionEvent): Violation | null {
    const inside = this.#types.get(event.type)?.inside
    // A replacement stands wherever the rewriting happens.
    if (inside === undefined || typeof event.surfaceOp === 'object') return null
    if (!this.#isTurnOpen) return { rule: 'inside-turn', problem: 'no turn is open' }
    return inside === 'step' ? this.#stepViolation(event, 'inside-step') : null
  }

  /** The event names the open turn and the open step. */
  #stepViolation(event: SessionEvent, rule: InvariantRule): Violation | null {
    if (!this.#isStepOpen) return { rule, problem: 'no step is open' }
    const { turn, step } = event.data as { readonly turn?: number; readonly step?: number }
    const isHere = turn === this.#lastTurn && step === this.#lastStep
    return isHere ? null : { rule, problem: `it names turn ${turn}, step ${step}, but turn ${this.#lastTurn}, step ${this.#lastStep} is open` }
  }

  #orderViolation(event: SessionEvent): Violation | null {
    switch (event.type) {
      case 'turn/start': {
        if (this.#isTurnOpen) return { rule: 'turn-order', problem: `turn ${this.#lastTurn} is still open` }
        const next = this.#lastTurn + 1
        return event.data.turn === next ? null : { rule: 'turn-order', problem: `it starts turn ${event.data.turn}, but turn ${next} comes next` }
      }
      case 'turn/end':
        if (this.#isStepOpen) return { rule: 'turn-order', problem: `step ${this.#lastStep} is still open` }
        return event.data.turn === this.#lastTurn ? null : { rule: 'turn-order', problem: `it ends turn ${event.data.turn}, but turn ${this.#lastTurn} is open` }
      case 'step/start': {
        if (event.data.turn !== this.#lastTurn) return { rule: 'step-order', problem: `it names turn ${event.data.turn}, but turn ${this.#lastTurn} is open` }
        if (this.#isStepOpen) return { rule: 'step-order', problem: `step ${this.#lastStep} is still open` }
        const next = this.#lastStep + 1
        return event.data.step === next ? null : { rule: 'step-order', problem: `it starts step ${event.data.step}, but step ${next} comes next` }
      }
      case 'tool/call':
        return this.#calls.get(event.data.callId)?.isStarted === true ? { rule: 'tool-call', problem: `call ${event.data.callId} was started already` } : null
      case 'tool/result':
        return event.surfaceOp === 'append' ? this.#resultViolation(event) : null
      default:
        return null
    }
  }

  #resultViolation(event: SessionEvent<'tool/result'>): Violation | null {
    const elsewhere = this.#stepViolation(event, 'tool-result')
    if (elsewhere !== null) return elsewhere
    const { callId } = event.data.message.content[0]
    const call = this.#calls.get(callId)
    if (call?.isStarted !== true) return { rule: 'tool-result', problem: `no tool/call ${callId} stands before it in its step` }
    return call.isAnswered ? { rule: 'tool-result', problem: `call ${callId} has a result already` } : null
  }

  #pairViolation(event: SessionEvent): Violation | null {
    const rules = this.#types.get(event.type)
    if (rules?.opens !== undefined && this.#openPairs.has(pairKey(rules.opens, event)))
      return { rule: 'pairs', problem: `the ${rules.opens.name} it starts is open already` }
    if (rules?.opens?.isAlone === true && this.openPairs(rules.opens.name).length > 0)
      return { rule: 'pairs', problem: `another ${rules.opens.name} is open, and there can be one at a time` }
    const needed = rules?.closes ?? rules?.within
    if (needed !== undefined && !this.#openPairs.has(pairKey(needed, event)))
      return { rule: 'pairs', problem: `the ${needed.name} it ${rules?.closes === undefined ? 'belongs to' : 'ends'} was not started, or has ended` }
    return null
  }

  #expectCalls(message: AssistantMessage): void {
    for (const block of message.content) {
      if (block.type !== 'tool-call' || this.#calls.has(block.id)) continue
      this.#calls.set(block.id, { callId: block.id, name: block.name, arguments: block.arguments, isStarted: false, isAnswered: false, hasAsked: false })
    }
  }

  #ask(event: SessionEvent): void {
    const { callId } = event.data as { readonly callId?: string }
    const call = callId === undefined ? undefined : this.#calls.get(callId)
    if (call !== undefined) call.hasAsked = true
  }

  #answer(callId: string): void {
    const call = this.#calls.get(callId)
    if (call !== undefined) call.isAnswered = true
  }
}

interface Call {
  readonly callId: string
  readonly name: string
  readonly arguments: string
  readonly isStarted: boolean
  isAnswered: boolean
  hasAsked: boolean
}

function pairKey(pair: EventPair, event: SessionEvent): string {
  const data = event.data as unknown as JsonObject
  return JSON.stringify([pair.name, ...pair.by.map((key) => data[key] ?? null)])
}
