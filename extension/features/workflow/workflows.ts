import { Emitter } from '../../base/emitter.ts'
import { isErrorOf } from '../../base/harness-error.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { CodeRuntime } from '../../capabilities/code-runtime.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Dispatcher } from '../../core/kernel/plugin.ts'
import { clipped } from '../../base/text.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import type { AgentChanges } from '../checkpoints/service.ts'
import type { Subagents } from '../subagents/service.ts'
import { WorkflowError } from './error.ts'
import type { RunPlan } from './events.ts'
import { keptBy, loggedRuns, unfinishedRun, type LoggedRun } from './journal.ts'
import { checkedMeta, MAX_META_CHARS, type WorkflowMeta } from './meta.ts'
import { createRecord } from './record.ts'
import { WorkflowRun, type RunLimits } from './run.ts'
import type { WorkflowOutcome, WorkflowRequest, Workflows } from './service.ts'
import { MAX_SHOWN_RESULT_CHARS, outcomeText } from './words.ts'

export interface WorkflowParts {
  readonly codeRuntime: CodeRuntime
  readonly subagents: () => Pick<Subagents, 'start' | 'governor' | 'known'>
  /** Undefined where nothing of it is kept. */
  readonly changes: () => Pick<AgentChanges, 'filesOf'> | undefined
  readonly dispatch: Dispatcher
  readonly machine: Pick<Machine, 'randomId' | 'sha256'>
  readonly clock: Clock
  readonly logger: Logger
  readonly workspace: Pick<Workspace, 'isTrusted'>
  readonly limits: () => RunLimits
}

/** UTF-16 units: it is kept in the log, and shown to the person. */
const MAX_SCRIPT_CHARS = 500_000

interface Live {
  readonly run: WorkflowRun
  readonly agent: Agent
  readonly ended: Promise<unknown>
  /** The run that this one goes on from, over all that were cut off; itself when it began anew. */
  readonly origin: string
}

export interface WorkflowBook extends Workflows {
  /** Its runs are cancelled; resolves when all have ended. */
  endRunsOf(agent: Agent): Promise<void>
  dispose(): Promise<void>
}

