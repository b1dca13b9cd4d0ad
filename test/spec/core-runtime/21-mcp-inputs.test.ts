import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { PickOptions } from '../../../extension/capabilities/editor.ts'
import { createMcpInputBox } from '../../../extension/host/mcp-input.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'
import { patient, programServer, textOf, withRig, type McpRig } from '../../support/mcp-rig.ts'
import { memorySecrets } from '../../support/memory-secrets.ts'

/* Chapter 21, "VS Code mapping": the inputs of the editor's own `mcp.json`. */

const inputs = [
  { id: 'mode', type: 'pickString', description: 'How', options: ['fast', { label: 'With care', value: 'slow' }] },
  { id: 'token', type: 'command', command: 'extension.token', args: { for: 'demo' } },
  { id: 'flavour', type: 'pickString', options: ['plain', 'mild'], default: 'mild' },
  { id: 'bad', type: 'pickString', options: [] },
  { id: 'odd', type: 'other' },
]
const entry = { ...programServer('ok'), env: { MODE: '${input:mode}', GIVEN: '${input:token}', FLAVOUR: '${input:flavour}' } }

async function withInputs(check: (rig: McpRig, editor: ReturnType<typeof createFakeEditor>) => Promise<void>, { hasPerson = true }: { readonly hasPerson?: boolean } = {}): Promise<void> {
  const editor = createFakeEditor()
  await withRig(
    {},
    async (rig) => {
      const folder = join(rig.application.folder, '.vscode')
      await mkdir(folder)
      await writeFile(join(folder, 'mcp.json'), JSON.stringify({ servers: { demo: entry }, inputs }))
      await rig.application.ctx.mcp.reread()
      await check(rig, editor)
    },
    { alter: (world) => ({ ...world, secrets: memorySecrets(), ...(hasPerson && { mcpInput: createMcpInputBox({ editor, l10n: { t: fillIn } }) }) }) },
  )
}

describe('inputs of a file', patient, () => {
  it('are picked, or given by a command of the editor, once the person let the server run', () =>
    withInputs(async (rig, editor) => {
      const { mcp } = rig.application.ctx
      editor.commands.set('extension.token', 'tok-123456')
      expect(rig.server('demo')).toMatchObject({ state: 'waits', given: ['MODE=${input:mode}', 'GIVEN=${input:token}', 'FLAVOUR=${input:flavour}', '${input:token} = extension.token({"for":"demo"})', '${input:flavour} = mild'] })
      await expect(mcp.askInput('demo', 'token')).rejects.toMatchObject({ code: 'MCP_UNAVAILABLE' })
      expect(editor.shown).toEqual([])
      await mcp.allow(['demo'])
      expect((await rig.until('needs-input', 'demo')).missingInputs.map(({ id }) => id)).toEqual(['mode', 'token', 'flavour'])
      editor.answers.push('1', '1')
      expect([await mcp.askInput('demo', 'mode'), await mcp.askInput('demo', 'token'), await mcp.askInput('demo', 'flavour')]).toEqual([true, true, true])
      await rig.until('running', 'demo')
      expect(editor.take().map(({ kind }) => kind)).toEqual(['pick', 'command', 'pick'])
      const env = async () => JSON.parse(textOf(await rig.call('env', {}, { server: 'demo' }))) as Record<string, string>
      expect(await env()).toMatchObject({ MODE: 'slow', GIVEN: 'tok-123456', FLAVOUR: 'mild' })
      // What was picked before, or stands there by default, is where the list begins.
      for (const [id, current] of [['mode', '1'], ['flavour', '1']] as const) {
        editor.answers.push('0')
        await mcp.askInput('demo', id)
        expect(editor.take().map(({ value }) => (value as PickOptions).items.filter(({ isCurrent }) => isCurrent === true).map(({ id: item }) => item))).toEqual([[current]])
      }
      expect(await env()).toMatchObject({ MODE: 'fast', FLAVOUR: 'plain' })
    }))
  const withDefaults = { servers: { plain: { ...programServer('ok'), env: { WORD: '${input:word}', KEY: '${input:key}', NONE: '${input:none}' } } }, inputs: [{ id: 'word', type: 'promptString', default: 'usual' }, { id: 'key', type: 'promptString', password: true, default: 'demo-key' }, { id: 'none', type: 'promptString', default: '' }] }
  const useDefaults = async (rig: McpRig) => {
    await writeFile(join(rig.application.folder, '.vscode', 'mcp.json'), JSON.stringify(withDefaults))
    await rig.application.ctx.mcp.reread()
    await rig.application.ctx.mcp.allow(['plain'])
  }
  const envOf = async (rig: McpRig) => JSON.parse(textOf(await rig.call('env', {}, { server: 'plain' }))) as Record<string, string>
  it('with a default are asked for once, with the default in the box, and remembered', () =>
    withInputs(async (rig, editor) => {
      const { mcp } = rig.application.ctx
      await useDefaults(rig)
      expect((await rig.until('needs-input', 'plain')).missingInputs.map(({ id }) => id)).toEqual(['word', 'key'])
      editor.answers.push('usual', 'other-key')
      expect([await mcp.askInput('plain', 'word'), await mcp.askInput('plain', 'key')]).toEqual([true, true])
      expect(editor.take().map(({ value }) => (value as { readonly value?: string }).value)).toEqual(['usual', 'demo-key'])
      await rig.until('running', 'plain')
      expect(await envOf(rig)).toMatchObject({ WORD: 'usual', KEY: 'other-key', NONE: '' })
      await mcp.restart('plain')
      await rig.until('running', 'plain')
      editor.answers.push('mine', 'ours')
      await mcp.askInput('plain', 'word')
      await mcp.askInput('plain', 'word')
      await mcp.askInput('plain', 'key')
      // Words that were given may be changed, a secret that was given is not shown again.
      expect(editor.take().map(({ value }) => (value as { readonly value?: string }).value)).toEqual(['usual', 'mine', 'demo-key'])
    }))
  it('with a default take it where nobody can be asked', () =>
    withInputs(
      async (rig) => {
        await useDefaults(rig)
        await rig.until('running', 'plain')
        expect(await envOf(rig)).toMatchObject({ WORD: 'usual', KEY: 'demo-key', NONE: '' })
      },
      { hasPerson: false },
    ))
  it('whose command gives no text leave the server as it was, with what to do', () =>
    withInputs(async (rig, editor) => {
      editor.commands.set('extension.token', { token: 'x' })
      await rig.application.ctx.mcp.allow(['demo'])
      await rig.until('needs-input', 'demo')
      expect(await rig.application.ctx.commands.run(rig.agent, '/mcp input demo token')).toMatchObject({ kind: 'error', text: 'There is no value for “token”: the command extension.token of the editor gave something else than a text. Name another one where the server is configured.' })
      expect(rig.server('demo').state).toBe('needs-input')
    }))
  it('that cannot be used are listed, and spoil no good one', () =>
    withInputs(async (rig) => {
      expect(rig.application.ctx.mcp.report().skipped.map(({ reason }) => reason)).toEqual([expect.stringMatching(/^inputs, the 4\.: .*options/), expect.stringMatching(/^inputs, the 5\.: .*type/)])
    }))
})
