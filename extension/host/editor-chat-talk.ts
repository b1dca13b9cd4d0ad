import { argumentsFrom } from '../base/call-arguments.ts'
import { withoutMarks } from '../base/marked-code.ts'
import { messageOf } from '../base/message-of.ts'
import { visibleText } from '../base/visible-text.ts'
import type { EditorChatTalk, TalkRequest, TalkResult, TalkStream } from '../capabilities/editor-chat.ts'
import { typedLine } from '../core/commands/command-line.ts'
import { pauseWords } from '../core/cost/words.ts'
import type { SessionEvent, TurnEndReason } from '../core/log/event.ts'
import type { UserMessage } from '../core/log/message.ts'
import type { AgentOptions } from '../core/loop/points.ts'
import type { Agent } from '../core/session/agent.ts'
import type { Session } from '../core/session/session.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { ChatCapabilities, ChatServices } from './chat-services.ts'
import { messageWith } from './editor-chat-references.ts'
import { presentCall } from './present-tool.ts'

interface Parts {
  readonly services: Pick<ChatServices, 'agents' | 'approvals' | 'commands' | 'questions' | 'references' | 'reviews' | 'settings' | 'tools'>
  readonly capabilities: Pick<ChatCapabilities, 'blobs' | 'l10n' | 'logger' | 'machine' | 'workspace'>
  /** What a new session is answered by; undefined: there is no model. */
  readonly defaultModel: () => Promise<AgentOptions | undefined>
  /** The person looks at that session in the editor's chat, until the undo. */
  readonly onWatched: (sessionId: string) => () => void
  /** A notification: the editor's chat shows nothing more of what was stopped there. */
  readonly tell: (words: string) => void
}

/** The provider of the models that the editor offers. Source: `models/editor`, which the host does not know. */
const EDITOR_MODELS = 'vscode-lm'
/** What a message names is looked up within this time. */
const REFERENCE_TIMEOUT_MS = 15_000
/** UTF-16 units of one message. */
const MAX_MESSAGE_LENGTH = 1_000_000

/** `@bosun` in the editor's own chat: the same loop, another place to look at it. */
export class EditorTalk implements EditorChatTalk {
  readonly #parts: Parts
  readonly #followers = new Set<Follower>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async answer(request: TalkRequest, stream: TalkStream): Promise<TalkResult> {
    const { l10n, logger } = this.#parts.capabilities
    let agent: Agent | null = null
    try {
      const refusal = this.#refusal(request)
      if (refusal !== null) return { sessionId: request.sessionId, problem: refusal }
      agent = await this.#agentFor(request)
      if (agent === null) return { sessionId: request.sessionId, problem: l10n.t('No model is set up. Open Bosun and choose one, or set an API key, then send again.') }
      if (agent.session.access !== 'write') return { sessionId: agent.id, problem: l10n.t('Another window writes this session. Go on there, or begin a new one with /new.') }
      const from = agent.session.length
      const problem = await this.#run(agent, request, stream)
      await this.#showEnd(agent, from, stream)
      return { sessionId: agent.id, problem }
    } catch (error) {
      logger.error('A message of the editor’s chat failed.', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
      return { sessionId: agent?.id ?? request.sessionId, problem: messageOf(error) }
    }
  }

  // What happens in the sessions; called by the plugin's listeners.

