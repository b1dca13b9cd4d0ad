import { describe, expect, it } from 'vitest'
import { createLoopRig, fakeTool, linesOf, prompt, settled } from '../../../support/loop-rig.ts'
import type { LoopRig } from '../../../support/loop-rig.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createScriptedAdapter, sayText } from '../../../support/scripted-adapter.ts'
import { shippedPresets } from '../../../../extension/core/presets/shipped.ts'

/** What is told of sessions and agents, in order. */
function traced(rig: LoopRig) {
  const trace: string[] = []
  const { ctx } = rig
  ctx.on('session/created', () => void trace.push('session/created'))
  ctx.on('agent/created', (agent) => void trace.push(`agent/created${rig.agents.live(agent.id) === agent ? ' live' : ''}`))
  ctx.on('agent/session-start', (_agent, source) => void trace.push(`agent/session-start ${source}`))
  ctx.on('agent/status', (_agent, status) => void trace.push(status))
  ctx.on('agent/disposing', ({ isDisposed }) => void trace.push(`agent/disposing ${isDisposed}`))
  ctx.on('agent/disposed', () => void trace.push('agent/disposed'))
  ctx.on('session/disposed', () => void trace.push('session/disposed'))
  return trace
}
const hang = () => createScriptedAdapter([[{ type: 'hang' }]])

describe('creation', () => {
  it('sets up, then publishes the session, the agent and its start', async () => {
    const rig = createLoopRig()
    const trace = traced(rig)
    const agent = await rig.agents.create({ cwd: '/w', preset: 'all', setUp: ({ id }) => void trace.push(`set-up ${rig.agents.live(id) === undefined}`) })
    expect(trace).toEqual(['session/created', 'set-up true', 'agent/created live', 'agent/session-start startup'])
    expect([rig.agents.live(agent.id), rig.agents.list(), agent.session.header]).toEqual([agent, [agent], expect.objectContaining({ cwd: '/w', agentPreset: 'all' })])
  })
  const rows: readonly [string, (rig: LoopRig) => Promise<unknown>][] = [
    ['its set-up fails', (rig) => rig.agents.create({ cwd: '/w', preset: 'all', setUp: () => Promise.reject(new Error('no')) })],
    [
      'its set-up fails after it wrote something',
      (rig) =>
        rig.agents.create({
          cwd: '/w',
          preset: 'all',
          setUp: ({ session }) => {
            session.append({ type: 'session/title', data: { title: 'child', messageSeqs: [], source: { kind: 'fallback' } } })
            throw new Error('no')
          },
        }),
    ],
    [
      'a listener vetoes the agent',
      (rig) => {
        rig.ctx.on('agent/created', () => {
          throw new Error('no')
        })
        return rig.newAgent()
      },
    ],
    [
      'a listener vetoes the session',
      (rig) => {
        rig.ctx.on('session/created', () => {
          throw new Error('no')
        })
        return rig.newAgent()
      },
    ],
  ]
  it.each(rows)('leaves nothing behind when %s', async (_what, create) => {
    const rig = createLoopRig()
    await expect(create(rig)).rejects.toThrow('no')
    expect([rig.agents.list(), await rig.ctx.sessions.list(), rig.store.disk.logs.size, rig.clock.waiting]).toEqual([[], [], 0, 0])
  })
  it('makes no session for a preset that does not exist', async () => {
    const rig = createLoopRig()
    const trace = traced(rig)
    await expect(rig.newAgent('nope')).rejects.toMatchObject({ code: 'UNKNOWN_PRESET' })
    expect(trace).toEqual([])
  })
  it('takes the default preset from the setting', async () => {
    const rig = createLoopRig({ settings: { 'agent.defaultPreset': 'all' } })
    const agent = await rig.agents.create({ cwd: '/w' })
    expect(rig.agents.presetOf(agent.id)).toBe('all')
  })
  it('knows the owner of an agent that another one started', async () => {
    const rig = createLoopRig()
    const owner = await rig.newAgent()
    expect((await rig.agents.create({ cwd: '/w', preset: 'all', owner })).owner).toBe(owner)
    expect(owner.owner).toBeUndefined()
  })
})

