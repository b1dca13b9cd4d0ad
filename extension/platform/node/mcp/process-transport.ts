import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { isErrorOf } from '../../../base/harness-error.ts'
import { messageOf } from '../../../base/message-of.ts'
import { clipped } from '../../../base/text.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import { MAX_MESSAGE_BYTES, type McpTarget } from '../../../capabilities/mcp.ts'
import { ProcessError, type ProcessRunner, type RunningProcess } from '../../../capabilities/process.ts'
import { LineReader } from './line-reader.ts'

/** For a server that was told to go, before its whole tree is ended. Source: runtime specification 21, "close wait". */
export const CLOSE_WAIT_MS = 5_000
/** UTF-8 bytes of one line beside the protocol. */
const MAX_LOG_LINE = 64 * 1024
/** Of the lines before its end, to say why; kept, and shown. */
const KEPT_LINES = 30
const SHOWN_LINES = 5

/** The program could not be started at all. */
export class StartFailure extends Error {}

/** Messages, one a line, with a program that the keeper owns. Source: Model Context Protocol 2025-11-25, transports, "stdio". */
export class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Why it is over; null while it is not. */
  reason: string | null = null
  readonly #target: Extract<McpTarget, { kind: 'stdio' }>
  readonly #needs: { readonly processes: Pick<ProcessRunner, 'start'>; readonly clock: Pick<Clock, 'schedule'>; readonly onLog: (line: string) => void }
  readonly #lastLines: string[] = []
  #running: RunningProcess | null = null
  #starting: Promise<RunningProcess> | null = null
  #isClosing = false
  #closed: Promise<void> | null = null

  constructor(target: Extract<McpTarget, { kind: 'stdio' }>, needs: { readonly processes: Pick<ProcessRunner, 'start'>; readonly clock: Pick<Clock, 'schedule'>; readonly onLog: (line: string) => void }) {
    this.#target = target
    this.#needs = needs
  }

  async start(): Promise<void> {
    const stdout = new LineReader({ maxBytes: MAX_MESSAGE_BYTES, onLine: (line) => this.#heard(line) })
    const errors = { reader: this.#logReader() }
    const { command, args, cwd, env } = this.#target
    try {
      this.#starting = this.#needs.processes.start({
        command,
        args,
        cwd,
        env,
        stdin: 'pipe',
        graceMs: CLOSE_WAIT_MS,
        onOutput: (stream, chunk) => {
          if (this.#isClosing) return
          if (stream === 'stdout') {
            if (!stdout.push(chunk)) this.#breakOff(`It sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB.`)
          } else if (!errors.reader.push(chunk)) errors.reader = this.#logReader()
        },
      })
      this.#running = await this.#starting
    } catch (error) {
      // A failure of the runner names the program itself.
      throw new StartFailure(isErrorOf(ProcessError, error) ? error.message : `${command} could not be started: ${messageOf(error)}`, { cause: error })
    }
    const { exit } = this.#running
    void exit.then(async ({ exitCode, signal, hasSurvivors }) => {
      errors.reader.end()
      // What it started and left behind does not outlive it.
      if (hasSurvivors === true) await this.#running?.terminate()
      this.#over(`It ended${signal !== null ? ` by ${signal}` : exitCode === null ? '' : ` with exit code ${exitCode}`}.${this.#lastWords()}`)
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#running === null || this.#isClosing || this.reason !== null) throw new Error(this.reason ?? 'The server is not running.')
    await this.#running.write(`${JSON.stringify(message)}\n`)
  }

  /** Its input ends, which tells it to go; what is still there after a while is ended, with all it started. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#isClosing = true
    // One that is being started is waited for: it would stay.
    const running = await this.#starting?.catch(() => null)
    if (running != null) {
      const late = Promise.withResolvers<void>()
      const stop = this.#needs.clock.schedule(CLOSE_WAIT_MS / 5, () => late.resolve())
      // One that reads nothing any more never takes the end of its input, and one that is gone cannot.
      const told = running.endInput().then(() => running.exit, () => running.exit)
      await Promise.race([told, running.exit, late.promise])
      stop()
      await running.terminate()
      await running.exit
    }
    this.#over('It was stopped.')
  }

  /** No more conversation is possible with it. */
  #breakOff(reason: string): void {
    this.#over(reason)
    this.#isClosing = true
    this.#closed ??= (async () => {
      await this.#running?.terminate()
    })()
  }

  #over(reason: string): void {
    if (this.reason !== null) return
    this.reason = reason
    this.onclose?.()
  }

  #heard(line: string): void {
    if (line.trim() === '' || this.#isClosing) return
    const parsed = JSONRPCMessageSchema.safeParse(jsonOf(line))
    if (parsed.success) this.onmessage?.(parsed.data)
    else this.#log(`Not a message of the protocol: ${line}`)
  }

  #logReader(): LineReader {
    return new LineReader({ maxBytes: MAX_LOG_LINE, onLine: (line) => this.#log(line) })
  }

  #log(line: string): void {
    const shown = clipped(line, 2_000)
    this.#needs.onLog(shown)
    if (line.trim() === '') return
    this.#lastLines.push(clipped(line, 200))
    if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift()
  }

  /** From the last line that speaks of an error, behind which a trace often stands; else the last ones. */
  #lastWords(): string {
    const error = this.#lastLines.findLastIndex((line) => /error|cannot|fail/i.test(line) && !/^\s+at /.test(line))
    const shown = error < 0 ? this.#lastLines.slice(-SHOWN_LINES) : this.#lastLines.slice(error, error + SHOWN_LINES)
    return shown.length === 0 ? '' : ` Its last words: “${clipped(shown.join(' | '), 300)}”.`
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // No JSON is no message, which the caller says.
    return undefined
  }
}
