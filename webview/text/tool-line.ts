import type { FileDiff, FileLocation, ToolCallView, ToolResultView } from '../../extension/protocol/cards.ts'
import type { ToolRow } from '../../extension/protocol/view-state.ts'
import { formatNumber, plural, t } from '../l10n.ts'
import { fileName, firstLine, formatDuration, hostOf } from './format.ts'

/** A thing named in a line: a file that opens, or code, or plain words. */
export type LinePart =
  | { readonly kind: 'file'; readonly text: string; readonly location: FileLocation }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'words'; readonly text: string }

/** One tool call as one line: what happened, to what, and how it came out. */
export interface ToolLine {
  readonly icon: string
  /** English with places `{0}` …, for translation; `parts` fill them. */
  readonly sentence: string
  readonly parts: readonly LinePart[]
  /** Said after it, quieter: "exit 0", "14 in 6 files". */
  readonly outcome: readonly Outcome[]
}

export interface Outcome {
  readonly text: string
  readonly tone: 'quiet' | 'good' | 'bad' | 'added' | 'removed'
}

const MAX_LINE_CHARS = 300

/** Word a tool call from its cards alone, in the present while it runs and in the past after. */
export function toolLine(row: ToolRow): ToolLine {
  // "Reading a.ts failed", but "Read a.ts".
  const isOver = row.state === 'ok'
  const line = row.result === null ? callLine(row.call, row.tool, isOver) : resultLine(row.result, row.call, row.tool, isOver)
  const outcome = [...fromOutcome(row), ...line.outcome, ...stateOutcome(row), ...durationOutcome(row)]
  return { ...line, ...failed(row, line), outcome }
}

/** The line as plain words, for names of buttons and for announcements. */
export function plainLine(line: ToolLine): string {
  const sentence = t(line.sentence, ...line.parts.map(({ text }) => text))
  return [sentence, ...line.outcome.map(({ text }) => text)].join(', ')
}

/** Changed files of a diff card, each once, in order. */
export const changedPaths = (diffs: readonly FileDiff[]): readonly string[] => [...new Set(diffs.map(({ path }) => path))]

function failed(row: ToolRow, line: ToolLine): Partial<ToolLine> {
  if (row.state === 'failed') return { icon: 'error', sentence: line.sentence }
  if (row.state === 'denied') return { icon: 'circle-slash' }
  if (row.state === 'cancelled') return { icon: 'debug-stop' }
  return {}
}

/** Whose the tool is, when it is another extension's; while it waits for the person the question says so, and a narrow line has no room for both. */
const fromOutcome = ({ from, state }: ToolRow): readonly Outcome[] => (from === undefined || state === 'waiting' ? [] : [{ text: t('from {0}', from), tone: 'quiet' }])

function stateOutcome({ state, result }: ToolRow): readonly Outcome[] {
  if (state === 'denied') return [{ text: t('denied'), tone: 'bad' }]
  if (state === 'cancelled' && result?.card !== 'terminal') return [{ text: t('stopped'), tone: 'quiet' }]
  if (state === 'failed' && result?.card !== 'terminal') return [{ text: t('failed'), tone: 'bad' }]
  if (state === 'waiting') return [{ text: t('waits for you'), tone: 'quiet' }]
  return []
}

/** Only what took long enough to wonder about says how long. */
function durationOutcome({ result, startedAt, endedAt }: ToolRow): readonly Outcome[] {
  const durationMs = result?.card === 'terminal' && result.durationMs !== undefined ? result.durationMs : endedAt === null ? 0 : endedAt - startedAt
  return durationMs >= 1_000 && result?.card !== 'question' && !(result?.card === 'terminal' && result.jobId !== undefined) ? [{ text: formatDuration(durationMs), tone: 'quiet' }] : []
}

const words = (text: string): LinePart => ({ kind: 'words', text: firstLine(text, MAX_LINE_CHARS) })
const code = (text: string): LinePart => ({ kind: 'code', text: firstLine(text, MAX_LINE_CHARS) })
const file = (path: string, line?: number): LinePart => ({
  kind: 'file',
  text: fileName(path),
  location: line === undefined ? { path } : { path, line },
})

function callLine(call: ToolCallView | null, tool: string, isOver: boolean): ToolLine {
  if (call === null) return { icon: 'tools', sentence: isOver ? 'Used {0}' : 'Using {0}', parts: [words(tool)], outcome: [] }
  switch (call.card) {
    case 'terminal':
      return { ...commandLine(call, isOver, call.typed !== undefined), outcome: [] }
    case 'diff':
      return call.isDraft === true ? diffTitle(call.title) : diffLine(call.diffs, call.title, isOver, [])
    default:
      return genericLine(call, isOver)
  }
}

