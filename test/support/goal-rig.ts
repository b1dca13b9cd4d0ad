import type { JsonObject } from '../../extension/base/json.ts'
import type { ProblemFeed } from '../../extension/capabilities/problem-feed.ts'
import { costPlugin } from '../../extension/core/cost/plugin.ts'
import type { SessionEvent } from '../../extension/core/log/event.ts'
import type { UserMessage } from '../../extension/core/log/message.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import { featureEvents } from '../../extension/features/event-types.ts'
import { goalsPlugin } from '../../extension/features/goals/plugin.ts'
import type { Goals, GoalState } from '../../extension/features/goals/service.ts'
import { goalTools } from '../../extension/tools/goals/plugin.ts'
import { createFakeMachine } from './fake-machine.ts'
import { createLoopRig, fakeTool, prompt, settled, type LoopRig, type LoopRigOptions } from './loop-rig.ts'
import { createManualClock } from './manual-clock.ts'
import { MemoryFileSystem } from './memory-file-system.ts'
import { createRecordingLogger } from './quiet-logger.ts'
import { callTools, sayText, type ScriptedAnswer } from './scripted-adapter.ts'

export interface GoalRig extends LoopRig {
  readonly goals: Goals
  /** Trust or distrust the folder. */
  trust(isTrusted: boolean): void
  /** An agent that a person has asked something, whose turn is over. */
  begun(...answers: readonly ScriptedAnswer[]): Promise<Agent>
}

export interface GoalRigOptions extends LoopRigOptions {
  readonly isOneTurn?: boolean
  readonly isTrusted?: boolean
  readonly problemFeed?: ProblemFeed
}

/** The real loop with goals, their tools and their costs. Only the model, the clock, the disk and the shell are fakes. */
export function createGoalRig(options: GoalRigOptions = {}): GoalRig {
  let isTrusted = options.isTrusted ?? true
  const listeners = new Set<() => void>()
  const machine = createFakeMachine()
  let ids = 0
  const rig = createLoopRig({
    ...options,
    presets: [{ id: 'all', name: 'All', description: 'For tests.', order: 0, presentation: 'native', tools: ['look', 'fail', 'bash', 'create_goal', 'get_goal', 'update_goal'], hasRuntimeContext: false }],
    tools: [fakeTool('look'), fakeTool('fail', () => Promise.reject(new Error('no'))), ...(options.tools ?? [])],
    prepare(ctx, kernel) {
      options.prepare?.(ctx, kernel)
      ctx.plugin(featureEvents)
      ctx.plugin(costPlugin({ clock: createManualClock(), logger: createRecordingLogger() }))
      ctx.plugin(
        goalsPlugin({
          clock: clockOf(),
          files: new MemoryFileSystem(),
          logger: { debug() {}, info() {}, warn: (...args) => rig.logger.warn(...args), error: (...args) => rig.logger.error(...args) },
          machine: { ...machine, randomId: () => `id-${(ids += 1)}` },
          workspace: { isTrusted: () => isTrusted, onDidChangeTrust: (listener) => (listeners.add(listener), () => void listeners.delete(listener)) },
          dispatch: kernel.dispatch,
          problemFeed: options.problemFeed,
          isOneTurn: options.isOneTurn ?? false,
        }),
      )
      ctx.plugin(goalTools)
    },
  })
  /** The rig's own clock is there once it is made. */
  function clockOf() {
    return { now: () => rig.clock.now(), monotonicMs: () => rig.clock.monotonicMs(), schedule: (...args: Parameters<typeof rig.clock.schedule>) => rig.clock.schedule(...args) }
  }
  return {
    ...rig,
    get goals() {
      return rig.ctx.goals
    },
    trust(next) {
      isTrusted = next
      for (const listener of listeners) listener()
    },
    async begun(...answers) {
      const agent = await rig.newAgent()
      rig.adapter.play(...(answers.length === 0 ? [sayText('Ready.')] : answers))
      agent.followup(prompt('begin'))
      await rested(agent)
      return agent
    },
  }
}

/** Until nothing goes on by itself any more. */
export async function rested(agent: Agent): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    await agent.whenIdle()
    await settled()
    quiet = agent.status === 'idle' ? quiet + 1 : 0
  }
}

export const goalOf = (rig: GoalRig, agent: Agent): GoalState => {
  const state = rig.goals.read(agent.session)
  if (state === null) throw new Error('There is no goal.')
  return state
}

/** One call of a goal tool, as a model makes it. */
export const goalCall = (name: string, args: JsonObject, id = `${name}-${JSON.stringify(args).length}`) => callTools({ id, name, args })

/** A call about the goal as it is when the model answers. */
export const updateGoal = (rig: GoalRig, agent: () => Agent, args: JsonObject, id: string): ScriptedAnswer => () => {
  const { goal } = goalOf(rig, agent())
  return callTools({ id, name: 'update_goal', args: { goal_id: goal.id, revision: goal.revision, ...args } })
}

/** Results of calls in the log, by call id: the code of a failure, or `ok`. */
export const resultsOf = (agent: Agent): Readonly<Record<string, string>> =>
  Object.fromEntries(
    agent.session.events().flatMap((event) => (event.type === 'tool/result' ? [[event.data.message.source.callId, event.data.error?.code ?? (event.data.message.content[0].isError ? 'error' : 'ok')]] : [])),
  )

/** The text of one result. */
export function resultText(agent: Agent, callId: string): string {
  const found = agent.session.events().find((event): event is SessionEvent<'tool/result'> => event.type === 'tool/result' && event.data.message.source.callId === callId)
  return found?.data.message.content[0].content.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''
}

/** The rounds that were begun, in order. */
export const roundsOf = (agent: Agent): readonly number[] => messagesOf(agent).flatMap(({ source }) => (source.kind === 'goal' ? [source.round] : []))

export const messagesOf = (agent: Agent): readonly UserMessage[] => agent.session.events().flatMap((event) => (event.type === 'user/message' ? [event.data] : []))

export const changesOf = (agent: Agent) => agent.session.events().flatMap((event) => (event.type === 'goal/change' ? [event.data.operation] : []))
