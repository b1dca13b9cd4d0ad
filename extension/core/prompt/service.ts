import type { Undo } from '../../base/undo.ts'
import { everyLayer } from '../kernel/plugin.ts'
import type { Context, Dispatcher, Plugin, ScopeKey } from '../kernel/plugin.ts'
import { scopeChain } from '../kernel/scope-chain.ts'
import { RESERVED_TOOL_NAME } from '../tools/definition.ts'
import { UNLISTED_TOOLS, type Tools } from '../tools/service.ts'
import { interpolate } from './interpolate.ts'
import type { PromptContext, PromptSection, RenderedSection, RuntimeContextSection, SystemPrompt } from './system-prompt.ts'

export interface SystemPromptOptions {
  readonly dispatch: Dispatcher
  readonly includeRuntimeContext?: () => boolean
  /** Names in the order in which the tools are declared; a prompt is put together only while all of them are known. */
  readonly toolOrder?: () => readonly string[]
}

/** The plugin that offers the system prompt. Source: runtime specification 14. */
export function createSystemPromptPlugin({ dispatch, includeRuntimeContext = () => true, toolOrder = () => [] }: SystemPromptOptions): Plugin {
  return {
    name: 'system-prompt',
    apply(ctx) {
      const prompt = new PromptLayers({ dispatch, includeRuntimeContext, toolOrder, tools: () => ctx.get('tools') })
      ctx.provide('systemPrompt', (user: Context) => new SystemPromptView(prompt, user))
    },
  }
}

interface Named {
  readonly name: string
  readonly order: number
}

/** Named contributions by layer; the nearest of a name shadows the others. */
class Layers<T extends Named> {
  readonly #layers = new Map<ScopeKey | null, Map<string, T>>()

