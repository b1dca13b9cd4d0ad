import { isHarnessError } from '../../../base/harness-error.ts'
import { orAbort } from '../../../base/or-abort.ts'
import { clipped } from '../../../base/text.ts'
import { thrownText } from '../../../base/thrown-text.ts'
import type { Undo } from '../../../base/undo.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import { LanguageError } from '../../../capabilities/languages.ts'
import type { LanguageServerConfig, LanguageServerReport, LanguageServerState } from '../../../capabilities/language-servers.ts'
import type { Logger } from '../../../capabilities/logger.ts'
import type { ProcessExit, ProcessRunner } from '../../../capabilities/process.ts'
import { startServer, type ServerStreams } from './server-streams.ts'

/** For the handshake, from the start of the program on. */
export const START_TIMEOUT_MS = 60_000
/** Pauses before a server that ended is started again; after the last one it is given up. */
export const RESTART_DELAYS_MS: readonly number[] = [1_000, 2_000, 5_000, 15_000]
/** A server that ran so long begins with the first pause again. */
const STABLE_AFTER_MS = 60_000
/** For the farewell of the protocol, before its program is ended. */
export const STOP_TIMEOUT_MS = 2_000
/** UTF-16 units of a reason. */
const MAX_REASON = 300

/** A conversation with a running server. */
export interface ServerConnection {
  /** Say farewell. The program is ended afterwards in any case. */
  stop(): Promise<void>
}

/** Shake hands over the streams. `broken` tells of a server with which no more conversation is possible. Rejects when the handshake fails. */
export type ConnectServer<C extends ServerConnection> = (streams: ServerStreams, broken: (reason: string) => void) => Promise<C>

export interface SupervisorNeeds<C extends ServerConnection> {
  readonly name: string
  readonly config: LanguageServerConfig
  readonly cwd: string
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly clock: Clock
  readonly logger: Logger
  readonly connect: ConnectServer<C>
  readonly onChange: () => void
}

/**
 * One server from its first question to its end: started once it is wanted, started again with growing pauses when it crashes, given up
 * with a reason when it does not stay.
 */
export class ServerSupervisor<C extends ServerConnection> {
  readonly #needs: SupervisorNeeds<C>
  #state: LanguageServerState = 'waiting'
  #reason: string | null = null
  #connection: C | undefined
  #streams: ServerStreams | undefined
  /** Of the program that runs now; what an earlier one still says is not heard. */
  #run = 0
  #endings = 0
  #runsSinceMs = 0
  #stopPause: Undo = () => {}
  #change = Promise.withResolvers<void>()

  constructor(needs: SupervisorNeeds<C>) {
    this.#needs = needs
  }

  get config(): LanguageServerConfig {
    return this.#needs.config
  }