  noteEvent(session: Session, event: SessionEvent): void {
    for (const follower of this.#followers) if (follower.agent.session === session) follower.note(event)
  }

  noteClaimed(agent: Agent, message: UserMessage, turn: number): void {
    for (const follower of this.#followers) if (follower.agent === agent) follower.noteClaimed(message.id, turn)
  }

  noteDiscarded(agent: Agent, message: UserMessage): void {
    for (const follower of this.#followers) if (follower.agent === agent) follower.noteDiscarded(message.id)
  }

  noteWaiting(): void {
    for (const follower of this.#followers) follower.noteWaiting()
  }

  noteGone(agent: Agent): void {
    for (const follower of this.#followers) if (follower.agent === agent) follower.end(null)
  }

  dispose(): void {
    for (const follower of this.#followers) follower.end(null)
  }

  #refusal({ text, references }: TalkRequest): string | null {
    const { l10n, workspace } = this.#parts.capabilities
    if (workspace.folders().length === 0) return l10n.t('Open a folder first: Bosun works on files.')
    if (text.trim() === '' && references.length === 0) return l10n.t('There is nothing to send yet.')
    if (text.length > MAX_MESSAGE_LENGTH) return l10n.t('This message is too long. Put the text into a file and name the file instead.')
    return null
  }

  /** The thread's session, or a new one; null when there is no model for it. A session that is gone begins anew. */
  async #agentFor({ sessionId, model }: TalkRequest): Promise<Agent | null> {
    const { agents, settings } = this.#parts.services
    const picked: AgentOptions | undefined = settings.get(specs.editorChatModel) === 'chat' && model !== null ? { provider: EDITOR_MODELS, model } : undefined
    const known = sessionId === null ? null : await this.#resumed(sessionId)
    if (known === null) {
      const options = picked ?? (await this.#parts.defaultModel())
      const cwd = this.#parts.capabilities.workspace.folders()[0]?.path
      return options === undefined || cwd === undefined ? null : await agents.create({ cwd, agent: options })
    }
    const { provider, model: before } = agents.optionsOf(known.id)
    if (picked !== undefined && (picked.provider !== provider || picked.model !== before)) agents.configure(known.id, picked)
    return known
  }

  async #resumed(sessionId: string): Promise<Agent | null> {
    try {
      return await this.#parts.services.agents.resume(sessionId)
    } catch (error) {
      this.#parts.capabilities.logger.info('The session of a thread of the editor’s chat cannot be opened, so the thread begins a new one.', { session: sessionId, error: messageOf(error) })
      return null
    }
  }

  /** Words for the person when it did not end well. */
  async #run(agent: Agent, request: TalkRequest, stream: TalkStream): Promise<string | null> {
    const typed = typedLine(request.text)
    if (typed.kind === 'command') return await this.#runCommand(agent, typed.line, request, stream)
    const { references } = this.#parts.services
    const { text, blocks } = await messageWith({ ...request, text: typed.text }, { spelling: (path) => references.spelling(path, agent.session.header.cwd ?? ''), blobs: this.#parts.capabilities.blobs, l10n: this.#parts.capabilities.l10n, sessionId: agent.id })
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(REFERENCE_TIMEOUT_MS)])
    const content = await references.content(text, { cwd: agent.session.header.cwd ?? '', sessionId: agent.id, signal })
    if (request.signal.aborted) return null
    const message: UserMessage = { id: this.#parts.capabilities.machine.randomId(), role: 'user', content: [...content, ...blocks], source: { kind: 'user' } }
    return await this.#followed(agent, {
      command: null,
      request,
      stream,
      begin: async (follower) => {
        follower.noteSent(message.id)
        agent.followup(message)
        return null
      },
    })
  }

  async #runCommand(agent: Agent, line: string, request: TalkRequest, stream: TalkStream): Promise<string | null> {
    const { commands } = this.#parts.services
    const refusal = await commands.lookUp(line, { scope: agent.scope, isIdle: agent.status !== 'running' })
    if (refusal !== null) return refusal.message
    return await this.#followed(agent, {
      command: line.split(/\s/, 1)[0] ?? '',
      request,
      stream,
      begin: async (follower) => {
        const { kind, text } = await commands.run(agent, line, { signal: request.signal, onSend: (id) => follower.noteSent(id) })
        if (kind === 'error') return text ?? this.#parts.capabilities.l10n.t('The command failed and did not say why.')
        if (text !== undefined) stream.text(text)
        if (follower.expectsNothing) follower.end(null)
        return null
      },
    })
  }

  async #followed(agent: Agent, { command, request, stream, begin }: Followed): Promise<string | null> {
    const unwatch = this.#parts.onWatched(agent.id)
    const follower = new Follower(agent, { signal: request.signal, stream, parts: this.#parts })
    this.#followers.add(follower)
    const stop = () => follower.stop()
    request.signal.addEventListener('abort', stop, { once: true })
    try {
      const problem = await begin(follower)
      if (problem !== null) return problem
      const reason = await follower.ended
      return reason === null ? null : endWords(reason, this.#parts.capabilities.l10n)
    } finally {
      request.signal.removeEventListener('abort', stop)
      this.#followers.delete(follower)
      unwatch()
      if (command !== null && follower.isTakenBack) this.#parts.tell(this.#parts.capabilities.l10n.t('{command} was stopped: what it had asked for is taken back before it began.', { command }))
    }
  }

  /** `from`: the events since then are what the message brought about. */
  async #showEnd(agent: Agent, from: number, stream: TalkStream): Promise<void> {
    const { services, capabilities } = this.#parts
    const { l10n } = capabilities
    // What the last step changed is written down behind it, which a look at any file waits for; no file has this path.
    await services.reviews.file(agent.session, '')
    const { files } = services.reviews.of(agent.session)
    const isMore = files.some(({ steps, calls }) => steps.some(({ seq, callId }) => seq >= from && calls.includes(callId)))
    const count = files.length
    if (isMore) stream.text(`\n\n${count === 1 ? l10n.t('1 changed file waits for you to keep or undo it, in Bosun.') : l10n.t('{count} changed files wait for you to keep or undo them, in Bosun.', { count })}\n`)
    stream.open(agent.id, l10n.t('Open in Bosun'))
  }
}