/** What is typed at an open terminal is a command only where the shell there waits for one, which its result says. */
function commandLine({ title, typed }: Pick<Extract<ToolCallView, { card: 'terminal' }>, 'title' | 'typed'>, isOver: boolean, isTyped: boolean): Omit<ToolLine, 'outcome'> {
  const icon = 'terminal'
  if (typed === 'enter') return { icon, sentence: isOver ? 'Pressed Enter' : 'Pressing Enter', parts: [] }
  if (typed === 'nothing') return { icon, sentence: isOver ? 'Waited for output' : 'Waiting for output', parts: [] }
  if (isTyped) return { icon, sentence: isOver ? 'Typed {0}' : 'Typing {0}', parts: [code(title)] }
  return { icon, sentence: isOver ? 'Ran {0}' : 'Running {0}', parts: [code(title)] }
}

const kindSentences = {
  read: { icon: 'file', running: 'Reading {0}', over: 'Read {0}' },
  edit: { icon: 'edit', running: 'Editing {0}', over: 'Edited {0}' },
  delete: { icon: 'trash', running: 'Deleting {0}', over: 'Deleted {0}' },
  move: { icon: 'arrow-right', running: 'Moving {0}', over: 'Moved {0}' },
  search: { icon: 'search', running: 'Searching for {0}', over: 'Searched for {0}' },
  execute: { icon: 'terminal', running: 'Running {0}', over: 'Ran {0}' },
  fetch: { icon: 'globe', running: 'Fetching {0}', over: 'Fetched {0}' },
  other: { icon: 'tools', running: '{0}', over: '{0}' },
} as const

function genericLine(call: Extract<ToolCallView, { card: 'generic' }>, isOver: boolean): ToolLine {
  if (call.face === 'plan') return { icon: 'checklist', sentence: isOver ? 'You approved the plan “{0}”' : 'Proposed the plan “{0}”', parts: [words(call.title)], outcome: [] }
  if (call.face === 'agent') return { icon: 'agent', sentence: '{0}', parts: [words(call.title)], outcome: [] }
  const { icon, running, over } = kindSentences[call.kind ?? 'other']
  if (call.subject === undefined) return { icon, sentence: '{0}', parts: [words((isOver ? call.doneTitle : undefined) ?? call.title)], outcome: [] }
  return { icon, sentence: isOver ? over : running, parts: [subjectPart(call, call.subject)], outcome: [] }
}

function subjectPart({ kind, locations }: Extract<ToolCallView, { card: 'generic' }>, subject: string): LinePart {
  const location = locations?.find(({ path }) => path === subject)
  if (kind === 'search' || kind === 'execute') return code(subject)
  if (kind === 'fetch') return words(hostOf(subject))
  return location === undefined ? words(subject) : file(location.path, location.line)
}

function resultLine(result: ToolResultView, call: ToolCallView | null, tool: string, isOver: boolean): ToolLine {
  switch (result.card) {
    case 'generic': {
      if (result.jobId !== undefined && call?.card === 'generic' && call.subject !== undefined) {
        return { icon: 'terminal', sentence: isOver ? 'Started {0} in the background' : 'Starting {0} in the background', parts: [code(call.subject)], outcome: [] }
      }
      if (result.face === 'plan') return callLine(call, tool, isOver)
      // What did not come about is told by what was wanted, where the call says it in full.
      if (result.title === undefined || (!isOver && hasSubject(call))) return callLine(call, tool, isOver)
      return { ...callLine(call, tool, isOver), sentence: '{0}', parts: [words(result.title)] }
    }
    case 'terminal': {
      const title = result.title ?? (call?.card === 'terminal' ? call.title : tool)
      if (result.jobId !== undefined) return { icon: 'terminal', sentence: 'Moved {0} to the background', parts: [code(title)], outcome: terminalOutcome(result) }
      const typed = call?.card === 'terminal' ? call.typed : undefined
      return { ...commandLine({ title, ...(typed && { typed }) }, true, result.isTyped === true), outcome: terminalOutcome(result) }
    }
    case 'diff':
      // What it was for says more than how many files it touched.
      return result.title !== undefined && (result.isDraft === true || changedPaths(result.diffs).length > 1) ? diffTitle(result.title) : diffLine(result.diffs, result.title ?? tool, true, [])
    case 'read':
      return { icon: 'file', ...readSentence(result), outcome: [] }
    case 'search':
      return searchLine(result, call)
    case 'web':
      return webLine(result, call)
    case 'question':
      return {
        icon: 'question',
        sentence: 'Asked you {0}',
        parts: [words(result.items.length === 1 ? result.items[0]!.question : plural(result.items.length, '{0} question', '{0} questions'))],
        outcome: [questionOutcome(result.items)],
      }
  }
}

const hasSubject = (call: ToolCallView | null) => call !== null && (call.card !== 'generic' || call.subject !== undefined)

function terminalOutcome({ exitCode, signal, timedOut, aborted }: Extract<ToolResultView, { card: 'terminal' }>): readonly Outcome[] {
  if (timedOut === true) return [{ text: t('timed out'), tone: 'bad' }]
  if (aborted === true) return [{ text: t('stopped'), tone: 'quiet' }]
  if (signal !== undefined) return [{ text: t('ended by {0}', signal), tone: 'bad' }]
  return exitCode === undefined ? [] : [{ text: t('exit {0}', exitCode), tone: exitCode === 0 ? 'quiet' : 'bad' }]
}

