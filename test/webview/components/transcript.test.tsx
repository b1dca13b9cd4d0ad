import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HostMessage, ViewMessage } from '../../../extension/protocol/messages.ts'
import type { Row } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, useApp, type App } from '../../../webview/components/app-context.ts'
import { Transcript } from '../../../webview/components/transcript.tsx'
import { createChatStore } from '../../../webview/store/chat-store.ts'
import { createUiState } from '../../../webview/store/ui-state.ts'
import { commandRow, patch, snapshot, textRow, toolRow, turnEndRow, viewState } from '../store/fixture-rows.ts'
import { LINE_PX, VIEW_PX, layOutLog } from './laid-out-log.ts'

const heights = new Map<string, number>()
let layout: ReturnType<typeof layOutLog>
let place: HTMLElement
beforeEach(() => {
  heights.clear()
  layout = layOutLog(heights)
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
  layout.restore()
})

/** Rows `from` up to `to`, the latter left out. Each session counts its own from 0. */
const rows = (from: number, to: number, more: Parameters<typeof commandRow>[1] = {}): readonly Row[] => Array.from({ length: to - from }, (_, index) => commandRow(`e${from + index}`, { args: `of row ${from + index};`, ...more }))
const opened = (frame: number, id: string, held: readonly Row[], firstIndex = 0): HostMessage => {
  const state = viewState(held, {}, { firstIndex, total: firstIndex + held.length })
  return snapshot(frame, { ...state, session: { ...state.session!, id } })
}
const olderRows = (frame: number, from: number, to: number, total: number): HostMessage => ({ type: 'older-rows', frame, window: { rows: rows(from, to), firstIndex: from, total } })

/** The session on screen, `left` at first, with 100 rows of which the last ten are in the view. */
async function show() {
  const asked: ViewMessage[] = []
  const store = createChatStore({ needSnapshot() {} })
  const ui = createUiState({ getState: () => undefined, setState() {} }, (work) => work())
  // The other parts of the page are not drawn here.
  const app = { store, ui, actions: createChatActions((message) => void asked.push(message)), width: signal(400), now: signal(0) } as unknown as App
  const say = async (...messages: readonly HostMessage[]) => {
    await act(() => store.apply(messages))
    await layout.frame()
  }
  await act(() => render(<AppContext.Provider value={app}><OnScreen /></AppContext.Provider>, place))
  await say(opened(1, 'left', rows(0, 100)))
  const log = () => place.querySelector<HTMLElement>('.log')!
  return {
    store, ui, say, log,
    asked: () => asked.filter(({ type }) => type === 'load-older'),
    reveal: (rowId: string, sessionId = 'found', isFound = true) => act(() => void (ui.wantedRow.value = { sessionId, rowId, isFound })),
    isAtEnd: () => log().scrollTop === log().scrollHeight - VIEW_PX,
    /** What stands at the top of the view. */
    top: () => rowsIn(log()).find(({ bottom }) => bottom > log().scrollTop)?.words,
    marked: () => [...place.querySelectorAll('.row-found')].map(({ textContent }) => textContent),
    /** The person scrolls. */
    scroll: async (top: number) => {
      log().scrollTop = top
      await layout.frame()
    },
  }
}

function OnScreen() {
  const session = useApp().store.state.session.value
  return session === null ? null : <Transcript key={session.id} sessionId={session.id} />
}

function rowsIn(log: Element): readonly { readonly words: string; readonly bottom: number }[] {
  let bottom = 0
  return [...log.children].map((child) => {
    bottom += child.classList.contains('log-room') ? Number.parseFloat((child as HTMLElement).style.height) : child.getBoundingClientRect().height
    return { words: child.textContent ?? '', bottom }
  })
}

