import type { WaitingDraft } from '../protocol/view-state.ts'
import type { Drafts } from './drafts.ts'
import { waitingDraft } from './view-messages.ts'

/** What the person has filled in of what waits for them, kept over a reload until it is answered. */
export class WaitingDrafts {
  readonly #drafts: Pick<Drafts, 'get' | 'set'>

  constructor(drafts: Pick<Drafts, 'get' | 'set'>) {
    this.#drafts = drafts
  }

  /** Undefined where nothing was filled in, or what is kept cannot be read. */
  get(id: string): WaitingDraft | undefined {
    const kept = this.#drafts.get(keyOf(id))
    if (kept === '') return undefined
    try {
      return waitingDraft.safeParse(JSON.parse(kept)).data
    } catch {
      // Cut off by the cap of what is kept: a form that begins anew is all that can be made of it.
      return undefined
    }
  }

  set(id: string, draft: WaitingDraft): void {
    this.#drafts.set(keyOf(id), JSON.stringify(draft))
  }

  forget(id: string): void {
    this.#drafts.set(keyOf(id), '')
  }
}

const keyOf = (id: string) => `waiting:${id}`
