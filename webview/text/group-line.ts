import type { Row } from '../../extension/protocol/view-state.ts'
import { plural, t } from '../l10n.ts'
import { toolNature } from '../store/fold-class.ts'
import { formatDuration } from './format.ts'

/** A group of explorations as one sentence: "Explored 5 files, 2 searches". */
export function groupLine(rows: readonly Row[]): { readonly text: string; readonly isRunning: boolean } {
  const files = new Set<string>()
  let [reads, searches, thoughtMs, isRunning] = [0, 0, 0, false]
  for (const row of rows) {
    if (row.kind === 'reasoning') thoughtMs += row.durationMs ?? 0
    if (row.kind !== 'tool') continue
    isRunning ||= row.state === 'running' || row.state === 'waiting'
    if (toolNature(row) !== 'read') searches += 1
    else files.add(row.result?.card === 'read' ? row.result.path : row.call?.card === 'generic' ? (row.call.subject ?? row.id) : row.id)
  }
  reads = files.size
  if (reads === 0 && thoughtMs < 1_000) return { text: isRunning ? t('Searching') : plural(searches, 'Searched {0} time', 'Searched {0} times'), isRunning }
  const what = [
    ...(reads > 0 ? [plural(reads, '{0} file', '{0} files')] : []),
    ...(searches > 0 ? [plural(searches, '{0} search', '{0} searches')] : []),
    ...(thoughtMs >= 1_000 ? [t('thought for {0}', formatDuration(thoughtMs))] : []),
  ].join(', ')
  return { text: isRunning ? t('Exploring {0}', what) : t('Explored {0}', what), isRunning }
}
