import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type {} from '../../../extension/features/command-environment/service.ts'
import { terminalProblem } from '../../../extension/platform/node/direct-terminals.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const cannotRun = process.platform === 'win32' || terminalProblem(import.meta.url) !== null

describe.skipIf(cannotRun)('the environment', () => {
  let application: WholeApplication
  let userFolder = ''
  let count = 0
  beforeAll(async () => {
    application = await wholeApplication({
      settings: { 'permissions.defaultPreset': 'danger-full-access' },
      alter(world) {
        userFolder = world.machine.userFolder
        return { ...world, terminalSettings: { environment: () => ({ OF_PERSON: 'mine', MY_TOKEN: 'secret', GIT_PAGER: 'less', LANG: null }), profiles: () => [] } }
      },
    })
  })
  afterAll(() => application.dispose())
  const run = async (agent: Agent, name: string, args: object) => application.ctx.tools.execute({ callId: `call-${++count}`, name, arguments: args, agent, signal: new AbortController().signal })
  /** What a line writes, typed at each way there is to run one. */
  const ways: Readonly<Record<string, (agent: Agent, command: string) => Promise<string>>> = {
    'a command': async (agent, command) => textOf(await run(agent, 'bash', { command, description: 'x' })),
    'a job': async (agent, command) => {
      const { jobId } = outcomeOf(await run(agent, 'bash', { command, description: 'x', run_in_background: true })) as { readonly jobId: string }
      return textOf(await run(agent, 'job_output', { job_id: jobId, wait: true }))
    },
    'a terminal': async (agent, command) => {
      const { sessionId } = outcomeOf(await run(agent, 'terminal_open', { type: 'bash' })) as { readonly sessionId: string }
      return textOf(await run(agent, 'terminal_send', { sessionId, text: command }))
    },
    'the shell that stays': async (agent, command) => textOf(await run(agent, 'bash', { command })),
  }
  const created = async (way: string) => {
    const agent = await application.ctx.agents.create({ cwd: application.folder, ...(way === 'the shell that stays' && { preset: 'minimal' }) })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    return agent
  }

  describe.each(Object.entries(ways))('of %s', (way, write) => {
    it('names the session, its log and Bosun’s own folder', async () => {
      const agent = await created(way)
      const [, id, log = '', home] = /\[(\S+) (\S+) (\S+) 1\]/.exec(await write(agent, 'echo "[$BOSUN_SESSION_ID $BOSUN_SESSION_JSONL $BOSUN_HOME $BOSUN_SHELL]"')) ?? []
      expect([id, home]).toEqual([agent.id, userFolder])
      await agent.session.flush()
      expect(JSON.parse((await readFile(log, 'utf8')).split('\n')[0] ?? '')).toMatchObject({ id: agent.id })
      await agent.dispose()
    }, 30_000)
    it('has what the person set for terminals, where the shell itself needs nothing else, and no secret of it', async () => {
      const agent = await created(way)
      expect(await write(agent, 'echo "[$OF_PERSON $GIT_PAGER ${MY_TOKEN-none} ${LANG-none}]"')).toContain('[mine cat none none]')
      await agent.dispose()
    }, 30_000)
    it('has what plugins add, for the agents of their layer alone, and never a name of ours from them', async () => {
      const [agent, other] = [await created(way), await created(way)]
      const plugin = application.ctx.scoped(agent.scope).on('shell/environment', async (_place, next) => ({ ...(await next()), ADDED: 'yes', NO_COLOR: null, BOSUN_SESSION_ID: 'forged' }))
      const line = 'echo "[$ADDED ${NO_COLOR-none} $BOSUN_SESSION_ID]"'
      expect(await write(agent, line)).toContain(`[yes none ${agent.id}]`)
      expect(await write(other, line)).toMatch(new RegExp(`\\[ (1|none) ${other.id}\\]`))
      plugin()
      await Promise.all([agent.dispose(), other.dispose()])
    }, 30_000)
  })

  it('that a plugin cannot give fails the call, and nothing runs', async () => {
    const agent = await created('a command')
    const undo = application.ctx.scoped(agent.scope).on('shell/environment', () => Promise.reject(new Error('no environment today')))
    expect(outcomeOf(await run(agent, 'bash', { command: 'touch ran', description: 'x' }))).toMatchObject({ message: expect.stringContaining('no environment today') as string })
    undo()
    expect(textOf(await run(agent, 'bash', { command: 'ls ran 2>&1 || true', description: 'x' }))).toContain('No such file')
    await agent.dispose()
  })
})
