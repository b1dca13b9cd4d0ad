import type { Clock } from '../capabilities/clock.ts'
import type { Editor, PickItem } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Secrets } from '../capabilities/secrets.ts'
import type { SettingsSource } from '../capabilities/settings-source.ts'
import type { AgentOptions } from '../core/loop/points.ts'
import type { ConnectionReport, ModelAdapter, ModelInfo, ModelRegistry, ProviderInfo } from '../core/model/contract.ts'
import { checkConnection, lacksKey, listChoices } from '../core/model/model-choices.ts'
import type { Settings } from '../core/settings/settings.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { ModelChoiceView } from '../protocol/view-state.ts'
import { tokensText } from './usage-view.ts'

interface Parts {
  readonly models: Pick<ModelRegistry, 'get' | 'list'>
  readonly settings: Pick<Settings, 'get'>
  readonly source: SettingsSource
  readonly secrets: Pick<Secrets, 'get' | 'set'>
  readonly editor: Pick<Editor, 'pick' | 'input'>
  readonly clock: Clock
  /** What came of a check that the person asked for in the picker. */
  readonly onReport: (report: ConnectionReport) => void
  readonly l10n: Localization
}

/** The key of a provider that searches the web: set in the same place. */
export interface SearchKey {
  readonly name: string
  readonly title: string
  readonly keyName: string
}

/** What a new session is answered by, and why it is not what the settings say. */
export interface DefaultModel {
  readonly options: AgentOptions
  /** No model is set up and the person chose none: the written script plays. */
  readonly isStandIn: boolean
}

/** A model server that answered on this machine. */
export interface LocalServer {
  readonly provider: ProviderInfo
  readonly first: ModelInfo
  readonly count: number
}

