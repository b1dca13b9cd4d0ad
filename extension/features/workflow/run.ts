import { isErrorOf } from '../../base/harness-error.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { orAbort } from '../../base/or-abort.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { CodeError, type CodeRuntime } from '../../capabilities/code-runtime.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { ChildOutcome, ChildPurpose, RunningChild, Subagents } from '../subagents/service.ts'
import { agentRequest, type AgentRequest } from './agent-request.ts'
import { WorkflowError } from './error.ts'
import type { RunPlan, RunStopReason } from './events.ts'
import { createKeys, type KeptResult } from './journal.ts'
import { prelude } from './prelude.ts'
import type { RunRecord } from './record.ts'
import { createSlots, type Slots } from './slots.ts'

export interface RunLimits {
  /** Children at once. */
  readonly concurrency: number
  readonly maxTotalAgents: number
  readonly maxItemsPerCall: number
  readonly syncTimeoutMs: number
  /** How long children and script may take to end after a cancel. */
  readonly disposeGraceMs: number
}

export interface RunParts {
  readonly agent: Agent
  readonly plan: RunPlan
  readonly kept: ReadonlyMap<string, KeptResult>
  readonly record: RunRecord
  readonly limits: RunLimits
  readonly codeRuntime: CodeRuntime
  readonly subagents: Pick<Subagents, 'start'>
  /** Files that a child and those it started changed. */
  readonly filesOf: (childId: string) => Promise<readonly string[]>
  readonly sha256: (text: string) => string
  readonly clock: Clock
}

export interface RunEnd {
  readonly stopReason: RunStopReason
  readonly result: Json
  /** Why it did not complete. */
  readonly error?: WorkflowError
  readonly agentsStarted: number
}

const MEMORY_BYTES = 67_108_864
const STACK_BYTES = 524_288
/** UTF-8 bytes of a result, and of what one call passes on. */
export const MAX_RESULT_BYTES = 4_000_000
/** UTF-16 units of what one agent gives, an object as JSON. */
const MAX_MEMBER_RESULT_CHARS = 1_000_000
/** UTF-16 units of one line of `log()`, and of a phase's title. */
const MAX_LOG_CHARS = 10_000
/** Calls of `log()` and `phase()` beside those of `agent()`. */
const MAX_NARRATION = 10_000

/** One run of a script, from its first slice until every child is released. */
export class WorkflowRun {
  readonly #parts: RunParts
  readonly #slots: Slots
  readonly #keyOf: (request: AgentRequest) => string
  /** Children end with it. */
  readonly #work = new AbortController()
  /** Nothing is waited for any more. */
  readonly #force = new AbortController()
  /** The script ends with it. */
  readonly #stop = new AbortController()
  #asked = 0
  #started = 0
  #narration = 0
  #failure: WorkflowError | undefined
  #cancelled: WorkflowError | undefined
  /** Its result is there: a later cancel changes nothing. */
  #isSettled = false
  #grace: (() => void) | undefined

  constructor(parts: RunParts) {
    this.#parts = parts
    this.#slots = createSlots(parts.limits.concurrency)
    this.#keyOf = createKeys(parts.sha256)
  }

