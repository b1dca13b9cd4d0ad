import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import type { Json } from '../../extension/base/json.ts'
import type { CodeLimits } from '../../extension/capabilities/code-runtime.ts'
import type { Application, Capabilities } from '../../extension/compose.ts'
import type { ModelAdapter } from '../../extension/core/model/contract.ts'
import type { SessionEvent } from '../../extension/core/log/event.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../extension/core/policy/approval.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type {} from '../../extension/features/dynamic-plugins/events.ts'
import type { CordisCode, RunRequest } from '../../extension/features/dynamic-plugins/service.ts'
import { prompt, textOf } from './loop-rig.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAnswer } from './scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from './whole-application.ts'

export interface PluginRigOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly preset?: string
  readonly answer?: (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>
  readonly isTrusted?: () => boolean
  /** Where an earlier rig kept everything. */
  readonly home?: string
}

/** Long enough for a machine that others use too. */
const SLICE_MS = 2_000
/** Longer waits than this are those of plugins, which a test lets go by. */
const LONGEST_REAL_WAIT_MS = 2_000

/**
 * The whole application with plugins on: real machines for host halves, real files, the real pipeline. Only the model, the person, the
 * long waits and the slice of a machine, which is shorter, are a test's. `session` begins a session of its own, with a script of its own.
 */
export async function createPluginWorld({ settings = {}, preset = 'creator', answer = () => ({ outcome: 'allowed-once' }), isTrusted = () => true, home: known }: PluginRigOptions = {}) {
  const home = known ?? (await realpath(await mkdtemp(join(tmpdir(), 'bosun-plugins-'))))
  await mkdir(join(home, 'work'), { recursive: true })
  let adapter = createScriptedAdapter()
  const model: ModelAdapter = { ...adapter, stream: (request) => adapter.stream(request) }
  const limits: CodeLimits[] = []
  const waits = new Set<{ readonly delayMs: number; readonly fire: () => void }>()
  const trust = new Set<() => void>()
  let held: Promise<void> = Promise.resolve()
  const alter = (world: Capabilities): Capabilities => ({
    ...world,
    workspace: { ...world.workspace, isTrusted, onDidChangeTrust: (listener) => (trust.add(listener), () => trust.delete(listener)) },
    codeRuntime: {
      ...world.codeRuntime,
      async run(program) {
        limits.push(program.limits)
        await held
        return world.codeRuntime.run({ ...program, limits: { ...program.limits, sliceMs: SLICE_MS } })
      },
    },
    clock: {
      ...world.clock,
      schedule(delayMs, fire) {
        if (delayMs < LONGEST_REAL_WAIT_MS) return world.clock.schedule(delayMs, fire)
        const wait = { delayMs, fire }
        waits.add(wait)
        return () => void waits.delete(wait)
      },
    },
  })
  const application: WholeApplication = await wholeApplication({ home, adapters: [model], alter, settings: { 'dynamicPlugins.enabled': true, 'model.provider': 'scripted', 'model.name': 'm1', ...settings } })
  let asked: ApprovalRequest[] = []

  async function begin({ ctx }: Application) {
    await ctx.plugin({ name: 'ready', inject: ['codeMode', 'agents', 'presets', 'tools', 'dynamicPlugins', 'skills', 'commands', 'references'], apply: () => {} }).ready
    ctx.approvals.attach()
    ctx.on('approval/request', async (request) => {
      asked.push(request)
      return answer(request)
    })
    return ctx
  }
  let ctx = await begin(application)

  async function session(existing?: Agent, begun?: typeof adapter) {
    adapter = begun ?? createScriptedAdapter()
    if (begun === undefined) asked = []
    limits.length = 0
    const script = adapter
    const agent = existing ?? (await ctx.agents.create({ cwd: application.folder, preset }))
    const { dynamicPlugins: plugins } = ctx
    const define = async (code: CordisCode, { on = agent, id, name = 'A plugin' }: { readonly on?: Agent; readonly id?: string; readonly name?: string } = {}) =>
      plugins.define(on, { plugin: id === undefined ? { kind: 'new', idPrefix: 'test' } : { kind: 'existing', pluginId: id }, name, purpose: 'For a test', code })
    const run = ({ pluginId, packageId, mode }: RunRequest, { on = agent, signal = new AbortController().signal }: { readonly on?: Agent; readonly signal?: AbortSignal } = {}) => plugins.run(on, { pluginId, packageId, mode }, signal)
    const turn = async (...more: readonly ScriptedAnswer[]) => {
      script.play(...more, sayText('done'))
      agent.followup(prompt('go'))
      await agent.whenIdle()
    }
    return {
      application, home, ctx, plugins, agent, adapter: script, asked, limits, define, run, turn,
      /** Define and run. */
      async started(code: CordisCode, more: { readonly on?: Agent } = {}) {
        const { pluginId, packageId } = await define(code, more)
        return { pluginId, packageId, ...(await run({ pluginId, packageId, mode: 'run' }, more)) }
      },
      /** One call of the model, in a turn of its own. */
      async call(name: string, args: Json) {
        await turn(callTools({ id: null, name, args }))
        const result = agent.session.events().findLast((event) => event.type === 'tool/result') as SessionEvent<'tool/result'>
        return { text: textOf(result.data.message), code: result.data.error?.code, isError: result.data.message.content[0].isError, policy: result.data.policy, meta: result.data.meta }
      },
      facts: (pluginId: string, on = agent) => plugins.list(on).find((plugin) => plugin.pluginId === pluginId),
      toolNames: (on = agent) => ctx.tools.list(on.scope).map(({ name }) => name),
      /** What its log says of plugins, a line each. */
      lines: (on = agent) =>
        on.session.events().flatMap((event) => {
          if (event.type === 'cordis/package') return [`${event.data.pluginId} ${event.data.packageId} defined`]
          if (event.type === 'cordis/approval') return [`${event.data.approvalId} ${event.data.pluginId} ${event.data.packageId} ${event.data.outcome}${event.data.isForAllVersions === true ? ' for all' : ''}`]
          if (event.type === 'cordis/run') return [`${event.data.pluginId} ${event.data.packageId} ${event.data.runId} ${event.data.state}`]
          if (event.type === 'cordis/removed') return [`${event.data.pluginId} removed`]
          return []
        }),
      /** What the model was told by the feature, oldest first. */
      told: (on = agent) =>
        on.session.events().flatMap((event) => (event.type === 'user/message' && event.data.source.kind === 'plugin' && event.data.source.plugin === 'dynamic-plugins' ? [textOf(event.data)] : [])),
      /** The lines that the person sees over those. */
      summaries: (on = agent) =>
        on.session.events().flatMap((event) => (event.type === 'user/message' && event.data.source.kind === 'plugin' && event.data.source.plugin === 'dynamic-plugins' ? [event.data.source.summary] : [])),
      /** Let every wait of so many milliseconds end; how many did. */
      pass(delayMs: number) {
        const due = [...waits].filter((wait) => wait.delayMs === delayMs)
        for (const wait of due) waits.delete(wait)
        for (const { fire } of due) fire()
        return due.length
      },
      /** Machines begin only when the result is called. */
      hold() {
        const { promise, resolve } = Promise.withResolvers<void>()
        held = promise
        return resolve
      },
      changeTrust: () => trust.forEach((listener) => listener()),
      /** The window goes and another one opens the session again; `answers` are for what stood open. */
      async reopened(...answers: readonly ScriptedAnswer[]) {
        ctx = await begin(await application.restart())
        const next = createScriptedAdapter()
        next.play(...answers)
        adapter = next
        asked = []
        return session(await ctx.agents.resume(agent.id), next)
      },
    }
  }
  return { application, session }
}

