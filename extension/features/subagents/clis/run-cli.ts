import { clipped, fitBytes, fitTailBytes } from '../../../base/text.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import { ProcessError, type ProcessExit, type ProcessRunner, type RunningProcess } from '../../../capabilities/process.ts'
import { SubagentError, type ChildOutcome } from '../service.ts'
import type { CliProtocol, CliStage, CliVerdict } from './cli.ts'
import { diagnosticOf, MAX_DIAGNOSTIC_BYTES } from './diagnostic.ts'
import { JsonLines, type LineFault } from './json-lines.ts'

/** Between the tiers of an end: its input is closed, TERM, KILL. */
export const GRACE_MS = 3_000
/** For a program to take the task, from its start. */
export const HANDSHAKE_MS = 60_000
/** A program at work that says nothing for so long hangs. */
export const SILENCE_MS = 20 * 60_000
const MAX_STDERR_BYTES = 8_000
const MAX_LINE_SHOWN = 200

export interface CliRunNeeds {
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly clock: Pick<Clock, 'schedule'>
  /** Default: `GRACE_MS`. */
  readonly graceMs?: number
}

export interface CliRunRequest {
  readonly title: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Laid over the environment, from which whatever looks like a secret is taken out before. */
  readonly env: Readonly<Record<string, string>>
  readonly protocol: CliProtocol
  readonly signal: AbortSignal
  /** The newest line of what it says. */
  readonly onText: (line: string) => void
}

const faults: Readonly<Record<LineFault, string>> = {
  'line-too-long': 'It sent a message that is too long to be one.',
  'broken-message': 'It sent a message that cannot be read.',
  'not-the-protocol': 'What it writes is not the protocol. Look whether the path in the settings names the right program.',
  'too-much': 'It wrote more than any task needs.',
}

/**
 * Start a program, give it one task, and see it to its end with everything that it started.
 *
 * Resolves once it runs; `outcome` never rejects and settles when its whole tree is gone.
 * Errors: `SubagentError` `NO_PROVIDER` when it cannot be started; the signal's reason when it fired before.
 */
export async function runCli(needs: CliRunNeeds, request: CliRunRequest): Promise<{ readonly outcome: Promise<ChildOutcome> }> {
  const { title, command, args, cwd, env, signal } = request
  const { clock, graceMs = GRACE_MS } = needs
  signal.throwIfAborted()
  const talk = new Talk(request, clock)
  let running: RunningProcess
  try {
    running = await needs.processes.start({ command, args, cwd, env, stdin: 'pipe', graceMs, onOutput: (stream, chunk) => talk.heard(stream, chunk) })
  } catch (cause) {
    talk.dispose()
    signal.throwIfAborted()
    if (!(cause instanceof ProcessError)) throw cause
    throw new SubagentError('NO_PROVIDER', `${title} could not be started as ${command}. Look whether it is installed, or set its path in the settings.`, { cause })
  }
  if (signal.aborted) {
    talk.dispose()
    await running.terminate()
    throw signal.reason
  }
  talk.begin(running)
  return { outcome: outcomeOf(request, { clock, graceMs }, running, talk) }
}

async function outcomeOf({ title, env, signal }: CliRunRequest, pause: Pause, running: RunningProcess, talk: Talk): Promise<ChildOutcome> {
  const onAbort = () => talk.abort()
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  let exit: ProcessExit | undefined
  void running.exit.then((ended) => {
    exit = ended
    talk.exited(ended)
  })
  const verdict = await talk.verdict
  signal.removeEventListener('abort', onAbort)
  talk.dispose()
  const isLeft = verdict.stopReason !== 'completed'
  const teardown = await tearDown(running, pause, { isPatient: !isLeft || verdict.stopReason === 'aborted' }).catch((error: unknown) => String(error))
  const fail = (problem: string, stage: CliStage) => diagnosticOf({ title, stage, problem, said: verdict.said, stderr: talk.stderr, env })
  const problem = verdict.problem ?? (verdict.stopReason === 'aborted' ? 'It was stopped.' : undefined)
  const notes = [
    ...(isLeft && problem !== undefined ? [fail(problem, verdict.stage)] : []),
    ...(teardown === null ? [] : [fail(`It could not be ended: ${teardown}`, 'teardown')]),
    // It answered; how it went is told all the same.
    ...(!isLeft && exit !== undefined && !exit.wasTerminated && exit.exitCode !== 0 ? [fail(`It answered, then ended with ${endWords(exit)}.`, 'teardown')] : []),
  ]
  return { stopReason: verdict.stopReason, output: verdict.output, ...(notes.length > 0 && { diagnostic: fitBytes(notes.join('\n'), MAX_DIAGNOSTIC_BYTES).text }) }
}