export function createWorkflows(parts: WorkflowParts): WorkflowBook {
  const { codeRuntime, dispatch, machine, clock, logger, workspace } = parts
  const live = new Map<string, Live>()
  /** Origins of runs that a person resumes just now, whose new run is not under way yet. */
  const resuming = new Set<string>()
  const scripts = new WeakMap<Session, { readonly all: Set<string>; seen: number }>()
  const changes = new Emitter<void>((error) => logger.error('A listener of the workflows failed.', { error: String(error) }))

  const runsOf = (agent: Agent): readonly LoggedRun[] => loggedRuns(agent.session.milestones())

  /** Every script that ran in a session; asked again and again while one waits for the person, so only what is new is read. */
  function scriptsOf(session: Session): ReadonlySet<string> {
    const known = scripts.get(session) ?? { all: new Set<string>(), seen: 0 }
    scripts.set(session, known)
    if (known.seen < session.length) for (const event of session.events(known.seen)) if (event.type === 'tool-workflow/plan') known.all.add(event.data.script)
    known.seen = session.length
    return known.all
  }

  /** What cannot be read counts as unchanged: a run does not fail over its record. */
  async function filesOf(childId: string): Promise<readonly string[]> {
    const known = parts.subagents().known()
    const below = (id: string): readonly string[] => [id, ...known.filter(({ parentId }) => parentId === id).flatMap((child) => below(child.id))]
    try {
      return (await parts.changes()?.filesOf(below(childId))) ?? []
    } catch (error) {
      logger.warn('What an agent of a workflow changed could not be looked up.', { session: childId, error: String(error) })
      return []
    }
  }

  /** Two runs that go on from the same one would each ask for the same members. */
  const goesOn = (runs: readonly LoggedRun[], runId: string): boolean => {
    const origin = originOf(runs, runId)
    return resuming.has(origin) || [...live.values()].some((entry) => entry.origin === origin)
  }

  /** The run of the log that is to go on. Errors: `UNKNOWN_RUN`, `RUN_UNDER_WAY`. */
  function resumable(runs: readonly LoggedRun[], runId: string, isClaimed = false): LoggedRun {
    const run = runs.find(({ plan }) => plan.runId === runId)
    if (run === undefined) throw new WorkflowError('UNKNOWN_RUN', `This session has no workflow run ${runId}. Leave resume_run_id out to begin anew.`)
    if (!isClaimed && goesOn(runs, runId)) throw new WorkflowError('RUN_UNDER_WAY', `The workflow run ${runId} is still under way, or somebody resumed it. Wait for its end.`)
    return run
  }

  function checkTrust(): void {
    if (!workspace.isTrusted()) throw new WorkflowError('NOT_TRUSTED', 'This folder is not trusted, so no workflow runs in it. The person can trust the folder in the editor.')
  }

  function checkAgent({ isDisposed }: Agent): void {
    if (isDisposed) throw new WorkflowError('NO_AGENT', 'The agent that asks is gone.')
  }

  async function checked({ agent, script, meta }: WorkflowRequest): Promise<WorkflowMeta> {
    checkTrust()
    checkAgent(agent)
    const known = checkedMeta(meta)
    if (/^\s*export\s+const\s+meta\b/m.test(script)) throw new WorkflowError('SCRIPT_PARSE', 'The script begins with a header `export const meta`. Leave it out: meta is an argument of its own.')
    if (script.length > MAX_SCRIPT_CHARS) throw new WorkflowError('SCRIPT_PARSE', `The script has ${script.length} characters, and ${MAX_SCRIPT_CHARS} is the most. Hand what it works on over in args, or in files.`)
    const problem = await codeRuntime.check(script)
    if (problem !== undefined) throw new WorkflowError('SCRIPT_PARSE', `The script does not parse: ${problem}. It is the body of an async function in plain JavaScript and ends with return.`)
    return known
  }

  /** The run whose finished members count, if any. */
  function earlier({ agent, script, args, resumeRunId, mayResume = true }: WorkflowRequest, runs: readonly LoggedRun[], isClaimed: boolean): LoggedRun | undefined {
    if (resumeRunId !== undefined) return resumable(runs, resumeRunId, isClaimed)
    const found = mayResume && !agent.isDisposed ? unfinishedRun(runs, { script, args }) : undefined
    return found === undefined ? undefined : resumable(runs, found.plan.runId)
  }

  async function begin(request: WorkflowRequest, { runId = machine.randomId(), isClaimed = false, begun }: { readonly runId?: string; readonly isClaimed?: boolean; readonly begun?: () => void } = {}): Promise<WorkflowOutcome & { readonly name: string }> {
    const { agent, kind, script, args, callId, isRecorded, maxTotalAgents, signal } = request
    const meta = await checked(request)
    signal.throwIfAborted()
    // It may have been closed meanwhile.
    checkAgent(agent)
    const runs = runsOf(agent)
    const before = earlier(request, runs, isClaimed)
    const plan: RunPlan = {
      runId,
      kind,
      meta,
      script,
      ...(args !== undefined && { args }),
      ...(callId !== undefined && { callId }),
      ...(before && { resumedFrom: before.plan.runId }),
    }
    const limits = { ...parts.limits(), ...(maxTotalAgents !== undefined && { maxTotalAgents }) }
    const record = createRecord({ agent, plan, isRecorded, dispatch, logger })
    const kept = before === undefined ? new Map() : keptBy(runs, before.plan.runId)
    const run = new WorkflowRun({ agent, plan, kept, record, limits, codeRuntime, subagents: parts.subagents(), filesOf, sha256: (text) => machine.sha256(text), clock })
    const cancel = () => run.cancel(thrownText(signal.reason) ?? 'The call was cancelled.')
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    live.set(runId, { run, agent, ended, origin: before === undefined ? runId : originOf(runs, before.plan.runId) })
    begun?.()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      await record.begin()
      changes.emit()
      const { stopReason, result, error, agentsStarted } = await run.run()
      await record.end(stopReason, agentsStarted, error === undefined ? undefined : clipped(error.message, 4_000))
      if (error === undefined) return { runId, agentsStarted, result, name: meta.name }
      const hint = isRecorded && agentsStarted > 0 ? ` What its agents have finished is kept: call it again with resume_run_id "${runId}" to go on from there.` : ''
      if (stopReason === 'cancelled') throw new WorkflowError('WORKFLOW_CANCELLED', `Workflow ${meta.name} was cancelled: ${sentence(error.message)}${hint}`, { cause: error })
      throw new WorkflowError('WORKFLOW_FAILED', `Workflow ${meta.name} failed with ${error.code}: ${sentence(error.message)}${hint}`, { cause: error })
    } finally {
      signal.removeEventListener('abort', cancel)
      live.delete(runId)
      end()
      changes.emit()
    }
  }

  return {
    get limits() {
      const { maxTotalAgents, maxItemsPerCall } = parts.limits()
      return { scriptChars: MAX_SCRIPT_CHARS, textChars: MAX_META_CHARS, resultChars: MAX_SHOWN_RESULT_CHARS, totalAgents: maxTotalAgents, itemsPerCall: maxItemsPerCall }
    },
    textOf: (name, outcome) => outcomeText(name, outcome, MAX_SHOWN_RESULT_CHARS),
    async run(request) {
      const { name: _, ...outcome } = await parts.subagents().governor.lend(request.agent, () => begin(request), request.signal)
      return outcome
    },
    resume(agent, runId) {
      checkTrust()
      if (agent.isDisposed || agent.session.access !== 'write') throw new WorkflowError('NO_AGENT', 'This session can only be read here, so nothing of it is resumed. Open it for writing first.')
      const runs = runsOf(agent)
      const run = resumable(runs, runId)
      const origin = originOf(runs, runId)
      const { kind, script, meta, args } = run.plan
      const newId = machine.randomId()
      const stop = new AbortController()
      const asked = { kind, agent, script, meta: meta as unknown as WorkflowRequest['meta'], args, resumeRunId: runId, isRecorded: true, signal: stop.signal }
      resuming.add(origin)
      const begun = () => void resuming.delete(origin)
      detached(agent, meta.name, `The person resumed the workflow run ${runId}.`, begin(asked, { runId: newId, isClaimed: true, begun }).finally(begun))
      return { runId: newId }
    },
    async start(request) {
      const runId = machine.randomId()
      const { promise: begun, resolve } = Promise.withResolvers<void>()
      // Its caller goes on: from then on only a person, or the end of the session, cancels it.
      const stop = new AbortController()
      const cancel = () => stop.abort(request.signal.reason)
      request.signal.throwIfAborted()
      request.signal.addEventListener('abort', cancel, { once: true })
      const running = begin({ ...request, signal: stop.signal }, { runId, begun: resolve })
      try {
        await Promise.race([begun, running])
      } finally {
        request.signal.removeEventListener('abort', cancel)
      }
      const { name } = request.meta as unknown as WorkflowMeta
      detached(request.agent, name, `The workflow run ${runId}, which you began in the background, is over.`, running)
      return { runId }
    },
    cancel(runId, reason) {
      const found = live.get(runId)
      found?.run.cancel(reason)
      return found !== undefined
    },
    scriptOf: (agent, runId) => runsOf(agent).find(({ plan }) => plan.runId === runId)?.plan.script,
    isRunning: (runId) => live.has(runId),
    resultOf(agent, runId, seq) {
      const runs = runsOf(agent)
      for (const event of agent.session.milestones()) {
        if (event.type === 'tool-workflow/journal' && event.data.runId === runId && event.data.seq === seq) return shown(event.data.result)
      }
      const started = agent.session.milestones().find((event) => event.type === 'tool-workflow/agent-start' && event.data.runId === runId && event.data.seq === seq)
      if (started?.type !== 'tool-workflow/agent-start' || started.data.isReused !== true) return undefined
      const { childId } = started.data
      const kept = [...keptBy(runs, runId).values()].find((result) => result.childId === childId)
      return kept === undefined ? undefined : shown(kept.result)
    },
    isKnown: ({ session }, script) => scriptsOf(session).has(script),
    onDidChange: (listener) => changes.listen(listener),
    async endRunsOf(agent) {
      const own = [...live.values()].filter((entry) => entry.agent === agent)
      for (const { run } of own) run.cancel('The session is being closed.')
      await Promise.all(own.map(({ ended }) => ended))
    },
    async dispose() {
      for (const { run } of live.values()) run.cancel('Bosun is shutting down.')
      await Promise.all([...live.values()].map(({ ended }) => ended))
    },
  }

  /** Nobody waits for it: the model hears of its end. That a person cancelled it, who knows, starts no turn. */
  function detached(agent: Agent, name: string, words: string, running: ReturnType<typeof begin>): void {
    void running.then(
      (outcome) => tell(agent, `${name} completed`, `${words}\n${outcomeText(outcome.name, outcome, MAX_SHOWN_RESULT_CHARS)}`),
      (error: unknown) => {
        const isCancelled = isErrorOf(WorkflowError, error, 'WORKFLOW_CANCELLED')
        tell(agent, `${name} ${isCancelled ? 'was cancelled' : 'failed'}`, `${words} ${thrownText(error) ?? ''}`, isCancelled ? 'inject' : 'followup')
      },
    )
  }

  function tell(agent: Agent, summary: string, text: string, verb: 'followup' | 'inject' = 'followup'): void {
    if (agent.isDisposed) return
    agent[verb]({ id: machine.randomId(), role: 'user', content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'workflow', form: 'notice', summary: clipped(summary, 120) } })
  }
}

/** Back over every run that was gone on from. */
function originOf(runs: readonly LoggedRun[], runId: string): string {
  const seen = new Set<string>()
  for (let id = runId; ; ) {
    seen.add(id)
    const before = runs.find(({ plan }) => plan.runId === id)?.plan.resumedFrom
    if (before === undefined || seen.has(before)) return id
    id = before
  }
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)
const shown = (result: unknown): string => (typeof result === 'string' ? result : JSON.stringify(result, null, 2))
