import { describe, it } from 'vitest'
import { EditorModelError } from '../../extension/capabilities/editor-models.ts'
import { createFakeEditorModels, fakeModel } from '../support/fake-editor-models.ts'
import { editorModelsContract } from './editor-models.suite.ts'

describe('the fake of the editor’s models', () => {
  const one = fakeModel('acme/one', { name: 'Acme One' })
  const eyes = fakeModel('acme/eyes', { name: 'Acme Eyes', maxInputTokens: 32_000, canReadImages: true })
  editorModelsContract({
    describe,
    it,
    create: async () => {
      const models = createFakeEditorModels([one, eyes])
      return {
        models,
        play: (steps) => models.play(steps.map((step) => (step.type === 'fail' ? { type: 'throw', error: new EditorModelError(step.code, step.message) } : step))),
        requests: () =>
          models.requests.map(({ modelId, messages, tools, options }) => ({ model: modelId.split('/')[1] ?? '', messages, tools: tools.map(({ name }) => name), options })),
        wasCancelled: () => models.requests.at(-1)?.signal.aborted ?? false,
        takeEyes: async () => models.offer([one]),
        dispose: async () => {},
      }
    },
  })
})
