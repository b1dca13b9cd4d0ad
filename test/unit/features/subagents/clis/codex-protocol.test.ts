import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../../extension/base/json.ts'
import { CodexProtocol, codexMoves, codexRefusals } from '../../../../../extension/features/subagents/clis/codex-protocol.ts'

const begun = () => {
  const protocol = new CodexProtocol('Do it.', { approvalPolicy: 'never', sandbox: 'read-only' })
  protocol.begin()
  return protocol
}
const words = {
  initialized: { id: 1, result: {} },
  'thread-started': { id: 2, result: { thread: { id: 't' } } },
  'turn-accepted': { id: 3, result: { turn: { id: 'u' } } },
  'turn-ended': { method: 'turn/completed', params: { threadId: 't', turn: { id: 'u', status: 'completed' } } },
} satisfies Readonly<Record<string, JsonObject>>
type Word = keyof typeof words
type Step = keyof typeof codexMoves
/** How each step is reached. */
const ways: Readonly<Record<Step, readonly Word[]>> = {
  initialize: [],
  'thread-start': ['initialized'],
  'turn-start': ['initialized', 'thread-started'],
  turn: ['initialized', 'thread-started', 'turn-accepted'],
  ended: ['initialized', 'thread-started', 'turn-accepted', 'turn-ended'],
}
const at = (step: Step) => {
  const protocol = begun()
  for (const word of ways[step]) protocol.receive(words[word])
  return protocol
}
const rows = Object.keys(ways).flatMap((step) => Object.keys(words).map((word) => [step as Step, word as Word] as const))

describe('a conversation with codex', () => {
  it.each(rows)('at %s hears %s', (step, word) => {
    const protocol = at(step)
    const next = codexMoves[step][word]
    const { end } = protocol.receive(words[word])
    if (step === 'ended') expect([end, protocol.stage]).toEqual([undefined, 'teardown'])
    // The end of a thread that was not begun is somebody else's.
    else if (next === undefined && word === 'turn-ended' && ways[step].length < 2) expect([end, protocol.stage]).toEqual([undefined, step])
    else if (next === undefined) expect(end).toMatchObject({ stopReason: 'error', stage: step })
    else expect([protocol.stage, end === undefined]).toEqual([next === 'ended' ? 'teardown' : next, next !== 'ended'])
  })

  it.each(Object.entries(codexRefusals))('refuses %s and goes on', (method, result) => {
    expect(at('turn').receive({ id: 9, method, params: {} })).toEqual({ send: [{ id: 9, result }] })
  })

  it.each(['constructor', 'item/tool/call', 'account/chatgptAuthTokens/refresh'])('ends with what it cannot answer: %s', (method) => {
    expect(at('turn').receive({ id: 9, method })).toMatchObject({ send: [{ id: 9, error: { code: -32_601 } }], end: { stopReason: 'error', stage: 'turn' } })
  })

  it('takes the final answer before later words without a phase, and an empty text for none', () => {
    const protocol = at('turn')
    const say = (text: string, phase: string | null) => protocol.receive({ method: 'item/completed', params: { threadId: 't', item: { type: 'agentMessage', text, phase } } })
    say('answer', 'final_answer')
    say('after', null)
    expect(protocol.receive(words['turn-ended']).end).toEqual({ stopReason: 'completed', output: 'answer', stage: 'turn' })
  })

  it('does not hear what other threads say', () => {
    const protocol = at('turn')
    protocol.receive({ method: 'item/completed', params: { threadId: 'other', item: { type: 'agentMessage', text: 'not mine', phase: 'final_answer' } } })
    protocol.receive({ method: 'turn/completed', params: { threadId: 'other', turn: { id: 'u', status: 'completed' } } })
    expect([protocol.partial, protocol.stage]).toEqual(['', 'turn'])
  })

  it('a failure that is tried again is none', () => {
    const protocol = at('turn')
    const error = { message: 'Busy.', codexErrorInfo: 'contextWindowExceeded' }
    protocol.receive({ method: 'error', params: { threadId: 't', willRetry: true, error } })
    expect(protocol.receive({ method: 'turn/completed', params: { threadId: 't', turn: { id: 'u', status: 'failed' } } }).end).toEqual({ stopReason: 'error', output: '', stage: 'turn', problem: 'Its turn failed.' })
  })

  it.each<JsonObject>([{}, { id: null }, { id: 'x', result: 1 }, { method: 5 }, { method: 'item/completed' }, { method: 'item/completed', params: [1] }, { method: 'item/agentMessage/delta', params: { threadId: 't', delta: 5 } }])('passes over what says nothing: %j', (message) => {
    expect(at('turn').receive(message)).toEqual({})
  })
})
