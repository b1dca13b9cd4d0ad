import { Emitter } from '../../base/emitter.ts'
import { jsonEquals, type Json } from '../../base/json.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Context, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/log/event-types.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/policy/permissions.ts'
import type { Agent } from '../../core/session/agent.ts'
import { settings } from '../../core/settings/specs.ts'
import type { Execution, PostExecuteDecision, PreExecuteAnswer, ToolResult } from '../../core/tools/definition.ts'
import type {} from '../../core/tools/service.ts'
import { hookEventTypes } from './events.ts'
import { hookFileNames, hookRoots, readHookFiles, type HookFileNeeds } from './hook-files.ts'
import { hookInput, sampleMoment, subjectOf, type HookPlace, type Moment } from './hook-input.ts'
import type { Hook, HookFile } from './hook.ts'
import { matches, toolNames } from './match.ts'
import { fitted, foldOutcomes, outcomeOf, type HookOutcome, type HookRun } from './outcome.ts'
import { runHook, type HookFolders, type HookRunnerNeeds } from './run-hook.ts'
import type { HookReport, Hooks } from './service.ts'

export interface HooksPluginNeeds extends HookFileNeeds, Omit<HookRunnerNeeds, 'machine'> {
  readonly machine: Machine
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted' | 'onDidChangeTrust' | 'onDidChangeFolders' | 'onDidChangeFiles'>
  readonly logger: Logger
  /** Where a session's log stands, for hooks that read it. */
  readonly logPath: (sessionId: string) => string
}

/** Blocks of a turn's end in a row after which it ends all the same: a hook that never lets go must not run for ever. */
export const MAX_STOP_BLOCKS = 3
/** Time for the hooks of a session's end, which the window waits for. */
const endTimeoutMs = 3_000
const maxStderrSummary = 500

/**
 * Runs the commands of existing agent configurations, and Bosun's own, at the moments of a session.
 *
 * They can only make things stricter: what a hook allows is judged like everything else. No command runs before the person has seen it
 * and let it run; one that changes waits again. Those of every folder of the window are read,
 * and in a window that is not trusted only the person's own.
 * Source: runtime specification 20.
 */
export function hooksPlugin(needs: HooksPluginNeeds): Plugin {
  return {
    name: 'hooks',
    inject: ['settings', 'eventTypes'],
    apply(ctx) {
      for (const [type, rules] of Object.entries(hookEventTypes)) ctx.effect(ctx.eventTypes.register(type as keyof typeof hookEventTypes, rules))
      const runner = new HookRunner(ctx, needs)
      ctx.provide('hooks', runner)
      attach(ctx, runner, needs)
      return () => runner.dispose()
    },
  }
}