  /** Errors: `Error` for a name the layer has already. */
  add(entry: T, scope: ScopeKey | null): Undo {
    const layer = this.#layers.get(scope) ?? new Map<string, T>()
    if (layer.has(entry.name)) {
      throw new Error(`A prompt section named ${entry.name} is there already in ${scope?.label ?? 'the global layer'}.`)
    }
    this.#layers.set(scope, layer.set(entry.name, entry))
    return () => {
      if (layer.get(entry.name) !== entry) return
      layer.delete(entry.name)
      if (layer.size === 0 && this.#layers.get(scope) === layer) this.#layers.delete(scope)
    }
  }

  /** What an agent of `scope` sees, ascending by order, then by name. */
  visible(scope: ScopeKey | null): readonly T[] {
    const found = new Map<string, T>()
    for (const key of [...scopeChain(scope), null]) {
      for (const [name, entry] of this.#layers.get(key) ?? []) if (!found.has(name)) found.set(name, entry)
    }
    return [...found.values()].sort((left, right) => left.order - right.order || (left.name < right.name ? -1 : 1))
  }
}

type LayersParts = Required<SystemPromptOptions> & { readonly tools: () => Tools | undefined }

class PromptLayers {
  readonly sections = new Layers<PromptSection>()
  readonly runtime = new Layers<RuntimeContextSection>()
  readonly #omitting = new Map<ScopeKey, number>()
  readonly #parts: LayersParts

  constructor(parts: LayersParts) {
    this.#parts = parts
  }

  announce(): void {
    this.#parts.dispatch.emit('system-prompt/change', everyLayer, [])
  }

  omit(scope: ScopeKey | null): Undo {
    if (scope === null) throw new Error('Only a scoped context may leave the runtime context out.')
    this.#omitting.set(scope, (this.#omitting.get(scope) ?? 0) + 1)
    return () => {
      const left = (this.#omitting.get(scope) ?? 0) - 1
      if (left > 0) this.#omitting.set(scope, left)
      else this.#omitting.delete(scope)
    }
  }

  async assemble(context: PromptContext): ReturnType<SystemPrompt['assemble']> {
    this.#checkPresentation(context.scope)
    this.#checkToolOrder(context.scope)
    const own = { sections: this.#render(context), runtimeContext: await this.#runtimeTexts(context) }
    const { sections, runtimeContext } = await this.#parts.dispatch.waterfall('system-prompt/assemble', context.scope, [own, context], async () => own)
    return {
      system: sections.map(({ text }) => text).join('\n\n'),
      runtimeContext: runtimeContext.map(({ text }) => text).join('\n'),
      runtimeSections: runtimeContext.map(({ name }) => name),
    }
  }

  #checkPresentation(scope: ScopeKey): void {
    const tools = this.#parts.tools()
    if (tools === undefined || tools.presentation(scope) === 'native' || tools.get(RESERVED_TOOL_NAME, scope) !== undefined) return
    throw new Error('Tools are to be used through programs here, and nothing runs programs. Choose another preset, or set bosun.tools.presentation to native.')
  }

  #checkToolOrder(scope: ScopeKey): void {
    const tools = this.#parts.tools()
    const missing = this.#parts.toolOrder().filter((name) => name !== UNLISTED_TOOLS && tools?.get(name, scope) === undefined && tools?.get(name, null) === undefined)
    const native = tools?.presentation(scope) === 'code' ? this.#parts.toolOrder().filter((name) => name !== UNLISTED_TOOLS && name !== RESERVED_TOOL_NAME) : []
    if (native.length > 0) throw new Error(`The setting bosun.tools.order names ${native.join(', ')}, but programs are all a model can call here. Take them out, or set bosun.tools.presentation to both or native.`)
    if (missing.length === 0) return
    // One that cannot work here or is off is a name all the same: what is written for one machine is no mistake on another.
    const absent = new Set(tools?.absent().map(({ definition }) => definition.name))
    const unknown = missing.filter((name) => !absent.has(name) && !comesWithServer(name))
    if (unknown.length === 0) return
    const known = tools?.list(null).map(({ name }) => name) ?? []
    throw new Error(`The setting bosun.tools.order names ${unknown.join(', ')}, which is no tool. Correct it. Known: ${known.join(', ')}.`)
  }

  #render(context: PromptContext): readonly RenderedSection[] {
    const hasTool = (name: string) => this.#parts.tools()?.get(name, context.scope) !== undefined
    const visible = this.sections.visible(context.scope).filter(({ tools }) => tools === undefined || tools.every(hasTool))
    const complete = visible.filter(({ isComplete }) => isComplete)
    if (complete.length > 1) {
      throw new Error(`The prompt sections ${complete.map(({ name }) => name).join(' and ')} both want to be the whole prompt; only one can.`)
    }
    const values = { provider: context.provider, model: context.model, cwd: context.cwd }
    return (complete.length === 1 ? complete : visible).flatMap(({ name, text }) => {
      const raw = typeof text === 'function' ? text(context) : text
      const rendered = raw === undefined ? '' : interpolate(raw, values, name).trim()
      return rendered === '' ? [] : [{ name, text: rendered }]
    })
  }

  async #runtimeTexts(context: PromptContext): Promise<readonly RenderedSection[]> {
    if (!this.#parts.includeRuntimeContext()) return []
    if (scopeChain(context.scope).some((key) => this.#omitting.has(key))) return []
    const texts = await Promise.all(
      this.runtime.visible(context.scope).map(async ({ name, text }) => ({ name, text: (await text(context))?.trim() ?? '' })),
    )
    return texts.filter(({ text }) => text !== '')
  }
}

/** Such tools come and go. */
const comesWithServer = (name: string): boolean => /^(?:mcp|vscode)__/.test(name)

/** The service as one context sees it: contributions are filed into its layer and belong to its plugin. */
class SystemPromptView implements SystemPrompt {
  readonly #prompt: PromptLayers
  readonly #user: Context

  constructor(prompt: PromptLayers, user: Context) {
    this.#prompt = prompt
    this.#user = user
  }

  section(section: PromptSection): Undo {
    return this.#own(this.#prompt.sections.add(section, this.#user.scope))
  }
  runtimeContext(section: RuntimeContextSection): Undo {
    return this.#own(this.#prompt.runtime.add(section, this.#user.scope))
  }
  omitRuntimeContext(): Undo {
    return this.#own(this.#prompt.omit(this.#user.scope))
  }
  assemble(context: PromptContext) {
    return this.#prompt.assemble(context)
  }

  #own(remove: Undo): Undo {
    let isGone = false
    const undo = () => {
      if (isGone) return
      isGone = true
      remove()
      this.#prompt.announce()
    }
    try {
      const early = this.#user.effect(undo)
      this.#prompt.announce()
      return () => void early()
    } catch (error) {
      remove()
      throw error
    }
  }
}
