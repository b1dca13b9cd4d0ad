import type { BlobStore } from '../capabilities/blob-store.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Machine } from '../capabilities/machine.ts'
import type { Memento } from '../capabilities/memento.ts'
import type { Json } from '../base/json.ts'
import type { AttachmentRef, ImageBlock, TextBlock } from '../core/log/message.ts'
import { checkedImage, checkRoom } from '../features/attachments/check-image.ts'
import type { AttachmentView } from '../protocol/view-state.ts'

interface Needs {
  readonly blobs: Pick<BlobStore, 'putAttachment' | 'getAttachment' | 'keepAttachments'>
  readonly machine: Pick<Machine, 'randomId'>
  readonly memento: Memento
  readonly l10n: Localization
  readonly onError: (error: unknown) => void
}

/** What goes with the message that is being written. */
type Kept =
  | { readonly kind: 'image'; readonly id: string; readonly image: AttachmentRef }
  | { readonly kind: 'selection'; readonly id: string; readonly label: string; readonly detail: string; readonly block: TextBlock }

/** Where images stay whose session is yet to begin. */
const AREA_KEY = 'draftArea'
/** Things that are no images: each holds as much text as its own cap allows. */
const MAX_SELECTIONS = 20

/**
 * Images and selections that wait to be sent, per session (null: before there is one). They outlive the window.
 *
 * An image is stored by its digest at once, in the folder of its session, so that sending only names it.
 */
export class DraftAttachments {
  readonly #needs: Needs
  readonly #lists = new Map<string, readonly Kept[]>()

  constructor(needs: Needs) {
    this.#needs = needs
  }

