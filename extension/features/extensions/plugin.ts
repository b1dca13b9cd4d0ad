import type { AsyncUndo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Contribution, Contributions, TakenContribution } from '../../capabilities/contributions.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Context, Fiber, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/policy/permissions.ts'
import { ownEffects } from '../../core/policy/tool-effects.ts'
import { extensionOfGroup, groupOfExtension, takesExtension } from '../../core/presets/extension-tools.ts'
import type {} from '../../core/presets/preset.ts'
import { shippedPresets } from '../../core/presets/shipped.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import { RESERVED_TOOL_NAME, type Execution } from '../../core/tools/definition.ts'
import type {} from '../../core/tools/service.ts'
import type { Plugin as OfferedPlugin, PluginContext, PolicyListener, PromptSection, ResultObserver, Tool, Undo } from '../../../bosun.d.ts'
import { ExtensionApiError } from './api-error.ts'
import { callFacts, resultFacts } from './call-facts.ts'
import { checkContribution } from './check-contribution.ts'
import { createFileChanges, type BeginFileChanges, type FileChangesNeeds } from './file-changes.ts'
import { addPolicy } from './policy.ts'
import { definitionOf } from './tool.ts'

interface Parts {
  readonly contributions: Contributions
  readonly clock: Clock
  readonly logger: Logger
  readonly fileChanges: FileChangesNeeds
}

/** At the end of the prompt, so that what an extension adds or takes back leaves the words before it as they are. */
const LATE_ORDER = 200

/** Takes over what other extensions of the editor add. Each contribution is a plugin of its own, named after its extension. */
export function extensionsPlugin({ contributions, clock, logger, fileChanges }: Parts): Plugin {
  const beginChanges = createFileChanges(fileChanges)
  return {
    name: 'extensions',
    inject: ['tools', 'systemPrompt', 'permissions'],
    apply: (ctx) => contributions.attach((contribution) => new Taker(contribution.extensionId, { clock, logger, beginChanges }).take(ctx, contribution)),
  }
}

/** Every name that Bosun has for a tool of its own, also where the tool is not mounted: it would be judged and offered as that tool. */
const ownNames: ReadonlySet<string> = new Set([RESERVED_TOOL_NAME, ...ownEffects.keys(), ...shippedPresets.flatMap(({ tools }) => tools)])

/** Turns what one extension adds into registrations that belong to a plugin under its name. */
class Taker {
  readonly #extensionId: string
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #beginChanges: BeginFileChanges

  constructor(extensionId: string, { clock, logger, beginChanges }: Omit<Parts, 'contributions' | 'fileChanges'> & { readonly beginChanges: BeginFileChanges }) {
    this.#extensionId = extensionId
    this.#clock = clock
    this.#logger = logger
    this.#beginChanges = beginChanges
  }

