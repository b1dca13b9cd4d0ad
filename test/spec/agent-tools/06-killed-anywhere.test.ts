import { beforeAll, describe, expect, it } from 'vitest'
import { agentTools } from '../../../extension/tools/agents/plugin.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createRecordedStore, diskOf, type DiskImage } from '../../support/disk-images.ts'
import { fakeTool, prompt, textOf } from '../../support/loop-rig.ts'
import { createMemoryEventStore, type MemoryEventStore } from '../../support/memory-event-store.ts'
import { callTools, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { createSubagentRig, type Minds } from '../../support/subagent-rig.ts'

/*
 * The host dies after any write of a talk in which agents start, report, start others, settle and are written to again. Whatever the
 * disk held then opens again: who was started is known and goes on when it is asked.
 */

const minds = (): Minds => ({
  root: [
    // So that a fork has something to begin with.
    sayText('hello'),
    callTools({ id: 'a', name: 'subagent', args: { description: 'one', prompt: '@one go' } }, { id: 'b', name: 'subagent', args: { description: 'two', prompt: '@two go', run_in_background: false } }, { id: 'c', name: 'subagent_fork', args: { description: 'three', prompt: '@three go', run_in_background: false } }),
    sayText('started'),
    sayText('heard'),
  ],
  one: [callTools({ id: 'r', name: 'report', args: { output: 'half way' } }, { id: 'i', name: 'subagent', args: { description: 'inner', prompt: '@inner go' } }), sayText('one is done')],
  two: [sayText('two is done')],
  three: [sayText('three is done')],
  inner: [sayText('inner is done')],
})

const rigOver = (store: MemoryEventStore, more: { readonly minds: Minds; readonly resume?: string }) => {
  let ids = 0
  return createSubagentRig({ store, ...more, tools: [fakeTool('look')], plugins: [agentTools({ machine: createFakeMachine({ randomId: () => `message-${(ids += 1)}` }), forkMode: () => 'one-shot' })] })
}

/** The texts of all logs, after each write. */
async function recorded(): Promise<{ readonly images: readonly DiskImage[]; readonly root: string }> {
  const { store, images } = createRecordedStore()
  const rig = await rigOver(store, { minds: minds() })
  await rig.say('@root hi')
  await rig.say('@root go')
  const [child] = await rig.subagents.children(rig.root.id)
  await rig.subagents.send({ from: rig.root, childId: child?.id ?? '', message: { id: 'more', role: 'user', content: [{ type: 'text', text: '@one more' }], source: { kind: 'coordinator', form: 'relay', senderSessionId: rig.root.id } }, mode: 'next-turn' })
  await rig.quiet()
  return { images, root: rig.root.id }
}

describe('killed after any write', () => {
  let all: Awaited<ReturnType<typeof recorded>>
  beforeAll(async () => void (all = await recorded()))

  it('there are many such moments', () => expect(all.images.length).toBeGreaterThan(20))

  it('everything opens again, every child that takes messages goes on, and each is heard of', async () => {
    for (const [moment, image] of all.images.entries()) {
      if (!image.has(all.root)) continue
      const answer: readonly ScriptedAnswer[] = [sayText('here again')]
      const rig = await rigOver(createMemoryEventStore({ disk: diskOf(image) }), { minds: { root: answer, one: answer, two: answer, three: answer, inner: answer, again: answer }, resume: all.root })
      await rig.quiet()
      const signal = new AbortController().signal
      const entries = await rig.subagents.catalogue({ sessionId: all.root, scope: 'children', signal })
      const where = `moment ${moment}`
      expect(rig.agents.list().map(({ id, status }) => [id, status]), where).toEqual([[all.root, 'idle']])
      expect(entries.map((entry) => (entry.kind === 'child' ? entry.status : entry.reason)), where).toEqual(entries.map(() => 'ready'))
      expect((await rig.ctx.sessions.list()).flatMap(({ problem }) => problem ?? []), where).toEqual([])
      for (const { id } of entries) await rig.subagents.send({ from: rig.root, childId: id, message: { ...prompt('@again', `again ${id}`), source: { kind: 'coordinator', form: 'relay', senderSessionId: all.root } }, mode: 'next-turn' })
      await rig.quiet()
      const heard = rig.root.session.events().flatMap((event) => (event.type === 'user/message' && event.data.source.kind === 'subagent-settled' && textOf(event.data).includes('here again') ? [event.data.source.senderSessionId] : []))
      expect(new Set(heard), where).toEqual(new Set(entries.map(({ id }) => id)))
      expect([rig.subagents.governor.running, rig.agents.list().length], where).toEqual([0, 1])
    }
  })
})
