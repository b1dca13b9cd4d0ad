import { isJsonObject, type Json } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asBoolean, asNumber, asString, soleText } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface ShellArgs {
  readonly command: string
  readonly description: string
  readonly workdir?: string
  readonly run_in_background?: boolean
}

export const presentCall = ({ command, description, workdir, run_in_background }: ShellArgs): ToolCallView =>
  run_in_background === true
    ? { card: 'generic', title: `Start in the background: ${firstLine(command)}`, kind: 'execute', subject: firstLine(command), rawInput: command, content: [{ type: 'text', text: description }], ...(workdir !== undefined && { cwd: workdir }) }
    : { card: 'terminal', title: command, description, ...(workdir !== undefined && { cwd: workdir }) }

/** A terminal when the facts of an end are there; else the text the model got. */
export function presentResult(_args: ShellArgs, { content, meta }: PresentedResult): ToolResultView | undefined {
  if (isJsonObject(meta) && meta['kind'] === 'background' && meta['output'] !== undefined) {
    const { output, jobId } = { output: asString(meta['output']), jobId: asString(meta['jobId']) }
    return { card: 'terminal', ...(output !== undefined && { output }), ...(jobId !== undefined && { jobId }) }
  }
  if (isJsonObject(meta) && meta['kind'] === 'foreground') {
    const { output, logPath } = { output: asString(meta['output']), logPath: asString(meta['logPath']) }
    const { exitCode, signal } = { exitCode: asNumber(meta['exitCode']), signal: asString(meta['signal']) }
    const { durationMs, cwd, omittedBytes } = { durationMs: asNumber(meta['durationMs']), cwd: asString(meta['cwd']), omittedBytes: asNumber(meta['omittedBytes']) }
    return {
      card: 'terminal',
      ...(output !== undefined && { output }),
      ...(exitCode !== undefined && { exitCode }),
      ...(signal !== undefined && { signal }),
      ...(asBoolean(meta['timedOut']) === true && { timedOut: true }),
      ...(asBoolean(meta['aborted']) === true && { aborted: true }),
      ...(durationMs !== undefined && { durationMs }),
      ...(logPath !== undefined && { logPath }),
      ...(cwd !== undefined && { cwd }),
      ...(omittedBytes !== undefined && { omittedBytes }),
      ...sandboxMark(meta['sandbox']),
    }
  }
  const text = soleText(content)
  const jobId = isJsonObject(meta) && meta['kind'] === 'background' ? asString(meta['jobId']) : undefined
  return text === undefined ? undefined : { card: 'generic', content: [{ type: 'text', text: fenced(text) }], ...(jobId !== undefined && { jobId }) }
}

/** What runs with full access is marked by its mode already. */
function sandboxMark(facts: Json | undefined): { readonly sandbox?: 'confined' | 'denied' } {
  if (!isJsonObject(facts)) return {}
  if (facts['denied'] === true) return { sandbox: 'denied' }
  return facts['mode'] === 'read-only' || facts['mode'] === 'workspace-write' ? { sandbox: 'confined' } : {}
}

const firstLine = (command: string) => command.split('\n', 1)[0] ?? ''

/** Longer than any fence inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}console\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}
