import { describe, expect, it } from 'vitest'
import type { FileReview, Reviews, UndoTarget } from '../../../extension/features/checkpoints/service.ts'
import { chatRig } from './chat-rig.ts'

const hunk = { baseFrom: 1, baseTo: 2, from: 1, to: 3, removed: ['two\n'], added: ['\n', '  TWO\n'], isMixed: false }
const review: FileReview = { path: '/project/a', baseline: 'one\ntwo\n', now: 'one\n\n  TWO\n', hunks: [hunk], isText: true, isChanged: true }

/** A session in which one file waits. */
async function rig(over: Partial<Reviews> = {}, settings = {}) {
  const asked: unknown[] = []
  let tell: (sessionId: string) => void = () => undefined
  const clean = { paths: ['/project/a'], conflicts: [], problems: [] }
  let files = [{ path: '/project/a', base: null, steps: [{ seq: 1, callId: 'c1', turn: 1, before: null, after: 'd' }], calls: ['c1'] }]
  const made = await chatRig({
    settings,
    reviews: {
      of: () => ({ files, turns: [{ turn: 1, state: 'pending' }] }),
      file: async (_session, path) => (path === review.path ? review : null),
      plan: async (_session, target) => (asked.push(['plan', target]), clean),
      undo: async (_session, target, options) => (asked.push(['undo', target, options?.overConflicts === true]), clean),
      keep: async (_session, target) => (asked.push(['keep', target]), clean),
      onDidChange: (listener) => {
        tell = listener
        return () => undefined
      },
      ...over,
    },
  })
  await made.send('hello')
  const settle = async () => {
    made.clock.advance(200)
    await made.settle()
  }
  await settle()
  return {
    ...made,
    asked,
    settle,
    async step() {
      files = [{ ...files[0]!, steps: [...files[0]!.steps, { seq: 9, callId: 'c2', turn: 1, before: null, after: 'e' }] }]
      tell('s1')
      await settle()
    },
  }
}

describe('what waits', () => {
  it('is told to the page: turns and calls', async () => {
    const r = await rig()
    expect(r.state().review).toEqual({ turns: [{ turn: 1, state: 'pending' }], calls: ['c1'] })
  })
  it('is shown in the tree with its regions', async () => {
    const r = await rig()
    expect(r.surface.shown).toEqual({
      hasMarks: true,
      files: [
        {
          path: '/project/a', kind: 'changed', baseline: 'one\ntwo\n', added: 2, removed: 1,
          regions: [{ startLine: 2, endLine: 3, hasLines: true, label: 'TWO', added: 2, removed: 1, place: { baseFrom: 1, baseTo: 2, from: 1, to: 3 } }],
        },
      ],
    })
  })
  it('is looked at again when somebody changes a file of it, and no other', async () => {
    const looked: string[] = []
    const r = await rig({ file: async (_session, path) => (looked.push(path), review) })
    looked.length = 0
    r.surface.change('/project/other')
    await r.settle()
    expect(looked).toEqual([])
    r.surface.change('/project/a')
    await r.settle()
    expect(looked).toEqual(['/project/a'])
  })
  it('has no marks in the editor where the settings say so', async () => {
    expect((await rig({}, { 'ui.diffMode': 'chat' })).surface.shown.hasMarks).toBe(false)
  })
  it('is followed only where the settings say so, and only what is new', async () => {
    const [off, on] = [await rig(), await rig({}, { 'ui.followAlong': true })]
    expect(on.surface.followed).toEqual([])
    await off.step()
    await on.step()
    expect([off.surface.followed, on.surface.followed]).toEqual([[], [{ path: '/project/a', line: 2 }]])
  })
})