function attach(ctx: Context, runner: HookRunner, { machine, logger, workspace }: HooksPluginNeeds): void {
  const message = (text: string, summary: string, form: 'notice' | 'instructions' = 'notice'): UserMessage =>
    noticeMessage({ id: machine.randomId(), plugin: 'hooks', text, summary, form })
  const contextOf = (outcome: HookOutcome, point: string) => (outcome.context === undefined ? [] : [message(outcome.context, `Context of a ${point} hook`)])
  /** A hook may end the whole turn at any moment of it. */
  const endIfAsked = (agent: Agent, outcome: HookOutcome): void => {
    if (outcome.stop !== undefined) agent.cancel({ kind: 'hook', reason: outcome.stop }, { keepInbox: true })
  }
  const detached = (agent: Agent, moment: Moment): void =>
    runner.track(agent, async (signal) => {
      const outcome = await runner.run(agent, moment, { signal, turn: undefined })
      if (outcome.context !== undefined && !agent.isDisposed) agent.inject(message(outcome.context, `Context of a ${moment.point} hook`))
    })

  ctx.on('agent/session-start', (agent, source) => {
    if (agent.owner === undefined) detached(agent, { point: 'SessionStart', source })
    else detached(agent, { point: 'SubagentStart', agentId: agent.id })
  })
  ctx.on('session/event', (session, event) => {
    if (event.type !== 'compaction/start') return
    const agent = ctx.get('agents')?.live(session.id)
    if (agent !== undefined) detached(agent, { point: 'PreCompact', trigger: event.data.turn === null ? 'manual' : 'auto' })
  })

  ctx.on('agent/pre-step', async (place, next) => {
    const { agent, turn, step, signal, messages } = place
    if (step === 1) await runner.refresh(agent)
    const prompt = messages.filter(({ source }) => source.kind === 'user').map(textOf).join('\n\n')
    if (prompt === '') return await next()
    const outcome = await runner.run(agent, { point: 'UserPromptSubmit', prompt }, { signal, turn })
    if (outcome.verdict === 'deny' || outcome.stop !== undefined) return { kind: 'reject' }
    const decision = await next()
    return decision.kind === 'enter' ? { ...decision, messages: [...decision.messages, ...contextOf(outcome, 'UserPromptSubmit')] } : decision
  })

  const judged = new WeakMap<object, { readonly outcome: HookOutcome; readonly of: Json }>()
  ctx.on(
    'tools/pre-execute',
    (exec, next) => (exec.agent === undefined || (!judged.has(exec.token) && runner.isSilent(exec.agent, 'PreToolUse')) ? next() : judge(exec, exec.agent, next)),
    { prepend: true },
  )

  async function judge(exec: Execution, agent: Agent, next: () => Promise<PreExecuteAnswer>): Promise<PreExecuteAnswer> {
    const { token, name, callId, signal } = exec
    // What a hook made of it comes around again, and was seen already; what the person made of it was not.
    const last = judged.get(token)
    const seen = last !== undefined && jsonEquals(last.of, exec.arguments) ? last.outcome : undefined
    const outcome = seen ?? (await runner.run(agent, { point: 'PreToolUse', tool: name, input: exec.arguments, callId }, { signal, turn: runner.turnOf(agent) }))
    judged.set(token, { outcome, of: outcome.updatedInput ?? exec.arguments })
    endIfAsked(agent, outcome)
    if (outcome.verdict === 'deny' || outcome.stop !== undefined) return { kind: 'deny', reason: outcome.reason ?? outcome.stop ?? 'A hook does not allow this.' }
    const { updatedInput } = outcome
    if (seen === undefined && updatedInput !== undefined && !jsonEquals(updatedInput, exec.arguments)) return { kind: 'rewrite', arguments: updatedInput, by: 'a hook' }
    const others = await next()
    const isAsked = outcome.verdict === 'ask' && others.kind === 'allow'
    return isAsked ? { kind: 'ask', reason: outcome.reason ?? 'A hook asks you to look at this first.' } : others
  }

  ctx.on('tools/post-execute', async (exec, result, next): Promise<PostExecuteDecision> => {
    const decision = await next()
    if (exec.agent !== undefined && !judged.has(exec.token) && runner.isSilent(exec.agent, 'PostToolUse')) return decision
    const preContext = contextOf(judged.get(exec.token)?.outcome ?? { verdict: 'none' }, 'PreToolUse')
    if (exec.agent === undefined || decision.kind === 'block') return withContexts(decision, preContext)
    const outcome = await runner.run(exec.agent, momentAfter(exec, result), { signal: exec.signal, turn: runner.turnOf(exec.agent) })
    endIfAsked(exec.agent, outcome)
    const contexts = [...preContext, ...contextOf(outcome, 'PostToolUse')]
    if (outcome.verdict !== 'deny') return withContexts(decision, contexts)
    return { kind: 'block', feedback: outcome.reason ?? 'A hook refused this result.', additionalContexts: [...(decision.additionalContexts ?? []), ...contexts] }
  })

  const blocks = new WeakMap<Agent, { readonly turn: number; readonly count: number }>()
  ctx.on('agent/turn-stopping', async ({ agent, turn, signal }) => {
    const before = blocks.get(agent)
    const count = before?.turn === turn ? before.count : 0
    const point = agent.owner === undefined ? 'Stop' : 'SubagentStop'
    const outcome = await runner.run(agent, { point, isContinued: count > 0, lastText: lastTextOf(agent) }, { signal, turn })
    if (outcome.verdict !== 'deny' || outcome.stop !== undefined) return
    if (count >= MAX_STOP_BLOCKS) {
      logger.warn('Stop hooks held a turn back too often in a row; it ends all the same.', { session: agent.id, blocks: count })
      return
    }
    blocks.set(agent, { turn, count: count + 1 })
    agent.steer(message(outcome.reason ?? 'A hook asks you to go on.', 'A Stop hook asks to go on'))
  })

  ctx.on('agent/disposing', async (agent) => {
    if (agent.owner !== undefined) return
    await runner.run(agent, { point: 'SessionEnd', reason: 'other' }, { signal: new AbortController().signal, turn: undefined, timeoutMs: endTimeoutMs })
  })
  ctx.on('agent/disposed', (agent) => runner.forget(agent))
  ctx.effect(workspace.onDidChangeTrust(() => runner.forgetFiles()))
  ctx.effect(workspace.onDidChangeFolders(() => runner.forgetFiles()))
  const unwatch = workspace.onDidChangeFiles?.(hookFileNames, () => runner.forgetFiles())
  if (unwatch) ctx.effect(unwatch)
}

