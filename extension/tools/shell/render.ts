import type { Json } from '../../base/json.ts'
import { stripAnsi } from '../../base/strip-ansi.ts'
import { fitEnds } from '../../base/text.ts'
import { denialLines } from '../../core/tools/confinement.ts'
import type { CollectedStream } from './stream-collector.ts'
import type { BackgroundValue, ForegroundValue, ShellValue } from './shell-value.ts'

/** What the model reads: stdout, stderr, what was cut, then the markers of a bad end in a fixed order. */
export function renderShell(value: ShellValue): string {
  if (value.kind === 'background') return renderBackground(value)
  return joinLines(renderOutput(value), [
    ...cutNotice('stdout', value.stdout),
    ...cutNotice('stderr', value.stderr),
    ...sandboxLines(value),
    ...(value.leftRunning === true ? ['[programs that it started still run, and end with this session]'] : []),
    ...(value.silentMs === undefined ? [] : [`[it had written nothing for ${Math.round(value.silentMs / 1000)} s; perhaps it waited for an answer that it cannot get]`]),
    ...(value.timedOut ? [`[timed out after ${value.timeoutMs} ms]`] : []),
    ...(value.aborted ? ['[the person stopped it before it finished]'] : []),
    ...endMarker(value),
  ])
}

function renderBackground({ jobId, moved }: BackgroundValue): string {
  const next = 'Read its output with job_output; you are told when it ends.'
  if (moved === undefined) return `Started background job ${jobId}. ${next}`
  return joinLines(stripAnsi(moved.output) || '(no output yet)', [`[${movedWords[moved.why](jobId)} ${next}]`])
}

const movedWords: Readonly<Record<'person' | 'input' | 'silence', (jobId: string) => string>> = {
  person: (jobId) => `the person moved it to the background; it goes on as job ${jobId}.`,
  input: (jobId) => `it waits for input, so it goes on as background job ${jobId}. Answer it with job_output and input, or stop it with job_kill.`,
  silence: (jobId) => `it has been silent for a while after what looks like a question, so it goes on as background job ${jobId}. If it waits for an answer, stop it with job_kill and run it so that it asks nothing.`,
}

/** The two streams, one after the other; empty when both are. */
export function joinStreams(stdout: string, stderr: string): string {
  if (stderr === '') return stripAnsi(stdout)
  return joinLines(stripAnsi(stdout), ['[stderr]', stripAnsi(stderr)])
}

const renderOutput = ({ stdout, stderr }: ForegroundValue) => joinStreams(stdout.text, stderr.text) || '(no output)'

function sandboxLines({ sandbox }: ForegroundValue): readonly string[] {
  if (sandbox?.runnerFailed === true) return ['[sandbox: it could not be started, so the command did not run]']
  return sandbox?.denied === true ? denialLines(sandbox, 'command') : []
}

const endMarker = ({ signal, exitCode }: ForegroundValue) =>
  signal !== null ? [`[killed by signal: ${signal}]`] : exitCode !== null && exitCode !== 0 ? [`[exit code: ${exitCode}]`] : []

const cutNotice = (name: 'stdout' | 'stderr', { truncated, totalBytes, spillPath }: CollectedStream) =>
  truncated ? [`[${name} had ${totalBytes} bytes; the middle is left out. All of it: ${spillPath ?? 'not available'}]`] : []

/** For a card, which is part of the log. */
export function fittedOutput(text: string, omittedBefore = 0): string {
  const { head, tail, omittedBytes } = fitEnds(text, CARD_OUTPUT_BYTES)
  return omittedBytes === 0 ? head : `${head}\n[… ${omittedBytes + omittedBefore} bytes left out …]\n${tail}`
}

const CARD_OUTPUT_BYTES = { headBytes: 4_000, tailBytes: 12_000 } as const

const joinLines = (text: string, lines: readonly string[]) => {
  if (lines.length === 0) return text
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}`
}

/** Durable facts of the card. The end of a command is never read from its output. */
export function shellMeta(value: ShellValue): Json {
  if (value.kind === 'background') return { kind: 'background', jobId: value.jobId, ...(value.moved && { output: fittedOutput(value.moved.output) }) }
  const { exitCode, signal, timedOut, aborted, durationMs, transcript, stdout, stderr, cwd, leftRunning, sandbox } = value
  const logPath = stdout.spillPath ?? stderr.spillPath
  const omittedBytes = (stdout.omittedBytes ?? 0) + (stderr.omittedBytes ?? 0)
  return {
    kind: 'foreground', exitCode, signal, timedOut, aborted, durationMs, cwd, output: transcript,
    ...(logPath !== undefined && { logPath }),
    ...(omittedBytes > 0 && { omittedBytes }),
    ...(leftRunning === true && { leftRunning }),
    ...(sandbox && { sandbox: { mode: sandbox.mode, denied: sandbox.denied } }),
  }
}