type Pause = Required<Pick<CliRunNeeds, 'clock' | 'graceMs'>>

/** Its input is closed, which is its word to go; what has not gone after the grace is told to, then made to. Gives what kept it from ending, or null. */
async function tearDown(running: RunningProcess, { clock, graceMs }: Pause, { isPatient }: { readonly isPatient: boolean }): Promise<string | null> {
  void running.endInput().catch(() => {
    // It stopped reading; the next tier does not depend on it.
  })
  if (isPatient) {
    const late = Promise.withResolvers<void>()
    const cancel = clock.schedule(graceMs, () => late.resolve())
    await Promise.race([running.exit, late.promise])
    cancel()
  }
  // Also when it has gone: what it started and left behind goes with it.
  await running.terminate()
  await running.exit
  return null
}

const endWords = ({ exitCode, signal }: Pick<ProcessExit, 'exitCode' | 'signal'>) => (signal === null ? `exit code ${exitCode}` : `the signal ${signal}`)

/** The conversation as it goes on: what is heard leads to what is said, until one thing ends it. First cause wins. */
class Talk {
  readonly #request: CliRunRequest
  readonly #clock: Pick<Clock, 'schedule'>
  readonly #lines = new JsonLines()
  readonly #end = Promise.withResolvers<CliVerdict>()
  readonly verdict = this.#end.promise
  #running: RunningProcess | undefined
  #waiting: Uint8Array[] = []
  #isOver = false
  #isTimed = false
  #shown = ''
  #stopClock: () => void = () => {}
  stderr = ''

  constructor(request: CliRunRequest, clock: Pick<Clock, 'schedule'>) {
    this.#request = request
    this.#clock = clock
  }

  begin(running: RunningProcess): void {
    this.#running = running
    this.#wait()
    this.#say(this.#request.protocol.begin())
    const early = this.#waiting
    this.#waiting = []
    for (const chunk of early) this.heard('stdout', chunk)
  }

  heard(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    if (stream === 'stderr') {
      this.stderr = fitTailBytes(this.stderr + new TextDecoder().decode(chunk), MAX_STDERR_BYTES).text
      return
    }
    if (this.#isOver) return
    // Said before its start was told here.
    if (this.#running === undefined) return void this.#waiting.push(chunk.slice())
    const { protocol } = this.#request
    for (const message of this.#lines.push(chunk)) {
      const { send, end } = protocol.receive(message)
      if (send !== undefined) this.#say(send)
      if (end === undefined) continue
      this.#show()
      return this.#finish(end)
    }
    const { fault } = this.#lines
    if (fault !== null) return this.#finish(this.#failure(faults[fault]))
    this.#show()
    this.#wait()
  }

  exited(exit: ProcessExit): void {
    this.#finish({ ...this.#failure(`It ended with ${endWords(exit)} before it had answered.`), stage: 'process' })
  }

  abort(): void {
    const { protocol } = this.#request
    const { stage, partial } = protocol
    this.#say(protocol.interrupt())
    this.#finish({ stopReason: 'aborted', output: partial, stage })
  }

  dispose(): void {
    this.#stopClock()
    this.#isOver = true
  }

  #finish(verdict: CliVerdict): void {
    this.#isOver = true
    this.#stopClock()
    this.#end.resolve(verdict)
  }

  #failure(problem: string): CliVerdict {
    const { stage, partial } = this.#request.protocol
    return { stopReason: 'error', output: partial, stage, problem }
  }

  /** One that stopped reading is ended by the clock, so nobody waits for the writing. */
  #say(messages: readonly JsonObject[]): void {
    for (const message of messages) {
      void this.#running?.write(`${JSON.stringify(message)}\n`).catch(() => {
        // Its end is heard of apart.
      })
    }
  }

  #show(): void {
    const line = clipped(this.#request.protocol.partial.slice(-2_000).trimEnd().split('\n').at(-1)?.trim() ?? '', MAX_LINE_SHOWN)
    if (line === '' || line === this.#shown) return
    this.#shown = line
    this.#request.onText(line)
  }

  /** Before it has taken the task it may take a while, after that it may be silent for long; each word begins the wait anew then. */
  #wait(): void {
    const { isWorking } = this.#request.protocol
    if (!isWorking && this.#isTimed) return
    this.#isTimed = true
    this.#stopClock()
    const [limitMs, problem] = isWorking ? [SILENCE_MS, `It said nothing for ${SILENCE_MS / 60_000} minutes.`] : [HANDSHAKE_MS, `It did not take the task within ${HANDSHAKE_MS / 1_000} s.`]
    this.#stopClock = this.#clock.schedule(limitMs, () => this.#finish(this.#failure(problem)))
  }
}
