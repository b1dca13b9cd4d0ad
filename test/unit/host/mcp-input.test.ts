import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { createMcpInputBox } from '../../../extension/host/mcp-input.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'

const l10n = { t: fillIn }

it.each([
  ['a secret', '', true, 'abc', '“token”, kept as a secret and given to this server alone.'],
  ['words', 'Your project', false, null, 'Your project (“token”, kept as a secret and given to this server alone.)'],
] as const)('a box for %s', async (_name, description, isSecret, given, prompt) => {
  const editor = createFakeEditor()
  editor.answers.push(given)
  expect(await createMcpInputBox({ editor, l10n })({ server: 'demo', id: 'token', description, isSecret })).toBe(given)
  expect(editor.shown).toEqual([{ kind: 'input', value: { title: 'A value for the MCP server demo', prompt, isSecret } }])
})

describe('a list to pick from', () => {
  const options = [{ label: 'fast', value: 'fast' }, { label: 'With care', value: 'slow' }]
  const asked = { server: 'demo', id: 'mode', description: 'How', isSecret: false, options }
  it.each([
    ['1', 'slow'],
    ['0', 'fast'],
    [null, null],
  ])('gives the value of what is picked: %s', async (picked, value) => {
    const editor = createFakeEditor()
    editor.answers.push(picked)
    expect(await createMcpInputBox({ editor, l10n })({ ...asked, preset: 'slow' })).toBe(value)
    expect(editor.shown).toEqual([{ kind: 'pick', value: { title: 'A value for the MCP server demo', placeholder: 'How (“mode”)', items: [{ id: '0', label: 'fast' }, { id: '1', label: 'With care', description: 'slow', isCurrent: true }] } }])
  })
})

it('a box holds what is taken by default', async () => {
  const editor = createFakeEditor()
  editor.answers.push('other')
  expect(await createMcpInputBox({ editor, l10n })({ server: 'demo', id: 'word', description: '', isSecret: false, preset: 'plain' })).toBe('other')
  expect(editor.shown).toMatchObject([{ kind: 'input', value: { value: 'plain' } }])
})

describe('a command of the editor', () => {
  const run = async (result: unknown, args?: { readonly for: string }) => {
    const editor = createFakeEditor()
    editor.commands.set('extension.token', result)
    const value = await createMcpInputBox({ editor, l10n })({ server: 'demo', id: 'token', description: '', isSecret: true, command: { name: 'extension.token', ...(args && { args }) } })
    return [value, editor.shown]
  }
  it('gives its text, with its arguments', async () => {
    expect(await run('abc', { for: 'x' })).toEqual(['abc', [{ kind: 'command', value: ['extension.token', { for: 'x' }] }]])
    expect(await run('abc')).toEqual(['abc', [{ kind: 'command', value: 'extension.token' }]])
  })
  it('that is backed out of gives nothing', async () => expect((await run(undefined))[0]).toBeNull())
  it.each([[5], [{ token: 'x' }], [false]])('that gives something else is refused: %j', async (result) => {
    await expect(run(result)).rejects.toMatchObject({ code: 'MCP_CONFIGURATION', message: 'There is no value for “token”: the command extension.token of the editor gave something else than a text. Name another one where the server is configured.' })
  })
  it('that is not there is told', async () => {
    const asked = { server: 'demo', id: 'token', description: '', isSecret: true, command: { name: 'nobody.has' } }
    await expect(createMcpInputBox({ editor: createFakeEditor(), l10n })(asked)).rejects.toMatchObject({ message: "There is no value for “token”: the command nobody.has of the editor failed: command 'nobody.has' not found. Name another one where the server is configured." })
  })
})
