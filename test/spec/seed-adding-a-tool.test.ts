import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { BosunApi, BosunExtension, ExtensionContext, PluginContext as Context, Registration, ToolExecution } from '../../bosun.d.ts'
import type { SessionEvent } from '../../extension/core/log/event.ts'
import { ExportedApi } from '../../extension/exported-api.ts'
import { extensionRig, textOf, type ExtensionRig } from '../support/extension-rig.ts'
import { createRecordingLogger } from '../support/quiet-logger.ts'

/* The example that this project began with, word for word, as a plugin that another extension gives to what `activate` returns. */

/** What its body was handed. */
const handed: ToolExecution[] = []

const myTool = ({ defineTool }: Pick<BosunApi, 'defineTool'>) => {
  const name = 'my-tool'
  const inject = ['tools']

  function apply(ctx: Context) {
    ctx.tools.register(defineTool({
      name: 'read_file',
      description: 'Read a file from disk.',
      parameters: {
        path: { type: 'string', required: true, description: 'Absolute path' },
        limit: { type: 'number' },
      },
      output: {
        schema: { type: 'string' },
        render: (_args, value) => [{ type: 'text', text: value }],
      },
      async execute(args, exec) {
        handed.push(exec)
        return readFile(args.path, { encoding: 'utf8', signal: exec.signal })
      },
    }))
  }
  return { name, inject, apply }
}

let rig: ExtensionRig
afterEach(() => rig.dispose())

async function start(settings: Readonly<Record<string, unknown>> = {}) {
  handed.length = 0
  const exported = new ExportedApi({ logger: createRecordingLogger(), isInstalled: () => true, onDidChangeExtensions: () => () => undefined })
  rig = await extensionRig({ settings, contributions: exported })
  const { folder } = rig.application
  const path = join(folder, 'a.txt')
  await writeFile(path, 'four')
  const subscriptions: { dispose(): unknown }[] = []
  const context: ExtensionContext = { extension: { id: 'acme.sample' }, subscriptions }
  const exports: BosunExtension = exported.exports
  const api = await exports.getApi(1, context)
  const plugin: Registration = api.registerPlugin(myTool(api))
  await plugin.ready
  return { agent: await rig.newAgent(), path, plugin, end: () => Promise.all(subscriptions.map(({ dispose }) => dispose())) }
}

describe('the tool of the example', () => {
  it('is declared to models from its schemas, and what it reads is what they read', async () => {
    const { agent, path } = await start()
    expect(rig.application.ctx.tools.schemas(agent.scope).find(({ name }) => name === 'read_file')).toEqual({
      name: 'read_file',
      description: 'Read a file from disk.',
      parameters: { type: 'object', properties: { path: { type: 'string', description: 'Absolute path' }, limit: { type: 'number' } }, required: ['path'] },
    })
    expect(textOf(await rig.call(agent, 'read_file', { path }))).toBe('four')
    expect(handed.map(({ callId, rootCallId, tool, arguments: args, sessionId, signal }) => [callId, rootCallId, tool, args, sessionId, signal.aborted])).toEqual([['call-1', 'call-1', 'read_file', { path }, agent.id, false]])
  })
  it('never sees arguments that break its schema; a throw of its body is a failed call', async () => {
    const { agent, path } = await start()
    const refused = await rig.call(agent, 'read_file', { limit: 'x' })
    expect([refused.error?.code, textOf(refused), handed.length]).toEqual(['INVALID_ARGS', expect.stringMatching(/"path".*; .*"limit"/s), 0])
    expect(await rig.call(agent, 'read_file', { path: `${path}.not` })).toMatchObject({ message: { content: [{ isError: true, content: [{ text: expect.stringMatching(/^Error: ENOENT/) as string }] }] } })
  })
  it('is there for programs without anything more: its value in the program, its call in the log', async () => {
    const { agent, path } = await start({ 'tools.presentation': 'code' })
    const code = `const text: string = await tools.read_file({ path: ${JSON.stringify(path)} }); try { await tools.read_file({}) } catch (error) { return [text.length, error.name, error.toolName] }`
    expect(JSON.parse(textOf(await rig.call(agent, 'run_code', { code, description: 'Reads a file with the tool' })))).toEqual([4, 'ToolCallError', 'read_file'])
    const calls = agent.session.events().filter((event): event is SessionEvent<'tool/code-dispatch'> => event.type === 'tool/code-dispatch')
    expect(calls.map(({ data }) => [data.name, data.isError])).toEqual([['read_file', false], ['read_file', true]])
    expect(handed.map(({ rootCallId }) => rootCallId)).toEqual(['call-1'])
  })
  it.each(['its plugin', 'its extension'])('goes with %s', async (what) => {
    const { agent, plugin, end } = await start()
    expect(rig.toolsOf(agent)).toContain('read_file')
    await (what === 'its plugin' ? plugin.dispose() : end())
    expect(rig.toolsOf(agent)).not.toContain('read_file')
    expect((await rig.call(agent, 'read_file', { path: '/' })).error?.code).toBe('UNKNOWN_TOOL')
  })
})
