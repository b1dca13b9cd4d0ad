import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { TreeFacts } from '../../capabilities/process.ts'
import type { RunningProgram } from './service.ts'

/** Silence after which the system is asked what the program does. */
const LOOK_AFTER_MS = 2_000
/** A look reads about every process of the machine, so the longer nothing happens the less often. */
const SLOWEST_LOOK_MS = 15_000
/** Silence after something like a question, where nothing is known: of a program that can be typed to, and of one that cannot. */
const LIKELY_AFTER_MS = { withInput: 15_000, withoutInput: 60_000 } as const

export interface TreeWatchNeeds {
  readonly clock: Clock
  readonly takesInput: boolean
  /** The last line as it stands, unfinished. */
  readonly lastLine: () => string
  /** Undefined: it does not wait any more. */
  readonly onWaits: (how: 'known' | 'likely' | undefined) => void
  /** It is known already to wait. */
  readonly waits?: 'known' | 'likely'
  readonly onFacts?: (facts: TreeFacts) => void
}

/**
 * Looks at a running program now and then: whether it waits for input that may never come, and what else the system knows of it.
 *
 * `known` takes two looks in a row that find the tree reading, without output in between.
 */
export class TreeWatch {
  readonly #needs: TreeWatchNeeds
  #program: RunningProgram | undefined
  #lastOutputAt: number
  #lastLookAt = -Infinity
  #pauseMs = LOOK_AFTER_MS
  #wasReading = false
  #waits: 'known' | 'likely' | undefined
  #cancelLook: Undo = () => {}
  #hasEnded = false

  constructor(needs: TreeWatchNeeds) {
    this.#needs = needs
    this.#waits = needs.waits
    this.#lastOutputAt = needs.clock.monotonicMs()
  }

  started(program: RunningProgram): void {
    this.#program = program
    if (!this.#hasEnded) this.#lookIn(LOOK_AFTER_MS)
  }

  /** It wrote, or was typed to: it does not wait any more as far as anybody knows. */
  noteActivity(): void {
    this.#lastOutputAt = this.#needs.clock.monotonicMs()
    this.#wasReading = false
    this.#setWaits(undefined)
    // A timer a chunk would cost more than it tells; only one that is far away is brought near.
    if (this.#pauseMs > LOOK_AFTER_MS && this.#program !== undefined && !this.#hasEnded) this.#lookIn(LOOK_AFTER_MS)
  }

  end(): void {
    this.#hasEnded = true
    this.#cancelLook()
    this.#setWaits(undefined)
  }

  #lookIn(pauseMs: number): void {
    this.#pauseMs = pauseMs
    this.#cancelLook()
    this.#cancelLook = this.#needs.clock.schedule(pauseMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { clock, onFacts } = this.#needs
    const now = clock.monotonicMs()
    const isBusy = now - this.#lastOutputAt < LOOK_AFTER_MS
    if (isBusy && now - this.#lastLookAt < SLOWEST_LOOK_MS) return this.#lookIn(LOOK_AFTER_MS)
    this.#lastLookAt = now
    const outputBefore = this.#lastOutputAt
    const facts = await this.#program?.inspect().catch(() => undefined)
    if (this.#hasEnded) return
    if (facts !== undefined) onFacts?.(facts)
    if (outputBefore === this.#lastOutputAt) this.#judge(facts?.isReadingInput ?? null, clock.monotonicMs() - this.#lastOutputAt)
    this.#lookIn(isBusy || this.#wasReading ? LOOK_AFTER_MS : Math.min(this.#pauseMs * 2, SLOWEST_LOOK_MS))
  }

  #judge(isReading: boolean | null, silentMs: number): void {
    const { takesInput, lastLine } = this.#needs
    if (isReading === true && this.#wasReading) return this.#setWaits('known')
    this.#wasReading = isReading === true
    const limitMs = takesInput ? LIKELY_AFTER_MS.withInput : LIKELY_AFTER_MS.withoutInput
    if (this.#waits === undefined && silentMs >= limitMs && looksLikeQuestion(lastLine())) this.#setWaits('likely')
  }

  #setWaits(how: 'known' | 'likely' | undefined): void {
    if (this.#waits === how) return
    this.#waits = how
    this.#needs.onWaits(how)
  }
}

/** A line without an end that closes as prompts do; a bar of progress does not. */
const looksLikeQuestion = (line: string): boolean => /(?:[:?>$#]|[([](?:y|yes)\/(?:n|no)[)\]]:?) ?$/i.test(line.slice(-200))
