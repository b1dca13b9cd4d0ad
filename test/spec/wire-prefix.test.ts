import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { UserMessage } from '../../extension/core/log/message.ts'
import type { ScriptStep, ScriptToolCall } from '../support/model-script.ts'
import { startModelServer, type ModelServer } from '../support/model-server.ts'
import { prefixProblems } from '../support/wire-prefix.ts'
import { wholeApplication, type WholeApplication } from '../support/whole-application.ts'

let server: ModelServer | undefined
let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  await server?.close()
})

const call = (...toolCalls: readonly ScriptToolCall[]): ScriptStep => ({ answer: { parts: [{ reasoning: 'hm' }, { text: 'Next.' }, { toolCalls }] } })
const say = (text: string): ScriptStep => ({ answer: { parts: [{ text }] } })
const prompt = (text: string): UserMessage => ({ id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })

describe('the requests of a session', () => {
  it('each begin with the bytes of the one before: over steps, turns, a change of mode, a denial and a reload', async () => {
    server = await startModelServer({
      models: ['m'],
      steps: [
        call({ name: 'glob', arguments: { pattern: '*' } }, { name: 'read', arguments: { file_path: 'a.txt' } }),
        call({ name: 'todo_write', arguments: { todos: [{ content: 'One', status: 'in_progress' }] } }),
        call({ name: 'edit', arguments: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } }),
        say('Not allowed.'),
        call({ name: 'bash', arguments: { command: 'ls', description: 'List' } }, { name: 'nonsense', arguments: '{"broken": ' }),
        say('Done.'),
        say('Again.'),
      ],
    })
    application = await wholeApplication({
      settings: {
        'model.provider': 'mine',
        'model.name': 'm',
        providers: { mine: { baseUrl: server.url, reasoningPassback: 'always', reasoningEfforts: ['high'] } },
      },
    })
    await writeFile(join(application.folder, 'a.txt'), 'one\n')
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('first'))
    await agent.whenIdle()
    application.ctx.permissions.select(agent.id, 'danger-full-access')
    agent.followup(prompt('second'))
    await agent.whenIdle()
    const { ctx } = await application.restart()
    const resumed = await ctx.agents.resume(agent.id)
    resumed.followup(prompt('third'))
    await resumed.whenIdle()

    expect([server.unused(), resumed.session.events().findLast(({ type }) => type === 'turn/end')?.data]).toEqual([0, expect.objectContaining({ reason: { kind: 'completed' } })])
    const bodies = server.chats().map(({ body }) => body)
    expect([bodies.length, prefixProblems(bodies)]).toEqual([7, []])
  })
})
