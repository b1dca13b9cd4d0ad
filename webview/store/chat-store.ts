import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { assertNever } from '../../extension/base/assert-never.ts'
import { PROTOCOL_VERSION, type HostMessage, type ViewChange } from '../../extension/protocol/messages.ts'
import type { Row, RowWindow, ViewState } from '../../extension/protocol/view-state.ts'
import { foldClassOf, type FoldClass } from './fold-class.ts'

/** One row as the components see it: the object stays while the row lives, its value changes. */
export interface RowEntry {
  readonly id: string
  readonly row: Signal<Row>
  readonly foldClass: FoldClass
  readonly turn: number
  readonly kind: Row['kind']
  /** The row of the call whose program made this one. */
  readonly parent?: string
}

export interface ImageView {
  readonly uri: string | null
  readonly byteLength: number
}

/** Everything but the transcript, each in its own signal, so that a change repaints only what shows it. */
export type StateSignals = { readonly [Key in Exclude<keyof ViewState, 'transcript'>]: Signal<ViewState[Key]> }

/** `loading` until the first snapshot; `wrong-version` when host and view do not speak the same protocol. */
export type Phase = 'loading' | 'ready' | 'wrong-version'

export interface ChatStore {
  readonly phase: ReadonlySignal<Phase>
  readonly state: StateSignals
  /** Rows in order. A new array when rows came, went or began to fold differently; not when one merely changed. */
  readonly entries: ReadonlySignal<readonly RowEntry[]>
  entry(id: string): RowEntry | undefined
  /** How many calls programs made, by the row of the program. */
  readonly callsInside: ReadonlySignal<ReadonlyMap<string, number>>
  /** Row number of the first held row: 0 when everything before is here. */
  readonly firstIndex: ReadonlySignal<number>
  readonly total: ReadonlySignal<number>
  readonly isLoadingOlder: Signal<boolean>
  /** What became of an attachment; `undefined` until the host answered. */
  image(attachmentId: string): ReadonlySignal<ImageView | undefined>
  /** Apply messages in order, as one change. */
  apply(messages: readonly HostMessage[]): void
}

/** A body that runs shows its tail; the rest is in the log of its job. */
const MAX_PROGRESS_CHARS = 64_000

const emptyState: Omit<ViewState, 'transcript'> = {
  session: null,
  composer: { draft: '', canSend: false, blockedBy: null, preset: '', presets: [], permission: 'workspace-write', model: null },
  approvals: [],
  questions: [],
  queue: [],
  tasks: null,
  droppedTasks: [],
  planReview: null,
  reminders: { items: [], problem: null },
  goal: null,
  sessions: [],
  notices: [],
  rules: null,
  commands: [],
  workflows: [],
  agents: [],
  plugins: [],
  review: null,
  isTrusted: true,
}

