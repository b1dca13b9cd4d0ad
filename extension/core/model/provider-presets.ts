import type { ProviderRow } from './provider-table.ts'

/**
 * Providers that a person can pick: setting the key is all there is to do. Nothing is shown or asked of one before it has a key.
 *
 * Source: the providers' own pages on their OpenAI-compatible addresses, November 2026; keys are named as their makers name them.
 */
export const providerPresets: readonly ProviderRow[] = [
  { id: 'groq', name: 'Groq', baseUrl: 'https://api.groq.com/openai/v1', keyName: 'GROQ_API_KEY' },
  { id: 'mistral', name: 'Mistral', baseUrl: 'https://api.mistral.ai/v1', keyName: 'MISTRAL_API_KEY' },
  { id: 'xai', name: 'xAI', baseUrl: 'https://api.x.ai/v1', keyName: 'XAI_API_KEY' },
  { id: 'moonshot', name: 'Moonshot', baseUrl: 'https://api.moonshot.ai/v1', keyName: 'MOONSHOT_API_KEY' },
  { id: 'zai', name: 'Z.ai', baseUrl: 'https://api.z.ai/api/paas/v4', keyName: 'ZAI_API_KEY' },
  { id: 'cerebras', name: 'Cerebras', baseUrl: 'https://api.cerebras.ai/v1', keyName: 'CEREBRAS_API_KEY' },
  { id: 'together', name: 'Together', baseUrl: 'https://api.together.xyz/v1', keyName: 'TOGETHER_API_KEY' },
  { id: 'fireworks', name: 'Fireworks', baseUrl: 'https://api.fireworks.ai/inference/v1', keyName: 'FIREWORKS_API_KEY' },
]