describe('teardown', () => {
  it('stops the work, then the layer, then lets the agent and its session go', async () => {
    const rig = createLoopRig({ adapter: hang() })
    const agent = await rig.newAgent()
    agent.followup(prompt('hi'))
    await settled()
    const trace = traced(rig)
    rig.ctx.scoped(agent.scope).effect(() => void trace.push('layer'))
    await agent.dispose()
    expect(trace).toEqual(['idle', 'agent/disposing true', 'layer', 'agent/disposed', 'session/disposed'])
    expect([rig.agents.list(), rig.store.lines(agent.id).at(-1)]).toEqual([[], expect.objectContaining({ type: 'turn/end' })])
  })
  it('leaves a context that takes no registration', async () => {
    const rig = createLoopRig()
    const agent = await rig.newAgent()
    const ctx = rig.ctx.scoped(agent.scope)
    await agent.dispose()
    expect(() => ctx.tools.register(fakeTool('look'))).toThrow('disposed')
    expect(() => ctx.on('agent/status', () => {})).toThrow('disposed')
    expect(() => rig.ctx.scoped(agent.scope)).toThrow('disposed')
  })
  it('goes on when a part does not stop cleanly', async () => {
    const rig = createLoopRig()
    const agent = await rig.newAgent()
    rig.ctx.on('agent/disposing', () => Promise.reject(new Error('job stuck')))
    await agent.dispose()
    expect([rig.agents.list(), rig.logger.lines.some(({ facts }) => facts?.['error'] === 'job stuck')]).toEqual([[], true])
  })
  it('of the plugin disposes every agent', async () => {
    const rig = createLoopRig({ adapter: hang() })
    const agents = [await rig.newAgent(), await rig.newAgent()]
    agents[0]?.followup(prompt('hi'))
    await settled()
    await rig.loop.dispose()
    expect(agents.map(({ isDisposed, status }) => [isDisposed, status])).toEqual([[true, 'idle'], [true, 'idle']])
    expect(rig.ctx.get('agents')).toBeUndefined()
  })
})

