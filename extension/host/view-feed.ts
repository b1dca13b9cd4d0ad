import type { Undo } from '../base/undo.ts'
import type { Clock } from '../capabilities/clock.ts'
import { PROTOCOL_VERSION, type HostMessage, type ViewChange, type ViewMessage } from '../protocol/messages.ts'
import type { RowWindow } from '../protocol/view-state.ts'
import type { RowChange } from './transcript.ts'
import type { ViewChannel } from './view-channel.ts'
import { parseViewMessage, type ParsedMessage } from './view-messages.ts'
import type { ModelChange, ViewModel, ViewStateKey } from './view-model.ts'

/** One display frame. */
export const FRAME_MS = 16
/** Rows of a snapshot, and the most that one request for older ones gets. */
export const SNAPSHOT_ROWS = 200
export const MAX_OLDER_ROWS = 500

export interface FeedOptions {
  readonly channel: ViewChannel
  readonly model: ViewModel
  readonly clock: Clock
  /** Everything the page asks for that is not about feeding it. May throw; the caller of `createViewFeed` logs. */
  readonly onIntent: (message: ViewMessage, reply: (message: HostMessage) => void) => void
  readonly onRefused: (refusal: Exclude<ParsedMessage, { ok: true }>) => void
}

/**
 * Feed one page: a snapshot when it asks, then numbered patches, at most one a frame, with text appends merged.
 *
 * Only rows that the page was given are kept up to date; older ones come on demand. A hidden page gets nothing
 * and starts again with a snapshot.
 */
export function createViewFeed(options: FeedOptions): Undo {
  const feed = new ViewFeed(options)
  return () => feed.dispose()
}

class ViewFeed {
  readonly #options: FeedOptions
  readonly #undos: readonly Undo[]
  #frame = 0
  #isReady = false
  /** Number of the oldest row that the page holds. */
  #firstIndex = 0
  #pending: Pending = nothingPending()
  #timer: Undo | null = null

  constructor(options: FeedOptions) {
    this.#options = options
    this.#undos = [options.channel.onMessage((raw) => this.#receive(raw)), options.model.onDidChange((change) => this.#note(change))]
  }

  dispose(): void {
    this.#isReady = false
    for (const undo of this.#undos) undo()
    this.#timer?.()
    this.#timer = null
  }

  #note(change: ModelChange): void {
    if (!this.#isReady) return
    if (change.kind === 'reset') this.#pending = { ...nothingPending(), isReset: true }
    else if (change.kind === 'state') this.#pending.keys.add(change.key)
    else this.#noteRows(change.changes)
    this.#timer ??= this.#options.clock.schedule(FRAME_MS, () => this.#flush())
  }

  #receive(raw: unknown): void {
    const parsed = parseViewMessage(raw)
    if (!parsed.ok) {
      this.#options.onRefused(parsed)
      return
    }
    const { message } = parsed
    if (message.type === 'ready' || message.type === 'need-snapshot') {
      this.#isReady = true
      this.#sendSnapshot()
    }
    if (message.type === 'load-older') this.#sendOlder(message.before, message.count)
    else if (message.type !== 'need-snapshot') this.#options.onIntent(message, (reply) => this.#options.channel.post(reply))
  }

  #noteRows(changes: readonly RowChange[]): void {
    const { rows, appends } = this.#pending
    for (const change of changes) {
      switch (change.change) {
        case 'row':
          rows.set(change.row.id, 'put')
          break
        case 'append': {
          if (rows.get(change.rowId) === 'put') break
          rows.set(change.rowId, 'append')
          const key = `${change.field}:${change.rowId}`
          appends.set(key, { ...change, text: (appends.get(key)?.text ?? '') + change.text })
          break
        }
        case 'remove-row':
          rows.set(change.rowId, 'gone')
      }
    }
  }

  #flush(): void {
    this.#timer = null
    const pending = this.#pending
    this.#pending = nothingPending()
    if (!this.#isReady) return
    if (!this.#options.channel.isVisible()) {
      this.#isReady = false
      return
    }
    if (pending.isReset) {
      this.#sendSnapshot()
      return
    }
    const changes = [...this.#rowChanges(pending), ...this.#stateChanges(pending.keys)]
    if (changes.length > 0) this.#post({ type: 'patch', frame: this.#nextFrame(), changes })
  }

  /** Rows in the order of the talk, so that a new one lands at the page's end. */
  #rowChanges(pending: Pending): readonly ViewChange[] {
    const transcript = this.#options.model.transcript
    if (transcript === null) return []
    const gone: ViewChange[] = []
    const kept: { readonly index: number; readonly changes: readonly ViewChange[] }[] = []
    for (const [rowId, kind] of pending.rows) {
      const index = transcript.indexOf(rowId)
      const row = index === undefined ? undefined : transcript.row(rowId)
      if (index === undefined || row === undefined) {
        gone.push({ change: 'remove-row', rowId })
      } else if (index >= this.#firstIndex) {
        const appends = kind === 'put' ? [] : (['text', 'progress'] as const).flatMap((field) => pending.appends.get(`${field}:${rowId}`) ?? [])
        kept.push({ index, changes: kind === 'put' ? [{ change: 'row', row }] : appends })
      }
    }
    if (gone.length > 0) gone.push({ change: 'rows-total', total: transcript.total })
    return [...gone.slice(0, -1), ...kept.sort((a, b) => a.index - b.index).flatMap(({ changes }) => changes), ...gone.slice(-1)]
  }

  #stateChanges(keys: ReadonlySet<ViewStateKey>): readonly ViewChange[] {
    // Key and value come from the same state, which the union's type cannot express in a loop.
    return [...keys].map((key) => ({ change: 'state', key, value: this.#options.model.get(key) }) as ViewChange)
  }

  #sendSnapshot(): void {
    this.#pending = nothingPending()
    const total = this.#options.model.transcript?.total ?? 0
    this.#firstIndex = Math.max(0, total - SNAPSHOT_ROWS)
    const state = this.#options.model.snapshot(this.#window(this.#firstIndex, total))
    this.#post({ type: 'snapshot', version: PROTOCOL_VERSION, frame: this.#nextFrame(), state })
  }

  #sendOlder(before: number, count: number): void {
    // What waits was said about the rows the page has now.
    this.#timer?.()
    this.#flush()
    const to = Math.min(before, this.#options.model.transcript?.total ?? 0)
    const from = Math.max(0, to - Math.min(count, MAX_OLDER_ROWS))
    this.#firstIndex = Math.min(this.#firstIndex, from)
    this.#post({ type: 'older-rows', frame: this.#nextFrame(), window: this.#window(from, to) })
  }

  #window(from: number, to: number): RowWindow {
    const transcript = this.#options.model.transcript
    return { rows: transcript?.rows(from, to) ?? [], firstIndex: from, total: transcript?.total ?? 0 }
  }

  #nextFrame(): number {
    this.#frame += 1
    return this.#frame
  }

  #post(message: HostMessage): void {
    this.#options.channel.post(message)
  }
}

interface Pending {
  readonly isReset: boolean
  /** What became of each touched row, in the order of the first touch. */
  readonly rows: Map<string, 'put' | 'append' | 'gone'>
  readonly appends: Map<string, Extract<RowChange, { change: 'append' }>>
  readonly keys: Set<ViewStateKey>
}

const nothingPending = (): Pending => ({ isReset: false, rows: new Map(), appends: new Map(), keys: new Set() })
