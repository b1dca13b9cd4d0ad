import { afterEach, describe, expect, it } from 'vitest'
import type { Application } from '../../../extension/compose.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Reminders in the whole application, over a real disk and by the real clock. */
let application: WholeApplication | undefined
afterEach(() => application?.dispose())

const start = async () => {
  application = await wholeApplication({ settings: { 'model.provider': 'scripted-tour', 'model.name': 'guided-tour' } })
  return application
}
const create = async ({ ctx }: Application, agent: Agent, args: object) => await ctx.tools.execute({ callId: 'c', name: 'schedule_create', arguments: args, agent, signal: new AbortController().signal })
const reminders = (agent: Agent) => agent.session.milestones().filter((event) => event.type === 'user/message' && event.data.source.kind === 'plugin' && event.data.source.plugin === 'schedule')
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe('in the whole application', () => {
  it('the presets that list them show the three tools, and one that does not hides them', async () => {
    const { ctx, folder } = await start()
    const shown = async (preset: string) => {
      const { scope } = await ctx.agents.create({ cwd: folder, preset })
      return ctx.tools.schemas(scope).map(({ name }) => name).filter((name) => name.startsWith('schedule_'))
    }
    expect([await shown('editor'), await shown('standard')]).toEqual([['schedule_create', 'schedule_delete', 'schedule_list'], []])
  })
  it('a reminder comes by itself, at its time', async () => {
    const app = await start()
    const agent = await app.ctx.agents.create({ cwd: app.folder, preset: 'editor' })
    const result = await create(app, agent, { prompt: 'Drink water', after_seconds: 1 })
    await until(() => reminders(agent).length === 1)
    await agent.whenIdle()
    const { scheduledAt } = (result.isError ? {} : result.value) as { readonly scheduledAt: string }
    expect((reminders(agent)[0]?.time ?? 0) - Date.parse(scheduledAt)).toBeGreaterThanOrEqual(0)
    expect(agent.session.milestones().some(({ type }) => type === 'turn/end')).toBe(true)
  })
  it('what fell due while the host was gone comes exactly once when its session is opened, and nothing on a further start', async () => {
    const app = await start()
    const agent = await app.ctx.agents.create({ cwd: app.folder, preset: 'editor' })
    // Later than the first host is gone, also where that takes a while.
    await create(app, agent, { prompt: 'Drink water', after_seconds: 3 })
    const due = Date.now() + 3_000
    const second = await app.restart()
    await new Promise((resolve) => setTimeout(resolve, due - Date.now() + 200))
    expect(await second.ctx.sessions.keptValueOf(agent.id, 'schedules')).toMatchObject({ entries: [{ schedule: { prompt: 'Drink water' } }] })
    const opened = await second.ctx.agents.resume(agent.id)
    await until(() => reminders(opened).length === 1)
    await opened.whenIdle()
    const third = await (await app.restart()).ctx.agents.resume(agent.id)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect([reminders(third).length, third.session.milestones().filter(({ type }) => type === 'schedule/change').length]).toEqual([1, 2])
  })
})
