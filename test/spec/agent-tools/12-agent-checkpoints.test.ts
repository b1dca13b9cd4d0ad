import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../../extension/core/model/contract.ts'
import type {} from '../../../extension/features/checkpoints/service.ts'
import { prompt, textOf } from '../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAnswer, type ScriptedPart } from '../../support/scripted-adapter.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/** Three rounds of Ralph: each appends a line to `log.md` and makes a file; the session itself wrote `own.md` before and `log.md` at first. */
async function threeRounds() {
  const report = (status: 'continue' | 'complete') => ({ status, summary: 's', evidence: ['e'], nextSteps: status === 'continue' ? ['n'] : [], blocker: '' })
  let calls = 0
  const call = (name: string, args: object) => callTools({ id: `c${++calls}`, name, args })
  const bash = (command: string) => call('bash', { command, description: 'x' })
  const mind = ({ messages }: ModelRequest): readonly ScriptedPart[] => {
    const users = messages.filter(({ role }) => role === 'user').map(textOf)
    const results = messages.filter(({ role }) => role === 'tool').length
    const [, round] = /You are round (\d)/.exec(users.join('\n')) ?? []
    if (round !== undefined) return results === 0 ? bash(`echo round${round} >> log.md; echo ${round} > r${round}.md`) : call('structured_output', report(round === '3' ? 'complete' : 'continue'))
    if (!users.some((text) => text.includes('go'))) return sayText('fine')
    return results === 0 ? bash('echo start > log.md; echo mine > own.md') : results === 1 ? call('ralph', { objective: 'x', maxRounds: 3 }) : sayText('done')
  }
  const adapter = createScriptedAdapter(Array.from({ length: 40 }, (): ScriptedAnswer => mind))
  const { ctx, folder, dispose } = await wholeApplication({ adapters: [adapter], settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
  const agent = await ctx.agents.create({ cwd: folder, preset: 'standard' })
  ctx.permissions.select(agent.id, 'danger-full-access')
  agent.followup(prompt('go'))
  await agent.whenIdle()
  const rounds = (await ctx.subagents.children(agent.id)).map(({ id }) => id)
  const text = (name: string) => readFile(join(folder, name), 'utf8').catch(() => null)
  return { ctx, agent, rounds, folder, dispose, text, files: async () => Promise.all(['log.md', 'own.md', 'r1.md', 'r2.md', 'r3.md'].map(text)) }
}

describe('12.8 checkpoints per round and child', () => {
  it('tell what each changed, and go back to before any of them, whoever changed the same file since', async () => {
    const { ctx, agent, rounds, folder, files, dispose } = await threeRounds()
    expect(rounds).toHaveLength(3)
    expect(await files()).toEqual(['start\nround1\nround2\nround3\n', 'mine\n', '1\n', '2\n', '3\n'])
    const names = (paths: readonly string[]) => paths.map((path) => path.slice(folder.length + 1)).toSorted()
    expect(names(await ctx.agentChanges.filesOf([rounds[1]!]))).toEqual(['log.md', 'r2.md'])
    const { paths, agents } = await ctx.agentChanges.planBefore(rounds[1]!)
    expect([names(paths), agents]).toEqual([['log.md', 'r2.md', 'r3.md'], 2])
    // The run says it of each round, durably.
    const told = agent.session.events().flatMap((event) => (event.type === 'tool-workflow/changes' ? [[event.data.seq, event.data.files, names(event.data.paths)]] : []))
    expect(told).toEqual([[1, 2, ['log.md', 'r1.md']], [2, 2, ['log.md', 'r2.md']], [3, 2, ['log.md', 'r3.md']]])
    expect((await ctx.agentChanges.startOf(rounds[1]!)).map(({ path, before }) => [path.slice(folder.length + 1), before])).toEqual([['log.md', 'start\nround1\n'], ['r2.md', null]])
    const outcome = await ctx.agentChanges.restoreBefore(rounds[1]!)
    expect([names(outcome.paths), outcome.conflicts, outcome.problems]).toEqual([['log.md', 'r2.md', 'r3.md'], [], []])
    expect(await files()).toEqual(['start\nround1\n', 'mine\n', '1\n', null, null])
    // The model of the session that started them is told with its next step.
    expect(agent.inbox.nextStep.map(({ source }) => source)).toEqual([expect.objectContaining({ kind: 'plugin', plugin: 'review' })])
    await ctx.agentChanges.restoreBefore(rounds[0]!)
    expect(await files()).toEqual(['start\n', 'mine\n', null, null, null])
    // Nobody reads the sessions of rounds any more.
    expect(rounds.map((id) => ctx.sessions.live(id))).toEqual([undefined, undefined, undefined])
    await dispose()
  }, 40_000)

  it('keep what the person typed since, and leave alone what they changed in the same lines', async () => {
    const { ctx, rounds, folder, text, dispose } = await threeRounds()
    await writeFile(join(folder, 'log.md'), 'mine above\nstart\nround1\nround2\nround3\n')
    await writeFile(join(folder, 'r3.md'), 'three, says the person\n')
    const { conflicts } = await ctx.agentChanges.restoreBefore(rounds[1]!)
    expect(conflicts).toEqual([join(folder, 'r3.md')])
    expect([await text('log.md'), await text('r2.md'), await text('r3.md')]).toEqual(['mine above\nstart\nround1\n', null, 'three, says the person\n'])
    await dispose()
  }, 40_000)

  it('are refused for what is not there, and while agents still work', async () => {
    const { ctx, agent, rounds, files, dispose } = await threeRounds()
    await expect(ctx.agentChanges.planBefore('nobody')).rejects.toMatchObject({ code: 'UNKNOWN_AGENT' })
    const before = await files()
    const busy = await ctx.agents.resume(rounds[2]!)
    Object.defineProperty(busy, 'status', { value: 'running' })
    await expect(ctx.agentChanges.restoreBefore(rounds[0]!)).rejects.toMatchObject({ code: 'AGENTS_AT_WORK' })
    expect([await files(), agent.inbox.nextStep]).toEqual([before, []])
    await dispose()
  }, 40_000)
})
