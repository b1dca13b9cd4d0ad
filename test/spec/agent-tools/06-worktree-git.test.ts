import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Capabilities } from '../../../extension/compose.ts'
import { git, worktreeRig, type Call, type WorktreeRig } from '../../support/worktree-rig.ts'

let rig: WorktreeRig | undefined
const start = async (options?: Parameters<typeof worktreeRig>[0]) => (rig = await worktreeRig(options))
afterEach(async () => {
  await rig?.dispose()
  rig = undefined
})

const write = (file_path: string, content: string): Call => ({ name: 'write', args: { file_path, content } })
const edit = (file_path: string, old_string: string, new_string: string): readonly Call[] => [
  { name: 'read', args: { file_path } },
  { name: 'edit', args: { file_path, old_string, new_string } },
]
const bash = (command: string): Call => ({ name: 'bash', args: { command, description: 'Run it' } })
const all = async (r: WorktreeRig) => r.ctx.worktrees.files(r.session, r.waiting()[0]!.id)
const accept = async (r: WorktreeRig, ...paths: readonly string[]) => r.ctx.worktrees.accept(r.session, r.waiting()[0]!.id, { paths: paths.length > 0 ? paths : (await all(r)).map(({ path }) => path) })

describe('12.7 a child in a worktree', () => {
  it('works in a folder of its own on a branch of its own, and nothing of the person’s repository moves', async () => {
    const r = await start()
    await r.put('mine.txt', 'not committed\n')
    git(r.folder, 'add', 'mine.txt')
    const before = await r.state()
    expect(await r.child([...edit('a.txt', 'two', 'TWO'), write('new/b.txt', 'b\n')])).toMatchObject({ stopReason: 'completed', output: 'Done.' })
    expect(await r.state()).toEqual(before)
    expect(await r.text('a.txt')).toBe('one\ntwo\nthree\nfour\nfive\nsix\n')
    const [work] = r.waiting()
    expect(work).toMatchObject({ label: 'Mend the Läufer!', files: 2, repository: r.folder, branch: expect.stringMatching(/^bosun\/mend-the-laufer-[0-9a-f]{6}$/) })
    expect(work!.root.startsWith(r.folder)).toBe(false)
    expect((await all(r)).map(({ path, kind, target }) => [path, kind, target])).toEqual([
      ['a.txt', 'changed', join(r.folder, 'a.txt')],
      ['new/b.txt', 'created', join(r.folder, 'new/b.txt')],
    ])
    expect(git(r.folder, 'show', `${work!.branch}:a.txt`)).toContain('TWO')
  })

  it('that changed nothing leaves nothing', async () => {
    const r = await start()
    const refs = r.branches()
    await r.child([{ name: 'read', args: { file_path: 'a.txt' } }])
    expect([r.waiting(), r.branches(), r.worktrees(), await readdir(r.store().folder)]).toEqual([[], refs, 1, []])
  })

  it('ends, and says where its work stands, also where git cannot put it in order', async () => {
    const r = await start()
    let lock = ''
    // As a git that was killed leaves it.
    r.ctx.on('session/event', (_session, event) => {
      if (event.type === 'worktree/opened') setTimeout(() => void writeFile((lock = join(event.data.gitDir, 'index.lock')), ''), 0)
    })
    expect(await r.child([write('b.txt', 'b\n')])).toMatchObject({ stopReason: 'completed', output: 'Done.' })
    const [work] = r.waiting()
    expect(work).toMatchObject({ files: 0, problem: expect.stringContaining('index.lock') })
    expect(await readFile(join(work!.root, 'b.txt'), 'utf8')).toBe('b\n')
    await expect(r.ctx.worktrees.files(r.session, work!.id)).rejects.toThrow('Look at the folder itself')
    // What was in the way is gone when the session is opened again.
    await rm(lock)
    await r.restart()
    await expect.poll(() => r.waiting()[0]?.problem).toBeUndefined()
    expect((await all(r)).map(({ path }) => path)).toEqual(['b.txt'])
  })

  it('ends also where the log takes no note of it', async () => {
    const r = await start()
    const append = r.session.append.bind(r.session)
    Object.assign(r.session, { append: (draft: Parameters<typeof append>[0]) => (draft.type === 'worktree/waiting' ? expect.fail('the disk is full') : append(draft)) })
    expect(await r.child([write('b.txt', 'b\n')])).toMatchObject({ stopReason: 'completed', output: 'Done.' })
    expect(r.whole.logger.lines.map(({ message }) => message)).toContain('The log takes no note of what became of a worktree.')
  })

  it('is told where it is, and that it may not leave', async () => {
    const r = await start()
    await r.child([write(join(r.folder, 'a.txt'), 'gone'), bash(`echo x > ${join(r.folder, 'a.txt')}`), bash('cat a.txt'), { name: 'read', args: { file_path: join(r.folder, 'a.txt') } }])
    const [denied, alsoDenied, shown, read] = r.results()
    expect([denied, alsoDenied]).toEqual([expect.stringContaining('outside of the worktree'), expect.stringContaining('outside of the worktree')])
    expect([shown, read]).toEqual([expect.stringContaining('one'), expect.stringContaining('one')])
    expect(JSON.stringify(r.adapter.requests.at(-1)!.messages)).toContain('git worktree of your own')
    expect(await r.text('a.txt')).toContain('one\ntwo')
  })

  it('begins with what the person has not committed, without what looks like a secret', async () => {
    const r = await start()
    await r.put('a.txt', 'mine\n')
    await r.put('added.txt', 'added\n')
    await r.put('.env', 'TOKEN=1\n')
    await r.put('ignored.txt', 'x\n')
    await r.put('.gitignore', 'ignored.txt\n')
    await r.child([bash('cat a.txt added.txt; ls -A'), write('c.txt', 'c')])
    const [shown = ''] = r.results()
    expect(['mine', 'added', '.gitignore'].map((word) => shown.includes(word))).toEqual([true, true, true])
    expect(['.env', 'ignored.txt\n'].map((word) => shown.includes(word))).toEqual([false, false])
    expect((await all(r)).map(({ path }) => path)).toEqual(['c.txt'])
  })

  it('begins with the last commit where the settings say so', async () => {
    const r = await start({ settings: { 'subagents.worktree.includeUncommitted': false } })
    await r.put('a.txt', 'mine\n')
    await r.child([bash('cat a.txt')])
    expect(r.results()[0]).toContain('one\ntwo')
  })

  it('works below the folder of its parent', async () => {
    const r = await start({ files: { 'src/x/a.txt': 'a\n' }, cwd: 'src/x' })
    await r.child([...edit('a.txt', 'a', 'b'), write('../y.txt', 'y')])
    expect((await all(r)).map(({ path }) => path)).toEqual(['src/x/a.txt', 'src/y.txt'])
  })

  it('is put there by the setting too, and where there is no repository it works as ever', async () => {
    const r = await start({ settings: { 'subagents.isolation': 'worktree' } })
    const { isolation: _, ...plain } = r.request()
    r.play(write('b.txt', 'b'))
    await (await r.ctx.subagents.start(plain)).outcome
    expect([r.waiting().length, await r.text('b.txt')]).toEqual([1, null])
    await r.dispose()
    const other = await start({ settings: { 'subagents.isolation': 'worktree' }, isRepository: false })
    const { isolation: __, ...more } = other.request()
    other.play(write('b.txt', 'b'))
    await (await other.ctx.subagents.start(more)).outcome
    expect(await other.text('b.txt')).toBe('b')
  })

  it('runs no hook of the repository', async () => {
    const r = await start()
    for (const name of ['post-checkout', 'pre-commit', 'reference-transaction']) {
      await writeFile(join(r.folder, '.git/hooks', name), `#!/bin/sh\ntouch ${join(r.folder, `ran-${name}`)}\n`)
      await chmod(join(r.folder, '.git/hooks', name), 0o755)
    }
    await r.child([write('b.txt', 'b')])
    expect((await readdir(r.folder)).filter((name) => name.startsWith('ran-'))).toEqual([])
  })

  it('cannot lead Bosun’s git elsewhere by what it puts into its folder', async () => {
    const r = await start()
    const trap = `mkdir evil && git init -q --bare evil/repo && git -C evil/repo config filter.x.clean 'touch ${r.folder}/trapped; cat' && echo '* filter=x' > .gitattributes && echo 'gitdir: evil/repo' > .git && echo b > b.txt`
    await r.child([bash(trap)], {})
    // Whether the command ran is the policy's matter; it is made here as a program of the child could.
    expect(await r.text('trapped')).toBeNull()
  })
})

