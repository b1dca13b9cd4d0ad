import { isJsonObject, type Json } from '../../base/json.ts'
import { fitTailBytes } from '../../base/text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { ProblemFeed } from '../../capabilities/problem-feed.ts'
import type { BodyExecution, ToolResult } from '../../core/tools/definition.ts'
import type { Tools } from '../../core/tools/service.ts'
import { NO_NEW_ERRORS, type CheckResult } from './events.ts'

export interface CheckNeeds {
  readonly tools: Pick<Tools, 'get' | 'execute'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly feed: ProblemFeed | undefined
}

/** What is kept of the output of one check: its end, in UTF-8 bytes. */
export const MAX_CHECK_OUTPUT = 4_000
/** One check command, in ms. */
export const CHECK_TIMEOUT_MS = 600_000
const MAX_NAMED_ERRORS = 10

/**
 * Run the checks of a goal, one after the other, all of them. Commands go through the shell tool of the session and its whole
 * pipeline, as a call inside the call that asks: permissions, approval and sandbox hold for them as for any other.
 *
 * Errors: none for a check that does not pass; a cancel ends the rest as not run.
 * Source: agent tools specification 12.2.
 */
export async function runChecks(checks: readonly string[], exec: BodyExecution, { errorsBefore, ...needs }: CheckNeeds & { readonly errorsBefore: readonly string[] | null }): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = []
  for (const [index, check] of checks.entries()) {
    const startedMs = needs.clock.monotonicMs()
    exec.progress(`Check: ${check}\n`)
    const found = exec.signal.aborted ? notRun : check === NO_NEW_ERRORS ? newErrors(needs.feed, errorsBefore) : await runCommand(check, index, exec, needs)
    results.push({ check, ...found, durationMs: Math.round(needs.clock.monotonicMs() - startedMs) })
    exec.progress(`${found.outcome}\n`)
  }
  return results
}

type Found = Pick<CheckResult, 'isOk' | 'outcome' | 'output'>

const notRun: Found = { isOk: false, outcome: 'stopped before it ran', output: '' }

async function runCommand(command: string, index: number, exec: BodyExecution, { tools }: CheckNeeds): Promise<Found> {
  const shell = ['bash', 'pwsh'].find((name) => tools.get(name, exec.agent?.scope ?? null) !== undefined)
  if (shell === undefined) return { isOk: false, outcome: 'not run: this session has no shell', output: '' }
  const result = await tools.execute({
    callId: `${exec.callId}:check-${index + 1}`,
    rootCallId: exec.rootCallId,
    name: shell,
    arguments: { command, description: 'Check of the goal', timeoutMs: CHECK_TIMEOUT_MS },
    ...(exec.agent && { agent: exec.agent }),
    parent: exec.token,
    signal: exec.signal,
    onProgress: (text) => exec.progress(text),
  })
  const found = foundOf(result)
  return exec.signal.aborted && !found.isOk ? { ...found, outcome: 'stopped before its end' } : found
}

function foundOf(result: ToolResult): Found {
  const output = fitTailBytes(result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n').trim(), MAX_CHECK_OUTPUT).text
  if (result.isError) return { isOk: false, outcome: result.error.info?.code === 'DENIED' ? 'not allowed to run' : 'could not run', output }
  const { kind, exitCode, timedOut, signal } = factsOf(result.value)
  if (kind !== 'foreground') return { isOk: false, outcome: 'went on in the background, so its end is not known', output }
  if (timedOut) return { isOk: false, outcome: 'timed out', output }
  if (exitCode === null) return { isOk: false, outcome: signal === null ? 'ended without an exit code' : `killed by ${signal}`, output }
  return { isOk: exitCode === 0, outcome: `exit code ${exitCode}`, output }
}

function factsOf(value: Json) {
  const facts = isJsonObject(value) ? value : {}
  return {
    kind: facts['kind'],
    exitCode: typeof facts['exitCode'] === 'number' ? facts['exitCode'] : null,
    timedOut: facts['timedOut'] === true,
    signal: typeof facts['signal'] === 'string' ? facts['signal'] : null,
  }
}

/** Errors of all files that the editor knows of, a line each: where and what. */
export function knownErrors(feed: ProblemFeed | undefined): readonly string[] | null {
  if (feed === undefined) return null
  return [...feed.all()].flatMap(([path, problems]) => problems.flatMap(({ severity, message }) => (severity === 'error' ? [`${path}: ${message}`] : [])))
}

/** The same error at another line is no new one; one more of the same is. */
function newErrors(feed: ProblemFeed | undefined, before: readonly string[] | null): Found {
  const now = knownErrors(feed)
  if (now === null || before === null) return { isOk: false, outcome: 'not looked at: there is no editor here that knows of errors', output: '' }
  const left = new Map<string, number>()
  for (const error of before) left.set(error, (left.get(error) ?? 0) + 1)
  const fresh = now.filter((error) => {
    const known = left.get(error) ?? 0
    if (known > 0) left.set(error, known - 1)
    return known === 0
  })
  if (fresh.length === 0) return { isOk: true, outcome: 'no new errors', output: '' }
  const named = fresh.slice(0, MAX_NAMED_ERRORS)
  const output = fitTailBytes([...named, ...(fresh.length > named.length ? [`and ${fresh.length - named.length} more`] : [])].join('\n'), MAX_CHECK_OUTPUT).text
  return { isOk: false, outcome: fresh.length === 1 ? '1 new error' : `${fresh.length} new errors`, output }
}
