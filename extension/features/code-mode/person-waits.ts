import type { Undo } from '../../base/undo.ts'
import type { Context } from '../../core/kernel/plugin.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import type {} from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import type {} from '../questions/service.ts'
import type {} from '../subagents/service.ts'

/** What programs wait for the person for, as the logs say: approvals and questions that are asked and not answered. */
export interface PersonWaits {
  /** `onChange`: something was asked or answered. Nothing is noted while nobody follows. */
  follow(onChange: () => void): Undo
  /**
   * Whether nothing of a program goes on until the person has answered: each of its calls that run was asked about, asks, or waits for
   * agents that it started, all of which ask.
   */
  holds(exec: BodyExecution, running: ReadonlySet<string>): boolean
}

interface Asked {
  readonly session: Session
  readonly callId: string | undefined
}

export function createPersonWaits(ctx: Pick<Context, 'on' | 'get'>): PersonWaits {
  const followers = new Set<() => void>()
  const open = new Map<string, Asked>()
  ctx.on('session/event', (session, event) => {
    if (followers.size > 0 && note(session, event)) for (const tell of followers) tell()
  })

  function note(session: Session, event: SessionEvent): boolean {
    switch (event.type) {
      case 'approval/asked':
      case 'question/asked':
        open.set(`${session.id} ${event.data.id}`, { session, callId: event.data.callId })
        return true
      case 'approval/decided':
      case 'question/settled':
        return open.delete(`${session.id} ${event.data.id}`)
      default:
        return false
    }
  }

  /** The child of `agent` that a session belongs to. */
  function childOf(agent: Agent, session: Session): string | undefined {
    let one = ctx.get('agents')?.live(session.id)
    while (one !== undefined && one.owner !== agent) one = one.owner
    return one?.id
  }

  return {
    follow(onChange) {
      const follower = () => onChange()
      followers.add(follower)
      return () => {
        followers.delete(follower)
        if (followers.size === 0) open.clear()
      }
    },
    holds({ agent, rootCallId }, running) {
      if (open.size === 0 || running.size === 0 || agent === undefined) return false
      const asked = [...open.values()]
      const own = asked.filter(({ session }) => session === agent.session)
      const calls = new Set(own.map(({ callId }) => callId))
      // A server that asks does not say for which call.
      const ofServers = own.filter(({ callId }) => callId === undefined).length
      const children = (ctx.get('subagents')?.known() ?? []).filter((child) => child.parentId === agent.id && child.callId === rootCallId && child.jobId === undefined && child.endedAt === undefined)
      const asking = new Set(asked.map(({ session }) => childOf(agent, session)))
      const waiting = children.every(({ id }) => asking.has(id)) ? children.length : 0
      return [...running].filter((callId) => !calls.has(callId)).length <= ofServers + waiting
    },
  }
}
