import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { wholeApplication } from '../../support/whole-application.ts'
import { worktreeRig, type WorktreeRig } from '../../support/worktree-rig.ts'

let rig: WorktreeRig | undefined
afterEach(async () => {
  await rig?.dispose()
  rig = undefined
})
const fake = new URL('../../fixtures/agent-clis/fake.mjs', import.meta.url).pathname
const tools = ['subagent_codex', 'subagent_claude_code'] as const
const key = { subagent_codex: 'subagents.codex', subagent_claude_code: 'subagents.claudeCode' } as const

/** The whole application with both programs at a path, and the settings that turn on some of them. */
async function start(on: readonly (typeof tools)[number][], more: { readonly env?: Readonly<Record<string, string>> } = {}) {
  rig = await worktreeRig({ settings: Object.fromEntries(tools.map((tool) => [`${key[tool]}.enabled`, on.includes(tool)])) })
  const r = rig
  const program = join(r.folder, '..', 'program')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${fake}' "$@"\n`)
  await chmod(program, 0o755)
  for (const tool of tools) {
    await r.whole.settings.set(`${key[tool]}.env`, { RECORD: join(r.folder, '..', 'record'), BEHAVIOUR: 'answers', ...more.env }, 'user')
    await r.whole.settings.set(`${key[tool]}.path`, program, 'user')
  }
  return r
}
const offered = (r: WorktreeRig) => r.ctx.tools.schemas(r.agent.scope).map(({ name }) => name).filter((name) => tools.includes(name as (typeof tools)[number]))
const waitFor = (r: WorktreeRig, names: readonly string[]) => expect.poll(() => offered(r).toSorted()).toEqual([...names].toSorted())

/** One call of the root's model, and what it was told. */
async function call(r: WorktreeRig, tool: string, args: object = {}) {
  r.play({ name: tool, args: { description: 'Look for it', prompt: 'Find it.', ...args } })
  r.agent.followup({ id: `p${r.session.length}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
  await r.agent.whenIdle()
  return r.results().at(-1)
}

describe('the tools for installed coding agents', () => {
  it('are not there by themselves, and nothing is started to look', async () => {
    const r = await start([])
    await call(r, 'read', { file_path: 'a.txt' })
    expect([offered(r), await readFile(join(r.folder, '..', 'record'), 'utf8').catch(() => null)]).toEqual([[], null])
  })

  it.each(tools)('%s is there while its setting is on and its program is found', async (tool) => {
    const r = await start([tool])
    await waitFor(r, [tool])
    await r.whole.settings.set(`${key[tool]}.path`, '/nowhere/program', 'user')
    await waitFor(r, [])
    await r.whole.settings.set(`${key[tool]}.path`, join(r.folder, '..', 'program'), 'user')
    await waitFor(r, [tool])
    await r.whole.settings.set(`${key[tool]}.enabled`, false, 'user')
    await waitFor(r, [])
  })

  it.each([true, false])('are there only in a folder that is trusted: %s', async (isTrusted) => {
    const whole = await wholeApplication({
      settings: { ...Object.fromEntries(tools.flatMap((tool) => [[`${key[tool]}.enabled`, true], [`${key[tool]}.path`, process.execPath]])) },
      alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => isTrusted } }),
    })
    try {
      const there = () => tools.filter((tool) => whole.ctx.tools.get(tool) !== undefined)
      if (isTrusted) await expect.poll(there).toEqual(tools)
      else await new Promise((resolve) => setTimeout(resolve, 1_500))
      expect(there()).toEqual(isTrusted ? tools : [])
    } finally {
      await whole.dispose()
    }
  })

  it.each(tools)('%s gives a task and its answer', async (tool) => {
    const r = await start([tool])
    await waitFor(r, [tool])
    expect(await call(r, tool)).toBe('one line\nthe answer')
  })

  it.each(tools)('%s takes the same arguments as subagent, and says whose work it is', async (tool) => {
    const r = await start([tool])
    await waitFor(r, [tool])
    const one = r.ctx.tools.schemas(r.agent.scope).find(({ name }) => name === tool)!
    expect(Object.keys(one.parameters['properties'] as object)).toEqual(['description', 'prompt', 'run_in_background', 'isolation'])
    expect([one.parameters['required'], one.description.includes('installed here')]).toEqual([['description', 'prompt'], true])
  })

  it.each(tools)('%s that fails tells why', async (tool) => {
    const r = await start([tool], { env: { BEHAVIOUR: 'exit-1' } })
    await waitFor(r, [tool])
    const told = await call(r, tool)
    expect(told).toMatch(/The agent failed\.\n.* failed \(process\)\. It ended with exit code 1 before it had answered\.\nIts last words: no login\nWhat it had said:\nhalf of it/)
  })

  it.each(tools)('%s in the background is a job', async (tool) => {
    const r = await start([tool])
    await waitFor(r, [tool])
    expect(await call(r, tool, { run_in_background: true })).toMatch(/^Started as background job /)
    await expect.poll(() => r.ctx.jobs.list(r.agent).map(({ status }) => status)).toEqual(['completed'])
  })

  it.each(tools)('%s is asked for like a command, and not run where nothing may change', async (tool) => {
    const r = await start([tool])
    await waitFor(r, [tool])
    r.ctx.permissions.select(r.agent.id, 'read-only')
    expect(await call(r, tool)).toContain('The session is read-only')
    r.ctx.permissions.select(r.agent.id, 'workspace-write')
    expect(await call(r, tool)).toContain('Nobody could be asked')
    expect(await readFile(join(r.folder, '..', 'record'), 'utf8').catch(() => '')).toBe('')
  })

  it.each(tools)('%s works in a worktree when told so', async (tool) => {
    const r = await start([tool])
    await waitFor(r, [tool])
    expect(await call(r, tool, { isolation: 'worktree' })).toBe('one line\nthe answer')
    const [first] = (await readFile(join(r.folder, '..', 'record'), 'utf8')).split('\n')
    expect((JSON.parse(first!) as { readonly cwd: string }).cwd.startsWith(r.store().folder)).toBe(true)
    expect(r.worktrees()).toBe(1)
  })

  it('what it changes in the folder can be taken back', async () => {
    const r = await start(['subagent_codex'], { env: { BEHAVIOUR: 'writes' } })
    await waitFor(r, ['subagent_codex'])
    await call(r, 'subagent_codex')
    expect(await r.text('made.txt')).toBe('made')
    await r.ctx.reviews.plan(r.session, { kind: 'all' })
    await r.ctx.reviews.undo(r.session, { kind: 'all' })
    expect(await r.text('made.txt')).toBeNull()
  })
})
