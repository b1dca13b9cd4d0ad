import type { Logger } from '../../capabilities/logger.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import type { Undo } from '../../base/undo.ts'
import type { Plugin } from '../kernel/plugin.ts'
import { providerSchema, settings as specs, type ProviderSetting } from '../settings/specs.ts'
import type { Settings } from '../settings/settings.ts'
import { configuredProviders } from './configured-providers.ts'
import type { ModelAdapter, ModelRegistry, RetryPolicy } from './contract.ts'
import type { ProviderConfig } from './provider-config.ts'

interface Parts {
  readonly source: SettingsSource
  readonly logger: Logger
  /** Adapters that need no configuration, such as the guided tour. */
  readonly builtIn: readonly ModelAdapter[]
  readonly createAdapter: (config: ProviderConfig) => ModelAdapter
}

/**
 * Registers an adapter for every provider of the table and of `bosun.providers`, and follows the settings live:
 * only what changed is registered anew, and a bad entry spoils no good one.
 */
export function modelProvidersPlugin({ source, logger, builtIn, createAdapter }: Parts): Plugin {
  return {
    name: 'model-providers',
    inject: ['models', 'settings'],
    apply(ctx) {
      const { models, settings } = ctx
      for (const adapter of builtIn) models.register(adapter)
      const registered = new Map<string, Registered>()
      const follow = () => settle(registered, wanted(source, settings, logger), models, createAdapter)
      follow()
      ctx.effect(
        settings.onDidChange((key) => {
          if (key === 'providers' || key.startsWith('llm.retry.')) follow()
        }),
      )
    },
  }
}

interface Registered {
  readonly text: string
  readonly undo: Undo
}

function settle(registered: Map<string, Registered>, configs: readonly ProviderConfig[], models: ModelRegistry, create: Parts['createAdapter']): void {
  const texts = new Map(configs.map((config) => [config.id, JSON.stringify(config)]))
  for (const [id, { text, undo }] of registered) {
    if (texts.get(id) === text) continue
    undo()
    registered.delete(id)
  }
  for (const config of configs) {
    if (registered.has(config.id)) continue
    registered.set(config.id, { text: texts.get(config.id) ?? '', undo: models.register(create(config)) })
  }
}

function wanted(source: SettingsSource, settings: Settings, logger: Logger): readonly ProviderConfig[] {
  const raw = source.inspect(specs.providers.key).user
  const { configs, problems } = configuredProviders(goodEntries(raw), retryPolicyFrom(settings))
  for (const problem of problems) logger.warn(problem)
  return configs
}

/** The settings service tells the person about bad entries. */
function goodEntries(raw: unknown): Readonly<Record<string, ProviderSetting>> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return {}
  return Object.fromEntries(
    Object.entries(raw).flatMap(([id, entry]) => {
      const parsed = providerSchema.safeParse(entry)
      return id.trim() !== '' && parsed.success ? [[id, parsed.data] as const] : []
    }),
  )
}

function retryPolicyFrom(settings: Settings): RetryPolicy {
  return {
    mode: settings.get(specs.llmRetryMode),
    maxRetries: settings.get(specs.llmRetryMaxRetries),
    initialDelayMs: settings.get(specs.llmRetryInitialDelayMs),
    maxDelayMs: settings.get(specs.llmRetryMaxDelayMs),
    jitter: settings.get(specs.llmRetryJitter),
  }
}
