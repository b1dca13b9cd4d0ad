import { stableStringify } from '../../../base/json.ts'
import { clipped } from '../../../base/text.ts'
import type { Plugin } from '../../kernel/plugin.ts'
import type { UserMessage } from '../../log/message.ts'
import { noticeMessage } from '../../log/notice.ts'
import type {} from '../../loop/points.ts'
import type { Agent } from '../../session/agent.ts'
import type { Execution, PostExecuteDecision } from '../definition.ts'
import type {} from '../service.ts'

export interface RepeatReminderOptions {
  /** Counts at which a reminder is sent, each at least 2 and unique. */
  readonly thresholds?: readonly number[]
  /** Tools whose work is to be asked again; they neither count nor break a run. */
  readonly untracked?: readonly string[]
  readonly newId: () => string
}

/** Made to be called again until something changes. */
const POLLING_TOOLS = ['job_list', 'job_output']
const MAX_ARGUMENT_CHARS = 500

/**
 * Tells the model when it makes the same call again and again. Advice only: nothing is blocked.
 *
 * Counts consecutive calls of one agent with the same name and arguments, denied ones too; a prompt of the person starts over;
 * after the last threshold it is silent. Not persisted.
 * Errors: `RangeError` when the thresholds are not integers of at least 2, each once.
 * Source: runtime specification 19.
 */
export function repeatReminder({ thresholds = [3, 5, 8], untracked = POLLING_TOOLS, newId }: RepeatReminderOptions): Plugin {
  if (thresholds.some((count) => !Number.isInteger(count) || count < 2) || new Set(thresholds).size !== thresholds.length)
    throw new RangeError(`Reminder thresholds must be different integers of at least 2, not ${JSON.stringify(thresholds)}.`)
  const first = Math.min(...thresholds)
  return {
    name: 'repeat-reminder',
    inject: ['tools'],
    apply(ctx) {
      const runs = new WeakMap<Agent, { key: string; count: number }>()
      ctx.on('agent/inbox/claimed', ({ agent, message }) => {
        if (message.source.kind === 'user') runs.delete(agent)
      })
      ctx.on('tools/post-execute', (exec, _result, next) =>
        exec.agent === undefined || exec.parent !== undefined || untracked.includes(exec.name) ? next() : counted(exec, exec.agent, next),
      )

      async function counted(exec: Execution, agent: Agent, next: () => Promise<PostExecuteDecision>): Promise<PostExecuteDecision> {
        const decision = await next()
        const count = countOf(runs, agent, exec)
        if (!thresholds.includes(count)) return decision
        const text = count === first ? nudge(exec.name, count) : details(exec, count)
        return { ...decision, additionalContexts: [...(decision.additionalContexts ?? []), reminder(newId(), exec.name, count, text)] }
      }
    },
  }
}

function countOf(runs: WeakMap<Agent, { key: string; count: number }>, agent: Agent, { name, arguments: args }: Execution): number {
  const key = `${name} ${stableStringify(args)}`
  const last = runs.get(agent)
  const count = last?.key === key ? last.count + 1 : 1
  runs.set(agent, { key, count })
  return count
}

const nudge = (name: string, count: number) =>
  `You have now called ${name} ${count} times in a row with the same arguments. If the result does not help, try another way.`

const details = ({ name, arguments: args }: Execution, count: number) =>
  `This is the same ${name} call for the ${count}th time in a row: ${clipped(stableStringify(args), MAX_ARGUMENT_CHARS + 1)}\n` +
  'Its result will not change by itself. Say what you expected, look at what came back, and choose a different tool, different arguments, or ask the person.'

const reminder = (id: string, name: string, count: number, text: string): UserMessage =>
  noticeMessage({ id, plugin: 'repeat-reminder', text, summary: `${name} repeated ${count} times` })
