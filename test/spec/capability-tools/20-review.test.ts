import { execFile } from 'node:child_process'
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import { NodeBlobStore } from '../../../extension/platform/node/blob-store.ts'
import { NodeFileSystem } from '../../../extension/platform/node/file-system.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'
import { reviewRig, type CallSpec, type ReviewRig } from '../../support/review-rig.ts'

/* Chapter 20.5: review and rollback, through the application as it is shipped. */

let rig: ReviewRig | undefined
afterEach(async () => {
  await rig?.dispose()
  rig = undefined
})

const start = async (files: Readonly<Record<string, string | Uint8Array>> = {}) => (rig = await reviewRig(files))
const ten = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n'

describe('what waits', () => {
  it('each file that a call changed, created or failed to change', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'), r.write('b', 'new\n'), { name: 'edit', args: { file_path: 'a', old_string: 'nowhere', new_string: 'x' } })
    expect([r.waiting(), r.turns()]).toEqual([['a', 'b'], [{ turn: 1, state: 'pending' }]])
    expect(await r.file('a')).toMatchObject({ baseline: ten, now: ten.replace('two', 'TWO'), hunks: [{ baseFrom: 1, baseTo: 2, from: 1, to: 2, removed: ['two\n'], added: ['TWO\n'], isMixed: false }] })
    expect(await r.file('b')).toMatchObject({ baseline: null, now: 'new\n' })
  })

  it('is the same after a reload of the window', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    const before = [r.waiting(), r.turns(), await r.file('a')]
    await r.reload()
    expect([r.waiting(), r.turns(), await r.file('a')]).toEqual(before)
    await r.undo({ kind: 'turn', turn: 1 })
    expect(await r.text('a')).toBe(ten)
  })

  it('what a call had changed when the window was killed, too', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    await r.keep({ kind: 'all' })
    const { digest } = await r.blobs.putBeforeImage(r.session.id, await readFile(r.at('a')))
    r.session.append({ type: 'turn/start', data: { turn: 2 } })
    r.session.append({ type: 'fs/before-image', data: { callId: 'cut', path: r.at('a'), digest }, ignorable: true })
    await r.put('a', ten.replace('two', 'TWO').replace('nine', 'NINE'))
    await r.reload()
    await r.plan({ kind: 'all' })
    expect((await r.file('a'))!.hunks.map(({ added }) => added)).toEqual([['NINE\n']])
  })

  it('what the person typed is no change of the agent', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    await r.put('a', (await r.text('a'))!.replace('nine', 'nine and mine'))
    expect(await r.file('a')).toMatchObject({ baseline: ten.replace('nine', 'nine and mine'), hunks: [{ added: ['TWO\n'] }] })
  })

  it('a text of more than 10 MB counts as a whole, too, and can be taken back', async () => {
    const large = `${'line\n'.repeat(2_200_000)}end\n`
    const r = await start({ a: large })
    await r.turn(...r.edit('a', 'end', 'END'))
    expect([r.waiting(), (await r.text('a'))!.endsWith('\nEND\n'), await r.file('a')]).toEqual([['a'], true, expect.objectContaining({ isText: false, isChanged: true })])
    await r.undo({ kind: 'turn', turn: 1 })
    expect((await r.text('a')) === large).toBe(true)
  })

  it('a binary file counts as a whole', async () => {
    const r = await start({ a: new Uint8Array([0, 1, 2]) })
    await r.turn({ name: 'read_image', args: { file_path: 'a' } })
    expect(r.waiting()).toEqual([])
  })
})

