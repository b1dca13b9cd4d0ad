import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Capabilities } from '../../../extension/compose.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import type { ModelRequest } from '../../../extension/core/model/contract.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAnswer, type ScriptedPart } from '../../support/scripted-adapter.ts'
import { prompt, textOf } from '../../support/loop-rig.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const script = 'phase("Work"); return await parallel(args.items.map((item) => () => agent("item " + item)))'
const args = { script, meta: { name: 'items', description: 'Does items' }, args: { items: [1, 2, 3, 4] } }

let home: string
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'bosun-workflow-')))
  await mkdir(join(home, 'work'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

interface Asked {
  readonly items: string[]
  readonly approvals: ApprovalRequest[]
}

/** An application whose model calls `tool` at "go" and answers "item n"; those in `hanging` never come to an answer. */
async function start({ tool = 'workflow', with: input = args, hanging = [], alter, answer = { outcome: 'allowed-once' } }: { tool?: string; with?: unknown; hanging?: readonly string[]; alter?: (world: Capabilities) => Capabilities; answer?: ApprovalAnswer } = {}) {
  const asked: Asked = { items: [], approvals: [] }
  const mind = ({ messages }: ModelRequest): readonly ScriptedPart[] => {
    const last = messages.at(-1)
    const users = messages.filter(({ role }) => role === 'user').map(textOf)
    const item = users.findLast((text) => /^item \d+$/.test(text.trim()))
    if (item !== undefined) {
      asked.items.push(item.trim())
      return hanging.includes(item.trim()) ? [{ type: 'hang' }] : sayText(`done ${item.trim()}`)
    }
    return last?.role === 'tool' || !users.some((text) => text.includes('go')) || users.some((text) => text.includes('resumed')) ? sayText('fine') : callTools({ id: null, name: tool, args: input })
  }
  const adapter = createScriptedAdapter(Array.from({ length: 60 }, (): ScriptedAnswer => mind))
  const made: WholeApplication = await wholeApplication({ home, adapters: [adapter], settings: { 'model.provider': 'scripted', 'model.name': 'm1' }, ...(alter && { alter }) })
  made.ctx.approvals.attach()
  made.ctx.on('approval/request', async (request) => {
    asked.approvals.push(request)
    return answer
  })
  return { ...made, asked }
}
const resultsOf = (session: { events(): readonly { type: string; data: unknown }[] }) =>
  session.events().flatMap((event) => (event.type === 'tool/result' ? [textOf((event.data as { message: Parameters<typeof textOf>[0] }).message)] : []))

describe('7.1 in the whole application', () => {
  it('runs real children under the calling turn, after the person has read the script; the same script asks no second time', async () => {
    const { ctx, folder, asked, dispose } = await start()
    const agent = await ctx.agents.create({ cwd: folder, preset: 'standard' })
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(asked.approvals).toHaveLength(1)
    expect(asked.approvals[0]).toMatchObject({ toolName: 'workflow', details: { effect: 'Run the workflow `items`', why: expect.stringContaining('1 place') } })
    expect(resultsOf(agent.session)[0]).toContain('Workflow items completed; 4 agents were started.')
    expect(asked.items.toSorted()).toEqual(['item 1', 'item 2', 'item 3', 'item 4'])
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(asked.approvals).toHaveLength(1)
    const values = ctx.projections.snapshot(agent.session.id).values['workflows'] as readonly { name: string; stopReason: string; members: readonly object[] }[]
    expect(values.map(({ name, stopReason, members }) => [name, stopReason, members.length])).toEqual([['items', 'completed', 4], ['items', 'completed', 4]])
    expect((await ctx.subagents.children(agent.id)).every(({ purpose }) => purpose.kind === 'workflow')).toBe(true)
    await dispose()
  }, 30_000)

  it('does not run without the person, and not in a folder that is not trusted', async () => {
    const refused = await start({ answer: { outcome: 'rejected' } })
    const one = await refused.ctx.agents.create({ cwd: refused.folder, preset: 'standard' })
    one.followup(prompt('go'))
    await one.whenIdle()
    expect([refused.asked.items, one.session.events().some(({ type }) => type.startsWith('tool-workflow'))]).toEqual([[], false])
    await refused.dispose()
    for (const [tool, input] of [['workflow', args], ['ralph', { objective: 'x' }]] as const) {
      const untrusted = await start({ tool, with: input, alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => false } }) })
      const two = await untrusted.ctx.agents.create({ cwd: untrusted.folder, preset: 'standard' })
      two.followup(prompt('go'))
      await two.whenIdle()
      expect(resultsOf(two.session)[0]).toMatch(/not trusted|no tool named/)
      expect([untrusted.asked.approvals, untrusted.asked.items]).toEqual([[], []])
      await untrusted.dispose()
    }
  }, 30_000)

  it('goes on after a window that was closed in the middle, and asks no finished agent again', async () => {
    const first = await start({ hanging: ['item 3', 'item 4'] })
    const agent = await first.ctx.agents.create({ cwd: first.folder, preset: 'standard' })
    agent.followup(prompt('go'))
    while (agent.session.events().filter(({ type }) => type === 'tool-workflow/journal').length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
    await first.dispose()

    const second = await start()
    const again = await second.ctx.agents.resume(agent.id)
    const runs = second.ctx.projections.snapshot(agent.id).values['workflows'] as readonly { runId: string }[]
    second.ctx.workflows.resume(again, runs[0]!.runId)
    while (!again.session.events().some((event) => event.type === 'user/message' && textOf(event.data).includes('The person resumed'))) await new Promise((resolve) => setTimeout(resolve, 20))
    await again.whenIdle()
    expect(second.asked.items.toSorted()).toEqual(['item 3', 'item 4'])
    const told = again.session.events().flatMap((event) => (event.type === 'user/message' && textOf(event.data).includes('resumed') ? [textOf(event.data)] : []))
    expect(told[0]).toContain('"done item 1",\n  "done item 2",\n  "done item 3",\n  "done item 4"')
    await second.dispose()
  }, 30_000)
})