describe('keeping and undoing', () => {
  it.each([
    ['a call from its card', { type: 'review', verb: 'keep', what: { callId: 'c1' } }, ['keep', { kind: 'call', callId: 'c1' }]],
    ['a call back from its card', { type: 'review', verb: 'undo', what: { callId: 'c1' } }, ['undo', { kind: 'call', callId: 'c1' }, false]],
    ['a turn', { type: 'review', verb: 'keep', what: { turn: 1 } }, ['keep', { kind: 'turn', turn: 1 }]],
    ['a turn back', { type: 'review', verb: 'undo', what: { turn: 1 } }, ['undo', { kind: 'turn', turn: 1 }, false]],
  ] as const)('%s', async (_name, message, call) => {
    const r = await rig()
    await r.say(message)
    expect(r.asked).toEqual([call])
  })
  it('a region that the tree, a lens or the peek points at, and the one at the cursor', async () => {
    const r = await rig()
    await r.controller.run('keep-change', ['/project/a'], { place: { baseFrom: 1, baseTo: 2, from: 1, to: 3 } })
    await r.controller.run('undo-change', ['/project/a'], { startLine: 3, endLine: 3 })
    r.surface.cursorAt = { path: '/project/a', line: 2 }
    await r.controller.run('undo-change')
    expect(r.asked).toEqual([['keep', { kind: 'hunk', path: '/project/a', hunk }], ['undo', { kind: 'hunk', path: '/project/a', hunk }, false], ['undo', { kind: 'hunk', path: '/project/a', hunk }, false]])
  })
  it('says so where nothing waits', async () => {
    const r = await rig()
    r.surface.cursorAt = { path: '/project/a', line: 1 }
    await r.controller.run('undo-change')
    await r.controller.run('undo-file', ['/project/other'])
    await r.settle()
    expect([r.asked, r.state().notices.map(({ text }) => text)]).toEqual([[], ['Nothing waits for your review here.']])
  })
  it('all of it only after a yes', async () => {
    const r = await rig()
    await r.controller.run('undo-all')
    expect(r.asked).toEqual([])
    r.editor.answers.push(true)
    await r.controller.run('undo-all')
    await r.controller.run('keep-all')
    expect(r.asked).toEqual([['undo', { kind: 'all' }, false], ['keep', { kind: 'all' }]])
  })
  it('lines that the person changed too go only after two answers', async () => {
    const undone: unknown[] = []
    const r = await rig({ undo: async (_session, target: UndoTarget, options) => (undone.push([target.kind, options?.overConflicts === true]), { paths: [], conflicts: ['/project/a'], problems: [] }) })
    await r.say({ type: 'review', verb: 'undo', what: { turn: 1 } })
    expect(r.state().notices).toMatchObject([{ level: 'warning', text: 'You changed the same lines of a since. They stay as they are.', actions: [{ id: 'compare' }, { id: 'undo' }] }])
    await r.say({ type: 'notice-action', id: 'review', action: 'undo' })
    expect(undone).toEqual([['turn', false]])
    r.editor.answers.push(true)
    await r.say({ type: 'notice-action', id: 'review', action: 'undo' })
    expect(undone).toEqual([['turn', false], ['turn', true]])
  })
  it('says how many files went back, whatever stays as it is', async () => {
    const r = await rig({ undo: async () => ({ paths: ['/project/a', '/project/b', '/project/c'], conflicts: ['/project/a'], problems: [{ path: '/project/d', problem: 'It is locked.' }] }) })
    await r.say({ type: 'review', verb: 'undo', what: { turn: 1 } })
    expect(r.state().notices).toMatchObject([{ level: 'warning', text: '2 files went back. You changed the same lines of a since. They stay as they are. d stays as it is. It is locked.' }])
  })
  it('where both changed the same lines opens the merge editor, and a diff where there is none', async () => {
    const sides = { agent: 'one\nTWO\n', without: 'one\ntwo\n' }
    const r = await rig({ undo: async () => ({ paths: [], conflicts: ['/project/a'], problems: [] }), file: async () => ({ ...review, sides }) })
    const compare = async () => {
      await r.say({ type: 'review', verb: 'undo', what: { turn: 1 } })
      await r.say({ type: 'notice-action', id: 'review', action: 'compare' })
      return r.editor.take().map(({ kind, value }) => ({ kind, value }))
    }
    expect(await compare()).toMatchObject([
      { kind: 'merge', value: { path: '/project/a', base: { text: sides.agent }, mine: { text: { text: review.now }, title: 'Your Text' }, theirs: { text: { text: sides.without }, title: 'Text without Bosun' } } },
    ])
    r.editor.withoutMerge()
    expect((await compare()).map(({ kind }) => kind)).toEqual(['merge', 'diff'])
  })
  it('back to a message names the files and asks', async () => {
    const r = await rig()
    await r.say({ type: 'restore-to', turn: 1 })
    expect(r.editor.take().at(-1)).toMatchObject({ kind: 'confirm', value: { text: 'Restore 1 file to before this message?', detail: expect.stringMatching(/^a\n/) } })
    r.editor.answers.push(true)
    await r.say({ type: 'restore-to', turn: 1 })
    expect(r.asked.at(-1)).toEqual(['undo', { kind: 'since', turn: 1 }, false])
  })
  it('back to a message where nothing can be restored says why, and does not ask', async () => {
    const r = await rig({ plan: async () => ({ paths: [], conflicts: ['/project/a'], problems: [] }) })
    await r.say({ type: 'restore-to', turn: 1 })
    expect([r.editor.take().filter(({ kind }) => kind === 'confirm'), r.asked]).toEqual([[], []])
    expect(r.state().notices).toMatchObject([{ text: 'You changed the same lines of a since. They stay as they are.', actions: [{ id: 'compare' }, { id: 'undo' }] }])
  })
})

describe('looking', () => {
  it('opens what waits against the file without it', async () => {
    const r = await rig()
    await r.controller.run('review-changes')
    expect(r.editor.take().at(-1)).toMatchObject({ kind: 'diff', value: { path: '/project/a', before: { text: 'one\ntwo\n' } } })
  })
  it('opens a turn against the files before it, several in one', async () => {
    const r = await rig({ turnStart: async () => [{ path: '/project/a', before: 'one\n' }, { path: '/project/b', before: null }] })
    await r.say({ type: 'review-turn', turn: 1 })
    expect(r.editor.take().at(-1)).toMatchObject({ kind: 'diffs', value: { files: [{ path: '/project/a', before: { text: 'one\n' } }, { path: '/project/b', before: null }] } })
    await r.say({ type: 'review-turn', turn: 1, path: 'a' })
    expect(r.editor.take().at(-1)).toMatchObject({ kind: 'diff', value: { path: '/project/a' } })
  })
})