describe('a row that is searched for comes to the top of the view, marked', () => {
  const isThere = async (page: Awaited<ReturnType<typeof show>>, row = 30) => {
    await layout.frame()
    await layout.frame()
    expect([page.top(), page.marked()]).toEqual([`/model of row ${row};`, [`/model of row ${row};`]])
    expect(page.ui.wantedRow.value).toBe(null)
  }

  it('when it is asked for after its session has come', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(0, 100)))
    await page.reveal('e30')
    await isThere(page)
  })

  it.each(['e30', 'e130'])('when it is asked for before, whether or not the session that is left has a row of that name: %s', async (rowId) => {
    const page = await show()
    await page.reveal(rowId)
    await layout.frame()
    expect([page.isAtEnd(), page.marked()]).toEqual([true, []])
    await page.say(opened(2, 'found', rows(0, 200)))
    await isThere(page, Number(rowId.slice(1)))
  })

  it('when it comes with the change that follows', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(0, 30)))
    await page.reveal('e30')
    await layout.frame()
    expect(page.isAtEnd()).toBe(true)
    await page.say(patch(3, ...rows(30, 60).map((row) => ({ change: 'row', row }) as const)))
    await isThere(page)
  })

  it('when it stands in an older page, and is asked for between two of them', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(400, 500), 400))
    await page.reveal('e30')
    expect(page.asked()).toEqual([{ type: 'load-older', before: 400, count: 200 }])
    await page.say(olderRows(3, 200, 400, 500))
    expect(page.asked().slice(1)).toEqual([{ type: 'load-older', before: 200, count: 200 }])
    await page.say(olderRows(4, 0, 200, 500))
    await isThere(page)
    expect(page.asked().length).toBe(2)
  })

  it('when an older page is lost, and everything comes anew', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(100, 200), 100))
    await page.reveal('e30')
    await page.say(opened(9, 'found', rows(100, 200), 100))
    expect(page.asked().length).toBe(2)
    await page.say(olderRows(10, 0, 100, 200))
    await isThere(page)
  })

  it('and words that others send meanwhile do not take the view to the end', async () => {
    const page = await show()
    const prompt = (id: string): Row => ({ kind: 'prompt', id, turn: 9, text: id, attachments: [], sentAt: 0 })
    await page.say(opened(2, 'found', [...rows(100, 200), prompt('p1')], 100))
    await page.reveal('e30')
    await page.say(patch(3, { change: 'row', row: prompt('p2') }))
    await page.say(olderRows(4, 0, 100, 202))
    await isThere(page)
  })

  it('near the end of the talk too, where what follows it comes to be higher', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(0, 100)))
    await page.reveal('e30')
    await layout.frame()
    await page.reveal('e95')
    await layout.frame()
    await layout.frame()
    expect([page.isAtEnd(), place.querySelector('.jump'), page.marked()]).toEqual([true, null, ['/model of row 95;']])
    heights.set('of row 97;', 900)
    await layout.frame()
    await isThere(page, 95)
    expect(place.querySelector('.jump')).not.toBe(null)
  })

  it('also after the talk was left for another one and is shown again', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(0, 100)))
    await page.reveal('e30')
    await page.say(opened(3, 'left', rows(0, 100)))
    expect(page.marked()).toEqual([])
    await page.say(opened(4, 'found', rows(0, 100)))
    expect([page.top(), page.marked()]).toEqual(['/model of row 30;', []])
  })

  it('in a line of explorations, which opens', async () => {
    const read = (id: string) => toolRow(id, { card: 'generic', title: id, kind: 'read', subject: id }, { card: 'read', path: `${id}.ts`, offset: 1, totalLines: 0, lines: [] })
    const page = await show()
    await page.reveal('r2')
    await page.say(opened(2, 'found', [...rows(0, 50), read('r1'), read('r2'), ...rows(50, 100)]))
    await layout.frame()
    expect([page.ui.isOpen('group:r1'), page.ui.foundRow.value, page.ui.wantedRow.value]).toEqual([true, 'r2', null])
    expect(place.querySelector('.group .row-found')?.closest('[hidden]')).toBe(null)
    expect(page.top()).toBe(place.querySelector('.group')?.textContent)
  })

  it('in a turn that is folded away, which opens', async () => {
    const steps = Array.from({ length: 8 }, (_, index): Row => textRow(`t${index}`, `step ${index}`, { turn: 1 }))
    const page = await show()
    await page.reveal('t3')
    await page.say(opened(2, 'found', [...steps, turnEndRow('end', 1), ...rows(0, 50, { turn: 2 })]))
    await layout.frame()
    expect([page.ui.isOpen('turn:1'), page.ui.foundRow.value, page.ui.wantedRow.value]).toEqual([true, 't3', null])
    expect(page.log().scrollTop).toBe(LINE_PX * 4)
  })
})

