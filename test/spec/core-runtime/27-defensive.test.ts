import { describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import type { PointsOfKind } from '../../../extension/core/kernel/plugin.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { extensionPoints } from '../../../extension/extension-points.ts'
import { presentCall } from '../../../extension/host/present-tool.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'
import { createLoopRig, fakeTool, linesOf, prompt } from '../../support/loop-rig.ts'
import { createPipelineBench, echoTool } from '../../support/pipeline-bench.ts'

/* Chapter 27: rules of defence, as far as tools, layers and cards are concerned. */

/** Something that is awaited like a promise and is none. */
function thenable(then: (done: unknown, fail: (error: Error) => void) => void): unknown {
  const value = {}
  Reflect.set(value, 'then', then)
  return value
}

describe('what comes in is made plain at the border (rule 2)', () => {
  /** What the body of a tool got for the arguments as a model wrote them. */
  const received = async (written: string) => {
    const got: Json[] = []
    const { newAgent } = createLoopRig({
      answers: [callTools({ id: '1', name: 'look', args: written }), sayText('done')],
      tools: [fakeTool('look', (args) => (got.push(args), 'x'))],
    })
    const agent = await newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    return got
  }
  const forms: readonly (readonly [string, string, Json])[] = [
    ['an object', '{"a":1}', { a: 1 }],
    ['an object in a string', '"{\\"a\\":1}"', { a: 1 }],
    ['an object in a fence', '```json\n{"a":1}\n```', { a: 1 }],
    ['with a comma too many', '{"a":1,}', { a: 1 }],
    ['nothing', '', {}],
    ['white space', ' \n', {}],
    ['a word of the prototype', '{"__proto__":{"polluted":true}}', JSON.parse('{"__proto__":{"polluted":true}}') as Json],
    ['no object', 'please', 'please'],
  ]
  it.each(forms)('arguments that are %s', async (_what, written, args) => {
    expect(await received(written)).toEqual([args])
    expect('polluted' in {}).toBe(false)
  })
  it('a failure of a tool is a value for whoever called, however it was thrown', async () => {
    const { tools, request } = createPipelineBench()
    const ways: readonly (() => unknown)[] = [() => { throw new Error('x') }, () => Promise.reject(new Error('x')), async () => { await Promise.resolve(); throw new Error('x') }, () => thenable((_, fail) => fail(new Error('x')))]
    const failures: ToolResult[] = []
    for (const [index, execute] of ways.entries()) {
      tools.register(fakeTool(`t${index}`, execute))
      failures.push(await tools.execute(request(`t${index}`)))
    }
    expect(failures).toEqual(ways.map(() => ({ isError: true, error: { message: 'x' }, content: [{ type: 'text', text: 'Error: x' }] })))
  })
})

describe('one bad listener starves nobody (rule 5)', () => {
  const contained = Object.entries(extensionPoints).flatMap(([name, { kind, onThrow }]) => (kind === 'emit' && onThrow === 'contained' ? [name as PointsOfKind<'emit'>] : []))
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy as Error
  }
  const bad: readonly (() => unknown)[] = [
    () => { throw new Error('x') },
    () => { throw Object.create(null) as Error },
    () => { throw revoked() },
    () => Promise.reject(new Error('x')),
    () => thenable(() => { throw new Error('x') }),
    revoked,
  ]
  it.each(contained)('%s', async (name) => {
    const { kernel, logger } = createPipelineBench()
    const heard: number[] = []
    bad.forEach((listener, index) => {
      kernel.root.on(name, listener)
      kernel.root.on(name, () => void heard.push(index))
    })
    expect(() => kernel.dispatch.emit(name, null, [] as never)).not.toThrow()
    await new Promise<void>((resolve) => void setImmediate(resolve))
    expect([heard, logger.lines.filter(({ level }) => level === 'error').length]).toEqual([bad.map((_listener, index) => index), bad.length])
  })
})

describe('names and data of others are only names and data (rule 8)', () => {
  const words = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
  it.each(words)('a call of %s is a call of an unknown tool', async (name) => {
    const { newAgent } = createLoopRig({ answers: [callTools({ id: '1', name, args: {} }), sayText('done')] })
    const agent = await newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(linesOf(agent.session)).toContain('result 1 UNKNOWN_TOOL')
  })
  it.each(words)('a property %s of arguments is one like any', async (word) => {
    const { tools, request } = createPipelineBench()
    tools.register(fakeTool('t', (args) => Object.keys(args as object)))
    tools.register({ ...echoTool(), name: 'closed' })
    const args: unknown = JSON.parse(`{"${word}":1}`)
    expect(await tools.execute(request('closed', args))).toMatchObject({ isError: true, error: { message: expect.stringContaining('lacks the required property "word"') as unknown } })
    expect(await tools.execute(request('t', args))).toMatchObject({ isError: true, error: { info: { code: 'INVALID_TOOL_OUTPUT' } } })
  })
  it('what a body, a wrapper or a listener holds on to cannot change a result any more', async () => {
    const { tools, request, kernel } = createPipelineBench()
    const value = { list: [1] }
    const content = [{ type: 'text' as const, text: 'shown' }]
    tools.register(fakeTool('t', () => value, { output: { schema: { type: 'object' }, render: () => content } }))
    const added = { id: 'c', role: 'user' as const, content: [{ type: 'text' as const, text: 'added' }], source: { kind: 'plugin' as const, plugin: 'p' } }
    kernel.root.on('tools/post-execute', () => ({ kind: 'accept', additionalContexts: [added] }))
    const result = await tools.execute(request('t'))
    value.list.push(2)
    content[0]!.text = 'changed'
    added.content[0]!.text = 'changed'
    expect(result).toMatchObject({ value: { list: [1] }, content: [{ text: 'shown' }], additionalContexts: [{ content: [{ text: 'added' }] }] })
  })
  it('a view takes no more of a card than what cards have', () => {
    const card = Object.assign(Object.create({ kind: 'read' }) as object, { card: 'generic', title: 'x', toString: () => 'y' })
    expect(presentCall(() => ({ presentCall: () => card as never }), 'x', {})).toEqual({ card: 'generic', title: 'x' })
  })
})

describe('programs get the value, models the content, people the card (rule 9)', () => {
  it('each is made from the value, and none from another', async () => {
    const { tools, request, kernel } = createPipelineBench()
    tools.register(fakeTool('t', () => 'the value', { output: { schema: { type: 'string' }, render: () => [{ type: 'text', text: '{"value":"a lie"}' }], presentationMeta: () => ({ kind: 'facts' }) } }))
    kernel.root.on('tools/post-execute', () => ({ kind: 'accept', content: [{ type: 'text', text: 'shorter' }] }))
    expect(await tools.execute(request('t'))).toEqual({ isError: false, value: 'the value', content: [{ type: 'text', text: 'shorter' }], meta: { kind: 'facts' } })
  })
  it('a secret taken out of the value is gone from content and facts too', async () => {
    const { tools, request, kernel } = createPipelineBench()
    tools.register(fakeTool('t', () => 'secret', { output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value as string }], presentationMeta: (_args, value) => value } }))
    kernel.root.on('tools/post-execute', () => ({ kind: 'accept', value: 'left out' }))
    expect(JSON.stringify(await tools.execute(request('t')))).not.toContain('secret')
  })
})