  report(): LanguageServerReport {
    const { name, config } = this.#needs
    return { name, command: [config.command, ...config.args].join(' '), state: this.#state, reason: this.#reason }
  }

  /** It is not wanted, because somebody else knows the language. Nothing when it has begun already. */
  leave(reason: string): void {
    if (this.#state === 'waiting') this.#set('unneeded', reason)
  }

  get hasBegun(): boolean {
    return this.#state !== 'waiting' && this.#state !== 'unneeded'
  }

  /**
   * The conversation, once it runs; starts it when that was not done.
   *
   * Errors: `LanguageError` `LSP_UNAVAILABLE` with the reason when it was given up, `LSP_DISPOSED`; the signal's reason.
   */
  async running(signal: AbortSignal): Promise<C> {
    if (!this.hasBegun) this.#start()
    for (;;) {
      if (this.#state === 'running' && this.#connection !== undefined) return this.#connection
      if (this.#state === 'failed' || this.#state === 'stopped') throw this.#unavailable()
      await orAbort(this.#change.promise, signal)
    }
  }

  async restart(): Promise<void> {
    if (this.#state === 'stopped') return
    await this.#end()
    this.#endings = 0
    this.#start()
    while (this.#state === 'starting') await this.#change.promise
  }

  async dispose(): Promise<void> {
    this.#set('stopped', null)
    await this.#end()
  }

  #start(): void {
    this.#run += 1
    this.#set('starting', null)
    void this.#startNow(this.#run)
  }

  /** Never rejects: however it fails, that is a state with a reason. */
  async #startNow(run: number): Promise<void> {
    const { config, connect, clock, logger, name } = this.#needs
    const late = Promise.withResolvers<never>()
    const stopClock = clock.schedule(START_TIMEOUT_MS, () => late.reject(new Error(`It did not answer within ${START_TIMEOUT_MS / 1_000} s`)))
    try {
      const streams = await startServer(config, this.#needs)
      if (run !== this.#run) return await streams.end()
      this.#streams = streams
      void streams.exit.then((exit) => this.#onEnd(run, exitWords(exit, streams.lastWords())))
      const connection = await Promise.race([connect(streams, (reason) => this.#onEnd(run, reason)), late.promise])
      if (run !== this.#run) return
      this.#connection = connection
      this.#runsSinceMs = clock.monotonicMs()
      this.#set('running', null)
    } catch (error) {
      logger.warn('A language server did not start.', { server: name, error: String(error) })
      if (isHarnessError(error) && error.code === 'SPAWN_FAILED') this.#giveUp(run, error.message)
      else this.#onEnd(run, `${thrownText(error) ?? 'It failed'}${wordsAfter(this.#streams?.lastWords())}`)
    } finally {
      stopClock()
    }
  }

  #onEnd(run: number, reason: string): void {
    if (run !== this.#run || this.#state === 'stopped' || this.#state === 'failed' || this.#state === 'restarting') return
    if (this.#state === 'running' && this.#needs.clock.monotonicMs() - this.#runsSinceMs >= STABLE_AFTER_MS) this.#endings = 0
    const delayMs = RESTART_DELAYS_MS[this.#endings]
    if (delayMs === undefined) return this.#giveUp(run, reason)
    this.#endings += 1
    void this.#end()
    this.#set('restarting', reason)
    this.#stopPause = this.#needs.clock.schedule(delayMs, () => this.#start())
  }

  #giveUp(run: number, reason: string): void {
    if (run !== this.#run || this.#state === 'stopped') return
    void this.#end()
    this.#set('failed', reason)
  }

  /** The farewell, then the program with all it started. */
  async #end(): Promise<void> {
    this.#run += 1
    this.#stopPause()
    const [connection, streams] = [this.#connection, this.#streams]
    this.#connection = undefined
    this.#streams = undefined
    if (connection !== undefined) await this.#withinTime(connection.stop())
    await streams?.end()
  }

  async #withinTime(farewell: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stopClock = this.#needs.clock.schedule(STOP_TIMEOUT_MS, resolve)
    // A server that does not answer any more is ended all the same.
    await Promise.race([farewell.catch(() => {}), promise])
    stopClock()
  }

  #set(state: LanguageServerState, reason: string | null): void {
    this.#state = state
    this.#reason = reason === null ? null : clipped(reason, MAX_REASON)
    const { resolve } = this.#change
    this.#change = Promise.withResolvers()
    resolve()
    this.#needs.onChange()
  }

  #unavailable(): LanguageError {
    const { name } = this.#needs
    if (this.#state === 'stopped') return new LanguageError('LSP_DISPOSED', `The language server ${name} was stopped. Ask again, or search for the text.`)
    return new LanguageError('LSP_UNAVAILABLE', `The language server ${name} does not run: ${this.#reason ?? 'it was given up'}. Search for the text instead; the person can look at it with "Bosun: Show Language Servers".`)
  }
}

function exitWords({ exitCode, signal }: ProcessExit, words: string): string {
  return `It ended ${signal === null ? `with exit code ${exitCode}` : `by ${signal}`}${wordsAfter(words)}`
}

/** The last line that it wrote for people. */
function wordsAfter(words: string | undefined): string {
  const last = words?.split('\n').findLast((line) => line.trim() !== '')?.trim()
  return last === undefined ? '' : `: ${last}`
}