describe('a child cannot be put into a worktree', () => {
  const code = async (r: WorktreeRig) => r.ctx.subagents.start(r.request()).then(() => 'started', (error: { readonly code?: string; readonly message: string }) => error)
  const leaves = async (r: WorktreeRig) => (await readdir(r.store().folder).catch(() => [])).length

  it.each<readonly [string, string, (r: WorktreeRig) => unknown]>([
    ['where there is no repository', 'NOT_A_REPOSITORY', () => undefined],
    ['before the first commit', 'NO_COMMIT', (r) => git(r.folder, 'init', '-q')],
    ['in a bare repository', 'NOT_A_REPOSITORY', (r) => git(r.folder, 'init', '-q', '--bare')],
  ])('%s: %s', async (_what, expected, prepare) => {
    const r = await start({ isRepository: false })
    prepare(r)
    expect(await code(r)).toMatchObject({ code: expected, message: expect.stringMatching(/Start the agent without|start the agent without/) })
    expect(await leaves(r)).toBe(0)
  })

  const withGit = (script: string) => (world: Capabilities): Capabilities => ({
    ...world,
    processes: { ...world.processes, start: (spec) => world.processes.start(spec.command === 'git' && spec.args.includes('worktree') && spec.args.includes('add') ? { ...spec, command: 'sh', args: ['-c', script] } : spec), dispose: () => world.processes.dispose() },
  })
  it.each([
    ['git is missing', 'GIT_UNAVAILABLE', (world: Capabilities): Capabilities => ({ ...world, processes: { ...world.processes, start: (spec) => world.processes.start(spec.command === 'git' ? { ...spec, command: '/nowhere/git' } : spec), dispose: () => world.processes.dispose() } })],
    ['the disk is full', 'NO_SPACE', withGit('echo "error: unable to write file a.txt: No space left on device" >&2; exit 128')],
    ['git fails', 'WORKTREE_FAILED', withGit('echo "fatal: broken" >&2; exit 128')],
    ['the record cannot be written', 'NO_SPACE', (world: Capabilities): Capabilities => ({ ...world, worktrees: Object.assign(Object.create(world.worktrees ?? null) as NonNullable<Capabilities['worktrees']>, { put: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) }) })],
  ] as const)('when %s: %s', async (_what, expected, alter) => {
    const r = await start({ alter })
    const before = await r.state()
    const refs = r.branches()
    expect(await code(r)).toMatchObject({ code: expected })
    expect([await r.state(), r.branches(), r.worktrees(), await leaves(r)]).toEqual([before, refs, 1, 0])
  })

  it('whose storage lies in the repository itself', async () => {
    const r = await start({ isRepository: false })
    git(join(r.folder, '..'), 'init', '-q')
    git(join(r.folder, '..'), 'commit', '-q', '--allow-empty', '-m', 'x')
    expect(await code(r)).toMatchObject({ code: 'INSIDE_REPOSITORY' })
  })

  it('when it is stopped meanwhile, and nothing is left', async () => {
    const stop = new AbortController()
    const r = await start({ alter: withGit('sleep 60') })
    const started = r.ctx.subagents.start(r.request({ signal: stop.signal }))
    setTimeout(() => stop.abort(new Error('stopped')), 500)
    await expect(started).rejects.toThrow('stopped')
    expect([r.worktrees(), await leaves(r), r.ctx.subagents.governor.running]).toEqual([1, 0, 0])
  })
})

