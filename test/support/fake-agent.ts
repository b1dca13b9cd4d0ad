import type { EventDraft, SessionEvent, SessionHeader } from '../../extension/core/log/event.ts'
import { createEventTypes } from '../../extension/core/log/event-types.ts'
import { Invariants } from '../../extension/core/log/invariants.ts'
import type { UserMessage } from '../../extension/core/log/message.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { Session } from '../../extension/core/session/session.ts'

export interface FakeAgent extends Agent {
  /** What was handed to the agent, with the way it came. */
  readonly received: { readonly verb: 'followup' | 'steer' | 'inject' | 'send'; readonly message: UserMessage }[]
  status: 'idle' | 'running'
  isDisposed: boolean
  /** Everything appended to its log, bare. */
  readonly log: EventDraft[]
}

/** An agent with an in-memory log and no loop, for what lives around one. `events` are there already, as after a resume. */
export function createFakeAgent(options: { readonly id?: string; readonly cwd?: string; readonly events?: readonly EventDraft[]; readonly owner?: Agent } = {}): FakeAgent {
  const id = options.id ?? 'session-1'
  const log: EventDraft[] = [...(options.events ?? [])]
  const header: SessionHeader = { version: 0, id, createdAt: 0, cwd: options.cwd ?? '/project' }
  const committed = (draft: EventDraft, seq: number) => ({ ...draft, seq, time: seq }) as SessionEvent
  const session: Session = {
    id,
    header,
    access: 'write',
    get length() {
      return log.length
    },
    append: ((draft: EventDraft) => {
      log.push(draft)
      return committed(draft, log.length - 1)
    }) as Session['append'],
    flush: async () => {},
    events: (from = 0, to = log.length) => log.slice(from, to).map((draft, index) => committed(draft, from + index)),
    milestones: () => session.events().filter(({ type }) => type !== 'assistant/chunk'),
    messages: () => [],
    openTurn: () => {
      const rules = new Invariants(createEventTypes())
      for (const event of session.events()) rules.advance(event)
      return rules.openTurn
    },
    surface: () => ({ nodes: [], generation: 0 }),
    follow: () => () => {},
    projections: () => ({ asOfSeq: log.length - 1, values: {} }),
    close: async () => {},
  }
  const received: FakeAgent['received'] = []
  const receive = (verb: FakeAgent['received'][number]['verb']) => (message: UserMessage) => void received.push({ verb, message })
  return {
    id,
    session,
    scope: { label: id, parent: null },
    status: 'running',
    inbox: { nextTurn: [], nextStep: [] },
    isDisposed: false,
    ...(options.owner ? { owner: options.owner } : {}),
    received,
    log,
    send: receive('send'),
    followup: receive('followup'),
    steer: receive('steer'),
    inject: receive('inject'),
    cancel: () => {},
    continueTurn: () => {},
    queue: { edit: () => false, remove: () => false, steerNow: () => false },
    whenIdle: async () => {},
    runMaintenance: (task) => task(new AbortController().signal),
    untimed: (work) => work(),
    dispose: async () => {},
  }
}