interface Followed {
  /** With its slash; null for words to the model. */
  readonly command: string | null
  readonly request: TalkRequest
  readonly stream: TalkStream
  /** Gives words for the person when nothing came of it. */
  readonly begin: (follower: Follower) => Promise<string | null>
}

/** One message or command and the turn it began, as lines in the editor's chat. */
class Follower {
  readonly agent: Agent
  readonly ended: Promise<TurnEndReason | null>
  readonly #stream: TalkStream
  readonly #parts: Parts
  readonly #signal: AbortSignal
  /** Without this, the next turn is one that the command began in a way of its own. */
  readonly #wasIdle: boolean
  /** What was sent and waits or was taken up, with the turn that was open then. */
  readonly #sent = new Map<string, number | undefined>()
  readonly #resolve: (reason: TurnEndReason | null) => void
  /** The turn that took it up; null while it waits. */
  #turn: number | null = null
  /** It joined a turn that others had begun. */
  #isGuest = false
  #isTakenBack = false
  #hasText = false
  /** What the person was told waits for them. */
  readonly #told = new Set<string>()
  readonly #titles = new Map<string, string>()

  constructor(agent: Agent, { signal, stream, parts }: { readonly signal: AbortSignal; readonly stream: TalkStream; readonly parts: Parts }) {
    const { promise, resolve } = Promise.withResolvers<TurnEndReason | null>()
    this.agent = agent
    this.ended = promise
    this.#resolve = resolve
    this.#stream = stream
    this.#parts = parts
    this.#signal = signal
    this.#wasIdle = agent.status === 'idle'
  }

  /** A command is over, and no turn is to come of it. */
  get expectsNothing(): boolean {
    const { nextStep, nextTurn } = this.agent.inbox
    return this.#turn === null && this.#sent.size === 0 && (!this.#wasIdle || nextStep.length + nextTurn.length === 0)
  }

  /** What was stopped had been sent, and is out of the queue again. */
  get isTakenBack(): boolean {
    return this.#isTakenBack
  }

