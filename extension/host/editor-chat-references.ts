import type { BlobStore } from '../capabilities/blob-store.ts'
import type { TalkReference, TalkRequest } from '../capabilities/editor-chat.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { UserMessage } from '../core/log/message.ts'
import { checkedImage } from '../features/attachments/check-image.ts'

interface Needs {
  /** How a path is written behind the `@`, the sign included. */
  readonly spelling: (path: string) => string
  readonly blobs: Pick<BlobStore, 'putAttachment'>
  readonly l10n: Localization
  readonly sessionId: string
}

/** UTF-16 units of a text that goes with a message. */
const MAX_TEXT = 65_536

/**
 * The words of a message with the files it points at as `@` references: in their place where they stand in it, else behind it. Texts and
 * images go beside it, since what stands in them is nothing that the person wrote.
 *
 * Errors: `AttachmentError` for an image that no model takes.
 */
export async function messageWith({ text, references }: Pick<TalkRequest, 'text' | 'references'>, needs: Needs): Promise<{ readonly text: string; readonly blocks: UserMessage['content'] }> {
  let words = text
  const behind: string[] = []
  // From the end, so that the places before stay what they were.
  for (const reference of references.filter(isFile).toSorted((left, right) => (right.range?.[0] ?? -1) - (left.range?.[0] ?? -1))) {
    const said = fileWords(reference, needs)
    const { range } = reference
    if (range !== null && range[0] >= 0 && range[0] < range[1] && range[1] <= words.length) words = `${words.slice(0, range[0])}${said}${words.slice(range[1])}`
    else if (!words.includes(said)) behind.push(said)
  }
  const beside = references.filter((reference) => !isFile(reference))
  return { text: [words, ...behind].filter((part) => part.trim() !== '').join('\n\n'), blocks: await Promise.all(beside.map((reference) => blockOf(reference, needs))) }
}

const isFile = (reference: TalkReference): reference is Extract<TalkReference, { kind: 'file' }> => reference.kind === 'file'

const fileWords = ({ path, lines }: Extract<TalkReference, { kind: 'file' }>, { spelling }: Needs): string => (lines === null ? spelling(path) : `${spelling(path)} (lines ${lines[0]}-${lines[1]})`)

async function blockOf(reference: Exclude<TalkReference, { kind: 'file' }>, needs: Needs): Promise<UserMessage['content'][number]> {
  switch (reference.kind) {
    case 'image':
      return await imageBlock(reference, needs)
    case 'text': {
      const left = reference.text.length - MAX_TEXT
      return { type: 'text', text: `${reference.name}:\n${reference.text.slice(0, MAX_TEXT)}${left > 0 ? `\n[${left} more characters are left out.]` : ''}` }
    }
    case 'other':
      return { type: 'text', text: `[${reference.name}, which the editor’s chat cannot hand on.]` }
  }
}

async function imageBlock({ bytes }: Extract<TalkReference, { kind: 'image' }>, { blobs, l10n, sessionId }: Needs): Promise<UserMessage['content'][number]> {
  const { mediaType, width, height } = checkedImage(bytes, l10n)
  const { attachmentId } = await blobs.putAttachment(sessionId, bytes, { mediaType })
  return { type: 'image', attachment: { attachmentId, mediaType, bytes: bytes.length, width, height } }
}
