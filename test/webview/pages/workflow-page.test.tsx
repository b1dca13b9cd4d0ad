import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, describe, expect, it } from 'vitest'
import type { PageMessage, WorkflowRunView } from '../../../extension/protocol/editor-page.ts'
import { WorkflowPage } from '../../../webview/pages/workflow-page.tsx'

const member = { seq: 1, label: 'Read it', state: 'completed', startedAt: 0, endedAt: 3_000, isReused: false, hasResult: true, canOpen: true, files: 0, lastLine: null, cost: '$0.02' } as const
const view: WorkflowRunView = {
  runId: 'r', name: 'review', kind: 'workflow', description: 'Looks.', state: 'running', error: null, startedAt: 0, endedAt: null,
  phases: [{ title: 'Look', members: [member, { ...member, seq: 2, label: 'Judge it', state: 'running', endedAt: null, hasResult: false, lastLine: 'Reading a.ts', cost: null }] }],
  log: [{ at: 0, text: 'Looking', isPhase: false }], total: 2, finished: 1, failed: 0, reused: 0, cost: '$0.02', canResume: false, resumedBy: null,
}

let box: HTMLElement
afterEach(() => render(null, box))
function draw(run: WorkflowRunView | null) {
  const said: PageMessage[] = []
  box = document.createElement('div')
  document.body.append(box)
  void act(() => render(<WorkflowPage run={run} post={(message) => void said.push(message)} now={signal(5_000)} />, box))
  const button = (name: string) => [...box.querySelectorAll('button')].find((one) => (one.getAttribute('aria-label') ?? one.textContent) === name)
  return { said, button, text: box.textContent ?? '' }
}

describe('the page of a run', () => {
  it('says how far it is, each member with state, time and cost, and what it said', () => {
    const { text } = draw(view)
    for (const part of ['review', 'Running · 1 of 2 finished · 5 s · $0.02', 'Look', '1 of 2', 'Read it', '3 s · $0.02', 'Reading a.ts', 'Looking']) expect(text).toContain(part)
    expect(box.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')).toBe('1')
  })
  it('offers what can be done now, by name', () => {
    const { said, button } = draw(view)
    button('Cancel')?.click()
    button('Show script')?.click()
    button('Show result of Read it')?.click()
    button('Open transcript of Judge it')?.click()
    expect([button('Resume'), button('Show result of Judge it')]).toEqual([undefined, undefined])
    expect(said).toEqual([
      { type: 'workflow', action: 'cancel' }, { type: 'workflow', action: 'show-script' },
      { type: 'workflow-member', seq: 1, open: 'result' }, { type: 'workflow-member', seq: 2, open: 'transcript' },
    ])
  })
  it.each([
    ['interrupted', 'Resume', 'The window closed while it ran'],
    ['cancelled', 'Resume', 'Canceled'],
    ['failed', 'Retry failed', 'It broke.'],
    ['completed', 'Retry failed', '1 failed'],
  ] as const)('of one that is %s offers “%s”', (state, name, words) => {
    const { said, button, text } = draw({ ...view, state, failed: state === 'completed' ? 1 : 0, error: state === 'failed' ? 'It broke.' : null, canResume: true })
    expect(text).toContain(words)
    button(name)?.click()
    expect(said).toEqual([{ type: 'workflow', action: 'resume' }])
  })
  it('shows and takes back what a member changed, where it changed something', async () => {
    const { said, button, text } = draw({ ...view, phases: [{ title: 'Look', members: [{ ...member, files: 2 }, { ...member, seq: 2, label: 'Judge it', state: 'running', endedAt: null }] }] })
    expect(text).toContain('2 files · 3 s')
    expect(button('Show changes of Judge it')).toBe(undefined)
    button('Show changes of Read it')?.click()
    button('Restore to before Read it')?.click()
    expect(said).toEqual([{ type: 'workflow-member', seq: 1, open: 'changes' }, { type: 'workflow-restore', seq: 1 }])
  })
  it('closes a phase once all of it went well, opens one that did not, and leaves it to the person then', async () => {
    const phase = (state: 'running' | 'completed' | 'failed') => ({ ...view, phases: [{ title: 'Look', members: [{ ...member, state }] }] })
    const isOpen = () => box.querySelector('.phase-toggle')?.getAttribute('aria-expanded')
    draw(phase('running'))
    expect(isOpen()).toBe('true')
    const show = (state: 'running' | 'completed' | 'failed') => act(() => render(<WorkflowPage run={phase(state)} post={() => undefined} now={signal(5_000)} />, box))
    await show('completed')
    expect([isOpen(), box.querySelector('.member')]).toEqual(['false', null])
    await act(() => box.querySelector<HTMLElement>('.phase-toggle')!.click())
    await show('completed')
    expect(isOpen()).toBe('true')
    await act(() => box.querySelector<HTMLElement>('.phase-toggle')!.click())
    await show('failed')
    expect(isOpen()).toBe('true')
  })
  it('lists the rounds of Ralph one under the other, since each is a phase of its own', () => {
    draw({ ...view, kind: 'ralph', phases: [1, 2].map((round) => ({ title: `Round ${round}`, members: [{ ...member, seq: round, label: `Round ${round}` }] })) })
    expect([box.querySelectorAll('.phase').length, [...box.querySelectorAll('.member-label')].map(({ textContent }) => textContent)]).toEqual([0, ['Round 1', 'Round 2']])
  })
  it('that was resumed offers it no second time', () => expect(draw({ ...view, state: 'interrupted', canResume: true, resumedBy: 'r2' }).button('Resume')).toBe(undefined))
  it('of a session that is not open opens it', () => {
    const { said, button } = draw(null)
    button('Open session')?.click()
    expect(said).toEqual([{ type: 'open-session' }])
  })
})