const diffTitle = (title: string): ToolLine => ({ icon: 'edit', sentence: '{0}', parts: [words(title)], outcome: [] })

function diffLine(diffs: readonly FileDiff[], title: string, isOver: boolean, outcome: readonly Outcome[]): ToolLine {
  const paths = changedPaths(diffs)
  if (paths.length === 0) return { ...diffTitle(title), outcome }
  if (paths.length > 1) {
    return { icon: 'edit', sentence: isOver ? 'Edited {0}' : 'Editing {0}', parts: [words(plural(paths.length, '{0} file', '{0} files'))], outcome }
  }
  const isNew = diffs.length === 1 && diffs[0]!.oldText === null && diffs[0]!.oldStart === undefined
  const sentence = isNew ? (isOver ? 'Created {0}' : 'Creating {0}') : isOver ? 'Edited {0}' : 'Editing {0}'
  return { icon: isNew ? 'new-file' : 'edit', sentence, parts: [file(paths[0]!, isNew ? undefined : diffs[0]!.newStart)], outcome }
}

function readSentence({ path, lines, totalLines }: Extract<ToolResultView, { card: 'read' }>): Pick<ToolLine, 'sentence' | 'parts'> {
  const [first, last] = [lines[0]?.number, lines.at(-1)?.number]
  if (first === undefined || last === undefined) return { sentence: 'Read {0}', parts: [file(path)] }
  if (first <= 1 && last >= totalLines) return { sentence: 'Read {0}', parts: [file(path)] }
  return { sentence: 'Read {0} {1}', parts: [file(path, first), words(lineRuns(lines).join(', '))] }
}

/** The lines as ranges without gaps: "1–4", "120". */
function lineRuns(lines: readonly { readonly number: number }[]): readonly string[] {
  const runs: { first: number; last: number }[] = []
  for (const { number } of lines) {
    const run = runs.at(-1)
    if (run !== undefined && number === run.last + 1) run.last = number
    else runs.push({ first: number, last: number })
  }
  return runs.map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`))
}

function searchLine(result: Extract<ToolResultView, { card: 'search' }>, call: ToolCallView | null): ToolLine {
  const more = result.truncated ? '+' : ''
  const count = `${formatNumber(result.total)}${more}`
  const outcome: Outcome = {
    text:
      result.total === 0
        ? t('nothing found')
        : result.shape === 'paths'
          ? result.total === 1 && more === '' ? t('1 file') : t('{0} files', count)
          : result.files.length === 1 ? t('{0} in 1 file', count) : t('{0} in {1} files', count, formatNumber(result.files.length)),
    tone: 'quiet',
  }
  const subject = call?.card === 'generic' ? call.subject : undefined
  if (subject === undefined) return { icon: 'search', sentence: '{0}', parts: [words((call?.card === 'generic' ? call.doneTitle : undefined) ?? call?.title ?? t('Searched'))], outcome: [outcome] }
  return { icon: 'search', sentence: result.shape === 'paths' ? 'Looked for files {0}' : 'Searched for {0}', parts: [code(subject)], outcome: [outcome] }
}

/** Says nothing that the line does not. */
const isPlainSuccess = (statusCode: number): boolean => statusCode === 200

function webLine(result: Extract<ToolResultView, { card: 'web' }>, call: ToolCallView | null): ToolLine {
  if (result.kind === 'fetch') {
    const outcome: readonly Outcome[] = [
      ...(isPlainSuccess(result.statusCode) ? [] : [{ text: t('status {0}', result.statusCode), tone: result.statusCode >= 400 ? 'bad' : 'quiet' } as const]),
      ...(result.truncated ? [{ text: t('cut'), tone: 'quiet' } as const] : []),
    ]
    return { icon: 'globe', sentence: 'Fetched {0}', parts: [words(hostOf(result.url))], outcome }
  }
  const subject = call?.card === 'generic' ? (call.subject ?? call.title) : t('something')
  return {
    icon: 'globe',
    sentence: 'Searched the web for {0}',
    parts: [words(subject)],
    outcome: [{ text: plural(result.sources.length, '{0} source', '{0} sources'), tone: 'quiet' }],
  }
}

function questionOutcome(items: Extract<ToolResultView, { card: 'question' }>['items']): Outcome {
  const answered = items.filter(({ selected, custom }) => selected.length > 0 || custom !== undefined).length
  if (answered === 0) return { text: t('skipped'), tone: 'quiet' }
  if (items.length > 1) return { text: t('answered {0} of {1}', answered, items.length), tone: 'quiet' }
  return { text: firstLine([...items[0]!.selected, ...(items[0]!.custom === undefined ? [] : [items[0]!.custom])].join(', '), 80), tone: 'quiet' }
}
