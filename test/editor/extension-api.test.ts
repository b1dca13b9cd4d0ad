import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import * as vscode from 'vscode'
import type { BosunApiError, BosunExtension } from '../../bosun.d.ts'
import type { SampleExports } from '../fixtures/sample-extension/sample-extension.ts'

describe('the API for other extensions', () => {
  const bosun = () => vscode.extensions.getExtension<BosunExtension>('bosun.bosun')!
  const sample = () => vscode.extensions.getExtension<SampleExports>('acme.sample')!

  it('is what Bosun exports, by a semantic version', async () => {
    const { apiVersion, getApi } = await bosun().activate()
    match(apiVersion, /^1\.\d+\.\d+$/)
    await rejects(getApi(1, { extension: { id: 'no.body' }, subscriptions: [] }), ({ code }: BosunApiError) => code === 'UNKNOWN_EXTENSION')
    await rejects(getApi(2 as 1, { extension: { id: 'acme.sample' }, subscriptions: [] }), ({ code, extensionId }: BosunApiError) => code === 'UNSUPPORTED_VERSION' && extensionId === 'acme.sample')
  })

  it('is used by an extension beside it, whose registrations Bosun takes over once it is used, and gives back', async () => {
    const { ready, heard, takeBack } = await sample().activate()
    equal(sample().isActive, true)
    await vscode.commands.executeCommand('bosun.openChat')
    await ready
    deepEqual(heard, [])
    await takeBack()
  })

  it('tells an extension at once what is wrong while Bosun runs, and takes it back with its subscriptions', async () => {
    const context = { extension: { id: 'acme.sample' }, subscriptions: [] as { dispose(): unknown }[] }
    const api = await bosun().exports.getApi(1, context)
    const tool = (name: string) => ({
      name,
      description: 'Say one.',
      parameters: {},
      output: { schema: { type: 'integer' }, render: (_args: unknown, value: number) => [{ type: 'text' as const, text: `${value}` }] },
      execute: () => 1,
    } as const)
    await api.registerTool(tool('acme_one')).ready
    const faultOf = (name: string): Partial<BosunApiError> => {
      try {
        api.registerTool(tool(name))
        return {}
      } catch (error) {
        return error as BosunApiError
      }
    }
    deepEqual(['acme_one', 'read', 'two words'].map((name) => faultOf(name).code), ['NAME_TAKEN', 'NAME_TAKEN', 'INVALID_CONTRIBUTION'])
    ok(context.subscriptions.length > 0)
    for (const { dispose } of context.subscriptions) await dispose()
    const other = await bosun().exports.getApi(1, context)
    await other.registerTool(tool('acme_one')).ready
    await other.dispose()
  })
})
