import { isErrorOf } from '../../base/harness-error.ts'
import type { Fiber } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { BookParts } from './book-parts.ts'
import { DRAW_MS, MAX_RUNNING, MAX_RUNNING_IN_ALL } from './caps.ts'
import { nothingDeclared } from './declared.ts'
import { DynamicPluginError } from './error.ts'
import { inFlight, namesOf, type Held, type Run, type SessionPlugins, type Transition } from './held.ts'
import { HostRun, wordsOf } from './host-run.ts'
import { observedEvents } from './observed-events.ts'
import type { Records } from './records.ts'
import { createRunTools } from './run-tools.ts'
import type { ClientEvent, RunRequest, RunStarted } from './service.ts'

/** See `createTransitions`. */
export type Transitions = ReturnType<typeof createTransitions>

/** A plugin comes to run, is replaced or fails at it: one transition of a plugin at a time. */
export function createTransitions(parts: BookParts, { records, onEmit }: { readonly records: Records; readonly onEmit: (event: ClientEvent) => void }) {
  const { codeRuntime, clock, dispatch, inspectors, mount: mountPlugin } = parts
  const { sessions, report, frameChanges, pluginChanges, mustBeOn, sessionOf, heldOf, packageOf, logRun, tell, news } = records
  const { toolsOf } = createRunTools(parts)

  async function run(agent: Agent, { pluginId, packageId, mode }: RunRequest, signal: AbortSignal): Promise<RunStarted> {
    mustBeOn(agent)
    signal.throwIfAborted()
    const session = sessionOf(agent)
    const held = heldOf(session, pluginId)
    const pack = packageOf(held, packageId)
    if (held.next !== undefined || held.stopping !== undefined) throw inFlight(held)
    if (mode === 'run' && held.current !== undefined) throw new DynamicPluginError('WRONG_MODE', `The plugin ${pluginId} runs ${held.current.pack.packageId} already. Use mode "update" to replace it.`)
    if (mode === 'update' && held.current === undefined) throw new DynamicPluginError('WRONG_MODE', `The plugin ${pluginId} does not run. Use mode "run" to start it.`)
    refuseTooMany(session, held)
    pack.isApproved = true
    held.lastApproved = pack
    delete held.failure
    const started: Run = { runId: `run-${++session.lastRun}`, pack, declared: nothingDeclared, tools: [] }
    const transition: Transition = { run: started, isUpdate: held.current !== undefined, isAwaiting: false, isCommitting: false, cancelDraw: () => undefined, done: Promise.withResolvers() }
    held.next = transition
    logRun(agent, held, started, 'starting')
    try {
      if (pack.code.host !== undefined) {
        started.host = startHost(agent, held, started, pack.code.host)
        const { host } = started
        const cancel = () => void host.stop('The call that started it was stopped.')
        signal.addEventListener('abort', cancel, { once: true })
        try {
          started.declared = await host.started
        } finally {
          signal.removeEventListener('abort', cancel)
        }
      }
      started.tools = toolsOf(agent, held, started)
      if (pack.code.client !== undefined) {
        awaitClient(agent, held, transition)
        return { runId: started.runId, state: 'awaiting', tools: namesOf(started), handlers: started.declared.handlers }
      }
      await commit(agent, held, transition)
      return { runId: started.runId, state: 'running', tools: namesOf(started), handlers: started.declared.handlers }
    } catch (error) {
      const reason = wordsOf(error)
      await abandon(agent, held, transition, reason)
      throw isErrorOf(DynamicPluginError, error) ? error : new DynamicPluginError('RUN_FAILED', `The plugin ${pluginId} did not come to run: ${reason}`, { cause: error })
    }
  }

  function refuseTooMany(session: SessionPlugins, held: Held): void {
    const running = (one: SessionPlugins) => [...one.plugins.values()].filter((other) => other !== held && (other.current !== undefined || other.next !== undefined)).length
    if (running(session) >= MAX_RUNNING) throw new DynamicPluginError('PLUGIN_CAP', `${MAX_RUNNING} plugins of this session run, which is as many as may at once. Stop one first.`)
    const all = [...sessions.values()].reduce((sum, one) => sum + running(one), 0)
    if (all >= MAX_RUNNING_IN_ALL) throw new DynamicPluginError('PLUGIN_CAP', `${MAX_RUNNING_IN_ALL} plugins run in this window, which is as many as may at once. The person can stop one with /plugins in another session.`)
  }

  function startHost(agent: Agent, held: Held, started: Run, code: string): HostRun {
    const host = new HostRun({
      codeRuntime,
      clock,
      code,
      onEmit: (name, payload) => onEmit({ sessionId: agent.id, runId: started.runId, name, payload }),
      inspect: async (provider, method, input) => inspectors.query({ platform: 'host', provider, method, ...(input !== undefined && { input }) }, agent.scope),
    })
    host.ended
      .then(async (reason) => {
        if (reason === undefined) return
        started.endReason = reason
        await crashed(agent, held, started, reason)
      })
      .catch(report)
    return host
  }

  /** Put a run in the place of what ran. Errors: what kept it from being mounted; what ran is there as before then. */
  async function commit(agent: Agent, held: Held, transition: Transition): Promise<void> {
    const { run: next } = transition
    const before = held.current
    transition.isCommitting = true
    if (next.endReason !== undefined) throw new DynamicPluginError('RUN_FAILED', next.endReason)
    await before?.fiber?.dispose()
    try {
      next.fiber = mount(agent, held, next)
      await next.fiber.ready
    } catch (error) {
      await next.fiber?.dispose()
      if (before !== undefined && held.current === before) {
        before.fiber = mount(agent, held, before)
        await before.fiber.ready
      }
      throw error
    }
    held.current = next
    held.currentPackageId = next.pack.packageId
    logRun(agent, held, next, 'running')
    if (before !== undefined) {
      await before.host?.stop(`It was replaced by ${next.pack.packageId}.`)
      if (before.endReason === undefined) logRun(agent, held, before, 'replaced')
      dispatch.emit('cordis/dynamic-retract', agent.scope, [news(agent, held, before)])
    }
    settle(agent, held, transition)
    dispatch.emit('cordis/dynamic-package', agent.scope, [news(agent, held, next)])
    if (next.endReason !== undefined) await crashed(agent, held, next, next.endReason)
  }

  function mount(agent: Agent, held: Held, started: Run): Fiber {
    const { host, tools, declared } = started
    return mountPlugin(agent, {
      name: `plugin ${held.pluginId}`,
      inject: ['tools', 'systemPrompt'],
      apply(ctx) {
        for (const tool of tools) ctx.tools.register(tool)
        for (const { name, text, order = 115 } of declared.sections) ctx.systemPrompt.section({ name: `plugin:${held.pluginId}:${name}`, order, text })
        for (const event of declared.events) observedEvents[event]?.observe(ctx, (facts) => host?.tell(event, facts))
      },
    })
  }

  /** The transition is over, whichever way. */
  function settle(agent: Agent, held: Held, transition: Transition): void {
    transition.cancelDraw()
    if (held.next === transition) delete held.next
    transition.done.resolve()
    pluginChanges.emit(agent.id)
    if (transition.run.pack.code.client !== undefined || held.current?.pack.code.client !== undefined) frameChanges.emit(agent.id)
  }

  /** It did not come to run; what ran before goes on. */
  async function abandon(agent: Agent, held: Held, transition: Transition, reason: string): Promise<void> {
    if (held.next !== transition) return
    const { run: failed, isUpdate } = transition
    transition.isAwaiting = false
    await failed.host?.stop(reason)
    if (!isUpdate && held.stopping === undefined) held.failure = reason
    logRun(agent, held, failed, held.stopping === undefined ? 'failed' : 'stopped', reason)
    settle(agent, held, transition)
  }

  /** A host half ended by itself. */
  async function crashed(agent: Agent, held: Held, run: Run, reason: string): Promise<void> {
    if (held.next?.run === run) {
      // While it starts, whoever started it hears of it; while it waits, it is told as the outcome.
      if (held.next.isAwaiting) await conclude(agent, held, held.next, reason)
      return
    }
    if (held.current !== run || held.stopping !== undefined) return
    delete held.current
    held.failure = reason
    await run.fiber?.dispose()
    logRun(agent, held, run, 'failed', reason)
    frameChanges.emit(agent.id)
    dispatch.emit('cordis/dynamic-retract', agent.scope, [news(agent, held, run)])
    tell(agent, `The plugin ${held.pluginId} (${run.pack.packageId}, ${run.runId}) was stopped, and everything it brought is gone: ${reason} Define a corrected package and run that, or leave it.`, `The plugin ${held.pluginId} was stopped: ${reason}`)
  }

  function awaitClient(agent: Agent, held: Held, transition: Transition): void {
    transition.isAwaiting = true
    logRun(agent, held, transition.run, 'awaiting-client')
    transition.cancelDraw = clock.schedule(DRAW_MS, () => {
      conclude(agent, held, transition, `No chat showed it within ${DRAW_MS / 1_000} s. The person can open the chat of this session; then run it again.`).catch(report)
    })
    frameChanges.emit(agent.id)
  }

  /** The outcome of a run that waited for its client half; with a problem, it did not come to run. Tells the model. */
  async function conclude(agent: Agent, held: Held, transition: Transition, problem?: string): Promise<void> {
    if (held.next !== transition || !transition.isAwaiting || transition.isCommitting) return
    const { run: started, isUpdate } = transition
    const what = `${started.pack.packageId}, ${started.runId}`
    const because = async (reason: string) => {
      await abandon(agent, held, transition, reason)
      const goesOn = isUpdate && held.current !== undefined ? ` ${held.current.pack.packageId} goes on as before.` : ''
      tell(agent, `The plugin ${held.pluginId} did not come to run (${what}): ${reason}${goesOn}`, `The plugin ${held.pluginId} did not come to run: ${reason}`)
    }
    transition.cancelDraw()
    if (problem !== undefined) return await because(problem)
    try {
      await commit(agent, held, transition)
    } catch (error) {
      return await because(wordsOf(error))
    }
    if (held.current === started) tell(agent, `The plugin ${held.pluginId} runs (${what}): its client half is shown.`, `The plugin ${held.pluginId} runs`)
  }

  return { run, abandon, conclude }
}
