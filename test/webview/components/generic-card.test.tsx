import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ToolCallView } from '../../../extension/protocol/cards.ts'
import type { ToolRow } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { ToolRowView } from '../../../webview/components/rows/tool-row.tsx'
import { createChatStore } from '../../../webview/store/chat-store.ts'
import { createUiState } from '../../../webview/store/ui-state.ts'
import { toolRow, viewState } from '../store/fixture-rows.ts'

let place: HTMLElement
beforeEach(() => {
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

/** The open row of one call, as it stands in the page. */
async function show(row: ToolRow) {
  const store = createChatStore({ needSnapshot() {} })
  store.apply([{ type: 'snapshot', version: 1, frame: 1, state: viewState([row]) }])
  const ui = createUiState({ getState: () => undefined, setState() {} }, (work) => work())
  ui.setOpen(row.id, true)
  // The other parts of the page are not drawn here.
  const posted: unknown[] = []
  const highlighter = { known: () => undefined, highlight: () => Promise.resolve(null) }
  const app = { store, ui, highlighter, actions: createChatActions((message) => posted.push(message)), width: signal(600), now: signal(0) } as unknown as App
  await act(() =>
    render(
      <AppContext.Provider value={app}>
        <ToolRowView entry={store.entries.value[0]!} />
      </AppContext.Provider>,
      place,
    ),
  )
  const all = (selector: string) => [...place.querySelectorAll(selector)].map(({ textContent }) => textContent)
  return { titles: all('.body-title'), texts: all('.body-text'), locations: all('.locations button, .locations a'), pictures: place.querySelectorAll('.image-card').length, posted, more: place.querySelectorAll<HTMLButtonElement>('.body-more'), text: place.textContent }
}

const text = (words: string) => [{ type: 'text', text: words }] as const
const load: ToolCallView = { card: 'generic', title: 'Load skill review', kind: 'read' }

describe('an open call without a card of its own', () => {
  it('shows what came of it alone where its line says what was asked', async () => {
    const shown = await show(toolRow('a', load, { card: 'generic', content: text('the skill') }, { rawArguments: { name: 'review' } }))
    expect([shown.titles, shown.texts]).toEqual([[], ['the skill']])
  })

  it('of a tool that nobody knows shows its arguments and its result', async () => {
    const shown = await show(toolRow('a', null, null, { state: 'ok', endedAt: 0, rawArguments: { a: 1 }, output: 'done' }))
    expect([shown.titles, shown.texts]).toEqual([['Arguments', 'Result'], ['{\n  "a": 1\n}', 'done']])
  })

  it('that failed shows what it was given, and its reason once', async () => {
    const shown = await show(toolRow('a', load, { card: 'generic', content: text('Error: There is none.') }, { state: 'failed', error: 'There is none.', rawArguments: { name: 'review' } }))
    expect([shown.titles, shown.texts]).toEqual([['Arguments'], ['{\n  "name": "review"\n}']])
    expect(shown.text?.split('There is none.').length).toBe(2)
  })

  it('that is a program is shown as one; all of it is opened by itself, not what came of it', async () => {
    const rawInput = Array.from({ length: 10 }, (_, index) => `line(${index})`).join('\n')
    const shown = await show(toolRow('a', { card: 'generic', title: 'Count', kind: 'execute', rawInput }, null, { state: 'ok', endedAt: 0, output: 'done' }))
    expect([shown.titles, shown.texts[0]?.split('\n').length, shown.more[0]?.textContent]).toEqual([['Program', 'Result'], 8, '2 more lines, show all in editor'])
    shown.more[0]?.click()
    expect(shown.posted).toEqual([{ type: 'open-input', callId: 'call-a' }])
  })

  it('that failed with many lines shows the first of its reason, and the way to the rest', async () => {
    const error = Array.from({ length: 400 }, (_, index) => `printed ${index}`).join('\n')
    const shown = await show(toolRow('a', load, { card: 'generic', content: text(`Error: ${error}`) }, { state: 'failed', error, rawArguments: {} }))
    expect([shown.text?.includes('printed 7'), shown.text?.includes('printed 8'), shown.more[0]?.textContent]).toEqual([true, false, '392 more lines, show all in editor'])
    shown.more[0]?.click()
    expect(shown.posted).toEqual([{ type: 'open-output', callId: 'call-a' }])
  })

  it('shows a picture once, and no second link to the file of its line', async () => {
    const call: ToolCallView = { card: 'generic', title: 'Read image a.png', kind: 'read', subject: 'a.png', locations: [{ path: 'a.png' }] }
    const shown = await show(toolRow('a', call, { card: 'generic', content: [{ type: 'image', attachmentId: 'i', mediaType: 'image/png', name: 'a.png' }] }, { rawArguments: { file_path: 'a.png' } }))
    expect([shown.pictures, shown.titles, shown.locations]).toEqual([1, [], []])
  })

  it('keeps the place that its line does not link', async () => {
    const call: ToolCallView = { card: 'generic', title: 'Look up x in a.ts', kind: 'search', locations: [{ path: 'a.ts', line: 3 }] }
    expect((await show(toolRow('a', call, { card: 'generic', content: text('x: number') }))).locations).toEqual(['a.ts:3'])
  })

  it('prefers a written result to the input that a card gives', async () => {
    const call: ToolCallView = { card: 'generic', title: 'Update the task list', kind: 'other', rawInput: [{ content: 'a' }] }
    expect((await show(toolRow('a', call, { card: 'generic', content: text('✓ a') }))).texts).toEqual(['✓ a'])
    expect((await show(toolRow('a', call, null))).titles).toEqual(['Arguments'])
  })
})
