import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ToolCallView, ToolResultView } from '../../../extension/protocol/cards.ts'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import type { AgentView, SessionView, ToolRow } from '../../../extension/protocol/view-state.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { ChildBar, ChildFoot } from '../../../webview/components/child-bar.tsx'
import { ToolRowView } from '../../../webview/components/rows/tool-row.tsx'
import { createChatStore } from '../../../webview/store/chat-store.ts'
import { foldClassOf } from '../../../webview/store/fold-class.ts'
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

const call: ToolCallView = { card: 'generic', title: 'Agent: Fix tests', kind: 'other', face: 'agent', rawInput: 'Fix them.' }
const started: ToolResultView = { card: 'generic', title: 'Started agent: Fix tests', agentId: 'a' }
const agent = (id: string, more: Partial<AgentView> = {}): AgentView => ({
  id, callId: 'call-a', label: `task ${id}`, state: 'running', isAsking: false, lastLine: null, cost: null, startedAt: 50_000, endedAt: null, canOpen: true, canInterrupt: true, children: [], ...more,
})

function page(session: Partial<SessionView> = {}, rows: readonly ToolRow[] = [], agents: readonly AgentView[] = []) {
  const asked: ViewMessage[] = []
  const store = createChatStore({ needSnapshot() {} })
  const state = viewState(rows, { agents })
  store.apply([{ type: 'snapshot', version: 1, frame: 1, state: { ...state, session: state.session === null ? null : { ...state.session, ...session } } }])
  const ui = createUiState({ getState: () => undefined, setState() {} }, (work) => work())
  // The other parts of the page are not drawn here.
  const app = { store, ui, actions: createChatActions((message) => void asked.push(message)), width: signal(600), now: signal(60_000) } as unknown as App
  const buttons = () => [...place.querySelectorAll('button')].map((button) => button.getAttribute('aria-label') ?? button.textContent ?? '')
  const press = (name: string) => act(() => [...place.querySelectorAll('button')].find((button) => (button.getAttribute('aria-label') ?? button.textContent) === name)!.click())
  const draw = (node: preact.ComponentChild) => act(() => render(<AppContext.Provider value={app}>{node}</AppContext.Provider>, place))
  return { asked, store, buttons, press, draw, text: () => place.textContent }
}

async function card(row: ToolRow, agents: readonly AgentView[]) {
  const shown = page({}, [row], agents)
  await shown.draw(<ToolRowView entry={shown.store.entries.value[0]!} />)
  return shown
}

describe('the card of an agent', () => {
  it('says what it does, what it costs and how long, and opens its transcript or interrupts it', async () => {
    const shown = await card(toolRow('a', call, null), [agent('a', { lastLine: 'Running npm test', cost: '$0.04' })])
    expect(shown.text()).toBe('Agent: Fix tests$0.0410 s  Running npm test')
    expect(shown.buttons()).toEqual(['Agent: Fix tests', 'Interrupt', 'Open transcript', 'Running npm test, open transcript'])
    await shown.press('Open transcript')
    await shown.press('Running npm test, open transcript')
    await shown.press('Interrupt')
    expect(shown.asked).toEqual([{ type: 'session-open', id: 'a' }, { type: 'session-open', id: 'a' }, { type: 'agent', id: 'a', action: 'interrupt' }])
  })

  it.each<[string, Partial<AgentView>, string]>([
    ['works', {}, 'Started agent: Fix testsrunning10 s'],
    ['asks', { isAsking: true }, 'Started agent: Fix testswaits for you10 s'],
    ['is quiet', { state: 'idle' }, 'Started agent: Fix testsidle10 s'],
    ['failed', { state: 'failed', endedAt: 55_000, cost: '$0.10' }, 'Started agent: Fix testsfailed$0.105 s'],
    ['was stopped', { state: 'aborted', endedAt: 52_000 }, 'Started agent: Fix testsstopped2 s'],
  ])('follows it after the call ended: it %s', async (_name, more, text) => expect((await card(toolRow('a', call, started), [agent('a', more)])).text()).toBe(text))

  it('stands still once the agent is done, though its call waits for others', async () => {
    await card(toolRow('a', call, null), [agent('a', { state: 'completed', endedAt: 52_000, canInterrupt: false })])
    expect(place.querySelector('.codicon-modifier-spin')).toBeNull()
  })

  it('has a line for each that it started', async () => {
    const shown = await card(toolRow('a', call, null), [agent('a', { children: [agent('b', { callId: null, state: 'queued', canInterrupt: false }), agent('c', { callId: null, state: 'completed', endedAt: 52_000, canInterrupt: false, lastLine: 'All green.' })] })])
    expect(shown.buttons().slice(3)).toEqual(['task b queued, open transcript', 'task c done · 2 s All green., open transcript'])
  })

  it('names each where one call started several', async () => {
    const shown = await card(toolRow('a', { card: 'generic', title: 'Run a program' }, null), [agent('a'), agent('b', { canOpen: false, canInterrupt: false })])
    expect(shown.buttons()).toEqual(['Run a program', 'task a running · 10 s, open transcript', 'Interrupt “task a”'])
    expect(shown.text()).toContain('task b running')
  })

  it('opens the transcript of one that this window knows nothing of any more', async () => {
    const shown = await card(toolRow('a', call, started), [])
    await shown.press('Open transcript')
    expect(shown.asked).toEqual([{ type: 'session-open', id: 'a' }])
  })

  it('does not fold away with its turn', () => expect(foldClassOf(toolRow('a', call, started))).toBe('keep'))
})

describe('the transcript of an agent', () => {
  const child = { parentId: 's9', parentTitle: 'Ship it', canWrite: false, blockedBy: 'It gives one answer.', canTakeOver: true }

  it('says whose it is, with the way back and the way to take it over', async () => {
    const shown = page({ id: 'a', child })
    await shown.draw(<ChildBar />)
    expect(shown.buttons()).toEqual(['Agent of: Ship it', 'Take over'])
    for (const name of shown.buttons()) await shown.press(name)
    expect(shown.asked).toEqual([{ type: 'session-open', id: 's9' }, { type: 'agent', id: 'a', action: 'take-over' }])
  })

  it('says why no words reach it, and interrupts while it works', async () => {
    const shown = page({ id: 'a', child, status: 'running' })
    await shown.draw(<ChildFoot session={shown.store.state.session.value!} />)
    expect(shown.text()).toBe('It gives one answer.Interrupt')
    await shown.press('Interrupt')
    expect(shown.asked).toEqual([{ type: 'stop' }])
  })

  it('says nothing of the kind in a session of the person', async () => {
    const shown = page()
    await shown.draw(<ChildBar />)
    expect(shown.text()).toBe('')
  })
})