/** Holds what the host says. It changes only by the host's messages; on a lost frame it calls `needSnapshot` and waits for one. */
export function createChatStore({ needSnapshot }: { readonly needSnapshot: () => void }): ChatStore {
  const phase = signal<Phase>('loading')
  const state = createStateSignals()
  const entries = signal<readonly RowEntry[]>([])
  const firstIndex = signal(0)
  const total = signal(0)
  const isLoadingOlder = signal(false)
  const images = new Map<string, Signal<ImageView | undefined>>()
  let byId = new Map<string, RowEntry>()
  /** Null while a snapshot is waited for: patches in between mean nothing. */
  let frame: number | null = null

  return {
    phase,
    state,
    entries,
    entry: (id) => byId.get(id),
    callsInside: computed(() => {
      const counts = new Map<string, number>()
      for (const { parent } of entries.value) if (parent !== undefined) counts.set(parent, (counts.get(parent) ?? 0) + 1)
      return counts
    }),
    firstIndex,
    total,
    isLoadingOlder,
    image: (attachmentId) => imageSignal(attachmentId),
    apply: (messages) => batch(() => messages.forEach(applyOne)),
  }

  function applyOne(message: HostMessage): void {
    switch (message.type) {
      case 'snapshot':
        return message.version === PROTOCOL_VERSION ? applySnapshot(message.frame, message.state) : void (phase.value = 'wrong-version')
      case 'patch':
        return takesFrame(message.frame) ? applyChanges(message.changes) : undefined
      case 'older-rows':
        return takesFrame(message.frame) ? addOlder(message.window) : undefined
      case 'image':
        imageSignal(message.attachmentId).value = { uri: message.uri, byteLength: message.byteLength }
        return undefined
      case 'plugin':
      case 'focus-composer':
      case 'insert-text':
      case 'reveal-row':
      case 'sessions-found':
      case 'show-goal':
      case 'completions':
      case 'attached':
      case 'sent':
        return undefined
      default:
        return assertNever(message, 'message')
    }
  }

  function takesFrame(next: number): boolean {
    if (frame === null) return false
    if (next === frame + 1) {
      frame = next
      return true
    }
    // An old frame is a repetition; a later one means that some were lost.
    if (next > frame) {
      frame = null
      needSnapshot()
    }
    return false
  }

  function applySnapshot(next: number, { transcript, ...rest }: ViewState): void {
    const isSameSession = state.session.peek()?.id === rest.session?.id
    frame = next
    phase.value = 'ready'
    isLoadingOlder.value = false
    for (const key of Object.keys(rest) as (keyof typeof rest)[]) setState(key, rest[key])
    const older = isSameSession ? heldBefore(transcript) : []
    if (!isSameSession) {
      images.clear()
      // Rows of two sessions may have one id.
      byId.clear()
    }
    firstIndex.value = transcript.firstIndex - older.length
    total.value = transcript.total
    setEntries([...older, ...transcript.rows.map((row) => updatedEntry(row).entry)])
  }

  /** Older rows that are here already and reach up to the window: they are history and still right. */
  function heldBefore(window: RowWindow): readonly RowEntry[] {
    const held = entries.peek()
    const count = window.firstIndex - firstIndex.peek()
    const first = window.rows[0]
    return count > 0 && first !== undefined && held[count]?.id === first.id ? held.slice(0, count) : []
  }

  function applyChanges(changes: readonly ViewChange[]): void {
    let list: RowEntry[] | undefined
    const edit = () => (list ??= [...entries.peek()])
    for (const change of changes) {
      switch (change.change) {
        case 'row': {
          const { entry, isNew, isRefolded } = updatedEntry(change.row)
          if (isNew) {
            edit().push(entry)
            byId.set(entry.id, entry)
            total.value = Math.max(total.peek(), firstIndex.peek() + edit().length)
          } else if (isRefolded) {
            const current = edit()
            current[current.findLastIndex(({ id }) => id === entry.id)] = entry
            byId.set(entry.id, entry)
          }
          break
        }
        case 'remove-row': {
          const index = edit().findIndex(({ id }) => id === change.rowId)
          if (index < 0) break
          edit().splice(index, 1)
          byId.delete(change.rowId)
          total.value -= 1
          break
        }
        case 'append':
          appendText(change.rowId, change.field, change.text)
          break
        case 'rows-total':
          total.value = change.total
          break
        case 'state':
          setState(change.key, change.value)
          break
        default:
          assertNever(change, 'change')
      }
    }
    if (list !== undefined) entries.value = list
  }

  function appendText(rowId: string, field: 'text' | 'progress', text: string): void {
    const entry = byId.get(rowId)
    const row = entry?.row.peek()
    if (entry === undefined || row === undefined) return
    if (field === 'progress' && row.kind === 'tool') {
      entry.row.value = { ...row, progress: (row.progress + text).slice(-MAX_PROGRESS_CHARS) }
    } else if (field === 'text' && (row.kind === 'text' || row.kind === 'reasoning')) {
      entry.row.value = { ...row, text: row.text + text }
    }
  }

  function addOlder(window: RowWindow): void {
    isLoadingOlder.value = false
    const older = window.rows.filter(({ id }) => !byId.has(id)).map((row) => updatedEntry(row).entry)
    firstIndex.value = older.length === 0 ? Math.min(firstIndex.peek(), window.firstIndex) : firstIndex.peek() - older.length
    total.value = Math.max(window.total, total.peek())
    setEntries([...older, ...entries.peek()])
  }

  function updatedEntry(row: Row): { readonly entry: RowEntry; readonly isNew: boolean; readonly isRefolded: boolean } {
    const held = byId.get(row.id)
    const foldClass = foldClassOf(row)
    if (held === undefined) {
      const parent = row.kind === 'tool' ? row.parent : undefined
      return { entry: { id: row.id, row: signal(row), foldClass, turn: row.turn, kind: row.kind, ...(parent !== undefined && { parent }) }, isNew: true, isRefolded: false }
    }
    held.row.value = row
    const isSame = held.foldClass === foldClass && held.turn === row.turn && held.kind === row.kind
    return isSame
      ? { entry: held, isNew: false, isRefolded: false }
      : { entry: { ...held, foldClass, turn: row.turn, kind: row.kind }, isNew: false, isRefolded: true }
  }

  function setEntries(next: readonly RowEntry[]): void {
    byId = new Map(next.map((entry) => [entry.id, entry]))
    entries.value = next
  }

  function setState<Key extends keyof StateSignals>(key: Key, value: ViewState[Key]): void {
    state[key].value = value
  }

  function imageSignal(attachmentId: string): Signal<ImageView | undefined> {
    const held = images.get(attachmentId) ?? signal<ImageView | undefined>(undefined)
    images.set(attachmentId, held)
    return held
  }
}

function createStateSignals(): StateSignals {
  // Every key of the empty state gets its signal; the cast restores the types that mapping over keys loses.
  return Object.fromEntries(Object.entries(emptyState).map(([key, value]) => [key, signal(value)])) as unknown as StateSignals
}
