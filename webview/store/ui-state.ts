import { signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { VscodeApi } from '../vscode-api.ts'

/** A place in the transcript: a row's id and how far its top is above the top of the view, in pixels. Null at the end. */
export interface ScrollPlace {
  readonly itemId: string
  readonly offsetPx: number
}

/** A row that the person asked to be taken to. Rows of two sessions may have one id. */
export interface WantedRow {
  readonly sessionId: string
  readonly rowId: string
  /** It was searched for: shown also where it is folded away, and marked. */
  readonly isFound: boolean
}

/** A draft as typed here, and the one the host was last told, so that the newer of both can be told apart. */
interface Draft {
  readonly text: string
  readonly toldHost: string
}

/** What the person did to the view. Nothing of the session is in it. */
export interface UiState {
  /** Opened or closed by hand; `undefined` when untouched. */
  isOpen(id: string): boolean | undefined
  setOpen(id: string, isOpen: boolean): void
  /** Changes with every `setOpen`. */
  readonly openings: ReadonlySignal<number>
  /** The text to show for a session whose host-side draft is `hostDraft`. */
  draft(sessionId: string, hostDraft: string): string
  setDraft(sessionId: string, text: string): void
  draftTold(sessionId: string, text: string): void
  /** Words on their way to the host: kept until it says what became of them. */
  readonly sending: ReadonlySignal<readonly SendingMessage[]>
  addSending(message: SendingMessage): void
  takeSending(id: string): SendingMessage | undefined
  /** Kept until the talk of its session has that row, or the person goes on; whoever draws the talk empties it. */
  readonly wantedRow: Signal<WantedRow | null>
  /** A row that was searched for: marked until another session is on screen. */
  readonly foundRow: Signal<string | null>
  scrollPlace(sessionId: string): ScrollPlace | null
  setScrollPlace(sessionId: string, place: ScrollPlace | null): void
}

export interface SendingMessage {
  readonly id: string
  readonly sessionId: string
  readonly text: string
}

interface Saved {
  readonly open: readonly (readonly [string, boolean])[]
  readonly drafts: readonly (readonly [string, Draft])[]
  readonly sending: readonly SendingMessage[]
  readonly scroll: readonly (readonly [string, ScrollPlace])[]
}

// The editor writes the whole state each time; the oldest entries of long use go first.
const MAX_OPENINGS = 1_000
const MAX_DRAFTS = 50
const MAX_PLACES = 50

/** UI intent, kept by the editor over reloads of the page. A broken or foreign saved state counts as none. */
export function createUiState(api: Pick<VscodeApi, 'getState' | 'setState'>, later: (work: () => void) => void): UiState {
  const saved = savedFrom(api.getState())
  const open = new Map(saved.open)
  const drafts = new Map(saved.drafts)
  const scroll = new Map(saved.scroll)
  const sending = signal<readonly SendingMessage[]>(saved.sending)
  const openings = signal(0)
  const wantedRow = signal<WantedRow | null>(null)
  let isSaving = false

  return {
    openings,
    sending,
    isOpen: (id) => {
      void openings.value
      return open.get(id)
    },
    setOpen: (id, isOpen) => {
      putNewest(open, id, isOpen, MAX_OPENINGS)
      openings.value += 1
      save()
    },
    draft: (sessionId, hostDraft) => {
      const held = drafts.get(sessionId)
      if (held !== undefined && held.toldHost === hostDraft) return held.text
      putNewest(drafts, sessionId, { text: hostDraft, toldHost: hostDraft }, MAX_DRAFTS)
      return hostDraft
    },
    setDraft: (sessionId, text) => {
      putNewest(drafts, sessionId, { text, toldHost: drafts.get(sessionId)?.toldHost ?? '' }, MAX_DRAFTS)
      save()
    },
    draftTold: (sessionId, text) => {
      putNewest(drafts, sessionId, { text: drafts.get(sessionId)?.text ?? text, toldHost: text }, MAX_DRAFTS)
      save()
    },
    addSending: (message) => {
      wantedRow.value = null
      sending.value = [...sending.value, message]
      save()
    },
    takeSending: (id) => {
      const message = sending.value.find((candidate) => candidate.id === id)
      if (message !== undefined) {
        sending.value = sending.value.filter((candidate) => candidate !== message)
        save()
      }
      return message
    },
    wantedRow,
    foundRow: signal(null),
    scrollPlace: (sessionId) => scroll.get(sessionId) ?? null,
    setScrollPlace: (sessionId, place) => {
      if (place === null) scroll.delete(sessionId)
      else putNewest(scroll, sessionId, place, MAX_PLACES)
      save()
    },
  }

  function save(): void {
    if (isSaving) return
    isSaving = true
    later(() => {
      isSaving = false
      const state: Saved = { open: [...open], drafts: [...drafts], sending: sending.value, scroll: [...scroll] }
      api.setState(state)
    })
  }
}

function putNewest<V>(map: Map<string, V>, key: string, value: V, maxEntries: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= maxEntries) break
    map.delete(oldest)
  }
}

function savedFrom(state: unknown): Saved {
  const part = (key: keyof Saved): readonly unknown[] => {
    const value = state !== null && typeof state === 'object' ? (state as Partial<Record<keyof Saved, unknown>>)[key] : undefined
    return Array.isArray(value) ? value : []
  }
  const pairs = <V>(key: keyof Saved, isValue: (value: unknown) => boolean) =>
    // Each pair was tested for its shape just before.
    part(key).filter((pair) => Array.isArray(pair) && typeof pair[0] === 'string' && isValue(pair[1])) as [string, V][]
  const has = (value: unknown, fields: Readonly<Record<string, string>>) =>
    value !== null && typeof value === 'object' && Object.entries(fields).every(([name, type]) => typeof (value as Record<string, unknown>)[name] === type)
  return {
    open: pairs<boolean>('open', (value) => typeof value === 'boolean'),
    drafts: pairs<Draft>('drafts', (value) => has(value, { text: 'string', toldHost: 'string' })),
    sending: part('sending').filter((value) => has(value, { id: 'string', sessionId: 'string', text: 'string' })) as SendingMessage[],
    scroll: pairs<ScrollPlace>('scroll', (value) => has(value, { itemId: 'string', offsetPx: 'number' })),
  }
}
