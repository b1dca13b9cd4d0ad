import { describe, expect, it } from 'vitest'
import type { ChildWork, WorkFile, Worktrees } from '../../../extension/features/subagents/worktree/service.ts'
import { chatRig } from './chat-rig.ts'

const work: ChildWork = { id: 'w1', label: 'Mend it', branch: 'bosun/mend-it-1', root: '/storage/w1/project', repository: '/project', files: 2 }
const hunk = (from: number, more: object = {}) => ({ baseFrom: from, baseTo: from + 1, from, to: from + 1, removed: [`old ${from}\n`], added: [`  new ${from}\n`], isInConflict: false, isTaken: false, ...more })
const file = (path: string, more: Partial<WorkFile> = {}): WorkFile => ({
  changed: { path, kind: 'changed', target: `/project/${path}` }, path: `/project/${path}`, isText: true, base: 'base\n', theirs: 'theirs\n', ours: 'ours\n', hunks: [hunk(1)], isInConflict: false, isTaken: false, ...more,
})

async function rig({ files = [file('a'), file('b')], works = [work], outcome = {} }: { readonly files?: readonly WorkFile[]; readonly works?: readonly ChildWork[]; readonly outcome?: object } = {}) {
  const asked: unknown[] = []
  let waiting = works
  let tell: (sessionId: string) => void = () => undefined
  const worktrees: Partial<Worktrees> = {
    waiting: () => waiting,
    files: async () => files.map(({ changed }) => changed),
    file: async (_session, _id, path) => files.find(({ changed }) => changed.path === path) ?? null,
    accept: async (_session, id, what) => (asked.push(['accept', id, what]), { paths: files.map(({ path }) => path), conflicts: [], problems: [], ...outcome }),
    close: async (_session, id, options) => {
      asked.push(['close', id, options])
      waiting = waiting.filter((one) => one.id !== id)
    },
    onDidChange: (listener) => {
      tell = listener
      return () => undefined
    },
  }
  const made = await chatRig({ worktrees })
  await made.send('hello')
  tell('s1')
  await made.settle()
  const notices = () => made.state().notices.filter(({ id }) => id.startsWith('child-work')).map(({ text }) => text)
  const review = async (...answers: Parameters<typeof made.editor.answers.push>) => {
    made.editor.answers.push(...answers)
    made.editor.take()
    await made.controller.run('review-child-work')
    await made.settle()
    tell('s1')
    await made.settle()
    return made.editor.take()
  }
  return { ...made, asked, notices, review }
}

describe('the work of a child', () => {
  it('is told in the chat with what can be done, and not where there is none', async () => {
    expect((await rig()).notices()).toEqual(['“Mend it” changed 2 files in a worktree of its own. Your files are as they were.'])
    expect((await rig({ works: [{ ...work, files: 1 }] })).notices()).toEqual(['“Mend it” changed 1 file in a worktree of its own. Your files are as they were.'])
    expect((await rig({ works: [] })).notices()).toEqual([])
  })

  it('is shown as one diff of all files, from where the child began to what it made', async () => {
    const r = await rig({ files: [file('src/a'), file('new', { base: null }), file('bin', { isText: false })] })
    const [diffs] = await r.review(null)
    expect(diffs).toMatchObject({ kind: 'diffs', value: { title: 'Work of “Mend it”', files: [{ path: '/project/src/a', before: { text: 'base\n' }, after: { text: 'theirs\n' } }, { path: '/project/new', before: null, after: { text: 'theirs\n' } }] } })
    expect(r.asked).toEqual([])
  })

  it('is taken over whole, and the worktree goes when nothing is left', async () => {
    const r = await rig()
    await r.review('all')
    expect(r.asked).toEqual([['accept', 'w1', { paths: ['a', 'b'] }], ['close', 'w1', { keepsBranch: false, isDone: true }]])
    expect(r.notices()).toEqual(['2 files of “Mend it” taken over. The review can take it back.'])
  })

  it('stays where something was in the way', async () => {
    const r = await rig({ outcome: { paths: ['/project/a'], conflicts: ['/project/b'] } })
    await r.review('all')
    expect(r.asked).toHaveLength(1)
    expect(r.notices()).toContain('1 file taken over. In 1 you changed the same lines since; they stay as they are.')
  })

  it('says what could not be written beside what could', async () => {
    const r = await rig({ outcome: { paths: ['/project/a'], problems: [{ path: '/project/b', problem: 'It is locked.' }] } })
    await r.review('all')
    expect(r.notices()).toContain('1 file taken over. b: It is locked.')
  })

  it('is taken over by file and by region', async () => {
    const files = [file('a', { hunks: [hunk(1), hunk(5), hunk(9, { isTaken: true })] }), file('b')]
    const byFile = await rig({ files })
    await byFile.review('files', ['b'])
    expect(byFile.asked).toEqual([['accept', 'w1', { paths: ['b'] }]])
    const byRegion = await rig({ files })
    await byRegion.review('regions', ['1'])
    expect(byRegion.asked).toEqual([['accept', 'w1', { path: 'a', hunks: [files[0]!.hunks[1]] }]])
  })

  it('that meets what the person typed opens in the editor’s merge', async () => {
    const r = await rig({ files: [file('a', { isInConflict: true })] })
    const shown = await r.review('conflicts')
    expect(shown.at(-1)).toMatchObject({ kind: 'merge', value: { path: '/project/a', base: { text: 'base\n' }, mine: { text: { text: 'ours\n' } }, theirs: { text: { text: 'theirs\n' } } } })
    expect(r.asked).toEqual([])
  })

  it('is left on its branch, or discarded after a yes', async () => {
    const branch = await rig()
    await branch.review('branch')
    expect([branch.asked, branch.notices()]).toEqual([[['close', 'w1', { keepsBranch: true }]], ['The branch bosun/mend-it-1 holds it.']])
    const no = await rig()
    await no.review('discard', false)
    expect(no.asked).toEqual([])
    const yes = await rig()
    await yes.review('discard', true)
    expect([yes.asked, yes.notices()]).toEqual([[['close', 'w1', { keepsBranch: false }]], []])
  })

  it('of several children is chosen first', async () => {
    const r = await rig({ works: [work, { ...work, id: 'w2', label: 'Other' }] })
    await r.review('w2', 'branch')
    expect(r.asked).toEqual([['close', 'w2', { keepsBranch: true }]])
  })

  it('that is not there is said to be none', async () => {
    const r = await rig({ works: [] })
    await r.review()
    expect(r.notices()).toEqual(['No agent of this session left anything in a worktree.'])
  })
})
