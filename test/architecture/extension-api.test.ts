import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../../scripts/root.ts'
import { API_VERSION } from '../../extension/exported-api.ts'

/** Sources of an extension elsewhere: nothing of ours is there but `bosun.d.ts`. */
let folder: string
beforeAll(async () => {
  await mkdir(join(root, 'out'), { recursive: true })
  folder = await mkdtemp(join(root, 'out/elsewhere-'))
  await copyFile(join(root, 'bosun.d.ts'), join(folder, 'bosun.d.ts'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What the compiler says of them under its strictest usual settings. */
async function problemsOf(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2023', '--module', 'esnext', '--moduleResolution', 'bundler', '--ignoreConfig', '--types', 'vscode,node', '--typeRoots', join(root, 'node_modules/@types')]
  try {
    await promisify(execFile)(process.execPath, [compiler, ...options, ...Object.keys(files), 'bosun.d.ts'], { cwd: folder })
    return ''
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
}

describe('what other extensions are told', () => {
  it('has examples that compile with bosun.d.ts alone', async () => {
    const text = await readFile(join(root, 'docs/extension-api.md'), 'utf8')
    const examples = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code ?? '')
    expect(examples.map((example) => /api\.register\w+/.exec(example)?.[0])).toEqual(['api.registerTool', 'api.registerPlugin', 'api.registerTool'])
    expect(await problemsOf(Object.fromEntries(examples.map((example, at) => [`example-${at}.ts`, example])))).toBe('')
  })
  it('is held by the compiler: an example that is wrong does not pass', async () => {
    const wrong = `import type { BosunApi } from './bosun'\nexport const add = (api: BosunApi) => api.registerPolicy(() => ({ decision: 'allow', reason: 'x' }))\n`
    expect(await problemsOf({ 'wrong.ts': wrong })).toMatch(/wrong\.ts\(2,.*allow/s)
  })
  it('takes a plugin in a module of its own, as the rules for adding a tool show it', async () => {
    // Word for word, but for where its types and `defineTool` come from.
    const plugin = `import { readFile } from 'node:fs/promises'
import type { BosunApi, PluginContext as Context } from './bosun'

declare const defineTool: BosunApi['defineTool']

export const name = 'my-tool'
export const inject = ['tools']

export function apply(ctx: Context) {
  ctx.tools.register(defineTool({
    name: 'read_file',
    description: 'Read a file from disk.',          // what the model sees
    parameters: {
      path: { type: 'string', required: true, description: 'Absolute path' },
      limit: { type: 'number' },                     // optional by default
    },
    output: {
      schema: { type: 'string' },
      render: (_args, value) => [{ type: 'text', text: value }],
    },
    async execute(args, exec) {
      const typed: { path: string; limit?: number } = args
      return readFile(typed.path, { encoding: 'utf8', signal: exec.signal })
    },
  }))
}
`
    const user = `import type { BosunApi } from './bosun'\nimport * as myTool from './my-tool'\nexport const add = (api: BosunApi) => api.registerPlugin(myTool)\n`
    expect(await problemsOf({ 'my-tool.ts': plugin, 'user.ts': user })).toBe('')
  })
  it('has the version that is exported in its words', async () => {
    expect(await readFile(join(root, 'bosun.d.ts'), 'utf8')).toContain(`getApi(version: ${API_VERSION.split('.')[0]}, `)
  })
})
