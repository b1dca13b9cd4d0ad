import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Row } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { TurnEndRowView } from '../../../webview/components/rows/turn-end-row.tsx'
import { createChatStore } from '../../../webview/store/chat-store.ts'
import { createUiState } from '../../../webview/store/ui-state.ts'
import { turnEndRow, viewState } from '../store/fixture-rows.ts'

let place: HTMLElement
beforeEach(() => {
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

async function show(row: Row): Promise<string | null> {
  const store = createChatStore({ needSnapshot() {} })
  store.apply([{ type: 'snapshot', version: 1, frame: 1, state: viewState([row]) }])
  const ui = createUiState({ getState: () => undefined, setState() {} }, (work) => work())
  // The other parts of the page are not drawn here.
  const app = { store, ui, actions: createChatActions(() => undefined), width: signal(600), now: signal(0) } as unknown as App
  await act(() =>
    render(
      <AppContext.Provider value={app}>
        <TurnEndRowView entry={store.entries.value[0]!} />
      </AppContext.Provider>,
      place,
    ),
  )
  return place.textContent
}

it('the end of a turn sums it up', async () => expect(await show(turnEndRow('a'))).toMatch(/^3 steps5 s/))
it('the end of a turn that was held up before its first step says why alone', async () => {
  const held = { ...turnEndRow('a'), steps: 0, outcome: 'paused', message: 'Bosun paused: the limit is reached.', next: 'none' } as Row
  expect(await show(held)).toBe('Bosun paused: the limit is reached.')
})
