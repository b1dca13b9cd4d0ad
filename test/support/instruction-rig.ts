import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Application, Capabilities } from '../../extension/compose.ts'
import type { InstructionReport } from '../../extension/features/instructions/service.ts'
import type { UserMessage } from '../../extension/core/log/message.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { ToolDefinition } from '../../extension/core/tools/definition.ts'
import type { SettingValues } from './memory-settings.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAdapter, type ScriptedAnswer, type ScriptedCall } from './scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from './whole-application.ts'

export interface InstructionRig {
  readonly application: WholeApplication
  /** Of the application that runs now, after a restart too. */
  readonly ctx: Application['ctx']
  /** The workspace folder. */
  readonly folder: string
  readonly agent: Agent
  readonly adapter: ScriptedAdapter
  /** Write files below the workspace folder, or at absolute paths. */
  write(files: Readonly<Record<string, string | Uint8Array>>): Promise<void>
  remove(path: string): Promise<void>
  /** One turn of the person: what the model was told of instruction files in it, one text a message. */
  say(text: string, ...answers: readonly ScriptedAnswer[]): Promise<readonly string[]>
  /** A turn in which the model makes one call. */
  call(name: string, args: object): Promise<readonly string[]>
  /** Path, state and reason, one line a file. */
  rows(): Promise<readonly string[]>
  report(): Promise<InstructionReport>
  /** Replace everything the model sees by one message, as a compaction does. */
  compact(): void
  restart(): Promise<void>
}

interface RigOptions {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  readonly settings?: SettingValues
  readonly preset?: string
  /** Registered before the session begins. */
  readonly tools?: readonly ToolDefinition[]
  /** Names of the folder below the workspace folder that the session works in. */
  readonly cwd?: string
  readonly alter?: (world: Capabilities) => Capabilities
}

/** The whole application over a fresh folder, with a model that says what it is told to. */
export async function instructionRig(options: RigOptions = {}): Promise<InstructionRig> {
  const application = await wholeApplication({
    settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access', ...options.settings },
    ...(options.alter && { alter: options.alter }),
  })
  const { folder } = application
  const adapter = createScriptedAdapter()
  let ctx: Application['ctx'] = application.ctx
  let calls = 0
  let prompts = 0
  ctx.models.register(adapter)
  for (const tool of options.tools ?? []) ctx.tools.register(tool)
  const write = async (files: Readonly<Record<string, string | Uint8Array>>) => {
    for (const [path, content] of Object.entries(files)) {
      const full = path.startsWith('/') ? path : join(folder, path)
      await mkdir(dirname(full), { recursive: true })
      await writeFile(full, content)
    }
  }
  await write(options.files ?? {})
  const cwd = join(folder, options.cwd ?? '')
  let agent = await ctx.agents.create({ cwd, ...(options.preset !== undefined && { preset: options.preset }) })
  const rig: InstructionRig = {
    application,
    folder,
    adapter,
    get ctx() {
      return ctx
    },
    get agent() {
      return agent
    },
    write,
    remove: (path) => rm(join(folder, path), { recursive: true, force: true }),
    async say(text, ...answers) {
      const before = agent.session.length
      adapter.play(...answers, sayText('Done.'))
      agent.followup(promptOf(text, ++prompts))
      await agent.whenIdle()
      const end = agent.session.events(before).findLast(({ type }) => type === 'turn/end')
      if (end?.type !== 'turn/end' || end.data.reason.kind !== 'completed') throw new Error(JSON.stringify(end))
      return agent.session.events(before).flatMap((event) => (event.type === 'user/message' ? instructionsIn(event.data) : []))
    },
    call: (name, args) => rig.say(`call ${name}`, callTools(callOf(`c${++calls}`, name, args))),
    async rows() {
      return (await rig.report()).rows.map(({ path, state, reason }) => `${path.replace(`${folder}/`, '')} ${state}${reason === undefined ? '' : `: ${reason}`}`)
    },
    report: () => ctx.instructions.report({ session: agent.session }),
    compact() {
      const { nodes } = agent.session.surface()
      agent.session.append({
        type: 'user/message',
        surfaceOp: { op: 'replace', start: 0, end: nodes.length - 1 },
        sourceEventSeqs: nodes.map(({ seq }) => seq),
        data: { id: 'summary', role: 'user', content: [{ type: 'text', text: 'What was before.' }], source: { kind: 'plugin', plugin: 'test' } },
      })
    },
    async restart() {
      ctx = (await application.restart()).ctx
      ctx.models.register(adapter)
      agent = await ctx.agents.resume(agent.id)
    },
  }
  return rig
}

const callOf = (id: string, name: string, args: object): ScriptedCall => ({ id, name, args })

const promptOf = (text: string, number: number): UserMessage => ({ id: `prompt ${number}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })

const instructionsIn = ({ source, content }: UserMessage): readonly string[] =>
  source.kind === 'agent-instructions' ? content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : []
