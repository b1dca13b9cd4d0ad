import { describe, expect, it } from 'vitest'
import { promptArguments, promptCommandName, promptHint } from '../../../../extension/features/mcp/prompt-commands.ts'

const prompt = (...given: readonly string[]) => ({ name: 'review', description: '', arguments: given.map((name) => ({ name: name.replace('?', ''), description: '', isRequired: !name.endsWith('?') })) })

describe('the command of a prompt', () => {
  it.each([
    ['demo', 'review', 'mcp_demo_review'],
    ['My Server', 'Größe/all', 'mcp_my_server_gr_e_all'],
    ['a', 'x'.repeat(100), `mcp_a_${'x'.repeat(74)}`],
  ])('of %s, %s is called in the letters of commands', (server, name, command) => expect(promptCommandName(server, name)).toBe(command))
  it('says what may be typed behind it, and what may be left out', () => expect([promptHint(prompt('file', 'tone?')), promptHint(prompt())]).toEqual(['file [tone]', '']))
})

describe('the words behind the command of a prompt', () => {
  it.each([
    ['one after the other, the last takes what is left', 'a.ts be kind please', { file: 'a.ts', tone: 'be kind please' }],
    ['quotes keep words together', '"my file.ts" kind', { file: 'my file.ts', tone: 'kind' }],
    ['by their names, in any order', 'tone=kind file="my file.ts"', { file: 'my file.ts', tone: 'kind' }],
    ['what is named leaves the others to what is not', 'tone=kind a.ts', { file: 'a.ts', tone: 'kind' }],
    ['a name that no argument has is a word', 'x=1 kind', { file: 'x=1', tone: 'kind' }],
    ['what may be left out is', 'a.ts', { file: 'a.ts' }],
  ])('%s', (_why, typed, given) => expect(promptArguments(prompt('file', 'tone?'), typed)).toEqual(given))
  it('that lack some name them', () => expect(() => promptArguments(prompt('file', 'tone'), '')).toThrow('The prompt review needs file, tone. Write them behind the command, such as file="…".'))
})
