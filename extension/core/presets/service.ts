import type { Undo } from '../../base/undo.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Context, Kernel, Plugin, ScopeKey } from '../kernel/plugin.ts'
import { isHarmless } from '../policy/tool-effects.ts'
import type { PresentationMode } from '../tools/service.ts'
import { settings } from '../settings/specs.ts'
import { discoverPresets, type FoundPreset } from './discover.ts'
import { presetFileText, presetIdPattern, presetSuffix } from './preset-file.ts'
import type { Preset, Presets, PresetSummary } from './preset.ts'
import { PresetError } from './preset.ts'
import { extensionOfGroup, takesExtension } from './extension-tools.ts'
import { isEditorTool, isMcpTool, isSwitchedOff, takesEditorTool, takesMcpTool } from './mcp-tools.ts'
import { isPluginTool } from './plugin-tools.ts'
import { hasFolderForPrograms, isProgramTool } from './program-tools.ts'
import { isSessionTool } from './session-tools.ts'
import { presetIdOf, shippedPresets } from './shipped.ts'

interface PresetsOptions {
  readonly kernel: Pick<Kernel, 'createScope' | 'disposeScope'>
  readonly presets?: readonly Preset[]
  /**
   * In a folder that is not trusted, only tools that change nothing are there, and its presets are not read; where no folder is on the disk,
   * none that starts programs. Absent: the folder counts as trusted and on the disk.
   */
  readonly workspace?: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust' | 'folders' | 'onDidChangeFolders'>
  /** Where presets of the person and of the workspace are looked for. Absent: only those that come with Bosun. */
  readonly stored?: {
    readonly files: Pick<FileSystem, 'resolve' | 'readDirectory' | 'readText' | 'writeText'>
    /** The person's own folder for them, such as `~/.bosun/presets`. */
    readonly userFolder: string
  }
}

/** The plugin that offers presets: each has one standing layer a generation, mounted at its first use. */
export function createPresetsPlugin({ kernel, presets = shippedPresets, workspace, stored }: PresetsOptions): Plugin {
  return {
    name: 'presets',
    inject: ['settings', 'systemPrompt', 'tools'],
    apply(ctx) {
      const service = new PresetMounts(ctx, { kernel, presets, workspace, stored })
      // Owned first, so that it goes last: nobody may see more tools because the layers went before those who use them.
      ctx.effect(() => service.dispose())
      ctx.provide('presets', service)
    },
  }
}

type Known = FoundPreset

/** Where a workspace keeps its presets. */
const workspaceFolder = '.bosun/presets'

class PresetMounts implements Presets {
  readonly #ctx: Context
  readonly #kernel: PresetsOptions['kernel']
  readonly #workspace: PresetsOptions['workspace']
  readonly #stored: PresetsOptions['stored']
  readonly #shipped: readonly Known[]
  #known: readonly Known[]
  /** By id and generation; a generation that was replaced stands for the sessions that run on it. */
  readonly #scopes = new Map<string, ScopeKey>()
  readonly #mounted = new Map<ScopeKey, Preset>()
  readonly #listeners = new Set<(scope: ScopeKey, preset: Preset) => void>()
  /** Every name a preset that comes with Bosun speaks of: a tool may be named before its part is there. */
  readonly #toolNames: ReadonlySet<string>

  constructor(ctx: Context, { kernel, presets, workspace, stored }: { [Key in keyof Required<PresetsOptions>]: PresetsOptions[Key] }) {
    this.#ctx = ctx
    this.#kernel = kernel
    this.#workspace = workspace
    this.#stored = stored
    this.#shipped = (presets ?? []).map((preset) => ({ id: preset.id, path: '', root: 'shipped', generation: 'shipped', preset }))
    this.#toolNames = new Set((presets ?? []).flatMap(({ tools }) => tools))
    this.#known = sorted(this.#shipped)
  }

  async discover(): Promise<void> {
    if (!this.#stored) return
    const { files, userFolder } = this.#stored
    const isTrusted = this.#workspace?.isTrusted() ?? true
    const folders = isTrusted ? (this.#workspace?.folders() ?? []) : []
    const found = await Promise.all([
      discoverPresets(files, userFolder, 'user'),
      ...folders.map(({ path }) => discoverPresets(files, `${path}/${workspaceFolder}`, 'workspace')),
    ])
    this.#known = sorted(withoutTwins([...this.#shipped, ...found.flat()]))
  }

  list(): readonly PresetSummary[] {
    return this.#known.map((known) => {
      const { id, root, path, preset } = known
      const problem = this.#problem(known)
      return {
        id,
        name: preset?.name ?? id,
        description: preset?.description ?? '',
        root,
        ...(path !== '' && { path }),
        ...(problem !== undefined && { problem }),
      }
    })
  }

