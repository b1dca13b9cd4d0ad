import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { prompt } from './loop-rig.ts'
import { callTools, createScriptedAdapter, type ScriptedCall } from './scripted-adapter.ts'
import { wholeApplication } from './whole-application.ts'

/**
 * A whole application whose model makes some calls, and which dies by SIGKILL when the first of them waits for the person.
 * Arguments: folder of everything, session id to print first, the calls as JSON, and the type of an event to let the person say yes
 * instead and to die right after that event, before what follows from it.
 */
const [home = '', callsText = '[]', when = 'waiting'] = process.argv.slice(2)
await mkdir(join(home, 'work'))
const adapter = createScriptedAdapter([callTools(...(JSON.parse(callsText) as ScriptedCall[]))])
const { ctx } = await wholeApplication({ home, adapters: [adapter], settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
ctx.approvals.attach()
ctx.questions.attach()
const agent = await ctx.agents.create({ cwd: join(home, 'work') })
process.stdout.write(`${agent.id}\n`)
if (callsText.includes('exit_plan_mode')) ctx.plan.set(agent, true)
if (when !== 'waiting')
  ctx.on('session/event', (session, event) => {
    // It is on the disk, and whatever would come next never does.
    if (event.type === when) session.flush().then(() => process.kill(process.pid, 'SIGKILL'), () => process.exit(3))
  })
agent.followup(prompt('Go on.'))
while (ctx.approvals.pending().length + ctx.questions.pending().length === 0) await sleep(5)
const [approval] = ctx.approvals.pending()
const [set] = ctx.questions.pending()
if (when !== 'waiting' && approval !== undefined) ctx.approvals.answer(approval.id, { outcome: 'allowed-once' })
else if (when !== 'waiting' && set !== undefined) ctx.questions.answer(set.id, set.questions.map(({ id, options }) => ({ id, selected: [options?.[0]?.label ?? ''] })))
else {
  await agent.session.flush()
  process.kill(process.pid, 'SIGKILL')
}
await sleep(10_000)
