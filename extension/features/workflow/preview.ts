import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { formatDollars } from '../../base/money.ts'
import type { ToolEffect } from '../../core/policy/tool-effects.ts'

/** What agents of runs before cost, in dollars. */
export interface KnownCosts {
  readonly agents: number
  readonly total: number
}

/**
 * What a person reads before a script runs: where it starts agents and, by what agents of this session cost before, what one may cost.
 * How many there will be in the end only running it tells; the caps hold whatever it does.
 */
export function scriptEffect(args: JsonObject, { isKnown, costs, maxAgents }: { readonly isKnown: (script: string) => boolean; readonly costs: () => KnownCosts; readonly maxAgents: number }): ToolEffect {
  const script = typeof args['script'] === 'string' ? args['script'] : ''
  const meta = isJsonObject(args['meta']) ? args['meta'] : {}
  const name = typeof meta['name'] === 'string' ? meta['name'] : 'without a name'
  const phases = Array.isArray(meta['phases']) ? meta['phases'].length : 0
  const places = script.match(/\bagent\s*\(/g)?.length ?? 0
  const isRepeated = /\b(parallel|pipeline|for|while|map)\b/.test(script)
  const known = costs()
  const each = known.agents === 0 ? 0 : known.total / known.agents
  const words = [
    `It starts agents in ${counted(places, 'place')}${phases > 0 ? ` and ${counted(phases, 'phase')}` : ''}${isRepeated ? `, over and over, ${maxAgents} at most` : ''}.`,
    ...(each > 0 ? [`So far an agent of a workflow cost about ${formatDollars(each)} in this session${!isRepeated && places > 1 ? `, which makes ${formatDollars(each * places)}` : ''}.`] : []),
    'Each works under your permissions.',
  ]
  return { kind: 'script', words: `Run the workflow \`${name.replaceAll('`', "'")}\``, why: words.join(' '), isKnown: isKnown(script) }
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
