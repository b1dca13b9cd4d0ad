import { jsonEquals, type Json } from '../../base/json.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import type { ExecutionToken } from '../../core/tools/definition.ts'
import type { HeldCall } from './service.ts'

/** Calls that the person lets through although the session plans. */
export interface Exceptions {
  /** As `Plan.allowOnce`. */
  allow(agent: Agent, callId: string): boolean
  /** The person let exactly this call through. The first that fits uses the exception up. */
  covers(call: HeldCall | undefined): boolean
}

interface Exception {
  readonly agentId: string
  readonly tool: string
  readonly args: Json
}

/** They end with the window: the wall stands again after a reload. */
export function createExceptions({ newId }: { readonly newId: () => string }): Exceptions {
  const free = new Set<Exception>()
  const used = new WeakMap<ExecutionToken, Exception>()
  const allowed = new Set<string>()

  return {
    allow(agent, callId) {
      const refused = refusedCall(agent.session, callId)
      if (refused === null || allowed.has(`${agent.id} ${callId}`)) return false
      agent.session.append({ type: 'plan/exception', data: { callId, tool: refused.tool }, ignorable: true })
      allowed.add(`${agent.id} ${callId}`)
      free.add({ agentId: agent.id, ...refused })
      agent.steer(
        noticeMessage({
          id: newId(),
          plugin: 'plan',
          text: `The person lets your call of ${refused.tool} (${callId}) through although plan mode is on. Make exactly that call again, once; everything else stays refused.`,
          summary: `You let a call of ${refused.tool} through`,
        }),
      )
      return true
    },
    covers(call) {
      if (call?.agent === undefined) return false
      const { agent, token, name, arguments: args } = call
      const known = used.get(token)
      // Other arguments than those that were let through are another call.
      if (known !== undefined) return name === undefined || (known.tool === name && jsonEquals(known.args, args ?? null))
      const found = [...free].find((each) => each.agentId === agent.id && each.tool === name && jsonEquals(each.args, args ?? null))
      if (found === undefined) return false
      free.delete(found)
      used.set(token, found)
      return true
    },
  }
}

/** The call of that id, when plan mode is what refused it. */
function refusedCall(session: Session, callId: string): Pick<Exception, 'tool' | 'args'> | null {
  const events = session.milestones()
  const isRefused = events.some(({ type, data }) => type === 'tool/result' && data.policy?.by === 'plan' && data.message.content[0].callId === callId)
  const call = events.findLast(({ type, data }) => type === 'tool/call' && data.callId === callId)
  if (!isRefused || call?.type !== 'tool/call') return null
  return { tool: call.data.name, args: JSON.parse(call.data.arguments) as Json }
}
