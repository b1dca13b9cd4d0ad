import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import type { Capabilities } from '../../../extension/compose.ts'
import { GIT_DEADLINE_MS } from '../../../extension/features/checkpoints/git-facts.ts'
import { MAX_FOUND_FILES, MAX_KEPT_FILES } from '../../../extension/features/checkpoints/shell-changes.ts'
import { runCount } from '../../support/run-count.ts'
import { reviewRig, type ReviewRig } from '../../support/review-rig.ts'

/* Chapter 20.5 and design 6.4, where the world around them misbehaves. */

const undos: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const undo of undos.splice(0).toReversed()) await undo()
})

const ten = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n'
async function start(files: Readonly<Record<string, string | Uint8Array>> = {}, alter?: (world: Capabilities) => Capabilities): Promise<ReviewRig> {
  const rig = await reviewRig(files, alter && { alter })
  undos.push(() => rig.dispose())
  return rig
}
const git = async (r: ReviewRig, ...lines: readonly string[]) => {
  for (const line of lines) await promisify(execFile)('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...line.split(' ')], { cwd: r.whole.folder })
}
const limits = (r: ReviewRig) => r.session.milestones().flatMap((event) => (event.type === 'review/limited' ? [event.data] : []))

describe('what could not be kept before a command is not taken back to what a commit holds', () => {
  it('a file that is too large, with changes of the person that no commit holds', async () => {
    const large = `${'x'.repeat(99)}\n`.repeat(60_000)
    const r = await start({ large })
    await git(r, 'init -q', 'add large', 'commit -qm first')
    await r.put('large', `${large}mine\n`)
    await r.turn(r.bash('sed -i 1s/x/y/ large'))
    const changed = await r.text('large')
    expect(await r.undo({ kind: 'turn', turn: 1 })).toMatchObject({ paths: [], problems: [{ path: r.at('large') }] })
    expect((await r.text('large')) === changed).toBe(true)
  })

  it('what the agent does to it afterwards is taken back, and that the rest stays is said', async () => {
    const large = `${'x'.repeat(99)}\n`.repeat(60_000)
    const r = await start({ large })
    await git(r, 'init -q', 'add large', 'commit -qm first')
    await r.put('large', `${large}mine\n`)
    await r.turn(r.bash('sed -i 1s/x/y/ large'))
    const changed = (await r.text('large'))!
    await r.turn(...r.edit('large', 'mine', 'MINE'))
    expect(await r.undo({ kind: 'all' })).toEqual({ paths: [r.at('large')], conflicts: [], problems: [{ path: r.at('large'), problem: expect.stringContaining('could not be kept, so these stay') as string }] })
    expect((await r.text('large')) === changed).toBe(true)
  })

  it('one of more changed files than are kept', async () => {
    const names = Array.from({ length: MAX_KEPT_FILES + 1 }, (_, index) => `f${String(index).padStart(5, '0')}`)
    const r = await start(Object.fromEntries(names.map((name) => [name, ten])))
    await git(r, 'init -q', 'add .', 'commit -qm first')
    for (const name of names) await r.put(name, ten.replace('two', 'two, mine'))
    await r.turn(r.bash(`sed -i s/nine/NINE/ ${names[0]} ${names.at(-1)}`))
    expect(await r.undo({ kind: 'turn', turn: 1 })).toMatchObject({ paths: [r.at(names[0]!)], problems: [{ path: r.at(names.at(-1)!) }] })
    expect([await r.text(names[0]!), await r.text(names.at(-1)!)]).toEqual([ten.replace('two', 'two, mine'), ten.replace('two', 'two, mine').replace('nine', 'NINE')])
  })
})

it('a line that the person puts where the agent took one away stays, once, and nothing is left to settle', async () => {
  const r = await start({ a: ten })
  await r.turn(...r.edit('a', 'nine\n', ''))
  await r.put('a', (await r.text('a'))!.replace('eight\n', 'eight\nmine\n'))
  await r.undo({ kind: 'turn', turn: 1 })
  expect([await r.text('a'), r.waiting()]).toEqual([ten.replace('nine\n', 'nine\nmine\n'), []])
})

describe('line ends that git puts into files when it checks them out', () => {
  const dos = ten.replaceAll('\n', '\r\n')
  it.each([
    ['by an attribute', { '.gitattributes': 'a text eol=crlf\n' }, [], dos],
    ['by a setting', {}, ['config core.autocrlf true'], dos],
    ['by a setting, for what is text', { '.gitattributes': 'a text\n' }, ['config core.eol crlf'], dos],
    ['by a setting, but not where an attribute forbids it', { '.gitattributes': 'a -text\n' }, ['config core.autocrlf true'], ten],
    ['nowhere', {}, [], ten],
  ] as const)('stand in them again: %s', async (_how, files, lines, text) => {
    const r = await start({ a: ten, ...files })
    await git(r, 'init -q', ...lines, 'add .', 'commit -qm first')
    await r.remove('a')
    await git(r, 'checkout -q -- a')
    expect(await r.text('a')).toBe(text)
    await r.turn(r.bash('sed -i s/nine/NINE/ a'))
    expect((await r.file('a'))!.hunks.map(({ removed }) => removed)).toEqual([[text === dos ? 'nine\r\n' : 'nine\n']])
    await r.undo({ kind: 'turn', turn: 1 })
    expect(await r.text('a')).toBe(text)
  })
})

describe('many files', () => {
  const make = (from: number, to: number) => `for i in $(seq ${from} ${to}); do echo $i > f$i; done`
  const count = async (r: ReviewRig) => (await readdir(r.whole.folder)).length

  it('hundreds of one turn, by one command and edits, are all taken back', async () => {
    const r = await start()
    const all = runCount({ full: 600, desk: 200 })
    await r.turn(r.bash(make(1, all - 10)), ...Array.from({ length: 10 }, (_, index) => r.write(`g${index}`, 'new\n')))
    expect([r.waiting().length, await count(r)]).toEqual([all, all])
    expect(await r.undo({ kind: 'turn', turn: 1 })).toMatchObject({ conflicts: [], problems: [] })
    expect([await count(r), r.waiting(), r.turns()]).toEqual([0, [], [{ turn: 1, state: 'undone' }]])
    expect(r.notices()[0]).toContain(`- and ${all - 50} more files`)
  })

  it.runIf(process.env['CI'] !== undefined)('more than one command may put up are told to the person', async () => {
    const r = await start()
    await r.turn(r.bash(make(1, MAX_FOUND_FILES + 5)))
    expect([r.waiting().length, limits(r)]).toEqual([MAX_FOUND_FILES, [{ callId: 'c1', reason: 'too-many-found' }]])
  })
})

it('a watch that lost count is told to the person, and what it lost is not taken back with the next command', async () => {
  let takes = 0
  const r = await start({ a: ten }, (world) => ({
    ...world,
    changeWatch: {
      async begin(folder, options) {
        const watched = await world.changeWatch!.begin(folder, options)
        if (watched.kind === 'refused') return watched
        const take = async () => {
          takes += 1
          const taken = await watched.take()
          return takes === 2 ? { changes: [], isWhole: false } : taken
        }
        return { kind: 'watched', files: () => watched.files(), take, close: () => watched.close() }
      },
      dispose: () => world.changeWatch!.dispose(),
    },
  }))
  await git(r, 'init -q', 'add a', 'commit -qm first')
  await r.turn(r.bash('sed -i s/one/ONE/ a'))
  expect([r.waiting(), limits(r)]).toEqual([[], [{ callId: 'c1', reason: 'too-many-found' }]])
  await r.turn(r.bash('sed -i s/two/TWO/ a'))
  await r.undo({ kind: 'all' })
  expect(await r.text('a')).toBe(ten.replace('one', 'ONE'))
})

describe('with checkpoints turned off', () => {
  it('nothing is kept or put up for review, and what waited before can still be taken back', async () => {
    const r = await start({ a: ten })
    await r.turn(...r.edit('a', 'two', 'TWO'))
    await r.whole.settings.set('checkpoints.enabled', false, 'user')
    await r.turn(...r.edit('a', 'nine', 'NINE'), r.write('b', 'x\n'), r.bash('echo x > c'))
    expect(r.waiting()).toEqual(['a'])
    await r.undo({ kind: 'turn', turn: 1 })
    expect([await r.text('a'), await r.text('b'), await r.text('c')]).toEqual([ten.replace('nine', 'NINE'), 'x\n', 'x\n'])
  })
})

it('a first command that the person stops does not blind the session for new files of the next', async () => {
  const r = await start({ a: ten })
  await git(r, 'init -q', 'add a', 'commit -qm first')
  const stop = new AbortController()
  const agent = r.agent
  agent.session.append({ type: 'turn/start', data: { turn: 1 } })
  const run = (callId: string, command: string, signal = new AbortController().signal) =>
    r.ctx.tools.execute({ callId, name: 'bash', arguments: { command, description: 'Run it' }, agent, signal })
  const first = run('s1', 'echo early > early && sleep 600', stop.signal)
  await expect.poll(() => r.text('early'), { timeout: 60_000 }).toBe('early\n')
  stop.abort()
  await first
  await run('s2', 'echo late > late')
  await r.plan({ kind: 'all' })
  expect(r.waiting().toSorted()).toEqual(['early', 'late'])
})

describe('a git that', () => {
  /** Every `git` is this script; its deadline is short. */
  async function withGit(script: string): Promise<ReviewRig> {
    const folder = await mkdtemp(join(tmpdir(), 'fake-git-'))
    undos.push(() => rm(folder, { recursive: true, force: true }))
    const program = join(folder, 'git')
    await writeFile(program, `#!/bin/sh\necho "$@" >> ${folder}/asked\n${script}\n`)
    await chmod(program, 0o755)
    return await start({ a: ten }, (world) => ({
      ...world,
      processes: { ...world.processes, start: (spec) => world.processes.start(spec.command === 'git' ? { ...spec, command: program } : spec), dispose: () => world.processes.dispose() },
      clock: { ...world.clock, schedule: (delayMs, fire) => world.clock.schedule(delayMs === GIT_DEADLINE_MS ? 300 : delayMs, fire) },
    }))
  }
  const changes = async (r: ReviewRig) => {
    await r.turn(r.bash('sed -i s/one/ONE/ a && echo new > b'))
    await r.turn(r.bash('sed -i s/two/TWO/ a && echo new > c'))
    const waiting = r.waiting().toSorted()
    await r.undo({ kind: 'all' })
    return [waiting, await r.text('a'), await r.text('b'), await r.text('c')]
  }
  const all = [['a', 'b', 'c'], ten, null, null]

  it.each([
    ['hangs', 'exec sleep 600'],
    ['hangs once it is asked what changed', 'case "$*" in *rev-parse*show-toplevel*) pwd; exit 0;; *) exec sleep 600;; esac'],
    ['prints garbage', 'printf "\\001\\377 garbage\\n\\n not a path"'],
    ['prints garbage once it is asked what changed', 'case "$*" in *rev-parse*show-toplevel*) pwd;; *) printf "garbage\\000more";; esac'],
    ['fails', 'echo broken >&2; exit 128'],
    ['dies', 'kill -9 $$'],
  ])('%s does not keep commands from being seen and taken back', async (_name, script) => {
    const r = await withGit(script)
    expect(await changes(r)).toEqual(all)
  })

  it('is missing does not either', async () => {
    const r = await start({ a: ten }, (world) => ({
      ...world,
      processes: { ...world.processes, start: (spec) => world.processes.start(spec.command === 'git' ? { ...spec, command: '/nowhere/git' } : spec), dispose: () => world.processes.dispose() },
    }))
    expect(await changes(r)).toEqual(all)
  })

  it('hangs is told of once, and not asked again', async () => {
    const r = await withGit('exec sleep 600')
    await changes(r)
    expect(limits(r)).toEqual([{ callId: 'c1', reason: 'git-unavailable' }])
  })
})
