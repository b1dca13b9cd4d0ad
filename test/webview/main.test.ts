import { afterEach, expect, it, vi } from 'vitest'
import { PROTOCOL_VERSION, type HostMessage } from '../../extension/protocol/messages.ts'
import { commandRow, patch, snapshot, viewState } from './store/fixture-rows.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
  delete document.body.dataset['page']
  document.body.innerHTML = ''
})

/** Load the script of the pages into a page, and give what it says to its host. */
async function load(page: object | null) {
  const posted: unknown[] = []
  let state: unknown
  document.body.innerHTML = '<div id="root"></div>'
  if (page !== null) document.body.dataset['page'] = JSON.stringify(page)
  vi.stubGlobal('acquireVsCodeApi', () => ({ postMessage: (message: unknown) => void posted.push(message), getState: () => state, setState: (next: unknown) => void (state = next) }))
  await import('../../webview/main.tsx')
  await vi.waitFor(() => expect(posted).toContainEqual({ type: 'ready', version: PROTOCOL_VERSION }), 50_000)
  return { state: () => state, text: () => document.body.textContent ?? '' }
}

it('draws the page that the host named, shows what it is told, and keeps its name for after a reload', async () => {
  const key = { kind: 'workflow', sessionId: 's', id: 'r' }
  const { state, text } = await load(key)
  expect([document.querySelector('.chat'), state()]).toEqual([null, { page: key }])
  window.dispatchEvent(new MessageEvent('message', { data: { type: 'page', version: PROTOCOL_VERSION, view: { kind: 'workflow', run: null } } }))
  await vi.waitFor(() => expect(text()).toContain('The session of this run is not open.'), 50_000)
  window.dispatchEvent(new MessageEvent('message', { data: { type: 'page', version: 0, view: { kind: 'workflow', run: null } } }))
  await vi.waitFor(() => expect(text()).toContain('Bosun was updated'), 50_000)
})

// Last, since what it listens to in the window stays.
it('draws the chat where the page names nothing else, and marks a row that the host asks for before it comes', async () => {
  // The page of these tests has none.
  vi.stubGlobal('origin', 'https://page.test')
  await load(null)
  expect(document.querySelector('.chat')).not.toBe(null)
  const talk = (frame: number, id: string) => {
    const state = viewState([commandRow('e1', { args: `of ${id}` })])
    return snapshot(frame, { ...state, session: { ...state.session!, id } })
  }
  const say = (data: HostMessage) => window.dispatchEvent(new MessageEvent('message', { data, origin: window.origin }))
  const articles = () => [...document.querySelectorAll('article')].map((article) => [article.getAttribute('aria-label'), article.closest('.row-found') !== null])
  say(talk(1, 'left'))
  await vi.waitFor(() => expect(articles()).toEqual([['/model of left', false]]))
  say({ type: 'reveal-row', sessionId: 'found', rowId: 'e1' })
  say(patch(2, { change: 'row', row: commandRow('e1', { args: 'of left, again' }) }))
  await vi.waitFor(() => expect(articles()).toEqual([['/model of left, again', false]]))
  say(talk(3, 'found'))
  await vi.waitFor(() => expect(articles()).toEqual([['/model of found', true]]))
})
