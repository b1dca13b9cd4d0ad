import { describe, expect, it } from 'vitest'
import type { RunFacts } from '../../../extension/features/workflow/projection.ts'
import type { PageHostMessage, PageMessage } from '../../../extension/protocol/editor-page.ts'
import type { ViewChannel } from '../../../extension/host/view-channel.ts'
import { chatRig, type RigOptions } from './chat-rig.ts'

const run = (more: Partial<RunFacts> = {}): RunFacts => ({
  runId: 'r1', name: 'review', kind: 'workflow', description: 'Looks.', callId: 'c1', startedAt: 0, plannedPhases: [], log: [{ at: 1, text: 'hello' }],
  members: [
    { seq: 1, label: 'one', phase: 'Look', childId: 'k1', startedAt: 1, endedAt: 5, outcome: 'completed', hasResult: true },
    { seq: 2, label: 'two', childId: 'k2', startedAt: 2, endedAt: 6, outcome: 'failed' },
    { seq: 3, label: 'three', phase: 'Look', childId: 'k3', startedAt: 3 },
  ],
  ...more,
})

/** A page on run `r1` of the session on screen. */
async function page(options: RigOptions) {
  const rig = await chatRig({ secrets: { DEEPSEEK_API_KEY: 'k' }, ...options })
  await rig.send('go')
  const posted: PageHostMessage[] = []
  const listeners = new Set<(raw: unknown) => void>()
  let isVisible = true
  const channel: ViewChannel<PageHostMessage> = {
    post: (message) => void posted.push(message),
    onMessage: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
    isVisible: () => isVisible, imageUri: () => null, reload: () => undefined,
  }
  const undo = rig.controller.attachPage({ kind: 'workflow', sessionId: 's1', id: 'r1' }, channel)
  const say = (message: PageMessage | object) => listeners.forEach((listener) => listener(message))
  say({ type: 'ready', version: 1 })
  return { rig, posted, say, undo, listeners, view: () => { const view = posted.at(-1)?.view; return view?.kind === 'workflow' ? view.run : undefined }, hide: () => void (isVisible = false) }
}

describe('the page of a run', () => {
  it('shows members by their phase with state, counts and log', async () => {
    const { view } = await page({ runs: [run()], runningRuns: ['r1'] })
    expect(view()).toMatchObject({ name: 'review', state: 'running', total: 3, finished: 1, failed: 1, canResume: false, cost: null, log: [{ text: 'hello', isPhase: false }] })
    expect(view()?.phases.map(({ title, members }) => [title, members.map(({ label, state, hasResult }) => [label, state, hasResult])])).toEqual([
      ['Look', [['one', 'completed', true], ['three', 'running', false]]],
      [null, [['two', 'failed', false]]],
    ])
  })
  it.each([
    ['cut off', {}, 'interrupted', true],
    ['failed', { stopReason: 'error', error: 'No.' }, 'failed', true],
    ['cancelled', { stopReason: 'cancelled' }, 'cancelled', true],
    ['completed with failed members', { stopReason: 'completed' }, 'completed', true],
    ['completed whole', { stopReason: 'completed', members: [] }, 'completed', false],
  ] as const)('says of a run that is %s whether it can go on', async (_, more, state, canResume) => {
    const { view } = await page({ runs: [run(more)] })
    expect([view()?.state, view()?.canResume]).toEqual([state, canResume])
  })
  it('shows the run that a person resumed it with', async () => {
    const { callId: _, ...resumed } = run({ runId: 'r2', resumedFrom: 'r1', members: [] })
    expect((await page({ runs: [run(), resumed] })).view()?.runId).toBe('r2')
  })
  it('does what the person wants', async () => {
    const { rig, say } = await page({ runs: [run()], runningRuns: ['r1'] })
    say({ type: 'workflow', action: 'cancel' })
    say({ type: 'workflow-member', seq: 1, open: 'result' })
    say({ type: 'workflow', action: 'resume' })
    await Promise.resolve()
    expect(rig.calls).toEqual(expect.arrayContaining([['cancel-run', 'r1', 'The person cancelled it.'], ['resume-run', 'r1']]))
    expect(rig.editor.shown).toContainEqual({ kind: 'text', value: { name: 'workflow/s1/r1/1/one.txt', text: 'result r1 1' } })
  })
  it('shows what a member changed, and takes it back after a yes', async () => {
    const members = run().members.map((member) => (member.seq === 1 ? { ...member, files: 2 } : member))
    const { rig, say, view } = await page({ runs: [run({ members })] })
    expect(view()?.phases.flatMap(({ members: all }) => all.map(({ files }) => files))).toEqual([2, 0, 0])
    say({ type: 'workflow-member', seq: 1, open: 'changes' })
    rig.editor.answers.push(true)
    say({ type: 'workflow-restore', seq: 1 })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(rig.calls).toContainEqual(['restore-before', 'k1'])
    expect(rig.editor.shown).toContainEqual(expect.objectContaining({ kind: 'diffs' }))
    expect(rig.editor.shown).toContainEqual({ kind: 'confirm', value: { text: 'Restore 1 file to before “one”?', detail: expect.stringContaining('What you typed yourself stays.'), yes: 'Restore' } })
  })
  it('ignores what it does not understand, and is silent once it is gone', async () => {
    const { rig, say, posted, undo, listeners } = await page({ runs: [run()] })
    say({ type: 'workflow', action: 'explode' })
    say({ type: 'workflow-member', seq: 0, open: 'result' })
    undo()
    expect([rig.calls.filter((call) => Array.isArray(call) && /run/.test(String(call[0]))), posted.length, listeners.size]).toEqual([[], 1, 0])
  })
  it('of a session that is not open says so', async () => expect((await page({ runs: [] })).view()).toBe(null))
})

describe('the card of a run', () => {
  it('follows the newest run that a person resumed', async () => {
    const { rig } = await page({ runs: [run(), run({ runId: 'r2', resumedFrom: 'r1', stopReason: 'completed' })].map((one, index) => (index === 0 ? one : (({ callId: _, ...rest }) => rest)(one))) })
    expect(rig.state().workflows).toEqual([{ callId: 'c1', runId: 'r2', state: 'completed', total: 3, finished: 2, failed: 1, phase: 'Look', isResumed: true }])
  })
  it('opens its page', async () => {
    const { rig } = await page({ runs: [run()] })
    await rig.say({ type: 'open-run', runId: 'r1' })
    expect(rig.calls).toContainEqual(['page', { kind: 'workflow', sessionId: 's1', id: 'r1' }])
  })
})
