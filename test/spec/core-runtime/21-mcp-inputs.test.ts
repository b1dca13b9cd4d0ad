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

async function withInputs(check: (rig: McpRig, editor: ReturnType<typeof createFakeEditor>) => Promise<void>): Promise<void> {
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
    { alter: (world) => ({ ...world, secrets: memorySecrets(), mcpInput: createMcpInputBox({ editor, l10n: { t: fillIn } }) }) },
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
      expect((await rig.until('needs-input', 'demo')).missingInputs.map(({ id }) => id)).toEqual(['mode', 'token'])
      editor.answers.push('1')
      expect([await mcp.askInput('demo', 'mode'), await mcp.askInput('demo', 'token')]).toEqual([true, true])
      await rig.until('running', 'demo')
      expect(editor.take().map(({ kind }) => kind)).toEqual(['pick', 'command'])
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