  take(ctx: Context, contribution: Contribution): TakenContribution {
    switch (contribution.kind) {
      case 'tool':
        return this.#mounted(ctx, (own) => this.#tool(own, contribution.tool))
      case 'section':
        return this.#mounted(ctx, (own) => this.#section(own, contribution.section))
      case 'policy':
        return this.#mounted(ctx, (own) => this.#policy(own, contribution.listener))
      case 'results':
        return this.#mounted(ctx, (own) => this.#results(own, contribution.observer))
      case 'plugin':
        return ctx.plugin({ name: groupOfExtension(this.#extensionId), apply: (own) => this.#applied(own, contribution.plugin) })
    }
  }

  /** A plugin that registers at once. Errors: what it fails with. */
  #mounted(ctx: Context, apply: (own: Context) => void): Fiber {
    let failure: { readonly error: unknown } | null = null
    const fiber = ctx.plugin({
      name: groupOfExtension(this.#extensionId),
      apply(own) {
        try {
          apply(own)
        } catch (error) {
          failure = { error }
          throw error
        }
      },
    })
    if (failure === null) return fiber
    fiber.dispose().catch((error: unknown) => this.#logger.error('What an extension registered could not be taken back cleanly.', { extension: this.#extensionId, error: String(error) }))
    throw (failure as { readonly error: unknown }).error
  }

  #applied(ctx: Context, plugin: OfferedPlugin): void | AsyncUndo | Promise<void | AsyncUndo> {
    const outcome: unknown = plugin.apply(this.#context(ctx))
    const undoOf = (undo: unknown): void | AsyncUndo => {
      // Whoever writes without types may return anything; what is no function has nothing to take back.
      if (typeof undo === 'function') return undo as AsyncUndo
    }
    return outcome instanceof Promise ? outcome.then(undoOf) : undoOf(outcome)
  }

  #tool(ctx: Context, tool: Tool): void {
    const extensionId = this.#extensionId
    const { name, readOnly } = tool
    const other = ctx.tools.groupOf(name, null)
    if (ownNames.has(name) || other !== undefined) {
      const whose = extensionOfGroup(other)
      throw new ExtensionApiError('NAME_TAKEN', extensionId, `${extensionId} cannot register the tool ${JSON.stringify(name)}: ${whose === null ? 'Bosun has a tool' : whose === extensionId ? 'it has registered one' : `${whose} has registered one`} of that name. Choose another name, such as one that begins with that of the extension.`)
    }
    const { definition, calls } = definitionOf(tool, { extensionId, clock: this.#clock, beginChanges: this.#beginChanges })
    // Owned first, so that it goes last: no call begins while those that run are ended.
    ctx.effect(() => calls.end())
    ctx.effect(ctx.permissions.declare(name, () => ({ kind: 'unknown', from: extensionId, ...(readOnly === true && { isSaidToRead: true }) })))
    ctx.tools.register(definition)
  }

  #section(ctx: Context, { name, text, order = LATE_ORDER, tools }: PromptSection): void {
    const extensionId = this.#extensionId
    ctx.systemPrompt.section({
      name: `${extensionId}: ${name}`,
      order,
      ...(tools !== undefined && { tools: [...tools] }),
      text({ scope }) {
        const preset = ctx.get('presets')?.presetOf(scope)
        return preset === undefined || takesExtension(extensionId, preset.extensions) ? text : undefined
      },
    })
  }

  #policy(ctx: Context, listener: PolicyListener): void {
    addPolicy(ctx, listener, { extensionId: this.#extensionId, clock: this.#clock, logger: this.#logger, extensionOf: (tool, exec) => whose(ctx, tool, exec) })
  }

  #results(ctx: Context, observer: ResultObserver): void {
    // A throw, also a late one, is contained and logged under the name of this plugin.
    ctx.on('tools/result', (exec, result) => observer(callFacts(exec, (tool) => whose(ctx, tool, exec)), resultFacts(result)))
  }

  /** What a plugin of another extension sees of the application. */
  #context(ctx: Context): PluginContext {
    const extensionId = this.#extensionId
    const nested = (contribution: Contribution): Undo => {
      checkContribution(contribution)
      const taken = this.take(ctx, contribution)
      return () => taken.dispose()
    }
    return Object.freeze({
      // Whoever writes without types gives anything; the check looks at it.
      tools: Object.freeze({ register: (tool: unknown) => nested({ extensionId, kind: 'tool', tool: tool as Tool }) }),
      systemPrompt: Object.freeze({ section: (section: PromptSection) => nested({ extensionId, kind: 'section', section }) }),
      on: (point: string, listener: unknown) => {
        switch (point) {
          case 'tools/pre-execute':
            return nested({ extensionId, kind: 'policy', listener: listener as PolicyListener })
          case 'tools/result':
            return nested({ extensionId, kind: 'results', observer: listener as ResultObserver })
          default:
            throw new ExtensionApiError('INVALID_CONTRIBUTION', extensionId, `${extensionId} cannot listen to ${JSON.stringify(point)}. For other extensions there are tools/pre-execute and tools/result.`)
        }
      },
      effect: (undo: Undo) => ctx.effect(undo),
      plugin: (plugin: OfferedPlugin) => nested({ extensionId, kind: 'plugin', plugin }),
    })
  }
}

const whose = (ctx: Context, tool: string, { agent }: Execution): string | null => extensionOfGroup(ctx.tools.groupOf(tool, agent?.scope ?? null))
