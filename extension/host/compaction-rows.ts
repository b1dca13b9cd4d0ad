import type { Localization } from '../capabilities/localization.ts'
import type { SessionEvent } from '../core/log/event.ts'
import type { CompactionRow } from '../protocol/view-state.ts'

type CompactionEvent = SessionEvent<'compaction/start' | 'compaction/summary' | 'compaction/end' | 'session/end-seed'>

/** The row of each compaction, as its events come. */
export class CompactionRows {
  readonly #l10n: Localization
  /** By compaction; those that have not ended. */
  readonly #open = new Map<string, CompactionRow>()
  readonly #summaries = new Set<number>()

  constructor(l10n: Localization) {
    this.#l10n = l10n
  }

  /** The rows that `event` makes or changes. `rowFrom` finds the row of an event, or the next one after it. */
  take(event: CompactionEvent, place: { readonly turn: number; readonly rowFrom: (seq: number) => string | null }): readonly CompactionRow[] {
    switch (event.type) {
      case 'compaction/start':
        return [this.#keep(event.data.compactionId, {
          kind: 'compaction', id: `e${event.seq}`, turn: place.turn, state: 'running', summary: null, messages: 0, firstRowId: null, error: null,
        })]
      case 'compaction/summary': {
        const { compactionId, summary, shadowedSeqs } = event.data
        const row = this.#open.get(compactionId)
        if (row === undefined) return []
        this.#summaries.add(event.seq)
        const text = summary.map((block) => block.text).join('\n')
        return [this.#keep(compactionId, { ...row, summary: text, messages: shadowedSeqs.length, firstRowId: place.rowFrom(shadowedSeqs[0] ?? 0) })]
      }
      case 'compaction/end': {
        const { compactionId, error, sourceCommandId } = event.data
        const row = this.#open.get(compactionId)
        this.#open.delete(compactionId)
        if (row === undefined) return []
        // The row of the command says why.
        return [error === undefined ? { ...row, state: 'ok' } : failed(row, sourceCommandId === undefined ? error.message : null)]
      }
      case 'session/end-seed': {
        // A crash left them open.
        const cut = [...this.#open.values()].map((row) => failed(row, this.#l10n.t('The window closed while Bosun was working.')))
        this.#open.clear()
        return cut
      }
    }
  }

  /** The event is told by a row of its compaction. */
  isSummary(seq: number): boolean {
    return this.#summaries.has(seq)
  }

  #keep(compactionId: string, row: CompactionRow): CompactionRow {
    this.#open.set(compactionId, row)
    return row
  }
}

const failed = (row: CompactionRow, error: string | null): CompactionRow => ({ ...row, state: 'failed', summary: null, messages: 0, firstRowId: null, error })
