import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import type { PersonWaits } from './person-waits.ts'

export interface ProgramTimeParts {
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>
  readonly waits: PersonWaits
  /** The call that runs the program. */
  readonly exec: BodyExecution
  /** 0: none. */
  readonly maxMs: number
}

/**
 * The time of one program with its calls, from when it is made until `stop`; `signal` fires when there is none left.
 *
 * It stands still while all that the program runs waits for the person: who thinks for long ends no program. It goes on as soon as one
 * call of it works, also beside others that wait. What the program computes meanwhile has a cap of its own.
 */
export class ProgramTime {
  readonly #parts: ProgramTimeParts
  readonly #end = new AbortController()
  readonly #running = new Set<string>()
  readonly #unfollow: Undo
  #leftMs: number
  /** When it last went on, and what ends it then; null while it stands still. */
  #going: { readonly sinceMs: number; readonly cancel: Undo } | null = null

  constructor(parts: ProgramTimeParts) {
    this.#parts = parts
    this.#leftMs = parts.maxMs
    this.#unfollow = parts.maxMs === 0 ? () => {} : parts.waits.follow(() => this.#look())
    this.#look()
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** A call begins: from here on it may be asked about. */
  began(callId: string): void {
    this.#running.add(callId)
    this.#look()
  }

  /** Its body has ended. */
  ran(callId: string): void {
    this.#running.delete(callId)
    this.#look()
  }

  stop(): void {
    this.#unfollow()
    this.#halt()
    this.#leftMs = 0
  }

  #look(): void {
    const { clock, waits, exec } = this.#parts
    if (waits.holds(exec, this.#running)) this.#halt()
    else if (this.#going === null && this.#leftMs > 0) this.#going = { sinceMs: clock.monotonicMs(), cancel: clock.schedule(this.#leftMs, () => this.#end.abort()) }
  }

  #halt(): void {
    if (this.#going === null) return
    this.#going.cancel()
    // What is over has a moment left, in which its end may still be told.
    this.#leftMs = Math.max(1, this.#leftMs - (this.#parts.clock.monotonicMs() - this.#going.sinceMs))
    this.#going = null
  }
}
