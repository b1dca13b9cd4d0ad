import { isNear } from '../../base/is-near.ts'
import { messageOf } from '../../base/message-of.ts'
import { orAbort } from '../../base/or-abort.ts'
import { fitBytes } from '../../base/text.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { everyLayer, type Context, type Dispatcher, type Plugin, type ScopeKey } from '../kernel/plugin.ts'
import { scopeChain } from '../kernel/scope-chain.ts'
import type {} from '../loop/points.ts'
import type { Agent } from '../session/agent.ts'
import { COMMAND_NAME, parseCommandLine, type CommandLine } from './command-line.ts'
import { CommandError, type CommandCall, type CommandDefinition, type CommandEntry, type CommandOptions, type CommandOutcome, type CommandPlace, type Commands, type CommandSource, type SettledCommand } from './command.ts'

export interface CommandsParts {
  readonly dispatch: Dispatcher
  readonly machine: Pick<Machine, 'randomId'>
  readonly logger: Logger
}

/** The plugin that offers the commands service. Commands that run end with their agent, and with it. */
export function createCommandsPlugin(parts: CommandsParts): Plugin {
  return {
    name: 'commands',
    apply(ctx) {
      const registry = new CommandRegistry(parts)
      ctx.provide('commands', (user: Context) => new CommandsView(registry, user))
      ctx.on('agent/disposing', (agent) => registry.endAll(agent))
      return () => registry.endAll(null)
    },
  }
}

/** UTF-8 bytes of what the row of a command says; the view cuts long text by itself, this only bounds the log. */
const MAX_TEXT_BYTES = 32_768

interface Layer {
  readonly own: Map<string, CommandDefinition>
  readonly sources: Set<CommandSource>
}

interface Running {
  readonly agent: Agent
  readonly controller: AbortController
  settled: Promise<unknown>
}

/** All layers of commands, nearest first: agent, preset, global. Source: runtime specification 4, 23. */
class CommandRegistry {
  readonly #parts: CommandsParts
  readonly #layers = new Map<ScopeKey | null, Layer>()
  readonly #running = new Set<Running>()

  constructor(parts: CommandsParts) {
    this.#parts = parts
  }

  register(definition: CommandDefinition, scope: ScopeKey | null): Undo {
    const { name } = definition
    if (!COMMAND_NAME.test(name)) throw new RangeError(`A command's name has lower-case letters, digits, - and _ only; got ${JSON.stringify(name)}.`)
    const layer = this.#layer(scope)
    if (layer.own.has(name)) {
      const advice = scope === null ? "Register it through an agent's own context to shadow it there." : 'Take that registration back first.'
      throw new Error(`A command /${name} is registered already${scope === null ? '' : ` in ${scope.label}`}. ${advice}`)
    }
    layer.own.set(name, definition)
    this.#announce()
    return () => {
      if (layer.own.get(name) !== definition) return
      layer.own.delete(name)
      this.#reclaim(scope, layer)
      this.#announce()
    }
  }

