import { isUri } from '../../base/is-uri.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { Agent } from '../../core/session/agent.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { Confinement } from '../../core/tools/confinement.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import type { CommandEnvironment } from '../../features/command-environment/service.ts'
import type { Jobs, JobSpec } from '../../features/jobs/service.ts'
import { sessionFolder } from '../session-folder.ts'
import { withoutEscalation } from '../without-escalation.ts'
import type { EndLeft } from './left-programs.ts'
import { renderShell, joinStreams, shellMeta } from './render.ts'
import { runBackground } from './run-background.ts'
import { runForeground } from './run-foreground.ts'
import { presentCall, presentResult } from './shell.card.ts'
import type { ShellDialect } from './shell-dialect.ts'
import { backgroundUnavailable, badWorkdir, stopped } from './shell-error.ts'
import { GRACE_MS, MAX_SPILL_BYTES, MAX_STREAM_BYTES, ShellRun, type OpenSpill, type ShellProgram, type ShellRunSpec } from './shell-run.ts'
import { shellValueSchema, type ShellValue } from './shell-value.ts'

export interface ShellToolNeeds {
  readonly processes: ProcessRunner
  readonly files: Pick<FileSystem, 'resolve' | 'stat'>
  readonly blobs: Pick<BlobStore, 'openSpill'>
  readonly clock: Clock
  /** The shell's program, read at each call. */
  readonly program: () => string
  /** Milliseconds for calls that name none, read at each call. */
  readonly defaultTimeoutMs: () => number
  readonly environment: CommandEnvironment
  /** A command is over, and programs that it started are not. */
  readonly onLeft?: (owner: Agent, end: EndLeft) => void
  /** Absent: nothing is offered that needs a job. */
  readonly jobs?: Pick<Jobs, 'start' | 'commands'>
  /** Absent: commands run as they are. */
  readonly confinement?: Pick<Confinement, 'confine'>
}

const MAX_TIMEOUT_MS = 600_000

const parameters = {
  command: { type: 'string', required: true },
  description: { type: 'string', required: true, description: 'What it does, in a few words, for the person.' },
  timeoutMs: { type: 'number', description: `At most ${MAX_TIMEOUT_MS}.` },
  workdir: { type: 'string' },
} as const
const jobParameters = {
  run_in_background: { type: 'boolean', description: 'Return a job id at once. No time limit.' },
  wake_on: { type: 'string', description: 'Regex: a background job tells you of lines that match.' },
  interactive: { type: 'boolean', description: 'Answer it with job_output.' },
} as const

