import { describe, expect, it } from 'vitest'
import { EditorModelError, type EditorModel } from '../../../../extension/capabilities/editor-models.ts'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { adapterPlugin } from '../../../../extension/core/model/adapter-plugin.ts'
import type { Message, ModelRequest, StreamChunk } from '../../../../extension/core/model/contract.ts'
import { normaliseStream } from '../../../../extension/core/model/normalise-stream.ts'
import { modelsPlugin } from '../../../../extension/core/model/registry.ts'
import { createEditorAdapter } from '../../../../extension/models/editor/adapter.ts'
import { createFakeEditorModels, fakeModel, type FakeAnswer } from '../../../support/fake-editor-models.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { assistant, assembled, prompt, toolResult } from '../../../support/adapter-rig.ts'

const setUp = (models?: readonly EditorModel[]) => {
  const editor = createFakeEditorModels(models)
  const clock = createManualClock()
  const adapter = createEditorAdapter({ models: editor, clock, idleTimeoutMs: () => 5_000 })
  const ask = async (answer: FakeAnswer, more: Partial<ModelRequest> = {}) => {
    editor.play(answer)
    const request: ModelRequest = {
      tools: [],
      messages: [prompt('hi')],
      config: { provider: 'vscode-lm', model: 'acme/one' },
      signal: new AbortController().signal,
      loadAttachment: (id) => Promise.resolve(new TextEncoder().encode(id)),
      ...more,
    }
    const chunks: StreamChunk[] = []
    for await (const chunk of normaliseStream(() => adapter.stream(request), request.signal)) chunks.push(chunk)
    return chunks
  }
  return { editor, clock, adapter, ask }
}
const text = (value: string) => ({ type: 'text', text: value }) as const
const call = (callId: string, input: unknown) => ({ type: 'call', callId, name: 'look', input }) as const

describe('an answer of a model of the editor', () => {
  it('is text in one block, each call in one of its own, and an estimate of what it took', async () => {
    const { ask } = setUp()
    const chunks = await ask([text('Let me '), text('look.'), { type: 'other', kind: 'thinking' }, call('a', { path: 'x' }), call('', {}), text('So.')])
    expect(assembled(chunks)).toEqual({
      blocks: [
        { block: 'text', text: 'Let me look.', isClosed: true },
        { block: 'tool-call', text: '{"path":"x"}', id: 'a', name: 'look', isClosed: true },
        { block: 'tool-call', text: '{}', name: 'look', isClosed: true },
        { block: 'text', text: 'So.', isClosed: true },
      ],
      end: { kind: 'tool-calls' },
      usage: { inputTokens: 9, outputTokens: 30, cacheRead: 0, cacheWrite: 0, reasoning: 0, isEstimate: true },
    })
  })

  const rows: readonly [name: string, answer: FakeAnswer, code: string, message: RegExp][] = [
    ['that the person does not allow', [{ type: 'throw', error: new EditorModelError('NO_PERMISSION', 'no') }], 'AUTH', /Manage Language Model Access/],
    ['beyond the quota', [{ type: 'throw', error: new EditorModelError('BLOCKED', 'used up') }], 'QUOTA', /It said: used up/],
    ['that went away', [{ type: 'throw', error: new EditorModelError('NOT_FOUND', '') }], 'UNKNOWN_MODEL', /any more/],
    ['too often', [{ type: 'throw', error: new EditorModelError('UNKNOWN', 'HTTP 429') }], 'RATE_LIMIT', /Wait/],
    ['that is too long', [{ type: 'throw', error: new EditorModelError('UNKNOWN', 'exceeds the context window') }], 'CONTEXT_WINDOW_EXCEEDED', /larger window/],
    ['that fails', [text('half'), { type: 'throw', error: new EditorModelError('UNKNOWN', 'boom') }], 'SERVER', /It said: boom/],
    ['without content', [], 'EMPTY_RESPONSE', /without saying/],
    ['that is a defect', [{ type: 'throw', error: new Error('odd') }], 'UNKNOWN', /odd/],
  ]
  it.each(rows)('%s fails with its code and the next step', async (_name, answer, code, message) => {
    expect((await setUp().ask(answer)).at(-1)).toEqual({ type: 'finish', reason: { kind: 'error', failure: { code, message: expect.stringMatching(message) } } })
  })

  it('that is silent too long ends, also when the vendor does not listen', async () => {
    const { ask, clock } = setUp()
    const chunks = ask([text('half'), { type: 'hang' }])
    await new Promise(setImmediate)
    clock.advance(5_000)
    expect((await chunks).at(-1)).toMatchObject({ reason: { failure: { code: 'TIMEOUT', message: expect.stringContaining('said nothing for 5 s') } } })
    expect(clock.waiting).toBe(0)
  })

  it('ends when it is cancelled, and the editor is told', async () => {
    const { ask, editor } = setUp()
    const cancel = new AbortController()
    const chunks = ask([text('half'), { type: 'hang' }], { signal: cancel.signal })
    await new Promise(setImmediate)
    cancel.abort()
    expect((await chunks).at(-1)).toMatchObject({ reason: { kind: 'aborted' } })
    await new Promise(setImmediate)
    expect(editor.requests[0]?.signal.aborted).toBe(true)
  })
})

