import { catalogueFacts } from './catalogue.ts'
import type { ModelInfo, ModelPrice, RetryPolicy } from './contract.ts'

/** The protocols that Bosun speaks. */
export const wireApis = ['openai-compatible', 'anthropic', 'openai-responses', 'google'] as const
export type WireApi = (typeof wireApis)[number]

/** One server, complete: nothing is left to guess further down. */
export interface ProviderConfig {
  /** The route. */
  readonly id: string
  readonly name: string
  readonly api: WireApi
  /** Up to what the path of a request is appended to, such as `/chat/completions`, without a slash at the end. */
  readonly baseUrl: string
  /** Name of the key in the secrets; null: none is sent. */
  readonly keyName: string | null
  readonly isKeyOptional: boolean
  /** Nothing of it is shown, and nothing is asked of it, before it has a key. */
  readonly isPreset: boolean
  /** Runs on this machine, on a usual port. */
  readonly isLocal: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Models to offer beforehand, with what the person says of each; a server's own list adds to them. */
  readonly models: Readonly<Record<string, ModelFacts>>
  /** What the person says of models by name, offered or not. */
  readonly overrides: Readonly<Record<string, ModelFacts>>
  /** What the person says of all models of this provider. */
  readonly stated: ModelFacts
  /** For models nothing is known about. */
  readonly defaults: {
    readonly contextWindow: number
    readonly maxOutputTokens: number
    readonly images: boolean
    readonly reasoningEfforts: readonly string[]
  }
  /** A server whose own interface says more of its models than the protocol does. */
  readonly nativeKind: 'ollama' | 'lm-studio' | 'llama-cpp' | null
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
  readonly price?: ModelPrice | undefined
}

/** How a server wants the effort told: a field `reasoning_effort`; DeepSeek's switch and field; OpenRouter's object. */
export type EffortStyle = 'reasoning_effort' | 'deepseek' | 'openrouter'

/**
 * The facts about one model: what the catalogue knows, over it what the person says of the provider, over that what its server lists
 * and the table of providers says, over all what the person says of this model. Under all lie the provider's defaults.
 */
export function modelInfoFrom(config: ProviderConfig, id: string, ...sources: readonly (ModelFacts | undefined)[]): ModelInfo {
  const known = catalogueFacts({ provider: config.id, model: id, baseUrl: config.baseUrl, isLocal: config.isLocal })
  const all = [known, config.stated, ...sources, config.overrides[id]]
  const pick = <Key extends keyof ModelFacts>(key: Key): ModelFacts[Key] => all.findLast((source) => source?.[key] !== undefined)?.[key]
  const price = pick('price')
  return {
    id,
    name: pick('name') ?? id,
    contextWindow: pick('contextWindow') ?? config.defaults.contextWindow,
    maxOutputTokens: pick('maxOutputTokens') ?? config.defaults.maxOutputTokens,
    input: (pick('images') ?? config.defaults.images) ? ['text', 'image'] : ['text'],
    reasoningEfforts: pick('reasoningEfforts') ?? config.defaults.reasoningEfforts,
    ...(price && { price }),
  }
}
