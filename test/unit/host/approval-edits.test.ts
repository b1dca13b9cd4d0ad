import { expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { effectOf, ownEffects } from '../../../extension/core/policy/tool-effects.ts'
import { editableText, editedArguments } from '../../../extension/host/approval-edits.ts'
import { createFakeAgent } from '../../support/fake-agent.ts'

const permissions = { effectOf: (tool: string, args: Json) => effectOf(ownEffects.get(tool), args) }
const request = (toolName: string, args: Json) => ({ id: 'a', agent: createFakeAgent(), toolName, arguments: args, signal: new AbortController().signal })

const rows: readonly [tool: string, args: Json, text: string | null, edited: Json][] = [
  ['bash', { command: 'git push', description: 'x' }, 'git push', { command: 'new', description: 'x' }],
  ['edit', { file_path: 'a', old_string: 'b', new_string: 'c' }, 'c', { file_path: 'a', old_string: 'b', new_string: 'new' }],
  ['write', { file_path: 'a', content: '' }, '', { file_path: 'a', content: 'new' }],
  ['write', { file_path: 'a', content: 'x'.repeat(100_001) }, null, null],
  ['read', { file_path: 'a' }, null, null],
  ['mcp__mail', { command: 'x' }, null, null],
  ['bash', ['command'], null, null],
]
it.each(rows)('what a person may change of %s %j before they allow it', (tool, args, text, edited) => {
  const asked = request(tool, args)
  expect([editableText(permissions, asked), editedArguments(permissions, asked, 'new')]).toEqual([text, edited])
})
