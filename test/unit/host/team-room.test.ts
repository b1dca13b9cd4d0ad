import { describe, expect, it } from 'vitest'
import { TeamError } from '../../../extension/features/teams/error.ts'
import type { RosterRow, TaskUpdate, TaskView, TeamOverview, Teams } from '../../../extension/features/teams/service.ts'
import type { ViewChannel } from '../../../extension/host/view-channel.ts'
import type { PageHostMessage, PageMessage, TeamColumn } from '../../../extension/protocol/editor-page.ts'
import { chatRig } from './chat-rig.ts'

const task = (more: Partial<TaskView> = {}): TaskView => ({ id: 'task-1', revision: 3, subject: 'Parse', description: '', status: 'pending', blockedBy: [], writeScopes: ['src'], ready: true, writeScopeWarnings: [], ...more })
const roster: readonly RosterRow[] = [
  { id: 's1', name: 'lead', role: 'lead', status: 'idle', diagnostics: [] },
  { id: 'k1', name: 'ada', role: 'teammate', status: 'running', description: 'Writes', diagnostics: [] },
  { id: 'k2', name: 'bob', role: 'teammate', status: 'failed', description: 'Tests', diagnostics: ['No place.'] },
]

/** The board of the session on screen, with one task. */
async function page(one: TaskView, options: { readonly failure?: Error; readonly overview?: Partial<TeamOverview> | null } = {}) {
  const updates: TaskUpdate[] = []
  const said: unknown[] = []
  const listeners = new Set<(teamId: string) => void>()
  const teams: Partial<Teams> = {
    overview: () => (options.overview === null ? null : { teamId: 's1', roster, tasks: [one], mail: [{ id: 'm', at: 5, from: 'ada', to: 'lead', delivery: 'waking', text: 'hi', isDelivered: true }], problem: null, ...options.overview }),
    task: () => one,
    roster: () => roster,
    updateTask: async (_agent, change) => {
      if (options.failure) throw options.failure
      updates.push(change)
      return one
    },
    createTask: async (_agent, wanted) => (said.push(['create', wanted.subject]), one),
    send: async (_agent, { target, message, isFromPerson }) => (said.push(['send', target, message, isFromPerson]), { messageId: 'm', status: 'accepted' as const }),
    allActiveScopes: () => [{ taskId: 'task-1', ownerId: 'k1', ownerName: 'ada', scopes: ['src'], folder: '/project' }],
    onDidChange: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
  }
  const rig = await chatRig({ secrets: { DEEPSEEK_API_KEY: 'k' }, teams })
  await rig.send('go')
  const posted: PageHostMessage[] = []
  const heard = new Set<(raw: unknown) => void>()
  const channel: ViewChannel<PageHostMessage> = { post: (message) => void posted.push(message), onMessage: (listener) => (heard.add(listener), () => void heard.delete(listener)), isVisible: () => true, imageUri: () => null, reload: () => undefined }
  rig.controller.attachPage({ kind: 'team', sessionId: 's1', id: 'board' }, channel)
  const say = async (message: PageMessage | object) => {
    heard.forEach((listener) => listener(message))
    await new Promise((resolve) => setTimeout(resolve))
    rig.clock.advance(100)
  }
  await say({ type: 'ready', version: 1 })
  const board = () => {
    const view = posted.at(-1)?.view
    return view?.kind === 'team' ? view.board : undefined
  }
  return { rig, updates, said, say, board, changed: () => listeners.forEach((listener) => listener('s1')) }
}

