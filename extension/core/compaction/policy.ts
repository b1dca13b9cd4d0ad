import type { CallConfiguration, ModelInfo } from '../model/contract.ts'
import type { Settings } from '../settings/settings.ts'
import { settings as specs } from '../settings/specs.ts'
import type { PruneCaps } from './prune.ts'

/** What holds for one model. Source: the settings `compaction.*`; runtime specification 13. */
export interface CompactionPolicy {
  readonly isAuto: boolean
  /** Share of the room. */
  readonly thresholdRatio: number
  readonly retain: { readonly ratio: number } | { readonly tokens: number }
  /** Of a summary. */
  readonly maxTokens: number
  /** Of one summary request. */
  readonly retries: number
  /** Of one step. */
  readonly maxOverflowRetries: number
  readonly prune: PruneCaps
}

export function policyFor(settings: Settings, { provider, model }: CallConfiguration): CompactionPolicy {
  const own = settings.get(specs.compactionModelPolicies).find((entry) => entry.model === model && (entry.provider ?? provider) === provider)
  return {
    isAuto: own?.auto ?? settings.get(specs.compactionAuto),
    thresholdRatio: own?.thresholdRatio ?? settings.get(specs.compactionThresholdRatio),
    retain: own?.retainTokens === undefined ? { ratio: own?.retainRatio ?? settings.get(specs.compactionRetainRatio) } : { tokens: own.retainTokens },
    maxTokens: own?.maxTokens ?? settings.get(specs.compactionMaxTokens),
    retries: settings.get(specs.compactionRetries),
    maxOverflowRetries: settings.get(specs.compactionMaxOverflowRetries),
    prune: {
      trigger: settings.get(specs.compactionPruneTrigger),
      head: settings.get(specs.compactionPruneHead),
      tail: settings.get(specs.compactionPruneTail),
    },
  }
}

/**
 * Tokens a request may have so that the answer still fits the window.
 *
 * A model whose longest answer is a large part of its window, or all of it, seldom gives one: the room for it is a quarter of the
 * window, or half of it when that many tokens were asked for.
 */
export function roomFor(info: Pick<ModelInfo, 'contextWindow' | 'maxOutputTokens'>, { maxTokens }: Pick<CallConfiguration, 'maxTokens'>): number {
  const { contextWindow } = info
  const answer = maxTokens === undefined ? Math.min(info.maxOutputTokens, contextWindow / 4) : Math.min(maxTokens, contextWindow / 2)
  return Math.floor(contextWindow - answer)
}