describe('keeping', () => {
  it('a file settles it, and a later undo of the turn leaves it', async () => {
    const r = await start({ a: ten, b: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'), ...r.edit('b', 'two', 'TWO'))
    await r.keep({ kind: 'file', path: r.at('a') })
    expect(r.waiting()).toEqual(['b'])
    await r.undo({ kind: 'turn', turn: 1 })
    expect([await r.text('a'), await r.text('b')]).toEqual([ten.replace('two', 'TWO'), ten])
    expect(r.turns()).toEqual([{ turn: 1, state: 'undone' }])
  })

  it('one region leaves the others to undo', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'), ...r.edit('a', 'nine', 'NINE'))
    const [first] = (await r.file('a'))!.hunks
    await r.keep({ kind: 'hunk', path: r.at('a'), hunk: first! })
    expect((await r.file('a'))!.hunks.map(({ added }) => added)).toEqual([['NINE\n']])
    await r.undo({ kind: 'turn', turn: 1 })
    expect(await r.text('a')).toBe(ten.replace('two', 'TWO'))
    expect(r.waiting()).toEqual([])
  })

  it('one call of two leaves the other', async () => {
    const r = await start({ a: ten })
    const [, first] = await r.turn(...r.edit('a', 'two', 'TWO'), ...r.edit('a', 'nine', 'NINE'))
    await r.keep({ kind: 'call', callId: first! })
    expect((await r.file('a'))!.hunks.map(({ added }) => added)).toEqual([['NINE\n']])
    await r.undo({ kind: 'file', path: r.at('a') })
    expect(await r.text('a')).toBe(ten.replace('two', 'TWO'))
  })

  it('everything settles every turn', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    await r.turn(r.write('b', 'x\n'))
    await r.keep({ kind: 'all' })
    expect([r.waiting(), r.turns()]).toEqual([[], [{ turn: 1, state: 'kept' }, { turn: 2, state: 'kept' }]])
  })
})

