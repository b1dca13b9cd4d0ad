import { NodeEventStore } from '../../extension/platform/node/event-store.ts'
import { createSessionRig } from './session-rig.ts'
import { turnStart, wholeTurn } from './session-talk.ts'

/**
 * Writes a turn, making every event durable, and dies by SIGKILL after as many events as it is told, with one more in its queue.
 * Arguments: folder of the store, number of events.
 */
const [root, count] = process.argv.slice(2)
const { sessions } = await createSessionRig({ events: new NodeEventStore({ root: root! }) })
const session = await sessions.create({ cwd: '/project', id: `after-${count}` })
const drafts = [...wholeTurn(1), turnStart(2)]
for (const draft of drafts.slice(0, Number(count))) {
  session.append(draft)
  await session.flush()
}
session.append(drafts[Number(count)]!)
process.kill(process.pid, 'SIGKILL')
