import { messageOf } from '../../base/message-of.ts'
import type { JobEnd, JobNews, JobWork } from '../../features/jobs/service.ts'
import type { ShellRun } from './shell-run.ts'

/**
 * A command as a job, from its start or taken over from a call: no deadline, output by deltas, ended only by itself or by `cancel`.
 *
 * A command that could not be started ends as killed `before exit`, and the reason is read exactly once.
 */
export function runBackground(run: ShellRun, news: JobNews): JobWork {
  let failure = ''
  run.follow((text) => news.output(text))

  const work = async (): Promise<JobEnd> => {
    try {
      news.started(await run.start())
    } catch (error) {
      failure = `${messageOf(error)}\n`
      return { status: 'killed', detail: 'before exit' }
    }
    const { exit, sandbox } = await run.end()
    const { exitCode, signal } = exit
    if (sandbox?.runnerFailed === true) return { status: 'failed', detail: 'the sandbox could not start it' }
    if (sandbox?.denied === true && exitCode !== null) return { status: 'completed', detail: `exit code: ${exitCode}, denied by the sandbox in ${sandbox.mode} mode`, exitCode }
    if (exitCode !== null) return { status: 'completed', detail: `exit code: ${exitCode}`, exitCode }
    return { status: 'killed', ...(signal === null ? { detail: 'before exit' } : { detail: `signal: ${signal}`, signal }) }
  }

  return {
    done: work(),
    cwd: run.spec.program.cwd,
    transcript: () => run.transcript.shown(),
    logPath: () => run.stdout.spillPath ?? run.stderr.spillPath,
    heldBytes: () => run.stdout.heldBytes + run.stderr.heldBytes + run.transcript.heldBytes,
    cancel: () => void run.terminate(),
    readOutput() {
      const reason = failure
      failure = ''
      return `${run.takeOutput()}${reason}`
    },
    ...(run.spec.isInteractive && { sendInput: (text) => run.sendInput(text) }),
  }
}
