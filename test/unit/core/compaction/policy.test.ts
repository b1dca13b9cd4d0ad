import { describe, expect, it } from 'vitest'
import { policyFor, roomFor } from '../../../../extension/core/compaction/policy.ts'
import { createSettings } from '../../../../extension/core/settings/service.ts'
import { memorySettings } from '../../../support/memory-settings.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

describe('the room for a request', () => {
  const check = (contextWindow: number, maxOutputTokens: number, maxTokens: number | undefined, room: number) =>
    expect(roomFor({ contextWindow, maxOutputTokens }, maxTokens === undefined ? {} : { maxTokens })).toBe(room)

  it('leaves out the longest answer', () => check(100_000, 8_000, undefined, 92_000))
  it('leaves out a quarter of the window at most', () => check(8_000, 32_768, undefined, 6_000))
  it('leaves out what was asked for', () => check(100_000, 8_000, 40_000, 60_000))
  it('leaves out half of the window at most', () => check(8_000, 8_000, 32_000, 4_000))
})

describe('what holds for a model', () => {
  const check = (policies: readonly object[], expected: object) =>
    expect(policyFor(createSettings({ source: memorySettings({ 'compaction.modelPolicies': policies }), logger: createRecordingLogger() }), { provider: 'p', model: 'm' })).toMatchObject(expected)

  it('is what the settings say', () =>
    check([], { isAuto: true, thresholdRatio: 0.8, retain: { ratio: 0.16 }, maxTokens: 8_192, retries: 1, maxOverflowRetries: 1, prune: { trigger: 8_192, head: 4_096, tail: 1_024 } }))
  it('is what its own entry says over them', () =>
    check([{ model: 'm', auto: false, thresholdRatio: 0.5, retainTokens: 900, maxTokens: 300 }], { isAuto: false, thresholdRatio: 0.5, retain: { tokens: 900 }, maxTokens: 300 }))
  it('is the first entry that fits', () => check([{ model: 'm', provider: 'other', maxTokens: 1 }, { model: 'x', maxTokens: 2 }, { model: 'm', maxTokens: 300 }, { model: 'm', maxTokens: 4 }], { maxTokens: 300 }))
})
