import type { ModelFacts, ProviderConfig } from './provider-config.ts'

/** A provider as it stands in the table: the rest is the same for all. */
export type ProviderRow = Pick<ProviderConfig, 'id' | 'name' | 'baseUrl' | 'keyName'> &
  Partial<Omit<ProviderConfig, 'defaults' | 'retryPolicy'>> & { readonly facts?: ModelFacts }

/** Source: runtime specification 16.3. */
export const fallbackFacts = { contextWindow: 262_144, maxOutputTokens: 32_768, images: false, reasoningEfforts: [] } satisfies ModelFacts

const deepseek = {
  contextWindow: 1_000_000,
  maxOutputTokens: 256_000,
  reasoningEfforts: ['off', 'low', 'high', 'max'],
} satisfies ModelFacts

/**
 * The providers that are there without being described in the settings. An entry of `bosun.providers` with the same id changes one.
 *
 * Source: runtime specification 16.2. Prices in dollars per million tokens, peak hours (others half), from the provider's
 *         price page, October 2026. Usual ports from the servers' manuals.
 */
export const providerTable: readonly ProviderRow[] = [
  {
    id: 'deepseek-official',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    keyName: 'DEEPSEEK_API_KEY',
    effortStyle: 'deepseek',
    reasoningPassback: 'always',
    facts: deepseek,
    models: {
      'deepseek-v4-pro': { name: 'DeepSeek V4 Pro', price: { input: 1.32, cacheRead: 0.044, output: 3.96 } },
      'deepseek-flash': { name: 'DeepSeek Flash', images: true, price: { input: 0.3, cacheRead: 0.006, output: 1.2 } },
      'deepseek-v4-flash': { name: 'DeepSeek V4 Flash', price: { input: 0.3, cacheRead: 0.006, output: 1.2 } },
    },
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyName: 'OPENROUTER_API_KEY',
    keyCheckPath: '/key',
    effortStyle: 'openrouter',
    facts: { reasoningEfforts: ['low', 'medium', 'high'] },
  },
  { id: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', keyName: 'OLLAMA_API_KEY', isKeyOptional: true, isLocal: true },
  { id: 'lm-studio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', keyName: 'LM_STUDIO_API_KEY', isKeyOptional: true, isLocal: true },
  { id: 'llama-cpp', name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1', keyName: 'LLAMA_API_KEY', isKeyOptional: true, isLocal: true },
  { id: 'vllm', name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', keyName: 'VLLM_API_KEY', isKeyOptional: true, isLocal: true },
]
