import type {} from '../commands/command.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type { Session } from '../session/session.ts'
import { noCost, type CostSum, type SessionCost } from './cost-projection.ts'
import type {} from './plugin.ts'
import type { Budgets } from './budgets.ts'
import type { CostLedger } from './ledger.ts'
import { amountWords, budgetWords, english, missWords } from './words.ts'

/** `/cost`: what the session, those it started and the day used and cost, how far limits are used, and why the cache was missed last. */
export function costCommand({ now }: { readonly now: () => number }): Plugin {
  return {
    name: 'cost-command',
    inject: ['commands', 'costs', 'budgets'],
    apply(ctx) {
      ctx.commands.register({
        name: 'cost',
        description: 'Say what this conversation used and cost, and why the cache was missed.',
        run: async ({ agent }) => ({ text: await costText(agent.session, { costs: ctx.costs, budgets: ctx.budgets, now: now() }) }),
      })
    },
  }
}

async function costText(session: Session, { costs, budgets, now }: { readonly costs: CostLedger; readonly budgets: Budgets; readonly now: number }): Promise<string> {
  const tree = await costs.treeCost(session.id)
  const day = await costs.dayCost(now)
  const own = costs.ownCost(session.id)
  const total = own?.total ?? noCost
  if (tree.requests === 0) return 'Nothing was asked of a model yet.'
  return [
    sumLine('This session', total),
    ...(tree.requests > total.requests ? [sumLine('With the agents it started', tree)] : []),
    sumLine('Today, all sessions', day),
    ...budgets.uses(session).map((use) => `Limit: ${budgetWords(use, english)}`),
    ...missLines(own),
  ].join('\n')
}

function sumLine(name: string, sum: CostSum): string {
  const { requests, inputTokens, cacheRead, cacheWrite, outputTokens, reasoning } = sum
  const read = inputTokens + cacheRead + cacheWrite
  const share = read === 0 ? 0 : Math.round((cacheRead / read) * 100)
  const count = (value: number) => value.toLocaleString('en-US')
  return `${name}: ${amountWords(sum, english)}, ${count(requests)} ${requests === 1 ? 'request' : 'requests'}, ${count(read)} tokens read (${share}% from the cache), ${count(outputTokens + reasoning)} written`
}

function missLines(own: SessionCost | undefined): readonly string[] {
  if (own === undefined || own.lastMiss === null) return []
  return [`Cache missed ${own.misses === 1 ? 'once' : `${own.misses} times`}. Last: ${missWords(own.lastMiss, english)}`]
}
