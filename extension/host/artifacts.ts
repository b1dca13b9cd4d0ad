import { decodeText } from '../base/encoding.ts'
import { nameOf } from '../base/folders.ts'
import type { Json } from '../base/json.ts'
import { stripAnsi } from '../base/strip-ansi.ts'
import type { BlobStore } from '../capabilities/blob-store.ts'
import type { Editor, VirtualText } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { ToolContent } from '../core/log/message.ts'
import type { Session } from '../core/session/session.ts'
import { fileChangesFrom, type FileChange } from '../core/tools/file-changes.ts'
import type {} from '../core/tools/code-dispatch.ts'
import type { FileDiff, FileLocation } from '../protocol/cards.ts'
import type { ToolRow } from '../protocol/view-state.ts'
import { keptNames } from './kept-names.ts'
import type { Transcript } from './transcript.ts'

/** The conversation that a page shows. */
export interface ShownSession {
  readonly session: Session
  readonly transcript: Transcript
}

interface Parts {
  readonly editor: Pick<Editor, 'openLocation' | 'openDiff' | 'openDiffs' | 'openText' | 'openSearch' | 'openBytes' | 'openExternal'>
  readonly blobs: Pick<BlobStore, 'getBeforeImage' | 'getAttachment'>
  readonly l10n: Localization
}

/** Open in the editor what the chat shows a part of. Each resolves to words for the person when it cannot, else null. */
export class Artifacts {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async openLocation({ session }: ShownSession, location: FileLocation): Promise<string | null> {
    return await this.#parts.editor.openLocation(location, session.header.cwd ?? '')
  }

