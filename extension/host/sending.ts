import { messageOf } from '../base/message-of.ts'
import { typedLine } from '../core/commands/command-line.ts'
import type { UserMessage } from '../core/log/message.ts'
import type { Agent } from '../core/session/agent.ts'
import type { ReferencePlace } from '../features/references/service.ts'
import { noChoices, type ChatState } from './chat-state.ts'
import type { AgentRoom } from './agent-room.ts'
import type { ComposerAttachments } from './composer-attachments.ts'
import type { ModelSettings } from './model-settings.ts'
import type { SessionOpening } from './session-opening.ts'

interface Parts {
  readonly chat: ChatState
  readonly models: ModelSettings
  readonly opening: SessionOpening
  readonly attachments: ComposerAttachments
  readonly agents: Pick<AgentRoom, 'send' | 'interrupt'>
}

/** What a message names is looked up within this time, or the message is not sent. */
const REFERENCE_TIMEOUT_MS = 15_000
/** UTF-16 units of one message of the person; more belongs in a file. */
const MAX_MESSAGE_LENGTH = 1_000_000

/** From the person to the agent: messages, commands, changes of what waits, stop and go on. */
export class Sending {
  readonly #chat: ChatState
  readonly #models: ModelSettings
  readonly #opening: SessionOpening
  readonly #attachments: ComposerAttachments
  readonly #agents: Parts['agents']
  readonly #end = new AbortController()

  constructor({ chat, models, opening, attachments, agents }: Parts) {
    this.#chat = chat
    this.#models = models
    this.#opening = opening
    this.#attachments = attachments
    this.#agents = agents
  }

  /** Looking up what a message names ends. */
  dispose(): void {
    this.#end.abort()
  }