  contribute(source: CommandSource, scope: ScopeKey | null): Undo {
    const layer = this.#layer(scope)
    layer.sources.add(source)
    const unwatch = source.onDidChange(() => this.#announce())
    this.#announce()
    return () => {
      if (!layer.sources.delete(source)) return
      unwatch()
      this.#reclaim(scope, layer)
      this.#announce()
    }
  }

  get(name: string, scope: ScopeKey | null): CommandDefinition | undefined {
    for (const key of [...scopeChain(scope), null]) {
      const layer = this.#layers.get(key)
      const found = layer?.own.get(name) ?? (layer && this.#contributed(layer).find((definition) => definition.name === name))
      if (found) return found
    }
    return undefined
  }

  list(scope: ScopeKey | null): readonly CommandDefinition[] {
    const seen = new Map<string, CommandDefinition>()
    for (const key of [...scopeChain(scope), null]) {
      const layer = this.#layers.get(key)
      if (layer === undefined) continue
      for (const definition of [...layer.own.values(), ...this.#contributed(layer)]) if (!seen.has(definition.name)) seen.set(definition.name, definition)
    }
    return [...seen.values()].sort((left, right) => (left.name < right.name ? -1 : 1))
  }

  refusal(line: string, at: CommandPlace): CommandError | null {
    try {
      this.#resolve(line, at)
      return null
    } catch (error) {
      if (error instanceof CommandError) return error
      throw error
    }
  }

  async lookUp(line: string, at: CommandPlace): Promise<CommandError | null> {
    const refusal = this.refusal(line, at)
    if (refusal?.code !== 'UNKNOWN_COMMAND') return refusal
    await this.#refreshSources()
    return this.refusal(line, at)
  }

  async run(agent: Agent, line: string, { images = [], signal: stop, onSend }: CommandOptions = {}): Promise<SettledCommand> {
    const place = () => ({ scope: agent.scope, isIdle: agent.status === 'idle', imageCount: images.length })
    if (this.refusal(line, place())?.code === 'UNKNOWN_COMMAND') await this.#refreshSources()
    const { name, args, definition } = this.#resolve(line, place())
    const commandId = this.#parts.machine.randomId()
    const showsArguments = args !== '' && definition.hidesArguments !== true
    agent.session.append({ type: 'command/run', data: { commandId, name, ...(showsArguments && { args }), source: 'user' } })
    const controller = new AbortController()
    const running: Running = { agent, controller, settled: Promise.resolve() }
    const signal = stop === undefined ? controller.signal : AbortSignal.any([controller.signal, stop])
    const send: CommandCall['send'] = (content, target) => {
      // Its work may go on for a moment after it was stopped.
      signal.throwIfAborted()
      const id = this.#parts.machine.randomId()
      stop?.addEventListener('abort', () => agent.queue.remove(id), { once: true })
      onSend?.(id)
      agent.send({ id, role: 'user', content, source: { kind: 'user' } }, target, true)
    }
    const work = outcomeOf(definition, { commandId, agent, args, images, signal, send }).then((outcome) => this.#settle(agent, commandId, outcome))
    running.settled = work
    this.#running.add(running)
    try {
      return await work
    } finally {
      this.#running.delete(running)
    }
  }

  /** End what runs, for one agent or for all, and wait until the log says so. */
  async endAll(agent: Agent | null): Promise<void> {
    const ending = [...this.#running].filter((running) => agent === null || running.agent === agent)
    for (const { controller } of ending) controller.abort(new CommandError('BUSY', 'The session was closed while this command ran.'))
    await Promise.allSettled(ending.map(({ settled }) => settled))
  }

  #settle(agent: Agent, commandId: string, { kind, text, sourceEventSeq }: CommandOutcome & Pick<SettledCommand, 'kind'>): SettledCommand {
    const outcome = {
      commandId,
      kind,
      ...(text !== undefined && text !== '' && { text: cut(text) }),
      ...(sourceEventSeq !== undefined && { sourceEventSeq }),
    }
    try {
      agent.session.append({ type: 'command/done', data: outcome })
    } catch (error) {
      // The session went away under the command, by this very command perhaps. The next opening closes the pair.
      this.#parts.logger.warn('The end of a command could not be logged.', { session: agent.id, error: messageOf(error) })
    }
    return outcome
  }

  async #refreshSources(): Promise<void> {
    const sources = [...this.#layers.values()].flatMap((layer) => [...layer.sources])
    const outcomes = await Promise.allSettled(sources.map(async (source) => source.refresh?.()))
    for (const outcome of outcomes) if (outcome.status === 'rejected') this.#parts.logger.warn('A list of commands could not be made anew.', { error: messageOf(outcome.reason) })
  }

  /** Errors: `CommandError`. */
  #resolve(line: string, { scope, isIdle, imageCount = 0, isBeforeSession = false }: CommandPlace): CommandLine & { readonly definition: CommandDefinition } {
    const parsed = parseCommandLine(line)
    const { name, args } = parsed
    const definition = this.get(name, scope)
    if (definition === undefined) throw new CommandError('UNKNOWN_COMMAND', `There is no command /${name}.${this.#advice(name, scope)} Begin with // to send it to the model.`)
    if (args !== '' && definition.input === undefined) throw new CommandError('BAD_SYNTAX', `/${name} takes nothing after its name. Run it alone, or begin with // to send all this to the model.`)
    if (isBeforeSession && definition.needsSession === true) throw new CommandError('NO_SESSION', `/${name} is about a session, and there is none yet. Send a message first.`)
    if (imageCount > 0 && definition.input?.allowsImages !== true) throw new CommandError('IMAGES_REFUSED', `/${name} takes no images. Take them out, or send them in a message.`)
    if (definition.needsIdle === true && !isIdle) throw new CommandError('BUSY', `/${name} has to wait until Bosun is done. Stop it, or run the command afterwards.`)
    return { ...parsed, definition }
  }

  #advice(name: string, scope: ScopeKey | null): string {
    const near = this.list(scope).filter((definition) => definition.name.startsWith(name) || isNear(definition.name, name))
    return near.length === 0 ? ' /help lists them.' : ` Did you mean ${near.slice(0, 3).map((definition) => `/${definition.name}`).join(', ')}?`
  }

  #contributed(layer: Layer): readonly CommandDefinition[] {
    return [...layer.sources].flatMap((source) => {
      try {
        return source.list().filter(({ name }) => COMMAND_NAME.test(name))
      } catch (error) {
        this.#parts.logger.error('A list of commands could not be read.', { error: messageOf(error) })
        return []
      }
    })
  }

  #layer(scope: ScopeKey | null): Layer {
    const layer = this.#layers.get(scope) ?? { own: new Map<string, CommandDefinition>(), sources: new Set<CommandSource>() }
    this.#layers.set(scope, layer)
    return layer
  }

  #reclaim(scope: ScopeKey | null, layer: Layer): void {
    if (layer.own.size === 0 && layer.sources.size === 0 && this.#layers.get(scope) === layer) this.#layers.delete(scope)
  }

  #announce(): void {
    this.#parts.dispatch.emit('commands/change', everyLayer, [])
  }
}