describe('a worktree is made', () => {
  it('from a detached head', async () => {
    const r = await start()
    git(r.folder, 'checkout', '-q', '--detach')
    const before = await r.state()
    await r.child([write('b.txt', 'b')])
    expect([r.waiting().length, await r.state()]).toEqual([1, before])
  })

  it('of a submodule, which is a repository of its own', async () => {
    const r = await start({ isRepository: false, files: {} })
    const [outer, inner] = [join(r.folder, 'outer'), join(r.folder, 'inner')]
    for (const path of [outer, inner]) {
      await mkdir(path)
      git(path, 'init', '-q')
      git(path, 'commit', '-q', '--allow-empty', '-m', 'x')
    }
    git(outer, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'sub')
    const agent = await r.ctx.agents.create({ cwd: join(outer, 'sub') })
    r.ctx.permissions.select(agent.id, 'danger-full-access')
    await r.child([write('b.txt', 'b')], { parent: agent })
    expect(r.ctx.worktrees.waiting(agent.session)).toMatchObject([{ repository: join(outer, 'sub'), files: 1 }])
    expect(git(outer, 'status', '--porcelain', '--ignored')).not.toContain('b.txt')
  })

  it('from a work tree in the middle of a merge', async () => {
    const r = await start()
    git(r.folder, 'checkout', '-q', '-b', 'other')
    await r.put('a.txt', 'theirs\n')
    git(r.folder, 'commit', '-q', '-am', 'theirs')
    git(r.folder, 'checkout', '-q', 'main')
    await r.put('a.txt', 'ours\n')
    git(r.folder, 'commit', '-q', '-am', 'ours')
    expect(() => git(r.folder, 'merge', '-q', 'other')).toThrow('Command failed')
    const before = await r.state()
    await r.child([bash('cat a.txt'), write('b.txt', 'b')])
    expect(r.results()[0]).toContain('<<<<<<<')
    expect([(await all(r)).map(({ path }) => path), await r.state()]).toEqual([['b.txt'], before])
  })
})

