import { messageOf } from '../base/message-of.ts'
import { MAX_ARCHIVE_BYTES } from '../core/session/archive/import.ts'
import type { CommandDefinition } from '../core/commands/command.ts'
import type { Session } from '../core/session/session.ts'
import type { ChatCapabilities, ChatServices } from './chat-services.ts'
import { forkAfter, forkBefore, forkNow, laterChoices, seqOfRow, turnChoices, type RestartPoint } from './fork-points.ts'
import type { NoticeAction } from './notices.ts'

export interface SessionActionsParts {
  readonly capabilities: ChatCapabilities
  readonly services: ChatServices
  readonly chat: {
    /** The session the person sees, if it is live. */
    shown(): Session | null
    titleOf(session: Session): string
    open(sessionId: string): Promise<void>
    /** The welcome page; `carriesOn` keeps model and preset of the session before. */
    startAnew(options: { readonly carriesOn: boolean }): Promise<void>
    putDraft(sessionId: string | null, text: string): void
    /** Beside the words in the box. Errors: `AttachmentError` when it does not fit there. */
    putImage(sessionId: string | null, image: { readonly bytes: Uint8Array; readonly name: string }): Promise<void>
    notice(id: string, level: 'info' | 'warning' | 'error', text: string, actions?: readonly NoticeAction[]): void
    refreshList(): Promise<void>
  }
}

/** Characters of a prompt that a list to choose from shows. */
const PROMPT_CHARS = 100

/** What a person does with whole sessions: fork, go back, begin anew. Each is in the page, in the palette and as a slash command. */
export class SessionActions {
  readonly #parts: SessionActionsParts

  constructor(parts: SessionActionsParts) {
    this.#parts = parts
  }

  /** The slash commands that need a view. */
  commands(): readonly CommandDefinition[] {
    const { t } = this.#parts.capabilities.l10n
    return [
      {
        name: 'clear',
        needsSession: true,
        description: t('Begin a new session with the same model and preset. This one stays in the list.'),
        run: async () => {
          await this.#parts.chat.startAnew({ carriesOn: true })
          return { text: t('A new session was begun.') }
        },
      },
      {
        name: 'fork',
        needsSession: true,
        description: t('Go on in a copy of this session. This one stays as it is.'),
        run: async ({ agent, commandId }) => ({ text: t('Went on in a copy of “{title}”.', { title: await this.fork(agent.session, null, commandId) }) }),
      },
      {
        name: 'rewind',
        needsSession: true,
        description: t('Go back to before one of your messages, in a copy of this session. Files stay as they are.'),
        run: async ({ agent }) => ({ text: (await this.rewind(agent.session)) ? t('Went on in a copy.') : t('Nothing was chosen.') }),
      },
      {
        name: 'export',
        needsSession: true,
        description: t('Save this session to a file: whole, with keys masked, or as a document.'),
        run: async ({ agent }) => ({ text: (await this.export(agent.id)) ?? t('Nothing was saved.') }),
      },
    ]
  }

  /**
   * Go on in a copy that ends with the turn of that row, or before the turn that runs and the command that asks for it. Gives the title of
   * what was copied.
   *
   * Errors: `Error` in words for the person; `SessionError` of `Sessions.fork`.
   */
  async fork(session: Session, rowId: string | null, commandId: string | null = null): Promise<string> {
    const { capabilities: { l10n }, chat } = this.#parts
    const seq = rowId === null ? null : seqOfRow(rowId)
    const boundary = seq === null ? forkNow(session, commandId) : forkAfter(session, seq)
    if (boundary === null) throw new Error(l10n.t('There is no finished turn to fork at yet. Wait for its end, or stop it, then fork.'))
    await chat.open(await this.#copy(session, boundary))
    await chat.refreshList()
    return chat.titleOf(session)
  }

  /** What the person chose for the session since then holds in its copies too. */
  async #copy(session: Session, boundary: number): Promise<string> {
    return (await this.#parts.services.sessions.fork(session.id, { boundary, ending: laterChoices(session, boundary) })).id
  }

  /** Change a message of the person and ask again: a copy that ends before its turn, with the words in the box. */
  async askAgain(session: Session, seq: number): Promise<void> {
    const { capabilities: { l10n }, chat } = this.#parts
    const point = forkBefore(session, seq)
    if (point === null) throw new Error(l10n.t('Only your own messages can be asked again.'))
    const childId = point.boundary === null ? null : await this.#copy(session, point.boundary)
    chat.putDraft(childId, point.text)
    const lost = await this.#putImages(session.id, childId, point.images)
    if (childId === null) await chat.startAnew({ carriesOn: true })
    else await chat.open(childId)
    if (lost === 1) chat.notice('session', 'warning', l10n.t('An image of that message could not be put into the box. Add it again if it is still wanted.'))
    else if (lost > 0) chat.notice('session', 'warning', l10n.t('{count} images of that message could not be put into the box. Add them again if they are still wanted.', { count: lost }))
    await chat.refreshList()
  }

  /** How many could not be put there. */
  async #putImages(from: string, to: string | null, images: RestartPoint['images']): Promise<number> {
    const { capabilities: { blobs, logger }, chat } = this.#parts
    let lost = 0
    for (const { attachmentId, name = '' } of images) {
      try {
        await chat.putImage(to, { bytes: await blobs.getAttachment(from, attachmentId), name })
      } catch (error) {
        logger.warn('An image could not be put into the box again.', { session: from, attachmentId, error: messageOf(error) })
        lost += 1
      }
    }
    return lost
  }