  defaultId(): string {
    return presetIdOf(this.#ctx.settings.get(settings.agentDefaultPreset))
  }

  get(asked: string): Preset | undefined {
    const id = presetIdOf(asked)
    return this.#known.find((other) => other.id === id && other.preset !== undefined)?.preset
  }

  scopeOf(asked: string): ScopeKey {
    const known = this.#find(asked)
    const { id, generation, path, root, preset } = known
    const presentation = this.#presentation(preset)
    // The same file is less in a workspace than among the person's own: it may only tighten.
    const key = `${root} ${id}@${generation} ${presentation}`
    const mounted = this.#scopes.get(key)
    if (mounted) return mounted
    const problem = this.#problem(known)
    if (problem !== undefined || preset === undefined) throw new PresetError('PRESET_BROKEN', refusal({ id, path, problem }))
    const scope = this.#kernel.createScope(`preset ${id}`, null)
    mount(this.#ctx.scoped(scope), { ...preset, presentation }, this.#workspace)
    this.#scopes.set(key, scope)
    this.#mounted.set(scope, preset)
    for (const listener of this.#listeners) listener(scope, preset)
    return scope
  }

  /** The person's choice over that of the preset, but for one whose own words are the whole prompt: they leave no room for what programs can call. */
  #presentation(preset: Preset | undefined): PresentationMode {
    const chosen = this.#ctx.settings.get(settings.toolsPresentation)
    const own = preset?.presentation ?? 'native'
    return chosen === 'preset' || preset?.persona !== undefined ? own : chosen
  }

  presetOf(scope: ScopeKey): Preset | undefined {
    for (let layer: ScopeKey | null = scope; layer !== null; layer = layer.parent) {
      const preset = this.#mounted.get(layer)
      if (preset) return preset
    }
    return undefined
  }

  onMount(listener: (scope: ScopeKey, preset: Preset) => void): Undo {
    const own = (scope: ScopeKey, preset: Preset) => listener(scope, preset)
    this.#listeners.add(own)
    for (const [scope, preset] of this.#mounted) own(scope, preset)
    return () => void this.#listeners.delete(own)
  }

  async copy(id: string, newId: string, root: 'user' | 'workspace' = 'user'): Promise<string> {
    await this.discover()
    const { preset } = this.#find(id)
    if (!this.#stored) throw new PresetError('PRESET_BROKEN', 'There is no folder for presets of your own here.')
    if (preset === undefined) throw new PresetError('PRESET_BROKEN', `The preset ${id} cannot be read, so it cannot be copied. Mend it first.`)
    if (!presetIdPattern.test(newId)) throw new PresetError('PRESET_BROKEN', `"${newId}" is no name for a preset. Use lower-case letters, digits and hyphens, a letter or digit first.`)
    if (presetIdOf(newId) !== newId || this.#known.some((other) => other.id === newId)) throw exists(newId)
    const { files, userFolder } = this.#stored
    const folder = root === 'user' ? userFolder : this.#workspaceFolder()
    const target = await files.resolve(`${folder}/${newId}${presetSuffix}`, '/')
    if (target.exists) throw exists(newId)
    await files.writeText({ target, text: presetFileText(preset), expect: { kind: 'absent' }, isForOwnerAlone: true, label: `Bosun: copy the preset ${id}` })
    await this.discover()
    return target.path
  }

  #workspaceFolder(): string {
    const [first] = this.#workspace?.folders() ?? []
    if (first === undefined) throw new PresetError('PRESET_BROKEN', 'No folder is open, so there is no workspace to keep a preset in. Open a folder, or copy it to your own presets.')
    if (this.#workspace?.isTrusted() === false) throw new PresetError('PRESET_BROKEN', 'The folder is not trusted, so its presets are not read. Trust it first, or copy the preset to your own.')
    return `${first.path}/${workspaceFolder}`
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#scopes.values()].map((scope) => this.#kernel.disposeScope(scope)))
    this.#scopes.clear()
    this.#mounted.clear()
  }

  #find(asked: string): Known {
    const id = presetIdOf(asked)
    const known = this.#known.find((other) => other.id === id && other.preset !== undefined) ?? this.#known.find((other) => other.id === id)
    if (known) return known
    const names = this.#known.flatMap((other) => (other.preset === undefined ? [] : [other.id])).join(', ')
    throw new PresetError('UNKNOWN_PRESET', `There is no preset named ${asked}. Choose one of ${names}.`)
  }

  #problem({ id, preset, problem, root }: Known): string | undefined {
    if (preset === undefined) return problem
    if (problem !== undefined) return problem
    const missing = (preset.needs ?? []).filter((name) => !this.#ctx.tools.get(name, null))
    if (missing.length > 0 && missing.every(isPluginTool)) return `The preset ${id} writes plugins, and those are off. ${this.#ctx.settings.get(settings.dynamicPluginsEnabled) ? 'Trust this folder to use it.' : 'Turn on the setting bosun.dynamicPlugins.enabled to use it.'}`
    if (missing.length > 0) {
      const reasons = new Map(this.#ctx.tools.absent().map(({ definition, needs }) => [definition.name, needs]))
      const [reason] = missing.flatMap((name) => reasons.get(name) ?? [])
      return reason === undefined ? `The preset ${id} needs ${missing.join(', ')}, which this build does not have.` : `The preset ${id} needs ${missing.join(', ')}. What is missing for that: ${reason}`
    }
    const unseen = root === 'shipped' ? [] : preset.tools.filter((name) => !this.#toolNames.has(name) && !isMcpTool(name) && !isEditorTool(name) && !this.#ctx.tools.get(name, null))
    const absent = unseen.length === 0 ? [] : this.#ctx.tools.absent().map(({ definition }) => definition.name)
    const unknown = unseen.filter((name) => !absent.includes(name))
    return unknown.length === 0 ? undefined : `There is no tool named ${unknown.join(', ')}. Take it out of the list of tools.`
  }
}

/** The reason alone stands in a list beside the name; here nothing does. */
const refusal = ({ id, path, problem = 'it cannot be read.' }: { readonly id: string; readonly path: string; readonly problem: string | undefined }) =>
  path === '' ? problem : `The preset ${id} in ${path} cannot be used: ${problem.replace(/\.?$/, '.')} Mend the file, or choose another preset.`

const exists = (id: string) => new PresetError('PRESET_EXISTS', `There is a preset named ${id} already, and none is written over. Choose another name.`)

const sorted = (known: readonly Known[]): readonly Known[] =>
  known.toSorted((left, right) => (left.preset?.order ?? Infinity) - (right.preset?.order ?? Infinity) || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0))

/** The earlier root wins an id; the later one is listed with that as its reason. */
function withoutTwins(known: readonly Known[]): readonly Known[] {
  const first = new Map<string, Known>()
  return known.map((one) => {
    const earlier = first.get(presetIdOf(one.id))
    if (earlier === undefined) {
      first.set(one.id, one)
      return one
    }
    const { id, path, root, generation } = one
    return { id, path, root, generation, problem: `The name ${id} belongs to a preset ${earlier.root === 'shipped' ? 'that comes with Bosun' : `in ${earlier.path}`}. Rename this file.` }
  })
}

function mount(ctx: Context, { id, presentation, persona, sections = [], hasRuntimeContext, hasSessionTools = true, mcpServers, extensions, isFromWorkspace, tools }: Preset, workspace: PresetsOptions['workspace']): void {
  ctx.tools.presentAs(presentation)
  for (const { name, order, text } of sections) ctx.systemPrompt.section({ name, order, text })
  if (persona !== undefined) ctx.systemPrompt.section({ name: `persona of ${id}`, order: 0, text: persona, isComplete: true })
  if (!hasRuntimeContext) ctx.systemPrompt.omitRuntimeContext()
  const isTrusted = () => workspace?.isTrusted() ?? true
  const canRunPrograms = () => workspace === undefined || hasFolderForPrograms(workspace)
  const isTurnedOff = (name: string) => ctx.settings.get(settings.toolsDisabled).includes(name) || isSwitchedOff(name, ctx.settings, workspace?.folders() ?? [])
  const joins = (name: string) => hasSessionTools && isSessionTool(name) && ctx.settings.get(settings.historyTools)
  // What stands in other sessions a workspace cannot ask for: the person's setting alone opens it.
  const isNamed = (name: string) => tools.includes(name) && !(isFromWorkspace === true && isSessionTool(name))
  const isFromTaken = (name: string) => {
    const extensionId = extensionOfGroup(ctx.tools.groupOf(name, null))
    return extensionId !== null && takesExtension(extensionId, extensions)
  }
  const update = keepToolsTo(ctx, (name) => (isNamed(name) || joins(name) || takesMcpTool(ctx.tools.get(name, null) ?? { name }, mcpServers) || takesEditorTool(name, mcpServers) || isFromTaken(name)) && !isTurnedOff(name) && (isTrusted() || isHarmless(name)) && (canRunPrograms() || !isProgramTool(name)))
  if (workspace) {
    ctx.effect(workspace.onDidChangeTrust(update))
    ctx.effect(workspace.onDidChangeFolders(update))
  }
  ctx.effect(
    ctx.settings.onDidChange((key) => {
      if ([settings.toolsDisabled.key, settings.historyTools.key, settings.mcpDisabledTools.key].includes(key)) update()
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
