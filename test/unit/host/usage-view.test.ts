import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { noCost } from '../../../extension/core/cost/cost-projection.ts'
import { contextParts } from '../../../extension/core/projections/context-fold.ts'
import { costView, usageLines, windowView } from '../../../extension/host/usage-view.ts'

const l10n = { t: fillIn }
const breakdown = (parts: Readonly<Record<string, number>>, byTool: Readonly<Record<string, number>> = {}, contextWindow: number | null = 1000) => ({
  contextBreakdown: { parts: { ...Object.fromEntries(contextParts.map((part) => [part, 0])), ...parts }, toolResultsByTool: byTool, usedTokens: Object.values(parts).reduce((sum, tokens) => sum + tokens, 0), free: 0, contextWindow },
})
const sum = { ...noCost, requests: 2, amount: 0.5, inputTokens: 10, cacheRead: 30, outputTokens: 5 }

describe('what is in the window', () => {
  it('stands largest first, without what is not there', () =>
    expect(windowView(breakdown({ tools: 10, system: 5, toolResults: 30 }, { read: 20, grep: 10 }))).toEqual({
      usedTokens: 45,
      windowTokens: 1000,
      parts: [{ part: 'toolResults', tokens: 30 }, { part: 'tools', tokens: 10 }, { part: 'system', tokens: 5 }],
      tools: [{ name: 'read', tokens: 20 }, { name: 'grep', tokens: 10 }],
    }))

  it('names six tools and adds the others up', () => {
    const tools = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`t${at}`, 10 - at]))
    expect(windowView(breakdown({ toolResults: 54 }, tools))?.tools).toEqual([...Array.from({ length: 6 }, (_, at) => ({ name: `t${at}`, tokens: 10 - at })), { name: null, tokens: 4 + 3 + 2 }])
  })

  it.each([[{}], [breakdown({})]])('is nothing before anything was sent', (values) => expect(windowView(values)).toBeNull())
})

describe('what was paid', () => {
  const check = (more: object, words: string, amount: number | null) => expect(costView({ ...sum, ...more }, sum, [], l10n)).toMatchObject({ words, amount })

  it('is a sum where all prices are known', () => check({}, '$0.50', 0.5))
  it('is at least a sum where some are not', () => check({ unpriced: 1 }, 'at least $0.50', 0.5))
  it('is unknown where none is', () => check({ unpriced: 2, amount: 0 }, 'price unknown', null))
  it('is about a sum where tokens were estimated', () => check({ estimated: 1 }, 'about $0.50', 0.5))
  it('is nothing before the first request', () => expect(costView(noCost, noCost, [], l10n)).toBeNull())
  it('names apart what agents cost that it started', () => expect(costView({ ...sum, requests: 3, amount: 0.75 }, sum, [], l10n)).toMatchObject({ words: '$0.75', startedWords: '$0.25' }))
  it('stands beside its limits', () =>
    expect(costView(sum, sum, [{ cap: 'cost', per: 'session', limit: 1, used: 0.5 }], l10n)?.budgets).toEqual([{ words: '$0.50 of the $1.00 that this session may cost', share: 0.5 }]))
})

it('the status bar says both in a few lines, and a limit only when it is near', () => {
  const cost = costView(sum, sum, [{ cap: 'cost', per: 'day', limit: 0.6, used: 0.5 }, { cap: 'tokens', per: 'turn', limit: 100, used: 1 }], l10n)
  expect(usageLines(windowView(breakdown({ tools: 1500, system: 50 }, {}, 2000)), cost, l10n)).toEqual([
    '1.6k of 2k tokens of the model’s window',
    'Tools 1.5k · System prompt 50',
    'Cost so far: $0.50',
    '75% of what was read came from the cache',
    '$0.50 of the $0.60 that a day may cost',
  ])
})