/** The hook files of a folder: `files` once they are read. */
interface Reading {
  readonly whole: Promise<readonly HookFile[]>
  files?: readonly HookFile[]
}

interface RunOptions {
  readonly signal: AbortSignal
  /** Undefined outside a turn, where nothing is logged. */
  readonly turn: number | undefined
  readonly timeoutMs?: number
}

class HookRunner implements Hooks {
  readonly #ctx: Context
  readonly #needs: HooksPluginNeeds
  /** By folder; absent: to be read. */
  readonly #files = new Map<string, Reading>()
  readonly #turns = new WeakMap<Agent, number>()
  readonly #detached = new Map<Agent, Set<Promise<void>>>()
  readonly #stop = new AbortController()
  readonly #changes: Emitter<{ readonly cwd: string; readonly waiting: readonly HookFile[] }>

  constructor(ctx: Context, needs: HooksPluginNeeds) {
    this.#ctx = ctx
    this.#needs = needs
    this.#changes = new Emitter((error) => needs.logger.error('A listener for hooks failed.', { error: String(error) }))
  }

  async report(cwd: string): Promise<HookReport> {
    if (!this.#isEnabled()) return { files: [], skipped: [], note: 'Hooks are turned off by the setting bosun.hooks.enabled.' }
    this.#files.delete(cwd)
    const files = await this.#read(cwd)
    const note = this.#needs.workspace.isTrusted() ? undefined : 'The folder is not trusted, so hooks of the project are not read.'
    return {
      files: files.filter(({ hooks }) => hooks.length > 0).map((file) => ({ ...file, state: this.#isAllowed(file) ? 'runs' : 'waits' })),
      skipped: files.flatMap(({ skipped }) => skipped),
      ...(note !== undefined && { note }),
    }
  }

  async dryRun(cwd: string, { point, subject = '', input = {} }: Parameters<Hooks['dryRun']>[1]): ReturnType<Hooks['dryRun']> {
    const moment = sampleMoment(point, subject, input)
    const files = this.#isEnabled() ? await this.#read(cwd) : []
    const place = { sessionId: 'session', transcriptPath: this.#needs.logPath('session'), cwd, mode: 'workspace-write' } as const
    return files.flatMap((file) =>
      hooksAt(file, moment).map(({ id, dialect, command }) => ({
        id,
        dialect,
        command,
        ...(file.root?.label !== undefined && { root: file.root.label }),
        state: this.#isAllowed(file) ? ('runs' as const) : ('waits' as const),
        stdin: JSON.stringify(hookInput(dialect, moment, place)),
      })),
    )
  }

  async allow(files: Parameters<Hooks['allow']>[0]): Promise<void> {
    const before = this.#ctx.settings.get(settings.hooksAllowed)
    await this.#ctx.settings.update({ key: settings.hooksAllowed.key, value: [...new Set([...before, ...files.map(({ digest }) => digest)])] })
    for (const cwd of this.#files.keys()) await this.#tell(cwd)
  }

  onDidChange(listener: Parameters<Hooks['onDidChange']>[0]): ReturnType<Hooks['onDidChange']> {
    return this.#changes.listen(({ cwd, waiting }) => listener(cwd, waiting))
  }

  /** It is known, without a wait, that nothing runs at such a moment of the agent. */
  isSilent({ session }: Agent, point: Moment['point']): boolean {
    const { cwd } = session.header
    if (cwd === undefined || !this.#isEnabled()) return true
    return this.#files.get(cwd)?.files?.every((file) => file.hooks.every((hook) => hook.point !== point) || !this.#isAllowed(file)) === true
  }

  /** All hooks of a moment, one after the other, as one outcome. What fails or is stopped holds nothing back; whoever stopped it ends the rest. */
  async run(agent: Agent, moment: Moment, options: RunOptions): Promise<HookOutcome> {
    try {
      return await this.#runAll(agent, moment, options)
    } catch (error) {
      if (options.signal.aborted || this.#stop.signal.aborted) return { verdict: 'none' }
      throw error
    }
  }

  async #runAll(agent: Agent, moment: Moment, options: RunOptions): Promise<HookOutcome> {
    const { cwd } = agent.session.header
    if (options.turn !== undefined) this.#turns.set(agent, options.turn)
    if (cwd === undefined || !this.#isEnabled()) return { verdict: 'none' }
    const files = await this.#read(cwd)
    const outcomes: HookOutcome[] = []
    for (const file of files) {
      if (!this.#isAllowed(file)) continue
      for (const hook of hooksAt(file, moment)) {
        const projectFolder = file.root?.path ?? cwd
        outcomes.push(await this.#runOne(agent, hook, { ...moment, ...rewritten(moment, outcomes) }, { ...options, cwd, projectFolder }))
      }
    }
    return outcomes.length === 0 ? { verdict: 'none' } : foldOutcomes(outcomes)
  }

  async #runOne(agent: Agent, hook: Hook, moment: Moment, { signal, turn, timeoutMs, ...folders }: RunOptions & HookFolders): Promise<HookOutcome> {
    const { point, dialect, matcher, id: handlerId } = hook
    const { session } = agent
    if (turn !== undefined) session.append({ type: 'hook/invoked', ignorable: true, data: { turn, point, dialect, handlerId, ...(matcher !== '' && { matcher }) } })
    const allowance = Math.min(hook.timeoutMs ?? Infinity, this.#ctx.settings.get(settings.hooksTimeoutMs), timeoutMs ?? Infinity)
    const any = AbortSignal.any([signal, this.#stop.signal])
    let run: HookRun
    try {
      run = await runHook(this.#needs, hook, { ...folders, stdin: `${JSON.stringify(hookInput(dialect, moment, this.#placeOf(agent, folders.cwd)))}\n`, timeoutMs: allowance, signal: any })
    } catch (error) {
      if (turn !== undefined && session.access === 'write') session.append({ type: 'hook/result', ignorable: true, data: { turn, point, handlerId, decision: 'cancelled', durationMs: 0 } })
      throw error
    }
    const outcome = outcomeOf(point, dialect, run)
    const { verdict, reason, systemMessage } = outcome
    if (verdict === 'failed') this.#needs.logger.warn('A hook failed; it holds nothing back.', { hook: handlerId, reason: fitted(reason ?? '') })
    const why = [verdict === 'none' || verdict === 'allow' ? undefined : reason, systemMessage].filter((text) => text !== undefined).join('\n')
    if (turn !== undefined) {
      const stderr = run.stderr.trim()
      session.append({
        type: 'hook/result',
        ignorable: true,
        data: {
          turn,
          point,
          handlerId,
          decision: run.timedOut ? 'timed-out' : verdict,
          ...(run.exitCode !== null && { exitCode: run.exitCode }),
          ...(stderr !== '' && { stderrSummary: Array.from(stderr).slice(0, maxStderrSummary).join('') }),
          durationMs: run.durationMs,
          ...(why !== '' && { reason: fitted(why) }),
        },
      })
    }
    return outcome
  }

  turnOf(agent: Agent): number | undefined {
    return this.#turns.get(agent)
  }

  /** Read anew at the start of a turn; tells when commands wait for consent. */
  async refresh(agent: Agent): Promise<void> {
    const { cwd } = agent.session.header
    if (cwd === undefined || !this.#isEnabled()) return
    this.#files.delete(cwd)
    await this.#tell(cwd)
  }

  /** Work that nobody waits for but the end of the agent. */
  track(agent: Agent, work: (signal: AbortSignal) => Promise<void>): void {
    const all = this.#detached.get(agent) ?? new Set()
    this.#detached.set(agent, all)
    const running = work(this.#stop.signal)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#needs.logger.warn('A hook could not run.', { session: agent.id, error: String(error) })
      })
      .finally(() => void all.delete(running))
    all.add(running)
  }

  forget(agent: Agent): void {
    this.#turns.delete(agent)
  }

  forgetFiles(): void {
    this.#files.clear()
  }

  async dispose(): Promise<void> {
    this.#stop.abort(new Error('Hooks are going.'))
    await Promise.all([...this.#detached.values()].flatMap((all) => [...all]))
  }

  #isEnabled(): boolean {
    return this.#ctx.settings.get(settings.hooksEnabled)
  }

  #isAllowed({ digest }: HookFile): boolean {
    return this.#ctx.settings.get(settings.hooksAllowed).includes(digest)
  }

  #read(cwd: string): Promise<readonly HookFile[]> {
    const known = this.#files.get(cwd)
    if (known) return known.whole
    const whole = readHookFiles(this.#needs, hookRoots(cwd, this.#needs.workspace.folders()), { dialects: this.#ctx.settings.get(settings.hooksSources), isTrusted: this.#needs.workspace.isTrusted() })
    const reading: Reading = { whole: whole.then((files) => (reading.files = files)) }
    this.#files.set(cwd, reading)
    return reading.whole
  }

  async #tell(cwd: string): Promise<void> {
    const waiting = (await this.#read(cwd)).filter((file) => file.hooks.length > 0 && !this.#isAllowed(file))
    this.#changes.emit({ cwd, waiting })
  }

  #placeOf(agent: Agent, cwd: string): HookPlace {
    const mode = this.#ctx.get('permissions')?.modeOf(agent.id) ?? 'workspace-write'
    return { sessionId: agent.id, transcriptPath: this.#needs.logPath(agent.id), cwd, mode }
  }
}

/** The hooks of a file that a moment concerns, in order. */
function hooksAt({ hooks }: HookFile, moment: Moment): readonly Hook[] {
  const subject = subjectOf(moment)
  const names = moment.point === 'PreToolUse' || moment.point === 'PostToolUse' ? toolNames(subject) : [subject]
  return hooks.filter(({ point, matcher, dialect }) => point === moment.point && (subject === '' || matches(dialect, matcher, names)))
}

/** A later hook of the same call sees what an earlier one made of the arguments. */
function rewritten(moment: Moment, outcomes: readonly HookOutcome[]): { readonly input?: Json } {
  const input = outcomes.findLast(({ updatedInput }) => updatedInput !== undefined)?.updatedInput
  return moment.point === 'PreToolUse' && input !== undefined ? { input } : {}
}

const momentAfter = ({ name, arguments: input, callId }: Execution, result: ToolResult): Moment => ({
  point: 'PostToolUse',
  tool: name,
  input,
  callId,
  response: { text: result.content.map((block) => (block.type === 'text' ? block.text : '')).join(''), isError: result.isError },
})

function withContexts(decision: PostExecuteDecision, contexts: readonly UserMessage[]): PostExecuteDecision {
  return contexts.length === 0 ? decision : { ...decision, additionalContexts: [...(decision.additionalContexts ?? []), ...contexts] }
}

const textOf = ({ content }: Pick<UserMessage, 'content'>): string => content.map((block) => (block.type === 'text' ? block.text : '')).join('')

function lastTextOf({ session }: Agent): string {
  const last = session.messages().findLast(({ role }) => role === 'assistant')
  return last?.role === 'assistant' ? last.content.map((block) => (block.type === 'text' ? block.text : '')).join('') : ''
}

