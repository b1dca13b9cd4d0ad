import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, expect, it } from 'vitest'
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

function draw(state: 'ok' | 'waiting', from?: string) {
  place = document.createElement('div')
  document.body.append(place)
  const row = { ...toolRow('a', { card: 'generic', title: 'Tide at Hull', kind: 'other' }, null), state, endedAt: state === 'ok' ? 1 : null, ...(from !== undefined && { from }) } as const
  const store = createChatStore({ needSnapshot() {} })
  store.apply([{ type: 'snapshot', version: 1, frame: 1, state: viewState([row]) }])
  const ui = createUiState({ getState: () => undefined, setState() {} }, (work) => work())
  const app = { store, ui, actions: createChatActions(() => undefined), width: signal(600), now: signal(60_000) } as unknown as App
  void act(() => render(<AppContext.Provider value={app}><ToolRowView entry={store.entries.value[0]!} /></AppContext.Provider>, place))
  return [place.textContent, place.querySelector('article')?.getAttribute('aria-label')]
}

it.each([
  ['of Bosun says nothing of where it comes from', 'ok', undefined, 'Tide at Hull', 'Tide at Hull'],
  ['of another extension says whose it is, aloud too', 'ok', 'acme.sample', 'Tide at Hullfrom acme.sample', 'Tide at Hull, from acme.sample'],
  ['of another extension leaves that to the question while it waits', 'waiting', 'acme.sample', 'Tide at Hullwaits for you', 'Tide at Hull, waits for you'],
] as const)('the line of a tool %s', (_what, state, from, text, name) => expect(draw(state, from)).toEqual([text, name]))