  /** What a call changed: the text before against the file as it is now; while that is not kept, the regions of the card. */
  async openDiff(shown: ShownSession, callId: string, path?: string): Promise<string | null> {
    const { editor, l10n } = this.#parts
    const changes = fileChangesFrom(resultOf(shown, callId)?.meta)
    const change = path === undefined ? changes[0] : (changes.find((entry) => isSamePath(entry.path, path)) ?? (changes.length === 1 ? changes[0] : undefined))
    if (change !== undefined) {
      const before = await this.#before(shown, change, callId)
      await editor.openDiff({ title: this.#diffTitle(change.path), path: change.path, before })
      return null
    }
    const diffs = diffsOf(rowOf(shown, callId)).filter((diff) => path === undefined || diff.path === path)
    const first = diffs[0]
    if (first === undefined) return l10n.t('This call has no change to show.')
    const file = nameOf(first.path)
    const regions = diffs.filter((diff) => diff.path === first.path)
    const side = (which: 'before' | 'after'): VirtualText => ({ name: keptNames.asked({ session: shown.session.id, callId }, which, file), text: sideOf(regions, which) })
    await editor.openDiff({ title: l10n.t('{file} (as asked)', { file }), path: first.path, before: side('before'), after: side('after') })
    return null
  }

  /** One side of what a call asked to change in the file of that name; null when the session does not hold it. */
  askedText(shown: ShownSession, callId: string, { file, side }: { readonly file: string; readonly side: 'before' | 'after' }): string | null {
    const diffs = diffsOf(rowOf(shown, callId)).filter(({ path }) => nameOf(path) === file)
    return diffs.length === 0 ? null : sideOf(diffs.filter(({ path }) => path === diffs[0]?.path), side)
  }

  /** The whole output of a call, as the model got it. */
  async openOutput(shown: ShownSession, callId: string): Promise<string | null> {
    const { editor, l10n } = this.#parts
    const row = rowOf(shown, callId)
    if (row === undefined) return l10n.t('This call is not in the conversation any more.')
    if (row.result?.card === 'terminal' && row.result.logPath !== undefined) {
      const problem = await editor.openLocation({ path: row.result.logPath }, shown.session.header.cwd ?? '')
      if (problem === null) return null
    }
    await editor.openText({ name: keptNames.output(shown.session.id, callId, row.tool), text: this.outputText(shown, callId) ?? '' })
    return null
  }

  /** All that a call was given: a program as such, anything else as it was sent. */
  async openInput(shown: ShownSession, callId: string): Promise<string | null> {
    const { editor, l10n } = this.#parts
    const text = this.inputText(shown, callId)
    const row = rowOf(shown, callId)
    if (text === null || row === undefined) return l10n.t('This call is not in the conversation any more.')
    const isProgram = row.call?.card === 'generic' && row.call.kind === 'execute'
    const ending = typeof givenOf(row) !== 'string' ? 'json' : isProgram ? 'ts' : 'txt'
    await editor.openText({ name: keptNames.input(shown.session.id, callId, `${row.tool}.${ending}`), text })
    return null
  }

  async openSearch(shown: ShownSession, callId: string): Promise<string | null> {
    const { editor, l10n } = this.#parts
    const result = rowOf(shown, callId)?.result
    if (result?.card !== 'search' || result.shape !== 'matches' || result.query === undefined) return l10n.t('This call has no search to show.')
    await editor.openSearch(result.query)
    return null
  }

  /** What a call gave so far; null when the session does not hold it. */
  outputText(shown: ShownSession, callId: string): string | null {
    const content = resultOf(shown, callId)?.content
    const text = content?.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? rowOf(shown, callId)?.progress
    return text === undefined ? null : stripAnsi(text)
  }

  /** What a call was given; null when the session does not hold it. */
  inputText(shown: ShownSession, callId: string): string | null {
    const row = rowOf(shown, callId)
    if (row === undefined) return null
    const given = givenOf(row) ?? shown.transcript.argumentsOf(callId)
    return typeof given === 'string' ? given : JSON.stringify(given, null, 2)
  }

  /** Everything one turn changed, each file from its first text before the turn to now. */
  async reviewTurn(shown: ShownSession, turn: number, path?: string): Promise<string | null> {
    const { editor, l10n } = this.#parts
    const first = new Map<string, { readonly change: FileChange; readonly callId: string }>()
    for (const row of shown.transcript.rows()) {
      if (row.kind !== 'tool' || row.turn !== turn) continue
      const result = resultAt(shown.session, shown.transcript.callOf(row.id)?.resultSeq)
      for (const change of fileChangesFrom(result?.meta)) {
        if (!first.has(change.path) && (path === undefined || isSamePath(change.path, path))) first.set(change.path, { change, callId: row.callId })
      }
    }
    if (first.size === 0) return l10n.t('Nothing of this turn’s changes is kept.')
    const files = await Promise.all(
      [...first.values()].map(async ({ change, callId }) => ({ path: change.path, before: await this.#before(shown, change, callId) })),
    )
    const [only] = files
    if (files.length === 1 && only !== undefined) await editor.openDiff({ title: this.#diffTitle(only.path), ...only })
    else await editor.openDiffs({ title: l10n.t('Changes of turn {turn}', { turn }), files })
    return null
  }

  async openImage({ session }: ShownSession, attachmentId: string): Promise<string | null> {
    const bytes = await this.attachment(session, attachmentId)
    const kind = bytes === null ? null : imageTypeOf(bytes)
    if (bytes === null || kind === null) return this.#parts.l10n.t('This image is not kept any more.')
    await this.#parts.editor.openBytes({ name: keptNames.image(session.id, attachmentId.replace('sha256:', ''), kind.extension), bytes })
    return null
  }

  /** The bytes of an attachment, or null when they are gone. */
  async attachment(session: Session, attachmentId: string): Promise<Uint8Array | null> {
    try {
      return await this.#parts.blobs.getAttachment(session.id, attachmentId)
    } catch {
      // The store says only that the content is gone or damaged; the page draws a placeholder for both.
      return null
    }
  }

  /** The log of the session as it stands on the disk, one event a line. */
  async openLog(shown: ShownSession): Promise<void> {
    await this.#parts.editor.openText({ name: keptNames.log(shown.session.id), text: this.logText(shown) })
  }

  logText({ session }: ShownSession): string {
    return [session.header, ...session.events()].map((line) => `${JSON.stringify(line)}\n`).join('')
  }

  /** Only what a browser or mail program opens; the editor itself asks before it opens an unknown host. */
  async openLink(address: string): Promise<string | null> {
    const url = URL.canParse(address) ? new URL(address) : null
    if (url === null || !['http:', 'https:', 'mailto:'].includes(url.protocol)) {
      return this.#parts.l10n.t('Bosun opens web and mail addresses only, not {address}.', { address: address.slice(0, 200) })
    }
    await this.#parts.editor.openExternal(url.href)
    return null
  }

  async #before({ session }: ShownSession, change: FileChange, callId: string): Promise<VirtualText> {
    const name = keptNames.before({ session: session.id, callId, digest: change.before }, nameOf(change.path))
    if (change.before === null) return { name, text: '' }
    const bytes = await this.#parts.blobs.getBeforeImage(session.id, change.before)
    return { name, text: decodeText(bytes)?.text ?? '' }
  }

  #diffTitle(path: string): string {
    return this.#parts.l10n.t('{file} (before and now)', { file: nameOf(path) })
  }
}

/** The kind of image that the bytes begin like, or null. */
export function imageTypeOf(bytes: Uint8Array): { readonly mediaType: string; readonly extension: string } | null {
  const starts = (offset: number, ...expected: readonly number[]) => expected.every((byte, index) => bytes[offset + index] === byte)
  if (starts(0, 0x89, 0x50, 0x4e, 0x47)) return { mediaType: 'image/png', extension: 'png' }
  if (starts(0, 0xff, 0xd8, 0xff)) return { mediaType: 'image/jpeg', extension: 'jpg' }
  if (starts(0, 0x47, 0x49, 0x46, 0x38)) return { mediaType: 'image/gif', extension: 'gif' }
  if (starts(0, 0x52, 0x49, 0x46, 0x46) && starts(8, 0x57, 0x45, 0x42, 0x50)) return { mediaType: 'image/webp', extension: 'webp' }
  return null
}

const resultOf = ({ session, transcript }: ShownSession, callId: string) => resultAt(session, transcript.call(callId)?.resultSeq)

/** What the log keeps of a call that ended, of the model or of a program. */
function resultAt(session: Session, seq: number | null | undefined): { readonly content: readonly ToolContent[]; readonly meta?: Json } | undefined {
  const event = seq == null ? undefined : session.events(seq, seq + 1)[0]
  if (event?.type === 'tool/code-dispatch') return event.data
  if (event?.type !== 'tool/result') return undefined
  const { meta, message } = event.data
  return { content: message.content[0].content, ...(meta !== undefined && { meta }) }
}

function rowOf({ transcript }: ShownSession, callId: string): ToolRow | undefined {
  const place = transcript.call(callId)
  const row = place === undefined ? undefined : transcript.row(place.rowId)
  return row?.kind === 'tool' ? row : undefined
}

/** As its card words it; undefined: as it was sent. */
const givenOf = ({ call }: ToolRow): Json | undefined => (call?.card === 'generic' ? call.rawInput : undefined)

function diffsOf(row: ToolRow | undefined): readonly FileDiff[] {
  if (row?.result?.card === 'diff') return row.result.diffs
  return row?.call?.card === 'diff' ? row.call.diffs : []
}

const sideOf = (diffs: readonly FileDiff[], side: 'before' | 'after') => diffs.map(({ oldText, newText }) => (side === 'before' ? (oldText ?? '') : newText)).join('\n')


/** Cards show paths as the tool got them; changes are kept by absolute path. */
const isSamePath = (absolute: string, shown: string) => absolute === shown || absolute.replaceAll('\\', '/').endsWith(`/${shown.replaceAll('\\', '/').replace(/^\.\//, '')}`)
