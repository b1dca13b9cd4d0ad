import { isErrorOf } from '../../base/harness-error.ts'
import { orAbort } from '../../base/or-abort.ts'
import { clipped } from '../../base/text.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { McpError, type McpConnection, type McpConnector, type McpListener, type McpPromptFacts, type McpResourceFacts, type McpSignIn, type McpToolFacts } from '../../capabilities/mcp.ts'
import { ToolTimeoutError } from '../../core/tools/guards/time-out.ts'
import type { FilledTarget } from './fill-variables.ts'
import type { McpServerConfig } from './server-config.ts'
import { remedyFor } from './remedies.ts'
import { ListFollower } from './list-follower.ts'
import { moved, type McpMove, type McpState } from './server-moves.ts'

/** From the start of a program to the end of its handshake; programs that are fetched by their package manager first take their time. */
export const START_TIMEOUT_MS = 60_000
/** For one list of a server. */
const LIST_TIMEOUT_MS = 30_000
/** For a sign of life of a server that let a call run out of time, and how often it is asked for one before it is given up. */
export const SIGN_OF_LIFE_MS = 10_000
const MAX_MISSED_SIGNS = 3
export const MAX_LOG_LINES = 1_000
/** Lines that a server may write by itself in a while; its log and the channel of the editor are no place for more. */
const MAX_HEARD_LINES = 300
const HEARD_WINDOW_MS = 10_000
/** UTF-16 units. */
const MAX_REASON = 500

export interface LifeNeeds {
  readonly config: McpServerConfig
  readonly target: () => Promise<FilledTarget>
  readonly connector: McpConnector
  readonly clock: Clock
  /** Minutes after the last call of a program; 0: it stays. Asked at each rest. */
  readonly idleMinutes: () => number
  readonly signIn: (isAsked: boolean) => McpSignIn | undefined
  readonly canSignIn: boolean
  readonly elicit: McpListener['elicit']
  /** Take over a list of tools; gives what is wrong with it. Null: there are none any more. */
  readonly setTools: (tools: readonly McpToolFacts[] | null) => string | null
  /** A line or a reason without what was given in confidence. */
  readonly redact: (text: string) => string
  readonly onChange: () => void
  readonly onLog: (line: string) => void
}

/**
 * One server from its start to its end: started off the critical path, reached again with growing pauses when it goes away, given up with
 * a reason, stopped when nobody uses it and started again with the next call.
 *
 * Source: runtime specification 21.
 */
export class ServerLife {
  state: McpState = 'ready'
  reason: string | null = null
  problem: string | null = null
  missingInputs: readonly string[] = []
  tools: readonly McpToolFacts[] = []
  prompts: readonly McpPromptFacts[] = []
  resources: readonly McpResourceFacts[] = []
  /** What it says of its tools. As it said first while they are offered, so that what models were told stays the same when it comes back. */
  instructions: string | null = null
  readonly log: string[] = []
  readonly #needs: LifeNeeds
  #connection: McpConnection | null = null
  /** Of the connection that counts now; what an earlier one still says is not heard. */
  #generation = 0
  #attempts = 0
  #runsSinceMs = 0
  #calls = 0
  #cancelPause: Undo = () => {}
  #cancelRest: Undo = () => {}
  #stop = new AbortController()
  #change = Promise.withResolvers<void>()
  readonly #work = new Set<Promise<void>>()
  #isDisposed = false
  #heard = { sinceMs: 0, lines: 0 }

  constructor(needs: LifeNeeds) {
    this.#needs = needs
  }

  get config(): McpServerConfig {
    return this.#needs.config
  }

  /** Start what has not begun, or goes on only when it is told to. Nobody waits. */
  start(): void {
    if (this.state === 'ready') this.#begin(false)
  }

