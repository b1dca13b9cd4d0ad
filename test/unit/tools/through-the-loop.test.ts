import { realpathSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { FileSystem } from '../../../extension/capabilities/file-system.ts'
import type { Preset } from '../../../extension/core/presets/preset.ts'
import type { Context, Kernel } from '../../../extension/core/kernel/plugin.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { jobsPlugin } from '../../../extension/features/jobs/plugin.ts'
import { observationPlugin } from '../../../extension/features/observation/plugin.ts'
import { todoPlugin } from '../../../extension/features/todo/plugin.ts'
import { createDirectRunner, type DirectRunner } from '../../../extension/platform/node/direct-runner.ts'
import { NodeFileSystem } from '../../../extension/platform/node/file-system.ts'
import { fileTools } from '../../../extension/tools/files/plugin.ts'
import { shellTools } from '../../../extension/tools/shell/plugin.ts'
import { todoTools } from '../../../extension/tools/todo/plugin.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createLoopRig, prompt, type LoopRig } from '../../support/loop-rig.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { noEditor } from '../../support/no-editor.ts'
import type { MemoryEventStore } from '../../support/memory-event-store.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { realClock } from '../../support/real-clock.ts'
import { callTools, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { plainEnvironment } from '../../support/plain-environment.ts'

let folder: string
let runner: DirectRunner
beforeEach(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), 'bosun-loop-')))
  runner = createDirectRunner()
})
afterEach(async () => {
  await runner.dispose()
  await rm(folder, { recursive: true })
})

const preset: Preset = { id: 'tools', name: 'Tools', description: 'For this test.', order: 0, presentation: 'native', tools: ['read', 'write', 'edit', 'bash', 'todo_write'], hasRuntimeContext: false }

const start = (answers: readonly ScriptedAnswer[], store?: MemoryEventStore): LoopRig => {
  const files: FileSystem = new NodeFileSystem()
  const [logger, machine, blobs] = [createRecordingLogger(), createFakeMachine(), createMemoryBlobStore()]
  const prepare = (ctx: Context, { dispatch }: Kernel) => {
    for (const plugin of [
      observationPlugin({ files, dispatch, logger }),
      todoPlugin({ logger, machine }),
      jobsPlugin({ clock: realClock, logger, machine, processes: runner }),
      fileTools({ ...noEditor, files, blobs }),
      shellTools({ processes: runner, files, blobs, clock: realClock, machine, shellPath: () => null, timeoutMs: () => 10_000, offered: () => 'auto', environment: plainEnvironment }),
      todoTools({ allowParallelInProgress: true }),
    ])
      ctx.plugin(plugin)
  }
  return createLoopRig({ answers, presets: [preset], prepare, ...(store && { store }) })
}
const say = async (agent: Agent, text: string) => {
  agent.followup(prompt(text))
  await agent.whenIdle()
}
/** The finished cards of a session, made from its log alone. */
const cardsOf = (rig: LoopRig, agent: Agent) => {
  const calls = new Map<string, { readonly name: string; readonly args: never }>()
  return agent.session.events().flatMap((event) => {
    if (event.type === 'tool/call') calls.set(event.data.callId, { name: event.data.name, args: JSON.parse(event.data.arguments) as never })
    if (event.type !== 'tool/result') return []
    const { callId, content, isError } = event.data.message.content[0]
    const { name, args } = calls.get(callId)!
    const { meta } = event.data
    return [rig.ctx.tools.get(name)?.presentResult?.(args, { content, isError, ...(meta !== undefined && { meta }) })]
  })
}

