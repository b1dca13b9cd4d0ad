import { describe, expect, it } from 'vitest'
import { unreadableCalls } from '../../../../extension/core/loop/unreadable-calls.ts'
import { callTools, sayText } from '../../../support/scripted-adapter.ts'
import { createLoopRig, fakeTool, linesOf, prompt } from '../../../support/loop-rig.ts'

const look = fakeTool('look', undefined, { validateArguments: (args) => (typeof args === 'object' ? [] : ['it is no object']) })
const call = (args: string, id: string) => callTools({ id, name: 'look', args })
const run = async (...texts: readonly string[]) => {
  const rig = createLoopRig({
    answers: [...texts.map((text, index) => call(text, `c${index}`)), sayText('done')],
    tools: [look],
    prepare: (ctx) => void ctx.plugin(unreadableCalls),
  })
  const agent = await rig.newAgent()
  agent.followup(prompt('go'))
  await agent.whenIdle()
  return { ...rig, agent, story: linesOf(agent.session).filter((line) => /^(result|end)/.test(line)) }
}
const cut = '{"path": "a", "text": "be'

describe('a model whose calls cannot be read', () => {
  it('is told the one thing to mend', async () => {
    const { agent } = await run(cut)
    expect(agent.session.messages()[2]?.content).toEqual([
      {
        type: 'tool-result', callId: 'c0', isError: true,
        content: [{ type: 'text', text: 'Error: The arguments of look cannot be read: the text stops inside of the string that begins at character 23. Nothing was done. Send the whole call again; if it is long, do it in several smaller calls.' }],
      },
    ])
  })
  it('runs what is almost JSON, and the log keeps what was written', async () => {
    const { agent, story } = await run("{'path': 'a',}")
    expect(story).toEqual(['result c0 ok', 'end completed'])
    expect(agent.session.events().find(({ type }) => type === 'tool/call')?.data).toMatchObject({ arguments: "{'path': 'a',}" })
    expect(agent.session.messages()[2]?.content).toMatchObject([{ content: [{ text: '{"path":"a"}' }] }])
  })
  it('is given up after the fourth in a row, with a plain verdict', async () => {
    const { agent, story, adapter } = await run(cut, cut, cut, cut)
    expect([story.length, story.at(-1), adapter.requests.length]).toEqual([5, 'end error', 4])
    expect(agent.session.events().at(-1)?.data).toMatchObject({ reason: { failure: { code: 'MALFORMED_RESPONSE', message: expect.stringContaining('This model cannot do it.') } } })
  })
  it('goes on when one in between can be read', async () => expect((await run(cut, cut, cut, '{}', cut)).story.at(-1)).toBe('end completed'))
  it('begins anew in the next turn', async () => {
    const { agent, adapter } = await run(cut, cut, cut, cut)
    adapter.play(call(cut, 'd0'), sayText('done'), sayText('again'))
    agent.followup(prompt('again'))
    await agent.whenIdle()
    expect(linesOf(agent.session).at(-1)).toBe('end completed')
  })
})
