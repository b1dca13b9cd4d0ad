import { isHarnessError } from '../../base/harness-error.ts'
import { pause } from '../../base/pause.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { tooLarge, type FileSystem, type FileTarget } from '../../capabilities/file-system.ts'
import { LanguageError, type LanguageAnswer, type LanguageLocation, type LanguageOperation, type Languages } from '../../capabilities/languages.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import { sessionFolder } from '../session-folder.ts'
import { answerText, MAX_LOCATIONS } from './answer-text.ts'
import { lspMeta, presentCall, presentResult } from './lsp.card.ts'
import { lspValueSchema, type LspValue } from './lsp-value.ts'
import { pathOfUri } from './shown-uri.ts'

export const MAX_SOURCE_BYTES = 4_000_000
export const TIMEOUT_MS = 60_000
/** Between the questions to a service that may still be starting; together they are the budget. */
export const RETRY_DELAYS_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 4_000, 3_250]
/** Files whose lines are shown beside the places. */
const MAX_SHOWN_FILES = 20

export interface LspNeeds {
  readonly languages: Languages
  readonly files: Pick<FileSystem, 'resolve' | 'stat' | 'readText'>
  readonly clock: Clock
}

const operations = [
  'goToDefinition',
  'findReferences',
  'goToImplementation',
  'hover',
  'goToTypeDefinition',
  'documentSymbols',
  'workspaceSymbols',
  'incomingCalls',
  'outgoingCalls',
  'supertypes',
  'subtypes',
  'diagnostics',
] as const satisfies readonly LanguageOperation[]
/** About a file or the workspace, not about a place. */
const placeless: ReadonlySet<string> = new Set(['documentSymbols', 'workspaceSymbols', 'diagnostics'])

