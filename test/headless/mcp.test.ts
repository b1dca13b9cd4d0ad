import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createFolders, runHeadless, type HeadlessOptions } from '../support/headless.ts'
import { programServer } from '../support/mcp-rig.ts'
import { startModelServer } from '../support/model-server.ts'
import { programsWith } from '../support/programs-with.ts'

let remove = () => {}
afterEach(() => remove())

/** `file`: a path of its own for what a server has to name. */
function setUp(servers: (file: string) => Readonly<Record<string, unknown>>, ofFolder?: Readonly<Record<string, unknown>>) {
  const folders = createFolders('work', 'store')
  remove = folders.remove
  const [work = '', store = ''] = folders.paths
  for (const folder of [work, store]) mkdirSync(folder, { recursive: true })
  const file = join(store, 'served')
  writeFileSync(join(store, 'mcp.json'), JSON.stringify({ servers: servers(file) }))
  if (ofFolder !== undefined) {
    mkdirSync(join(work, '.bosun'))
    writeFileSync(join(work, '.bosun/mcp.json'), JSON.stringify({ servers: ofFolder }))
  }
  const run = (args: readonly string[], options?: HeadlessOptions) => runHeadless([...args, '--cwd', work, '--storage', store, '--permissions', 'allow'], options)
  return { run, file }
}

it('tool waits for the server of the person that has it, and says why another does not run', async () => {
  const { run } = setUp(() => ({ demo: programServer('ok'), other: { ...programServer('ok'), env: { WORD: '${input:word}' } } }))
  const { code, lines, stderr } = await run(['tool', 'mcp__demo__echo', '{"text": "hi"}'])
  expect([code, lines], stderr).toMatchObject([0, [{ name: 'mcp__demo__echo', isError: false, content: [{ type: 'text', text: 'echo: hi' }] }]])
  expect(stderr).toMatch(/^MCP server other: needs-input\. It needs word\. Put \$\{env:NAME\} in the place of \$\{input:word\} in .*\/store\/mcp\.json and set that variable/)
})

it('tool says that there are no servers', async () => {
  const { lines, stderr } = await setUp(() => ({})).run(['tool', 'mcp__demo__echo', '{}'])
  expect([lines, stderr]).toMatchObject([[{ isError: true, error: { info: { code: 'UNKNOWN_TOOL' } } }], expect.stringMatching(/^There are no MCP servers here\. Name them in .*\/store\/mcp\.json/)])
})

it.runIf(process.platform === 'linux')('a run that is killed leaves no server, also one that neither hears the end of its input nor goes when it is told to', async () => {
  const { run, file } = setUp((path) => ({ demo: programServer('stubborn', path) }))
  const pid = Promise.withResolvers<number>()
  const ending = run(['tool', 'mcp__demo__hang', '{}'], { onStart: (started) => pid.resolve(started) })
  await expect.poll(() => existsSync(file)).toBe(true)
  expect(await programsWith(file)).toBe(1)
  process.kill(await pid.promise, 'SIGKILL')
  expect((await ending).signal).toBe('SIGKILL')
  await expect.poll(() => programsWith(file)).toBe(0)
}, 60_000)

it('run says at its end which servers did not run and what to do about each, also of a folder, and runs one that was allowed', async () => {
  const model = await startModelServer({ steps: [{ answer: { parts: [{ text: 'Hello.' }] }, repeat: true }] })
  try {
    const { run } = setUp(() => ({ gone: { command: 'no-such-program' }, odd: { comand: 'x' } }), { shared: programServer('ok') })
    const say = (prompt: string) => run(['run', '--base-url', model.url, '--model', 'scripted', '--prompt', prompt])
    const { code, stderr } = await say('Hello')
    expect([code, stderr.split('\n').slice(1, -1)]).toEqual([0, [
      'MCP server gone: failed. The program "no-such-program" was not found (ENOENT). Check its name and that it is on PATH. You can start it with “/mcp restart gone”.',
      expect.stringMatching(/^MCP server shared: waits for your consent: it would run .* ok \(.*\/work\/\.bosun\/mcp\.json\)\. You can let it run with “\/mcp allow shared”\.$/),
      expect.stringMatching(/^MCP server odd, .*\/store\/mcp\.json: it has "comand"; did you mean "command"\?$/),
    ]])
    expect((await say('/mcp allow shared')).code).toBe(0)
    expect((await say('Hello')).stderr).not.toContain('shared')
  } finally {
    await model.close()
  }
})