export type PluginRig = Awaited<ReturnType<Awaited<ReturnType<typeof createPluginWorld>>['session']>>

/**
 * Sessions for the tests of a file, each disposed after its test. Most share one world; a test that gives options has one for itself.
 * `take` has another session disposed in the place of the one that was begun.
 */
export function usePluginSessions() {
  type World = Awaited<ReturnType<typeof createPluginWorld>>
  let shared: World | undefined
  let own: World | undefined
  let rig: PluginRig | undefined
  afterEach(async () => {
    await rig?.agent.dispose()
    await own?.application.dispose()
    own = undefined
  })
  afterAll(() => shared?.application.dispose())
  return {
    async start(options?: PluginRigOptions): Promise<PluginRig> {
      const world = options === undefined ? (shared ??= await createPluginWorld()) : (own = await createPluginWorld(options))
      return (rig = await world.session())
    },
    take: (other: PluginRig): PluginRig => (rig = other),
  }
}

/** A host half with one tool that greets who it is given. */
export const helloHost = 'harness.tool({ name: "hello", description: "Says hello.", parameters: { who: { type: "string" } }, execute: ({ who }) => (who === undefined ? "hello" : `hello ${who}`) })\n'

/** How work failed: its code and its words; `ended` for what did not fail. */
export async function failure(work: Promise<unknown>): Promise<{ readonly code?: string | undefined; readonly message?: string; readonly ended?: unknown }> {
  const error: unknown = await work.then((value) => ({ value }), (thrown: unknown) => thrown)
  return error instanceof Error ? { code: (error as { code?: string }).code, message: error.message } : { ended: error }
}
