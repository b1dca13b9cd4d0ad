import { expect, it } from 'vitest'
import { Emitter } from '../../../../extension/base/emitter.ts'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import type { Held } from '../../../../extension/features/dynamic-plugins/held.ts'
import { createStops } from '../../../../extension/features/dynamic-plugins/stop.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'

it.each(['registrations', 'program'])('a plugin whose %s cannot be taken back in order is stopped to the end, and that is reported', async (broken) => {
  const done: unknown[] = []
  const work = (what: string) => async () => {
    done.push(what)
    if (what === broken) throw new Error(`${what} failed`)
  }
  const changes = new Emitter<string>(() => {})
  const records = {
    sessions: new Map(),
    frameChanges: changes,
    pluginChanges: changes,
    report: (error: unknown) => done.push(String(error)),
    logRun: (_agent: Agent, _held: Held, _run: unknown, state: string) => done.push(state),
    news: () => ({}),
    lostNotice: () => ({}),
  }
  const { stop } = createStops({ dispatch: { emit: (point: string) => done.push(point) } as never }, { records: records as never, abandon: async () => {} })
  // As much of a plugin as a stop looks at.
  const held = { pluginId: 'test-1', current: { fiber: { dispose: work('registrations') }, host: { stop: work('program') } } } as unknown as Held
  expect(await stop(createFakeAgent({ id: 's1' }), held, 'why')).toEqual({ wasRunning: true })
  expect(done.filter((what) => what !== `Error: ${broken} failed`)).toEqual(['registrations', 'program', 'stopped', 'cordis/dynamic-retract'])
  expect(done).toContain(`Error: ${broken} failed`)
})