describe('undoing', () => {
  it.each([
    ['a change', { a: ten }, (r: ReviewRig) => r.edit('a', 'two', 'TWO'), { a: ten }],
    ['a new file', {}, (r: ReviewRig) => [r.write('a', 'x\n')], { a: null }],
    ['line ends and a byte order mark', { a: '\u{FEFF}one\r\ntwo\r\n' }, (r: ReviewRig) => r.edit('a', 'two', 'TWO'), { a: '\u{FEFF}one\r\ntwo\r\n' }],
    ['a missing last line end', { a: 'one\ntwo' }, (r: ReviewRig) => r.edit('a', 'two', 'two\nthree\n'), { a: 'one\ntwo' }],
    ['a file that was emptied', { a: ten }, (r: ReviewRig) => r.edit('a', ten, ''), { a: ten }],
  ] as const)('takes back %s byte for byte', async (_name, files, calls, left) => {
    const r = await start(files)
    await r.turn(...calls(r))
    const outcome = await r.undo({ kind: 'turn', turn: 1 })
    expect(outcome).toMatchObject({ conflicts: [], problems: [], paths: [r.at('a')] })
    expect(await r.text('a')).toBe(left.a)
    expect([r.waiting(), r.turns()]).toEqual([[], [{ turn: 1, state: 'undone' }]])
  })

  it('keeps what the person typed since', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two\nthree', 'TWO\nTHREE\nAND MORE'))
    await r.put('a', (await r.text('a'))!.replace('AND MORE\n', 'AND MORE\nright below, mine\n').replace('ten\n', 'ten\nmine\n').replace('one\n', 'mine\none\n'))
    await r.undo({ kind: 'turn', turn: 1 })
    expect(await r.text('a')).toBe('mine\none\ntwo\nthree\nright below, mine\nfour\nfive\nsix\nseven\neight\nnine\nten\nmine\n')
  })

  it('keeps what the person typed between two changes of the agent', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    await r.put('a', (await r.text('a'))!.replace('six', 'six, mine'))
    await r.turn(...r.edit('a', 'nine', 'NINE'))
    expect(await r.undo({ kind: 'all' })).toMatchObject({ problems: [] })
    expect(await r.text('a')).toBe(ten.replace('six', 'six, mine'))
  })

  it('an earlier turn leaves the later one, and the other way round', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    await r.turn(...r.edit('a', 'nine', 'NINE'))
    await r.undo({ kind: 'turn', turn: 1 })
    expect(await r.text('a')).toBe(ten.replace('nine', 'NINE'))
    expect(r.turns()).toEqual([{ turn: 1, state: 'undone' }, { turn: 2, state: 'pending' }])
    expect((await r.file('a'))!.hunks.map(({ added }) => added)).toEqual([['NINE\n']])
    await r.undo({ kind: 'turn', turn: 2 })
    expect([await r.text('a'), r.waiting()]).toEqual([ten, []])
  })

  it('one region leaves the others', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'), ...r.edit('a', 'nine', 'NINE'))
    await r.undo({ kind: 'hunk', path: r.at('a'), hunk: (await r.file('a'))!.hunks[0]! })
    expect(await r.text('a')).toBe(ten.replace('nine', 'NINE'))
    expect((await r.file('a'))!.hunks).toHaveLength(1)
    await r.undo({ kind: 'hunk', path: r.at('a'), hunk: (await r.file('a'))!.hunks[0]! })
    expect([await r.text('a'), r.waiting()]).toEqual([ten, []])
  })

  it('a region that is not as it was seen stays', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    const { hunks } = (await r.file('a'))!
    await r.put('a', `mine\n${(await r.text('a'))!}`)
    expect(await r.undo({ kind: 'hunk', path: r.at('a'), hunk: hunks[0]! })).toMatchObject({ paths: [], problems: [{ path: r.at('a') }] })
    expect(await r.text('a')).toBe(`mine\n${ten.replace('two', 'TWO')}`)
  })

  it('where the person changed the same lines it leaves them, says so, and takes them only when told to', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'), ...r.edit('a', 'nine', 'NINE'))
    await r.put('a', (await r.text('a'))!.replace('TWO', 'TWO, and mine'))
    expect(await r.plan({ kind: 'turn', turn: 1 })).toEqual({ paths: [r.at('a')], conflicts: [r.at('a')], problems: [] })
    expect(await r.undo({ kind: 'turn', turn: 1 })).toMatchObject({ conflicts: [r.at('a')] })
    expect(await r.text('a')).toBe(ten.replace('two', 'TWO, and mine'))
    expect((await r.file('a'))!.hunks).toMatchObject([{ added: ['TWO, and mine\n'], isMixed: true }])
    expect(r.turns()).toEqual([{ turn: 1, state: 'pending' }])
    await r.undo({ kind: 'turn', turn: 1 }, true)
    expect([await r.text('a'), r.waiting()]).toEqual([ten, []])
  })

  it('a new file that the person wrote into keeps their lines', async () => {
    const r = await start()
    await r.turn(r.write('a', 'agent\n'))
    await r.put('a', 'agent\nmine\n')
    await r.undo({ kind: 'file', path: r.at('a') })
    expect(await r.text('a')).toBe('mine\n')
  })

  it('a file that the person deleted since does not come back unasked', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    await r.remove('a')
    expect(await r.undo({ kind: 'turn', turn: 1 })).toMatchObject({ conflicts: [r.at('a')] })
    expect(await r.text('a')).toBeNull()
    await r.undo({ kind: 'turn', turn: 1 }, true)
    expect(await r.text('a')).toBe(ten)
  })

  it('back to before a turn takes back all later ones, also what was kept', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'one', 'ONE'))
    await r.turn(...r.edit('a', 'two', 'TWO'), r.write('b', 'x\n'))
    await r.keep({ kind: 'all' })
    await r.turn(...r.edit('a', 'nine', 'NINE'))
    await r.put('a', (await r.text('a'))!.replace('six', 'six, mine'))
    expect((await r.plan({ kind: 'since', turn: 2 })).paths.toSorted()).toEqual([r.at('a'), r.at('b')])
    await r.undo({ kind: 'since', turn: 2 })
    expect([await r.text('a'), await r.text('b')]).toEqual([ten.replace('one', 'ONE').replace('six', 'six, mine'), null])
    expect([r.waiting(), r.turns()]).toEqual([[], [{ turn: 1, state: 'kept' }, { turn: 2, state: 'undone' }, { turn: 3, state: 'undone' }]])
  })

  it('tells the model, in one message that is in the log, and makes it read again', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'), r.write('b', 'x\n'))
    await r.undo({ kind: 'file', path: r.at('a') })
    await r.undo({ kind: 'file', path: r.at('b') })
    expect(r.notices()).toEqual([
      `The person undid changes of yours:\n- ${r.at('a')}: your change is taken back\n- ${r.at('b')}: the file that you made is gone\nWhat they typed themselves since is still there. Read a file again before you change it, and do not repeat what they undid unless they ask for it.`,
    ])
    await r.turn({ name: 'edit', args: { file_path: 'a', old_string: 'two', new_string: 'TWO' } })
    expect(JSON.stringify(r.adapter.requests.at(-2)?.messages)).toContain('The person undid changes of yours')
    expect(await r.text('a')).toBe(ten)
  })

  it('says in the log what stood there, so that nothing is lost by it', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    await r.undo({ kind: 'turn', turn: 1 })
    const undone = r.session.milestones().find(({ type }) => type === 'review/undone')
    const [file] = undone?.type === 'review/undone' ? undone.data.files : []
    expect(file).toMatchObject({ path: r.at('a'), isWhole: true, before: expect.stringMatching(/^[0-9a-f]{64}$/), after: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })
})

