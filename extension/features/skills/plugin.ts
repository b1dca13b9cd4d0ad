import { Emitter } from '../../base/emitter.ts'
import { messageOf } from '../../base/message-of.ts'
import { orAbort } from '../../base/or-abort.ts'
import { fitBytes } from '../../base/text.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { CommandCall, CommandDefinition, CommandOutcome } from '../../core/commands/command.ts'
import { everyLayer, type Context, type Dispatcher, type Plugin } from '../../core/kernel/plugin.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type {} from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import type {} from '../../core/session/session.ts'
import { settings } from '../../core/settings/specs.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../observation/service.ts'
import type {} from '../references/service.ts'
import { brief, catalogueOf, toldCatalogue } from './catalogue.ts'
import { withInvocations } from './invocations.ts'
import { SkillLibrary, type LibraryNeeds } from './library.ts'
import { SKILL_NAME } from './parse-skill.ts'
import { renderSkill } from './render-skill.ts'
import { MAX_SKILL_BYTES } from './scan.ts'
import { SkillError, type ContributedSkill, type Skill, type Skills } from './service.ts'

export interface SkillsPluginNeeds extends Omit<LibraryNeeds, 'options' | 'contributed' | 'onChange'> {
  readonly machine: LibraryNeeds['machine'] & Pick<Machine, 'randomId' | 'sha256'>
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted' | 'onDidChangeTrust' | 'onDidChangeFolders' | 'onDidChangeFiles'>
  readonly dispatch: Dispatcher
  readonly logger: Logger
}

/** The tool that loads a skill: without it a model is told of none. */
const TOOL = 'skill'
/** Characters of a description in the `/` menu. */
const MAX_MENU_CHARS = 120

/**
 * Finds skills, tells each model that can load them which there are, and puts those into the talk that the person calls with `/name`.
 *
 * Offers `skills`. What was told is an event of the log; a replay reads no file.
 * Source: capability specification 13.
 */
export function skillsPlugin(needs: SkillsPluginNeeds): Plugin {
  return {
    name: 'skills',
    inject: ['settings', 'commands', 'tools'],
    apply(ctx) {
      const feature = new SkillsFeature(ctx, needs)
      ctx.provide('skills', (user: Context) => feature.serviceFor(user))
      ctx.commands.contribute(feature.commands)
      ctx.on('agent/pre-step', async ({ agent, step, signal }, next) => {
        const decision = await next()
        // A first step that nothing comes into may not take place; what is new waits for the next one.
        if (decision.kind !== 'enter' || (step === 1 && decision.messages.length === 0)) return decision
        const messages = await feature.beforeStep({ agent, isFirst: step === 1, messages: decision.messages, signal })
        return messages === decision.messages ? decision : { ...decision, messages }
      })
      ctx.on('fs/observed', ({ target }) => feature.noteFile(target.path))
      ctx.on('agent/disposed', (agent) => feature.leave(agent))
      const { workspace } = needs
      ctx.effect(workspace.onDidChangeTrust(() => feature.refresh()))
      ctx.effect(workspace.onDidChangeFolders(() => feature.refresh()))
      ctx.effect(workspace.onDidChangeFiles?.(['SKILL.md'], () => feature.refresh()) ?? (() => {}))
      ctx.effect(
        ctx.settings.onDidChange((key) => {
          if (key.startsWith('skills.') || key === settings.permissionsSensitivePaths.key || key === settings.instructionsRootMarkers.key) feature.refresh()
        }),
      )
      feature.lookAround()
      return () => feature.quiet()
    },
  }
}

class SkillsFeature {
  readonly #ctx: Context
  readonly #needs: SkillsPluginNeeds
  readonly #libraries = new Map<string, SkillLibrary>()
  readonly #agents = new Map<Agent, ReturnType<typeof toldCatalogue>>()
  readonly #contributed = new Map<string, ContributedSkill>()
  readonly #changes: Emitter<void>
  readonly #looks = new Set<Promise<void>>()
  #menu: readonly CommandDefinition[] | null = null

  constructor(ctx: Context, needs: SkillsPluginNeeds) {
    this.#ctx = ctx
    this.#needs = needs
    this.#changes = new Emitter((error) => needs.logger.error('A listener to the skills failed.', { error: String(error) }))
  }

