import type { Clock } from '../../capabilities/clock.ts'
import type { Publication } from '../../capabilities/problem-feed.ts'

/** Services publish in parts (syntax, then types): this long after the last part, all is there. */
const QUIET_MS = 200
/** A language whose services have never published is waited for so often, and then no more until they do. */
const MAX_SILENT_WAITS = 3
const MAX_UNKNOWN_FILES = 500
/** Files of which it is held that services have spoken of them. */
const MAX_HEARD_FILES = 5_000

interface Wait {
  readonly path: string
  readonly language: string
  /** Publications for an older text do not count. */
  readonly fromVersion: number
  /** The services have not been at the file before. */
  readonly isFirst: boolean
  readonly limitMs: number
  readonly signal: AbortSignal
}

/** Waits for what language services publish, with an end to each wait and to waiting for who never speaks. */
export class PublicationWaits {
  readonly #needs: { readonly clock: Pick<Clock, 'schedule'> }
  readonly #waiting = new Set<(news: Publication) => void>()
  /** By language, how many waits passed in vain; -1 for those that have published. */
  readonly #silence = new Map<string, number>()
  /** Files that were opened and not yet published for, oldest first. */
  readonly #unknown = new Set<string>()
  /** By file, the first publication of it. */
  readonly #heard = new Map<string, number>()
  #publications = 0

  constructor(needs: { readonly clock: Pick<Clock, 'schedule'> }) {
    this.#needs = needs
  }

  note(news: Publication): void {
    this.#publications += 1
    if (!this.#heard.has(news.path)) this.#heard.set(news.path, this.#publications)
    const [oldest] = this.#heard.keys()
    if (this.#heard.size > MAX_HEARD_FILES && oldest !== undefined) this.#heard.delete(oldest)
    if (news.open === undefined) return
    this.#silence.set(news.open.language, -1)
    this.#unknown.delete(news.path)
    for (const tell of this.#waiting) tell(news)
  }

  /** For `wasHeard`: what was said until now. */
  get mark(): number {
    return this.#publications
  }

  /** Services had spoken of the file by then, so that having said nothing of it means that they found nothing. */
  wasHeard(path: string, mark: number): boolean {
    return (this.#heard.get(path) ?? Infinity) <= mark
  }

  /** It was opened for the services, and they have not answered yet. */
  isUnknown(path: string): boolean {
    return this.#unknown.has(path)
  }

  /** Whether a text of at least that version was published for; waits no longer than the limit or the signal. */
  async published({ path, language, fromVersion, isFirst, limitMs, signal }: Wait): Promise<boolean> {
    const vain = this.#silence.get(language) ?? 0
    if (vain >= MAX_SILENT_WAITS || signal.aborted) return this.#isSilent(path, isFirst)
    const { promise, resolve } = Promise.withResolvers<void>()
    const { clock } = this.#needs
    let isPublished = false
    let endQuiet = () => {}
    const tell = (news: Publication) => {
      if (news.path === path && (news.open?.version ?? -1) >= fromVersion) isPublished = true
      // What else they say behind it may come of it too.
      if (!isPublished) return
      endQuiet()
      endQuiet = clock.schedule(QUIET_MS, resolve)
    }
    const endLimit = clock.schedule(limitMs, resolve)
    const onAbort = () => resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    this.#waiting.add(tell)
    try {
      await promise
    } finally {
      this.#waiting.delete(tell)
      signal.removeEventListener('abort', onAbort)
      endLimit()
      endQuiet()
    }
    if (isPublished) return true
    if (!signal.aborted && vain >= 0) this.#silence.set(language, vain + 1)
    return this.#isSilent(path, isFirst)
  }

  /** What is wrong with the file stays unknown until they come to it. */
  #isSilent(path: string, isFirst: boolean): false {
    if (!isFirst) return false
    this.#unknown.add(path)
    const [oldest] = this.#unknown
    if (this.#unknown.size > MAX_UNKNOWN_FILES && oldest !== undefined) this.#unknown.delete(oldest)
    return false
  }
}
