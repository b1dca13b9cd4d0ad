import { describe, expect, it } from 'vitest'
import { catalogueFacts, catalogueModels } from '../../../../extension/core/model/catalogue.ts'
import { catalogueRows } from '../../../../extension/core/model/catalogue-data.ts'
import { settings } from '../../../../extension/core/settings/specs.ts'

const sonnet = { contextWindow: 200_000, maxOutputTokens: 64_000, images: true, price: { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 } }

describe('what is known of a model', () => {
  it.each([
    ['its exact name', 'claude-sonnet-4-5'],
    ['a name with a date', 'claude-sonnet-4-5-20250929'],
    ['the newest of its name', 'claude-sonnet-4-5-latest'],
  ])('is found by %s', (_, model) => expect(catalogueFacts({ provider: 'anthropic', model })).toMatchObject(sonnet))

  it('prefers the name as it is to the name without a date', () =>
    expect(catalogueFacts({ provider: 'google', model: 'gemini-3-pro-preview' })).toMatchObject({ name: 'Gemini 3 Pro', price: { long: { aboveTokens: 200_000, input: 4, output: 18 } } }))

  it('is for an unknown name what its family has in common, without a price', () => {
    expect(catalogueFacts({ provider: 'anthropic', model: 'claude-opus-5-9' })).toEqual({ contextWindow: 1_000_000, maxOutputTokens: 128_000, images: true, reasoningEfforts: ['low', 'medium', 'high', 'xhigh', 'max'] })
    expect(catalogueFacts({ provider: 'anthropic', model: 'claude-2' })).toEqual({ contextWindow: 200_000, images: true })
  })

  it('ends a family where a word ends', () => expect(catalogueFacts({ provider: 'openai', model: 'gpt-50' })).toBeUndefined())

  it.each(['openrouter', 'my-gateway'])('holds no price and no efforts at another service (%s)', (provider) =>
    expect(catalogueFacts({ provider, model: 'anthropic/claude-sonnet-4-5' })).toEqual({ contextWindow: 200_000, maxOutputTokens: 64_000, images: true }))

  it('holds the price at the maker’s own host, whatever the provider is called', () =>
    expect(catalogueFacts({ provider: 'work', model: 'deepseek-v4-pro', baseUrl: 'https://api.deepseek.com/v1' })).toMatchObject({ price: { input: 1.32 } }))

  it('says nothing of what a server on this machine does with the weights', () =>
    expect(catalogueFacts({ provider: 'ollama', model: 'gpt-oss-20b', isLocal: true })).toBeUndefined())

  it('is nothing for a name nobody knows', () => expect(catalogueFacts({ provider: 'mine', model: 'made-up-1' })).toBeUndefined())
  it.each(['constructor', '__proto__', 'toString'])('is nothing for %s', (model) => expect(catalogueFacts({ provider: 'anthropic', model })).toBeUndefined())
})

describe('the catalogue', () => {
  const models = catalogueRows.flatMap(({ models }) => Object.entries(models))

  it('knows the model that the settings choose by themselves', () =>
    expect(catalogueModels(settings.modelProvider.fallback)).toContain(settings.modelName.fallback))

  it('says of each row when its prices were read', () => expect(catalogueRows.every(({ readIn }) => /^20\d\d-(0[1-9]|1[0-2])$/.test(readIn))).toBe(true))

  it.each(models)('has whole, ordered figures for %s', (_, { contextWindow, maxOutputTokens, price }) => {
    for (const count of [contextWindow, maxOutputTokens]) if (count !== undefined) expect(Number.isSafeInteger(count) && count > 0).toBe(true)
    if (contextWindow !== undefined && maxOutputTokens !== undefined) expect(maxOutputTokens).toBeLessThan(contextWindow)
    if (!price) return
    expect(price.cacheRead).toBeLessThanOrEqual(price.input)
    expect(price.cacheWrite).toBeGreaterThanOrEqual(price.input)
    expect(price.output).toBeGreaterThan(price.input)
    if (price.long) expect(price.long.input).toBeGreaterThan(price.input)
  })
})
