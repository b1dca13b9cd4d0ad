import { decodeText } from '../base/encoding.ts'
import type { Artifacts, ShownSession } from './artifacts.ts'
import type { ChatConfiguration } from './chat-configuration.ts'
import type { ChatState } from './chat-state.ts'
import { keptNameFrom } from './kept-names.ts'
import type { SessionSearchRoom } from './session-search.ts'
import type { TaskRoom } from './task-room.ts'

interface Parts {
  readonly chat: ChatState
  readonly artifacts: Artifacts
  readonly workflows: { resultText(sessionId: string, runId: string, what: number | 'script'): string | null }
  readonly tasks: Pick<TaskRoom, 'historyPage'>
  readonly search: Pick<SessionSearchRoom, 'eventPage' | 'foundPage' | 'tracePage'>
  readonly configuration: Pick<ChatConfiguration, 'hooksPage' | 'sessionPage' | 'storagePage'>
}

/**
 * Draws again what an editor shows and nothing keeps any more, as after the window was loaded again: from the folder, the blobs, or the
 * log of a session that is open. For what cannot be drawn it says how to open it again.
 */
export class KeptPages {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Errors: `Error` for an image that is not kept any more; nothing else could stand in its place. */
  async draw(name: string): Promise<string | Uint8Array> {
    const { kind, parts, file } = keptNameFrom(name)
    const [session = '', second = '', third = ''] = parts
    const { configuration } = this.#parts
    switch (kind) {
      case 'gone':
        return ''
      case 'hooks':
        return await configuration.hooksPage()
      case 'storage':
        return await configuration.storagePage()
      case 'instructions':
      case 'skills':
        if (session === 'new') return await configuration.sessionPage(kind, null)
        return await this.#ofSession(session, async (shown) => await configuration.sessionPage(kind, shown.session))
      case 'event':
        return await this.#parts.search.eventPage({ sessionId: session, seq: Number(second) })
      case 'found':
        return await this.#parts.search.foundPage({ sessionId: session, seq: Number(second) })
      case 'trace':
        return await this.#parts.search.tracePage(session)
      case 'tasks':
        return await this.#ofSession(session, async (shown) => this.#parts.tasks.historyPage(shown.session))
      case 'log':
        return await this.#ofSession(session, async (shown) => this.#parts.artifacts.logText(shown))
      case 'output':
        return await this.#ofSession(session, async (shown) => this.#parts.artifacts.outputText(shown, second))
      case 'input':
        return await this.#ofSession(session, async (shown) => this.#parts.artifacts.inputText(shown, second))
      case 'asked':
        return await this.#ofSession(session, async (shown) => this.#parts.artifacts.askedText(shown, second, { file, side: third === 'after' ? 'after' : 'before' }))
      case 'before':
        return third === 'none' ? '' : await this.#before(session, third)
      case 'baseline':
        return await this.#ofSession(session, async (shown) => (await this.#parts.chat.services.reviews.file(shown.session, second))?.baseline ?? '')
      case 'merge-side':
        return await this.#ofSession(session, async (shown) => {
          const review = await this.#parts.chat.services.reviews.file(shown.session, second)
          return (third === 'now' ? review?.now : review?.sides?.[third === 'agent' ? 'agent' : 'without']) ?? review?.now ?? ''
        })
      case 'workflow':
        return await this.#ofSession(session, async () => this.#parts.workflows.resultText(session, second, third === 'script' ? third : Number(third)))
      case 'turn-start':
        return await this.#ofSession(session, async (shown) => {
          const files = await this.#parts.chat.services.reviews.turnStart(shown.session, Number(second))
          return files.find(({ path }) => path === third)?.before ?? ''
        })
      case 'child-work':
        return await this.#ofSession(session, async (shown) => {
          const file = await this.#parts.chat.services.get('worktrees')?.file(shown.session, second, third).catch(() => null)
          return file == null ? null : ((parts[3] === 'base' ? file.base : parts[3] === 'ours' ? file.ours : file.theirs) ?? '')
        })
      case 'image':
        return await this.#image(session, second)
      default:
        return this.#howTo(this.#parts.chat.world.l10n.t('Open it again from where it stood in the chat.'))
    }
  }

  /** Null from `draw`: the session does not hold it. */
  async #ofSession(id: string, draw: (shown: ShownSession) => Promise<string | null>): Promise<string> {
    const { chat } = this.#parts
    const session = chat.shown?.session.id === id ? chat.shown.session : chat.services.sessions.live(id)
    if (session === undefined) return await this.#closed(id)
    return (await draw({ session, transcript: await chat.transcripts.of(session) })) ?? (await this.#closed(id))
  }

  async #before(session: string, digest: string): Promise<string> {
    if (!isId(session) || !isDigest(digest)) return await this.#closed(session)
    try {
      return decodeText(await this.#parts.chat.world.blobs.getBeforeImage(session, digest))?.text ?? ''
    } catch (error) {
      this.#parts.chat.logError(error)
      return await this.#closed(session)
    }
  }

  async #image(session: string, digest: string): Promise<Uint8Array> {
    if (!isId(session) || !isDigest(digest)) throw new Error(this.#parts.chat.world.l10n.t('This image is not kept any more.'))
    return await this.#parts.chat.world.blobs.getAttachment(session, `sha256:${digest}`)
  }

  async #closed(id: string): Promise<string> {
    const { t } = this.#parts.chat.world.l10n
    const summary = (await this.#parts.chat.services.sessions.list()).find((entry) => entry.id === id)
    if (summary === undefined) return this.#howTo(t('Its session is not there any more.'))
    return this.#howTo(t('Open the session “{title}” with “Bosun: Open Session…”, then open this again from where it stood in the chat.', { title: summary.title ?? t('New session') }))
  }

  #howTo(how: string): string {
    return `${this.#parts.chat.world.l10n.t('This page was open before the window was loaded again, and cannot be drawn now.')}\n\n${how}\n`
  }
}

/** Names come from the editor's tabs, which others may open too: nothing of them may lead elsewhere on the disk. */
const isId = (text: string): boolean => /^[\w-]+$/.test(text)
const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)
