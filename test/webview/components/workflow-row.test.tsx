import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, expect, it } from 'vitest'
import type { WorkflowCardView } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { ToolRowView } from '../../../webview/components/rows/tool-row.tsx'
import { createChatStore } from '../../../webview/store/chat-store.ts'
import { createUiState } from '../../../webview/store/ui-state.ts'
import { toolRow, viewState } from '../store/fixture-rows.ts'

let place: HTMLElement
afterEach(() => {
  render(null, place)
  place.remove()
})

const run: WorkflowCardView = { callId: 'call-w', runId: 'r2', state: 'completed', total: 20, finished: 20, failed: 0, phase: null, isResumed: true }

/** The card of a call that a closing window cut off. */
function draw(view: WorkflowCardView) {
  place = document.createElement('div')
  document.body.append(place)
  const row = { ...toolRow('w', { card: 'generic', title: 'Workflow review', kind: 'other' }, null), state: 'failed', error: 'Nobody knows how it ended.', endedAt: 1 } as const
  const store = createChatStore({ needSnapshot() {} })
  store.apply([{ type: 'snapshot', version: 1, frame: 1, state: viewState([row], { workflows: [{ ...view, callId: row.callId }] }) }])
  const ui = createUiState({ getState: () => undefined, setState() {} }, (work) => work())
  const app = { store, ui, actions: createChatActions(() => undefined), width: signal(600), now: signal(60_000) } as unknown as App
  void act(() => render(<AppContext.Provider value={app}><ToolRowView entry={store.entries.value[0]!} /></AppContext.Provider>, place))
  return { text: place.textContent, state: place.querySelector('article')?.dataset['state'], hasError: place.querySelector('.line-error') !== null }
}

it.each<[string, Partial<WorkflowCardView>, object]>([
  ['is over well once the run that a person resumed is', {}, { text: 'Workflow reviewresumed20 of 20', state: 'ok', hasError: false }],
  ['works while that run works', { state: 'running', finished: 3 }, expect.objectContaining({ state: 'running', hasError: false })],
  ['stays failed where that run failed too', { state: 'failed' }, expect.objectContaining({ state: 'failed', hasError: true })],
  ['stays failed where nobody resumed it', { state: 'interrupted', isResumed: false }, expect.objectContaining({ state: 'failed', hasError: true })],
])('the card of a call that was cut off %s', (_, view, shown) => expect(draw({ ...run, ...view })).toEqual(shown))
