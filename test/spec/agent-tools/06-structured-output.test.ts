import { describe, expect, it } from 'vitest'
import { fakeTool, textOf } from '../../support/loop-rig.ts'
import { callTools, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { createSubagentRig } from '../../support/subagent-rig.ts'

const schema = { type: 'object', properties: { answer: { type: 'string' }, score: { type: 'integer' } }, required: ['answer'], additionalProperties: false }
const give = (args: unknown, id = 'give') => ({ id, name: 'structured_output', args })
const ran: string[] = []
const look = fakeTool('look', () => {
  ran.push('look')
  return 'x'
})

async function run(answers: readonly ScriptedAnswer[], prepare: (rig: Awaited<ReturnType<typeof createSubagentRig>>) => void = () => {}) {
  ran.length = 0
  const rig = await createSubagentRig({ minds: { one: answers }, tools: [look] })
  prepare(rig)
  const { childId, outcome } = await rig.subagents.start(rig.request('one', { schema }))
  const child = rig.agents.live(childId)
  return { rig, end: await outcome, requests: rig.asked('one'), results: child?.session.events().flatMap((event) => (event.type === 'tool/result' ? [event.data.error?.code ?? 'ok'] : [])) ?? [] }
}

describe('6.8 structured output', () => {
  it('is a tool of the child whose parameters are the schema, with words at the end of its prompt, and nobody else’s', async () => {
    const { rig, requests } = await run([callTools(give({ answer: 'a' }))])
    expect(requests[0]?.tools?.find(({ name }) => name === 'structured_output')?.parameters).toEqual(schema)
    expect(requests[0]?.system?.trimEnd().split('\n').at(-1)).toMatch(/^End your work by calling structured_output once/)
    expect(rig.ctx.tools.get('structured_output')).toBeUndefined()
  })
  it('a valid call is recorded and ends the turn', async () => {
    const { end, requests, results } = await run([callTools(give({ answer: 'a', score: 3 })), sayText('not asked')])
    expect([end, requests.length, results]).toEqual([{ stopReason: 'completed', output: '', structured: { answer: 'a', score: 3 } }, 1, ['ok']])
  })
  it('what comes behind it in the same answer is denied', async () => {
    const { end, results } = await run([callTools(give({ answer: 'first' }), { id: 'l', name: 'look', args: {} }, give({ answer: 'second' }, 'again'))])
    expect([end.structured, results, ran]).toEqual([{ answer: 'first' }, ['ok', 'DENIED', 'DENIED'], []])
  })
  it('an invalid call is told what is wrong, and the model tries again in the same turn', async () => {
    const { end, requests, results } = await run([callTools(give({ answer: 7, more: true })), callTools(give({ answer: 'better' }))])
    expect([end.structured, requests.length, results]).toEqual([{ answer: 'better' }, 2, ['INVALID_ARGS', 'ok']])
    expect(requests[1]?.messages.map(textOf).at(-1)).toMatch(/answer.*more/s)
  })
  it('an end without it is an error, and nobody is asked again', async () => {
    const { end, requests } = await run([sayText('here it is: a'), sayText('not asked')])
    expect([end, requests.length]).toEqual([{ stopReason: 'error', output: 'here it is: a', diagnostic: expect.stringContaining('structured_output') }, 1])
  })
  it('a call that a listener blocks afterwards does not count', async () => {
    let blocks = 1
    const { end, results } = await run([callTools(give({ answer: 'blocked' })), callTools(give({ answer: 'kept' }))], ({ ctx }) =>
      ctx.on('tools/post-execute', ({ name }, _result, next) => (name === 'structured_output' && blocks-- > 0 ? { kind: 'block', feedback: 'Not so.' } : next())),
    )
    expect([end.structured, results.length]).toEqual([{ answer: 'kept' }, 2])
  })
  it('called by a program it counts once the program around it has succeeded', async () => {
    let fails = true
    const outer = fakeTool('act', async (_args, exec) => {
      const { rig } = holder
      await rig?.ctx.tools.execute({ callId: 'inner', rootCallId: exec.rootCallId, parent: exec.token, name: 'structured_output', arguments: { answer: fails ? 'lost' : 'kept' }, ...(exec.agent && { agent: exec.agent }), signal: exec.signal })
      if (fails) {
        fails = false
        throw new Error('the program failed')
      }
      exec.concludeTurn()
      return 'ok'
    })
    const holder: { rig?: Awaited<ReturnType<typeof createSubagentRig>> } = {}
    const rig = await createSubagentRig({ minds: { one: [callTools({ id: 'p', name: 'act', args: {} }), callTools({ id: 'q', name: 'act', args: {} }), sayText('not asked')] }, tools: [outer] })
    holder.rig = rig
    const { outcome } = await rig.subagents.start(rig.request('one', { schema }))
    expect([(await outcome).structured, rig.asked('one').length]).toEqual([{ answer: 'kept' }, 2])
  })
})