describe('a request to a model of the editor', () => {
  const image: Message = {
    id: 'i', role: 'user', source: { kind: 'user' },
    content: [{ type: 'image', attachment: { attachmentId: 'sha256:1', mediaType: 'image/png', bytes: 8 } }, { type: 'text', text: 'this' }],
  }
  it('holds the talk in the editor’s words: no system role, no reasoning, results of one answer together', async () => {
    const { ask, editor } = setUp([fakeModel('acme/one', { canReadImages: true })])
    const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }]
    await ask([text('ok')], {
      system: 'Be brief.',
      tools,
      messages: [
        image,
        assistant([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'Two.' }, { type: 'tool-call', id: 'a', name: 'look', arguments: "{'p': 1,}" }, { type: 'tool-call', id: 'b', name: 'look', arguments: 'p=' }]),
        toolResult('a', 'A'),
        toolResult('b', ''),
        prompt('go on'),
      ],
      config: { provider: 'vscode-lm', model: 'acme/one', temperature: 0.5, maxTokens: 9, stop: ['x'] },
    })
    expect(editor.requests[0]).toMatchObject({
      modelId: 'acme/one',
      tools,
      options: { temperature: 0.5, max_tokens: 9, stop: ['x'] },
      messages: [
        { role: 'user', parts: [text('Be brief.')] },
        { role: 'user', parts: [{ type: 'image', mediaType: 'image/png', bytes: new TextEncoder().encode('sha256:1') }, text('this')] },
        {
          role: 'assistant',
          parts: [text('Two.'), { type: 'call', callId: 'a', name: 'look', input: { p: 1 } }, { type: 'call', callId: 'b', name: 'look', input: { not_an_object: 'p=' } }],
        },
        { role: 'user', parts: [{ type: 'result', callId: 'a', content: [text('A')] }, { type: 'result', callId: 'b', content: [text('The tool gave no output.')] }] },
        { role: 'user', parts: [text('go on')] },
      ],
    })
  })

  const refused: readonly [name: string, more: Partial<ModelRequest>, code: string][] = [
    ['with an effort, which the editor does not know', { config: { provider: 'vscode-lm', model: 'acme/one', reasoningEffort: 'high' } }, 'UNSUPPORTED_REASONING_EFFORT'],
    ['with an image for a model that reads text only', { messages: [image] }, 'UNSUPPORTED_CONTENT'],
    ['for a model that is not offered', { config: { provider: 'vscode-lm', model: 'acme/none' } }, 'UNKNOWN_MODEL'],
  ]
  it.each(refused)('%s is refused', async (_name, more, code) => {
    const { ask, editor } = setUp()
    expect((await ask([], more)).at(-1)).toMatchObject({ reason: { kind: 'error', failure: { code } } })
    expect(editor.requests).toEqual([])
  })
})

describe('the models of the editor', () => {
  it('are listed with what the editor says of them, but not those that call no tools', async () => {
    const { adapter } = setUp([fakeModel('acme/one', { canReadImages: true }), fakeModel('acme/mute', { canCallTools: false }), fakeModel('beta/x/y', { canCallTools: null, maxInputTokens: 4_000 })])
    expect(await adapter.listModels(new AbortController().signal)).toEqual([
      { id: 'acme/one', name: 'one (acme)', contextWindow: 64_000, maxOutputTokens: 32_768, input: ['text', 'image'], reasoningEfforts: [] },
      { id: 'beta/x/y', name: 'y (beta)', contextWindow: 4_000, maxOutputTokens: 4_000, input: ['text'], reasoningEfforts: [] },
    ])
    await expect(adapter.resolveModel('acme/none')).rejects.toMatchObject({ code: 'UNKNOWN_MODEL' })
  })
  it('can be checked', async () => {
    const { adapter, editor } = setUp()
    const { signal } = new AbortController()
    expect(await adapter.check(signal, 'acme/one')).toMatchObject({ isOk: true })
    expect(await adapter.check(signal, 'acme/two')).toMatchObject({ isOk: false, code: 'UNKNOWN_MODEL' })
    editor.offer([])
    expect(await adapter.check(signal)).toMatchObject({ isOk: false, message: expect.stringContaining('Install an extension') })
  })
  it('are told anew when the editor’s list changes, and go with their plugin', async () => {
    const kernel = createKernel({ logger: createRecordingLogger() })
    await kernel.root.plugin(modelsPlugin({ dispatch: kernel.dispatch })).ready
    const { editor, adapter } = setUp()
    const fiber = kernel.root.plugin(adapterPlugin({ adapter, onDidChange: editor.onDidChange }))
    await fiber.ready
    let changes = 0
    kernel.root.on('llm/adapters-updated', () => void changes++)
    editor.offer([])
    expect([changes, kernel.root.models.list().length]).toEqual([2, 1])
    await fiber.dispose()
    expect(kernel.root.models.list()).toEqual([])
  })
})
