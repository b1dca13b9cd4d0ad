import type { JsonObject } from '../../extension/base/json.ts'
import { EditorToolError, type EditorToolFacts, type EditorToolPart, type EditorTools } from '../../extension/capabilities/editor-tools.ts'

/** What a tool of an extension does with a call: gives parts, waits until it is cancelled, is refused by the person, or fails. */
export type FakeOutcome = readonly EditorToolPart[] | 'hang' | 'refused' | Error

export interface FakeEditorTools extends EditorTools {
  readonly calls: readonly { readonly name: string; readonly input: JsonObject; readonly signal: AbortSignal }[]
  /** The outcome of the calls from now on. */
  answer(outcome: FakeOutcome): void
  offer(tools: readonly EditorToolFacts[], isTold?: boolean): void
}

export const fakeEditorTool = (name: string, more: Partial<EditorToolFacts> = {}): EditorToolFacts => ({
  name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }, ...more,
})

/** The tools of the editor as a test says. */
export function createFakeEditorTools(tools: readonly EditorToolFacts[] = [fakeEditorTool('acme_echo')]): FakeEditorTools {
  let offered = tools
  let outcome: FakeOutcome = [{ type: 'text', text: 'done' }]
  const calls: FakeEditorTools['calls'][number][] = []
  const listeners = new Set<() => void>()
  return {
    calls,
    answer: (next) => void (outcome = next),
    offer(next, isTold = true) {
      offered = next
      if (isTold) for (const listener of listeners) listener()
    },
    list: () => offered,
    async invoke(call) {
      calls.push(call)
      if (!offered.some(({ name }) => name === call.name)) throw new EditorToolError('EDITOR_TOOL_GONE', `There is no tool ${call.name}.`)
      if (outcome === 'refused') throw new EditorToolError('EDITOR_TOOL_REFUSED', `${call.name} was refused.`)
      if (outcome instanceof Error) throw new EditorToolError('EDITOR_TOOL_FAILED', outcome.message)
      if (outcome !== 'hang') return outcome
      return await new Promise((_resolve, reject) => {
        const stop = () => reject(call.signal.reason as Error)
        if (call.signal.aborted) stop()
        else call.signal.addEventListener('abort', stop, { once: true })
      })
    },
    onDidChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