it('a turn reads, edits and runs; the log holds results and card facts but no values, and a later start draws the same cards and may edit at once', async () => {
  await writeFile(join(folder, 'a.txt'), 'one\r\ntwo\r\n')
  const rig = start([
    callTools({ id: 'r', name: 'read', args: { file_path: 'a.txt' } }),
    callTools({ id: 'e', name: 'edit', args: { file_path: 'a.txt', old_string: 'two', new_string: 'TWO' } }),
    callTools({ id: 'b', name: 'bash', args: { command: 'cat a.txt; exit 2', description: 'Show it' } }),
    callTools({ id: 't', name: 'todo_write', args: { todos: [{ content: 'done', status: 'completed' }] } }),
    sayText('Done.'),
  ])
  const agent = await rig.agents.create({ cwd: folder, preset: 'tools' })
  await say(agent, 'go')

  expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one\r\nTWO\r\n')
  const events = agent.session.events()
  const results = events.flatMap((event) => (event.type === 'tool/result' ? [event.data] : []))
  expect(results.map(({ message }) => message.content[0].content[0])).toMatchObject([
    { text: '<file path="a.txt">\n1: one\n2: two\n\n(End of file, 2 lines.)\n</file>' },
    { text: 'Edited a.txt at line 2. It now reads:\n1: one\n2: TWO' },
    { text: 'one\r\nTWO\r\n[exit code: 2]' },
    { text: 'Task list updated: 1 completed, 0 in progress, 0 pending.' },
  ])
  // Canonical values are for programs; a log that had them would hold each file twice more.
  expect(results.every((data) => !('value' in data))).toBe(true)
  expect(JSON.stringify(results[1])).not.toContain('"before":"one')
  expect(events.flatMap(({ type }) => (/^(fs|todo)\//.test(type) ? [type] : []))).toEqual(['fs/observed', 'fs/before-image', 'fs/observed', 'todo/write'])
  expect(agent.session.projections().values['todos']).toMatchObject([{ content: 'done', status: 'completed' }])
  const cards = cardsOf(rig, agent)
  expect(cards.map((view) => view?.card)).toEqual(['read', 'diff', 'terminal', 'generic'])
  await rig.kernel.dispose()

  const later = start([callTools({ id: 'e2', name: 'edit', args: { file_path: 'a.txt', old_string: 'one', new_string: 'ONE' } }), sayText('Done.')], rig.store)
  const resumed = await later.agents.resume(agent.id)
  expect(cardsOf(later, resumed)).toEqual(cards)
  await say(resumed, 'again')
  expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('ONE\r\nTWO\r\n')
  await later.kernel.dispose()
})

it('a stop in the middle of a command keeps what it wrote, for the model and on its card', async () => {
  const rig = start([callTools({ id: 'b', name: 'bash', args: { command: 'echo begun; sleep 60', description: 'Wait' } })])
  const agent = await rig.agents.create({ cwd: folder, preset: 'tools' })
  rig.ctx.on('agent/progress', () => agent.cancel({ kind: 'user' }))
  await say(agent, 'go')
  const [result] = agent.session.events().flatMap((event) => (event.type === 'tool/result' ? [event.data] : []))
  expect(result).toMatchObject({ error: { name: 'ShellError', code: 'ABORTED' }, meta: { aborted: true, output: 'begun\n' } })
  expect(cardsOf(rig, agent)).toMatchObject([{ card: 'terminal', output: 'begun\n', aborted: true }])
  await rig.kernel.dispose()
})

it('a background job that ends while the session is idle starts a turn in which the model hears of it', async () => {
  const rig = start([callTools({ id: 'b', name: 'bash', args: { command: 'sleep 0.2; echo ready', description: 'Serve', run_in_background: true } }), sayText('Started.'), sayText('I saw it end.')])
  const agent = await rig.agents.create({ cwd: folder, preset: 'tools' })
  await say(agent, 'go')
  await expect.poll(() => rig.adapter.requests.length, { timeout: 5_000 }).toBe(3)
  await agent.whenIdle()
  expect(JSON.stringify(rig.adapter.requests[2]?.messages.at(-1))).toContain('Background job bash-1 [bash] ended (completed, exit code: 0)')
  await rig.kernel.dispose()
})

it('a command that the person stops ends alone: the model reads what it wrote and goes on', async () => {
  const rig = start([callTools({ id: 'b', name: 'bash', args: { command: 'echo begun; exec sleep 60', description: 'Wait' } }), sayText('I see.')])
  const agent = await rig.agents.create({ cwd: folder, preset: 'tools' })
  rig.ctx.on('agent/progress', () => void rig.ctx.jobs.commands.stop(agent.id, 'b'))
  await say(agent, 'go')
  expect(JSON.stringify(rig.adapter.requests[1]?.messages.at(-1))).toContain('begun\\n[the person stopped it before it finished]')
  expect(agent.session.events().at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'completed' } } })
  expect(cardsOf(rig, agent)).toMatchObject([{ card: 'terminal', output: 'begun\n', aborted: true, signal: 'SIGTERM' }])
  await rig.kernel.dispose()
})

it('a command that the person moves to the background ends its call, and its end is told later', async () => {
  const rig = start([callTools({ id: 'b', name: 'bash', args: { command: 'echo begun; until test -e go; do sleep 0.05; done; echo over', description: 'Wait' } }), sayText('It goes on.'), sayText('It is over.')])
  const agent = await rig.agents.create({ cwd: folder, preset: 'tools' })
  const { commands } = rig.ctx.jobs
  rig.ctx.on('agent/progress', () => void (commands.list(agent.id)[0]?.canMove === true && commands.moveToBackground(agent.id, 'b')))
  await say(agent, 'go')
  expect(JSON.stringify(rig.adapter.requests[1]?.messages.at(-1))).toContain('the person moved it to the background; it goes on as job bash-1.')
  expect(cardsOf(rig, agent)).toEqual([{ card: 'terminal', output: 'begun\n', jobId: 'bash-1' }])
  await writeFile(join(folder, 'go'), '')
  await expect.poll(() => rig.adapter.requests.length).toBe(3)
  await agent.whenIdle()
  expect(JSON.stringify(rig.adapter.requests[2]?.messages.at(-1))).toContain('Background job bash-1 [bash] ended (completed, exit code: 0)')
  await rig.kernel.dispose()
})
