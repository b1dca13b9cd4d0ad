import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SearchResultView } from '../../../extension/protocol/cards.ts'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { CardBody } from '../../../webview/cards/card-body.tsx'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { toolRow } from '../store/fixture-rows.ts'

let place: HTMLElement
beforeEach(() => {
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

/** The body of a search's card, and what the page asks the host for. */
async function show(result: SearchResultView) {
  const asked: ViewMessage[] = []
  // The other parts of the page are not drawn here.
  const app = { actions: createChatActions((message) => void asked.push(message)) } as unknown as App
  await act(() =>
    render(
      <AppContext.Provider value={app}>
        <CardBody row={toolRow('a', { card: 'generic', title: 'Search', kind: 'search' }, result)} />
      </AppContext.Provider>,
      place,
    ),
  )
  const buttons = () => [...place.querySelectorAll('button')]
  return { asked, names: () => buttons().map((button) => button.textContent), press: (name: string) => act(() => buttons().find((button) => button.textContent === name)!.click()) }
}

const matches: SearchResultView = {
  card: 'search', shape: 'matches', total: 3, truncated: false,
  files: [{ path: 'src/a.ts', matches: [{ lineNumber: 3, line: '  const hit = 1', column: 9 }, { lineNumber: 8, line: 'hit' }] }],
}

describe('the card of a search', () => {
  it('jumps to the line and column of a match, or to the file', async () => {
    const card = await show(matches)
    for (const name of ['src/a.ts', '3const hit = 1', '8hit']) await card.press(name)
    expect(card.asked).toEqual([
      { type: 'open-location', location: { path: 'src/a.ts' } },
      { type: 'open-location', location: { path: 'src/a.ts', line: 3, column: 9 } },
      { type: 'open-location', location: { path: 'src/a.ts', line: 8 } },
    ])
  })
  it('opens the search in the editor’s own view where it was one', async () => {
    const card = await show({ ...matches, query: { pattern: 'hit', isCaseSensitive: true } })
    await card.press('Open in Search view')
    expect(card.asked).toEqual([{ type: 'open-search', callId: 'call-a' }])
    expect((await show(matches)).names()).not.toContain('Open in Search view')
  })
  it('opens it also where nothing was found', async () => expect((await show({ ...matches, files: [], total: 0, query: { pattern: 'x', isCaseSensitive: true } })).names()).toEqual(['Open in Search view']))
  it('lists files, each of which opens', async () => {
    const card = await show({ card: 'search', shape: 'paths', paths: ['a.ts', 'b.ts'], total: 2, truncated: false })
    await card.press('b.ts')
    expect([card.names(), card.asked]).toEqual([['a.ts', 'b.ts'], [{ type: 'open-location', location: { path: 'b.ts' } }]])
  })
})
