import type { EventDraft } from '../../extension/core/log/event.ts'
import type { StreamChunk } from '../../extension/core/model/contract.ts'

/** Short makers of the events of a turn, for logs written by hand. */
export const turnStart = (turn: number): EventDraft<'turn/start'> => ({ type: 'turn/start', data: { turn } })
export const turnEnd = (turn: number): EventDraft<'turn/end'> => ({ type: 'turn/end', data: { turn, reason: { kind: 'completed' } } })
export const stepStart = (turn: number, step: number): EventDraft<'step/start'> => ({ type: 'step/start', data: { turn, step } })
export const stepEnd = (turn: number, step: number): EventDraft<'step/end'> => ({ type: 'step/end', data: { turn, step } })

export const prompt = (text: string, id = `user-${text}`): EventDraft<'user/message'> => ({
  type: 'user/message',
  surfaceOp: 'append',
  data: { id, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } },
})

export const chunk = (turn: number, step: number, part: StreamChunk): EventDraft<'assistant/chunk'> => ({
  type: 'assistant/chunk',
  data: { turn, step, chunk: part },
})

export const textDelta = (turn: number, step: number, delta: string, index = 0) => chunk(turn, step, { type: 'text-delta', index, delta })

/** An answer of `text` (none when empty) that calls the tool `look` under each id. */
export const answer = (turn: number, step: number, text: string, callIds: readonly string[] = []): EventDraft<'assistant/message'> => ({
  type: 'assistant/message',
  surfaceOp: 'append',
  data: {
    turn,
    step,
    message: {
      id: `answer-${turn}-${step}`,
      role: 'assistant',
      content: [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...callIds.map((id) => ({ type: 'tool-call' as const, id, name: 'look', arguments: '{}' })),
      ],
      source: { kind: 'model', provider: 'p', model: 'm' },
    },
    usage: { inputTokens: 10, outputTokens: 5, cacheRead: 3, cacheWrite: 2, reasoning: 1 },
  },
})

export const call = (turn: number, step: number, callId: string): EventDraft<'tool/call'> => ({
  type: 'tool/call',
  data: { turn, step, callId, name: 'look', arguments: '{}' },
})

export const result = (turn: number, step: number, callId: string, text = 'seen'): EventDraft<'tool/result'> => ({
  type: 'tool/result',
  surfaceOp: 'append',
  data: {
    turn,
    step,
    message: {
      id: `result-${callId}`,
      role: 'tool',
      content: [{ type: 'tool-result', callId, content: [{ type: 'text', text }], isError: false }],
      source: { kind: 'tool', callId },
    },
  },
})

/** A whole turn: a prompt, a step that calls `look` twice after streaming, a last step with the answer. */
export const wholeTurn = (turn: number): readonly EventDraft[] => [
  turnStart(turn),
  stepStart(turn, 1),
  prompt(`question ${turn}`),
  { type: 'request/header', data: { reason: turn === 1 ? 'initial' : 'resume', header: { config: { provider: 'p', model: 'm' } } } },
  chunk(turn, 1, { type: 'block-start', index: 0, block: 'text' }),
  ...['I ', 'will ', 'look', '.'].map((delta) => textDelta(turn, 1, delta)),
  chunk(turn, 1, { type: 'block-end', index: 0 }),
  chunk(turn, 1, { type: 'tool-call-delta', index: 1, id: `c${turn}a`, name: 'look', argumentsDelta: '' }),
  ...['{', '"a":', '1', '}'].map((argumentsDelta) => chunk(turn, 1, { type: 'tool-call-delta', index: 1, argumentsDelta })),
  answer(turn, 1, 'I will look.', [`c${turn}a`, `c${turn}b`]),
  call(turn, 1, `c${turn}a`),
  call(turn, 1, `c${turn}b`),
  result(turn, 1, `c${turn}a`),
  result(turn, 1, `c${turn}b`),
  stepEnd(turn, 1),
  stepStart(turn, 2),
  ...['a', 'b', 'c'].map((delta) => chunk(turn, 2, { type: 'reasoning-delta', index: 0, delta })),
  answer(turn, 2, `answer ${turn}`),
  stepEnd(turn, 2),
  turnEnd(turn),
]
