import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { ProcessRunner, ProcessSpec } from '../../capabilities/process.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Jobs, JobSpec } from '../../features/jobs/service.ts'
import { refuseEscalation, sessionFolder } from '../session-folder.ts'
import { renderShell, joinStreams, shellMeta } from './render.ts'
import { runBackground } from './run-background.ts'
import { runForeground, type OpenSpill } from './run-foreground.ts'
import { presentCall, presentResult } from './shell.card.ts'
import type { ShellDialect } from './shell-dialect.ts'
import { backgroundUnavailable, badWorkdir, stopped } from './shell-error.ts'
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
  /** Absent: `run_in_background` is not offered. */
  readonly jobs?: Pick<Jobs, 'start'>
}

export const MAX_TIMEOUT_MS = 600_000

const parameters = {
  command: { type: 'string', required: true },
  description: { type: 'string', required: true, description: 'What it does, in a few words, for the person.' },
  timeoutMs: { type: 'number', description: `At most ${MAX_TIMEOUT_MS}.` },
  workdir: { type: 'string' },
} as const
const backgroundParameter = {
  run_in_background: { type: 'boolean', description: 'Return a job id at once. No time limit.' },
} as const

/** `bash` or `pwsh`: one command in a fresh shell. Source: capability specification 1 and 2. */
export function createShellTool(dialect: ShellDialect, needs: ShellToolNeeds): ToolDefinition {
  const all = { ...parameters, ...backgroundParameter }
  return defineTool({
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
      refuseEscalation(exec)
      const program = await programOf(args, exec)
      const openSpill = openSpillFor(exec)
      return args.run_in_background === true ? inBackground(args.command, program, openSpill, exec) : inForeground(args.timeoutMs, program, openSpill, exec)
    },
    presentCall,
    presentResult,
  })

  async function inForeground(timeoutMs: number | undefined, program: Program, openSpill: OpenSpill | undefined, exec: BodyExecution): Promise<ShellValue> {
    const value = await runForeground(needs, {
      program,
      timeoutMs: Math.min(timeoutMs ?? needs.defaultTimeoutMs(), MAX_TIMEOUT_MS),
      signal: exec.signal,
      openSpill,
      onText: (text) => exec.progress(text),
    })
    // A stopped call has no value; what the command wrote must not be lost with it.
    if (value.aborted) throw stopped(joinStreams(value.stdout.text, value.stderr.text), shellMeta(value))
    return value
  }

  function inBackground(command: string, program: Program, openSpill: OpenSpill | undefined, exec: BodyExecution): ShellValue {
    if (needs.jobs === undefined) throw backgroundUnavailable()
    const run: JobSpec['run'] = (_id, news) => runBackground(needs.processes, { program, openSpill }, news)
    const job = needs.jobs.start({ kind: dialect.name, label: command, ...(exec.agent && { owner: exec.agent }), run, restart: run })
    return { kind: 'background', jobId: job.id }
  }

  async function programOf({ command, workdir }: { readonly command: string; readonly workdir?: string }, exec: BodyExecution): Promise<Program> {
    const sessionId = exec.agent?.id
    return {
      command: needs.program(),
      args: dialect.argumentsFor(command),
      cwd: await folderOf(workdir, exec),
      env: { ...dialect.env, BOSUN_SHELL: '1', ...(sessionId !== undefined && { BOSUN_SESSION_ID: sessionId }) },
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

  function openSpillFor({ agent }: BodyExecution): OpenSpill | undefined {
    return agent && ((name) => needs.blobs.openSpill(agent.id, `${dialect.name}-${name}`))
  }
}

type Program = Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'env'>

const isUri = (path: string) => /^[a-z][a-z0-9+.-]+:\/\//i.test(path)

function checkArguments(args: { readonly command: string; readonly description: string; readonly timeoutMs?: number; readonly workdir?: string }): void {
  if (args.command.trim() === '') throw invalid('command is blank. Give the command to run.')
  if (args.description.trim() === '') throw invalid('description is blank. Say in a few words what the command does.')
  if (args.timeoutMs !== undefined && !(args.timeoutMs > 0)) throw invalid(`timeoutMs must be more than 0, not ${args.timeoutMs}.`)
  if (args.workdir?.trim() === '') throw invalid('workdir is blank. Leave it out to run in the session’s folder.')
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
