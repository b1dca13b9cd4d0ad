import type { Undo } from '../../base/undo.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Context, Kernel, Plugin, ScopeKey } from '../kernel/plugin.ts'
import { isHarmless } from '../policy/tool-effects.ts'
import { settings } from '../settings/specs.ts'
import type { Preset, Presets, PresetSummary } from './preset.ts'
import { PresetError } from './preset.ts'
import { shippedPresets } from './shipped.ts'

interface PresetsOptions {
  readonly kernel: Pick<Kernel, 'createScope' | 'disposeScope'>
  readonly presets?: readonly Preset[]
  /** In a folder that is not trusted, only tools that change nothing are there. Absent: the folder counts as trusted. */
  readonly workspace?: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust'>
}

/** The plugin that offers presets: each has one standing layer, mounted at its first use. */
export function createPresetsPlugin({ kernel, presets = shippedPresets, workspace }: PresetsOptions): Plugin {
  return {
    name: 'presets',
    inject: ['settings', 'systemPrompt', 'tools'],
    apply(ctx) {
      const service = new PresetMounts(ctx, { kernel, presets, workspace })
      // Owned first, so that it goes last: nobody may see more tools because the layers went before those who use them.
      ctx.effect(() => service.dispose())
      ctx.provide('presets', service)
    },
  }
}

class PresetMounts implements Presets {
  readonly #ctx: Context
  readonly #kernel: PresetsOptions['kernel']
  readonly #workspace: PresetsOptions['workspace']
  readonly #presets: readonly Preset[]
  readonly #scopes = new Map<string, ScopeKey>()

  constructor(ctx: Context, { kernel, presets, workspace }: Required<Pick<PresetsOptions, 'kernel' | 'presets'>> & { readonly workspace: PresetsOptions['workspace'] | undefined }) {
    this.#ctx = ctx
    this.#kernel = kernel
    this.#workspace = workspace
    this.#presets = [...presets].sort((left, right) => left.order - right.order)
  }

  list(): readonly PresetSummary[] {
    return this.#presets.map((preset) => {
      const { id, name, description } = preset
      const problem = this.#problem(preset)
      return { id, name, description, ...(problem !== undefined && { problem }) }
    })
  }

  get(id: string): Preset | undefined {
    return this.#presets.find((preset) => preset.id === id)
  }

  defaultId(): string {
    return this.#ctx.settings.get(settings.agentDefaultPreset)
  }

  scopeOf(id: string): ScopeKey {
    const preset = this.get(id)
    if (!preset) {
      const known = this.#presets.map((other) => other.id).join(', ')
      throw new PresetError('UNKNOWN_PRESET', `There is no preset named ${id}. Choose one of ${known}.`)
    }
    const mounted = this.#scopes.get(id)
    if (mounted) return mounted
    const problem = this.#problem(preset)
    if (problem !== undefined) throw new PresetError('PRESET_BROKEN', problem)
    const scope = this.#kernel.createScope(`preset ${id}`, null)
    mount(this.#ctx.scoped(scope), preset, this.#workspace)
    this.#scopes.set(id, scope)
    return scope
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#scopes.values()].map((scope) => this.#kernel.disposeScope(scope)))
    this.#scopes.clear()
  }

  #problem({ id, needs = [] }: Preset): string | undefined {
    const missing = needs.filter((name) => !this.#ctx.tools.get(name, null))
    return missing.length === 0 ? undefined : `The preset ${id} needs ${missing.join(', ')}, which this build does not have.`
  }
}

function mount(ctx: Context, { id, presentation, persona, hasRuntimeContext, tools }: Preset, workspace: PresetsOptions['workspace']): void {
  if (presentation !== 'native') ctx.tools.presentAs(presentation)
  if (persona !== undefined) ctx.systemPrompt.section({ name: `persona of ${id}`, order: 0, text: persona, isComplete: true })
  if (!hasRuntimeContext) ctx.systemPrompt.omitRuntimeContext()
  const isTrusted = () => workspace?.isTrusted() ?? true
  const isTurnedOff = (name: string) => ctx.settings.get(settings.toolsDisabled).includes(name)
  const update = keepToolsTo(ctx, (name) => tools.includes(name) && !isTurnedOff(name) && (isTrusted() || isHarmless(name)))
  if (workspace) ctx.effect(workspace.onDidChangeTrust(update))
  ctx.effect(
    ctx.settings.onDidChange((key) => {
      if (key === settings.toolsDisabled.key) update()
    }),
  )
}

/**
 * Hold a layer to the tools it may have while tools come and go; call what it returns when the answer may have changed.
 *
 * A restriction may only name tools that are there, so it is made anew whenever what it would say changes.
 */
function keepToolsTo(ctx: Context, isAllowed: (name: string) => boolean): () => void {
  let held: { readonly key: string; readonly undo: Undo } | null = null
  let isUpdating = false
  const update = () => {
    // Making a restriction is itself a change of the tools.
    if (isUpdating) return
    isUpdating = true
    try {
      const there = ctx.tools.list(null).map(({ name }) => name)
      const allow = there.filter((name) => isAllowed(name))
      const filter = allow.length > 0 ? { allow } : { deny: there }
      const key = JSON.stringify(filter)
      if (held?.key === key) return
      const before = held
      // The new one first: in between, the layer never sees more than it may.
      held = there.length === 0 ? null : { key, undo: ctx.tools.restrict(filter) }
      before?.undo()
    } finally {
      isUpdating = false
    }
  }
  update()
  ctx.on('tools/change', update)
  return update
}
