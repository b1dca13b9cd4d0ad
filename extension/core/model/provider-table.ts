import { catalogueModels } from './catalogue.ts'
import { providerPresets } from './provider-presets.ts'
import type { ModelFacts, ProviderConfig, WireApi } from './provider-config.ts'

/** A provider as it stands in the table: the rest is the same for all. */
export type ProviderRow = Pick<ProviderConfig, 'id' | 'name' | 'baseUrl' | 'keyName'> &
  Partial<Omit<ProviderConfig, 'defaults' | 'retryPolicy' | 'overrides' | 'stated'>> & { readonly facts?: ModelFacts }

/** Source: runtime specification 16.3. */
export const fallbackFacts = { contextWindow: 262_144, maxOutputTokens: 32_768, images: false, reasoningEfforts: [] } satisfies ModelFacts

/** The models of the catalogue that a provider's own service sells. */
function offered(provider: string): Readonly<Record<string, ModelFacts>> {
  return Object.fromEntries(catalogueModels(provider).map((id) => [id, {}]))
}

/** What an entry of the settings means that names a protocol and no address: the protocol's maker. Keys are named as their makers name them. */
export const makers: Partial<Readonly<Record<WireApi, Pick<ProviderRow, 'baseUrl' | 'keyName' | 'models'>>>> = {
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', keyName: 'ANTHROPIC_API_KEY', models: offered('anthropic') },
  'openai-responses': { baseUrl: 'https://api.openai.com/v1', keyName: 'OPENAI_API_KEY', models: offered('openai') },
  google: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta', keyName: 'GEMINI_API_KEY', models: offered('google') },
}

/** For models of these protocols that nothing else is known about; an answer over a model's cap is refused, so the cap is a low one. */
export const wireFacts: Partial<Readonly<Record<WireApi, ModelFacts>>> = {
  anthropic: { contextWindow: 200_000, maxOutputTokens: 32_000, images: true },
  'openai-responses': { contextWindow: 200_000, images: true },
  google: { contextWindow: 1_048_576, images: true },
}

/** The makers of the protocols, under their own names. */
const makerNames: Readonly<Record<string, Pick<ProviderRow, 'id' | 'name'>>> = {
  anthropic: { id: 'anthropic', name: 'Anthropic' },
  'openai-responses': { id: 'openai', name: 'OpenAI' },
  google: { id: 'google', name: 'Google Gemini' },
}

const preset = (row: ProviderRow): ProviderRow => ({ models: offered(row.id), ...row, isPreset: true })

/** A server on this machine. One that does not say how much it takes is taken to have a small window: more would be cut without a word. */
const local = { isKeyOptional: true, isLocal: true, facts: { contextWindow: 32_768, maxOutputTokens: 8_192 } } satisfies Partial<ProviderRow>

/**
 * The providers that are there without being described in the settings. An entry of `bosun.providers` with the same id changes one.
 *
 * Source: runtime specification 16.2. Usual ports from the servers' manuals. What is known of models stands in the catalogue.
 */
export const providerTable: readonly ProviderRow[] = [
  {
    id: 'deepseek-official',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    keyName: 'DEEPSEEK_API_KEY',
    effortStyle: 'deepseek',
    reasoningPassback: 'always',
    facts: { contextWindow: 1_000_000, maxOutputTokens: 256_000, reasoningEfforts: ['off', 'low', 'high', 'max'] },
    models: offered('deepseek-official'),
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
  ...Object.entries(makers).flatMap(([api, maker]) => {
    const named = makerNames[api]
    return named === undefined ? [] : [preset({ ...named, ...maker, api: api as WireApi })]
  }),
  ...providerPresets.map(preset),
  { ...local, id: 'ollama', nativeKind: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', keyName: 'OLLAMA_API_KEY' },
  { ...local, id: 'lm-studio', nativeKind: 'lm-studio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', keyName: 'LM_STUDIO_API_KEY' },
  { ...local, id: 'llama-cpp', nativeKind: 'llama-cpp', name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1', keyName: 'LLAMA_API_KEY' },
  { ...local, id: 'vllm', name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', keyName: 'VLLM_API_KEY' },
]
