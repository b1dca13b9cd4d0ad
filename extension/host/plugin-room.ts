import { isHarnessError } from '../base/harness-error.ts'
import { JsonError, snapshotJson, stringifyJson } from '../base/json.ts'
import { utf8Length } from '../base/text.ts'
import { thrownText } from '../base/thrown-text.ts'
import type { Undo } from '../base/undo.ts'
import type { ClientEvent, ClientFrame, DynamicPlugins } from '../features/dynamic-plugins/service.ts'
import type { HostMessage } from '../protocol/messages.ts'
import { MAX_PLUGIN_PAYLOAD_BYTES, type PluginFrameView, type PluginMessage, type PluginPart } from '../protocol/plugin-frame.ts'
import type { ChatState } from './chat-state.ts'
import type { ViewChannel } from './view-channel.ts'

/** A frame that says nothing for so long after it got its code may never do so, and may hold up its page: no page starts it again. */
export const FRAME_START_MS = 15_000

/** What is known of a frame beside what the service says. */
interface Drawing {
  readonly sessionId: string
  readonly runId: string
  /** Those that have its code, and hear its events. */
  readonly pages: Set<ViewChannel>
  /** Null: it is drawn, or is to be. */
  problem: string | null
  isReady: boolean
  /** Of the time it has to say that it is drawn. */
  cancelStart: Undo | null
}

/** The drawn halves of plugins that a model wrote for the session on screen. Nothing here happens before one runs. */
export class PluginRoom {
  readonly #chat: ChatState
  readonly #drawings = new Map<string, Drawing>()
  /** What could not be drawn and runs no more, by session and plugin: said until the plugin runs anew or the person has seen it. */
  readonly #failed = new Map<string, PluginFrameView>()

  constructor(chat: ChatState) {
    this.#chat = chat
  }

