import type { Row, ToolRow } from '../../extension/protocol/view-state.ts'

/**
 * How a row folds away.
 *
 * `explore`: a read, search or list that went well or still runs; neighbours become one line.
 * `thought`: ended reasoning; goes with the explorations around it.
 * `step`:    part of the way to an answer; folds only with its whole turn.
 * `keep`:    never folds: what the person said, edits, commands, questions, failures, the end.
 */
export type FoldClass = 'explore' | 'thought' | 'step' | 'keep'

/** The fold class of a row, from what it is and how it stands. */
export function foldClassOf(row: Row): FoldClass {
  switch (row.kind) {
    case 'tool':
      return toolClass(row)
    case 'reasoning':
      return row.isStreaming ? 'keep' : 'thought'
    case 'text':
      return row.isStreaming || row.isInterrupted ? 'keep' : 'step'
    case 'context':
      return 'step'
    case 'retry':
      return row.resumesAt === null ? 'step' : 'keep'
    default:
      return 'keep'
  }
}

/** What kind of thing a tool call does, as far as its cards say. */
export function toolNature(row: ToolRow): 'read' | 'search' | 'list' | 'edit' | 'run' | 'other' {
  const { call, result } = row
  if (result?.card === 'read') return 'read'
  if (result?.card === 'search') return result.shape === 'paths' ? 'list' : 'search'
  if (result?.card === 'diff' || call?.card === 'diff') return 'edit'
  if (result?.card === 'terminal' || call?.card === 'terminal') return 'run'
  if (call?.card !== 'generic') return 'other'
  // What names no file reads something else, such as the output of a job.
  if (call.kind === 'read' && call.subject === undefined) return 'other'
  return call.kind === 'read' || call.kind === 'search' ? call.kind : 'other'
}

function toolClass(row: ToolRow): FoldClass {
  if (row.state !== 'ok' && row.state !== 'running') return 'keep'
  if (row.result?.card === 'read' && row.result.content?.some(({ type }) => type === 'image') === true) return 'keep'
  // It may live on after its call, and is followed then.
  if (row.call?.card === 'generic' && row.call.face === 'agent') return 'keep'
  switch (toolNature(row)) {
    case 'read':
    case 'search':
    case 'list':
      return 'explore'
    case 'other':
      return row.state === 'ok' && row.result?.card !== 'question' ? 'step' : 'keep'
    default:
      return 'keep'
  }
}
