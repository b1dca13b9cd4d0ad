import { describe, it } from 'vitest'
import { createFakeEditorTools, fakeEditorTool } from '../support/fake-editor-tools.ts'
import { editorToolsContract } from './editor-tools.suite.ts'

describe('the fake of the editor’s tools', () => {
  const echo = fakeEditorTool('acme_echo', { description: 'Repeats a text.', inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'What to repeat.' } }, required: ['text'] } })
  editorToolsContract({
    describe,
    it,
    create: async () => {
      const tools = createFakeEditorTools([echo])
      return {
        tools,
        answer: (step) => tools.answer(step),
        calls: () => tools.calls.map(({ input }) => input),
        wasCancelled: () => tools.calls.at(-1)?.signal.aborted ?? false,
        dispose: async () => {},
      }
    },
  })
})
