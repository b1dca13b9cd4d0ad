import { signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { utf8Length } from '../../extension/base/text.ts'
import type { HostMessage } from '../../extension/protocol/messages.ts'
import { MAX_PLUGIN_PAYLOAD_BYTES, type PluginFrameView, type PluginMessage, type PluginPart, type PluginSlot } from '../../extension/protocol/plugin-frame.ts'
import { t } from '../l10n.ts'
import type { FrameHears, FrameSays, FrameTheme } from './frame-messages.ts'

/** Messages of a frame in one second: over the first its calls are refused and the rest is not heard, over the second it is stopped. */
export const MAX_MESSAGES_A_SECOND = 100
export const FLOOD_MESSAGES_A_SECOND = 1_000
/** Calls of a frame that wait for an answer. */
export const MAX_WAITING_CALLS = 32

/** How often a frame is asked whether it still answers, and how many questions in a row it may leave without one. */
export const PING_MS = 2_000
export const MAX_SILENT_PINGS = 5

/** As much of the frame's element as a desk speaks to. */
export type FrameElement = Pick<HTMLIFrameElement, 'contentWindow'>

/** One frame as its component draws it. */
export interface Desk {
  /** Null: nothing is drawn there. CSS pixels. */
  readonly height: ReadonlySignal<number | null>
  /** What went wrong since it was drawn; the frame stands. */
  readonly trouble: ReadonlySignal<string | null>
  /** The frame is in the page. */
  join(element: FrameElement): void
  leave(): void
}

export interface DeskOptions {
  readonly post: (message: PluginMessage) => void
  /** Milliseconds that never go back. */
  readonly now: () => number
  readonly theme: () => FrameTheme
  readonly nonce: string
  /** The person left a frame with the Escape key. */
  readonly onLeave: (frameId: string) => void
}

/**
 * Between the frames of plugins and the host: nothing of a frame passes that is not of its window, of the protocol, and within its caps.
 *
 * A plugin has one frame for each slot it may draw in. It counts as drawn when all of them are, and as failed when one is.
 */
export class PluginDesk {
  readonly #options: DeskOptions
  readonly #frames = new Set<Frame>()
  #calls = 0

  constructor(options: DeskOptions) {
    this.#options = options
  }

  open(view: PluginFrameView, slot: PluginSlot): Desk {
    const frame: Frame = { view, slot, element: null, code: null, isListening: false, isStarted: false, isReady: false, isOver: false, silentPings: 0, secondAt: 0, messages: 0, waiting: new Map(), height: signal(null), trouble: signal(null) }
    return {
      height: frame.height,
      trouble: frame.trouble,
      join: (element) => {
        frame.element = element
        this.#frames.add(frame)
        this.#options.post({ type: 'plugin-code', frameId: view.id })
      },
      leave: () => void this.#frames.delete(frame),
    }
  }

  /** Any message that the page gets: those of the host and of the frames are ours. */
  hear({ source, data }: Pick<MessageEvent<unknown>, 'source' | 'data'>, isOfHost: boolean): void {
    if (isOfHost) {
      const message = data as HostMessage
      if (message.type === 'plugin') this.#hearHost(message.frameId, message.part)
      return
    }
    const frame = [...this.#frames].find(({ element }) => source !== null && element?.contentWindow === source)
    if (frame !== undefined && !frame.isOver) this.#hearFrame(frame, data)
  }

  themeChanged(): void {
    const theme = this.#options.theme()
    for (const frame of this.#frames) if (frame.isStarted) this.#tell(frame, { kind: 'theme', theme })
  }

  /**
   * Ask every frame whether it still answers, and take away those that have not for too long; called every `PING_MS`.
   *
   * Code that never comes to an end holds up its own frame, and in Chromium those of all plugins in the page, since they share a process that
   * is not the page's: it ends with the last of them (measured with 156, 2026-12). Counted in questions rather than in time, so that a machine
   * that slept blames nobody.
   */
  ping(): void {
    const silent = [...this.#frames].filter((frame) => !frame.isOver && frame.silentPings >= MAX_SILENT_PINGS)
    const isOne = new Set(silent.map(({ view }) => view.pluginId)).size <= 1
    const seconds = (PING_MS * MAX_SILENT_PINGS) / 1_000
    for (const frame of silent) this.#fail(frame, isOne ? t('It did not answer for {0} s, so it was taken away.', seconds) : t('It did not answer for {0} s, so it was taken away. It may have been held up by another plugin.', seconds))
    for (const frame of this.#frames) {
      if (frame.isOver) continue
      frame.silentPings += 1
      this.#tell(frame, { kind: 'ping' })
    }
  }

  #hearHost(frameId: string, part: PluginPart): void {
    const frames = [...this.#frames].filter(({ view }) => view.id === frameId)
    for (const frame of frames) {
      if (part.kind === 'code') {
        frame.code ??= part.code
        this.#start(frame)
      } else if (part.kind === 'event') {
        if (frame.isStarted) this.#tell(frame, part)
      } else {
        // Answers go to the frame that asked, under its own number.
        const asked = frame.waiting.get(part.id)
        if (asked === undefined || !frame.waiting.delete(part.id)) continue
        this.#tell(frame, { ...part, id: asked })
      }
    }
  }

  #hearFrame(frame: Frame, data: unknown): void {
    const now = this.#options.now()
    if (now - frame.secondAt >= 1_000) {
      frame.secondAt = now
      frame.messages = 0
    }
    frame.messages += 1
    frame.silentPings = 0
    if (frame.messages > FLOOD_MESSAGES_A_SECOND) return this.#fail(frame, t('It was stopped: it sent more than {0} messages within a second.', FLOOD_MESSAGES_A_SECOND))
    const message = frameMessage(data)
    if (message === null) return
    const isTooMuch = frame.messages > MAX_MESSAGES_A_SECOND
    switch (message.kind) {
      case 'here':
        frame.isListening = true
        return this.#start(frame)
      case 'ready':
        return this.#ready(frame, message.isDrawn)
      case 'failed':
        return this.#fail(frame, message.message)
      case 'call':
        return isTooMuch || frame.waiting.size >= MAX_WAITING_CALLS ? this.#refuse(frame, message.id, 'too-many-calls', `At most ${MAX_WAITING_CALLS} calls wait at once, and ${MAX_MESSAGES_A_SECOND} messages are heard in a second. Wait for answers first.`) : this.#call(frame, message)
      case 'trouble':
        if (!isTooMuch) frame.trouble.value = message.message
        return
      case 'height':
        if (!isTooMuch && frame.height.peek() !== null) frame.height.value = message.px
        return
      case 'pong':
        return
      case 'leave':
        this.#options.onLeave(frame.view.id)
    }
  }

  #start(frame: Frame): void {
    if (!frame.isListening || frame.isStarted || frame.code === null) return
    frame.isStarted = true
    this.#tell(frame, { kind: 'start', slot: frame.slot, code: frame.code, nonce: this.#options.nonce, theme: this.#options.theme() })
  }

  #ready(frame: Frame, isDrawn: boolean): void {
    if (!frame.isStarted) return
    if (isDrawn) frame.height.value ??= 0
    if (frame.isReady) return
    frame.isReady = true
    const { id, slots } = frame.view
    const ready = [...this.#frames].filter((each) => each.view.id === id && each.isReady)
    if (ready.length === slots.length) this.#options.post({ type: 'plugin-frame', frameId: id, state: 'ready' })
  }

  #fail(frame: Frame, message: string): void {
    frame.isOver = true
    this.#options.post({ type: 'plugin-frame', frameId: frame.view.id, state: 'failed', message })
  }

  #call(frame: Frame, { id, method, payload }: Extract<FrameSays, { kind: 'call' }>): void {
    const bytes = utf8Length(JSON.stringify(payload))
    if (bytes > MAX_PLUGIN_PAYLOAD_BYTES) return this.#refuse(frame, id, 'payload-too-large', `The payload has ${bytes} bytes of JSON; ${MAX_PLUGIN_PAYLOAD_BYTES} cross at once. Send less, or in parts.`)
    frame.trouble.value = null
    this.#calls += 1
    frame.waiting.set(this.#calls, id)
    this.#options.post({ type: 'plugin-call', frameId: frame.view.id, id: this.#calls, method, payload })
  }

  #refuse(frame: Frame, id: number, code: string, message: string): void {
    this.#tell(frame, { kind: 'refusal', id, code, message })
  }

  #tell(frame: Frame, message: FrameHears): void {
    // A frame without an origin can only be spoken to by leaving it open; its window is known.
    frame.element?.contentWindow?.postMessage(message, '*')
  }
}

