import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import type { TaskView, ViewState } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { TasksDock } from '../../../webview/components/docks/tasks-dock.tsx'
import { createChatStore } from '../../../webview/store/chat-store.ts'
import { patch, snapshot, viewState } from '../store/fixture-rows.ts'

let place: HTMLElement
beforeEach(() => {
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

const task = (id: string, status: TaskView['status'] = 'pending', more: Partial<TaskView> = {}): TaskView => ({ id, content: `Task ${id}`, status, ...more })

async function show(tasks: readonly TaskView[], { isOpen = true, ...state }: Partial<ViewState> & { readonly isOpen?: boolean } = {}) {
  const said: ViewMessage[] = []
  const opened = signal(isOpen)
  const store = createChatStore({ needSnapshot: () => undefined })
  store.apply([snapshot(1, viewState([], { tasks, ...state }))])
  // All that the dock reads of the application.
  const app = { store, ui: { isOpen: () => opened.value, setOpen: (_id: string, next: boolean) => (opened.value = next) }, actions: createChatActions((message) => said.push(message)) } as unknown as App
  await act(() => render(<AppContext.Provider value={app}><TasksDock /></AppContext.Provider>, place))
  const marks = () => [...place.querySelectorAll<HTMLElement>('.task-mark')]
  return {
    said: (): readonly unknown[] => said.splice(0).map((message) => (message.type === 'task' ? message.edit : message)),
    marks,
    focused: () => document.activeElement?.closest('[data-task]')?.getAttribute('data-task') ?? null,
    button: (name: string) => [...place.querySelectorAll('button')].find((each) => each.getAttribute('aria-label') === name || each.textContent?.trim() === name),
    async press(id: string, key: string, more: KeyboardEventInit = {}) {
      const mark = place.querySelector<HTMLElement>(`[data-task="${id}"] .task-mark`)!
      await act(() => {
        mark.focus()
        mark.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
      })
    },
    change: async (next: readonly TaskView[]) => await act(() => store.apply([patch(2, { change: 'state', key: 'tasks', value: next })])),
  }
}

describe('the one line', () => {
  it('says how far it is and what is under way', async () => {
    await show([task('a', 'completed'), task('b', 'in_progress'), task('c')], { isOpen: false })
    expect([place.querySelector('section')?.getAttribute('aria-label'), place.textContent]).toEqual(['Tasks', '1 of 3Task b'])
  })
  it('says the next one when none is under way', async () => {
    await show([task('a', 'completed'), task('b')], { isOpen: false })
    expect(place.textContent).toBe('1 of 2Task b')
  })
  it('is not there without tasks', async () => {
    await show([])
    expect(place.textContent).toBe('')
  })
})

describe('the list, by keyboard', () => {
  const three = [task('a'), task('b', 'in_progress'), task('c', 'completed')]
  it('is one stop of the Tab key, with the state of each task', async () => {
    const { marks } = await show(three)
    expect(marks().map((mark) => [mark.getAttribute('aria-checked'), mark.tabIndex])).toEqual([['false', 0], ['mixed', -1], ['true', -1]])
  })
  it('arrows go through it', async () => {
    const { press, focused, said } = await show(three)
    await press('a', 'ArrowDown')
    const down = focused()
    await press('b', 'ArrowUp')
    expect([down, focused(), said()]).toEqual(['b', 'a', []])
  })
  it('a press ticks and unticks', async () => {
    const { marks, said } = await show(three)
    await act(() => marks().forEach((mark) => mark.click()))
    expect(said()).toEqual([{ do: 'tick', id: 'a', isDone: true }, { do: 'tick', id: 'b', isDone: true }, { do: 'tick', id: 'c', isDone: false }])
  })
  it.each([
    ['a', 'ArrowDown', [{ do: 'move', id: 'a', before: 'c' }]],
    ['b', 'ArrowDown', [{ do: 'move', id: 'b', before: null }]],
    ['c', 'ArrowUp', [{ do: 'move', id: 'c', before: 'b' }]],
    ['a', 'ArrowUp', []],
    ['c', 'ArrowDown', []],
  ])('Alt moves %s with %s, and no further than the ends', async (id, key, moves) => {
    const { press, said } = await show(three)
    await press(id, key, { altKey: true })
    expect(said()).toEqual(moves)
  })
  it('the moved row keeps the focus', async () => {
    const { press, change, focused } = await show(three)
    await press('a', 'ArrowDown', { altKey: true })
    await change([three[1]!, three[0]!, three[2]!])
    expect(focused()).toBe('a')
  })
  it('Delete removes, and its neighbour has the focus', async () => {
    const { press, change, said, focused } = await show(three)
    await press('b', 'Delete')
    await change([three[0]!, three[2]!])
    expect([said(), focused()]).toEqual([[{ do: 'remove', id: 'b' }], 'c'])
  })
  it('F2 writes a note, Escape leaves it as it was', async () => {
    const { press, said } = await show(three)
    await press('a', 'F2')
    const form = place.querySelector<HTMLInputElement>('.task-note-form')!
    form.value = 'see src/a.ts:3'
    await act(() => void form.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })))
    expect(said()).toEqual([{ do: 'note', id: 'a', note: 'see src/a.ts:3' }])
    await press('b', 'F2')
    await act(() => void place.querySelector<HTMLInputElement>('.task-note-form')!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })))
    expect([said(), place.querySelector('.task-note-form')]).toEqual([[], null])
  })
  it('Enter in the box adds', async () => {
    const { said } = await show(three)
    const box = place.querySelector<HTMLInputElement>('.task-add')!
    await act(() => {
      box.value = 'More'
      box.dispatchEvent(new InputEvent('input', { bubbles: true }))
    })
    await act(() => void box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })))
    expect([said(), box.value]).toEqual([[{ do: 'add', content: 'More' }], ''])
  })
  it('is dismissed as a whole', async () => {
    const { button, said } = await show(three)
    await act(() => button('Dismiss the list')!.click())
    expect(said()).toEqual([{ do: 'dismiss' }])
  })
})

