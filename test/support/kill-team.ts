import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTeamRig } from './team-rig.ts'

/**
 * A team that dies by SIGKILL when an event is about to become durable: `queued` mail at its target, its `delivered`, or a member's `active`.
 * Arguments: folder of everything, which moment. Prints the ids of the Lead and of the teammate that has the mail.
 */
const [home = '', moment = ''] = process.argv.slice(2)
await mkdir(join(home, 'work'))
const rig = await createTeamRig({ home })
const ada = await rig.spawn('ada')
await rig.quiet()
process.stdout.write(`${rig.lead.id} ${ada.id}\n`)
rig.ctx.on('session/event', (session, event) => {
  const isMailThere = event.type === 'agent/inbox/spliced' && event.data.inserted.some(({ source }) => source.kind === 'team-message')
  const isIt =
    moment === 'queued' ? isMailThere && session.id === ada.id
    : moment === 'delivered' ? event.type === 'team/message/delivered'
    : event.type === 'team/member' && event.data.member.phase === 'active'
  if (isIt) process.kill(process.pid, 'SIGKILL')
})
if (moment === 'active') await rig.spawn('bob')
else await rig.exec(rig.lead, 'followup_task', { target: 'ada', message: 'once' })
await sleep(50_000)
