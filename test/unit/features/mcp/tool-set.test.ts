import { describe, expect, it } from 'vitest'
import type { McpToolFacts } from '../../../../extension/capabilities/mcp.ts'
import type { ToolHost } from '../../../../extension/features/mcp/tool.ts'
import { ToolSet } from '../../../../extension/features/mcp/tool-set.ts'
import { realClock } from '../../../support/real-clock.ts'

const host: ToolHost = { server: { name: 's', title: 's' }, sha256: () => '0123456789abcdef', clock: realClock, timeoutMs: () => 1_000, isTrusted: () => false, use: () => Promise.reject(new Error('unused')), begin: () => ({ token: 't', end: () => {} }), keepImage: () => Promise.resolve(null) }
const tool = (name: string, description = ''): McpToolFacts => ({ name, description, inputSchema: { type: 'object' }, isReadOnly: false, needsTask: false })

/** What is registered after each list, what happened to the registry for it, and what was said. */
function played(lists: readonly (readonly McpToolFacts[])[], refused: readonly string[] = []) {
  const moves: string[] = []
  const set = new ToolSet(host, ({ name }) => {
    if (refused.includes(name)) throw new Error(`${name} is taken`)
    moves.push(`+${name}`)
    return () => void moves.push(`-${name}`)
  })
  return lists.map((list) => ({ problem: set.replace(list), moves: moves.splice(0), offered: set.offered.map(({ facts }) => facts.name) }))
}

describe('the tools of a server', () => {
  it('that stay as they were are not touched by a new list, in whose order they stand', () =>
    expect(played([[tool('a'), tool('b')], [tool('c'), tool('b'), tool('a', 'new')], [tool('c'), tool('b'), tool('a', 'new')]])).toEqual([
      { problem: null, moves: ['+mcp__s__a', '+mcp__s__b'], offered: ['a', 'b'] },
      { problem: null, moves: ['-mcp__s__a', '+mcp__s__c', '+mcp__s__a'], offered: ['c', 'b', 'a'] },
      { problem: null, moves: [], offered: ['c', 'b', 'a'] },
    ]))
  it('are none when one of them cannot be registered', () =>
    expect(played([[tool('a')], [tool('a'), tool('b'), tool('c')], [tool('a')]], ['mcp__s__c'])).toEqual([
      { problem: null, moves: ['+mcp__s__a'], offered: ['a'] },
      { problem: 'Its tools could not be registered: mcp__s__c is taken', moves: ['+mcp__s__b', '-mcp__s__a', '-mcp__s__b'], offered: [] },
      { problem: null, moves: ['+mcp__s__a'], offered: ['a'] },
    ]))
  it('are those before when one is named twice', () =>
    expect(played([[tool('a')], [tool('b'), tool('b')]])).toEqual([
      { problem: null, moves: ['+mcp__s__a'], offered: ['a'] },
      { problem: 'It lists the tool “b” twice, so its list is not taken over.', moves: [], offered: ['a'] },
    ]))
})
