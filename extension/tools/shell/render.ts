import type { Json } from '../../base/json.ts'
import { stripAnsi } from '../../base/strip-ansi.ts'
import type { CollectedStream } from './stream-collector.ts'
import type { ForegroundValue, ShellValue } from './shell-value.ts'

/** What the model reads: stdout, stderr, what was cut, then the markers of a bad end in a fixed order. */
export function renderShell(value: ShellValue): string {
  if (value.kind === 'background') return `Started background job ${value.jobId}. Read its output with job_output; you are told when it ends.`
  return joinLines(renderOutput(value), [
    ...cutNotice('stdout', value.stdout),
    ...cutNotice('stderr', value.stderr),
    ...(value.timedOut ? [`[timed out after ${value.timeoutMs} ms]`] : []),
    ...endMarker(value),
  ])
}

/** The two streams, one after the other; empty when both are. */
export function joinStreams(stdout: string, stderr: string): string {
  if (stderr === '') return stripAnsi(stdout)
  return joinLines(stripAnsi(stdout), ['[stderr]', stripAnsi(stderr)])
}

const renderOutput = ({ stdout, stderr }: ForegroundValue) => joinStreams(stdout.text, stderr.text) || '(no output)'

const endMarker = ({ signal, exitCode }: ForegroundValue) =>
  signal !== null ? [`[killed by signal: ${signal}]`] : exitCode !== null && exitCode !== 0 ? [`[exit code: ${exitCode}]`] : []

const cutNotice = (name: 'stdout' | 'stderr', { truncated, totalBytes, spillPath }: CollectedStream) =>
  truncated ? [`[${name} had ${totalBytes} bytes; only the end is shown. All of it: ${spillPath ?? 'not available'}]`] : []

const joinLines = (text: string, lines: readonly string[]) => {
  if (lines.length === 0) return text
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}`
}

/** Durable facts of the card. The end of a command is never read from its output. */
export function shellMeta(value: ShellValue): Json {
  if (value.kind === 'background') return { kind: 'background', jobId: value.jobId }
  const { exitCode, signal, timedOut, aborted, durationMs, transcript, stdout, stderr } = value
  const logPath = stdout.spillPath ?? stderr.spillPath
  return { kind: 'foreground', exitCode, signal, timedOut, aborted, durationMs, output: transcript, ...(logPath !== undefined && { logPath }) }
}