/** `bash` or `pwsh`: one command in a fresh shell. Source: capability specification 1 and 2. */
export function createShellTool(dialect: ShellDialect, needs: ShellToolNeeds): ToolDefinition {
  const all = { ...parameters, ...jobParameters }
  return withoutEscalation(defineTool({
    name: dialect.name,
    description: dialect.description,
    // Typed as if the parameter were there: where it is not declared, a call that sends it all the same is refused below.
    parameters: needs.jobs ? all : (parameters as typeof all),
    output: {
      schema: shellValueSchema,
      render: (_args, value) => [{ type: 'text', text: renderShell(value) }],
      presentationMeta: (_args, value) => shellMeta(value),
    },
    async execute(args, exec): Promise<ShellValue> {
      checkArguments(args)
      const spec: ShellRunSpec = { ...(await confined(args, exec)), isInteractive: args.interactive === true, openSpill: openSpillFor(exec), ...leftFor(exec) }
      if (args.run_in_background === true || args.wake_on !== undefined || spec.isInteractive) checkJobs(args)
      return args.run_in_background === true ? inBackground(args, spec, exec) : inForeground(args, spec, exec)
    },
    limits: [
      { of: 'time', max: MAX_TIMEOUT_MS, unit: 'ms' },
      { of: 'one stream of output', max: MAX_STREAM_BYTES, unit: 'bytes' },
      { of: 'the file with all of one stream', max: MAX_SPILL_BYTES, unit: 'bytes' },
      { of: 'grace before KILL', max: GRACE_MS, unit: 'ms' },
    ],
    presentCall,
    presentResult,
  }))

  function checkJobs({ run_in_background, wake_on }: ShellArgs): void {
    if (needs.jobs === undefined) throw backgroundUnavailable()
    if (wake_on !== undefined && run_in_background !== true) throw invalid('wake_on is for run_in_background. Leave it out, or set that too.')
  }

  async function inForeground({ command, timeoutMs }: ShellArgs, spec: ShellRunSpec, exec: BodyExecution): Promise<ShellValue> {
    const { jobs } = needs
    const run = new ShellRun(needs.processes, spec)
    const control = jobs &&
      exec.agent && {
        commands: jobs.commands,
        sessionId: exec.agent.id,
        callId: exec.callId,
        label: command,
        toJob: (moved: ShellRun, waitsForInput: JobSpec['waitsForInput']) =>
          jobs.start({
            ...jobSpec(command, spec, exec),
            run: (_id, news) => runBackground(moved, news),
            movedFromCall: exec.callId,
            ...(waitsForInput && { waitsForInput }),
          }),
      }
    const { value, isCallStopped } = await runForeground(needs.clock, {
      run,
      timeoutMs: Math.min(timeoutMs ?? needs.defaultTimeoutMs(), MAX_TIMEOUT_MS),
      signal: exec.signal,
      onText: (text) => exec.progress(text),
      control,
    })
    // A stopped call has no value; what the command wrote must not be lost with it.
    if (isCallStopped && value.kind === 'foreground') throw stopped(joinStreams(value.stdout.text, value.stderr.text), shellMeta(value))
    return value
  }

  function inBackground({ command, wake_on }: ShellArgs, spec: ShellRunSpec, exec: BodyExecution): ShellValue {
    if (needs.jobs === undefined) throw backgroundUnavailable()
    const job = needs.jobs.start({ ...jobSpec(command, spec, exec), ...(wake_on !== undefined && { wakeOn: wake_on }) })
    return { kind: 'background', jobId: job.id }
  }

  function jobSpec(command: string, spec: ShellRunSpec, { agent }: BodyExecution): JobSpec {
    const run: JobSpec['run'] = (_id, news) => runBackground(new ShellRun(needs.processes, spec), news)
    return { kind: dialect.name, label: command, ...(agent && { owner: agent }), run, restart: run }
  }

  async function confined(args: ShellArgs, exec: BodyExecution): Promise<Pick<ShellRunSpec, 'program' | 'sandbox'>> {
    const program = await programOf(args, exec)
    if (needs.confinement === undefined) return { program }
    const { program: wrapped, sandbox } = await needs.confinement.confine(exec, program)
    return { program: wrapped, ...(sandbox && { sandbox }) }
  }

  async function programOf({ command, workdir }: ShellArgs, exec: BodyExecution): Promise<ShellProgram> {
    return {
      command: needs.program(),
      args: dialect.argumentsFor(command),
      cwd: await folderOf(workdir, exec),
      env: await needs.environment(exec.agent, dialect.env),
    }
  }

  async function folderOf(workdir: string | undefined, exec: BodyExecution): Promise<string> {
    const target = await needs.files.resolve(workdir ?? '.', sessionFolder(exec), exec.signal)
    const shown = workdir ?? target.path
    if (!target.exists) throw badWorkdir(shown, 'does not exist')
    if (isUri(target.path)) throw badWorkdir(shown, 'is not on this machine’s disk, so no command can run there')
    if (workdir !== undefined && (await needs.files.stat(target, exec.signal)).kind !== 'directory') throw badWorkdir(shown, 'is not a folder')
    return target.path
  }

  function leftFor({ agent }: BodyExecution): Pick<ShellRunSpec, 'onLeft'> {
    const { onLeft } = needs
    return onLeft && agent ? { onLeft: (end) => onLeft(agent, end) } : {}
  }

  function openSpillFor({ agent }: BodyExecution): OpenSpill | undefined {
    return agent && ((name) => needs.blobs.openSpill(agent.id, `${dialect.name}-${name}`))
  }
}

type ShellArgs = {
  readonly command: string
  readonly description: string
  readonly timeoutMs?: number
  readonly workdir?: string
  readonly run_in_background?: boolean
  readonly wake_on?: string
  readonly interactive?: boolean
}

function checkArguments(args: ShellArgs): void {
  if (args.command.trim() === '') throw invalid('command is blank. Give the command to run.')
  if (args.command.includes('\0')) throw invalid('command holds a NUL character, which no shell can take. Leave it out.')
  if (args.description.trim() === '') throw invalid('description is blank. Say in a few words what the command does.')
  if (args.timeoutMs !== undefined && !(args.timeoutMs > 0)) throw invalid(`timeoutMs must be more than 0, not ${args.timeoutMs}.`)
  if (args.workdir?.trim() === '') throw invalid('workdir is blank. Leave it out to run in the session’s folder.')
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