  /** Let the person choose one of their messages. False when they did not. */
  async rewind(session: Session): Promise<boolean> {
    const { editor, l10n } = this.#parts.capabilities
    const choices = turnChoices(session)
    if (choices.length === 0) throw new Error(l10n.t('There is nothing to go back to yet.'))
    const picked = await editor.pick({
      title: l10n.t('Go back to before which message?'),
      placeholder: l10n.t('This session stays as it is; you go on in a copy. Files stay as they are.'),
      items: choices.map(({ turn, promptSeq, text, at }) => ({
        id: String(promptSeq),
        label: text.replace(/\s+/g, ' ').slice(0, PROMPT_CHARS),
        description: l10n.t('turn {turn}', { turn }),
        detail: new Date(at).toLocaleString(),
      })),
    })
    if (picked === null) return false
    await this.askAgain(session, Number(picked))
    return true
  }

  /** Save a session to a file that the person chooses. Gives words for them, or null when they backed out. */
  async export(sessionId: string): Promise<string | null> {
    const { editor, l10n } = this.#parts.capabilities
    const { t } = l10n
    const archives = this.#parts.services.sessionArchives
    const plan = await archives.plan(sessionId)
    const others = plan.sessionIds.length - 1
    const scope = others === 0 ? t('The log and its images.') : others === 1 ? t('The log and its images, and a session that came out of it.') : t('The log and its images, and {count} sessions that came out of it.', { count: others })
    const form = await editor.pick({
      title: t('Export the session'),
      items: [
        { id: 'whole', label: t('Whole (ZIP)'), detail: `${scope} ${t('Bosun can import it again.')}` },
        { id: 'masked', label: t('With keys masked (ZIP)'), detail: t('Known shapes of keys and tokens are left out of the texts. Images stay as they are.') },
        { id: 'document', label: t('As a document (Markdown)'), detail: t('The talk to read and share, with known shapes of keys left out.') },
      ],
    })
    if (form === null) return null
    const isDocument = form === 'document'
    const chunks = isDocument ? documentOf(archives.markdown(sessionId, { isRedacted: true })) : archives.export(plan, { isRedacted: form === 'masked' })
    const path = await editor.saveFile({
      title: t('Export the session'),
      name: `${plan.name}.${isDocument ? 'md' : 'zip'}`,
      kind: isDocument ? { label: t('Markdown'), endings: ['md'] } : { label: t('Bosun session'), endings: ['zip'] },
      chunks,
    })
    return path === null ? null : t('Saved to {path}.', { path })
  }

  /** Take in a session from a file that the person chooses, and open it. */
  async import(): Promise<void> {
    const { capabilities: { editor, l10n, workspace }, chat, services } = this.#parts
    const { t } = l10n
    const [folder] = workspace.folders()
    if (folder === undefined) throw new Error(t('Open a folder first: the imported session works in it.'))
    const file = await editor.chooseFile({ title: t('Import a session'), kind: { label: t('Bosun session'), endings: ['zip', 'jsonl'] }, maxBytes: MAX_ARCHIVE_BYTES })
    if (file === null) return
    const [first] = await services.sessionArchives.import(file.bytes, { cwd: folder.path })
    await chat.refreshList()
    if (first !== undefined) await chat.open(first)
    chat.notice('session', 'info', t('{name} was imported. Its session goes on in {folder}.', { name: file.name, folder: folder.name }))
    await editor.showChat()
  }
}

async function* documentOf(text: Promise<string>): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(await text)
}
