import { describe, expect, it } from 'vitest'
import type { Preset } from '../../../../extension/core/presets/preset.ts'
import { shippedPresets } from '../../../../extension/core/presets/shipped.ts'
import type { ModelAdapter, ModelInfo } from '../../../../extension/core/model/contract.ts'
import { sessionCommands } from '../../../../extension/features/commands/plugin.ts'
import { featureEvents } from '../../../../extension/features/event-types.ts'
import { createLoopRig, testPreset } from '../../../support/loop-rig.ts'
import { memorySecrets } from '../../../support/memory-secrets.ts'
import { createScriptedAdapter } from '../../../support/scripted-adapter.ts'

const info = (id: string, name: string, reasoningEfforts: readonly string[] = []): ModelInfo => ({ id, name, contextWindow: 1, maxOutputTokens: 1, input: ['text'], reasoningEfforts })
const models = [info('deep-pro', 'Deep Pro', ['low', 'high']), info('deep-flash', 'Deep Flash', ['low']), info('tiny-1.5', 'Tiny')]
const adapter: ModelAdapter = {
  ...createScriptedAdapter([], { provider: 'harbour' }),
  listModels: async () => models,
  resolveModel: async (id) => models.find((model) => model.id === id)!,
}

async function rig(presets?: readonly Preset[]) {
  const made = createLoopRig({ ...(presets && { presets }), settings: { 'model.provider': 'harbour', 'model.name': 'deep-pro', 'model.reasoningEffort': 'high' } })
  made.ctx.models.register(adapter)
  await made.ctx.plugin(featureEvents).ready
  await made.ctx.plugin(sessionCommands({ secrets: memorySecrets(), clock: made.clock })).ready
  const agent = await made.newAgent()
  const run = async (line: string) => {
    const { kind, text } = await made.ctx.commands.run(agent, line)
    return [kind, text]
  }
  return { ...made, agent, run, options: () => made.agents.optionsOf(agent.id) }
}

describe('/model', () => {
  it('says which one answers', async () => expect(await (await rig()).run('/model')).toEqual(['success', 'harbour/deep-pro · high answers.']))

  it.each([
    ['deep-flash', 'deep-flash'],
    ['DEEP-FLASH', 'deep-flash'],
    ['Deep Flash', 'deep-flash'],
    ['harbour/deep-flash', 'deep-flash'],
    ['tiny', 'tiny-1.5'],
    ['flash', 'deep-flash'],
    ['dfl', 'deep-flash'],
    ['1.5', 'tiny-1.5'],
  ])('finds %s', async (typed, model) => {
    const { run, options } = await rig()
    expect(await run(`/model ${typed}`)).toEqual(['success', `harbour/${model} answers from the next step on.`])
    expect(options()).toEqual({ provider: 'harbour', model })
  })

  it('takes the effort after the name', async () => {
    const { run, options } = await rig()
    expect(await run('/model pro low')).toEqual(['success', 'harbour/deep-pro · low answers from the next step on.'])
    expect(options()).toEqual({ provider: 'harbour', model: 'deep-pro', reasoningEffort: 'low' })
  })

  it.each([
    ['gpt', 'No model is called “gpt”. There are: scripted/m1, harbour/deep-pro, harbour/deep-flash, harbour/tiny-1.5.'],
    ['deep', '“deep” may mean several models: harbour/deep-pro, harbour/deep-flash. Say more of the name.'],
    ['deep-pro max', 'deep-pro knows no effort “max”. It knows low, high.'],
    ['tiny low', 'tiny-1.5 knows no effort “low”. It knows none.'],
  ])('says what there is for %s, and changes nothing', async (typed, problem) => {
    const { run, options } = await rig()
    expect(await run(`/model ${typed}`)).toEqual(['error', problem])
    expect(options()).toEqual({})
  })
})

describe('/effort', () => {
  it('says how hard it thinks', async () => expect(await (await rig()).run('/effort')).toEqual(['success', 'deep-pro thinks high. It knows low, high.']))
  it('changes it', async () => {
    const { run, options } = await rig()
    expect(await run('/effort LOW')).toEqual(['success', 'deep-pro thinks low from the next step on.'])
    expect(options()).toEqual({ reasoningEffort: 'low' })
  })
  it('says what the model knows', async () => expect(await (await rig()).run('/effort max')).toEqual(['error', 'deep-pro knows no effort “max”. It knows low, high.']))
  it('says when it knows none', async () => {
    const { run } = await rig()
    await run('/model tiny')
    expect(await run('/effort low')).toEqual(['error', 'tiny-1.5 knows no efforts. Choose another model with /model.'])
  })
})