describe('a link that leads out of the folder', () => {
  let outside = ''
  beforeEach(async () => void (outside = await realpath(await mkdtemp(join(tmpdir(), 'bosun-outside-')))))
  afterEach(() => rm(outside, { recursive: true, force: true }))
  const theirs = () => readFile(join(outside, 'a'), 'utf8').catch(() => null)

  it.each<[string, (r: ReviewRig) => readonly CallSpec[], (r: ReviewRig) => Promise<unknown>]>([
    ['in the place of a changed file', (r) => r.edit('d/a', 'two', 'TWO'), async (r) => {
      await rename(r.at('d/a'), join(outside, 'a'))
      await symlink(join(outside, 'a'), r.at('d/a'))
    }],
    ['in the place of the folder of a changed file', (r) => r.edit('d/a', 'two', 'TWO'), async (r) => {
      await rename(r.at('d/a'), join(outside, 'a'))
      await rm(r.at('d'), { recursive: true })
      await symlink(outside, r.at('d'))
    }],
    ['in the place of the folder of a file that a command took away', (r) => [r.bash('rm d/a')], async (r) => {
      await rm(r.at('d'), { recursive: true })
      await symlink(outside, r.at('d'))
    }],
    ['that the command itself made', (r) => [r.bash(`echo theirs > ${outside}/a && ln -sf ${outside}/a d/a`)], async () => {}],
  ])('is never followed by an undo: %s', async (_name, calls, replace) => {
    const r = await start()
    r.ctx.on('approval/request', () => Promise.resolve({ outcome: 'allowed-once' }))
    await mkdir(r.at('d'))
    await r.put('d/a', ten)
    await r.turn(...calls(r))
    await replace(r)
    const before = await theirs()
    for (const force of [false, true]) {
      const outcome = await r.undo({ kind: 'all' }, force)
      expect(outcome).toMatchObject({ paths: [], problems: [{ path: r.at('d/a'), problem: expect.stringContaining('link') }] })
    }
    expect([await theirs(), r.waiting()]).toEqual([before, ['d/a']])
    expect(await r.plan({ kind: 'all' })).toMatchObject({ paths: [], problems: [{ path: r.at('d/a') }] })
    expect(await r.ctx.reviews.turnStart(r.session, 1)).toEqual([{ path: r.at('d/a'), before: ten }])
    expect(await r.file('d/a')).toMatchObject({ isText: false })
    // Once it is gone, the change can be taken back.
    const link = (await lstat(r.at('d'))).isSymbolicLink() ? 'd' : 'd/a'
    await rm(r.at(link))
    await r.undo({ kind: 'all' }, true)
    expect([await theirs(), r.waiting()]).toEqual([before, []])
  })

  it('is not followed where a command throws it away: nothing of what it leads to is kept', async () => {
    const r = await start()
    await writeFile(join(outside, 'a'), 'only theirs\n')
    await promisify(execFile)('git', ['init', '-q'], { cwd: r.whole.folder })
    await symlink(join(outside, 'a'), r.at('link'))
    r.ctx.on('approval/request', () => Promise.resolve({ outcome: 'allowed-once' }))
    await r.turn(r.bash('git clean -fdq && echo x > a'))
    const images = join(r.whole.folder, '../sessions', r.session.id, 'before')
    const kept = await Promise.all((await readdir(images)).map((name) => readFile(join(images, name), 'utf8')))
    expect([r.waiting(), kept.includes('only theirs\n'), r.session.milestones().filter(({ type }) => type === 'review/limited')]).toEqual([['a'], false, []])
  })
})

