import { describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import type { UserMessage } from '../../../../extension/core/log/message.ts'
import { estimateMessageTokens } from '../../../../extension/core/model/token-estimate.ts'
import type { ContextBreakdown } from '../../../../extension/core/projections/context-breakdown.ts'
import type { ContextPressure } from '../../../../extension/core/projections/context-pressure.ts'
import type { Session } from '../../../../extension/core/session/session.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'

const usage = { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const message = (text: string, source: UserMessage['source'] = { kind: 'user' }): EventDraft<'user/message'> => ({
  type: 'user/message',
  surfaceOp: 'append',
  data: { id: text.slice(0, 8), role: 'user', content: [{ type: 'text', text }], source },
})
const place = { turn: 1, step: 1 }
const answer = (counted?: number): EventDraft<'assistant/message'> => ({
  type: 'assistant/message',
  surfaceOp: 'append',
  data: {
    ...place,
    message: {
      id: 'a',
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'r'.repeat(40) },
        { type: 'text', text: 't'.repeat(80) },
        { type: 'tool-call', id: 'constructor', name: 'look', arguments: '{}' },
      ],
      source: { kind: 'model', provider: 'p', model: 'm' },
    },
    ...(counted !== undefined && { usage: { ...usage, inputTokens: counted } }),
  },
})
const result = (text: string): EventDraft<'tool/result'> => ({
  type: 'tool/result',
  surfaceOp: 'append',
  data: {
    ...place,
    message: {
      id: 'r',
      role: 'tool',
      content: [{ type: 'tool-result', callId: 'constructor', isError: false, content: [{ type: 'text', text }] }],
      source: { kind: 'tool', callId: 'constructor' },
    },
  },
})
const header: EventDraft<'request/header'> = {
  type: 'request/header',
  data: { header: { config: { provider: 'p', model: 'm' }, system: 's'.repeat(400), tools: [{ name: 'look', description: 'Looks.', parameters: {} }] }, reason: 'initial' },
}
const talk = (counted?: number): readonly EventDraft[] => [
  { type: 'turn/start', data: { turn: 1 } },
  { type: 'step/start', data: place },
  message('x'.repeat(40), { kind: 'plugin', plugin: 'system-prompt', form: 'snapshot' }),
  message('p'.repeat(400)),
  message('i'.repeat(40), { kind: 'plugin', plugin: 'instructions', form: 'instructions' }),
  message('n'.repeat(40), { kind: 'plugin', plugin: 'jobs', form: 'notice' }),
  header,
  { type: 'request/context', data: { provider: 'p', model: 'm', contextWindow: 10_000 } },
  answer(counted),
  { type: 'tool/call', data: { ...place, callId: 'constructor', name: 'look', arguments: '{}' } },
  result('o'.repeat(4_000)),
  { type: 'step/end', data: place },
]

async function sessionOf(drafts: readonly EventDraft[]): Promise<Session> {
  const { sessions } = await createSessionRig({ events: createMemoryEventStore() })
  const session = await sessions.create({ cwd: '/w', id: 'a' })
  for (const draft of drafts) session.append(draft)
  return session
}
const pressureOf = (session: Session) => session.projections().values['contextPressure'] as ContextPressure
const breakdownOf = (session: Session) => session.projections().values['contextBreakdown'] as ContextBreakdown
const estimateOf = (session: Session) => session.messages().reduce((sum, shown) => sum + estimateMessageTokens(shown), 0)
/** The estimate of system prompt and tools. */
const fixed = 108 + 4 + Math.ceil(JSON.stringify(header.data.header.tools![0]).length / 4)

