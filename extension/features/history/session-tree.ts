import type { StoredSession } from '../../capabilities/event-store.ts'
import type { SessionHeader } from '../../core/log/event.ts'
import { headerFrom } from '../../core/session/load-log.ts'
import { queryError } from './error.ts'

/** Every session that is known, with its parent. */
export class SessionTree {
  readonly #headers = new Map<string, SessionHeader>()
  readonly #children = new Map<string, string[]>()

  constructor(stored: Iterable<StoredSession>, live: Iterable<SessionHeader>) {
    for (const { id, header } of stored) if (header !== null) this.#add(id, header)
    for (const header of live) this.#headers.set(header.id, header)
    for (const { id, parentSession } of this.#headers.values()) {
      if (parentSession === undefined) continue
      const siblings = this.#children.get(parentSession)
      if (siblings === undefined) this.#children.set(parentSession, [id])
      else siblings.push(id)
    }
  }

  header(id: string): SessionHeader | undefined {
    return this.#headers.get(id)
  }

  all(): readonly SessionHeader[] {
    return [...this.#headers.values()]
  }

  /** Oldest first. */
  children(id: string): readonly string[] {
    return (this.#children.get(id) ?? []).toSorted((a, b) => (this.#headers.get(a)?.createdAt ?? 0) - (this.#headers.get(b)?.createdAt ?? 0) || (a < b ? -1 : 1))
  }

  /** Nearest first; the last may be one that is not known. Errors: `SESSION_QUERY_INVALID_LINEAGE`. */
  ancestors(id: string): readonly string[] {
    const found: string[] = []
    for (let at = this.#headers.get(id)?.parentSession; at !== undefined; at = this.#headers.get(at)?.parentSession) {
      if (at === id || found.includes(at)) throw queryError('SESSION_QUERY_INVALID_LINEAGE')
      found.push(at)
    }
    return found
  }

  #add(id: string, line: NonNullable<StoredSession['header']>): void {
    try {
      this.#headers.set(id, headerFrom(id, line))
    } catch {
      // One of another version, or broken, has no place among the others; the list of sessions says why.
    }
  }
}