describe('a disk that is full', () => {
  it('changes no file whose state before is not named by a durable line of the log', async () => {
    const atPublish: (readonly string[])[] = []
    let store = ''
    const beforePublish = async () => {
      const log = await readFile(join(store, 'events.jsonl'), 'utf8')
      atPublish.push(log.split('\n').filter((line) => line.includes('"fs/before-image"')).map((line) => (JSON.parse(line) as SessionEvent<'fs/before-image'>).data.callId))
    }
    const r = (rig = await reviewRig({ a: ten }, { alter: (world) => ({ ...world, files: new NodeFileSystem({ beforePublish }) }) }))
    store = join(r.whole.folder, '../sessions', r.session.id)
    await r.turn(...r.edit('a', 'two', 'TWO'), r.write('b', 'x\n'))
    expect(atPublish).toEqual([['c2'], ['c2', 'c3']])
  })

  it('puts a change up for review all the same, and takes it back as long as nobody else changed the file', async () => {
    const r = await start({ a: ten, b: ten })
    const original = NodeBlobStore.prototype.putBeforeImage
    const keep = vi.spyOn(NodeBlobStore.prototype, 'putBeforeImage')
    keep.mockImplementation((id, bytes) => (bytes !== null && new TextDecoder().decode(bytes).includes('TWO') ? Promise.reject(new Error('ENOSPC')) : original.call(r.blobs, id, bytes)))
    await r.turn(...r.edit('a', 'two', 'TWO'), r.bash('sed -i s/two/TWO/ b'))
    expect(r.waiting()).toEqual(['a', 'b'])
    keep.mockRestore()
    expect((await r.file('a'))!.isChanged).toBe(true)
    await r.undo({ kind: 'all' })
    expect([await r.text('a'), await r.text('b'), r.waiting()]).toEqual([ten, ten, []])
  })
})