  /** The person stops it in the editor's chat: its turn, or its wait for one. A command that has begun none hears of it by its signal. */
  stop(): void {
    if (this.#turn !== null && !this.#isGuest) return this.agent.cancel({ kind: 'user' }, { keepInbox: true })
    for (const id of this.#sent.keys()) this.agent.queue.remove(id)
    this.end(null)
  }

  /** Before it is in the queue. */
  noteSent(messageId: string): void {
    // What the command looked like beginning was the turn of another.
    if (this.#sent.size === 0) this.#turn = null
    this.#sent.set(messageId, this.agent.session.openTurn()?.turn)
  }

  end(reason: TurnEndReason | null): void {
    this.#resolve(reason)
  }

  noteClaimed(messageId: string, turn: number): void {
    if (!this.#sent.has(messageId) || this.#turn !== null) return
    this.#turn = turn
    this.#isGuest = this.#sent.get(messageId) === turn
  }

  noteDiscarded(messageId: string): void {
    if (!this.#sent.delete(messageId)) return
    this.#isTakenBack ||= this.#signal.aborted
    if (this.#turn === null && this.#sent.size === 0) this.end(null)
  }

  note(event: SessionEvent): void {
    if (event.type === 'turn/start' && this.#sent.size === 0 && this.#wasIdle) this.#turn ??= event.data.turn
    if (this.#turn === null) return
    if (event.type === 'assistant/chunk') this.#noteChunk(event)
    else if (event.type === 'tool/call') this.#noteCall(event)
    else if (event.type === 'tool/result') this.#noteResult(event)
    else if (event.type === 'llm/retry') this.#stream.progress(this.#parts.capabilities.l10n.t('The model did not answer; Bosun tries again.'))
    else if (event.type === 'turn/end' && event.data.turn === this.#turn) this.end(event.data.reason)
  }

  /** Approvals and questions are answered where they always are; here the person is told that something waits. */
  noteWaiting(): void {
    const { l10n } = this.#parts.capabilities
    const { approvals, questions } = this.#parts.services
    for (const { id, agent, toolName, details } of approvals.pending()) {
      if (agent !== this.agent || this.#told.has(id)) continue
      this.#told.add(id)
      this.#stream.progress(l10n.t('Bosun waits for you to allow: {effect}. Answer in its notification or its view.', { effect: visibleText(withoutMarks(details?.effect ?? l10n.t('Use {tool}', { tool: toolName }))) }))
    }
    for (const { id, agent, questions: asked } of questions.pending()) {
      if (agent !== this.agent || this.#told.has(id)) continue
      this.#told.add(id)
      this.#stream.progress(l10n.t('Bosun asks you: {question} Answer in its notification or its view.', { question: visibleText(asked[0]?.question ?? '') }))
    }
  }

  #noteChunk({ data: { chunk } }: SessionEvent<'assistant/chunk'>): void {
    if (chunk.type === 'block-start' && chunk.block === 'text' && this.#hasText) this.#stream.text('\n\n')
    if (chunk.type === 'block-start' && chunk.block === 'reasoning') this.#stream.progress(this.#parts.capabilities.l10n.t('Thinking'))
    if (chunk.type !== 'text-delta') return
    this.#hasText = true
    this.#stream.text(chunk.delta)
  }

  #noteCall({ data: { callId, name, arguments: text } }: SessionEvent<'tool/call'>): void {
    const card = presentCall((tool) => this.#parts.services.tools.get(tool, this.agent.scope), name, argumentsFrom(text))
    const title = visibleText(card?.title ?? name)
    this.#titles.set(callId, title)
    this.#stream.progress(title)
  }

  #noteResult({ data: { message } }: SessionEvent<'tool/result'>): void {
    const [{ callId, isError }] = message.content
    const title = this.#titles.get(callId)
    if (isError && title !== undefined) this.#stream.progress(this.#parts.capabilities.l10n.t('{title}: failed', { title }))
  }
}

/** Null where the end needs no word. */
function endWords(reason: TurnEndReason, { t }: ChatCapabilities['l10n']): string | null {
  switch (reason.kind) {
    case 'completed':
    case 'aborted':
      return null
    case 'error':
      return reason.failure.message
    case 'paused':
      return `${pauseWords(reason, t)} ${t('Open the session in Bosun to go on, or send another message.')}`
    case 'blocked':
      return t('A hook held this message back.')
    case 'max-tokens':
      return t('The answer was cut: the model may write no more at once. Send another message to go on.')
    case 'interrupted':
      return t('The turn was interrupted. Send another message to go on.')
  }
}
