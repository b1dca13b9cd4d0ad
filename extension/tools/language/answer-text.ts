import { newProblemsText } from '../../core/tools/new-problems.ts'
import { snippetOf } from '../files/file-change.ts'
import type { LspValue } from './lsp-value.ts'
import { shownUri } from './shown-uri.ts'

/** Places or names of one answer. */
export const MAX_LOCATIONS = 100
/** UTF-16 units of the text that the model reads, its last line included. */
export const MAX_RESULT_CHARS = 16_000

const nothing: Readonly<Record<string, string>> = {
  goToDefinition: 'No definition was found.',
  findReferences: 'No references were found.',
  goToImplementation: 'No implementation was found.',
  goToTypeDefinition: 'No type definition was found.',
  hover: 'There is nothing to say about this place.',
  documentSymbols: 'The file has no symbols.',
  workspaceSymbols: 'No symbol of that name was found.',
  incomingCalls: 'Nothing calls it.',
  outgoingCalls: 'It calls nothing.',
  supertypes: 'It has no supertypes.',
  subtypes: 'It has no subtypes.',
  diagnostics: 'The editor knows of no problems in this file.',
  codeActions: 'There is no code action at this place.',
  rename: 'Nothing had to be changed.',
  applyCodeAction: 'Nothing had to be changed.',
}

/** What the model reads: places by file, counted from 1, with the line beside each. */
export function answerText(operation: string, value: LspValue): string {
  const body = bodyOf(value)
  const lines = [
    ...(body === '' ? [nothing[operation] ?? 'Nothing was found.'] : [body]),
    ...('total' in value && value.total > sizeOf(value) ? [`(${value.total - sizeOf(value)} more ${value.total - sizeOf(value) === 1 ? 'is' : 'are'} not shown.)`] : []),
    ...('newProblems' in value && value.newProblems !== undefined ? [newProblemsText(value.newProblems)] : []),
    ...('isIndexing' in value && value.isIndexing ? ['(The language service may still be indexing; ask again if this looks wrong.)'] : []),
    ...(value.note === undefined ? [] : [`(${value.note})`]),
  ]
  const text = lines.join('\n')
  const marker = '\n(Cut here. Ask about a smaller part.)'
  return text.length <= MAX_RESULT_CHARS ? text : `${text.slice(0, MAX_RESULT_CHARS - marker.length).toWellFormed()}${marker}`
}

function bodyOf(value: LspValue): string {
  switch (value.kind) {
    case 'hover':
      return value.hover?.contents ?? ''
    case 'locations':
      return grouped(value.locations, value.resolvedWorkspaceUri, ({ text }) => (text === undefined ? '' : `  ${text}`))
    case 'symbols':
      return grouped(value.symbols, value.resolvedWorkspaceUri, ({ name, kind, container }) => `  ${kind} ${name}${container === undefined ? '' : ` in ${container}`}`)
    case 'problems':
      return value.problems.map(({ range, severity, message, source }) => `${place(range)}  ${severity}: ${message.replaceAll(/\s*\n\s*/g, ' ')}${source === undefined ? '' : ` [${source}]`}`).join('\n')
    case 'actions':
      return value.actions.map(({ title, kind, disabled, isCommand }) => [title, ...(kind === undefined ? [] : [`[${kind}]`]), ...(disabled === undefined ? [] : [`(not here: ${disabled})`]), ...(isCommand === true ? ['(runs a command; cannot be applied)'] : [])].join('  ')).join('\n')
    case 'changes':
      return value.files.length === 0 ? '' : [`${value.made}:`, ...value.files.map(changedFile)].join('\n')
  }
}

/** Few files are shown as they now read. */
const MAX_SNIPPET_FILES = 2

function changedFile(file: Extract<LspValue, { kind: 'changes' }>['files'][number], _index: number, all: readonly unknown[]): string {
  const { path, places, hunks, isUnsaved, wasReformatted } = file
  const facts = [`${places} ${places === 1 ? 'place' : 'places'}`, ...(isUnsaved === true ? ['not saved, because the person has unsaved changes there'] : []), ...(wasReformatted === true ? ['formatted further when it was saved'] : [])]
  return [`${path}: ${facts.join(', ')}`, ...(all.length <= MAX_SNIPPET_FILES ? [snippetOf(hunks)] : [])].join('\n')
}

type Located = { readonly uri: string; readonly range: { readonly start: { readonly line: number; readonly character: number } } }

function grouped<T extends Located>(items: readonly T[], root: string, words: (item: T) => string): string {
  const byFile = new Map<string, T[]>()
  for (const item of items) {
    const list = byFile.get(item.uri) ?? []
    list.push(item)
    byFile.set(item.uri, list)
  }
  return [...byFile].map(([uri, list]) => list.map((item) => `${shownUri(uri, root)}:${place(item.range)}${words(item)}`).join('\n')).join('\n')
}

const place = ({ start }: Located['range']) => `${start.line + 1}:${start.character + 1}`

function sizeOf(value: LspValue): number {
  switch (value.kind) {
    case 'locations':
      return value.locations.length
    case 'symbols':
      return value.symbols.length
    case 'problems':
      return value.problems.length
    case 'actions':
      return value.actions.length
    case 'changes':
      return value.files.length
    case 'hover':
      return 1
  }
}