interface Frame {
  readonly view: PluginFrameView
  readonly slot: PluginSlot
  element: FrameElement | null
  code: string | null
  isListening: boolean
  isStarted: boolean
  isReady: boolean
  isOver: boolean
  /** Since it said anything. */
  silentPings: number
  secondAt: number
  messages: number
  /** The frame's own numbers of its calls, by ours. */
  readonly waiting: Map<number, number>
  readonly height: Signal<number | null>
  readonly trouble: Signal<string | null>
}

const MAX_TEXT_CHARS = 1_000

/** What a frame said, with the known fields alone; null for anything that is not of the protocol. */
function frameMessage(data: unknown): FrameSays | null {
  if (typeof data !== 'object' || data === null) return null
  const { kind, message, px, id, method, payload, isDrawn } = data as Readonly<Record<string, unknown>>
  switch (kind) {
    case 'here':
    case 'pong':
    case 'leave':
      return { kind }
    case 'ready':
      return { kind, isDrawn: isDrawn === true }
    case 'failed':
    case 'trouble':
      return { kind, message: typeof message === 'string' ? message.slice(0, MAX_TEXT_CHARS) : '' }
    case 'height':
      return typeof px === 'number' && px >= 0 && px < 100_000 ? { kind, px } : null
    case 'call': {
      if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0 || typeof method !== 'string' || method.length > 200) return null
      const copy = jsonCopy(payload)
      return copy === undefined ? null : { kind, id, method, payload: copy }
    }
    default:
      return null
  }
}

type Payload = Extract<FrameSays, { kind: 'call' }>['payload']

/** Undefined for what has no JSON. */
function jsonCopy(value: unknown): Payload | undefined {
  try {
    return JSON.parse(JSON.stringify(value)) as Payload
  } catch {
    // A cycle, a big integer, or nothing at all: no program of ours sends that.
    return undefined
  }
}