describe('the list, by pointer', () => {
  const drag = async (from: string, to: string, y: number) => {
    const row = (id: string) => place.querySelector<HTMLElement>(`[data-task="${id}"]`)!
    row(to).getBoundingClientRect = () => ({ top: 0, height: 20 }) as DOMRect
    await act(() => void row(from).dispatchEvent(new Event('dragstart', { bubbles: true })))
    await act(() => void row(to).dispatchEvent(Object.assign(new Event('drop', { bubbles: true, cancelable: true }), { clientY: y })))
  }
  it.each([
    ['a', 'c', 2, [{ do: 'move', id: 'a', before: 'c' }]],
    ['a', 'c', 18, [{ do: 'move', id: 'a', before: null }]],
    ['c', 'a', 2, [{ do: 'move', id: 'c', before: 'a' }]],
    ['b', 'a', 18, []],
    ['a', 'a', 2, []],
  ])('%s dropped on %s at %i pixels', async (from, to, y, moves) => {
    const { said } = await show([task('a'), task('b'), task('c')])
    await drag(from, to, y)
    expect(said()).toEqual(moves)
  })
})

describe('what belongs to a task', () => {
  it('files and addresses in it open, changes lead to the review of their turn', async () => {
    const { button, said } = await show([task('a', 'completed', { content: 'Mend src/a.ts:3', changes: { files: 2, turn: 4 } })])
    await act(() => button('src/a.ts:3')!.click())
    await act(() => button('2 files')!.click())
    expect(said()).toEqual([{ type: 'open-location', location: { path: 'src/a.ts', line: 3 } }, { type: 'review-turn', turn: 4 }])
  })
  it('what the model left out can be taken back or let go', async () => {
    const { button, said } = await show([task('a')], { droppedTasks: [{ id: 'x', content: 'The test' }] })
    expect(place.textContent).toContain('Bosun left out: The test')
    await act(() => button('Take back')!.click())
    await act(() => button('Let go')!.click())
    expect(said()).toEqual([{ do: 'take-back', id: 'x' }, { do: 'let-go' }])
  })
  it('another window’s list can only be read', async () => {
    const { marks, said } = await show([task('a')], { session: { ...viewState([]).session!, access: 'read-only' } })
    await act(() => marks()[0]!.click())
    expect([said(), place.querySelector('.task-add'), place.querySelector('.task-actions')]).toEqual([[], null, null])
  })
})
