import type { Undo } from '../../base/undo.ts'
import { everyLayer } from '../kernel/plugin.ts'
import type { Context, Dispatcher, Plugin, ScopeKey } from '../kernel/plugin.ts'
import { scopeChain } from '../kernel/scope-chain.ts'
import type { Tools } from '../tools/service.ts'
import { interpolate } from './interpolate.ts'
import type { PromptContext, PromptSection, RuntimeContextSection, SystemPrompt } from './system-prompt.ts'

/** The plugin that offers the system prompt. Source: runtime specification 14. */
export function createSystemPromptPlugin({ dispatch }: { readonly dispatch: Dispatcher }): Plugin {
  return {
    name: 'system-prompt',
    apply(ctx) {
      const prompt = new PromptLayers(dispatch, () => ctx.get('tools'))
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

class PromptLayers {
  readonly sections = new Layers<PromptSection>()
  readonly runtime = new Layers<RuntimeContextSection>()
  readonly #omitting = new Map<ScopeKey, number>()
  readonly #dispatch: Dispatcher
  readonly #tools: () => Tools | undefined

  constructor(dispatch: Dispatcher, tools: () => Tools | undefined) {
    this.#dispatch = dispatch
    this.#tools = tools
  }

  announce(): void {
    this.#dispatch.emit('system-prompt/change', everyLayer, [])
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
    const parts = { sections: this.#render(context) }
    const { sections } = await this.#dispatch.waterfall('system-prompt/assemble', context.scope, [parts, context], async () => parts)
    const runtime = await this.#runtimeTexts(context)
    return {
      system: sections.map(({ text }) => text).join('\n\n'),
      runtimeContext: runtime.map(({ text }) => text).join('\n\n'),
      runtimeSections: runtime.map(({ name }) => name),
    }
  }

  #render(context: PromptContext): readonly { readonly name: string; readonly text: string }[] {
    const hasTool = (name: string) => this.#tools()?.get(name, context.scope) !== undefined
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

  async #runtimeTexts(context: PromptContext): Promise<readonly { readonly name: string; readonly text: string }[]> {
    if (scopeChain(context.scope).some((key) => this.#omitting.has(key))) return []
    const texts = await Promise.all(
      this.runtime.visible(context.scope).map(async ({ name, text }) => ({ name, text: (await text(context))?.trim() ?? '' })),
    )
    return texts.filter(({ text }) => text !== '')
  }
}

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
