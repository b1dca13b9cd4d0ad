import { signal } from '@preact/signals'
import { render, type ComponentChildren } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import type { ReviewStateView, Row, TurnEndRow } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { PromptRowView } from '../../../webview/components/rows/prompt-row.tsx'
import { ToolRowView } from '../../../webview/components/rows/tool-row.tsx'
import { TurnEndRowView } from '../../../webview/components/rows/turn-end-row.tsx'
import { createChatStore } from '../../../webview/store/chat-store.ts'
import { promptRow, snapshot, toolRow, turnEndRow, viewState } from '../store/fixture-rows.ts'

let place: HTMLElement
beforeEach(() => {
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

/** Rows as they stand while this waits. Gives the names of the buttons, and what a press of one says to the host. */
async function show(rows: readonly Row[], review: ReviewStateView | null, draw: (row: Row) => ComponentChildren) {
  const said: ViewMessage[] = []
  const store = createChatStore({ needSnapshot: () => undefined })
  store.apply([snapshot(1, viewState(rows, { review }))])
  // All that these rows read of the application.
  const app = { store, now: signal(0), width: signal(300), ui: { isOpen: () => false, setOpen: () => undefined }, actions: createChatActions((message) => said.push(message)) } as unknown as App
  await act(() => render(<AppContext.Provider value={app}>{rows.map(draw)}</AppContext.Provider>, place))
  const nameOf = (button: HTMLButtonElement) => button.getAttribute('aria-label') ?? button.title ?? ''
  const buttons = () => [...place.querySelectorAll('button')]
  return {
    names: () => buttons().map((button) => button.textContent?.trim() || nameOf(button)),
    async press(name: string) {
      await act(() => buttons().find((button) => button.textContent?.trim() === name || nameOf(button) === name)!.click())
      return said.splice(0)
    },
  }
}

const entry = (row: Row) => ({ id: row.id, row: signal(row), foldClass: 'keep', turn: row.turn, kind: row.kind }) as const
const waits: ReviewStateView = { turns: [{ turn: 1, state: 'pending' }], calls: ['call-t'] }
const turnState = (state: 'pending' | 'kept' | 'undone'): ReviewStateView => ({ turns: [{ turn: 1, state }], calls: [] })

describe('the card of a change', () => {
  const row = toolRow('t', null, { card: 'diff', diffs: [{ path: 'a.ts', oldText: 'a\n', newText: 'b\n' }] })
  const drawn = (review: ReviewStateView | null) => show([row], review, (one) => <ToolRowView entry={entry(one)} />)

  it('keeps it and takes it back while it waits', async () => {
    const card = await drawn(waits)
    expect(card.names()).toEqual(expect.arrayContaining(['Keep', 'Undo', 'Open diff']))
    expect([await card.press('Keep'), await card.press('Undo')]).toEqual([[{ type: 'review', verb: 'keep', what: { callId: 'call-t' } }], [{ type: 'review', verb: 'undo', what: { callId: 'call-t' } }]])
  })
  it.each([['it is settled', { ...waits, calls: [] }], ['another window writes the session', null]] as const)('does not where %s', async (_name, review) => {
    const names = (await drawn(review)).names()
    expect([names.includes('Keep'), names.includes('Undo'), names.includes('Open diff')]).toEqual([false, false, true])
  })
})

describe('the foot of a turn', () => {
  const row: Row = { ...(turnEndRow('e') as TurnEndRow), changedFiles: [{ path: '/w/src/a.ts', added: 2, removed: 0 }] }
  const drawn = (review: ReviewStateView) => show([row], review, (one) => <TurnEndRowView entry={entry(one)} />)

  it('offers the turn while something of it waits, and names its files from the folder', async () => {
    const foot = await drawn(turnState('pending'))
    expect(foot.names().slice(0, 4)).toEqual(['Review', 'Keep', 'Undo turn', 'src/a.ts'])
    expect([await foot.press('Keep'), await foot.press('Undo turn')]).toEqual([[{ type: 'review', verb: 'keep', what: { turn: 1 } }], [{ type: 'review', verb: 'undo', what: { turn: 1 } }]])
  })
  it.each([['kept', 'Kept'], ['undone', 'Undone']] as const)('says that it was %s', async (state, words) => {
    const foot = await drawn(turnState(state))
    expect([foot.names().includes('Undo turn'), place.textContent?.includes(words)]).toEqual([false, true])
  })
})

describe('a message of the person', () => {
  const restore = 'Restore files to before this message'
  const drawn = (turn: number, review: ReviewStateView | null) => show([promptRow('p', 'Change it', turn)], review, (one) => <PromptRowView entry={entry(one)} />)

  it('goes back to before it while files differ since', async () => {
    expect(await (await drawn(1, turnState('kept'))).press(restore)).toEqual([{ type: 'restore-to', turn: 1 }])
  })
  it.each([
    ['a later turn changed nothing', 2, turnState('pending')],
    ['all was undone', 1, turnState('undone')],
    ['nothing was changed', 1, null],
  ] as const)('does not where %s', async (_name, turn, review) => expect((await drawn(turn, review)).names()).not.toContain(restore))
})