describe('resume', () => {
  async function stored() {
    const rig = createLoopRig({ answers: [sayText('ok')] })
    const agent = await rig.newAgent()
    agent.followup(prompt('hi'))
    await agent.whenIdle()
    return { rig, agent }
  }
  it('gives the live agent, and one agent to all who ask at once', async () => {
    const { rig, agent } = await stored()
    expect(await rig.agents.resume(agent.id)).toBe(agent)
    await agent.dispose()
    const [one, two] = await Promise.all([rig.agents.resume(agent.id), rig.agents.resume(agent.id)])
    expect([one === two, one === agent, one.isDisposed]).toEqual([true, false, false])
  })
  it('waits for an agent that is being closed', async () => {
    const { rig, agent } = await stored()
    const gone = agent.dispose()
    const next = await rig.agents.resume(agent.id)
    await gone
    expect([next.isDisposed, rig.agents.list()]).toEqual([false, [next]])
  })
  it('tells of it as a resume', async () => {
    const { rig, agent } = await stored()
    await agent.dispose()
    const trace = traced(rig)
    await rig.agents.resume(agent.id)
    expect(trace.at(-1)).toBe('agent/session-start resume')
  })
  it('refuses a session that is not there', async () => {
    const rig = createLoopRig()
    await expect(rig.agents.resume('ab'.repeat(16))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    expect(() => rig.agents.optionsOf('nope')).toThrow('not open')
  })
  it('of a session that another window writes shows it and takes nothing in', async () => {
    const { rig, agent } = await stored()
    await agent.session.flush()
    const other = createLoopRig({ store: createMemoryEventStore({ disk: rig.store.disk, pid: 2 }) })
    const watcher = await other.agents.resume(agent.id)
    expect([watcher.session.access, watcher.session.messages().length]).toEqual(['read-only', 2])
    expect(() => watcher.followup(prompt('x'))).toThrow(expect.objectContaining({ code: 'READ_ONLY' }))
    expect([watcher.inbox.nextTurn, watcher.status]).toEqual([[], 'idle'])
    await agent.dispose()
    const writer = await other.agents.resume(agent.id)
    expect([writer.session.access, watcher.isDisposed, other.agents.list()]).toEqual(['write', true, [writer]])
  })
  it('never gives a session with a lost preset more than reading', async () => {
    const store = createLoopRig().store
    const rig = createLoopRig({ store, answers: [sayText('ok')] })
    const agent = await rig.newAgent()
    agent.followup(prompt('hi'))
    await agent.whenIdle()
    await rig.kernel.dispose()
    const next = createLoopRig({ store, presets: shippedPresets })
    await next.agents.resume(agent.id)
    expect(next.agents.presetOf(agent.id)).toBe('ask')
    expect(next.logger.lines.some(({ message }) => message.includes('preset ask'))).toBe(true)
  })
})

describe('the preset of a session', () => {
  const setUp = async () => {
    const rig = createLoopRig({ presets: shippedPresets, answers: [sayText('ok')] })
    for (const name of ['read', 'write']) rig.ctx.tools.register(fakeTool(name))
    const agent = await rig.agents.create({ cwd: '/w', preset: 'standard' })
    const visible = () => rig.ctx.tools.schemas(agent.scope).map(({ name }) => name)
    return { rig, agent, visible }
  }
  it('can be changed while the session is blank, keeps what the agent has of its own, and is told', async () => {
    const { rig, agent, visible } = await setUp()
    const news: unknown[] = []
    rig.ctx.on('agent-preset/selected', (id, preset) => void news.push([id, preset]))
    rig.ctx.scoped(agent.scope).tools.register(fakeTool('own'))
    rig.agents.selectPreset(agent.id, 'ask')
    rig.agents.selectPreset(agent.id, 'ask')
    expect([visible(), rig.agents.presetOf(agent.id), news]).toEqual([['own', 'read'], 'ask', [[agent.id, 'ask']]])
    expect(agent.session.events().map(({ type }) => type)).toEqual(['agent-preset/selected'])
  })
  it('is locked once a turn has begun', async () => {
    const { rig, agent, visible } = await setUp()
    agent.followup(prompt('hi'))
    await agent.whenIdle()
    expect(() => rig.agents.selectPreset(agent.id, 'ask')).toThrow('Start a new one')
    expect(visible()).toEqual(['read', 'write'])
  })
  it('stays as it was for an unknown one', async () => {
    const { rig, agent } = await setUp()
    expect(() => rig.agents.selectPreset(agent.id, 'nope')).toThrow('There is no preset named nope')
    expect([rig.agents.presetOf(agent.id), agent.session.length]).toEqual(['standard', 0])
  })
  it('comes from the log before the header when the session is resumed', async () => {
    const { rig, agent } = await setUp()
    rig.agents.selectPreset(agent.id, 'ask')
    await agent.dispose()
    await rig.agents.resume(agent.id)
    expect(rig.agents.presetOf(agent.id)).toBe('ask')
  })
})

describe('the options of an agent', () => {
  it('hold from the next request on, over the settings', async () => {
    const adapter = createScriptedAdapter([sayText('1'), sayText('2')])
    const rig = createLoopRig({ adapter, settings: { 'model.maxTokens': 5, 'model.temperature': 0.5 } })
    const agent = await rig.newAgent()
    for (const options of [{}, { model: 'm2', maxTokens: 7, reasoningEffort: 'low' }]) {
      rig.agents.configure(agent.id, options)
      agent.followup(prompt('hi'))
      await agent.whenIdle()
    }
    expect(adapter.requests.map(({ config }) => config)).toEqual([
      { provider: 'scripted', model: 'm1', maxTokens: 5, temperature: 0.5 },
      { provider: 'scripted', model: 'm2', maxTokens: 7, temperature: 0.5, reasoningEffort: 'low' },
    ])
    expect(linesOf(agent.session)).toContain('header change')
  })
  it('that were chosen after the last request hold after a reload', async () => {
    const adapter = createScriptedAdapter([sayText('1')])
    const rig = createLoopRig({ adapter })
    const agent = await rig.newAgent()
    agent.followup(prompt('hi'))
    await agent.whenIdle()
    rig.agents.configure(agent.id, { provider: 'scripted', model: 'm2', reasoningEffort: 'low' })
    rig.agents.configure(agent.id, { provider: 'scripted', model: 'm2', reasoningEffort: 'low' })
    expect(agent.session.events().filter(({ type }) => type === 'agent/configured')).toHaveLength(1)
    await agent.dispose()
    await rig.agents.resume(agent.id)
    expect(rig.agents.optionsOf(agent.id)).toEqual({ provider: 'scripted', model: 'm2', reasoningEffort: 'low' })
  })
  it.each([0, -1, 1.5, Number.NaN, 2 ** 60])('refuse %s as a limit of tokens', async (maxTokens) => {
    const rig = createLoopRig()
    const agent = await rig.newAgent()
    expect(() => rig.agents.configure(agent.id, { maxTokens })).toThrow(RangeError)
    await expect(rig.agents.create({ cwd: '/w', preset: 'all', agent: { maxTokens } })).rejects.toThrow(RangeError)
  })
})
