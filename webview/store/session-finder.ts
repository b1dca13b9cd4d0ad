import { signal, type ReadonlySignal } from '@preact/signals'
import type { HostMessage, SessionHit } from '../../extension/protocol/messages.ts'

/** Looks for the words of the list's box in the talks themselves, while they are typed. */
export interface SessionFinder {
  /** The best hit of each session, by session; null while nothing is looked for. */
  readonly hits: ReadonlySignal<ReadonlyMap<string, SessionHit> | null>
  /** An answer is on its way. */
  readonly isBusy: ReadonlySignal<boolean>
  find(query: string): void
  found(message: Extract<HostMessage, { type: 'sessions-found' }>): void
}

interface Parts {
  readonly ask: (id: string, query: string) => void
  readonly newId: () => string
  readonly later: (work: () => void, delayMs: number) => () => void
}

/** After the last key; after an answer that was not whole yet. */
const TYPED_MS = 150
const AGAIN_MS = 700
const MIN_CHARS = 2

export function createSessionFinder({ ask, newId, later }: Parts): SessionFinder {
  const hits = signal<ReadonlyMap<string, SessionHit> | null>(null)
  const isBusy = signal(false)
  let wanted = ''
  let asked = ''
  let cancel = () => {}
  const askIn = (delayMs: number) => {
    cancel()
    cancel = later(() => {
      asked = newId()
      ask(asked, wanted)
    }, delayMs)
  }
  return {
    hits,
    isBusy,
    find(query) {
      wanted = query.trim()
      asked = ''
      cancel()
      isBusy.value = wanted.length >= MIN_CHARS
      if (wanted.length < MIN_CHARS) hits.value = null
      else askIn(TYPED_MS)
    },
    found({ id, hits: found, isPartial }) {
      // Of words that were typed over meanwhile.
      if (id !== asked) return
      hits.value = new Map(found.map((hit) => [hit.sessionId, hit]))
      isBusy.value = isPartial
      if (isPartial) askIn(AGAIN_MS)
    },
  }
}