/** Which model answers: the default, the picker, keys and checks. */
export class ModelChooser {
  readonly #parts: Parts
  readonly #infos = new Map<string, ModelInfo>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** As the settings say, or the scripted tour while nothing is set up and nobody chose. Null: there is no model at all. */
  async defaultModel(): Promise<DefaultModel | null> {
    const { models, settings, source } = this.#parts
    const provider = settings.get(specs.modelProvider)
    const adapter = models.get(provider)
    const { user, workspace } = source.inspect(specs.modelProvider.key)
    const wasChosen = user !== undefined || workspace !== undefined
    if (adapter !== undefined && (wasChosen || !(await lacksKey(adapter, this.#parts.secrets)))) {
      if (adapter.provider.isScripted === true) return { options: await this.#scriptedOptions(adapter), isStandIn: false }
      // The effort of the settings is only for models that know it, which the loop finds out.
      return { options: { provider, model: settings.get(specs.modelName) }, isStandIn: false }
    }
    const script = models.list().find((entry) => entry.provider.isScripted === true)
    if (wasChosen || script === undefined) return null
    return { options: await this.#scriptedOptions(script), isStandIn: true }
  }

  /** The words for a choice; facts about the model join once they are known. */
  async view(options: AgentOptions): Promise<ModelChoiceView | null> {
    const { provider, model } = options
    if (provider === undefined || model === undefined) return null
    const adapter = this.#parts.models.get(provider)
    const info = adapter === undefined ? undefined : await this.#infoOf(adapter, model)
    const effort = options.reasoningEffort ?? this.#parts.settings.get(specs.modelReasoningEffort)
    return {
      provider,
      model,
      label: info?.name ?? model,
      isScripted: adapter?.provider.isScripted === true,
      reasoningEffort: effort !== null && info?.reasoningEfforts.includes(effort) === true ? effort : null,
    }
  }

  /** Let the person choose a model (of one provider, when `only` names it), then how hard it thinks where it can. Kept as the default of new sessions. */
  async pick(current: AgentOptions, only?: string): Promise<AgentOptions | null> {
    const { editor, l10n } = this.#parts
    const choices = (await listChoices(this.#parts)).filter(({ adapter }) => only === undefined || adapter.provider.id === only)
    const items: PickItem[] = []
    for (const { adapter, models, problem, needsKey } of choices) {
      if (models.length === 0 && problem === null) continue
      items.push({ id: `separator:${adapter.provider.id}`, label: adapter.provider.name, isSeparator: true })
      for (const model of models) {
        items.push({
          id: `model:${JSON.stringify([adapter.provider.id, model.id])}`,
          label: model.name,
          description: model.id === model.name ? '' : model.id,
          detail: this.#detailOf(adapter, model, needsKey),
          isCurrent: current.provider === adapter.provider.id && current.model === model.id,
        })
      }
      if (problem !== null) items.push({ id: `problem:${adapter.provider.id}`, label: l10n.t('Check the connection'), detail: problem })
    }
    const waiting = await this.#waitingForKey()
    items.push(
      { id: 'separator', label: l10n.t('Set up'), isSeparator: true },
      { id: 'key', label: l10n.t('Set an API key…'), ...(waiting !== '' && { detail: l10n.t('The models of {providers} come with a key', { providers: waiting }) }) },
    )
    const picked = await editor.pick({ title: l10n.t('Choose a model'), placeholder: l10n.t('It answers from the next message on'), items })
    if (picked === null) return null
    if (picked === 'key') {
      const provider = await this.setKey(current.provider)
      // With its key a provider has models to choose from.
      return provider === null ? null : await this.pick(current, provider)
    }
    if (picked.startsWith('problem:')) {
      const provider = picked.slice('problem:'.length)
      this.#parts.onReport(await this.check({ provider }))
      return null
    }
    const choice = choices
      .flatMap(({ adapter, models }) => models.map((model) => ({ adapter, model })))
      .find(({ adapter, model }) => picked === `model:${JSON.stringify([adapter.provider.id, model.id])}`)
    if (choice === undefined) return null
    const effort = await this.#pickEffort(choice.model, current.reasoningEffort)
    return effort === undefined ? null : await this.#keep(choice.adapter.provider.id, choice.model, effort)
  }

  /** The servers that run on this machine, with their models; asked for a short moment each. */
  async localServers(): Promise<readonly LocalServer[]> {
    const choices = await listChoices(this.#parts, (adapter) => adapter.provider.isLocal === true && adapter.provider.isScripted !== true)
    return choices.flatMap(({ adapter, models }) => (models[0] === undefined ? [] : [{ provider: adapter.provider, first: models[0], count: models.length }]))
  }

  /** Choose a model of a server that was found. Kept as the default of new sessions. */
  async use({ provider, first }: LocalServer): Promise<AgentOptions> {
    return await this.#keep(provider.id, first, null)
  }

  async #keep(provider: string, model: ModelInfo, effort: string | null): Promise<AgentOptions> {
    const { source } = this.#parts
    this.#infos.set(infoKey(provider, model.id), model)
    await source.set(specs.modelProvider.key, provider, 'user')
    await source.set(specs.modelName.key, model.id, 'user')
    if (model.reasoningEfforts.length > 0) await source.set(specs.modelReasoningEffort.key, effort, 'user')
    return { provider, model: model.id, ...(effort === null ? {} : { reasoningEffort: effort }) }
  }

  /**
   * Ask for a key and keep it in the editor's secret storage.
   *
   * Shape: the provider of models whose key was set; null when the person backed out, or set the key of a search.
   * Errors: `Error` when the key comes from the environment, which wins.
   */
  async setKey(preferred?: string, searchKeys: readonly SearchKey[] = []): Promise<string | null> {
    const { editor, l10n, models, secrets } = this.#parts
    const known = [
      ...models.list().flatMap(({ provider: { id, name, keyName } }) => (keyName === undefined ? [] : [{ id, name, keyName, isSearch: false }])),
      ...searchKeys.map(({ name, title, keyName }) => ({ id: `search:${name}`, name: l10n.t('{provider} (web search)', { provider: title }), keyName, isSearch: true })),
    ]
    const withKey = await Promise.all(known.map(async (one) => ({ ...one, source: (await secrets.get(one.keyName))?.source ?? null })))
    const picked =
      withKey.length === 1
        ? withKey[0]?.id
        : await editor.pick({
            title: l10n.t('Set an API key'),
            items: withKey.map(({ id, name, keyName, source }) => ({ id, label: name, description: this.#keyState(keyName, source), isCurrent: id === preferred })),
          })
    const chosen = withKey.find(({ id }) => id === picked)
    if (chosen === undefined) return null
    const { id, name, keyName, source, isSearch } = chosen
    if (source === 'environment') throw new Error(l10n.t('The key of {provider} comes from the environment variable {name}, which wins. Change it there.', { provider: name, name: keyName }))
    const value = await editor.input({
      title: l10n.t('API key of {provider}', { provider: name }),
      prompt: l10n.t('Kept in the editor’s secret storage. The environment variable {name} would win over it.', { name: keyName }),
      isSecret: true,
    })
    if (value === null || value.trim() === '') return null
    await secrets.set(keyName, value.trim())
    return isSearch ? null : id
  }

  /** Names of the providers that are there as soon as they have a key. */
  async #waitingForKey(): Promise<string> {
    const { models, secrets } = this.#parts
    const presets = models.list().filter(({ provider }) => provider.isPreset === true)
    const lacking = await Promise.all(presets.map(async (adapter) => ((await lacksKey(adapter, secrets)) ? [adapter.provider.name] : [])))
    return lacking.flat().join(', ')
  }

  #keyState(keyName: string, source: 'environment' | 'store' | null): string {
    const { t } = this.#parts.l10n
    if (source === 'environment') return t('{name} · from the environment, read-only', { name: keyName })
    return source === 'store' ? t('{name} · is set', { name: keyName }) : keyName
  }

  /** Whether the chosen model answers and, if not, what to do next. Ends by itself. */
  async check({ provider, model }: AgentOptions): Promise<ConnectionReport> {
    return await checkConnection(this.#parts, provider ?? '', model)
  }

  async #pickEffort(model: ModelInfo, current: string | undefined): Promise<string | null | undefined> {
    if (model.reasoningEfforts.length === 0) return null
    const { editor, l10n } = this.#parts
    const picked = await editor.pick({
      title: l10n.t('How hard {model} thinks', { model: model.name }),
      items: [
        ...model.reasoningEfforts.map((effort) => ({ id: `effort:${effort}`, label: effort, isCurrent: effort === current })),
        { id: 'provider', label: l10n.t('As the provider does by itself'), isCurrent: current === undefined },
      ],
    })
    if (picked === null) return undefined
    return picked === 'provider' ? null : picked.slice('effort:'.length)
  }

  #detailOf(adapter: ModelAdapter, model: ModelInfo, needsKey: boolean): string {
    const { t } = this.#parts.l10n
    if (adapter.provider.isScripted === true) return t('A written script, not a model')
    const size = t('{tokens} tokens', { tokens: tokensText(model.contextWindow) })
    return needsKey ? t('{size} · needs an API key', { size }) : size
  }

  async #scriptedOptions(adapter: ModelAdapter): Promise<AgentOptions> {
    const [first] = await adapter.listModels(new AbortController().signal)
    const model = first?.id
    return { provider: adapter.provider.id, ...(model === undefined ? {} : { model }) }
  }

  async #infoOf(adapter: ModelAdapter, model: string): Promise<ModelInfo | undefined> {
    const key = infoKey(adapter.provider.id, model)
    const known = this.#infos.get(key)
    if (known !== undefined) return known
    try {
      const info = await adapter.resolveModel(model)
      this.#infos.set(key, info)
      return info
    } catch {
      // A model that nobody can describe is shown by its id; using it tells what is wrong with it.
      return undefined
    }
  }
}

const infoKey = (provider: string, model: string) => JSON.stringify([provider, model])
