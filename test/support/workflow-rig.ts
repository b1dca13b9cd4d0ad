import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Json } from '../../extension/base/json.ts'
import type { Dispatcher } from '../../extension/core/kernel/plugin.ts'
import type { EventDraft } from '../../extension/core/log/event.ts'
import type { ChildOutcome, ChildRequest, Subagents } from '../../extension/features/subagents/service.ts'
import type { RunLimits } from '../../extension/features/workflow/run.ts'
import type { WorkflowRequest } from '../../extension/features/workflow/service.ts'
import { createWorkflows } from '../../extension/features/workflow/workflows.ts'
import { createQuickJsRuntime } from '../../extension/platform/node/quickjs/quickjs-runtime.ts'
import { createFakeAgent } from './fake-agent.ts'
import { createRecordingLogger } from './quiet-logger.ts'
import { realClock } from './real-clock.ts'

/** The one that every rig of a suite shares; the suite disposes it. */
export const testCodeRuntime = () =>
  createQuickJsRuntime({
    entry: new URL('../../extension/platform/node/quickjs/isolate-main.ts', import.meta.url),
    wasm: createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm'),
  })

/** What a child does with what it was asked; text is an answer. */
export type ChildMind = (request: ChildRequest) => ChildOutcome | string | Promise<ChildOutcome | string>

export interface WorkflowRigOptions {
  readonly mind?: ChildMind
  readonly limits?: Partial<RunLimits>
  readonly events?: readonly EventDraft[]
  readonly isTrusted?: boolean
  /** What a child changed. */
  readonly files?: (childId: string) => readonly string[]
}

/** The engine over a real machine for scripts; children, log and person are fakes. */
export function createWorkflowRig(codeRuntime: ReturnType<typeof testCodeRuntime>, { mind = ({ prompt }) => `did ${prompt}`, limits = {}, events = [], isTrusted = true, files = () => [] }: WorkflowRigOptions = {}) {
  const agent = createFakeAgent({ events })
  const asked: ChildRequest[] = []
  const news: (readonly [name: string, data: unknown])[] = []
  const logger = createRecordingLogger()
  let ids = events.length * 100
  let running = 0
  let most = 0
  const start: Subagents['start'] = async (request) => {
    request.signal.throwIfAborted()
    asked.push(request)
    const childId = `child-${events.length + asked.length}`
    running += 1
    most = Math.max(most, running)
    const stopped = Promise.withResolvers<ChildOutcome>()
    request.signal.addEventListener('abort', () => stopped.resolve({ stopReason: 'aborted', output: '' }), { once: true })
    const answer = Promise.resolve(mind(request)).then((given): ChildOutcome => (typeof given === 'string' ? { stopReason: 'completed', output: given } : given))
    const outcome = Promise.race([answer, stopped.promise]).finally(() => (running -= 1))
    return { runId: childId, childId, outcome }
  }
  const governor: Partial<Subagents['governor']> = { lend: (_agent, work) => work(), limits: { maxConcurrent: 10, maxDepth: 3, maxTotal: 1_000 } }
  const dispatch: Partial<Dispatcher> = { emit: (name, _scope, [data]) => void news.push([name, data]) }
  const workflows = createWorkflows({
    codeRuntime,
    subagents: () => ({ start, governor: governor as Subagents['governor'], known: () => [] }),
    changes: () => ({ filesOf: async (ids) => files(ids[0]!) }),
    dispatch: dispatch as Dispatcher,
    machine: { randomId: () => `id-${++ids}`, sha256: (text) => createHash('sha256').update(text).digest('hex') },
    clock: realClock,
    logger,
    workspace: { isTrusted: () => isTrusted },
    limits: () => ({ concurrency: 4, maxTotalAgents: 1_000, maxItemsPerCall: 4_096, syncTimeoutMs: 2_000, disposeGraceMs: 300, ...limits }),
  })
  const request = (script: string, more: Partial<WorkflowRequest> = {}): WorkflowRequest => ({
    kind: 'workflow', agent, script, meta: { name: 'test', description: 'A test' }, isRecorded: true, callId: 'call', signal: new AbortController().signal, ...more,
  })
  return {
    agent, asked, news, logger, workflows, request,
    mostAtOnce: () => most,
    stillRunning: () => running,
    run: (script: string, more?: Partial<WorkflowRequest>) => workflows.run(request(script, more)),
    result: async (script: string, more?: Partial<WorkflowRequest>): Promise<Json> => (await workflows.run(request(script, more))).result,
    /** The code that ended it inside, and the words. */
    async failure(script: string, more?: Partial<WorkflowRequest>): Promise<{ readonly code: string; readonly inner?: string; readonly message: string }> {
      try {
        await workflows.run(request(script, more))
      } catch (error) {
        const { code, message, cause } = error as { code: string; message: string; cause?: { code?: string } }
        return { code, message, ...(cause?.code !== undefined && { inner: cause.code }) }
      }
      throw new Error('It did not fail.')
    },
    logOf: (...types: readonly string[]) => agent.log.filter(({ type }) => types.includes(type)).map(({ data }) => data as Readonly<Record<string, unknown>>),
  }
}
