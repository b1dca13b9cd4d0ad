import type { Clock } from '../../capabilities/clock.ts'
import type { ProcessRunner, ProcessSpec } from '../../capabilities/process.ts'
import type { SpillFile } from '../../capabilities/blob-store.ts'
import { StreamCollector } from './stream-collector.ts'
import type { ForegroundValue } from './shell-value.ts'

export const MAX_STREAM_BYTES = 64_000
export const MAX_SPILL_BYTES = 64 * 1024 * 1024
export const GRACE_MS = 3_000
/** Of the card's output, which is part of the log. */
const MAX_TRANSCRIPT_BYTES = 16_000

export type OpenSpill = (name: string) => Promise<SpillFile>

/**
 * Run one command to its end, its deadline or the caller's stop, and say which facts hold.
 *
 * The first cause wins: `timedOut` and `aborted` are never both true, and a process that kills itself sets neither.
 * Errors: what `start` throws; nothing ran then.
 */
export async function runForeground(
  needs: { readonly processes: ProcessRunner; readonly clock: Clock },
  run: {
    readonly program: Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'env'>
    readonly timeoutMs: number
    readonly signal: AbortSignal
    readonly openSpill: OpenSpill | undefined
    readonly onText: (text: string) => void
  },
): Promise<ForegroundValue> {
  const { openSpill, timeoutMs, signal } = run
  const collect = (name: string) =>
    new StreamCollector({ maxBytes: MAX_STREAM_BYTES, maxSpillBytes: MAX_SPILL_BYTES, ...(openSpill && { openSpill: () => openSpill(`${name}.log`) }) })
  const streams = { stdout: collect('stdout'), stderr: collect('stderr') }
  const transcript = new StreamCollector({ maxBytes: MAX_TRANSCRIPT_BYTES, maxSpillBytes: 0 })
  const live = { stdout: new TextDecoder(), stderr: new TextDecoder() }

  const running = await needs.processes.start({
    ...run.program,
    graceMs: GRACE_MS,
    onOutput(stream, chunk) {
      streams[stream].push(chunk)
      transcript.push(chunk)
      const text = live[stream].decode(chunk, { stream: true })
      if (text !== '') run.onText(text)
    },
  })

  let cause: 'deadline' | 'abort' | undefined
  const end = (why: 'deadline' | 'abort') => {
    cause ??= why
    void running.terminate()
  }
  const onAbort = () => end('abort')
  const stopTimer = needs.clock.schedule(timeoutMs, () => end('deadline'))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  const exit = await running.exit
  stopTimer()
  signal.removeEventListener('abort', onAbort)

  const [stdout, stderr, both] = await Promise.all([streams.stdout.finish(), streams.stderr.finish(), transcript.finish()])
  return {
    kind: 'foreground',
    exitCode: exit.exitCode,
    signal: exit.signal,
    timedOut: cause === 'deadline',
    aborted: cause === 'abort',
    timeoutMs,
    durationMs: exit.durationMs,
    stdout,
    stderr,
    transcript: both.text,
  }
}
