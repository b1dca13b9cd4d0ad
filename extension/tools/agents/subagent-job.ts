import { messageOf } from '../../base/message-of.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { JobEnd, JobSpec } from '../../features/jobs/service.ts'
import type { ChildOutcome, ChildRequest, Subagents } from '../../features/subagents/service.ts'

/** A one-shot child as a background job: the job's own stop ends it, the call that started it does not. Source: agent tools specification 6.2. */
export const subagentJob = (subagents: Subagents, { toolName, agent, request }: { readonly toolName: string; readonly agent: Agent; readonly request: ChildRequest }): JobSpec => ({
  kind: toolName,
  label: request.label,
  owner: agent,
  run(jobId) {
    const controller = new AbortController()
    let reason: string | undefined
    return {
      cancel(why) {
        reason = why
        controller.abort(new DOMException('The job was stopped.', 'AbortError'))
      },
      done: ended(subagents, { ...request, jobId, signal: controller.signal }, () => reason),
    }
  },
})

async function ended(subagents: Subagents, request: ChildRequest, reason: () => string | undefined): Promise<JobEnd> {
  const stopped = (): JobEnd => {
    const why = reason()
    return { status: 'killed', ...(why !== undefined && { detail: why }) }
  }
  try {
    const { outcome } = await subagents.start(request)
    return endOf(await outcome, stopped)
  } catch (error) {
    if (request.signal.aborted) return stopped()
    return { status: 'failed', detail: messageOf(error) }
  }
}

function endOf({ stopReason, output, diagnostic }: ChildOutcome, stopped: () => JobEnd): JobEnd {
  if (stopReason === 'completed') return { status: 'completed', output }
  if (stopReason === 'aborted') return stopped()
  return { status: 'failed', detail: `${stopReason}${diagnostic === undefined ? '' : `: ${diagnostic}`}` }
}
