import { isHarnessError } from '../../base/harness-error.ts'
import { tooLarge, type FileTarget } from '../../capabilities/file-system.ts'
import { LanguageError, type LanguageAnswer, type LanguageLocation, type LanguageOperation, type LanguageQuestion } from '../../capabilities/languages.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type Execution, type ToolDefinition } from '../../core/tools/definition.ts'
import { sessionFolder } from '../session-folder.ts'
import { withoutEscalation } from '../without-escalation.ts'
import { answerText, MAX_LOCATIONS, MAX_RESULT_CHARS } from './answer-text.ts'
import { makeChange } from './make-change.ts'
import { MAX_CHANGED_FILES, MAX_CHANGED_PLACES } from './change-plan.ts'
import { createChangePlanner, type ChangePlanner, type LanguageNeeds } from './change-planner.ts'
import { findPlace, type FoundPlace } from './asked-place.ts'
import { lspMeta } from './lsp-meta.ts'
import { presentCall, presentResult } from './lsp.card.ts'
import { lspValueSchema, type LspValue } from './lsp-value.ts'
import { changingOperations, checkArguments, isLineGiven, operations, placelessOperations, TIMEOUT_MS, withPlace, type LspCall } from './lsp-call.ts'
import { createPatientService } from './patient-service.ts'
import { pathOfUri, uriOfPath } from './shown-uri.ts'

export const MAX_SOURCE_BYTES = 4_000_000
/** Files whose lines are shown beside the places. */
const MAX_SHOWN_FILES = 20
/** Actions of one list. */
const MAX_ACTIONS = 50

/**
 * `lsp`: ask the editor's language services, and let them rename and repair. Source: capability specification 17 and 20.13.
 *
 * `plan` works out what a call that changes files would change, before policy decides.
 */
