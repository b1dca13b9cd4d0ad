import type { Json } from '../../extension/base/json.ts'
import type { Capabilities } from '../../extension/compose.ts'
import type { SessionEvent } from '../../extension/core/log/event.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../extension/core/policy/approval.ts'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import { createNodeWebPages } from '../../extension/platform/node/web-pages.ts'
import { createPageTextWorker } from '../../extension/platform/node/page-text-worker.ts'
import type { SettingValues } from './memory-settings.ts'
import { callTools, createScriptedAdapter, sayText } from './scripted-adapter.ts'
import { wholeApplication } from './whole-application.ts'

export interface WebRigOptions {
  readonly settings?: SettingValues
  readonly secrets?: Readonly<Record<string, string>>
  readonly alter?: (world: Capabilities) => Capabilities
  /** Addresses by host; this machine for all others. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>
}

/** The whole application with an agent whose model makes the calls it is told to; every name leads to this machine. */
export async function webRig({ settings = {}, secrets = {}, alter = (world) => world, addresses = {} }: WebRigOptions = {}) {
  const textWorker = createPageTextWorker({ entry: new URL('../../extension/platform/node/page-text-main.ts', import.meta.url) })
  const whole = await wholeApplication({
    settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access', ...settings },
    secrets,
    alter: (world) => alter({ ...world, webPages: createNodeWebPages({ textWorker, resolve: (host) => Promise.resolve(addresses[host] ?? ['127.0.0.1']) }) }),
  })
  const adapter = createScriptedAdapter()
  whole.ctx.models.register(adapter)
  const agent = await whole.ctx.agents.create({ cwd: whole.folder })
  const asked: ApprovalRequest[] = []
  const results: ToolResult[] = []
  whole.ctx.on('tools/result', (_exec, result) => void results.push(result))
  let turns = 0
  /** One turn of a model that makes these calls at once. */
  const turn = async (...calls: readonly { readonly name: string; readonly args: object }[]): Promise<readonly SessionEvent[]> => {
    const before = agent.session.length
    turns += 1
    adapter.play(callTools(...calls.map((call, index) => ({ id: `c${turns}-${index}`, ...call }))), sayText('Done.'))
    agent.followup({ id: `p${turns}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
    return agent.session.events(before)
  }
  return {
    ...whole,
    whole,
    adapter,
    agent,
    asked,
    answer: (give: (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>) =>
      whole.ctx.on('approval/request', (request) => {
        asked.push(request)
        return Promise.resolve(give(request))
      }),
    turn,
    /** Through the pipeline, without a model. */
    call: (name: string, args: Json, signal: AbortSignal = new AbortController().signal) => whole.ctx.tools.execute({ callId: 'call', name, arguments: args, agent, signal }),
    /** What one call of a model came to. */
    result: async (name: string, args: object): Promise<ToolResult> => {
      results.length = 0
      await turn({ name, args })
      const [result] = results
      if (result === undefined) throw new Error(`${name} gave no result`)
      return result
    },
    tools: () => whole.ctx.tools.schemas(agent.scope).map(({ name }) => name),
  }
}
