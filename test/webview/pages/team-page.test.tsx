import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, describe, expect, it } from 'vitest'
import type { PageMessage, TeamBoardView, TeamTaskCardView } from '../../../extension/protocol/editor-page.ts'
import { TeamPage } from '../../../webview/pages/team-page.tsx'

const task = (id: string, more: Partial<TeamTaskCardView> = {}): TeamTaskCardView => ({ id, revision: 2, subject: `Do ${id}`, description: '', column: 'pending', owner: null, blockers: [], scopes: [], warnings: [], isReady: true, ...more })
const view: TeamBoardView = {
  title: 'Build it', problem: null, notice: null,
  roster: [
    { id: 'l', name: 'lead', isLead: true, status: 'idle', description: '', line: null },
    { id: 'a', name: 'ada', isLead: false, status: 'running', description: 'Writes', line: 'Reading a.ts' },
    { id: 'b', name: 'bob', isLead: false, status: 'failed', description: '', line: 'No place.' },
  ],
  tasks: [
    task('task-1', { column: 'completed', owner: 'ada' }),
    task('task-2', { column: 'in_progress', owner: 'ada', scopes: ['src'], warnings: ['src is also written by task-9'] }),
    task('task-3', { blockers: [{ id: 'task-1', isDone: true }, { id: 'task-2', isDone: false }], isReady: false }),
  ],
  mail: [{ id: 'm', at: 0, from: 'ada', to: 'lead', isWaking: false, isDelivered: false, text: 'Half way.' }],
}

let box: HTMLElement
afterEach(() => render(null, box))
function draw(board: TeamBoardView | null) {
  const said: PageMessage[] = []
  box = document.createElement('div')
  document.body.append(box)
  void act(() => render(<TeamPage board={board} post={(message) => void said.push(message)} />, box))
  const button = (name: string) => [...box.querySelectorAll('button')].find((one) => (one.getAttribute('aria-label') ?? one.textContent) === name)
  const column = (id: string) => box.querySelector(`[data-column="${id}"]`)!
  const card = (id: string) => box.querySelector<HTMLElement>(`[data-task="${id}"]`)!
  return { said, button, column, card, text: box.textContent ?? '' }
}

describe('the board', () => {
  it('has each card in its column with owner, revision, blockers, scopes and warnings', () => {
    const { column, text } = draw(view)
    expect(['pending', 'in_progress', 'completed'].map((id) => [...column(id).querySelectorAll('.task-card')].map((one) => one.getAttribute('data-task')))).toEqual([['task-3'], ['task-2'], ['task-1']])
    for (const part of ['Build it', '1 of 3 done', '1 at work', 'ada', 'Reading a.ts', 'No place.', 'task-2 · r2', 'src is also written by task-9', 'Half way.']) expect(text).toContain(part)
    expect([column('pending').querySelector('.task-blocked')?.textContent.trim(), column('pending').querySelector('.task-ready')]).toEqual(['task-2', null])
  })
  it.each([
    ['task-3', 'ArrowRight', 'in_progress'], ['task-2', 'ArrowRight', 'completed'], ['task-2', 'ArrowLeft', 'pending'], ['task-1', 'ArrowLeft', 'pending'],
  ] as const)('moves %s by Alt+%s', (id, key, to) => {
    const { said, card } = draw(view)
    card(id).dispatchEvent(new KeyboardEvent('keydown', { key, altKey: true, bubbles: true }))
    card(id).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
    expect(said).toEqual([{ type: 'team-move', taskId: id, revision: 2, to }])
  })
  it('offers each thing by its name', () => {
    const { said, button } = draw(view)
    for (const name of ['Move task-2 to Done', 'Choose who works on task-3', 'Delete task-1', 'Add task…', 'Interrupt ada', 'Message ada', 'Open transcript of ada']) button(name)?.click()
    expect(said).toEqual([
      { type: 'team-move', taskId: 'task-2', revision: 2, to: 'completed' }, { type: 'team-task', taskId: 'task-3', revision: 2, action: 'assign' }, { type: 'team-task', taskId: 'task-1', revision: 2, action: 'delete' },
      { type: 'team-add-task' }, { type: 'team-member', memberId: 'a', action: 'interrupt' }, { type: 'team-member', memberId: 'a', action: 'message' }, { type: 'team-member', memberId: 'a', action: 'transcript' },
    ])
    expect([button('Message Lead'), button('Message bob'), button('Interrupt bob'), button('Move task-1 to In progress')]).toEqual([undefined, undefined, undefined, undefined])
  })
  it('moves a card that is dropped on a column, with the revision it was shown with, and nothing else that is dropped', () => {
    const { said, card, column } = draw(view)
    const data = new Map<string, string>()
    const transfer = { setData: (type: string, text: string) => void data.set(type, text), getData: (type: string) => data.get(type) ?? '', get types() { return [...data.keys()] }, effectAllowed: '' }
    const drag = (on: Element, type: string) => on.dispatchEvent(Object.assign(new Event(type, { bubbles: true, cancelable: true }), { dataTransfer: transfer }))
    drag(column('completed'), 'drop')
    drag(card('task-2'), 'dragstart')
    drag(column('completed'), 'dragover')
    drag(column('completed'), 'drop')
    expect(said).toEqual([{ type: 'team-move', taskId: 'task-2', revision: 2, to: 'completed' }])
  })
  it('says what did not happen until that is dismissed, and why a team cannot go on', () => {
    const { said, button, text } = draw({ ...view, notice: 'Somebody was faster.', problem: 'Event 9 of the log: no.' })
    expect(text).toContain('Somebody was faster.')
    expect(text).toContain('Event 9 of the log')
    button('Dismiss')?.click()
    expect(said).toEqual([{ type: 'team-dismiss' }])
  })
  it('of a session that is not open opens it', () => {
    const { said, button } = draw(null)
    button('Open session')?.click()
    expect(said).toEqual([{ type: 'open-session' }])
  })
})