  /** Begin anew, whatever it was doing. Resolves when it runs or has a reason not to. */
  async restart({ isSigningIn = false }: { readonly isSigningIn?: boolean } = {}): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#isDisposed) return
      await this.#end()
      // It takes its time, and the server may be taken away meanwhile.
      if (this.#isDisposed) return
      this.#attempts = 0
      this.#begin(isSigningIn)
    })
    await this.settled(new AbortController().signal)
  }

  #turn: Promise<void> = Promise.resolve()

  /** What the person asks for happens in the order in which they do. `work` never rejects. */
  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work)
    this.#turn = turn
    await turn
  }

  /** Resolves when it is not starting. Errors: the signal's reason. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.state === 'starting') await orAbort(this.#change.promise, signal)
  }

  async stop(): Promise<void> {
    await this.#inTurn(() => this.#end())
  }

  async #end(): Promise<void> {
    this.#cancelPause()
    this.#cancelRest()
    this.#generation += 1
    this.#stop.abort(new McpError('MCP_CLOSED', `The server ${this.config.name} was stopped.`))
    this.#stop = new AbortController()
    const connection = this.#connection
    this.#connection = null
    if (moved(this.state, 'stop') !== null) this.#move('stop', null)
    this.#setTools(null)
    await connection?.close()
    await Promise.all([...this.#work])
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true
    await this.#end()
    await this.#turn
  }

  /**
   * Have the server do something, started first where it rests.
   *
   * Errors: `McpError` `MCP_UNAVAILABLE` with the reason while it is away; those of `work`; the signal's reason.
   */
  async use<T>(work: (connection: McpConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#calls += 1
    this.#cancelRest()
    try {
      if (this.state === 'idle' || this.state === 'ready') this.#begin(false)
      await this.settled(signal)
      if (this.state !== 'running' || this.#connection === null) throw this.#unavailable()
      const connection = this.#connection
      try {
        return await work(connection)
      } catch (error) {
        if (connection === this.#connection && isErrorOf(McpError, error, 'MCP_SIGN_IN')) this.#lackSignIn(error.message)
        if (isLate(error)) this.#lookAfter(connection)
        throw this.#withoutSecrets(error)
      }
    } finally {
      this.#calls -= 1
      this.#rest()
    }
  }

  #isLooking = false

  /** A server that let something run out of time may be busy, or hear nothing any more: then nobody else has to wait for it as long. */
  #lookAfter(connection: McpConnection): void {
    if (this.#isLooking || connection !== this.#connection) return
    this.#isLooking = true
    const work = this.#hasLeft(connection)
      .then((hasLeft) => {
        if (hasLeft && connection === this.#connection) this.#lost(`It let a call run out of time and gave no sign of life ${MAX_MISSED_SIGNS} times in a row, so it was ended.`)
      })
      .finally(() => {
        this.#isLooking = false
        this.#work.delete(work)
      })
    this.#work.add(work)
  }

  /** Never rejects. */
  async #hasLeft(connection: McpConnection): Promise<boolean> {
    for (let missed = 0; missed < MAX_MISSED_SIGNS; missed++) {
      const late = new AbortController()
      const stopClock = this.#needs.clock.schedule(SIGN_OF_LIFE_MS, () => late.abort())
      const isThere = await connection.isThere(AbortSignal.any([late.signal, this.#stop.signal]))
      stopClock()
      if (isThere || connection !== this.#connection) return false
    }
    return true
  }

  /** What a server or its address says of a failure is read by models and kept in logs. */
  #withoutSecrets(error: unknown): unknown {
    if (!isErrorOf(McpError, error)) return error
    const message = this.#needs.redact(error.message)
    return message === error.message ? error : new McpError(error.code, message)
  }

  #unavailable(): McpError {
    const { name } = this.config
    const why = this.reason === null ? '' : ` ${this.reason}`
    if (this.state === 'retrying') return new McpError('MCP_UNAVAILABLE', `The MCP server ${name} is away and is being reached again.${why} Wait a moment and call again, or go on without it.`)
    return new McpError('MCP_UNAVAILABLE', `The MCP server ${name} does not run.${why} The person can ${remedyFor(this.state, name, this.#needs) ?? `restart it with “/mcp restart ${name}”`}. Go on without it.`)
  }

  #begin(isSigningIn: boolean): void {
    this.#cancelPause()
    this.#generation += 1
    this.#move('start', isSigningIn ? 'It waits for you to sign in, in the browser.' : null)
    const generation = this.#generation
    const { signal } = this.#stop
    const work = this.#connect(generation, signal, isSigningIn).finally(() => void this.#work.delete(work))
    this.#work.add(work)
  }

  /** Never rejects: however it fails, that is a state with a reason. */
  async #connect(generation: number, signal: AbortSignal, isSigningIn: boolean): Promise<void> {
    const isCurrent = () => generation === this.#generation
    try {
      const filled = await this.#needs.target()
      if (!isCurrent()) return
      if (filled.kind === 'lacks-inputs') {
        this.missingInputs = filled.inputs
        return this.#move('lack-input', `It needs ${filled.inputs.join(', ')}.`)
      }
      if (filled.kind === 'unknown-variable') return this.#giveUp(`There is no value for a variable in “${clipped(filled.text, 120)}”.`)
      if (filled.kind === 'no-env-file') return this.#giveUp(filled.reason)
      this.missingInputs = []
      const signIn = filled.target.kind === 'stdio' ? undefined : this.#needs.signIn(isSigningIn)
      const connection = await this.#needs.connector.connect(filled.target, {
        timeoutMs: START_TIMEOUT_MS,
        signal,
        listener: this.#listener(isCurrent),
        ...(signIn && { signIn }),
      })
      if (!isCurrent()) return await connection.close()
      this.#connection = connection
      this.instructions ??= connection.instructions
      this.#runsSinceMs = this.#needs.clock.monotonicMs()
      await this.#readLists(connection, isCurrent, ['tools', 'prompts', 'resources'])
      // It may have gone while it was asked, or want to know who asks.
      if (!isCurrent() || this.state !== 'starting') return
      this.#move('connected', null)
      this.#rest()
    } catch (error) {
      if (!isCurrent()) return
      const reason = thrownText(error) ?? 'It failed.'
      this.note(reason)
      if (isErrorOf(McpError, error, 'MCP_SIGN_IN')) this.#move('lack-sign-in', reason)
      else if (isErrorOf(McpError, error, 'MCP_START_FAILED')) this.#giveUp(reason)
      else this.#lost(reason)
    }
  }

  #listener(isCurrent: () => boolean): McpListener {
    const followers: Partial<Record<'tools' | 'prompts' | 'resources', ListFollower>> = {}
    return {
      onClose: (reason) => {
        if (isCurrent() && (this.state === 'running' || this.state === 'starting')) this.#lost(reason)
      },
      onLog: (line) => this.#hear(line),
      onListChange: (list) => {
        const connection = this.#connection
        if (!isCurrent() || connection === null) return
        const follower = (followers[list] ??= new ListFollower(this.#needs.clock, async () => {
          await this.#readLists(connection, isCurrent, [list])
          this.#needs.onChange()
        }))
        const work = follower.changed(this.#stop.signal, isCurrent).finally(() => void this.#work.delete(work))
        this.#work.add(work)
      },
      elicit: async (request, signal) => (isCurrent() ? await this.#needs.elicit(request, signal) : { action: 'cancel' }),
    }
  }

  #reading = 0
  /** Of each list, which reading of it counts. */
  readonly #read: Record<'tools' | 'prompts' | 'resources', number> = { tools: 0, prompts: 0, resources: 0 }

  /** Each list whole, before anything of it counts; one that cannot be read leaves the one before. Never rejects. */
  async #readLists(connection: McpConnection, isCurrent: () => boolean, lists: readonly ('tools' | 'prompts' | 'resources')[]): Promise<void> {
    const late = new AbortController()
    const stopClock = this.#needs.clock.schedule(LIST_TIMEOUT_MS, () => late.abort(new McpError('MCP_TIMEOUT', `It did not list them within ${LIST_TIMEOUT_MS / 1_000} s.`)))
    const signal = AbortSignal.any([this.#stop.signal, late.signal])
    for (const list of lists) {
      if (!connection.offers[list]) continue
      this.#reading += 1
      const turn = this.#reading
      try {
        // What was asked for later may have come before.
        const isNews = () => {
          if (!isCurrent() || turn < this.#read[list]) return false
          this.#read[list] = turn
          return true
        }
        if (list === 'tools') {
          const tools = await connection.listTools(signal)
          if (isNews()) this.#setTools(tools)
        } else if (list === 'prompts') {
          const prompts = await connection.listPrompts(signal)
          if (isNews()) this.prompts = prompts
        } else {
          const resources = await connection.listResources(signal)
          if (isNews()) this.resources = resources
        }
      } catch (error) {
        if (!isCurrent()) break
        const words = `Its ${list} could not be listed: ${thrownText(error) ?? 'it failed'}`
        this.note(words)
        if (list === 'tools') this.problem = clipped(this.#needs.redact(words), MAX_REASON)
        if (isLate(error)) this.#lookAfter(connection)
        if (isErrorOf(McpError, error, 'MCP_SIGN_IN')) {
          this.#lackSignIn(error.message)
          break
        }
      }
    }
    stopClock()
  }

  #setTools(tools: readonly McpToolFacts[] | null): void {
    if (tools === null) this.instructions = null
    if (tools === null && this.tools.length === 0) return
    this.problem = this.#needs.setTools(tools)
    if (this.problem !== null) this.note(this.problem)
    this.tools = tools ?? []
    if (tools === null) {
      this.prompts = []
      this.resources = []
    }
  }

  #lost(reason: string): void {
    const { reconnect } = this.config
    this.#release()
    if (this.#runsSinceMs > 0 && this.#needs.clock.monotonicMs() - this.#runsSinceMs >= reconnect.maxMs) this.#attempts = 0
    this.#runsSinceMs = 0
    if (!reconnect.enabled) return this.#move('give-up', `${reason} It is not reached again by itself.`)
    if (this.#attempts >= reconnect.attempts) return this.#giveUp(`${reason} It was given up after ${reconnect.attempts} attempts.`)
    const delayMs = Math.min(reconnect.maxMs, reconnect.initialMs * 2 ** this.#attempts)
    this.#attempts += 1
    this.#move('lost', reason)
    this.#cancelPause = this.#needs.clock.schedule(delayMs, () => this.#begin(false))
  }

  /** Its tools stay, so that whoever calls one is told what the person can do. */
  #lackSignIn(reason: string): void {
    this.#release()
    this.#move('lack-sign-in', reason)
  }

  /** Its tools go too: nobody is told of what cannot be called. */
  #giveUp(reason: string): void {
    this.#release()
    this.#setTools(null)
    this.#move('give-up', reason)
  }

  /** A conversation that is over; whatever it still says is not heard. */
  #release(): void {
    this.#generation += 1
    const connection = this.#connection
    this.#connection = null
    this.#cancelRest()
    if (connection === null) return
    const work = connection.close().finally(() => void this.#work.delete(work))
    this.#work.add(work)
  }

  /** A program that nobody uses for a while ends, and keeps its tools; a server elsewhere costs nothing. */
  #rest(): void {
    this.#cancelRest()
    const minutes = this.#needs.idleMinutes()
    if (this.state !== 'running' || this.#calls > 0 || minutes === 0 || this.config.target.kind !== 'stdio') return
    this.#cancelRest = this.#needs.clock.schedule(minutes * 60_000, () => {
      if (this.state !== 'running' || this.#calls > 0) return
      this.#release()
      this.#move('rest', null)
    })
  }

  /** A line that the server says by itself: so many in a while, and then how many were left out. */
  #hear(line: string): void {
    const now = this.#needs.clock.monotonicMs()
    if (now - this.#heard.sinceMs >= HEARD_WINDOW_MS) {
      if (this.#heard.lines > MAX_HEARD_LINES) this.note(`${this.#heard.lines - MAX_HEARD_LINES} further lines were left out.`)
      this.#heard = { sinceMs: now, lines: 0 }
    }
    this.#heard.lines += 1
    if (this.#heard.lines <= MAX_HEARD_LINES) this.note(line)
    else if (this.#heard.lines === MAX_HEARD_LINES + 1) this.note(`It writes more than ${MAX_HEARD_LINES} lines in ${HEARD_WINDOW_MS / 1_000} s; what follows is left out.`)
  }

  /** A line of its log, for the person. */
  note(line: string): void {
    const time = new Date(this.#needs.clock.now()).toISOString().slice(11, 19)
    this.log.push(`${time} ${clipped(this.#needs.redact(line), 2_000)}`)
    if (this.log.length > MAX_LOG_LINES) this.log.shift()
    this.#needs.onLog(this.log.at(-1) ?? '')
  }

  #move(move: McpMove, reason: string | null): void {
    const next = moved(this.state, move)
    if (next === null) throw new Error(`An MCP server cannot ${move} while it is ${this.state}.`)
    this.state = next
    this.reason = reason === null ? null : clipped(this.#needs.redact(reason), MAX_REASON)
    this.note(`${next}${this.reason === null ? '' : `: ${this.reason}`}`)
    const before = this.#change
    this.#change = Promise.withResolvers<void>()
    before.resolve()
    this.#needs.onChange()
  }
}

const isLate = (error: unknown): boolean => isErrorOf(McpError, error, 'MCP_TIMEOUT') || isErrorOf(ToolTimeoutError, error, 'TOOL_TIMEOUT')
