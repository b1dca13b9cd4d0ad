import { EditorModelError, type EditorModel, type EditorModelPart, type EditorModelRequest, type EditorModels } from '../../extension/capabilities/editor-models.ts'

/** One entry of an answer: a part, a wait until the request is cancelled, or a failure. */
export type FakeAnswer = readonly (EditorModelPart | { readonly type: 'hang' } | { readonly type: 'throw'; readonly error: Error })[]

export interface FakeEditorModels extends EditorModels {
  readonly requests: readonly EditorModelRequest[]
  play(...answers: readonly FakeAnswer[]): void
  /** Put other models in place. */
  offer(models: readonly EditorModel[]): void
}

export const fakeModel = (id: string, more: Partial<EditorModel> = {}): EditorModel => ({
  id, name: id.split('/').at(-1) ?? id, vendor: id.split('/')[0] ?? id, maxInputTokens: 64_000, canReadImages: false, canCallTools: true, ...more,
})

/** The editor's models as a test says: one answer a request. */
export function createFakeEditorModels(models: readonly EditorModel[] = [fakeModel('acme/one')]): FakeEditorModels {
  let offered = models
  const script: FakeAnswer[] = []
  const requests: EditorModelRequest[] = []
  const listeners = new Set<() => void>()
  return {
    requests,
    play: (...answers) => void script.push(...answers),
    offer(next) {
      offered = next
      for (const listener of listeners) listener()
    },
    list: () => Promise.resolve(offered),
    async *ask(request) {
      requests.push(request)
      if (!offered.some(({ id }) => id === request.modelId)) throw new EditorModelError('NOT_FOUND', `There is no model ${request.modelId}.`)
      for (const part of script.shift() ?? []) {
        if (part.type === 'throw') throw part.error
        if (part.type !== 'hang') yield part
        else {
          await new Promise((_resolve, reject) => {
            const stop = () => reject(new EditorModelError('UNKNOWN', 'Canceled'))
            if (request.signal.aborted) stop()
            else request.signal.addEventListener('abort', stop, { once: true })
          })
        }
      }
    },
    onDidChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
