import { expect, it } from 'vitest'
import type { CommandDefinition } from '../../../extension/core/commands/command.ts'
import { commandCompletions } from '../../../extension/host/command-completions.ts'

const run = () => ({})
const commands: readonly CommandDefinition[] = [
  { name: 'clear', description: 'Begin anew', run },
  { name: 'compact', description: 'Make room', input: { hint: 'what to keep' }, run },
  { name: 'model', description: 'Choose a model', run },
]
const offered = (query: string) => commandCompletions({ commands: { list: () => commands }, scopeOf: () => null })(query, { agent: null, cwd: null, signal: new AbortController().signal }, () => undefined)
const check = async (query: string, labels: readonly string[]) => expect((await offered(query)).map(({ label }) => label)).toEqual(labels)

it('every command before anything is typed', () => check('', ['/clear', '/compact', '/model']))
it('those that fit, the best first', () => check('c', ['/clear', '/compact']))
it('letters with others between', () => check('mdl', ['/model']))
it('none for what no command is called', () => check('xyz', []))
it('what it does, and what may stand behind it', async () =>
  expect(await offered('compact')).toEqual([{ kind: 'command', label: '/compact', detail: 'Make room (what to keep)', icon: 'terminal', insert: '/compact ' }]))
