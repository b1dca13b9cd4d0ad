import { useComputed } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { plural, t } from '../l10n.ts'
import type { RowEntry } from '../store/chat-store.ts'
import { transcriptItems, type TranscriptItem } from '../store/transcript-items.ts'
import { useApp, type App } from './app-context.ts'
import { Icon } from './icon.tsx'
import { ListEngine } from './list/list-engine.ts'
import { VirtualList } from './list/virtual-list.tsx'
import { GroupView, TurnFoldView } from './rows/fold-rows.tsx'
import { RowView } from './rows/row-view.tsx'

type ListedItem = TranscriptItem | { readonly kind: 'older'; readonly id: 'older' }

const OLDER_ROWS = 200
const OLDER: ListedItem = { kind: 'older', id: 'older' }

/** The talk: a log with one article a row, drawn around the view, following its end while the person is there. */
export function Transcript({ sessionId }: { readonly sessionId: string }) {
  const app = useApp()
  const { store, ui, actions } = app
  const wantedHere = () => (ui.wantedRow.value?.sessionId === sessionId ? ui.wantedRow.value : null)
  const dropWanted = () => {
    if (wantedHere() !== null) ui.wantedRow.value = null
  }
  const engine = useMemo(() => new ListEngine(ui.scrollPlace(sessionId), (place) => ui.setScrollPlace(sessionId, place), dropWanted), [sessionId])
  const held = useRef<ReadonlyMap<string, ListedItem>>(new Map())
  const items = useComputed(() => {
    const folded = transcriptItems(store.entries.value, ui.isOpen)
    const listed: readonly ListedItem[] = store.firstIndex.value > 0 ? [OLDER, ...folded] : folded
    // An item that says the same stays the same object, so that only what changed is drawn again.
    const kept = listed.map((item) => sameItem(held.current.get(item.id), item))
    held.current = new Map(kept.map((item) => [item.id, item]))
    return kept
  })
  const wanted = wantedHere()
  // What the person just sent is what they want to see, unless they have asked for another place since.
  const lastPrompt = store.entries.value.findLast(({ kind }) => kind === 'prompt')?.id
  const shownPrompt = useRef(lastPrompt)
  useEffect(() => {
    if (wanted === null && lastPrompt !== undefined && shownPrompt.current !== undefined && lastPrompt !== shownPrompt.current) engine.scrollToEnd()
    shownPrompt.current = lastPrompt
  }, [lastPrompt])
  const loadOlder = () => {
    if (store.firstIndex.peek() === 0 || store.isLoadingOlder.peek()) return
    store.isLoadingOlder.value = true
    actions.loadOlder(store.firstIndex.peek(), OLDER_ROWS)
  }
  // The marks and wishes of a talk that was left end with it.
  useLayoutEffect(() => {
    ui.foundRow.value = null
    if (wantedHere() === null) ui.wantedRow.value = null
  }, [sessionId])
  // Before anything is painted, so that the end is not seen first.
  useLayoutEffect(() => {
    if (wanted === null) return
    const item = itemOf(items.value, store.entry(wanted.rowId))
    // It is among the older rows, or in a change that is still on its way.
    if (item === undefined) return loadOlder()
    // What is searched for is shown, also where it was folded away.
    const isFolded = item.kind !== 'row' && item.kind !== 'older' && ui.isOpen(item.id) !== true
    if (isFolded && wanted.isFound) {
      ui.setOpen(item.id, true)
      // An opened turn lists its rows anew.
      if (item.kind === 'turn-fold') return
    }
    ui.wantedRow.value = null
    if (wanted.isFound) ui.foundRow.value = wanted.rowId
    engine.scrollTo(item.id, item.kind === 'group' ? `.group-rows > :nth-child(${item.rowIds.indexOf(wanted.rowId) + 1})` : ':scope')
  }, [wanted, items.value])
  return (
    <div class="transcript">
      <VirtualList
        engine={engine}
        items={items.value}
        keyOf={(item) => item.id}
        estimate={(item) => estimatedHeight(app, item)}
        draw={(item) => <ItemView item={item} />}
        label={t('Conversation')}
        onNearStart={loadOlder}
      />
      <JumpToLatest engine={engine} />
    </div>
  )
}

function ItemView({ item }: { readonly item: ListedItem }) {
  const { store, ui } = useApp()
  switch (item.kind) {
    case 'older':
      return <div class="older">{t('Loading earlier messages')}</div>
    case 'group':
      return item.isInside ? <div class="inside"><GroupView item={item} /></div> : <GroupView item={item} />
    case 'turn-fold':
      return <TurnFoldView item={item} />
    default: {
      // Follows the row when it comes to fold differently, which gives it a new entry.
      const entry = store.entries.value && store.entry(item.id)
      if (entry === undefined) return null
      const classes = [...(ui.foundRow.value === entry.id ? ['row-found'] : []), ...(item.isInside ? ['inside'] : [])]
      return classes.length > 0 ? (
        <div class={classes.join(' ')}>
          <RowView entry={entry} />
        </div>
      ) : (
        <RowView entry={entry} />
      )
    }
  }
}

function JumpToLatest({ engine }: { readonly engine: ListEngine }) {
  if (engine.isAtEnd.value) return null
  const behind = engine.behind.value
  return (
    <button type="button" class="jump" onClick={() => engine.scrollToEnd()}>
      <Icon name="arrow-down" />
      {t('Jump to latest')}
      {behind > 0 && (
        <span class="jump-count" aria-label={plural(behind, '{0} new', '{0} new')}>
          {behind}
        </span>
      )}
    </button>
  )
}

/** Where a row is drawn: by itself, in its group, or folded away with its turn. */
function itemOf(items: readonly ListedItem[], entry: RowEntry | undefined): ListedItem | undefined {
  if (entry === undefined) return undefined
  // A call of a program that is folded away is found at the program.
  const program = items.some((item) => item.id === entry.id) ? undefined : items.find((item) => item.id === entry.parent)
  if (program !== undefined && !items.some((item) => item.kind === 'group' && item.rowIds.includes(entry.id))) return program
  return items.find((item) => item.id === entry.id || (item.kind === 'group' && item.rowIds.includes(entry.id))) ?? items.find((item) => item.kind === 'turn-fold' && item.turn === entry.turn)
}

function sameItem(held: ListedItem | undefined, next: ListedItem): ListedItem {
  if (held?.kind !== next.kind) return next
  if (held.kind === 'older' || (held.kind === 'row' && next.kind === 'row' && held.isInside === next.isInside)) return held
  return JSON.stringify(held) === JSON.stringify(next) ? held : next
}

const LINE_PX = 20
const guesses = { prompt: 64, reasoning: 26, tool: 26, retry: 26, context: 26, round: 26, notice: 26, command: 26, compaction: 26, 'turn-end': 48 } as const

/** A guess that keeps the scroll bar honest until the row is measured. */
function estimatedHeight({ store, width }: App, item: ListedItem): number {
  const row = item.kind === 'row' ? store.entry(item.id)?.row.peek() : undefined
  if (row === undefined) return guesses.tool
  if (row.kind !== 'text' && row.kind !== 'prompt') return guesses[row.kind]
  const charsPerLine = Math.max(20, width.peek() / 7)
  const lines = Math.ceil(row.text.length / charsPerLine) + (row.text.length > 4_000 ? 20 : row.text.split('\n').length / 2)
  return row.kind === 'text' ? 16 + lines * LINE_PX : 40 + lines * LINE_PX
}
