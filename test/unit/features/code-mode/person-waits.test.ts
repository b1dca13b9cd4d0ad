import { expect, it } from 'vitest'
import type { SessionEvent } from '../../../../extension/core/log/event.ts'
import type { Session } from '../../../../extension/core/session/session.ts'
import type { BodyExecution } from '../../../../extension/core/tools/definition.ts'
import { createPersonWaits } from '../../../../extension/features/code-mode/person-waits.ts'

/** An agent `own` that runs a program as call `c`, with agents below it: `a` and `b` that the program started, `below` that `a` did, `other` that another call did. */
const agents = (() => {
  const agent = (id: string, owner?: object) => ({ id, session: { id }, owner })
  const own = agent('own')
  const a = agent('a', own)
  return { own, a, b: agent('b', own), below: agent('below', a), other: agent('other', own) }
})()
const child = (id: string, more: object = {}) => ({ id, parentId: 'own', callId: 'c', ...more })

type Step = readonly [agent: keyof typeof agents, type: SessionEvent['type'], data: { readonly id: string; readonly callId?: string }]
const asks = (agent: keyof typeof agents, callId?: string, id = 'x'): Step => [agent, 'approval/asked', { id, ...(callId !== undefined && { callId }) }]

/** With what tells them of an event. */
function waitsWith(children: readonly object[] = []) {
  let listener: (session: Session, event: SessionEvent) => void = () => undefined
  const services: Readonly<Record<string, unknown>> = { agents: { live: (id: keyof typeof agents) => agents[id] }, subagents: { known: () => children } }
  const ctx = {
    on(_point: string, given: typeof listener) {
      listener = given
      return () => undefined
    },
    get: (name: string) => services[name],
  }
  const waits = createPersonWaits(ctx as unknown as Parameters<typeof createPersonWaits>[0])
  const tell = ([agent, type, data]: Step) => listener(agents[agent].session as unknown as Session, { type, data } as unknown as SessionEvent)
  const holds = (running: readonly string[]) => waits.holds({ agent: agents.own, rootCallId: 'c' } as unknown as BodyExecution, new Set(running))
  return { waits, tell, holds }
}

function held({ running, children, steps }: { readonly running: readonly string[]; readonly children?: readonly object[]; readonly steps: readonly Step[] }): boolean {
  const { waits, tell, holds } = waitsWith(children)
  waits.follow(() => undefined)
  for (const step of steps) tell(step)
  return holds(running)
}

it.each<[string, Parameters<typeof held>[0], boolean]>([
  ['nothing was asked', { running: ['1'], steps: [] }, false],
  ['its call was asked about', { running: ['1'], steps: [asks('own', '1')] }, true],
  ['it was answered', { running: ['1'], steps: [asks('own', '1'), ['own', 'approval/decided', { id: 'x' }]] }, false],
  ['another call works beside it', { running: ['1', '2'], steps: [asks('own', '2')] }, false],
  ['all of its calls were asked about', { running: ['1', '2'], steps: [asks('own', '1', 'x'), asks('own', '2', 'y')] }, true],
  ['a call that is none of its own was asked about', { running: ['1'], steps: [asks('own', 'elsewhere')] }, false],
  ['nothing of it runs', { running: [], steps: [asks('own', '1')] }, false],
  ['a question of its call is open', { running: ['1'], steps: [['own', 'question/asked', { id: 'q', callId: '1' }]] }, true],
  ['a server asks during its call', { running: ['1'], steps: [['own', 'question/asked', { id: 'q' }]] }, true],
  ['the server has its answer', { running: ['1'], steps: [['own', 'question/asked', { id: 'q' }], ['own', 'question/settled', { id: 'q' }]] }, false],
  ['the agent that its call started asks', { running: ['1'], children: [child('a')], steps: [asks('a', 'k')] }, true],
  ['an agent below that one asks', { running: ['1'], children: [child('a')], steps: [asks('below', 'k')] }, true],
  ['one of two agents asks, the other works', { running: ['1', '2'], children: [child('a'), child('b')], steps: [asks('a', 'k')] }, false],
  ['one of two agents asks, the other has ended', { running: ['1'], children: [child('a'), child('b', { endedAt: 1 })], steps: [asks('a', 'k')] }, true],
  ['an agent asks that works in the background', { running: ['1'], children: [child('a', { jobId: 'j' })], steps: [asks('a', 'k')] }, false],
  ['an agent of another call asks', { running: ['1'], children: [child('other', { callId: 'd' })], steps: [asks('other', 'k')] }, false],
])('a program waits for the person alone: where %s', (_, given, isHeld) => expect(held(given)).toBe(isHeld))

it('notes nothing while nobody follows, and forgets when the last one leaves', () => {
  const { waits, tell, holds } = waitsWith()
  tell(asks('own', '1'))
  const before = holds(['1'])
  const leave = waits.follow(() => undefined)
  tell(asks('own', '1'))
  const meanwhile = holds(['1'])
  leave()
  expect([before, meanwhile, holds(['1'])]).toEqual([false, true, false])
})
