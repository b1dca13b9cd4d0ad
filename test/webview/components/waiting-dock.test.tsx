import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import type { ApprovalView, QuestionSetView } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { WaitingDock } from '../../../webview/components/docks/waiting-dock.tsx'
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

const approval: ApprovalView = { id: 'a1', callId: 'c', tool: 'bash', effect: 'Run `make`', why: '', card: null, always: [], who: null }
const setOf = (options: readonly string[], more: Partial<QuestionSetView['questions'][number]> = {}): QuestionSetView => ({
  id: 'q1', callId: 'c1',
  questions: [{ id: 'q', header: null, question: 'Which?', options: options.map((label) => ({ label, description: null })), isMultiSelect: false, ...more }],
})

async function show(set: QuestionSetView) {
  const said: ViewMessage[] = []
  const store = createChatStore({ needSnapshot: () => undefined })
  store.apply([snapshot(1, viewState([], { questions: [set] }))])
  const completion = { box: signal(null), items: signal([]), active: signal(0), look: () => undefined, close: () => undefined }
  const safeHtml = (html: string) => {
    const template = document.createElement('template')
    template.innerHTML = html
    return template.content
  }
  // All that the dock reads of the application.
  const app = { store, completion, now: signal(0), safeHtml, actions: createChatActions((message) => said.push(message)) } as unknown as App
  await act(() => render(<AppContext.Provider value={app}><WaitingDock /></AppContext.Provider>, place))
  return { said, store, button: (name: string) => [...place.querySelectorAll('button')].find((each) => each.textContent?.trim() === name)! }
}

describe('what waits', () => {
  it('stays before the person who is at it when something more urgent comes, with what they have typed', async () => {
    const { store, said, button } = await show(setOf(['A', 'B']))
    const words = place.querySelector<HTMLInputElement>('input:not([type=radio])')!
    await act(() => {
      words.focus()
      words.value = 'mine'
      words.dispatchEvent(new Event('input', { bubbles: true }))
    })
    await act(() => store.apply([patch(2, { change: 'state', key: 'approvals', value: [approval] })]))
    expect([document.activeElement === words, words.isConnected, place.textContent?.includes('Run make')]).toEqual([true, true, true])
    await act(() => button('Answer').click())
    expect(said.at(-1)).toEqual({ type: 'question', id: 'q1', answers: [{ id: 'q', selected: [], custom: 'mine' }] })
  })

  it('of code says what a yes covers beside the buttons, not in the words that scroll', async () => {
    const { store } = await show(setOf(['A']))
    await act(() => store.apply([patch(2, { change: 'state', key: 'approvals', value: [{ ...approval, why: 'It acts.', covers: 'It may run again.' }] }), patch(3, { change: 'state', key: 'questions', value: [] })]))
    const words = (name: string) => place.querySelector(name)?.textContent
    expect([words('.approval-why'), words('.approval-covers')]).toEqual(['It acts.', 'It may run again.'])
    expect(place.querySelector('.approval-covers')?.nextElementSibling?.className).toBe('buttons')
  })

  it('of a server says who asks and what for, and names each of its questions by what it asks', async () => {
    const question = (id: string, more: object = {}) => ({ id, header: 'tides', question: `Which ${id}?`, options: [], isMultiSelect: false, ...more })
    await show({ id: 'q1', callId: 'c1', questions: [question('name', { detail: 'The MCP server **tides** asks, and it alone gets the answer:\n\nWho are you?' }), question('harbour'), question('ship')] })
    const texts = (selector: string) => [...place.querySelectorAll(selector)].map((each) => each.textContent?.trim())
    expect([texts('.dock-title'), texts('.question-detail p'), texts('legend'), texts('.question-folded-text')]).toEqual([
      ['tides asks'],
      ['The MCP server tides asks, and it alone gets the answer:', 'Who are you?'],
      ['Which name?'],
      ['Which harbour?', 'Which ship?'],
    ])
  })

  it('gives way to what is more urgent while nobody is at it', async () => {
    const { store } = await show(setOf(['A', 'B']))
    await act(() => store.apply([patch(2, { change: 'state', key: 'approvals', value: [approval] })]))
    expect(place.querySelector('input[type=radio]')).toBe(null)
  })

  it('shows fifty options, and what is hidden in words of the model, and gives the label back as it came', async () => {
    const odd = 'safe\u202eexe.\u0007 (Recommended)'
    const { said, button } = await show(setOf([odd, ...Array.from({ length: 49 }, (_, index) => `Option ${index}`)], { question: 'Wh\u200bich?' }))
    expect(place.querySelectorAll('input[type=radio]').length).toBe(50)
    expect(place.textContent).toContain('safe\\u{202e}exe.\\u{7}')
    expect(place.textContent).toContain('Wh\\u{200b}ich?')
    await act(() => place.querySelector<HTMLInputElement>('input[type=radio]')!.click())
    await act(() => button('Answer').click())
    expect(said.at(-1)).toEqual({ type: 'question', id: 'q1', answers: [{ id: 'q', selected: [odd] }] })
  })
})