/** The service as one context sees it: what it registers belongs to its plugin and its layer. */
class CommandsView implements Commands {
  readonly #registry: CommandRegistry
  readonly #user: Context

  constructor(registry: CommandRegistry, user: Context) {
    this.#registry = registry
    this.#user = user
  }

  register(definition: CommandDefinition): Undo {
    return this.#own(this.#registry.register(definition, this.#user.scope))
  }
  contribute(source: CommandSource): Undo {
    return this.#own(this.#registry.contribute(source, this.#user.scope))
  }
  get(name: string, scope: ScopeKey | null): CommandDefinition | undefined {
    return this.#registry.get(name, scope)
  }
  list(scope: ScopeKey | null): readonly CommandDefinition[] {
    return this.#registry.list(scope)
  }
  entries(scope: ScopeKey | null): readonly CommandEntry[] {
    return this.#registry.list(scope).map(({ name, description, input }) => ({ name, description, hint: input?.hint ?? null }))
  }
  refusal(line: string, at: CommandPlace): CommandError | null {
    return this.#registry.refusal(line, at)
  }
  lookUp(line: string, at: CommandPlace): Promise<CommandError | null> {
    return this.#registry.lookUp(line, at)
  }
  run(...args: Parameters<Commands['run']>): Promise<SettledCommand> {
    return this.#registry.run(...args)
  }

  #own(undo: Undo): Undo {
    try {
      const early = this.#user.effect(undo)
      return () => void early()
    } catch (error) {
      undo()
      throw error
    }
  }
}

/** Run it to its end; whatever goes wrong is its outcome. */
async function outcomeOf(definition: CommandDefinition, call: Parameters<CommandDefinition['run']>[0]): Promise<CommandOutcome & Pick<SettledCommand, 'kind'>> {
  try {
    call.signal.throwIfAborted()
    const outcome = await orAbort(Promise.resolve().then(() => definition.run(call)), call.signal)
    return { kind: 'success', ...outcome }
  } catch (error) {
    return { kind: 'error', text: messageOf(error) }
  }
}

function cut(text: string): string {
  const { text: kept, omittedBytes } = fitBytes(text, MAX_TEXT_BYTES)
  return omittedBytes === 0 ? kept : `${kept}\n(${omittedBytes} bytes more)`
}