/** `lsp`: ask the editor's language services. Source: capability specification 17 and 20.13. */
export function createLsp({ languages, files, clock }: LspNeeds): ToolDefinition {
  /** Endings of files whose service has answered something; an empty answer of it is an answer. */
  const warm = new Set<string>()
  return defineTool({
    name: 'lsp',
    description:
      'Ask the language services of the editor: definitions, references, implementations, types, hover, symbols, calls, type hierarchy, problems. ' +
      'line and character count from 1; symbol, a name that stands in the line, spares counting. documentSymbols, workspaceSymbols (with query) and diagnostics ignore the place: give 1 and 1.',
    parameters: {
      operation: { type: 'string', enum: operations, required: true },
      file_path: { type: 'string', required: true },
      line: { type: 'number', required: true },
      character: { type: 'number', required: true },
      symbol: { type: 'string', description: 'A name in the line, in the place of character.' },
      query: { type: 'string', description: 'workspaceSymbols: what to look for.' },
    },
    output: {
      schema: lspValueSchema,
      render: (args, value) => [{ type: 'text', text: answerText(args.operation, value) }],
      presentationMeta: (_args, value) => lspMeta(value),
    },
    timeoutMs: TIMEOUT_MS,
    isConcurrencySafe: () => true,
    async execute(args, exec): Promise<LspValue> {
      if (args.file_path.trim() === '') throw invalid('file_path is blank. Give the path of a file.')
      for (const name of ['line', 'character'] as const)
        if (!Number.isInteger(args[name]) || args[name] < 1) throw invalid(`${name} must be a whole number of 1 or more, not ${args[name]}.`)
      if (args.operation === 'workspaceSymbols' && (args.query ?? args.symbol ?? '').trim() === '') throw invalid('workspaceSymbols needs query, a part of the name to look for.')
      const root = workspaceOf(exec)
      const target = await files.resolve(args.file_path, root, exec.signal)
      const { text } = await source(target, exec)
      const place = placeless.has(args.operation) ? { position: { line: 0, character: 0 } } : positionIn(text, args)
      const query = args.query ?? args.symbol
      const answer = await ask({ operation: args.operation, path: target.path, position: place.position, ...(query !== undefined && { query }) }, exec).catch((error: unknown) => {
        // A stop says nothing of its own; a time-out does.
        throw exec.signal.aborted && !isHarnessError(exec.signal.reason) ? new ToolError('ABORTED', 'The question was stopped.', { cause: error }) : error
      })
      return await valueOf(answer, { root, exec, ...('note' in place && { note: place.note }) })
    },
    presentCall,
    presentResult,
  })

  async function source(target: FileTarget, exec: BodyExecution) {
    const { kind, size } = await files.stat(target, exec.signal)
    if (kind === 'file' && size > MAX_SOURCE_BYTES) throw tooLarge(target.spelling, size, MAX_SOURCE_BYTES)
    return await files.readText(target, { maxBytes: MAX_SOURCE_BYTES, signal: exec.signal })
  }

  /** A service that was never heard of may be starting: it is asked again, a little later each time. */
  async function ask(question: Parameters<Languages['ask']>[0], exec: BodyExecution): Promise<Answered> {
    const ending = /\.[^./\\]+$/.exec(question.path)?.[0] ?? question.path
    // The list of problems is what is known now; nobody can be asked to look again.
    const delays = question.operation === 'diagnostics' || warm.has(ending) ? [] : RETRY_DELAYS_MS
    let answer = await languages.ask(question, exec.signal)
    for (const delayMs of delays) {
      if (!isEmpty(answer)) break
      exec.progress('The language service has not answered yet; it may be starting.\n')
      await pause(clock, delayMs, exec.signal)
      answer = await languages.ask(question, exec.signal)
    }
    if (!isEmpty(answer)) {
      warm.add(ending)
      return { answer, isIndexing: false }
    }
    if (delays.length === 0) return { answer, isIndexing: false }
    const symbols = await languages.ask({ operation: 'documentSymbols', path: question.path, position: { line: 0, character: 0 } }, exec.signal)
    if (isEmpty(symbols)) throw new LanguageError('LSP_UNAVAILABLE', `No language service of the editor answers for ${ending} files. Search for the text instead, or ask the person to install an extension for the language.`)
    warm.add(ending)
    return { answer, isIndexing: true }
  }

  async function valueOf({ answer, isIndexing }: Answered, { root, exec, note }: { readonly root: string; readonly exec: BodyExecution; readonly note?: string }): Promise<LspValue> {
    const more = { ...(isIndexing && { isIndexing }), ...(note !== undefined && { note }) }
    switch (answer.kind) {
      case 'locations': {
        const locations = answer.locations.slice(0, MAX_LOCATIONS)
        return { kind: 'locations', locations: await withTexts(locations, exec), total: answer.locations.length, resolvedWorkspaceUri: root, ...more }
      }
      case 'hover':
        return { kind: 'hover', hover: answer.contents === null ? null : { contents: answer.contents, ...(answer.range && { range: answer.range }) }, ...more }
      case 'symbols':
        return { kind: 'symbols', symbols: answer.symbols.slice(0, MAX_LOCATIONS), total: answer.symbols.length, resolvedWorkspaceUri: root, ...more }
      case 'problems':
        return { kind: 'problems', problems: answer.problems.slice(0, MAX_LOCATIONS), total: answer.problems.length, ...more }
    }
  }

  /** Each place with its line, for as many files as a person would look at. */
  async function withTexts(locations: readonly LanguageLocation[], exec: BodyExecution) {
    const texts = new Map<string, readonly string[] | null>()
    for (const uri of [...new Set(locations.map((location) => location.uri))].slice(0, MAX_SHOWN_FILES)) texts.set(uri, await linesOf(uri, exec))
    return locations.map(({ uri, range }) => {
      const text = texts.get(uri)?.[range.start.line]?.trim()
      return { uri, range, ...(text !== undefined && text !== '' && { text: text.slice(0, 200) }) }
    })
  }

  async function linesOf(uri: string, exec: BodyExecution): Promise<readonly string[] | null> {
    try {
      const target = await files.resolve(pathOfUri(uri), sessionFolder(exec), exec.signal)
      return (await source(target, exec)).text.split(/\r\n|\n/)
    } catch {
      exec.signal.throwIfAborted()
      // The place is known all the same; only its line cannot be shown.
      return null
    }
  }
}

interface Answered {
  readonly answer: LanguageAnswer
  readonly isIndexing: boolean
}

function workspaceOf(exec: BodyExecution): string {
  if (exec.agent?.session.header.cwd === undefined) throw new LanguageError('LSP_WORKSPACE_REQUIRED', 'lsp works in the folder of a session, and this call has none.')
  return sessionFolder(exec)
}

/** Zero-based, held to the text; `note` says what was meant instead. */
function positionIn(text: string, { line, character, symbol }: { readonly line: number; readonly character: number; readonly symbol?: string }) {
  const lines = text.split(/\r\n|\n/)
  const row = lines[line - 1]
  if (row === undefined) throw invalid(`line is ${line}, and the file has ${lines.length} ${lines.length === 1 ? 'line' : 'lines'}. Read it again.`)
  if (symbol !== undefined) {
    const at = row.indexOf(symbol)
    if (at < 0 || symbol === '') throw invalid(`${JSON.stringify(symbol)} does not stand in line ${line}: ${row.trim().slice(0, 200)}`)
    return { position: { line: line - 1, character: at } }
  }
  if (character - 1 <= row.length) return { position: { line: line - 1, character: character - 1 } }
  return { position: { line: line - 1, character: row.length }, note: `Line ${line} has ${row.length} characters, so its end was asked about, not character ${character}.` }
}

function isEmpty(answer: LanguageAnswer): boolean {
  switch (answer.kind) {
    case 'locations':
      return answer.locations.length === 0
    case 'hover':
      return answer.contents === null
    case 'symbols':
      return answer.symbols.length === 0
    case 'problems':
      return answer.problems.length === 0
  }
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