  /** Words for the person when the message was not taken; their text goes back into the composer then. */
  async send(text: string, target: 'next-turn' | 'next-step'): Promise<string | null> {
    const { t } = this.#chat.world.l10n
    if (text.trim() === '' && !this.#attachments.hasImages) return t('There is nothing to send yet.')
    if (text.length > MAX_MESSAGE_LENGTH) return t('This message is too long. Put the text into a file and name the file instead.')
    const blocked = this.#chat.blockedBy()
    if (blocked !== null) return blocked
    const typed = typedLine(text)
    try {
      if (typed.kind === 'command' && this.#chat.shown?.child !== undefined) return t('Commands work in sessions of your own. Take this conversation over first, or send words without the slash.')
      if (typed.kind === 'command') return await this.runCommand(typed.line)
      const cwd = this.#chat.shown?.session.header.cwd ?? (await this.#chooseFolder())
      if (cwd === null) return t('Choose a folder to work in, then send again.')
      // Looked up before there is a session, so that a failure leaves none behind.
      const content = await this.#chat.services.references.content(typed.text, this.#referencePlace(cwd))
      const refusal = await this.#attachments.refusal()
      if (refusal !== null) return refusal
      const draftOf = this.#chat.shown?.session.id ?? null
      const { shown } = this.#chat
      if (shown?.child !== undefined) {
        const beside = await this.#attachments.blocks(draftOf, shown.session.id)
        await this.#agents.send(shown.session.id, shown.child.parentId, [...content, ...beside], target === 'next-step' ? 'now' : 'next-turn')
        this.#chat.keepDraft('')
        await this.#attachments.sent(draftOf)
        return null
      }
      const agent = this.#chat.shown?.agent ?? (await this.#createAgent(cwd))
      const attached = await this.#attachments.blocks(draftOf, agent.id)
      const message: UserMessage = { id: this.#chat.world.machine.randomId(), role: 'user', content: [...content, ...attached], source: { kind: 'user' } }
      if (target === 'next-step') agent.steer(message)
      else agent.followup(message)
      this.#chat.keepDraft('')
      await this.#attachments.sent(draftOf)
      return null
    } catch (error) {
      this.#chat.logError(error)
      return messageOf(error)
    }
  }

  /** The agent of the session on screen, or of one that begins with it; null when the person chose no folder. */
  async agentHere(): Promise<Agent | null> {
    const open = this.#chat.shown?.agent ?? null
    if (open !== null) return open
    const cwd = await this.#chooseFolder()
    return cwd === null ? null : await this.#createAgent(cwd)
  }

  /** Words for the person when the command was refused. Its outcome is a row of the talk; nobody waits for it here. */
  async runCommand(line: string): Promise<string | null> {
    const { commands } = this.#chat.services
    const open = this.#chat.shown?.agent ?? null
    const refusal = await commands.lookUp(line, { scope: this.#chat.scope(), isIdle: open?.status !== 'running', isBeforeSession: open === null, imageCount: this.#attachments.views().filter(({ kind }) => kind === 'image').length })
    if (refusal !== null) return refusal.message
    const draftOf = this.#chat.shown?.session.id ?? null
    const cwd = open === null ? await this.#chooseFolder() : null
    const agent = open ?? (cwd === null ? null : await this.#createAgent(cwd))
    if (agent === null) return this.#chat.world.l10n.t('Choose a folder to work in, then send again.')
    this.#chat.keepDraft('')
    const images = (await this.#attachments.blocks(draftOf, agent.id)).filter((part) => part.type === 'image')
    if (images.length > 0) await this.#attachments.sent(draftOf)
    commands.run(agent, line, { images }).catch((error: unknown) => this.#chat.tellFailure(error))
    return null
  }

  async pickCommand(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const entries = this.#chat.services.commands.entries(this.#chat.scope())
    const picked = await editor.pick({
      title: l10n.t('Run a command'),
      items: entries.map(({ name, description, hint }) => ({ id: name, label: `/${name}`, description: hint ?? '', detail: description })),
    })
    const entry = entries.find(({ name }) => name === picked)
    if (entry === undefined) return
    const args = entry.hint === null ? '' : await editor.input({ title: `/${entry.name}`, prompt: `${entry.description} (${entry.hint})` })
    if (args === null) return
    const problem = this.#chat.blockedBy() ?? (await this.runCommand(`/${entry.name} ${args}`.trim()))
    if (problem !== null) this.#chat.notice('command', 'warning', problem)
  }

  stop(): void {
    const { shown } = this.#chat
    if (shown?.child !== undefined) this.#agents.interrupt(shown.session.id)
    else shown?.agent?.cancel({ kind: 'user' }, { keepInbox: true })
  }

  /** The person's own words to go on: a limit that stopped it is raised first. */
  goOn(agent: Agent): void {
    this.#chat.services.budgets.goOn(agent.session)
    agent.continueTurn()
  }

  /** The words anew, with what they name now; images stay. */
  async editQueued(id: string, text: string): Promise<void> {
    const agent = this.#chat.worker()
    const waiting = agent === null ? undefined : [...agent.inbox.nextStep, ...agent.inbox.nextTurn].find((message) => message.id === id)
    if (agent === null || waiting === undefined) return
    const content = await this.#chat.services.references.content(text, this.#referencePlace(agent.session.header.cwd ?? ''))
    // What the words named is looked up anew; what was put beside them stays.
    const isBeside = (part: UserMessage['content'][number]) => part.type === 'image' || (part.source !== undefined && !part.text.startsWith('<reference name="@'))
    agent.queue.edit(id, [...content, ...waiting.content.filter(isBeside)])
  }

  #referencePlace(cwd: string): ReferencePlace {
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(REFERENCE_TIMEOUT_MS)])
    return { cwd, signal, ...(this.#chat.shown === null ? {} : { sessionId: this.#chat.shown.session.id }) }
  }

  async #createAgent(cwd: string): Promise<Agent> {
    const choices = this.#chat.next
    const options = choices.options ?? (await this.#models.chooser.defaultModel())?.options
    const agent = await this.#chat.services.agents.create({
      cwd,
      ...(choices.preset === null ? {} : { preset: choices.preset }),
      ...(options === undefined ? {} : { agent: options }),
      ...(choices.isCleared && { isCleared: true as const }),
    })
    if (choices.permission !== null && choices.permission !== this.#chat.services.permissions.modeOf(agent.id)) {
      this.#chat.services.permissions.select(agent.id, choices.permission)
    }
    if (choices.isPlanning) this.#chat.services.plan.set(agent, true)
    this.#chat.next = noChoices
    this.#chat.drafts.set(null, '')
    await this.#opening.show(agent.session, agent)
    return agent
  }

  async #chooseFolder(): Promise<string | null> {
    const folders = this.#chat.world.workspace.folders()
    if (folders.length <= 1) return folders[0]?.path ?? null
    return await this.#chat.world.editor.pick({
      title: this.#chat.world.l10n.t('Which folder does Bosun work in?'),
      items: folders.map(({ name, path }) => ({ id: path, label: name, description: path })),
    })
  }
}
