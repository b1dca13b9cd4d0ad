import { signal } from '@preact/signals'
import { render, type ComponentChildren } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import type { PlanReviewView, ViewState } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { PlanReview } from '../../../webview/components/docks/plan-dock.tsx'
import { ToolRowView } from '../../../webview/components/rows/tool-row.tsx'
import { createChatStore } from '../../../webview/store/chat-store.ts'
import { snapshot, toolRow, viewState } from '../store/fixture-rows.ts'

let place: HTMLElement
beforeEach(() => {
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

async function show(state: Partial<ViewState>, node: ComponentChildren) {
  const said: ViewMessage[] = []
  const store = createChatStore({ needSnapshot: () => undefined })
  store.apply([snapshot(1, viewState([], state))])
  const safeHtml = (html: string) => {
    const template = document.createElement('template')
    template.innerHTML = html
    return template.content
  }
  // All that these read of the application.
  const app = { store, now: signal(0), width: signal(300), ui: { isOpen: () => false, setOpen: () => undefined }, safeHtml, actions: createChatActions((message) => said.push(message)) } as unknown as App
  await act(() => render(<AppContext.Provider value={app}>{node}</AppContext.Provider>, place))
  const nameOf = (button: HTMLButtonElement) => button.getAttribute('aria-label') ?? button.textContent?.trim() ?? ''
  const buttons = () => [...place.querySelectorAll('button')]
  return {
    names: () => buttons().map(nameOf),
    async press(name: string) {
      await act(() => buttons().find((button) => nameOf(button) === name)!.click())
      return said.splice(0)
    },
  }
}

describe('the dock of a plan', () => {
  const plan: PlanReviewView = { id: 'k', callId: 'c', title: 'Mend it', text: '# Mend it\n\nFirst this.', isEdited: false, comments: 0, who: null }
  const drafts: unknown[] = []
  const drawn = (more: Partial<PlanReviewView> = {}) => show({}, <PlanReview plan={{ ...plan, ...more }} list={null} draft={undefined} onDraft={(draft) => drafts.push(draft)} />)

  it('shows the plan once under its title, with the three decisions', async () => {
    const { names } = await drawn()
    expect(names()).toEqual(['Mend it', 'Open the plan in the editor', 'Approve', 'Refuse…', 'Discuss'])
    expect([place.querySelector('section')?.getAttribute('aria-label'), place.textContent?.match(/Mend it/g)?.length, place.textContent?.includes('First this.')]).toEqual(['Plan', 1, true])
  })
  it.each([
    ['Approve', 'approve'],
    ['Discuss', 'discuss'],
    ['Open the plan in the editor', 'open'],
  ])('%s', async (name, action) => expect(await (await drawn()).press(name)).toEqual([{ type: 'plan', id: 'k', action: { do: action } }]))
  it('refuses with words', async () => {
    const { press } = await drawn()
    const asked = await press('Refuse…')
    const box = place.querySelector('input')!
    await act(() => {
      box.value = 'More tests.'
      box.dispatchEvent(new InputEvent('input', { bubbles: true }))
    })
    expect([asked, drafts.at(-1), await press('Keep planning')]).toEqual([[], { note: 'More tests.' }, [{ type: 'plan', id: 'k', action: { do: 'refuse', feedback: 'More tests.' } }]])
  })
  it('says what the person did in the document', async () => {
    const { names } = await drawn({ isEdited: true, comments: 2, who: 'Other talk', sessionId: 's' })
    expect([names().includes('Approve with your changes'), place.querySelector('.plan-facts')?.textContent]).toEqual([true, 'You changed it. 2 comments of yours.'])
  })
})

describe('a call that plan mode refused', () => {
  const row = toolRow('t', { card: 'generic', title: 'Write a.ts' }, null, { state: 'denied', error: 'The session is in plan mode.', isHeldByPlan: true })
  const drawn = (state: Partial<ViewState>) => show(state, <ToolRowView entry={{ id: row.id, row: signal(row), foldClass: 'keep', turn: 1, kind: 'tool' }} />)
  const planning = { composer: { ...viewState([]).composer, isPlanning: true as const } }

  it('can be let through once while the session plans', async () => {
    const { press, names } = await drawn(planning)
    expect(await press('Allow once anyway')).toEqual([{ type: 'plan-allow-once', callId: 'callId' in row ? row.callId : '' }])
    expect(names()).toContain('Allowed once')
  })
  it('cannot once it plans no more, nor in a session of another window', async () => {
    expect((await drawn({})).names()).not.toContain('Allow once anyway')
    render(null, place)
    expect((await drawn({ ...planning, session: { ...viewState([]).session!, access: 'read-only' } })).names()).not.toContain('Allow once anyway')
  })
})
