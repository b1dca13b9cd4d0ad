import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import { wholeApplication, type WholeApplication } from '../../../support/whole-application.ts'

let application: WholeApplication
beforeAll(async () => {
  application = await wholeApplication()
})
afterAll(() => application.dispose())

const agentOf = (preset: string): Promise<Agent> => application.ctx.agents.create({ cwd: application.folder, preset })
const toolsOf = ({ scope }: Agent) => application.ctx.tools.schemas(scope)
const assembled = (agent: Agent) =>
  application.ctx.systemPrompt.assemble({ agent, scope: agent.scope, provider: 'deepseek-official', model: 'deepseek-v4-pro', cwd: application.folder, step: 1 })
const bytes = (text: string) => new TextEncoder().encode(text).length

describe('in the whole application', () => {
  it.each(['standard', 'editor'])('the preset %s says and declares no more than fits', async (preset) => {
    const agent = await agentOf(preset)
    expect(bytes((await assembled(agent)).system)).toBeLessThanOrEqual(4000)
    expect(bytes(JSON.stringify(toolsOf(agent)))).toBeLessThanOrEqual(18_000)
  })
  it('the preset ask can read and search and change nothing', async () => {
    const agent = await agentOf('ask')
    expect(toolsOf(agent).map(({ name }) => name)).toEqual(['ask_user_question', 'glob', 'grep', 'read', 'read_image'])
    const { system } = await assembled(agent)
    expect(system).not.toMatch(/\b(edit|write|bash|todo_write|run_in_background)\b says|Prefer edit|Keep a list/)
    const result = await application.ctx.tools.execute({ callId: 'a', name: 'write', arguments: { file_path: 'x', content: 'x' }, agent, signal: AbortSignal.timeout(5000) })
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'UNKNOWN_TOOL' } } })
  })
  it('the prompt of an agent stays the same byte for byte', async () => {
    const agent = await agentOf('standard')
    const [one, two] = [await assembled(agent), await assembled(agent)]
    expect([two.system, toolsOf(agent)]).toEqual([one.system, toolsOf(agent)])
    expect(toolsOf(agent)).toBe(toolsOf(agent))
  })
})
