import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ToolCallView, ToolResultView } from '../../../extension/protocol/cards.ts'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import type { CommandView, ToolRow } from '../../../extension/protocol/view-state.ts'
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

const running: ToolCallView = { card: 'terminal', title: 'npm test', cwd: 'web' }
const started: ToolCallView = { card: 'generic', title: 'Start in the background: npm run dev', kind: 'execute', subject: 'npm run dev', rawInput: 'npm run dev', content: [{ type: 'text', text: 'Start it' }] }
const job: ToolResultView = { card: 'generic', jobId: 'bash-1' }
const idle: CommandView = { callId: null, jobId: null, state: 'running', takesInput: false, waitsForInput: false, canMove: false, canRestart: false, ports: [] }

/** The line of one call, with its card open or folded, and what the page asks the host for. */
async function show(row: ToolRow, commands: readonly CommandView[], { isOpen = false, width = 600 } = {}) {
  const asked: ViewMessage[] = []
  const store = createChatStore({ needSnapshot() {} })
  store.apply([{ type: 'snapshot', version: 1, frame: 1, state: viewState([row], { commands }) }])
  const ui = createUiState({ getState: () => undefined, setState() {} }, (work) => work())
  if (isOpen) ui.setOpen(row.id, true)
  // The other parts of the page are not drawn here.
  const app = { store, ui, actions: createChatActions((message) => void asked.push(message)), width: signal(width), now: signal(60_000) } as unknown as App
  await act(() =>
    render(
      <AppContext.Provider value={app}>
        <ToolRowView entry={store.entries.value[0]!} />
      </AppContext.Provider>,
      place,
    ),
  )
  const buttons = () => [...place.querySelectorAll('button')].map((button) => button.getAttribute('aria-label') ?? button.textContent ?? '')
  const press = (name: string) => act(() => [...place.querySelectorAll('button')].find((button) => (button.getAttribute('aria-label') ?? button.textContent) === name)!.click())
  return { asked, buttons, press, store, text: () => place.textContent }
}

describe('the card of a command', () => {
  it.each([
    ['confined', 'sandboxed'],
    ['denied', 'denied by the sandbox'],
  ] as const)('that was %s by the system says so quietly', async (sandbox, words) => {
    const card = await show(toolRow('a', running, { card: 'terminal', output: 'hi', exitCode: 0, sandbox }), [], { isOpen: true })
    expect(card.text()).toContain(words)
  })
  it('that a call waits for ends, takes text, goes to the background and opens as a terminal', async () => {
    const card = await show(toolRow('a', running, null), [{ ...idle, callId: 'call-a', takesInput: true, canMove: true }], { isOpen: true })
    const names = ['End the command', 'Type…: Type to it…', 'To background: Go on in the background', 'Terminal: Open in a terminal']
    expect(card.buttons()).toEqual(['Running npm test', 'Copy command', ...names])
    expect(card.text()).toContain('in web')
    for (const name of names) await card.press(name)
    expect(card.asked).toEqual((['stop', 'send-input', 'to-background', 'open-terminal'] as const).map((action) => ({ type: 'command', of: { callId: 'call-a' }, action })))
  })

  it('folded has the same as icons, with names', async () => {
    const card = await show(toolRow('a', running, null), [{ ...idle, callId: 'call-a', canMove: true }])
    expect(card.buttons().slice(1)).toEqual(['End the command', 'Go on in the background', 'Open in a terminal'])
  })

  it('says without being opened that it waits for input', async () => {
    const card = await show(toolRow('a', running, null), [{ ...idle, callId: 'call-a', takesInput: true, waitsForInput: true }])
    expect(card.text()).toContain('It waits for input.')
    await card.press('Type to it…')
    expect(card.asked).toEqual([{ type: 'command', of: { callId: 'call-a' }, action: 'send-input' }])
  })

  it('of another call offers nothing', async () => {
    const card = await show(toolRow('a', running, null), [{ ...idle, callId: 'call-b', canMove: true }])
    expect(card.buttons()).toEqual(['Running npm test'])
  })

  it('of a job says how that is, where it listens, and acts on it', async () => {
    const card = await show(toolRow('a', started, job), [{ ...idle, jobId: 'bash-1', startedAt: 0, ports: [{ port: 5173, url: 'http://localhost:5173/' }] }])
    expect(card.text()).toBe('Started npm run dev in the backgroundrunning1 minlocalhost:5173')
    await card.press('Open http://localhost:5173/ in the browser')
    await card.press('Kill the job')
    expect(card.asked).toEqual([
      { type: 'open-port', jobId: 'bash-1', port: 5173 },
      { type: 'command', of: { jobId: 'bash-1' }, action: 'stop' },
    ])
  })

  it.each<[string, Partial<CommandView>, string]>([
    ['stopping', { state: 'stopping' }, 'stopping'],
    ['over', { state: 'ended', end: { words: 'exit 1', isBad: true }, durationMs: 3_000, canRestart: true }, 'exit 13 s'],
  ])('of a job that is %s says so', async (_name, more, words) => {
    const card = await show(toolRow('a', started, job), [{ ...idle, jobId: 'bash-1', ...more }])
    expect(card.text()).toBe(`Started npm run dev in the background${words}`)
  })

  it('leaves the room of a narrow view to the command', async () => {
    const card = await show(toolRow('a', started, job), [{ ...idle, jobId: 'bash-1', startedAt: 0 }], { width: 300 })
    expect(card.text()).toBe('Started npm run dev in the backgroundrunning')
  })

  it('of a job that nobody knows any more still says what was started', async () => {
    const card = await show(toolRow('a', started, job), [], { isOpen: true })
    expect(card.text()).toBe('Started npm run dev in the backgroundStart it$ npm run dev')
    expect(card.buttons()).toEqual(['Started npm run dev in the background', 'Copy command'])
  })

  it('that has ended shows its output in colours, how much is left out and where all of it is', async () => {
    const lines = Array.from({ length: 12 }, (_, index) => `\u001b[3${index % 8}mline ${index}\u001b[0m`).join('\n')
    const card = await show(toolRow('a', running, { card: 'terminal', output: lines, exitCode: 1, omittedBytes: 2_048, logPath: '/log' }), [], { isOpen: true })
    expect([...place.querySelectorAll('.ansi span')].map((span) => span.className).slice(-3)).toEqual(['ansi-red', 'ansi-green', 'ansi-yellow'])
    expect(card.text()).toMatch(/4 more lines, show all in editor.*in web2 KB left out/s)
    await card.press('4 more lines, show all in editor')
    await card.press(card.buttons().find((name) => name.endsWith('Open in a terminal'))!)
    expect(card.asked).toEqual([
      { type: 'open-output', callId: 'call-a' },
      { type: 'command', of: { callId: 'call-a' }, action: 'open-terminal' },
    ])
  })
})