describe('a row that is wanted', () => {
  it('and is in no page changes nothing but that all are loaded, until the person sends something', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(200, 300), 200))
    await page.reveal('gone')
    await page.say(olderRows(3, 0, 200, 300))
    expect([page.asked().length, page.isAtEnd(), page.marked()]).toEqual([1, true, []])
    await page.say(patch(4, ...rows(300, 310).map((row) => ({ change: 'row', row }) as const)))
    expect(page.isAtEnd()).toBe(true)
    await act(() => page.ui.addSending({ id: 'm', sessionId: 'found', text: 'on' }))
    expect(page.ui.wantedRow.value).toBe(null)
  })

  it('of a session that is not the next on screen is wanted no more', async () => {
    const page = await show()
    await page.reveal('e30')
    await page.say(opened(2, 'third', rows(0, 100)))
    expect([page.ui.wantedRow.value, page.isAtEnd()]).toEqual([null, true])
    await page.say(opened(3, 'found', rows(0, 100)))
    expect([page.isAtEnd(), page.marked()]).toEqual([true, []])
  })

  it('is wanted no more once the person scrolls, and still is after what the list does by itself', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(100, 200), 100))
    await page.reveal('e30')
    await page.say(patch(3, ...rows(200, 210).map((row) => ({ change: 'row', row }) as const)))
    heights.set('of row 205;', 300)
    await layout.frame()
    await layout.frame()
    expect(page.ui.wantedRow.value?.rowId).toBe('e30')
    await page.scroll(2_000)
    expect(page.ui.wantedRow.value).toBe(null)
    const before = page.top()
    await page.say(olderRows(4, 0, 100, 210))
    expect([page.top(), page.marked()]).toEqual([before, []])
  })

  it('is not what a scroll in the talk that is left ends', async () => {
    const page = await show()
    await page.reveal('e30')
    await page.scroll(500)
    await page.say(opened(2, 'found', rows(0, 100)))
    expect(page.top()).toBe('/model of row 30;')
  })

  it('holds the view until the person scrolls to the end, which is followed again', async () => {
    const page = await show()
    await page.say(opened(2, 'found', rows(0, 100)))
    await page.reveal('e30')
    await page.say(patch(3, ...rows(100, 110).map((row) => ({ change: 'row', row }) as const)))
    expect([page.top(), place.querySelector('.jump') === null]).toEqual(['/model of row 30;', false])
    await page.scroll(100_000)
    await page.say(patch(4, ...rows(110, 120).map((row) => ({ change: 'row', row }) as const)))
    expect([page.isAtEnd(), place.querySelector('.jump')]).toEqual([true, null])
  })

  it('that was not searched for is neither marked nor opened for', async () => {
    const steps = Array.from({ length: 8 }, (_, index): Row => textRow(`t${index}`, `step ${index}`, { turn: 1 }))
    const page = await show()
    await page.say(opened(2, 'found', [...rows(0, 20, { turn: 0 }), ...steps, turnEndRow('end', 1), ...rows(20, 80, { turn: 2 })]))
    await page.reveal('t3', 'found', false)
    await layout.frame()
    expect([page.ui.isOpen('turn:1'), page.ui.foundRow.value, page.top()]).toEqual([undefined, null, place.querySelector('.turn-fold')!.textContent])
  })
})
