import type { ProcessRunner, ProcessSpec, RunningProcess } from '../../capabilities/process.ts'
import type { JobEnd, JobNews, JobWork } from '../../features/jobs/service.ts'
import { GRACE_MS, MAX_SPILL_BYTES, MAX_STREAM_BYTES, type OpenSpill } from './run-foreground.ts'
import { StreamCollector } from './stream-collector.ts'

/**
 * Run one command as a job: no deadline, output by deltas, ended only by itself or by `cancel`.
 *
 * A command that could not be started ends as killed `before exit`, and the reason is read exactly once.
 */
export function runBackground(
  processes: ProcessRunner,
  run: { readonly program: Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'env'>; readonly openSpill: OpenSpill | undefined },
  news: JobNews,
): JobWork {
  const { openSpill } = run
  const collect = (name: string) =>
    new StreamCollector({ maxBytes: MAX_STREAM_BYTES, maxSpillBytes: MAX_SPILL_BYTES, ...(openSpill && { openSpill: () => openSpill(`${name}.log`) }) })
  const streams = { stdout: collect('stdout'), stderr: collect('stderr') }
  const transcript = new StreamCollector({ maxBytes: MAX_STREAM_BYTES, maxSpillBytes: 0 })
  const live = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  let running: RunningProcess | undefined
  let isCancelled = false
  let failure = ''

  const onOutput: ProcessSpec['onOutput'] = (stream, chunk) => {
    streams[stream].push(chunk)
    transcript.push(chunk)
    const text = live[stream].decode(chunk, { stream: true })
    if (text !== '') news.output(text)
  }
  const work = async (): Promise<JobEnd> => {
    try {
      running = await processes.start({ ...run.program, graceMs: GRACE_MS, onOutput })
      news.started(running)
    } catch (error) {
      failure = `${error instanceof Error ? error.message : String(error)}\n`
      return { status: 'killed', detail: 'before exit' }
    }
    if (isCancelled) void running.terminate()
    const { exitCode, signal } = await running.exit
    await Promise.all([streams.stdout.finish(), streams.stderr.finish()])
    if (exitCode !== null) return { status: 'completed', detail: `exit code: ${exitCode}`, exitCode }
    return { status: 'killed', ...(signal === null ? { detail: 'before exit' } : { detail: `signal: ${signal}`, signal }) }
  }

  return {
    done: work(),
    cwd: run.program.cwd,
    transcript: () => transcript.shown(),
    logPath: () => streams.stdout.spillPath ?? streams.stderr.spillPath,
    cancel() {
      isCancelled = true
      void running?.terminate()
    },
    readOutput() {
      const reason = failure
      failure = ''
      return `${deltaOf(streams.stdout, 'stdout')}${deltaOf(streams.stderr, 'stderr')}${reason}`
    },
  }
}

function deltaOf(stream: StreamCollector, name: 'stdout' | 'stderr'): string {
  const { text, lostBytes, spillPath } = stream.readDelta()
  if (text === '' && lostBytes === 0) return ''
  const lost = lostBytes === 0 ? '' : `[${lostBytes} bytes of ${name} are left out here. All of it: ${spillPath ?? 'not available'}]\n`
  return `${name === 'stderr' ? '[stderr]\n' : ''}${lost}${text}${text === '' || text.endsWith('\n') ? '' : '\n'}`
}
