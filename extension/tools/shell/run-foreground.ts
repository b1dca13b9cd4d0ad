import type { Clock } from '../../capabilities/clock.ts'
import type { CommandTracking, Job, RunningCommands } from '../../features/jobs/service.ts'
import { fittedOutput } from './render.ts'
import type { ShellRun } from './shell-run.ts'
import type { BackgroundValue, ForegroundValue } from './shell-value.ts'

/** A time-out after so much silence is told with it: the command likely waited for something. */
const TELLING_SILENCE_MS = 10_000

/** What people can do with the command while its call waits; absent where there is no session or no jobs. */
export interface ForegroundControl {
  readonly commands: Pick<RunningCommands, 'track'>
  readonly sessionId: string
  readonly callId: string
  readonly label: string
  /** Errors: as `Jobs.start`. */
  readonly toJob: (run: ShellRun, waitsForInput: 'known' | 'likely' | undefined) => Job
}

/** `isCallStopped`: the call itself was cancelled, so that nobody takes its value. */
export type ForegroundEnd = { readonly value: ForegroundValue | BackgroundValue; readonly isCallStopped: boolean }

type Cause = 'deadline' | 'call' | 'person'
type Moved = { readonly job: Job; readonly why: 'person' | 'input' | 'silence'; readonly output: string }

/**
 * Run one command until it ends, its deadline, a stop, or until it goes on as a job, and say which facts hold.
 *
 * The first cause wins: `timedOut` and `aborted` are never both true, and a process that kills itself sets neither.
 * A command that waits for input goes on as a job, so that the model hears of it before the deadline.
 * Errors: what `start` throws; nothing ran then.
 */
export async function runForeground(
  clock: Clock,
  call: {
    readonly run: ShellRun
    readonly timeoutMs: number
    readonly signal: AbortSignal
    readonly onText: (text: string) => void
    readonly control: ForegroundControl | undefined
  },
): Promise<ForegroundEnd> {
  const { run, timeoutMs, signal, onText, control } = call
  const { cwd } = run.spec.program
  let cause: Cause | undefined
  let lastOutputAt = clock.monotonicMs()
  let silentMs = 0
  let isMoved = false
  let tracking: CommandTracking | undefined = undefined
  const { promise: moved, resolve } = Promise.withResolvers<Moved>()
  const end = (why: Cause) => {
    if (isMoved) return
    if (cause === undefined) silentMs = clock.monotonicMs() - lastOutputAt
    cause ??= why
    void run.terminate()
  }
  const move = (toJob: ForegroundControl['toJob'], how?: 'known' | 'likely'): Job => {
    const output = run.takeOutput()
    const job = toJob(run, how)
    isMoved = true
    resolve({ job, why: how === undefined ? 'person' : how === 'known' ? 'input' : 'silence', output })
    return job
  }

  run.follow((text) => {
    lastOutputAt = clock.monotonicMs()
    tracking?.output(text)
    onText(text)
  })
  const running = await run.start()
  tracking = control?.commands.track({
    sessionId: control.sessionId,
    callId: control.callId,
    label: control.label,
    cwd,
    stop: () => end('person'),
    moveToBackground: () => move(control.toJob),
    ...(run.spec.isInteractive && { sendInput: (text) => run.sendInput(text) }),
    onWaitsForInput(how) {
      try {
        if (cause === undefined) move(control.toJob, how)
      } catch {
        // No job may be started now. The command goes on in the foreground, and its deadline says how long it was silent.
      }
    },
  })
  tracking?.started(running)
  const onAbort = () => end('call')
  const stopTimer = clock.schedule(timeoutMs, () => end('deadline'))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  const outcome = await Promise.race([run.end(), moved])
  stopTimer()
  signal.removeEventListener('abort', onAbort)
  tracking?.end()

  if ('job' in outcome) return { value: { kind: 'background', jobId: outcome.job.id, moved: { why: outcome.why, output: outcome.output } }, isCallStopped: false }
  // Whoever ends a command is told of its end when all of it is gone.
  if (cause !== undefined) await run.terminate()
  const { exit, stdout, stderr, sandbox } = outcome
  const both = run.transcript.shown()
  return {
    value: {
      kind: 'foreground',
      exitCode: exit.exitCode,
      signal: exit.signal,
      timedOut: cause === 'deadline',
      aborted: cause === 'call' || cause === 'person',
      timeoutMs,
      durationMs: Math.round(exit.durationMs),
      cwd,
      ...(cause === 'deadline' && silentMs >= TELLING_SILENCE_MS && { silentMs: Math.round(silentMs) }),
      ...(cause === undefined && exit.hasSurvivors === true && { leftRunning: true }),
      ...(sandbox && { sandbox }),
      stdout,
      stderr,
      transcript: fittedOutput(both.text, both.omittedBytes),
    },
    isCallStopped: cause === 'call',
  }
}