  /** The first reason wins. */
  cancel(reason: string): void {
    if (this.#isSettled || this.#cancelled !== undefined || this.#failure !== undefined) return
    this.#cancelled = new WorkflowError('CANCELLED', reason)
    this.#end(this.#cancelled)
  }

  /** Never rejects. */
  async run(): Promise<RunEnd> {
    const { plan, limits, codeRuntime } = this.#parts
    const argsText = plan.args === undefined ? undefined : JSON.stringify(plan.args)
    try {
      const { value } = await codeRuntime.run({
        source: plan.script,
        name: 'workflow.js',
        prelude: prelude(argsText, limits.maxItemsPerCall),
        limits: {
          sliceMs: limits.syncTimeoutMs,
          memoryBytes: MEMORY_BYTES,
          stackBytes: STACK_BYTES,
          outputBytes: MAX_RESULT_BYTES,
          calls: Number.MAX_SAFE_INTEGER,
          // One more than may be asked, so that the call that is too many is refused while all others wait.
          callsAtOnce: limits.maxTotalAgents + 100,
        },
        signal: this.#stop.signal,
        call: (name, args, signal) => this.#call(name, args, signal),
        print: (_level, text) => this.#printed(text),
      })
      return this.#ended({ result: value })
    } catch (error) {
      return this.#ended({ error })
    } finally {
      this.#grace?.()
    }
  }

  #ended(outcome: { readonly result: Json } | { readonly error: unknown }): RunEnd {
    const agentsStarted = this.#started
    const error = this.#cancelled ?? this.#failure ?? ('error' in outcome ? scriptFailure(outcome.error) : undefined)
    if (error !== undefined) return { stopReason: error === this.#cancelled ? 'cancelled' : 'error', result: null, error, agentsStarted }
    return { stopReason: 'completed', result: 'result' in outcome ? outcome.result : null, agentsStarted }
  }

  async #call(name: string, args: readonly Json[], signal: AbortSignal): Promise<Json> {
    const over = this.#cancelled ?? this.#failure
    if (over !== undefined) throw over
    try {
      if (name === 'agent') return await this.#member(args, signal)
      // The prelude writes these three.
      const [first, second] = args as readonly string[]
      if (name === 'fatal') throw new WorkflowError(first as WorkflowError['code'], second!)
      if (first!.length > MAX_LOG_CHARS) throw new WorkflowError('INVALID_ARGUMENT', `${name}() was given ${first!.length} characters, and takes ${MAX_LOG_CHARS} at most.`)
      this.#narrate(() => this.#parts.record[name as 'phase' | 'log'](first!))
      return null
    } catch (error) {
      // What a call fails with ends the run, however the script takes it; but a cancel is not its fault.
      if (isErrorOf(WorkflowError, error) && error.code !== 'CANCELLED') this.#fail(error)
      throw error
    }
  }

