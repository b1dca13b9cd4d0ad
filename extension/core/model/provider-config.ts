import type { ModelInfo, RetryPolicy } from './contract.ts'

/** One server that speaks the OpenAI-compatible protocol, complete: nothing is left to guess further down. */
export interface ProviderConfig {
  /** The route. */
  readonly id: string
  readonly name: string
  /** Up to what `/chat/completions` is appended to, without a slash at the end. */
  readonly baseUrl: string
  /** Name of the key in the secrets; null: none is sent. */
  readonly keyName: string | null
  readonly isKeyOptional: boolean
  /** Runs on this machine, on a usual port. */
  readonly isLocal: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Facts about models that are known beforehand; a server's own list adds to them. */
  readonly models: Readonly<Record<string, ModelFacts>>
  /** For models nothing is known about. */
  readonly defaults: {
    readonly contextWindow: number
    readonly maxOutputTokens: number
    readonly images: boolean
    readonly reasoningEfforts: readonly string[]
  }
  /** Below the base URL; answers only to a good key. For servers that list their models to everybody. */
  readonly keyCheckPath: string | null
  readonly effortStyle: EffortStyle
  readonly reasoningPassback: 'always' | 'never'
  readonly retryPolicy: RetryPolicy
}

/** What is known about a model; what is absent comes from the provider's defaults. */
export interface ModelFacts {
  readonly name?: string | undefined
  /** Tokens. */
  readonly contextWindow?: number | undefined
  readonly maxOutputTokens?: number | undefined
  readonly images?: boolean | undefined
  readonly reasoningEfforts?: readonly string[] | undefined
  /** Dollars per million tokens. */
  readonly price?: { readonly input: number; readonly cacheRead: number; readonly output: number } | undefined
}

/** How a server wants the effort told: a field `reasoning_effort`; DeepSeek's switch and field; OpenRouter's object. */
export type EffortStyle = 'reasoning_effort' | 'deepseek' | 'openrouter'

/** The facts about one model, later sources over earlier ones, the provider's defaults under all. */
export function modelInfoFrom(config: ProviderConfig, id: string, ...sources: readonly (ModelFacts | undefined)[]): ModelInfo {
  const pick = <Key extends keyof ModelFacts>(key: Key): ModelFacts[Key] =>
    sources.findLast((source) => source?.[key] !== undefined)?.[key]
  const price = pick('price')
  return {
    id,
    name: pick('name') ?? id,
    contextWindow: pick('contextWindow') ?? config.defaults.contextWindow,
    maxOutputTokens: pick('maxOutputTokens') ?? config.defaults.maxOutputTokens,
    input: (pick('images') ?? config.defaults.images) ? ['text', 'image'] : ['text'],
    reasoningEfforts: pick('reasoningEfforts') ?? config.defaults.reasoningEfforts,
    ...(price && { price: { currency: 'USD', ...price } }),
  }
}
