import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import type { Undo } from '../../base/undo.ts'
import type { Plugin } from '../kernel/plugin.ts'
import { settings as specs } from '../settings/specs.ts'
import type { Settings } from '../settings/settings.ts'
import { configuredProviders } from './configured-providers.ts'
import type { ModelAdapter, ModelRegistry, RetryPolicy } from './contract.ts'
import { noModelFile, readModelFile } from './model-file.ts'
import { modelOverridesFrom, type ModelOverrides } from './model-overrides.ts'
import type { ProviderConfig } from './provider-config.ts'
import { providerEntriesFrom } from './provider-entries.ts'

interface Parts {
  readonly source: SettingsSource
  readonly logger: Logger
  /** Adapters that need no configuration, such as the guided tour. */
  readonly builtIn: readonly ModelAdapter[]
  readonly createAdapter: (config: ProviderConfig) => ModelAdapter
  /** Where the person keeps facts about models, such as `~/.bosun/models.json`. */
  readonly modelFile: { readonly files: Pick<FileSystem, 'resolve' | 'readText'>; readonly path: string }
}

/** What the person said of providers and models that does not count, and why. */
export interface ModelProblems {
  list(): readonly string[]
}

declare module '../kernel/plugin.ts' {
  interface Services {
    modelProblems: ModelProblems
  }
}

/**
 * Registers an adapter for every provider of the table and of `bosun.providers`, and follows the settings live:
 * only what changed is registered anew, and a bad entry spoils no good one. The file about models is read at the start, with every
 * new agent and with every change of the settings.
 */
export function modelProvidersPlugin({ source, logger, builtIn, createAdapter, modelFile }: Parts): Plugin {
  return {
    name: 'model-providers',
    inject: ['models', 'settings'],
    apply(ctx) {
      const { models, settings } = ctx
      for (const adapter of builtIn) models.register(adapter)
      const registered = new Map<string, Registered>()
      let isGone = false
      ctx.effect(() => void (isGone = true))
      let file = noModelFile
      let problems: readonly string[] = []
      const follow = () => {
        const stated = modelOverridesFrom(source.inspect(specs.modelFacts.key).user, 'bosun.model.facts')
        const { configs, problems: bad } = wanted(source, settings, { ...file.overrides, ...stated.overrides })
        settle(registered, configs, models, createAdapter)
        const all = [...bad, ...stated.problems, ...file.problems]
        for (const problem of all) if (!problems.includes(problem)) logger.warn(problem)
        problems = all
      }
      const readAgain = async () => {
        const read = await readModelFile(modelFile.files, modelFile.path)
        if (JSON.stringify(read) === JSON.stringify(file) || isGone) return
        file = read
        follow()
      }
      ctx.provide('modelProblems', { list: () => problems })
      follow()
      ctx.on('agent/created', () => void readAgain())
      ctx.effect(
        settings.onDidChange((key) => {
          if (key !== 'providers' && key !== specs.modelFacts.key && !key.startsWith('llm.retry.')) return
          follow()
          void readAgain()
        }),
      )
      return readAgain()
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

function wanted(source: SettingsSource, settings: Settings, overrides: ModelOverrides): ReturnType<typeof configuredProviders> {
  const { entries, problems } = providerEntriesFrom(source.inspect(specs.providers.key).user)
  const wanted = configuredProviders(entries, retryPolicyFrom(settings), overrides)
  return { ...wanted, problems: [...problems, ...wanted.problems] }
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
