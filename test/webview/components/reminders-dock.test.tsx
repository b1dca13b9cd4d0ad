import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import type { ReminderView, RemindersView } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { RemindersDock, untilText } from '../../../webview/components/docks/reminders-dock.tsx'
import { viewState } from '../store/fixture-rows.ts'

const now = Date.UTC(2026, 2, 29, 10)
const reminder = (more: Partial<ReminderView> = {}): ReminderView => ({ id: 'schedule-1', text: 'Drink water', at: now + 300_000, recurrence: null, isTask: false, isPaused: false, isSnoozed: false, skipsMissed: false, ...more })

let place: HTMLElement
let posted: ViewMessage[]
beforeEach(() => {
  posted = []
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

/** The dock with what it reaches for, and no more. */
const show = (reminders: RemindersView, { isOpen = true, access = 'write' }: { readonly isOpen?: boolean; readonly access?: 'write' | 'read-only' } = {}) => {
  const { session } = viewState([])
  const app = {
    store: { state: { reminders: signal(reminders), session: signal({ ...session!, access }) } },
    ui: { isOpen: () => isOpen, setOpen: () => undefined },
    actions: createChatActions((message) => void posted.push(message)),
    now: signal(now),
  } as unknown as App
  return act(() =>
    render(
      <AppContext.Provider value={app}>
        <RemindersDock />
      </AppContext.Provider>,
      place,
    ),
  )
}
const buttons = () => [...place.querySelectorAll('li button')].map((button) => button.getAttribute('aria-label'))

describe('the panel of reminders', () => {
  it('is not there without any', async () => {
    await show({ items: [], problem: null })
    expect(place.textContent).toBe('')
  })
  it('is a region of its name with the next one on its line', async () => {
    await show({ items: [reminder(), reminder({ id: 'schedule-2' })], problem: null }, { isOpen: false })
    expect([place.querySelector('[role=region]')?.getAttribute('aria-label'), place.textContent]).toEqual(['Reminders', '2 remindersin 5 min · Drink water'])
  })
  it('says of each when it comes and what it is, and marks what is due', async () => {
    await show({ items: [reminder({ at: now - 1, isTask: true, recurrence: 'every hour', isSnoozed: true, skipsMissed: true }), reminder({ id: 'b', at: null, isPaused: true })], problem: null })
    const [first, second] = [...place.querySelectorAll('li')].map((item) => item.querySelector('.reminder-when')?.textContent)
    expect([first?.replace(/· [^·]*? ·/, '·'), second, place.querySelectorAll('.reminder-due').length]).toEqual(['due · every hour · Bosun works by itself · snoozed · left out when missed', 'paused', 1])
  })
  it('every action is a button with its name, and says which reminder it is for', async () => {
    await show({ items: [reminder()], problem: null })
    expect(buttons()).toEqual(['Run now: Drink water', 'Snooze: Drink water', 'Pause: Drink water', 'Edit: Drink water', 'Delete: Drink water'])
    for (const button of place.querySelectorAll<HTMLButtonElement>('li button')) await act(() => button.click())
    expect(posted).toEqual(['run', 'snooze', 'pause', 'edit', 'delete'].map((action) => ({ type: 'reminder', id: 'schedule-1', action })))
  })
  it('what is paused can be resumed, and not put off', async () => {
    await show({ items: [reminder({ at: null, isPaused: true })], problem: null })
    expect(buttons()).toEqual(['Run now: Drink water', 'Resume: Drink water', 'Edit: Drink water', 'Delete: Drink water'])
  })
  it('a session that is only read has no buttons', async () => {
    await show({ items: [reminder()], problem: null }, { access: 'read-only' })
    expect(buttons()).toEqual([])
  })
  it('says why none is delivered', async () => {
    await show({ items: [reminder()], problem: 'Not trusted.' }, { isOpen: false })
    expect(place.querySelector('.reminders-problem')?.textContent).toContain('Not trusted.')
  })
})

it.each([[1, 'in 1 s'], [60_000, 'in 60 s'], [60_001, 'in 2 min'], [59 * 60_000, 'in 59 min'], [5_400_000, 'in 2 h'], [3 * 86_400_000, 'in 3 d']])('%i ms away is %s', (ms, words) => expect(untilText(ms)).toBe(words))
