import { describe, expect, it } from 'vitest'
import type { ModelRequest, StreamChunk } from '../../../../extension/core/model/contract.ts'
import { createCallsModel, EDITOR_CHAT_MODEL } from '../../../../extension/features/editor-calls/calls-model.ts'

const calls = [{ callId: 'a', name: 'read', arguments: '{"file_path":"a"}' }, { callId: 'b', name: 'glob', arguments: '{}' }]
const user = { role: 'user', id: 'u', content: [], source: { kind: 'user' } } as const
const result = { role: 'tool', id: 't', content: [{ type: 'tool-result', callId: 'a', isError: false, content: [] }], source: { kind: 'tool', callId: 'a' } } as const

/** What comes of one request while `calls` wait, and whose calls were taken. */
async function answer(request: Partial<ModelRequest>, waiting: readonly (typeof calls)[number][] = calls) {
  const taken: string[] = []
  const model = createCallsModel((sessionId) => (taken.push(sessionId), waiting))
  const chunks: StreamChunk[] = []
  const asked: ModelRequest = { tools: [], messages: [user], config: { provider: 'editor-chat', model: EDITOR_CHAT_MODEL }, sessionId: 's1', signal: new AbortController().signal, loadAttachment: () => Promise.reject(new Error('Nothing is attached.')), ...request }
  try {
    for await (const chunk of model.stream(asked)) chunks.push(chunk)
  } catch (error) {
    return { taken, failed: (error as { readonly code?: string }).code }
  }
  return { taken, chunks }
}

describe('in the place of a model, the editor’s chat', () => {
  it('is nothing to choose', async () => expect(await createCallsModel(() => []).listModels(new AbortController().signal)).toEqual([]))
  it.each([undefined, 'turn'] as const)('answers a turn (%s) with all calls that wait', async (purpose) =>
    expect(await answer(purpose === undefined ? {} : { purpose })).toEqual({
      taken: ['s1'],
      chunks: [
        ...calls.flatMap(({ callId: id, name, arguments: argumentsDelta }, index) => [{ type: 'block-start', index, block: 'tool-call' }, { type: 'tool-call-delta', index, id, name, argumentsDelta }, { type: 'block-end', index }]),
        { type: 'finish', reason: { kind: 'tool-calls' } },
      ],
    }))
  it.each(['title', 'compaction'] as const)('keeps the calls for a turn when it is asked for a %s', async (purpose) => expect(await answer({ purpose })).toEqual({ taken: [], failed: 'UNKNOWN_MODEL' }))
  it('ends the turn when results stand and nothing waits', async () =>
    expect(await answer({ messages: [user, result] }, [])).toEqual({
      taken: ['s1'],
      chunks: [{ type: 'block-start', index: 0, block: 'text' }, { type: 'text-delta', index: 0, delta: 'The editor’s chat has the result.' }, { type: 'block-end', index: 0 }, { type: 'finish', reason: { kind: 'stop' } }],
    }))
  it('does not talk with the person', async () => expect(await answer({}, [])).toEqual({ taken: ['s1'], failed: 'UNKNOWN_MODEL' }))
})
