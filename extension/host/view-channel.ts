import type { Undo } from '../base/undo.ts'
import type { HostMessage } from '../protocol/messages.ts'

/** One page of ours, wherever it stands: side bar or editor. */
export interface ViewChannel<Message = HostMessage> {
  post(message: Message): void
  /** `raw` is whatever the page sent; nothing about it is certain. */
  onMessage(listener: (raw: unknown) => void): Undo
  /** A page that cannot be seen is not fed; it gets a snapshot when it says that it is ready again. */
  isVisible(): boolean
  /** An address under which the page can show the bytes, or null. */
  imageUri(bytes: Uint8Array, mediaType: string): string | null
  /** Load the page anew. */
  reload(): void
}