describe('/rename', () => {
  it('names the session, durably', async () => {
    const { run, agent } = await rig()
    expect(await run('/rename A  better name')).toEqual(['success', 'This session is called “A better name” now.'])
    expect(agent.session.projections().values['title']).toBe('A better name')
  })
  it('refuses a blank name', async () => expect(await (await rig()).run('/rename')).toEqual(['error', 'A title cannot be blank. Type at least one character.']))
})

describe('/preset', () => {
  const ask = { ...shippedPresets.find(({ id }) => id === 'ask')!, order: 2 }
  const broken = { ...ask, id: 'broken', name: 'Broken', needs: ['no_such_tool'], order: 3 }
  const presets = [{ ...testPreset, name: 'Test', description: 'For tests.' }, ask, broken]
  it('says which one the session has, and which there are, broken ones with their reason', async () =>
    expect(await (await rig(presets)).run('/preset')).toEqual([
      'success',
      `Test is the preset of this session.\nThere are:\n${testPreset.id} (Test) · For tests.\nask · ${ask.description}\nbroken · cannot be used: The preset broken needs no_such_tool, which this build does not have.`,
    ]))
  it.each(['ask', 'ASK', 'Ask'])('chooses %s while nothing has been said', async (typed) => {
    const { run, agents, agent } = await rig(presets)
    expect(await run(`/preset ${typed}`)).toEqual(['success', 'Ask is the preset of this session.'])
    expect(agents.presetOf(agent.id)).toBe('ask')
  })
  it.each([
    ['no-such', `No preset is called “no-such”. There are: ${testPreset.id}, ask, broken.`],
    ['broken', 'The preset broken needs no_such_tool, which this build does not have.'],
  ])('refuses %s, and changes nothing', async (typed, problem) => {
    const { run, agents, agent } = await rig(presets)
    expect(await run(`/preset ${typed}`)).toEqual(['error', problem])
    expect(agents.presetOf(agent.id)).toBe(testPreset.id)
  })
  it('says why it is fixed once the talk has begun', async () => {
    const { run, agent } = await rig(presets)
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    const lock = 'The preset of a conversation is fixed once it has begun. Start a new one to use another preset.'
    expect([await run('/preset'), await run('/preset ask')]).toEqual([['success', `Test is the preset of this session.\n${lock}`], ['error', lock]])
  })
})

describe('/feedback', () => {
  it('is kept in the log once, and not in the run', async () => {
    const { run, agent } = await rig()
    expect(await run('/feedback The tests were slow.')).toEqual(['success', 'Written into the log of this session.'])
    expect(agent.session.events().slice(-3)).toMatchObject([
      { type: 'command/run', data: { name: 'feedback', source: 'user' } },
      { type: 'feedback/record', data: { text: 'The tests were slow.' }, ignorable: true },
      { type: 'command/done', data: { kind: 'success', sourceEventSeq: agent.session.length - 2 } },
    ])
    expect(agent.session.events().find(({ type }) => type === 'command/run')?.data).not.toHaveProperty('args')
  })
  it.each([['/feedback', 'Say after /feedback what you noticed.'], [`/feedback ${'x'.repeat(8_193)}`, 'This is too long: 8193 bytes, at most 8192. Shorten it.'], [`/feedback ${'é'.repeat(4_097)}`, 'This is too long: 8194 bytes, at most 8192. Shorten it.']])('refuses %.12s', async (line, problem) => expect(await (await rig()).run(line)).toEqual(['error', problem]))
})

it('/help lists every command with its hint', async () => {
  const [kind, text] = await (await rig()).run('/help')
  expect(kind).toBe('success')
  expect(text?.split('\n')).toEqual([
    expect.stringMatching(/^\/effort <effort> · /),
    expect.stringMatching(/^\/feedback <.*> · /),
    expect.stringMatching(/^\/help · /),
    expect.stringMatching(/^\/model <model \[effort\]> · /),
    expect.stringMatching(/^\/preset <preset> · /),
    expect.stringMatching(/^\/rename <new title> · /),
    'Begin with // to send a slash to the model.',
  ])
})
