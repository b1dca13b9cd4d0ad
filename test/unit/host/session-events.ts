import type { EventDraft, EventType, SessionEvent } from '../../../extension/core/log/event.ts'
import type { AssistantMessage, ToolMessage, UserMessage, UserSource } from '../../../extension/core/log/message.ts'
import type { StreamChunk, Usage } from '../../../extension/core/model/contract.ts'
import type { Json } from '../../../extension/base/json.ts'

/** Gives drafts their numbers and times: one second from event to event, from 1000. */
export function recorded(drafts: readonly EventDraft[]): readonly SessionEvent[] {
  return drafts.map((draft, seq) => ({ ...draft, seq, time: 1000 * (seq + 1) }))
}

export const draft = <T extends EventType>(type: T, data: SessionEvent<T>['data']): EventDraft =>
  ({
    type,
    data,
    ...(['user/message', 'assistant/message', 'tool/result'].includes(type) ? { surfaceOp: 'append' } : {}),
  }) as EventDraft

export const turnStart = (turn: number) => draft('turn/start', { turn })
export const turnEnd = (turn: number, reason: SessionEvent<'turn/end'>['data']['reason'] = { kind: 'completed' }) =>
  draft('turn/end', { turn, reason })
export const stepStart = (turn: number, step: number) => draft('step/start', { turn, step })
export const stepEnd = (turn: number, step: number) => draft('step/end', { turn, step })
export const userMessage = (text: string, source: UserSource = { kind: 'user' }): UserMessage => ({
  id: `m-${text}`,
  role: 'user',
  content: [{ type: 'text', text }],
  source,
})
export const said = (text: string, source?: UserSource) => draft('user/message', userMessage(text, source))
export const chunk = (part: StreamChunk, turn = 1, step = 1) => draft('assistant/chunk', { turn, step, chunk: part })
export const usage = (inputTokens: number, outputTokens: number): Usage => ({ inputTokens, outputTokens, cacheRead: 0, cacheWrite: 0, reasoning: 0 })
export const answered = (
  content: AssistantMessage['content'],
  extra: { readonly usage?: Usage; readonly interrupted?: true; readonly turn?: number; readonly step?: number } = {},
) =>
  draft('assistant/message', {
    turn: extra.turn ?? 1,
    step: extra.step ?? 1,
    message: { id: 'a', role: 'assistant', content, source: { kind: 'model', provider: 'p', model: 'm' } },
    ...(extra.usage === undefined ? {} : { usage: extra.usage }),
    ...(extra.interrupted === undefined ? {} : { interrupted: extra.interrupted }),
  })
export const called = (callId: string, name: string, args: string) =>
  draft('tool/call', { turn: 1, step: 1, callId, name, arguments: args })
export const resulted = (
  callId: string,
  text: string,
  extra: { readonly error?: { readonly name: string; readonly code: string }; readonly meta?: Json } = {},
) =>
  draft('tool/result', {
    turn: 1,
    step: 1,
    message: {
      id: `r-${callId}`,
      role: 'tool',
      content: [{ type: 'tool-result', callId, content: [{ type: 'text', text }], isError: extra.error !== undefined }],
      source: { kind: 'tool', callId },
    } satisfies ToolMessage,
    ...extra,
  })
