import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { SessionEvent } from '../log/event.ts'
import type { AttachmentRef } from '../log/message.ts'
import { isSurfaceEvent } from './surface.ts'

export type Attachments = Pick<BlobStore, 'getAttachment' | 'putAttachment'>

/** Give session `to` what `events`, copied from session `from`, refer to. What is missing there stays missing, with a warning. */
export async function copyAttachments(
  { blobs, logger }: { readonly blobs: Attachments; readonly logger: Logger },
  events: readonly SessionEvent[],
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const refs = new Map(events.flatMap(attachmentsOf).map((ref) => [ref.attachmentId, ref]))
  for (const { attachmentId, mediaType } of refs.values()) {
    try {
      await blobs.putAttachment(to, await blobs.getAttachment(from, attachmentId), { mediaType })
    } catch (error) {
      logger.warn('An attachment could not be copied into a fork.', { session: to, attachmentId, error: error instanceof Error ? error.message : String(error) })
    }
  }
}

function attachmentsOf(event: SessionEvent): readonly AttachmentRef[] {
  if (!isSurfaceEvent(event) || event.type === 'assistant/message') return []
  const blocks = event.type === 'user/message' ? event.data.content : event.data.message.content[0].content
  return blocks.flatMap((block) => (block.type === 'image' ? [block.attachment] : []))
}
