import { describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import type { SandboxMode } from '../../../extension/core/log/event.ts'
import { createFakeSandbox } from '../../support/fake-sandbox.ts'
import { brief, judgeRig, type World } from '../../support/judge-rig.ts'

/** A child whose worktree is `/storage/worktrees/w1/web`; the person's work tree is `/home/me/web`. */
const walled: World = { folders: ['/home/me/web'], walledFolder: '/storage/worktrees', cwd: '/storage/worktrees/w1/web/src', mode: 'workspace-write' }
const own = '/storage/worktrees/w1/web'
const check = async (name: string, args: Json, world: World = {}) => brief(await judgeRig({ ...walled, ...world }).decide(name, args)).replace(/ lies outside .*/, ' is outside').replace(/Nothing here holds what .*/, 'not in a terminal')
const edit = (file_path: string, world?: World) => check('edit', { file_path }, world)
const bash = (command: string, world?: World, more: object = {}) => check('bash', { command, ...more }, world)
const modes: readonly SandboxMode[] = ['workspace-write', 'danger-full-access']

describe.each(modes)('a child in a worktree, started by a session that is %s', (mode) => {
  it.each(['a.ts', `${own}/b.ts`, '../../c'])('changes %s in its own folder without a question', async (path) => expect(await edit(path, { mode })).toBe('allow'))

  it.each(['/home/me/web/a.ts', '/home/me/other', '../../../w2/web/a.ts', '/storage/worktrees/w1x/a', '/storage/sessions/x/events.jsonl'])('never changes %s', async (path) => {
    expect(await edit(path, { mode })).toBe(`deny FS_SANDBOX_DENIED: ${path} is outside`)
    expect(await check('write', { file_path: path }, { mode, rules: [{ tool: 'write', decision: 'allow' }, { tool: 'write', path: '/**', decision: 'allow' }] })).toContain('deny')
  })

  it('does not get out by a link, nor by telling git of another repository', async () => {
    expect(await edit('out/a', { mode, links: { [`${own}/src/out`]: '/home/me/web' } })).toContain('deny')
    expect(await edit(`${own}/.git`, { mode })).toContain('deny')
  })

  it('reads its own folder and the person’s, not what looks like a secret', async () => {
    expect(await check('read', { file_path: '/home/me/web/a.ts' }, { mode })).toBe('allow')
    expect(await check('read', { file_path: `${own}/a.ts` }, { mode })).toBe('allow')
    expect(await check('read', { file_path: '/home/me/web/.env' }, { mode })).toContain('deny')
  })

  it.each(['echo x > /home/me/web/a', 'cd /home/me/web && rm a', 'cd .. && cd ../../w2 && touch a', 'echo x >> ../../../w2/x'])('does not run %s', async (command) => expect(await bash(command, { mode, rules: [{ tool: 'bash', decision: 'allow' }] })).toContain('deny FS_SANDBOX_DENIED'))
  it('does not run a command elsewhere', async () => expect(await bash('npm test', { mode, rules: [{ tool: 'bash', decision: 'allow' }] }, { workdir: '/home/me/web' })).toContain('deny FS_SANDBOX_DENIED'))
  it('reads with commands as ever', async () => expect(await bash('ls && git status', { mode })).toBe('allow'))
  it('types nothing that acts in a terminal', async () => {
    expect(await check('terminal_send', {}, { mode })).toBe('deny FS_SANDBOX_DENIED: not in a terminal')
  })
  it('does not ask its way out', async () => {
    const r = judgeRig({ ...walled, mode, sandbox: createFakeSandbox() })
    await r.confinement.settle()
    expect(r.confinement.wayOn(r.exec('bash', { command: 'x' }), 'workspace-write')).toBeNull()
  })
})

describe.each(modes)('what a worktree shares with the person’s repository, for a session that is %s', (mode) => {
  const rules = [{ tool: 'bash', decision: 'allow' }] as const
  const shared = /^deny FS_SANDBOX_DENIED: `git .*shares with the person/
  it.each([
    'git tag -d v1', 'git tag v2', 'git branch -f main HEAD~1', 'git branch new', 'git config user.name x', 'git config core.hooksPath x', 'git update-ref -d refs/heads/main', 'git symbolic-ref refs/heads/x refs/heads/main',
    'git remote add o x', 'git push . HEAD:refs/heads/main', 'git push', 'git fetch . HEAD:refs/heads/x', 'git pull', 'git notes add -m x', 'git replace HEAD HEAD', 'git stash', 'git stash drop', 'git worktree prune', 'git worktree add ../x',
    'git gc', 'git reflog expire --all', 'git pack-refs --all', 'git checkout main', 'git checkout -b x', 'git checkout -f main', 'git switch main', 'git switch -c x', 'git rebase --update-refs HEAD~2', 'git submodule update --init', 'git init', 'git my-alias', 'git -c a.b=c tag x', 'git --no-pager tag x',
    'git --work-tree . tag x', 'bash -c "git tag x"', 'ls && (cd lib; git branch x)', 'xargs git tag', 'env A=1 git tag x', 'git "$VERB"', 'find . -exec git tag {} \\;', 'git filter-branch --force',
  ])('is not changed by %s', async (command) => expect(await bash(command, { mode, rules })).toMatch(shared))
  it.each(['git add -A', 'git commit -m "git tag x"', 'git -c user.name=a -c user.email=b commit --amend -m x', 'git mv a b', 'git rm --cached a', 'git restore --staged a', 'git reset', 'git apply x.patch', 'git merge main', 'git cherry-pick main', 'git revert HEAD', 'git diff --output=x', 'git format-patch -1', 'git config --get user.name', 'git config --list', 'git ls-remote .'])(
    'has no part in %s', async (command) => expect(await bash(command, { mode, rules })).toBe('allow'),
  )
  it.each(['git checkout -- a', 'git checkout HEAD -- a', 'git checkout .', 'git reset --hard', 'git clean -fdx', 'git restore .'])('has no part in %s, which may lose work', async (command) => expect(await bash(command, { mode, rules })).toMatch(/^must ask/))
  it('is as free as ever elsewhere', async () => expect(await bash('git tag v2', { mode, rules, cwd: '/home/me/web' })).toBe('allow'))
})

describe('commands of a child in a worktree', () => {
  const confined = async (mode: SandboxMode, hasSandbox: boolean) => brief(await judgeRig({ ...walled, mode, ...(hasSandbox && { sandbox: createFakeSandbox() }) }).decide('bash', { command: 'npm test' })).split(':')[0]
  it('run without a question where the session that began it has full access, with the sandbox and without', async () => {
    expect([await confined('danger-full-access', true), await confined('workspace-write', true), await confined('danger-full-access', false), await confined('workspace-write', false)]).toEqual(['allow', 'ask', 'allow', 'ask'])
  })

  it.each(['cp a /home/me/web/a', 'git -C /home/me/web commit -m x', 'npm --prefix /home/me/web test', 'cd $X && touch a', 'eval "$X"', 'touch > $X'])('ask where they name what is the person’s, or nobody can tell: %s', async (command) => {
    expect(await bash(command, { mode: 'danger-full-access' })).toMatch(/^(?:ask|must ask|deny)/)
  })
  it.each(['npm test', 'mkdir -p x/y && cp a x/y', 'echo x > b && sed -i s/a/b/ b', 'node --version > /dev/null'])('run: %s', async (command) => expect(await bash(command, { mode: 'danger-full-access' })).toBe('allow'))

  it('are held by the system to that one folder', async () => {
    const sandbox = createFakeSandbox()
    const r = judgeRig({ ...walled, mode: 'danger-full-access', sandbox })
    await r.confinement.confine(r.exec('bash', { command: 'x' }), { command: 'sh', args: [], cwd: own })
    expect(sandbox.wraps[0]?.writable[0]).toBe('/storage/worktrees/w1')
    expect(sandbox.wraps[0]?.writable).not.toContain('/home/me/web')
    expect(sandbox.wraps[0]?.searched.map(({ folder }) => folder)).toContain('/home/me/web')
  })

  it('cannot write to the workspace by way of the folder for temporary files', async () => {
    const sandbox = createFakeSandbox()
    const r = judgeRig({ ...walled, folders: ['/tmp/web'], sandbox })
    await r.confinement.confine(r.exec('bash', { command: 'x' }), { command: 'sh', args: [], cwd: own })
    expect(sandbox.wraps[0]?.writable.filter((path) => '/tmp/web'.startsWith(path))).toEqual([])
    expect(await edit('/tmp/web/a', { folders: ['/tmp/web'] })).toContain('deny')
  })
})

it('a workspace that holds Bosun’s storage does not open the wall', async () => {
  const folders = ['/']
  expect(await edit('/home/me/web/a', { folders })).toContain('deny')
  expect(await edit(`${own}/a`, { folders })).toBe('allow')
})

it('a session that may only read changes nothing, also there', async () => {
  expect(await edit('a.ts', { mode: 'read-only' })).toContain('deny')
  expect(await bash('npm test', { mode: 'read-only' })).toContain('deny')
})

it('rules that deny hold there too', async () => {
  const rules = [{ tool: 'edit', path: 'src/locked/**', decision: 'deny' }] as const
  expect(await edit(`${own}/src/locked/a`, { rules: [...rules, { tool: 'edit', path: 'web/src/locked/**', decision: 'deny' }] })).toContain('deny')
  expect(await edit(`${own}/src/locked/a`, { rules: [{ tool: 'edit', path: '**/locked/**', decision: 'deny' }] })).toContain('deny')
})

it('a session that works elsewhere has no wall', async () => {
  expect(await edit('/home/me/other', { cwd: '/home/me/web' })).toContain('ask')
  expect(await edit('/home/me/web/a', { cwd: '/storage/worktrees' })).toContain('ask')
})
