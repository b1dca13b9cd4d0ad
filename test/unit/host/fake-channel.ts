import type { HostMessage, ViewMessage } from '../../../extension/protocol/messages.ts'
import type { ViewChannel } from '../../../extension/host/view-channel.ts'

/** A page that keeps what it is told and says what a test wants. */
export function fakeChannel() {
  const posted: HostMessage[] = []
  const listeners = new Set<(raw: unknown) => void>()
  let isVisible = true
  let reloads = 0
  const channel: ViewChannel = {
    post: (message) => void posted.push(structuredClone(message)),
    onMessage(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    isVisible: () => isVisible,
    imageUri: (bytes, mediaType) => `data:${mediaType};bytes=${bytes.length}`,
    reload: () => void (reloads += 1),
  }
  return {
    channel,
    say: (message: ViewMessage) => listeners.forEach((listener) => listener(message)),
    sayRaw: (raw: unknown) => listeners.forEach((listener) => listener(raw)),
    hide: () => void (isVisible = false),
    reveal: () => void (isVisible = true),
    reloads: () => reloads,
    listenerCount: () => listeners.size,
    /** What was posted since the last call. */
    take: () => posted.splice(0),
  }
}
