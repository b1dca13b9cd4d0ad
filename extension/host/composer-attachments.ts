import { fullAddress } from '../base/address.ts'
import { nameOf } from '../base/folders.ts'
import { isErrorOf } from '../base/harness-error.ts'
import { messageOf } from '../base/message-of.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { ImageBlock, TextBlock } from '../core/log/message.ts'
import { UnresolvedReference, type References } from '../features/references/service.ts'
import type { HostMessage, ViewMessage } from '../protocol/messages.ts'
import type { AttachmentView } from '../protocol/view-state.ts'
import type { DraftAttachments } from './draft-attachments.ts'

export type AttachmentIntent = Extract<ViewMessage, { type: 'attach-image' | 'attach-selection' | 'detach' | 'mention' }>

interface Needs {
  readonly drafts: DraftAttachments
  readonly references: Pick<References, 'selection' | 'spelling'>
  readonly l10n: Localization
  /** The session shown, null before there is one, and the folder it works in, null where there is none. */
  readonly place: () => { readonly sessionId: string | null; readonly cwd: string | null }
  /** Why no image can go to the model that is chosen, in words, or null. */
  readonly imagesRefused: () => Promise<string | null>
  readonly onChange: (views: readonly AttachmentView[]) => void
  readonly say: (problem: string) => void
}

/** What the person puts beside the words of a message, and takes away again. */
export class ComposerAttachments {
  readonly #needs: Needs

  constructor(needs: Needs) {
    this.#needs = needs
  }

  views(): readonly AttachmentView[] {
    return this.#needs.drafts.views(this.#needs.place().sessionId)
  }

  get hasImages(): boolean {
    return this.#needs.drafts.hasImages(this.#needs.place().sessionId)
  }

  async handle(intent: AttachmentIntent, reply: (message: HostMessage) => void): Promise<void> {
    switch (intent.type) {
      case 'attach-image':
        return reply({ type: 'attached', id: intent.id, problem: await this.#attachImage(intent) })
      case 'attach-selection':
        return await this.attachSelection()
      case 'detach':
        await this.#needs.drafts.remove(this.#needs.place().sessionId, intent.id)
        return this.#changed()
      case 'mention':
        return reply({ type: 'insert-text', text: this.mentions(intent.uris.map(pathOf)) })
    }
  }

  /** Put what is selected in the editor to the message; when nothing is, say so. */
  async attachSelection(): Promise<void> {
    const { sessionId, cwd } = this.#needs.place()
    try {
      const { block, facts } = await this.#needs.references.selection({ cwd: cwd ?? '/' })
      const { path, startLine, endLine } = facts
      const lines = endLine > startLine ? this.#needs.l10n.t('lines {first} to {last}', { first: startLine, last: endLine }) : this.#needs.l10n.t('line {line}', { line: startLine })
      await this.#needs.drafts.addSelection(sessionId, { label: nameOf(path), detail: lines, block })
    } catch (error) {
      const { t } = this.#needs.l10n
      this.#needs.say(isErrorOf(UnresolvedReference, error, 'NOTHING_THERE') ? t('Nothing is selected in an editor. Select something, then attach it.') : messageOf(error))
      return
    }
    this.#changed()
  }

  /** Words that name these files. */
  mentions(paths: readonly string[]): string {
    const cwd = this.#needs.place().cwd ?? '/'
    return `${paths.map((path) => this.#needs.references.spelling(path, cwd)).join(' ')} `
  }

  /** Why what waits cannot be sent, in words, or null. */
  async refusal(): Promise<string | null> {
    return this.hasImages ? await this.#needs.imagesRefused() : null
  }

  /** The parts of a message to `target`, of what waits for `sessionId`. Errors: `Error` for an image that is gone. */
  blocks(sessionId: string | null, target: string): Promise<readonly (ImageBlock | TextBlock)[]> {
    return this.#needs.drafts.blocks(sessionId, target)
  }

  async sent(sessionId: string | null): Promise<void> {
    await this.#needs.drafts.clear(sessionId)
    this.#changed()
  }

  /** Bytes of an image that waits, for its thumbnail. */
  bytes(attachmentId: string): Promise<Uint8Array | null> {
    return this.#needs.drafts.bytes(this.#needs.place().sessionId, attachmentId)
  }

  async #attachImage({ name, data }: Extract<AttachmentIntent, { type: 'attach-image' }>): Promise<string | null> {
    const { l10n, drafts, place } = this.#needs
    try {
      const refused = await this.#needs.imagesRefused()
      if (refused !== null) return refused
      await drafts.addImage(place().sessionId, { bytes: bytesFrom(data), name })
      this.#changed()
      return null
    } catch (error) {
      return l10n.t('{name} was not attached. {problem}', { name: name === '' ? l10n.t('The image') : name, problem: messageOf(error) })
    }
  }

  #changed(): void {
    this.#needs.onChange(this.views())
  }
}

/** What is no Base64 is no bytes, which is no image. */
function bytesFrom(base64: string): Uint8Array {
  let binary = ''
  try {
    binary = atob(base64)
  } catch {
    // Said by the check of the image: nothing is there.
  }
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** The path of a URI that the editor's lists give; what is none is taken as a path. */
export function pathOf(uri: string): string {
  if (!URL.canParse(uri)) return uri
  const { protocol, pathname } = new URL(uri)
  if (protocol !== 'file:' && protocol !== 'vscode-remote:') return fullAddress(uri)
  const path = decodeURIComponent(pathname)
  return /^\/[a-z]:/i.test(path) ? path.slice(1) : path
}
