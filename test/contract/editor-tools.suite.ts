import assert from 'node:assert/strict'
import type { JsonObject } from '../../extension/base/json.ts'
import type { EditorToolErrorCode, EditorToolPart, EditorTools } from '../../extension/capabilities/editor-tools.ts'
import { dot, inWorld, until, type SuiteEnv } from './suite.ts'

/** What the extension behind the tool does next. */
export type ToolStep = readonly EditorToolPart[] | 'hang' | 'refused' | Error

/** The editor's tools with `acme_echo` among them, which takes a `text`. */
export interface EditorToolsWorld {
  readonly tools: EditorTools
  answer(step: ToolStep): void
  /** Inputs as the extension got them. */
  calls(): readonly JsonObject[]
  wasCancelled(): boolean
  dispose(): Promise<void>
}

/** What holds for the editor's tools, whoever provides them. */
export function editorToolsContract({ describe, it, create }: SuiteEnv<EditorToolsWorld>): void {
  const test = (name: string, body: (world: EditorToolsWorld) => Promise<void>) => it(name, () => inWorld(create, body))
  const call = (world: EditorToolsWorld, more: Partial<Parameters<EditorTools['invoke']>[0]> = {}) =>
    world.tools.invoke({ name: 'acme_echo', input: { text: 'hi' }, signal: new AbortController().signal, ...more })

  describe('the list', () => {
    test('names each tool with its words and its schema', async ({ tools }) => {
      const echo = tools.list().find(({ name }) => name === 'acme_echo')
      assert.deepEqual(echo, { name: 'acme_echo', description: 'Repeats a text.', inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'What to repeat.' } }, required: ['text'] } })
    })
  })

  describe('a call', () => {
    test('reaches the extension and gives texts and images', async (world) => {
      world.answer([{ type: 'text', text: 'one' }, { type: 'image', bytes: dot, mediaType: 'image/png' }])
      const parts = await call(world)
      assert.deepEqual(world.calls(), [{ text: 'hi' }])
      assert.deepEqual(parts.map((part) => (part.type === 'image' ? { ...part, bytes: [...part.bytes] } : part)), [{ type: 'text', text: 'one' }, { type: 'image', bytes: [...dot], mediaType: 'image/png' }])
    })
    test('may give nothing', async (world) => {
      world.answer([])
      assert.deepEqual(await call(world), [])
    })
    test('ends with a cancel, which the extension hears', async (world) => {
      world.answer('hang')
      const cancel = new AbortController()
      const running = call(world, { signal: cancel.signal })
      await until('the extension was called', () => world.calls().length > 0)
      cancel.abort(new Error('enough'))
      await assert.rejects(running, { message: 'enough' })
      await until('the extension heard of the cancel', () => world.wasCancelled())
    })
    const rows: readonly [EditorToolErrorCode, ToolStep, RegExp][] = [
      ['EDITOR_TOOL_FAILED', new Error('the disk is full'), /the disk is full/],
      ['EDITOR_TOOL_REFUSED', 'refused', /acme_echo/],
    ]
    for (const [code, step, words] of rows) {
      test(`that ends badly says how: ${code}`, async (world) => {
        world.answer(step)
        await assert.rejects(call(world), (error: Error & { code?: string }) => error.code === code && words.test(error.message))
      })
    }
    test('of a tool that is not there is refused', async (world) => {
      await assert.rejects(call(world, { name: 'acme_none' }), { code: 'EDITOR_TOOL_GONE' })
    })
  })
}
