import { expect, it, vi } from 'vitest'
import type { SettingValues } from '../../support/memory-settings.ts'
import { programServer, scriptedModel } from '../../support/mcp-rig.ts'
import { realClock } from '../../support/real-clock.ts'
import { createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/* What speaks the protocol is a bundle of its own, which begins at this module. */
const loads = vi.hoisted(() => ({ count: 0 }))
vi.mock('../../../extension/platform/node/mcp/sdk-client.ts', async (original) => {
  loads.count += 1
  return await original()
})

/** A length of wait that nothing else has. */
const WAIT_MS = 4_321

/** One turn; how often a first step set a clock for servers, and how often the protocol was loaded. */
async function costOfTurn(settings: SettingValues): Promise<{ readonly waits: number; readonly loads: number }> {
  let waits = 0
  const whole = await wholeApplication({
    settings: { ...scriptedModel, 'mcp.startWaitMs': WAIT_MS, ...settings },
    alter: (world) => ({
      ...world,
      clock: {
        ...realClock,
        schedule: (delayMs, fire) => {
          if (delayMs === WAIT_MS) waits += 1
          return realClock.schedule(delayMs, fire)
        },
      },
    }),
  })
  try {
    const { ctx } = whole
    ctx.models.register(createScriptedAdapter([sayText('Done.')]))
    const agent = await ctx.agents.create({ cwd: whole.folder })
    // The files that may name servers were looked for when the session began.
    await ctx.mcp.reread()
    agent.followup({ id: 'p1', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
    return { waits, loads: loads.count }
  } finally {
    await whole.dispose()
  }
}

it('where no server is configured, a first step waits for none and the protocol is not loaded', async () => {
  expect(await costOfTurn({})).toEqual({ waits: 0, loads: 0 })
  // That both are seen when there is one.
  expect(await costOfTurn({ 'mcp.servers': { demo: programServer('ok') } })).toEqual({ waits: 1, loads: 1 })
}, 60_000)