  views(sessionId: string | null): readonly AttachmentView[] {
    return this.#list(sessionId).map((kept) =>
      kept.kind === 'image'
        ? { id: kept.id, kind: 'image', label: kept.image.name ?? '', detail: sizeOf(kept.image), attachmentId: kept.image.attachmentId }
        : { id: kept.id, kind: 'selection', label: kept.label, detail: kept.detail },
    )
  }

  hasImages(sessionId: string | null): boolean {
    return this.#list(sessionId).some(({ kind }) => kind === 'image')
  }

  /** Errors: `AttachmentError`; what the store fails with. */
  async addImage(sessionId: string | null, { bytes, name }: { readonly bytes: Uint8Array; readonly name: string }): Promise<void> {
    const { mediaType, width, height } = checkedImage(bytes, this.#needs.l10n)
    checkRoom(this.#imagesOf(sessionId).map((image) => image.bytes), bytes.length, this.#needs.l10n)
    const stored = await this.#needs.blobs.putAttachment(await this.#areaOf(sessionId), bytes, { mediaType, ...(name === '' ? {} : { name }) })
    const images = this.#imagesOf(sessionId)
    // The same picture twice is one picture.
    if (images.some(({ attachmentId }) => attachmentId === stored.attachmentId)) return
    checkRoom(images.map((image) => image.bytes), bytes.length, this.#needs.l10n)
    await this.#set(sessionId, [...this.#list(sessionId), { kind: 'image', id: this.#needs.machine.randomId(), image: { ...stored, width, height } }])
  }

  /** One more of the same place takes the older one's. */
  async addSelection(sessionId: string | null, { label, detail, block }: { readonly label: string; readonly detail: string; readonly block: TextBlock }): Promise<void> {
    const others = this.#list(sessionId).filter((kept) => kept.kind === 'image' || kept.label !== label || kept.detail !== detail)
    const selections = others.filter(({ kind }) => kind === 'selection')
    const tooMany = new Set(selections.slice(0, Math.max(0, selections.length + 1 - MAX_SELECTIONS)))
    await this.#set(sessionId, [...others.filter((kept) => !tooMany.has(kept)), { kind: 'selection', id: this.#needs.machine.randomId(), label, detail, block }])
  }

  async remove(sessionId: string | null, id: string): Promise<void> {
    await this.#set(sessionId, this.#list(sessionId).filter((kept) => kept.id !== id))
  }

  /** The parts of a message, images in the folder of the session that it goes to. Errors: `Error` for an image that is gone. */
  async blocks(sessionId: string | null, target: string): Promise<readonly (ImageBlock | TextBlock)[]> {
    const area = await this.#areaOf(sessionId)
    return await Promise.all(
      this.#list(sessionId).map(async (kept) => {
        if (kept.kind === 'selection') return kept.block
        if (area !== target) await this.#needs.blobs.putAttachment(target, await this.#bytesOf(area, kept.image), { mediaType: kept.image.mediaType })
        return { type: 'image' as const, attachment: kept.image }
      }),
    )
  }

  async clear(sessionId: string | null): Promise<void> {
    if (this.#list(sessionId).length > 0) await this.#set(sessionId, [])
  }

  /** Null when it does not wait here. */
  async bytes(sessionId: string | null, attachmentId: string): Promise<Uint8Array | null> {
    if (!this.#imagesOf(sessionId).some((image) => image.attachmentId === attachmentId)) return null
    return await this.#needs.blobs.getAttachment(await this.#areaOf(sessionId), attachmentId).catch(() => null)
  }

  async #bytesOf(area: string, { attachmentId, name }: AttachmentRef): Promise<Uint8Array> {
    try {
      return await this.#needs.blobs.getAttachment(area, attachmentId)
    } catch (cause) {
      const { t } = this.#needs.l10n
      throw new Error(name === undefined ? t('An image of this message is not kept any more. Take it out, then send again.') : t('The image {name} is not kept any more. Take it out, then send again.', { name }), { cause })
    }
  }

  #imagesOf(sessionId: string | null): readonly AttachmentRef[] {
    return this.#list(sessionId).flatMap((kept) => (kept.kind === 'image' ? [kept.image] : []))
  }

  #list(sessionId: string | null): readonly Kept[] {
    const key = keyOf(sessionId)
    const held = this.#lists.get(key)
    if (held !== undefined) return held
    const list = keptFrom(this.#needs.memento.get(key))
    this.#lists.set(key, list)
    return list
  }

  async #set(sessionId: string | null, list: readonly Kept[]): Promise<void> {
    const key = keyOf(sessionId)
    this.#lists.set(key, list)
    try {
      // Lossless JSON by its types.
      await this.#needs.memento.set(key, list.length === 0 ? undefined : (list as unknown as Json))
      if (sessionId === null) await this.#needs.blobs.keepAttachments(await this.#areaOf(null), this.#imagesOf(null).map(({ attachmentId }) => attachmentId))
    } catch (error) {
      // It is there as long as the window is.
      this.#needs.onError(error)
    }
  }

  async #areaOf(sessionId: string | null): Promise<string> {
    if (sessionId !== null) return sessionId
    const known = this.#needs.memento.get(AREA_KEY)
    if (typeof known === 'string') return known
    const area = `drafts-${this.#needs.machine.randomId()}`
    await this.#needs.memento.set(AREA_KEY, area)
    return area
  }
}

const keyOf = (sessionId: string | null) => `attachments:${sessionId ?? ''}`

function sizeOf({ bytes, width, height }: AttachmentRef): string {
  const size = bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1_000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
  return width === undefined || height === undefined ? size : `${width} × ${height}, ${size}`
}

/** What an older or broken window has kept counts as nothing. */
function keptFrom(value: Json | undefined): readonly Kept[] {
  if (!Array.isArray(value)) return []
  return (value as readonly unknown[]).flatMap((entry): readonly Kept[] => {
    const kept = entry as Partial<Record<string, unknown>> | null
    if (kept === null || typeof kept !== 'object' || typeof kept['id'] !== 'string') return []
    const image = kept['image'] as Partial<AttachmentRef> | undefined
    if (kept['kind'] === 'image' && typeof image?.attachmentId === 'string' && typeof image.bytes === 'number' && typeof image.mediaType === 'string') return [kept as unknown as Kept]
    const block = kept['block'] as Partial<TextBlock> | undefined
    if (kept['kind'] === 'selection' && typeof kept['label'] === 'string' && typeof kept['detail'] === 'string' && block?.type === 'text' && typeof block.text === 'string') return [kept as unknown as Kept]
    return []
  })
}
