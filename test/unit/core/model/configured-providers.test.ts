import { describe, expect, it } from 'vitest'
import { configuredProviders } from '../../../../extension/core/model/configured-providers.ts'
import { modelInfoFrom } from '../../../../extension/core/model/provider-config.ts'

const retryPolicy = { mode: 'normal', maxRetries: 5, initialDelayMs: 500, maxDelayMs: 10_000, jitter: 0.1 } as const
const api = 'openai-compatible'

describe('the providers', () => {
  it('of the table are there by themselves', () => {
    const { configs, problems } = configuredProviders({}, retryPolicy)
    const ids = configs.map(({ id }) => id)
    expect([ids.slice(0, 2), ids.slice(-4), problems]).toEqual([['deepseek-official', 'openrouter'], ['ollama', 'lm-studio', 'llama-cpp', 'vllm'], []])
    const [deepseek] = configs
    expect(deepseek).toMatchObject({ baseUrl: 'https://api.deepseek.com', keyName: 'DEEPSEEK_API_KEY', isKeyOptional: false, reasoningPassback: 'always' })
    expect(deepseek && modelInfoFrom(deepseek, 'deepseek-v4-pro', deepseek.models['deepseek-v4-pro'])).toEqual({
      id: 'deepseek-v4-pro',
      name: 'DeepSeek V4 Pro',
      contextWindow: 1_000_000,
      maxOutputTokens: 256_000,
      input: ['text'],
      reasoningEfforts: ['off', 'low', 'high', 'max'],
      price: { currency: 'USD', input: 1.32, cacheRead: 0.044, cacheWrite: 1.32, output: 3.96, offPeak: { factor: 0.5, peakHours: [[1, 4], [6, 10]], peakDays: [1, 2, 3, 4, 5] } },
    })
  })

  it('of the settings come after them, complete, with the defaults of the specification', () => {
    const { configs } = configuredProviders({ mine: { api, baseUrl: 'http://127.0.0.1:9/v1//', models: ['a'] } }, retryPolicy)
    expect(configs.at(-1)).toEqual({
      id: 'mine',
      name: 'mine',
      api,
      baseUrl: 'http://127.0.0.1:9/v1',
      keyName: null,
      isKeyOptional: true,
      isPreset: false,
      isLocal: false,
      headers: {},
      models: { a: {} },
      overrides: {},
      stated: {},
      defaults: { contextWindow: 262_144, maxOutputTokens: 32_768, images: false, reasoningEfforts: [] },
      nativeKind: null,
      keyCheckPath: null,
      effortStyle: 'reasoning_effort',
      reasoningPassback: 'never',
      retryPolicy,
    })
  })

  it('of the settings change those of the table by name', () => {
    const entry = { api, baseUrl: 'https://proxy.test/v1', contextWindow: 5, models: { 'deepseek-v4-pro': { maxOutputTokens: 6 }, extra: {} } } as const
    const config = configuredProviders({ 'deepseek-official': entry }, retryPolicy).configs[0]
    expect(config).toMatchObject({ name: 'DeepSeek', baseUrl: 'https://proxy.test/v1', keyName: 'DEEPSEEK_API_KEY', effortStyle: 'deepseek' })
    expect(config && modelInfoFrom(config, 'deepseek-v4-pro', config.models['deepseek-v4-pro'])).toMatchObject({ contextWindow: 5, maxOutputTokens: 6, reasoningEfforts: ['off', 'low', 'high', 'max'] })
  })

  it('without an address are named and left out', () => {
    const { configs, problems } = configuredProviders({ mine: { api } }, retryPolicy)
    expect([configs.some(({ id }) => id === 'mine'), problems]).toEqual([false, [expect.stringContaining('"mine" in bosun.providers has no baseUrl')]])
  })

  it('that name only a protocol are at home at its maker’s', () => {
    const { configs, problems } = configuredProviders({ claude: { api: 'anthropic' }, gateway: { api: 'anthropic', baseUrl: 'https://gate.test/v1' } }, retryPolicy)
    expect(problems).toEqual([])
    expect(configs.slice(-2)).toMatchObject([
      { id: 'claude', api: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', keyName: 'ANTHROPIC_API_KEY', isKeyOptional: false, defaults: { images: true } },
      { id: 'gateway', api: 'anthropic', baseUrl: 'https://gate.test/v1', keyName: null, isKeyOptional: true },
    ])
  })

  it('take a key only where one is named', () => {
    const { configs } = configuredProviders({ mine: { api, baseUrl: 'http://x', keyName: 'K' }, 'deepseek-official': { api, keyName: null } }, retryPolicy)
    expect(configs.filter(({ id }) => ['mine', 'deepseek-official'].includes(id)).map(({ keyName, isKeyOptional }) => [keyName, isKeyOptional])).toEqual([
      [null, true],
      ['K', false],
    ])
  })

  it('that wait for a key are presets until the person describes them', () => {
    const isPreset = (entries: Parameters<typeof configuredProviders>[0]) => configuredProviders(entries, retryPolicy).configs.find(({ id }) => id === 'groq')?.isPreset
    expect([isPreset({}), isPreset({ groq: { api } })]).toEqual([true, false])
    expect(configuredProviders({}, retryPolicy).configs.filter((config) => config.isPreset).map(({ id, keyName, isKeyOptional }) => [id, keyName !== null, isKeyOptional])).toEqual(
      expect.arrayContaining([['anthropic', true, false], ['groq', true, false], ['mistral', true, false]]),
    )
  })

  it('may have switches and a retry policy of their own', () => {
    const entry = { api, baseUrl: 'http://x', isLocal: true, effortStyle: 'openrouter', reasoningPassback: 'always', retry: { maxRetries: 9, jitter: 0 } } as const
    expect(configuredProviders({ mine: entry }, retryPolicy).configs.at(-1)).toMatchObject({
      isLocal: true, effortStyle: 'openrouter', reasoningPassback: 'always', retryPolicy: { ...retryPolicy, maxRetries: 9, jitter: 0 },
    })
  })
})