  readonly commands = {
    list: (): readonly CommandDefinition[] => (this.#menu ??= this.#commandsNow()),
    onDidChange: (listener: () => void) => this.#changes.listen(listener),
    refresh: async () => {
      this.#markAll()
      await this.#settleAll()
    },
  }

  serviceFor(user: Context): Skills {
    return {
      maxFileBytes: MAX_SKILL_BYTES,
      list: ({ session }) => this.#libraryOf(session.header.cwd).skills,
      load: (name, { agent, by }) => this.#libraryOf(agent?.session.header.cwd).load(name, by),
      render: renderSkill,
      report: async (of) => {
        const rows = await this.#libraryOf('cwd' in of ? of.cwd : of.session.header.cwd).rows()
        const note = this.#whyUntold('session' in of ? of.session.id : null)
        return { rows, ...(note !== null && { note }) }
      },
      contribute: (skill) => this.#contribute(user, skill),
      resourceFolders: (sessionId) => {
        const agent = this.#ctx.get('agents')?.live(sessionId)
        return agent === undefined ? [] : this.#libraryOf(agent.session.header.cwd).resourceFolders
      },
    }
  }

  leave(agent: Agent): void {
    this.#agents.delete(agent)
    const cwds = new Set([this.#windowFolder(), ...[...this.#agents.keys()].map(({ session }) => session.header.cwd ?? '')])
    for (const cwd of this.#libraries.keys()) if (!cwds.has(cwd)) this.#libraries.delete(cwd)
  }

  noteFile(path: string): void {
    for (const library of this.#libraries.values()) if (library.concerns(path)) library.refresh()
  }

  /** Look anew, now that something changed: the menu shows it before the next message. */
  refresh(): void {
    this.#markAll()
    this.lookAround()
  }

  /** For the menu; nobody waits for it. */
  lookAround(): void {
    const look = this.#settleAll()
      .catch((error: unknown) => this.#needs.logger.error('The skills could not be looked for.', { error: String(error) }))
      .then(() => void this.#looks.delete(look))
    this.#looks.add(look)
  }

  #markAll(): void {
    for (const library of this.#libraries.values()) library.refresh()
  }

  async #settleAll(): Promise<void> {
    await Promise.all([this.#libraryOf(undefined), ...this.#libraries.values()].map((library) => library.settle()))
  }

  async quiet(): Promise<void> {
    await Promise.all(this.#looks)
  }

  async beforeStep({ agent, isFirst, messages, signal }: { readonly agent: Agent; readonly isFirst: boolean; readonly messages: readonly UserMessage[]; readonly signal: AbortSignal }): Promise<readonly UserMessage[]> {
    const library = this.#libraryOf(agent.session.header.cwd)
    if (isFirst) library.refresh()
    try {
      await orAbort(library.settle(), signal)
    } catch (error) {
      signal.throwIfAborted()
      // The person's words go on without them; the next step tries again.
      this.#needs.logger.error('The skills could not be looked for.', { session: agent.id, error: String(error) })
      return messages
    }
    const called = await withInvocations(messages, {
      isSkill: (name) => library.skills.some((skill) => skill.name === name && skill.isForPerson),
      load: (name) => orAbort(library.load(name, 'person'), signal),
      render: renderSkill,
      newId: () => this.#needs.machine.randomId(),
      signal,
    })
    const catalogue = this.#catalogueFor(agent, library)
    return catalogue === null ? called : [...called, catalogue]
  }

  /** What the model has to be told, or null when it knows it. */
  #catalogueFor(agent: Agent, library: SkillLibrary): UserMessage | null {
    const told = this.#toldOf(agent).state()
    const maxBytes = this.#ctx.settings.get(settings.skillsMaxCatalogueBytes)
    if (maxBytes === 0 || this.#ctx.tools.get(TOOL, agent.scope) === undefined) return null
    // What cannot be looked at just now is not gone: the last list holds on.
    if (told !== null && !library.isComplete) return null
    const skills = library.skills.filter(({ isForModel }) => isForModel)
    if (skills.length === 0 && (told === null || told.count === 0)) return null
    const { machine } = this.#needs
    const { text, count, omittedCount } = catalogueOf(skills, maxBytes)
    const digest = machine.sha256(text)
    if (told?.digest === digest) return null
    return { id: machine.randomId(), role: 'user', content: [{ type: 'text', text }], source: { kind: 'skill-catalog', digest, count, omittedCount } }
  }

  #toldOf(agent: Agent): ReturnType<typeof toldCatalogue> {
    const known = this.#agents.get(agent) ?? toldCatalogue(agent.session)
    this.#agents.set(agent, known)
    return known
  }

  #whyUntold(sessionId: string | null): string | null {
    if (this.#ctx.settings.get(settings.skillsMaxCatalogueBytes) === 0) return 'The setting `bosun.skills.maxCatalogueBytes` is 0: the model is told of no skills. You can still call them.'
    const agent = sessionId === null ? undefined : this.#ctx.get('agents')?.live(sessionId)
    if (agent === undefined || this.#ctx.tools.get(TOOL, agent.scope) !== undefined) return null
    return 'The preset of this conversation has no tool to load skills, so the model is told of none. You can still call them.'
  }

  #contribute(user: Context, skill: ContributedSkill) {
    const { name } = skill
    if (!SKILL_NAME.test(name)) throw new SkillError('SKILL_INVALID_NAME', `A skill's name is lower-case letters and digits with single hyphens between; got ${JSON.stringify(name)}.`)
    if (this.#contributed.has(name)) throw new Error(`A skill ${name} is contributed already. Take that one back first.`)
    this.#contributed.set(name, skill)
    this.refresh()
    const early = user.effect(() => {
      this.#contributed.delete(name)
      this.refresh()
    })
    return () => void early()
  }

  #libraryOf(cwd: string | undefined): SkillLibrary {
    const folder = cwd ?? this.#windowFolder()
    const known = this.#libraries.get(folder)
    if (known !== undefined) return known
    const options = this.#ctx.settings
    const library = new SkillLibrary(folder, {
      ...this.#needs,
      options: () => ({
        alsoRead: options.get(settings.skillsAlsoRead),
        folders: options.get(settings.skillsFolders),
        rootMarkers: options.get(settings.instructionsRootMarkers),
        sensitivePaths: options.get(settings.permissionsSensitivePaths),
      }),
      contributed: () => [...this.#contributed.values()],
      onChange: () => {
        this.#menu = null
        this.#changes.emit()
        this.#needs.dispatch.emit('skills/change', everyLayer, [])
      },
    })
    this.#libraries.set(folder, library)
    return library
  }

  #windowFolder(): string {
    return this.#needs.workspace.folders()[0]?.path ?? ''
  }

  /** Of all folders that sessions work in; what a session does not have is refused when it is run. */
  #commandsNow(): readonly CommandDefinition[] {
    const byName = new Map<string, Skill>()
    for (const library of this.#libraries.values()) for (const skill of library.skills) if (skill.isForPerson && !byName.has(skill.name)) byName.set(skill.name, skill)
    return [...byName.values()].map((skill) => this.#command(skill))
  }

  #command({ name, description }: Skill): CommandDefinition {
    return {
      name,
      description: brief(description, MAX_MENU_CHARS),
      input: { hint: 'what to do with it (optional)', allowsImages: true },
      // The message that it becomes holds them.
      hidesArguments: true,
      run: (call) => this.#run(name, call),
    }
  }

  /** The line becomes the person's message, and the skill goes with it when the message is taken up. */
  async #run(name: string, { agent, args, images, signal, send }: CommandCall): Promise<CommandOutcome> {
    const text = args === '' ? `/${name}` : `/${name} ${args}`
    try {
      const { cwd = '' } = agent.session.header
      await this.#libraryOf(cwd).load(name, 'person')
      const content = (await this.#ctx.get('references')?.content(text, { cwd, sessionId: agent.id, signal })) ?? [{ type: 'text', text } as const]
      send([...content, ...images], 'next-turn')
      return {}
    } catch (error) {
      signal.throwIfAborted()
      const reason = messageOf(error)
      throw new Error(args === '' ? reason : `${reason}\nNothing was sent. You wrote: ${fitBytes(args, 20_000).text}`, { cause: error })
    }
  }
}