describe('what shell commands change', () => {
  const git = async (r: ReviewRig, ...lines: readonly string[]) => {
    for (const line of lines) await promisify(execFile)('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...line.split(' ')], { cwd: r.whole.folder })
  }
  /** A repository with two committed files, one of them changed since, and one that git does not know. */
  const repository = async () => {
    const r = await start({ a: ten, b: ten, 'secret.pem': 'key\n' })
    await git(r, 'init -q', 'add a b', 'commit -qm first')
    await r.put('b', ten.replace('two', 'two, not committed'))
    await r.put('c', 'unknown to git\n')
    return r
  }

  it('in a repository: committed, changed since, unknown, new and gone files', async () => {
    const r = await repository()
    await r.turn(r.bash("sed -i s/one/ONE/ a b c && sed -i s/unknown/UNKNOWN/ c && mkdir -p sub && echo new > sub/d"))
    expect(r.waiting().toSorted()).toEqual(['a', 'b', 'c', 'sub/d'])
    expect((await r.file('b'))!.hunks).toMatchObject([{ removed: ['one\n'], added: ['ONE\n'] }])
    r.ctx.on('approval/request', () => Promise.resolve({ outcome: 'allowed-once' }))
    await r.turn(r.bash('rm a sub/d'))
    expect((await r.file('a'))!.now).toBeNull()
    await r.undo({ kind: 'all' })
    expect([await r.text('a'), await r.text('b'), await r.text('c'), await r.text('sub/d')]).toEqual([ten, ten.replace('two', 'two, not committed'), 'unknown to git\n', null])
  })

  it('leaves the repository as it is: no commit, no index, no stash of ours', async () => {
    const r = await repository()
    const state = async () => await Promise.all(['.git/HEAD', '.git/index'].map(async (path) => (await readFile(r.at(path))).toString('base64')))
    const before = await state()
    await r.turn(r.bash('sed -i s/one/ONE/ a b'))
    await r.undo({ kind: 'turn', turn: 1 })
    expect(await state()).toEqual(before)
  })

  it.each([
    ['git reset --hard', 'b', ten.replace('two', 'two, not committed')],
    ['git checkout -- .', 'b', ten.replace('two', 'two, not committed')],
    ['git clean -fd', 'c', 'unknown to git\n'],
    ['rm -rf a b c', 'c', 'unknown to git\n'],
    ['rm -rf a b c', 'a', ten],
  ])('%s: %s can be taken back', async (command, path, text) => {
    const r = await repository()
    await r.turn(r.bash(command))
    // Full access asks for what throws work away: nobody answers here, so nothing happens.
    expect(await r.text(path)).toBe(text)
    r.ctx.on('approval/request', () => Promise.resolve({ outcome: 'allowed-once' }))
    await r.turn(r.bash(command))
    expect(await r.text(path)).not.toBe(text)
    await r.undo({ kind: 'turn', turn: 2 })
    expect(await r.text(path)).toBe(text)
  })

  it('without a repository, too', async () => {
    const r = await start({ a: ten })
    await r.turn(r.bash('sed -i s/one/ONE/ a && echo x > b'))
    expect(r.waiting().toSorted()).toEqual(['a', 'b'])
    await r.undo({ kind: 'turn', turn: 1 })
    expect([await r.text('a'), await r.text('b')]).toEqual([ten, null])
  })

  it('what the person changes between two commands is theirs', async () => {
    const r = await repository()
    await r.turn(r.bash('sed -i s/one/ONE/ a'))
    await r.put('a', (await r.text('a'))!.replace('six', 'six, mine'))
    await r.turn(r.bash('sed -i s/nine/NINE/ a'))
    await r.undo({ kind: 'all' })
    expect(await r.text('a')).toBe(ten.replace('six', 'six, mine'))
  })

  it('what the person changes between two commands is theirs, also where another session ran one meanwhile', async () => {
    const r = await start({ a: ten, b: ten })
    const other = await r.ctx.agents.create({ cwd: r.whole.folder })
    r.ctx.permissions.select(other.id, 'danger-full-access')
    const inOther = async (command: string) => {
      r.adapter.play(callTools({ id: `o-${command}`, name: 'bash', args: { command, description: 'Run it' } }), sayText('Done.'))
      other.followup({ id: command, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
      await other.whenIdle()
    }
    await r.turn(r.bash('sed -i s/one/ONE/ a'))
    await r.put('b', ten.replace('five', 'five, mine'))
    await inOther('sed -i s/ten/TEN/ a')
    await r.turn(r.bash('sed -i s/two/TWO/ b'))
    await r.undo({ kind: 'all' })
    expect([await r.text('a'), await r.text('b')]).toEqual([ten.replace('ten', 'TEN'), ten.replace('five', 'five, mine')])
  })

  it.each([
    ['a folder that is reached by a link', ''],
    ['a folder in the repository', 'sub'],
    ['a folder in the repository that is reached by a link', 'sub'],
  ])('in %s', async (name, below) => {
    const r = await start()
    await mkdir(r.at('sub'))
    for (const path of ['a', 'b']) await r.put(join(below, path), ten)
    await git(r, 'init -q', 'add .', 'commit -qm first')
    await r.put(join(below, 'b'), ten.replace('five', 'five, not committed'))
    await r.put(join(below, 'c'), 'unknown to git\n')
    await r.put('.gitignore', 'x.log\n')
    const cwd = name.endsWith('link') ? `${r.whole.folder}-link` : r.at(below)
    if (name.endsWith('link')) await symlink(r.at(below), cwd)
    const agent = await r.ctx.agents.create({ cwd })
    r.ctx.permissions.select(agent.id, 'danger-full-access')
    r.adapter.play(callTools({ id: 'l1', name: 'bash', args: { command: 'sed -i s/two/TWO/ a b && echo new > c && echo new > d && echo new > x.log', description: 'Run it' } }), sayText('Done.'))
    agent.followup({ id: 'l', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
    await r.ctx.reviews.plan(agent.session, { kind: 'all' })
    expect(r.ctx.reviews.of(agent.session).files.map(({ path }) => path.slice(cwd.length + 1)).toSorted()).toEqual(['a', 'b', 'c', 'd'])
    expect(await r.ctx.reviews.undo(agent.session, { kind: 'all' })).toMatchObject({ problems: [] })
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((path) => r.text(join(below, path))))).toEqual([ten, ten.replace('five', 'five, not committed'), 'unknown to git\n', null])
  })

  it('a command that only reads looks at nothing', async () => {
    const r = await repository()
    await r.turn(r.bash('cat a && git status --short'))
    expect(r.session.milestones().filter(({ type }) => type.startsWith('fs/'))).toEqual([])
  })

  it('what git moves when another commit is checked out is its own', async () => {
    const r = await repository()
    await git(r, 'stash -q', 'checkout -q -b other')
    await r.put('a', 'other\n')
    await git(r, 'commit -qam other', 'checkout -q -')
    await r.turn(r.bash('git checkout -q other'))
    expect([await r.text('a'), r.waiting()]).toEqual(['other\n', []])
    await r.turn(r.bash('sed -i s/other/OTHER/ a'))
    expect(r.waiting()).toEqual(['a'])
  })

  it('a binary file by its bytes, and not over what the person made of it', async () => {
    const r = await start({ bin: new Uint8Array([0, 1, 2]), a: ten })
    const bytes = async () => [...(await readFile(r.at('bin')))]
    await r.turn(r.bash("printf '\\000\\003' > bin"))
    expect([await bytes(), await r.file('bin')]).toMatchObject([[0, 3], { isText: false, isChanged: true }])
    await r.undo({ kind: 'turn', turn: 1 })
    expect([await bytes(), r.waiting()]).toEqual([[0, 1, 2], []])
    await r.turn(r.bash("printf '\\000\\003' > bin"))
    await r.put('bin', new Uint8Array([0, 9]))
    expect(await r.undo({ kind: 'turn', turn: 2 })).toMatchObject({ conflicts: [r.at('bin')] })
    expect(await bytes()).toEqual([0, 9])
    await r.undo({ kind: 'turn', turn: 2 }, true)
    expect(await bytes()).toEqual([0, 1, 2])
  })

  it('says what could not be kept before a command that throws work away', async () => {
    const r = await repository()
    await r.put('large', new Uint8Array(6 * 1024 * 1024).fill(1))
    r.ctx.on('approval/request', () => Promise.resolve({ outcome: 'allowed-once' }))
    await r.turn(r.bash('git clean -fd'))
    expect(r.session.milestones().filter(({ type }) => type === 'review/limited').map(({ data }) => data)).toEqual([{ callId: 'c1', reason: 'too-large-to-keep', files: 1 }])
    await r.undo({ kind: 'turn', turn: 1 })
    expect([await r.text('c'), await r.text('large')]).toEqual(['unknown to git\n', null])
  })

  it.each<[string, string, readonly string[], readonly object[]]>([
    ['a folder', 'rm a && mkdir a && echo x > a/x', ['a', 'a/x', 'b', 'c'], []],
    ['a file in the place of a folder', 'rm -r d && echo x > d', ['b', 'c', 'd', 'd/e'], []],
    ['a pipe', 'rm a && mkfifo a', ['a', 'b', 'c'], []],
    ['a new file that is too large to review', 'head -c 11000000 /dev/zero > Large && sed -i s/one/ONE/ a', ['a', 'b', 'c'], [{ callId: 'c1', reason: 'too-large-to-review', files: 1 }]],
    ['a file that became too large to review', 'head -c 11000000 /dev/zero >> a', ['b', 'c'], [{ callId: 'c1', reason: 'too-large-to-review', files: 1 }]],
  ])('beside %s too', async (_name, command, waiting, limits) => {
    const r = await repository()
    r.ctx.on('approval/request', () => Promise.resolve({ outcome: 'allowed-once' }))
    await mkdir(r.at('d'))
    await r.put('d/e', 'e\n')
    await r.turn(r.bash(`${command} && echo new > b && echo new > c`))
    expect(r.waiting().toSorted()).toEqual(waiting)
    expect(r.session.milestones().filter(({ type }) => type === 'review/limited').map(({ data }) => data)).toEqual(limits)
    await r.undo({ kind: 'all' })
    expect([await r.text('b'), await r.text('c'), await r.text('d/e')]).toEqual([ten.replace('two', 'two, not committed'), 'unknown to git\n', 'e\n'])
  })

  it('a file that was renamed', async () => {
    const r = await repository()
    await r.turn(r.bash('mv a z && mkdir sub && mv c sub/c'))
    expect(r.waiting().toSorted()).toEqual(['a', 'c', 'sub/c', 'z'])
    await r.undo({ kind: 'turn', turn: 1 })
    expect([await r.text('a'), await r.text('z'), await r.text('c'), await r.text('sub/c')]).toEqual([ten, null, 'unknown to git\n', null])
  })

  it('what looks like a secret is kept nowhere', async () => {
    const r = await repository()
    await r.turn(r.bash('find . -type f -name "s*" -exec sh -c \'echo x >> "$1"\' _ {} \\; && echo x >> a'))
    expect([await r.text('secret.pem'), r.waiting()]).toEqual(['key\nx\n', ['a']])
    const images = await readdir(join(r.whole.folder, '../sessions', r.session.id, 'before'))
    const kept = await Promise.all(images.map((name) => readFile(join(r.whole.folder, '../sessions', r.session.id, 'before', name), 'utf8')))
    expect(kept.filter((text) => text.includes('key'))).toEqual([])
  })

  it('ignored files do not wait', async () => {
    const r = await repository()
    await r.put('.gitignore', 'out/\n*.log\n')
    await r.turn(r.bash('mkdir -p out && echo x > out/x && echo x > y.log && echo x > z'))
    expect(r.waiting()).toEqual(['z'])
  })
})
