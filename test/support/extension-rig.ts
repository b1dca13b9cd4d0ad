import type { BosunApi, Tool } from '../../bosun.d.ts'
import type { Contributions } from '../../extension/capabilities/contributions.ts'
import type { SessionEvent } from '../../extension/core/log/event.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../extension/core/policy/approval.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import { ContributionList } from '../../extension/features/extensions/contribution-list.ts'
import { createRecordingLogger, type RecordingLogger } from './quiet-logger.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAdapter } from './scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from './whole-application.ts'

export interface ExtensionRig {
  readonly application: WholeApplication
  /** Of the list; the application has its own. */
  readonly logger: RecordingLogger
  readonly list: ContributionList
  readonly adapter: ScriptedAdapter
  /** What the person was asked, in order. */
  readonly asked: readonly ApprovalRequest[]
  join(extensionId?: string): BosunApi
  newAgent(preset?: string): Promise<Agent>
  /** The tools that a model of that agent may call. */
  toolsOf(agent: Agent): readonly string[]
  /** One turn in which the model makes one call: the durable result of it. */
  call(agent: Agent, name: string, args?: unknown): Promise<SessionEvent<'tool/result'>['data']>
  dispose(): Promise<void>
}

/** The whole application with the list that other extensions write to, or with `contributions` in its place; `answer` is what the person says to every question. */
export async function extensionRig(options: { readonly answer?: ApprovalAnswer; readonly settings?: Readonly<Record<string, unknown>>; readonly alter?: NonNullable<Parameters<typeof wholeApplication>[0]>['alter']; readonly contributions?: Contributions } = {}): Promise<ExtensionRig> {
  const logger = createRecordingLogger()
  const list = new ContributionList({ version: '1.0.0', logger })
  const adapter = createScriptedAdapter()
  const application = await wholeApplication({
    adapters: [adapter],
    settings: { 'model.provider': 'scripted', 'model.name': 'm1', ...options.settings },
    alter: (world) => ({ ...(options.alter?.(world) ?? world), contributions: options.contributions ?? list }),
  })
  const asked: ApprovalRequest[] = []
  application.ctx.on('approval/request', (request) => {
    asked.push(request)
    return Promise.resolve(options.answer ?? { outcome: 'allowed-once' })
  })
  let calls = 0
  return {
    application,
    logger,
    list,
    adapter,
    asked,
    join: (extensionId = 'acme.sample') => list.join(extensionId),
    newAgent: (preset = 'editor') => application.ctx.agents.create({ cwd: application.folder, preset }),
    toolsOf: ({ scope }) => application.ctx.tools.schemas(scope).map(({ name }) => name),
    async call(agent, name, args = {}) {
      const id = `call-${++calls}`
      adapter.play(callTools({ id, name, args }), sayText('Done.'))
      agent.followup({ id: `m-${calls}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
      await agent.whenIdle()
      const found = agent.session.events().find((event): event is SessionEvent<'tool/result'> => event.type === 'tool/result' && event.data.message.source.callId === id)
      if (found === undefined) throw new Error(`No result of ${name}: ${JSON.stringify(agent.session.events().slice(-3))}`)
      return found.data
    },
    dispose: () => application.dispose(),
  }
}

/** A tool as another extension would write it, sound unless `parts` say otherwise. */
export const countTool = (parts: Partial<Tool> = {}): Tool =>
  ({
    name: 'acme_count',
    description: 'Count the letters of a text.',
    parameters: { text: { type: 'string', required: true } },
    output: {
      schema: { type: 'object', properties: { letters: { type: 'integer', required: true } }, additionalProperties: false },
      render: (_args, value) => [{ type: 'text', text: `${(value as { letters: number }).letters} letters` }],
    },
    execute: (args) => ({ letters: (args as { text: string }).text.length }),
    ...parts,
  })

/** The text that the model reads of a durable result. */
export const textOf = ({ message }: SessionEvent<'tool/result'>['data']): string => message.content[0].content.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('')