describe('contextPressure', () => {
  it('is nothing before the first event', async () =>
    expect(pressureOf(await sessionOf([]))).toEqual({ pressureTokens: null, projectedTokens: 0, contextWindow: null }))

  it('is the estimate while the provider counted nothing', async () => {
    for (const counted of [undefined, 0]) {
      const session = await sessionOf(talk(counted))
      expect(pressureOf(session)).toEqual({ pressureTokens: null, projectedTokens: fixed + estimateOf(session), contextWindow: 10_000 })
    }
  })

  it('is what the provider counted and the estimate of what came after', async () =>
    expect(pressureOf(await sessionOf(talk(5_000)))).toEqual({ pressureTokens: 5_000, projectedTokens: 5_000 + 4 + 4 + 4 + 1_000, contextWindow: 10_000 }))

  it('falls by as much as a replacement takes away, in the tokens of the provider', async () => {
    const session = await sessionOf(talk(5_000))
    const before = pressureOf(session).projectedTokens
    const estimate = fixed + estimateOf(session)
    const { nodes } = session.surface()
    session.append({
      ...message('short', { kind: 'plugin', plugin: 'compaction', form: 'recall' }),
      surfaceOp: { op: 'replace', start: 1, end: nodes.length - 1 },
      sourceEventSeqs: nodes.slice(1).map(({ seq }) => seq),
    })
    const after = fixed + estimateOf(session)
    expect(pressureOf(session).projectedTokens).toBe(Math.round((before * after) / estimate))
    session.append(message('q'.repeat(40)))
    expect(pressureOf(session).projectedTokens).toBe(Math.round((before * after) / estimate + 18))
  })

  it('keeps its value for events the model does not see', async () => {
    const session = await sessionOf(talk(5_000))
    const before = pressureOf(session)
    session.append({ type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } })
    expect(pressureOf(session)).toBe(before)
  })
})

describe('contextBreakdown', () => {
  it('names every part of the request, results by tool and what is free', async () => {
    const session = await sessionOf(talk())
    const usedTokens = fixed + estimateOf(session)
    expect(breakdownOf(session)).toEqual({
      parts: {
        system: 108, tools: fixed - 108, runtimeContext: 18, prompts: 108, instructions: 18, notices: 18,
        reasoning: 14, assistantText: 28, toolCalls: 6, toolResults: 1_012, summary: 0,
      },
      toolResultsByTool: { look: 1_012 },
      usedTokens,
      free: 10_000 - usedTokens,
      contextWindow: 10_000,
    })
  })

  it('is scaled to what the provider counted', async () => {
    const plain = breakdownOf(await sessionOf(talk()))
    const counted = breakdownOf(await sessionOf(talk(5_000)))
    expect(counted.usedTokens).toBe(6_012)
    expect(counted.parts.toolResults).toBe(Math.round((plain.parts.toolResults * 6_012) / plain.usedTokens))
    expect(Object.values(counted.parts).reduce((sum, part) => sum + part, 0)).toBeGreaterThan(6_000)
  })

  it('keeps the tool of a result that is rewritten, and moves replaced messages into the summary', async () => {
    const session = await sessionOf(talk())
    const { nodes } = session.surface()
    const last = nodes.length - 1
    session.append({ ...result('o'.repeat(400)), surfaceOp: { op: 'replace', start: last, end: last }, sourceEventSeqs: [nodes[last]!.seq] })
    expect(breakdownOf(session).toolResultsByTool).toEqual({ look: 112 })
    session.append({
      ...message('s'.repeat(40), { kind: 'plugin', plugin: 'compaction', form: 'recall' }),
      surfaceOp: { op: 'replace', start: 0, end: last },
      sourceEventSeqs: session.surface().nodes.map(({ seq }) => seq),
    })
    const { parts, toolResultsByTool } = breakdownOf(session)
    expect(toolResultsByTool).toEqual({})
    expect(parts).toEqual({
      system: 108, tools: fixed - 108, summary: 18,
      runtimeContext: 0, prompts: 0, instructions: 0, notices: 0, reasoning: 0, assistantText: 0, toolCalls: 0, toolResults: 0,
    })
  })
})