describe('the board of a team', () => {
  it('shows members, cards and mail', async () => {
    const { board } = await page(task({ blockedBy: ['task-0'], writeScopeWarnings: ['src is also written by task-2'] }))
    expect(board()).toEqual({
      title: expect.any(String) as string, problem: null, notice: null,
      roster: [
        { id: 's1', name: 'lead', isLead: true, status: 'idle', description: '', line: null },
        { id: 'k1', name: 'ada', isLead: false, status: 'running', description: 'Writes', line: null },
        { id: 'k2', name: 'bob', isLead: false, status: 'failed', description: 'Tests', line: 'No place.' },
      ],
      tasks: [{ id: 'task-1', revision: 3, subject: 'Parse', description: '', column: 'pending', owner: null, blockers: [{ id: 'task-0', isDone: false }], scopes: ['src'], warnings: ['src is also written by task-2'], isReady: true }],
      mail: [{ id: 'm', at: 5, from: 'ada', to: 'lead', isWaking: true, isDelivered: true, text: 'hi' }],
    })
  })
  it('of a session that is not open says so', async () => expect((await page(task(), { overview: null })).board()).toBe(null))

  const moves: readonly [from: TeamColumn, to: TeamColumn, action: string | null, owner?: string][] = [
    ['pending', 'pending', null],
    ['pending', 'in_progress', 'reassign', 'ada'],
    ['pending', 'completed', 'complete'],
    ['in_progress', 'pending', 'release'],
    ['in_progress', 'in_progress', null],
    ['in_progress', 'completed', 'complete'],
    ['completed', 'pending', 'reopen'],
    ['completed', 'in_progress', 'claim'],
    ['completed', 'completed', null],
  ]
  it.each(moves)('a card that is carried from %s to %s asks the board for %s, with the revision that was shown', async (from, to, action, owner) => {
    const { rig, updates, say } = await page(task({ status: from }))
    if (owner !== undefined) rig.editor.answers.push(owner)
    await say({ type: 'team-move', taskId: 'task-1', revision: 2, to })
    expect(updates).toEqual(action === null ? [] : [{ taskId: 'task-1', expectedRevision: 2, action, ...(owner !== undefined && { owner }) }])
  })
  it('a card that waits for another is not offered to anybody, the board refuses it', async () => {
    const { updates, say } = await page(task({ ready: false }))
    await say({ type: 'team-move', taskId: 'task-1', revision: 3, to: 'in_progress' })
    expect(updates).toEqual([{ taskId: 'task-1', expectedRevision: 3, action: 'claim' }])
  })
  it('says of a stale one that somebody was faster, of another refusal why, until the person goes on', async () => {
    const stale = await page(task({ status: 'in_progress' }), { failure: new TeamError('TEAM_TASK_STALE_REVISION', 'x') })
    await stale.say({ type: 'team-move', taskId: 'task-1', revision: 2, to: 'completed' })
    expect(stale.board()?.notice).toMatch(/Somebody changed this task meanwhile/)
    await stale.say({ type: 'team-dismiss' })
    expect(stale.board()?.notice).toBe(null)
    const blocked = await page(task(), { failure: new TeamError('TEAM_TASK_BLOCKED', 'It waits for task-0.') })
    await blocked.say({ type: 'team-move', taskId: 'task-1', revision: 3, to: 'completed' })
    expect(blocked.board()?.notice).toBe('It waits for task-0.')
  })
  it('speaks to members in the name of the person, and adds what they type', async () => {
    const { rig, said, say } = await page(task())
    rig.editor.answers.push('hurry', 'Write docs')
    await say({ type: 'team-member', memberId: 'k1', action: 'message' })
    await say({ type: 'team-add-task' })
    await say({ type: 'team-member', memberId: 'nobody', action: 'message' })
    expect(said).toEqual([['send', 'ada', 'hurry', true], ['create', 'Write docs']])
  })
  it('ignores what it does not understand', async () => {
    const { updates, say } = await page(task({ status: 'in_progress' }))
    await say({ type: 'team-move', taskId: 'task-1', revision: 0, to: 'completed' })
    await say({ type: 'team-move', taskId: 'task-1', revision: 1, to: 'deleted' })
    expect(updates).toEqual([])
  })
  it('marks the files of active scopes with the initial of who works there, once', async () => {
    const { rig, changed } = await page(task())
    changed()
    changed()
    expect(rig.calls.filter((one) => Array.isArray(one) && one[0] === 'marks')).toEqual([['marks', [{ path: '/project/src', badge: 'A', tooltip: 'ada works on task-1' }]]])
  })
})

describe('Show Team Board', () => {
  it('opens the page of the session on screen, and says what to do where there is no team', async () => {
    const { rig } = await page(task())
    await rig.controller.run('show-team-board')
    expect(rig.calls).toContainEqual(['page', { kind: 'team', sessionId: 's1', id: 'board' }])
    const none = await page(task(), { overview: null })
    await none.rig.controller.run('show-team-board')
    await none.rig.settle()
    expect(none.rig.state().notices.map(({ text }) => text)).toContainEqual(expect.stringMatching(/no team/))
  })
})
