import { useMemo } from 'preact/hooks'
import type { FileDiff } from '../../extension/protocol/cards.ts'
import { useApp } from '../components/app-context.ts'
import { FileLink } from '../components/file-link.tsx'
import { plural, t } from '../l10n.ts'
import { diffBody, type DiffLine, type DiffPiece } from '../text/diff-lines.ts'
import { changedPaths } from '../text/tool-line.ts'

export interface DiffCardProps {
  readonly diffs: readonly FileDiff[]
  readonly note?: string | undefined
  /** Not made yet: where in the file a change will come to stand is known only for a whole file. */
  readonly isAhead?: boolean
  /** Opens the editor's own diff. */
  readonly onOpen?: ((path: string) => void) | undefined
  /** What the name of a file opens, in the place of the file itself. */
  readonly onOpenFile?: ((path: string) => void) | undefined
}

const SIDE_BY_SIDE_PX = 480
/** Lines of one file that are shown before the card points to the editor's diff. */
const MAX_DIFF_LINES = 24

/** Changes of files, word for word: one column when narrow, before and after side by side when there is room. */
export function DiffCard({ diffs, note, isAhead = false, onOpen, onOpenFile }: DiffCardProps) {
  const { width, actions } = useApp()
  const isWide = width.value >= SIDE_BY_SIDE_PX
  const paths = changedPaths(diffs)
  return (
    <div class={isAhead && diffs.some(({ oldText, oldStart }) => oldText !== null && oldStart === undefined) ? 'diff is-unplaced' : 'diff'}>
      {paths.map((path) => (
        <div class="diff-file" key={path}>
          {paths.length > 1 && <FileLink location={{ path }} text={path} onOpen={onOpenFile === undefined ? actions.openLocation : () => onOpenFile(path)} />}
          <DiffFile diffs={diffs.filter((diff) => diff.path === path)} isWide={isWide} onOpen={onOpen === undefined ? undefined : () => onOpen(path)} />
        </div>
      ))}
      {note !== undefined && <div class="diff-note">{note}</div>}
    </div>
  )
}

/** Lines added and removed by all the changes of a card. */
export function diffCounts(diffs: readonly FileDiff[]): { readonly added: number; readonly removed: number } {
  const bodies = diffs.map(diffBody)
  const sum = (read: (body: (typeof bodies)[number]) => number) => bodies.reduce((total, body) => total + read(body), 0)
  return { added: sum(({ added }) => added), removed: sum(({ removed }) => removed) }
}

function DiffFile({ diffs, isWide, onOpen }: { readonly diffs: readonly FileDiff[]; readonly isWide: boolean; readonly onOpen?: (() => void) | undefined }) {
  const lines = useMemo(() => {
    const all = diffs.flatMap((diff, index): readonly DiffLine[] => [...(index > 0 ? [{ kind: 'gap', count: 0 } as const] : []), ...diffBody(diff).lines])
    // A gap at an edge only says that the file goes on.
    return all.filter(({ kind }, index) => kind !== 'gap' || (index > 0 && index < all.length - 1))
  }, [diffs])
  const shown = lines.slice(0, MAX_DIFF_LINES)
  const hasOld = shown.some(({ kind }) => kind === 'removed' || kind === 'same')
  const hidden = lines.length - shown.length
  return (
    <>
      <div class="diff-scroll" tabIndex={0} role="group" aria-label={t('Changes')} dir="ltr">
        <table class={isWide && hasOld ? 'diff-table is-wide' : 'diff-table'}>
          <tbody>{isWide && hasOld ? sideBySide(shown).map((pair, index) => <PairRow key={index} {...pair} />) : shown.map((line, index) => <UnifiedRow key={index} line={line} />)}</tbody>
        </table>
      </div>
      {hidden > 0 && onOpen !== undefined && (
        <button type="button" class="body-more link" onClick={onOpen}>
          {t('{0}, open the diff', plural(hidden, '{0} more line', '{0} more lines'))}
        </button>
      )}
    </>
  )
}

const signs = { same: ' ', removed: '−', added: '+' } as const

function UnifiedRow({ line }: { readonly line: DiffLine }) {
  if (line.kind === 'gap') return <GapRow count={line.count} columns={3} />
  return (
    <tr class={`diff-${line.kind}`}>
      <td class="diff-number">{line.kind === 'added' ? line.newNumber : line.oldNumber}</td>
      <td class="diff-sign">{signs[line.kind]}</td>
      <td class="diff-text">
        <LineText line={line} />
      </td>
    </tr>
  )
}

interface Pair {
  readonly before: DiffLine | null
  readonly after: DiffLine | null
}

function PairRow({ before, after }: Pair) {
  if (before?.kind === 'gap') return <GapRow count={before.count} columns={4} />
  return (
    <tr>
      <Half line={before} side="before" />
      <Half line={after} side="after" />
    </tr>
  )
}

function Half({ line, side }: { readonly line: DiffLine | null; readonly side: 'before' | 'after' }) {
  if (line === null || line.kind === 'gap') return <td class="diff-none" colSpan={2} />
  const number = line.kind === 'added' || (line.kind === 'same' && side === 'after') ? line.newNumber : line.oldNumber
  return (
    <>
      <td class={`diff-number diff-half-${line.kind}`}>{number}</td>
      <td class={`diff-text diff-half-${line.kind}`}>
        {line.kind !== 'same' && <span class="sr-only">{line.kind === 'added' ? t('added:') : t('removed:')} </span>}
        <LineText line={line} />
      </td>
    </>
  )
}

const GapRow = ({ count, columns }: { readonly count: number; readonly columns: number }) => (
  <tr class="diff-gap">
    <td colSpan={columns}>{count > 0 ? plural(count, '{0} unchanged line', '{0} unchanged lines') : '⋯'}</td>
  </tr>
)

const LineText = ({ line }: { readonly line: Exclude<DiffLine, { kind: 'gap' }> }) => (line.kind === 'same' ? <>{line.text}</> : <>{line.pieces.map((piece, index) => <Piece key={index} piece={piece} />)}</>)

const Piece = ({ piece }: { readonly piece: DiffPiece }) => (piece.isChanged ? <mark>{piece.text}</mark> : <>{piece.text}</>)

/** Removed lines stand beside the added ones that took their place. */
function sideBySide(lines: readonly DiffLine[]): readonly Pair[] {
  const pairs: Pair[] = []
  for (let index = 0; index < lines.length; ) {
    const line = lines[index]!
    if (line.kind === 'same' || line.kind === 'gap') {
      pairs.push({ before: line, after: line })
      index += 1
      continue
    }
    const removed = takeWhile(lines, index, 'removed')
    const added = takeWhile(lines, index + removed.length, 'added')
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) pairs.push({ before: removed[at] ?? null, after: added[at] ?? null })
    index += removed.length + added.length
  }
  return pairs
}

function takeWhile(lines: readonly DiffLine[], start: number, kind: DiffLine['kind']): readonly DiffLine[] {
  let end = start
  while (lines[end]?.kind === kind) end += 1
  return lines.slice(start, end)
}
