import { isJsonObject, jsonEquals, stableStringify, type Json, type JsonObject } from '../../base/json.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import type { AgentRequest } from './agent-request.ts'
import type { RunPlan, RunStopReason } from './events.ts'

/** A finished member: nobody has to be asked again for the same. */
export interface KeptResult {
  readonly childId: string
  readonly result: string | JsonObject
}

/** What a session's log says of one run. */
export interface LoggedRun {
  readonly plan: RunPlan
  readonly stopReason: RunStopReason | null
  readonly kept: ReadonlyMap<string, KeptResult>
}

/**
 * What is asked, as a name: the hash of prompt and options, and which of the equal ones it is, so that the same prompt asked twice
 * stays two members. Labels and phases are for people and do not count.
 */
export function createKeys(sha256: (text: string) => string): (request: AgentRequest) => string {
  const seen = new Map<string, number>()
  return ({ prompt, schema, provider, model }) => {
    const hash = sha256(stableStringify({ prompt, ...(schema && { schema }), ...(provider !== undefined && { provider }), ...(model !== undefined && { model }) }))
    const count = (seen.get(hash) ?? 0) + 1
    seen.set(hash, count)
    return `${hash}-${count}`
  }
}

/** Every run of a session, oldest first. */
export function loggedRuns(events: readonly SessionEvent[]): readonly LoggedRun[] {
  const runs = new Map<string, { plan: RunPlan; stopReason: RunStopReason | null; kept: Map<string, KeptResult>; childIds: Map<number, string> }>()
  for (const event of events) {
    if (event.type === 'tool-workflow/plan') runs.set(event.data.runId, { plan: event.data, stopReason: null, kept: new Map(), childIds: new Map() })
    else if (event.type === 'tool-workflow/run-end') {
      const run = runs.get(event.data.runId)
      if (run) run.stopReason = event.data.stopReason
    } else if (event.type === 'tool-workflow/agent-start') runs.get(event.data.runId)?.childIds.set(event.data.seq, event.data.childId)
    else if (event.type === 'tool-workflow/journal') {
      const { runId, seq, key, result } = event.data
      const run = runs.get(runId)
      // A log of another build may hold anything here.
      if (typeof result === 'string' || isJsonObject(result)) run?.kept.set(key, { result, childId: run.childIds.get(seq) ?? '' })
    }
  }
  return [...runs.values()]
}

/** The finished members of a run and of those it resumed. */
export function keptBy(runs: readonly LoggedRun[], runId: string): ReadonlyMap<string, KeptResult> {
  const all = new Map<string, KeptResult>()
  const seen = new Set<string>()
  for (let id: string | undefined = runId; id !== undefined && !seen.has(id); ) {
    seen.add(id)
    const run = runs.find(({ plan }) => plan.runId === id)
    for (const [key, kept] of run?.kept ?? []) if (!all.has(key)) all.set(key, kept)
    id = run?.plan.resumedFrom
  }
  return all
}

/** The newest run of the very same script and arguments, when it did not come to its end. */
export function unfinishedRun(runs: readonly LoggedRun[], asked: { readonly script: string; readonly args?: Json | undefined }): LoggedRun | undefined {
  const same = runs.filter(({ plan }) => plan.script === asked.script && jsonEquals(plan.args ?? null, asked.args ?? null)).at(-1)
  return same === undefined || same.stopReason === 'completed' ? undefined : same
}