  /** What it prints is narration too. Nobody stands above this who could take a throw. */
  #printed(text: string): void {
    try {
      this.#narrate(() => this.#parts.record.log(text.slice(0, MAX_LOG_CHARS).toWellFormed()))
    } catch (error) {
      this.#fail(error as WorkflowError)
    }
  }

  #narrate(tell: () => void): void {
    if (this.#cancelled ?? this.#failure) return
    this.#narration += 1
    if (this.#narration > MAX_NARRATION) throw new WorkflowError('ITEM_CAP', `The script called log() and phase() more than ${MAX_NARRATION} times. Let it say less.`)
    tell()
  }

  async #member([prompt, options, phase]: readonly Json[], signal: AbortSignal): Promise<Json> {
    const { limits, plan, kept, record } = this.#parts
    const request = agentRequest(prompt, options, phase, plan.meta)
    this.#asked += 1
    const seq = this.#asked
    if (seq > limits.maxTotalAgents) throw new WorkflowError('AGENT_CAP', `The script asked for more than ${limits.maxTotalAgents} agents, which is the most one run may start. Let it ask for fewer, or split the work over several runs.`)
    const key = this.#keyOf(request)
    const found = kept.get(key)
    if (found !== undefined) {
      record.reused(seq, request, found)
      return found.result
    }
    const settled = () => void (this.#isSettled ||= this.#cancelled === undefined && this.#failure === undefined)
    signal.addEventListener('abort', settled, { once: true })
    const both = AbortSignal.any([signal, this.#work.signal])
    const cancelled = () => this.#cancelled ?? this.#failure ?? new WorkflowError('CANCELLED', 'The script ended without waiting for this agent.')
    const leave = await this.#slots.enter(both).catch(() => {
      throw cancelled()
    })
    try {
      const child = await this.#start(request, seq, both, cancelled)
      this.#started += 1
      record.started(seq, request, child.childId)
      const outcome = await orAbort(child.outcome, this.#force.signal).catch(() => null)
      // Also of one that failed: what it changed is there.
      if (outcome !== null) record.changed(seq, await this.#parts.filesOf(child.childId))
      if (outcome === null || both.aborted) {
        record.ended(seq, 'cancelled')
        throw cancelled()
      }
      const result = this.#resultOf(seq, outcome, request.schema)
      if (result === null) {
        record.ended(seq, 'failed')
        return null
      }
      await record.finished(seq, key, { childId: child.childId, result })
      record.ended(seq, 'completed')
      return result
    } finally {
      leave()
      signal.removeEventListener('abort', settled)
    }
  }

  /** What cannot be held is this member's failure too. */
  #resultOf(seq: number, outcome: ChildOutcome, schema: JsonObject | undefined): string | JsonObject | null {
    try {
      return resultOf(outcome, schema)
    } catch (error) {
      this.#parts.record.ended(seq, 'failed')
      throw error
    }
  }

  async #start(request: AgentRequest, seq: number, signal: AbortSignal, cancelled: () => WorkflowError): Promise<RunningChild> {
    const { agent, plan, subagents } = this.#parts
    const { prompt, label, phase, schema, provider, model } = request
    const purpose: ChildPurpose =
      plan.kind === 'ralph' ? { kind: 'ralph', runId: plan.runId, round: seq } : { kind: 'workflow', runId: plan.runId, name: plan.meta.name, ...(phase !== undefined && { phase }) }
    const route = { ...(provider !== undefined && { provider }), ...(model !== undefined && { model }) }
    try {
      return await subagents.start({
        parent: agent,
        provider: 'spawn',
        label,
        prompt,
        purpose,
        ...(plan.callId !== undefined && { callId: plan.callId }),
        ...(schema && { schema }),
        ...(Object.keys(route).length > 0 && { model: route }),
        signal,
      })
    } catch (error) {
      if (signal.aborted) throw cancelled()
      throw new WorkflowError('AGENT_START', `Agent ${seq} (${label}) could not be started: ${thrownText(error) ?? 'no reason is known'}`, { cause: error })
    }
  }

  #fail(error: WorkflowError): void {
    if (this.#failure !== undefined || this.#cancelled !== undefined) return
    this.#failure = error
    this.#end(error)
    // The script is over, whatever it does with the error.
    this.#stop.abort(error)
  }

  #end(reason: WorkflowError): void {
    this.#work.abort(reason)
    this.#grace ??= this.#parts.clock.schedule(this.#parts.limits.disposeGraceMs, () => {
      this.#force.abort(reason)
      this.#stop.abort(reason)
    })
  }
}

/** Null: it did not give what it was asked for. Errors: `AGENT_RESULT` when what it gave is nothing that a run can hold. */
function resultOf(outcome: ChildOutcome, schema: JsonObject | undefined): string | JsonObject | null {
  if (outcome.stopReason !== 'completed') return null
  const result: unknown = schema === undefined ? outcome.output : (outcome.structured ?? null)
  if (result === null) return null
  const text = typeof result === 'string' ? result : isJsonObject(result as Json) ? JSON.stringify(result) : undefined
  if (text !== undefined && text.length > MAX_MEMBER_RESULT_CHARS)
    throw new WorkflowError('AGENT_RESULT', `An agent ended with a result of ${text.length} characters, and ${MAX_MEMBER_RESULT_CHARS} is the most that a script is given. Let agents write what is long into files and answer with where it is.`)
  if (text !== undefined) return result as string | JsonObject
  throw new WorkflowError('AGENT_RESULT', 'An agent ended with a result that is neither text nor an object.')
}

function scriptFailure(error: unknown): WorkflowError {
  if (isErrorOf(WorkflowError, error)) return error
  const message = thrownText(error) ?? 'no reason is known'
  if (isErrorOf(CodeError, error, 'CODE_RESULT')) return new WorkflowError('RESULT_UNSERIALIZABLE', message, { cause: error })
  return new WorkflowError('SCRIPT_FAILED', message, { cause: error })
}