export function createLsp(needs: LanguageNeeds): { readonly tool: ToolDefinition; readonly plan: ChangePlanner['edit'] } {
  const { languages, files, clock } = needs
  const service = createPatientService({ languages, clock })
  const planner = createChangePlanner({ ...needs, service, placeOf })

  const tool = defineTool({
    name: 'lsp',
    description:
      'Ask the language services of the editor: definitions, references, implementations, types, hover, symbols, calls, type hierarchy, problems. ' +
      'rename renames everywhere, codeActions lists repairs and refactorings, applyCodeAction does one. ' +
      'line and character count from 1; symbol, a name, spares both (give 1 and 1). documentSymbols, workspaceSymbols (with query) and diagnostics ignore the place.',
    parameters: {
      operation: { type: 'string', enum: operations, required: true },
      file_path: { type: 'string', required: true },
      line: { type: 'number', required: true },
      character: { type: 'number', required: true },
      symbol: { type: 'string', description: 'A name in the line or file, in the place of character.' },
      near_line: { type: 'number', description: 'Of several places of symbol, the nearest.' },
      query: { type: 'string', description: 'workspaceSymbols: what to look for.' },
      new_name: { type: 'string', description: 'rename' },
      title: { type: 'string', description: 'applyCodeAction: as listed.' },
    },
    output: {
      schema: lspValueSchema,
      render: (args, value) => [{ type: 'text', text: answerText(args.operation, value) }],
      presentationMeta: (_args, value) => lspMeta(value),
    },
    timeoutMs: TIMEOUT_MS,
    limits: [
      { of: 'places in an answer', max: MAX_LOCATIONS, unit: 'items' },
      { of: 'actions in an answer', max: MAX_ACTIONS, unit: 'items' },
      { of: 'the answer', max: MAX_RESULT_CHARS, unit: 'characters' },
      { of: 'the file that is asked about', max: MAX_SOURCE_BYTES, unit: 'bytes' },
      { of: 'files of one change', max: MAX_CHANGED_FILES, unit: 'items' },
      { of: 'places of one change', max: MAX_CHANGED_PLACES, unit: 'items' },
      { of: 'time', max: TIMEOUT_MS, unit: 'ms' },
    ],
    isConcurrencySafe: ({ operation }) => !changingOperations.has(operation),
    async execute(args, exec): Promise<LspValue> {
      checkArguments(args)
      try {
        if (changingOperations.has(args.operation)) return await makeChange(needs, await planner.planOf(exec), exec)
        if (args.operation === 'codeActions') return await actions(args, exec)
        return await answer(args, args.operation as LanguageOperation, exec)
      } catch (error) {
        // A stop says nothing of its own; a time-out does.
        throw exec.signal.aborted && !isHarnessError(error) && !isHarnessError(exec.signal.reason) ? new ToolError('ABORTED', 'The question was stopped.', { cause: error }) : error
      }
    },
    presentCall,
    presentResult,
  })

  async function answer(args: LspCall, operation: LanguageOperation, exec: BodyExecution): Promise<LspValue> {
    if (operation === 'workspaceSymbols' && (args.query ?? args.symbol ?? '').trim() === '') throw invalid('workspaceSymbols needs query, a part of the name to look for.')
    const root = workspaceOf(exec)
    const target = await files.resolve(args.file_path, root, exec.signal)
    const { text } = await source(target, exec)
    const place = placelessOperations.has(operation) ? { position: { line: 0, character: 0 } } : await placeIn(text, target, exec, args)
    const query = args.query ?? args.symbol
    const question: LanguageQuestion = { operation, path: target.path, position: place.position, ...(query !== undefined && { query }) }
    return await valueOf(await service.ask(question, exec), { root, exec, ...('note' in place && { note: place.note }) })
  }

  async function actions(args: LspCall, exec: BodyExecution): Promise<LspValue> {
    const { target, position, end, note } = await placeOf(args, exec)
    const once = async () => {
      const list = await languages.codeActions({ path: target.path, range: { start: position, end } }, exec.signal)
      return list.length === 0 ? null : list
    }
    const found = (await service.insist(target.path, once, exec)) ?? []
    return { kind: 'actions', actions: found.slice(0, MAX_ACTIONS), total: found.length, ...(note !== undefined && { note }) }
  }

  async function placeOf(args: LspCall, exec: Execution): Promise<FoundPlace & { readonly target: FileTarget; readonly root: string }> {
    const root = workspaceOf(exec)
    const target = await files.resolve(args.file_path, root, exec.signal)
    const { text } = await source(target, exec)
    return { ...(await placeIn(text, target, exec, args)), target, root }
  }

  async function placeIn(text: string, target: FileTarget, exec: Pick<Execution, 'arguments' | 'signal'>, { line, character, symbol, near_line }: LspCall): Promise<FoundPlace> {
    const declared = async () => {
      const found = await languages.ask({ operation: 'documentSymbols', path: target.path, position: { line: 0, character: 0 } }, exec.signal)
      return found.kind === 'symbols' ? found.symbols.filter(({ name }) => name === symbol).map(({ range }) => range.start) : []
    }
    return await findPlace(text, { line: isLineGiven(exec.arguments) ? line : undefined, character, symbol, nearLine: near_line }, declared)
  }

  async function source(target: FileTarget, exec: Pick<Execution, 'signal'>) {
    const { kind, size } = await files.stat(target, exec.signal)
    if (kind === 'file' && size > MAX_SOURCE_BYTES) throw tooLarge(target.spelling, size, MAX_SOURCE_BYTES)
    return await files.readText(target, { maxBytes: MAX_SOURCE_BYTES, signal: exec.signal })
  }

  async function valueOf({ answer, isIndexing }: { readonly answer: LanguageAnswer; readonly isIndexing: boolean }, { root, exec, note }: { readonly root: string; readonly exec: BodyExecution; readonly note?: string }): Promise<LspValue> {
    const more = { ...(isIndexing && { isIndexing }), ...(note !== undefined && { note }) }
    switch (answer.kind) {
      case 'locations': {
        const locations = answer.locations.slice(0, MAX_LOCATIONS)
        return { kind: 'locations', locations: await withTexts(locations, exec), total: answer.locations.length, resolvedWorkspaceUri: uriOfPath(root), ...more }
      }
      case 'hover':
        return { kind: 'hover', hover: answer.contents === null ? null : { contents: answer.contents, ...(answer.range && { range: answer.range }) }, ...more }
      case 'symbols':
        return { kind: 'symbols', symbols: answer.symbols.slice(0, MAX_LOCATIONS), total: answer.symbols.length, resolvedWorkspaceUri: uriOfPath(root), ...more }
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

  return { tool: withoutPlace(withoutEscalation(tool)), plan: planner.edit }
}

/**
 * The same tool, which also takes calls that name a symbol, or ask about no place at all, and leave the numbers out. What is declared
 * stays as the catalogue has it.
 */
function withoutPlace(tool: ToolDefinition): ToolDefinition {
  const { validateArguments, isConcurrencySafe, presentCall: call, presentResult: result } = tool
  return {
    ...tool,
    ...(validateArguments && { validateArguments: (args) => validateArguments(withPlace(args)) }),
    ...(isConcurrencySafe && { isConcurrencySafe: (args) => isConcurrencySafe(withPlace(args)) }),
    ...(call && { presentCall: (args) => call(withPlace(args)) }),
    ...(result && { presentResult: (args, presented) => result(withPlace(args), presented) }),
    execute: (args, exec) => tool.execute(withPlace(args), exec),
  }
}

function workspaceOf(exec: Pick<Execution, 'agent' | 'name'>): string {
  if (exec.agent?.session.header.cwd === undefined) throw new LanguageError('LSP_WORKSPACE_REQUIRED', 'lsp works in the folder of a session, and this call has none.')
  return sessionFolder(exec)
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
