import assert from 'node:assert/strict'
import type { EditorModel, EditorModelErrorCode, EditorModelMessage, EditorModelPart, EditorModels } from '../../extension/capabilities/editor-models.ts'
import { dot, inWorld, until, type SuiteEnv } from './suite.ts'

/** What the vendor behind the editor does next: says parts, waits for a cancel, or fails with one of the editor's errors. */
export type VendorStep = Exclude<EditorModelPart, { type: 'other' }> | { readonly type: 'hang' } | { readonly type: 'fail'; readonly code: EditorModelErrorCode; readonly message: string }

/** The editor's models with the vendor `acme` behind them, who offers `one` (text, tools) and `eyes` (also images). */
export interface EditorModelsWorld {
  readonly models: EditorModels
  play(steps: readonly VendorStep[]): void
  /** As the vendor got them. */
  requests(): readonly { readonly model: string; readonly messages: readonly EditorModelMessage[]; readonly tools: readonly string[]; readonly options: unknown }[]
  wasCancelled(): boolean
  /** The vendor offers `one` alone from now on. */
  takeEyes(): Promise<void>
  dispose(): Promise<void>
}

const text = (value: string) => ({ type: 'text', text: value }) as const

/** What holds for the editor's models, whoever provides them. */
export function editorModelsContract({ describe, it, create }: SuiteEnv<EditorModelsWorld>): void {
  const test = (name: string, body: (world: EditorModelsWorld) => Promise<void>) => it(name, () => inWorld(create, body))
  const ask = async (world: EditorModelsWorld, more: Partial<Parameters<EditorModels['ask']>[0]> = {}) => {
    const request = { modelId: 'acme/one', messages: [{ role: 'user', parts: [text('hi')] }], tools: [], options: {}, signal: new AbortController().signal, ...more } as const
    const parts: EditorModelPart[] = []
    for await (const part of world.models.ask(request)) parts.push(part)
    return parts
  }
  const acme = (models: readonly EditorModel[]) => models.filter(({ vendor }) => vendor === 'acme')

  describe('the list', () => {
    test('names each model with what it can do', async ({ models }) => {
      assert.deepEqual(acme(await models.list()), [
        { id: 'acme/one', name: 'Acme One', vendor: 'acme', maxInputTokens: 64_000, canReadImages: false, canCallTools: true },
        { id: 'acme/eyes', name: 'Acme Eyes', vendor: 'acme', maxInputTokens: 32_000, canReadImages: true, canCallTools: true },
      ])
    })
    test('follows the vendor and says so', async ({ models, takeEyes }) => {
      await models.list()
      const changed = Promise.withResolvers<void>()
      const undo = models.onDidChange(changed.resolve)
      await takeEyes()
      await changed.promise
      undo()
      assert.deepEqual(acme(await models.list()).map(({ id }) => id), ['acme/one'])
    })
  })

  describe('an answer', () => {
    test('comes part by part: text as it is streamed, calls whole', async (world) => {
      const call = { type: 'call', callId: 'c1', name: 'look', input: { path: 'a', deep: [1, null] } } as const
      world.play([text('Let me '), text('look.'), call])
      assert.deepEqual(await ask(world), [text('Let me '), text('look.'), call])
    })
    test('may be empty', async (world) => {
      world.play([])
      assert.deepEqual(await ask(world), [])
    })
    test('ends with a cancel, which the vendor hears', async (world) => {
      world.play([text('half'), { type: 'hang' }])
      const cancel = new AbortController()
      const iterator = world.models.ask({ modelId: 'acme/one', messages: [{ role: 'user', parts: [text('hi')] }], tools: [], options: {}, signal: cancel.signal })[Symbol.asyncIterator]()
      assert.deepEqual((await iterator.next()).value, text('half'))
      const rest = iterator.next()
      cancel.abort()
      // Whether it fails or just ends is the editor's affair.
      await rest.catch(() => undefined)
      await until('the vendor heard of the cancel', () => world.wasCancelled())
    })
    const rows: readonly [EditorModelErrorCode, string][] = [['NO_PERMISSION', 'not yours'], ['BLOCKED', 'used up'], ['NOT_FOUND', 'gone'], ['UNKNOWN', 'boom']]
    for (const [code, message] of rows) {
      test(`that fails keeps its kind and words: ${code}`, async (world) => {
        world.play([{ type: 'fail', code, message }])
        await assert.rejects(ask(world), (error: Error & { code?: string }) => error.code === code && error.message.includes(message))
      })
    }
    test('of a model that is not there is refused', async (world) => {
      await assert.rejects(ask(world, { modelId: 'acme/none' }), { code: 'NOT_FOUND' })
    })
  })

  describe('a request', () => {
    test('reaches the vendor with roles, calls, results, images, tools and options', async (world) => {
      const messages: readonly EditorModelMessage[] = [
        { role: 'user', parts: [text('See'), { type: 'image', bytes: dot, mediaType: 'image/png' }] },
        { role: 'assistant', parts: [text('ok'), { type: 'call', callId: 'c1', name: 'look', input: { path: 'a' } }] },
        { role: 'user', parts: [{ type: 'result', callId: 'c1', content: [text('A'), { type: 'image', bytes: dot, mediaType: 'image/png' }] }] },
      ]
      world.play([text('done')])
      await ask(world, { modelId: 'acme/eyes', messages, tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }], options: { temperature: 0.5 } })
      assert.deepEqual(world.requests().at(-1), { model: 'eyes', messages, tools: ['look'], options: { temperature: 0.5 } })
    })
  })
}