describe('what a child made is taken over', () => {
  it('whole, and can be taken back by the review', async () => {
    const r = await start()
    await r.child([...edit('a.txt', 'two', 'TWO'), write('b.txt', 'b\n'), bash('rm -f nothing')])
    expect(await accept(r)).toEqual({ paths: [join(r.folder, 'a.txt'), join(r.folder, 'b.txt')], conflicts: [], problems: [] })
    expect([await r.text('a.txt'), await r.text('b.txt')]).toEqual(['one\nTWO\nthree\nfour\nfive\nsix\n', 'b\n'])
    await r.ctx.reviews.undo(r.session, { kind: 'all' })
    expect([await r.text('a.txt'), await r.text('b.txt')]).toEqual(['one\ntwo\nthree\nfour\nfive\nsix\n', null])
  })

  it('beside what the person typed since', async () => {
    const r = await start()
    await r.child(edit('a.txt', 'two', 'TWO'))
    await r.put('a.txt', 'one\ntwo\nthree\nfour\nfive\nsix\nmine\n')
    await accept(r)
    expect(await r.text('a.txt')).toBe('one\nTWO\nthree\nfour\nfive\nsix\nmine\n')
    await r.ctx.reviews.undo(r.session, { kind: 'all' })
    expect(await r.text('a.txt')).toBe('one\ntwo\nthree\nfour\nfive\nsix\nmine\n')
  })

  it('never over the same lines of the person', async () => {
    const r = await start()
    await r.child([...edit('a.txt', 'two', 'TWO'), write('b.txt', 'theirs\n')])
    await r.put('a.txt', 'one\nmine\nthree\nfour\nfive\nsix\n')
    await r.put('b.txt', 'mine\n')
    expect(await accept(r)).toEqual({ paths: [], conflicts: [join(r.folder, 'a.txt'), join(r.folder, 'b.txt')], problems: [] })
    expect([await r.text('a.txt'), await r.text('b.txt')]).toEqual(['one\nmine\nthree\nfour\nfive\nsix\n', 'mine\n'])
    const file = await r.ctx.worktrees.file(r.session, r.waiting()[0]!.id, 'a.txt')
    expect(file).toMatchObject({ isInConflict: true, isText: true, base: expect.stringContaining('two'), theirs: expect.stringContaining('TWO'), ours: expect.stringContaining('mine') })
  })

  it('region by region', async () => {
    const r = await start()
    await r.child([...edit('a.txt', 'one', 'ONE'), { name: 'edit', args: { file_path: 'a.txt', old_string: 'five\n', new_string: 'FIVE\nand\n' } }])
    const { id } = r.waiting()[0]!
    const hunks = async () => (await r.ctx.worktrees.file(r.session, id, 'a.txt'))!.hunks
    expect((await hunks()).map(({ removed, added }) => [removed, added])).toEqual([
      [['one\n'], ['ONE\n']],
      [['five\n'], ['FIVE\n', 'and\n']],
    ])
    await r.ctx.worktrees.accept(r.session, id, { path: 'a.txt', hunks: [(await hunks())[1]!] })
    expect(await r.text('a.txt')).toBe('one\ntwo\nthree\nfour\nFIVE\nand\nsix\n')
    expect((await hunks()).map(({ isTaken }) => isTaken)).toEqual([false, true])
    await accept(r)
    expect(await r.text('a.txt')).toBe('ONE\ntwo\nthree\nfour\nFIVE\nand\nsix\n')
    expect((await r.ctx.worktrees.file(r.session, id, 'a.txt'))!.isTaken).toBe(true)
  })

  it('with bytes that are no text, line ends and marks as they are', async () => {
    const r = await start({ files: { 'crlf.txt': '\ufeffone\r\ntwo\r\n', 'bin.dat': 'a\0b' } })
    await r.child([bash(`printf 'c\\0d' > bin.dat`), ...edit('crlf.txt', 'two', 'TWO')])
    const outcome = await accept(r)
    expect([outcome.conflicts, outcome.problems]).toEqual([[], []])
    expect([await r.text('crlf.txt'), await r.text('bin.dat')]).toEqual(['\ufeffone\r\nTWO\r\n', 'c\0d'])
  })

  it('where it took a file away', async () => {
    const r = await start({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
    await r.child([bash('rm a.txt')])
    expect((await all(r)).map(({ path, kind }) => [path, kind])).toEqual([['a.txt', 'deleted']])
    await accept(r)
    expect(await r.text('a.txt')).toBeNull()
    await r.ctx.reviews.undo(r.session, { kind: 'all' })
    expect(await r.text('a.txt')).toBe('a\n')
  })

  it('not through a link that leads out, and links only by git', async () => {
    const r = await start({ files: { 'dir/a.txt': 'a\n' } })
    await r.child([...edit('dir/a.txt', 'a', 'b'), bash('ln -s a.txt link')])
    const outside = join(r.folder, '..', 'outside')
    await mkdir(outside)
    await rm(join(r.folder, 'dir'), { recursive: true })
    await symlink(outside, join(r.folder, 'dir'))
    const { paths, problems } = await accept(r)
    expect([paths, problems.map(({ path }) => path)]).toEqual([[], [join(r.folder, 'link'), join(r.folder, 'dir/a.txt')]])
    expect(await readdir(outside)).toEqual([])
  })
})

describe('what is left of a worktree', () => {
  it('goes when it is discarded', async () => {
    const r = await start()
    const refs = r.branches()
    await r.child([write('b.txt', 'b')])
    await r.ctx.worktrees.close(r.session, r.waiting()[0]!.id, { keepsBranch: false })
    expect([r.waiting(), r.branches(), r.worktrees(), await readdir(r.store().folder), await r.text('b.txt')]).toEqual([[], refs, 1, [], null])
  })

  it('is the branch when that is kept', async () => {
    const r = await start()
    await r.child([write('b.txt', 'b')])
    const { id, branch } = r.waiting()[0]!
    await r.ctx.worktrees.close(r.session, id, { keepsBranch: true })
    expect([r.waiting(), r.worktrees(), git(r.folder, 'show', `${branch}:b.txt`)]).toEqual([[], 1, 'b'])
    await r.restart()
    expect(r.branches()).toContain(`refs/heads/${branch}`)
  })

  it('waits over a reload', async () => {
    const r = await start()
    await r.child([write('b.txt', 'b')])
    await r.restart()
    expect(r.waiting()).toMatchObject([{ files: 1 }])
    await accept(r)
    expect(await r.text('b.txt')).toBe('b')
  })

  it('of a crash is put in order when the session is opened again: what was changed waits, what was not goes', async () => {
    const r = await start()
    const { worktrees } = r.ctx
    const make = (runId: string) => worktrees.create({ parent: r.agent, runId, label: runId, signal: new AbortController().signal })
    const changed = await make('changed')
    await make('unchanged')
    await writeFile(join(changed.folder, 'b.txt'), 'b')
    await r.restart()
    await expect.poll(() => r.waiting().map(({ label }) => label)).toEqual(['changed'])
    await expect.poll(() => r.worktrees()).toBe(2)
  })

  it('goes with its session, and only ours', async () => {
    const r = await start()
    git(r.folder, 'worktree', 'add', '-q', '--detach', join(r.folder, '..', 'persons'))
    await rm(join(r.folder, '..', 'persons'), { recursive: true })
    await r.child([write('b.txt', 'b')])
    expect(r.worktrees()).toBe(3)
    await r.ctx.sessions.remove(r.session.id)
    await expect.poll(async () => [r.worktrees(), r.branches().filter((name) => name.includes('bosun')), await readdir(r.store().folder)]).toEqual([2, [], []])
  })

  it('of a repository that is gone goes too', async () => {
    const r = await start()
    await r.child([write('b.txt', 'b')])
    await rm(join(r.folder, '.git'), { recursive: true })
    await r.ctx.sessions.remove(r.session.id)
    await expect.poll(() => readdir(r.store().folder)).toEqual([])
  })
})

describe('a child that takes later messages', () => {
  it('comes back to its worktree, and leaves more', async () => {
    const r = await start()
    r.play(write('b.txt', 'b'))
    // For the parent, which hears of the end.
    r.play()
    const { childId } = await r.ctx.subagents.startContinuable(r.request())
    await expect.poll(() => r.waiting().map(({ files }) => files)).toEqual([1])
    await expect.poll(() => r.session.events().some(({ type }) => type === 'turn/end')).toBe(true)
    await r.agent.whenIdle()
    r.play(write('c.txt', 'c'))
    const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'more' }], source: { kind: 'coordinator', form: 'relay', senderSessionId: r.agent.id } } as const
    await r.ctx.subagents.send({ from: r.agent, childId, message, mode: 'next-turn' })
    await expect.poll(() => r.waiting().map(({ files }) => files)).toEqual([2])
  })
})

it('the machine has a git that can do all this', () => expect(execFileSync('git', ['--version']).toString()).toMatch(/git version/))