  /** Follow the plugins until the undo is called. */
  attach(): Undo {
    const plugins = this.#plugins
    const undos = [plugins.onFramesChanged(() => this.refresh()), plugins.onClientEvent((event) => this.#heard(event))]
    this.refresh()
    return () => {
      for (const undo of undos) undo()
      for (const { cancelStart } of this.#drawings.values()) cancelStart?.()
      this.#drawings.clear()
    }
  }

  refresh(): void {
    this.#forgetGone()
    const frames = this.#frames()
    const sessionId = this.#chat.shown?.session.id ?? ''
    for (const frame of frames) if (this.#failed.get(`${sessionId}/${frame.pluginId}`)?.id !== idOf(frame)) this.#failed.delete(`${sessionId}/${frame.pluginId}`)
    const failed = [...this.#failed.values()].filter(({ id }) => placeOf(id).sessionId === sessionId && !frames.some((frame) => idOf(frame) === id))
    this.#chat.model.set('plugins', [...frames.map((frame) => this.#view(frame)), ...failed])
  }

  /** A page is closed. */
  gone(channel: ViewChannel): void {
    for (const { pages } of this.#drawings.values()) pages.delete(channel)
  }

  async handle(message: PluginMessage, channel: ViewChannel, reply: (message: HostMessage) => void): Promise<void> {
    switch (message.type) {
      case 'plugin-code':
        reply({ type: 'plugin', frameId: message.frameId, part: { kind: 'code', code: this.#codeFor(message.frameId, channel) } })
        return
      case 'plugin-call':
        reply({ type: 'plugin', frameId: message.frameId, part: await this.#answer(message) })
        return
      case 'plugin-frame':
        this.#report(message.frameId, message.state, message.message)
        return
      case 'plugin-draw':
        this.#drawAgain(message.frameId)
        return
      case 'plugin-stop':
        await this.#stop(message.pluginId)
    }
  }

  get #plugins(): DynamicPlugins {
    return this.#chat.services.dynamicPlugins
  }

  #frames(): readonly ClientFrame[] {
    const { shown } = this.#chat
    return shown === null ? [] : this.#plugins.frames(shown.session.id)
  }

  #view(frame: ClientFrame): PluginFrameView {
    const id = idOf(frame)
    const { problem = null, isReady = false } = this.#drawings.get(id) ?? {}
    return { id, pluginId: frame.pluginId, name: frame.name, slots: frame.slots, problem, ...(problem !== null && isReady && { canDrawAgain: true }) }
  }

  #codeFor(id: string, channel: ViewChannel): string | null {
    const frame = this.#frames().find((each) => idOf(each) === id)
    if (frame === undefined) return null
    const drawing = this.#drawingOf(frame)
    if (drawing.problem !== null) return null
    drawing.pages.add(channel)
    if (!drawing.isReady && drawing.cancelStart === null) {
      const { clock, l10n } = this.#chat.world
      const message = l10n.t('It did not say within {seconds} s that it is drawn.', { seconds: FRAME_START_MS / 1_000 })
      drawing.cancelStart = clock.schedule(FRAME_START_MS, () => this.#report(id, 'failed', message))
    }
    return frame.code
  }

  #drawingOf(frame: ClientFrame): Drawing {
    const { sessionId, runId } = frame
    const drawing = this.#drawings.get(idOf(frame)) ?? { sessionId, runId, pages: new Set(), problem: null, isReady: false, cancelStart: null }
    this.#drawings.set(idOf(frame), drawing)
    return drawing
  }

  async #answer({ frameId, id, method, payload }: Extract<PluginMessage, { type: 'plugin-call' }>): Promise<PluginPart> {
    const refusal = (code: string, message: string): PluginPart => ({ kind: 'refusal', id, code, message })
    try {
      const asked = snapshotJson(payload, 'payload')
      if (bytesOf(asked) > MAX_PLUGIN_PAYLOAD_BYTES) return refusal('payload-too-large', tooLarge('The payload', bytesOf(asked)))
      const value = await this.#plugins.callFromClient({ ...placeOf(frameId), method, payload: asked })
      return bytesOf(value) > MAX_PLUGIN_PAYLOAD_BYTES ? refusal('payload-too-large', tooLarge(`The answer of ${method}`, bytesOf(value))) : { kind: 'reply', id, value }
    } catch (error) {
      if (error instanceof JsonError) return refusal('not-json', error.message)
      return refusal(isHarnessError(error) ? error.code : 'handler-error', thrownText(error) ?? 'The handler failed without saying why.')
    }
  }

  #report(id: string, state: 'ready' | 'failed', message?: string): void {
    const drawing = this.#drawings.get(id)
    drawing?.cancelStart?.()
    // What is said of a run that is over, or that has failed before, is said too late.
    if (drawing === undefined || drawing.problem !== null) return
    drawing.cancelStart = null
    if (state === 'failed') drawing.problem = message ?? this.#chat.world.l10n.t('It did not say why.')
    else if (drawing.isReady) return
    else drawing.isReady = true
    const { sessionId, runId } = drawing
    const frame = this.#plugins.frames(sessionId).find((each) => each.runId === runId)
    const view = frame === undefined ? null : this.#view(frame)
    this.#plugins.frameReported({ sessionId, runId, state, ...(message !== undefined && { message }) })
    if (view !== null && state === 'failed' && !drawing.isReady) this.#neverDrawn(sessionId, view)
    this.refresh()
  }

  #drawAgain(id: string): void {
    const drawing = this.#drawings.get(id)
    if (drawing === undefined || drawing.problem === null || !drawing.isReady) return
    drawing.problem = null
    this.refresh()
  }

  /** A plugin whose first frame fails does not come to run, and an older version goes on in the place of one that fails. */
  #neverDrawn(sessionId: string, view: PluginFrameView): void {
    const { l10n } = this.#chat.world
    const others = this.#plugins.frames(sessionId).filter(({ pluginId }) => pluginId === view.pluginId)
    if (others.every((frame) => idOf(frame) === view.id)) this.#failed.set(`${sessionId}/${view.pluginId}`, view)
    else this.#chat.notice('plugin', 'warning', l10n.t('The new version of {name} could not be drawn, so the one before goes on. {problem}', { name: view.name, problem: view.problem ?? '' }))
  }

  /** By the command, so that the talk shows it and the model is told. */
  async #stop(pluginId: string): Promise<void> {
    const { shown } = this.#chat
    if (shown?.agent == null) return
    const isRunning = this.#frames().some((frame) => frame.pluginId === pluginId)
    this.#failed.delete(`${shown.session.id}/${pluginId}`)
    if (isRunning) await this.#chat.services.commands.run(shown.agent, `/plugins stop ${pluginId}`)
    this.refresh()
  }

  #heard(event: ClientEvent): void {
    const { name, payload } = event
    const bytes = bytesOf(payload)
    if (bytes > MAX_PLUGIN_PAYLOAD_BYTES) {
      this.#chat.world.logger.warn('An event of a plugin is too large for its frame and was left out.', { id: idOf(event), name, bytes, maxBytes: MAX_PLUGIN_PAYLOAD_BYTES })
      return
    }
    for (const page of this.#drawings.get(idOf(event))?.pages ?? []) page.post({ type: 'plugin', frameId: idOf(event), part: { kind: 'event', name, payload } })
  }

  /** Those of other sessions are kept: they may come back to the screen. */
  #forgetGone(): void {
    for (const [id, { sessionId, runId, cancelStart }] of this.#drawings) {
      if (this.#plugins.frames(sessionId).some((frame) => frame.runId === runId)) continue
      cancelStart?.()
      this.#drawings.delete(id)
    }
  }
}

/** Runs are counted in each session. */
const idOf = ({ sessionId, runId }: { readonly sessionId: string; readonly runId: string }) => `${sessionId}/${runId}`

const placeOf = (id: string) => ({ sessionId: id.slice(0, id.lastIndexOf('/')), runId: id.slice(id.lastIndexOf('/') + 1) })

const bytesOf = (value: Parameters<typeof stringifyJson>[0]) => utf8Length(stringifyJson(value))

const tooLarge = (what: string, bytes: number) => `${what} has ${bytes} bytes of JSON; ${MAX_PLUGIN_PAYLOAD_BYTES} cross at once. Send less, or in parts.`
