import { describe, expect, it } from 'vitest'
import { firstChange, type SentPrefix } from '../../../../extension/core/cost/cache-miss.ts'
import type { Message } from '../../../../extension/core/log/message.ts'
import type { ToolDeclaration } from '../../../../extension/core/model/contract.ts'

const tool = (name: string, description = name): ToolDeclaration => ({ name, description, parameters: {} })
const said = (id: string, source: object = { kind: 'user' }): Message => ({ id, role: 'user', content: [], source }) as Message
const messages = [said('1'), said('2'), said('3')]
const before: SentPrefix = { config: { provider: 'p', model: 'm', reasoningEffort: 'high' }, system: 'You are.', tools: [tool('a'), tool('b')], messages }
const check = (change: Partial<SentPrefix>, reason: object) => expect(firstChange(before, { ...before, ...change })).toEqual(reason)

describe('why a prefix was not found in the cache', () => {
  it('names another model', () => check({ config: { provider: 'p', model: 'n' }, system: 'x' }, { kind: 'model', from: 'p/m', to: 'p/n' }))
  it('names a tool that came', () => check({ tools: [tool('a'), tool('b'), tool('c')] }, { kind: 'tools', change: 'added', tools: ['c'], total: 1 }))
  it('names a tool that went', () => check({ tools: [tool('b')] }, { kind: 'tools', change: 'removed', tools: ['a'], total: 1 }))
  it('names a tool that is described otherwise', () => check({ tools: [tool('a'), tool('b', 'new')] }, { kind: 'tools', change: 'changed', tools: ['b'], total: 1 }))
  it('names tools in another order', () => check({ tools: [tool('b'), tool('a')] }, { kind: 'tools', change: 'moved', tools: ['b', 'a'], total: 2 }))
  it('names at most eight tools and says how many there are', () =>
    check({ tools: [...before.tools!, ...Array.from({ length: 20 }, (_, at) => tool(`t${at}`))] }, { kind: 'tools', change: 'added', tools: ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7'], total: 20 }))
  it('names the tools before the system prompt, which providers read after them', () => check({ tools: [], system: 'x' }, { kind: 'tools', change: 'removed', tools: ['a', 'b'], total: 2 }))
  it('names the system prompt', () => check({ system: 'You were.', messages: [] }, { kind: 'system' }))
  it('names the fields of the configuration', () => check({ config: { provider: 'p', model: 'm', temperature: 1 } }, { kind: 'config', fields: ['reasoningEffort', 'temperature'] }))
  it('names a summary in the place of what was said', () =>
    check({ messages: [said('1'), said('s', { kind: 'plugin', plugin: 'compaction', form: 'summary' })].map((message, at) => (at === 0 ? messages[0]! : message)) }, { kind: 'messages', position: 1, what: 'summary' }))
  it('names a result that was cut', () =>
    check({ messages: [messages[0]!, { ...messages[1]!, role: 'tool' } as unknown as Message, messages[2]!] }, { kind: 'messages', position: 1, what: 'result' }))
  it('names a message that is gone', () => check({ messages: [messages[0]!] }, { kind: 'messages', position: 1, what: 'removed' }))
  it('blames the provider when nothing but the end differs', () => check({ messages: [...messages, said('4')] }, { kind: 'dropped' }))
  it('blames no message after a restart, when the one before is not known', () => expect(firstChange({ ...before, messages: undefined } as never, before)).toEqual({ kind: 'dropped' }))
  it('takes equal tools of a restart for the same', () => check({ tools: [tool('a'), tool('b')] }, { kind: 'dropped' }))
})
