import * as vscode from 'vscode'
import { withoutCommandLinks } from '../../base/without-command-links.ts'
import { thrownText } from '../../base/thrown-text.ts'
import { orAbort } from '../../base/or-abort.ts'
import { staleVersion } from '../../capabilities/file-system.ts'
import { LanguageError, type LanguageAnswer, type LanguageCodeAction, type LanguageEdit, type LanguageLocation, type LanguageOperation, type LanguageQuestion, type LanguageRange, type Languages, type LanguageSymbol } from '../../capabilities/languages.ts'
import { pathOf, uriOf } from './address.ts'

/** Has the server run that a document needs, where the person configured one. */
export type Ready = (document: vscode.TextDocument, signal: AbortSignal) => Promise<void>

/** The editor's own language features, asked through its commands. Opens no tab and takes no focus. */
export const createVscodeLanguages = (ready: Ready): Languages => ({
  async ask(question, signal) {
    const uri = uriOf(question.path)
    await opened(uri, ready, signal)
    return await orAbort(answerTo(question, uri), signal)
  },
  async rename({ path, position: { line, character }, newName }, signal) {
    await opened(uriOf(path), ready, signal)
    return await editFrom(uriOf(path), signal, async (uri) => {
      try {
        return await vscode.commands.executeCommand<vscode.WorkspaceEdit | undefined>('vscode.executeDocumentRenameProvider', uri, new vscode.Position(line, character), newName)
      } catch (error) {
        const words = wordsOf(error)
        // What the editor says where nobody answers, as while a service starts. Source: VS Code `rename.ts`, "No result."
        if (words === '' || /^no result\.?$/i.test(words)) return undefined
        throw new LanguageError('LSP_REFUSED', `The language service does not rename this: ${words}`, { cause: error })
      }
    })
  },
  async codeActions({ path, range }, signal) {
    await opened(uriOf(path), ready, signal)
    return (await actionsFor(uriOf(path), range, signal)).map(codeActionOf)
  },
  async codeActionEdit({ path, range, title }, signal) {
    const uri = uriOf(path)
    const isThere = (await actionsFor(uri, range, signal)).some((action) => action.title === title)
    if (!isThere) return null
    let command: string | undefined
    const edit = await editFrom(uri, signal, async () => {
      // Only those that are asked to be resolved know their changes.
      const action = (await actionsFor(uri, range, signal, MAX_RESOLVED)).find((one) => one.title === title)
      if (action === undefined) return undefined
      if (isCommand(action)) {
        command = action.command
        return undefined
      }
      command = action.command?.command
      return action.edit
    })
    return command === undefined ? edit : { files: [], others: [], ...edit, command }
  },
})

/** The editor's services alone. */
export const vscodeLanguages: Languages = createVscodeLanguages(() => Promise.resolve())

async function opened(uri: vscode.Uri, ready: Ready, signal: AbortSignal): Promise<void> {
  const document = await orAbort(Promise.resolve(vscode.workspace.openTextDocument(uri)), signal)
  await ready(document, signal)
}

/** Where the editor's own assistant would talk with the person. */
const isForPersons = /\.copilot$/

/** Actions of one place whose changes are worked out to get at those of one of them. */
const MAX_RESOLVED = 50

type Action = vscode.Command | vscode.CodeAction

async function actionsFor(uri: vscode.Uri, { start, end }: LanguageRange, signal: AbortSignal, resolved = 0): Promise<readonly Action[]> {
  const range = new vscode.Range(start.line, start.character, end.line, end.character)
  const actions = await orAbort(run<Action>('vscode.executeCodeActionProvider', uri, range, undefined, resolved), signal)
  return actions.filter((action) => isCommand(action) || !isForPersons.test(action.kind?.value ?? ''))
}

const isCommand = (action: Action): action is vscode.Command => typeof action.command === 'string'

function codeActionOf(action: Action): LanguageCodeAction {
  if (isCommand(action)) return { title: action.title, isCommand: true }
  const { title, kind, disabled, isPreferred } = action
  return { title, ...(kind !== undefined && kind.value !== '' && { kind: kind.value }), ...(disabled !== undefined && { disabled: disabled.reason }), ...(isPreferred === true && { isPreferred }) }
}

/**
 * The changes that the editor's services propose, with all of its documents as they were meanwhile.
 *
 * Errors: `FileError` `FS_STALE_VERSION` when the person typed in one of them while the service thought.
 */
async function editFrom(uri: vscode.Uri, signal: AbortSignal, propose: (uri: vscode.Uri) => Promise<vscode.WorkspaceEdit | undefined>): Promise<LanguageEdit | null> {
  const changed = new Set<string>()
  const watch = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    if (contentChanges.length > 0) changed.add(document.uri.toString())
  })
  try {
    const edit = await orAbort(propose(uri), signal)
    if (edit === undefined) return null
    const stale = edit.entries().find(([file]) => changed.has(file.toString()))
    if (stale !== undefined) throw staleVersion(pathOf(stale[0]), 'changed')
    return languageEdit(edit)
  } finally {
    watch.dispose()
  }
}

function languageEdit(edit: vscode.WorkspaceEdit): LanguageEdit {
  const files = edit.entries().map(([uri, edits]) => ({ path: pathOf(uri), edits: edits.map(({ range, newText }) => ({ range: rangeOf(range), newText })) }))
  return { files: files.filter(({ edits }) => edits.length > 0), others: othersIn(edit) }
}

/** The kinds of entries that are no text. Source: VS Code `extHostTypes/workspaceEdit.ts`, `FileEditType`. */
const FILE_ENTRY = 1
const TEXT_ENTRY = 2
const SNIPPET_ENTRY = 6

/**
 * What an edit does besides changing text. The interface for extensions hides it, so it is looked for where the editor keeps it; an
 * editor that keeps it elsewhere gets no change at all made, rather than half of one.
 */
function othersIn(edit: vscode.WorkspaceEdit): readonly string[] {
  const entries: unknown = '_allEntries' in edit && typeof edit._allEntries === 'function' ? edit._allEntries() : undefined
  if (!Array.isArray(entries)) return ['do what this editor does not let Bosun see']
  return (entries as readonly { readonly _type?: unknown; readonly from?: vscode.Uri; readonly to?: vscode.Uri }[]).flatMap(({ _type, from, to }) => {
    if (_type === TEXT_ENTRY) return []
    if (_type === SNIPPET_ENTRY) return ['leave places to fill in']
    if (_type !== FILE_ENTRY) return ['change a notebook']
    if (from !== undefined && to !== undefined) return [`rename ${pathOf(from)} to ${pathOf(to)}`]
    return from === undefined ? [`create ${to === undefined ? 'a file' : pathOf(to)}`] : [`delete ${pathOf(from)}`]
  })
}

const wordsOf = (error: unknown): string => (thrownText(error) ?? '').trim()


type Located = vscode.Location | vscode.LocationLink

const locationCommands: Partial<Readonly<Record<LanguageOperation, string>>> = {
  goToDefinition: 'vscode.executeDefinitionProvider',
  goToImplementation: 'vscode.executeImplementationProvider',
  goToTypeDefinition: 'vscode.executeTypeDefinitionProvider',
  findReferences: 'vscode.executeReferenceProvider',
}

async function answerTo({ operation, position: { line, character }, query }: LanguageQuestion, uri: vscode.Uri): Promise<LanguageAnswer> {
  const position = new vscode.Position(line, character)
  switch (operation) {
    case 'goToDefinition':
    case 'goToImplementation':
    case 'goToTypeDefinition':
    case 'findReferences': {
      const found = await run<Located>(locationCommands[operation] ?? '', uri, position)
      return { kind: 'locations', locations: found.map(locationOf) }
    }
    case 'hover': {
      const hovers = await run<vscode.Hover>('vscode.executeHoverProvider', uri, position)
      const contents = hovers.flatMap((hover) => hover.contents.map(markdownOf)).filter((part) => part.trim() !== '')
      const range = hovers.find((hover) => hover.range !== undefined)?.range
      return { kind: 'hover', contents: contents.length === 0 ? null : contents.join('\n\n'), ...(range && { range: rangeOf(range) }) }
    }
    case 'documentSymbols': {
      const found = await run<vscode.DocumentSymbol | vscode.SymbolInformation>('vscode.executeDocumentSymbolProvider', uri)
      return { kind: 'symbols', symbols: found.flatMap((symbol) => ('children' in symbol ? flat(symbol, uri) : [informationOf(symbol)])) }
    }
    case 'workspaceSymbols': {
      const found = await run<vscode.SymbolInformation>('vscode.executeWorkspaceSymbolProvider', query ?? '')
      return { kind: 'symbols', symbols: found.map(informationOf) }
    }
    case 'incomingCalls':
    case 'outgoingCalls': {
      const items = await run<vscode.CallHierarchyItem>('vscode.prepareCallHierarchy', uri, position)
      const [command, other] = operation === 'incomingCalls' ? (['vscode.provideIncomingCalls', 'from'] as const) : (['vscode.provideOutgoingCalls', 'to'] as const)
      const calls = await Promise.all(items.map((item) => run<{ readonly from: vscode.CallHierarchyItem; readonly to: vscode.CallHierarchyItem }>(command, item)))
      return { kind: 'symbols', symbols: calls.flat().map((call) => itemOf(call[other])) }
    }
    case 'supertypes':
    case 'subtypes': {
      const items = await run<vscode.TypeHierarchyItem>('vscode.prepareTypeHierarchy', uri, position)
      const types = await Promise.all(items.map((item) => run<vscode.TypeHierarchyItem>(operation === 'supertypes' ? 'vscode.provideSupertypes' : 'vscode.provideSubtypes', item)))
      return { kind: 'symbols', symbols: types.flat().map(itemOf) }
    }
    case 'diagnostics':
      return {
        kind: 'problems',
        problems: vscode.languages.getDiagnostics(uri).map(({ range, severity, message, source, code }) => {
          const from = [source, typeof code === 'object' ? code.value : code].filter((part) => part !== undefined && part !== '').join(' ')
          return { range: rangeOf(range), severity: severities[severity], message, ...(from !== '' && { source: from }) }
        }),
      }
    default:
      throw new LanguageError('LSP_UNSUPPORTED_OPERATION', `The editor cannot answer ${String(operation satisfies never)}. Use another operation.`)
  }
}

/** A command of the editor that gives a list, or nothing where nobody answers. */
async function run<T>(command: string, ...args: readonly unknown[]): Promise<readonly T[]> {
  const found: unknown = await vscode.commands.executeCommand(command, ...args)
  if (found === undefined || found === null) return []
  if (!Array.isArray(found)) throw new LanguageError('LSP_MALFORMED_RESPONSE', 'A language service of the editor answered with something that is no list. Try again, or search for the text.')
  // The editor's own documentation of its commands gives the type.
  return found as readonly T[]
}

const locationOf = (found: Located): LanguageLocation =>
  'targetUri' in found ? { uri: found.targetUri.toString(), range: rangeOf(found.targetSelectionRange ?? found.targetRange) } : { uri: found.uri.toString(), range: rangeOf(found.range) }

const rangeOf = ({ start, end }: vscode.Range): LanguageRange => ({ start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } })

const flat = (symbol: vscode.DocumentSymbol, uri: vscode.Uri, container?: string): readonly LanguageSymbol[] => [
  { name: symbol.name, kind: kindOf(symbol.kind), uri: uri.toString(), range: rangeOf(symbol.range), ...(container !== undefined && { container }) },
  ...symbol.children.flatMap((child) => flat(child, uri, symbol.name)),
]

const informationOf = ({ name, kind, location, containerName }: vscode.SymbolInformation): LanguageSymbol => ({
  name,
  kind: kindOf(kind),
  uri: location.uri.toString(),
  range: rangeOf(location.range),
  ...(containerName !== '' && { container: containerName }),
})

const itemOf = ({ name, kind, uri, selectionRange, detail }: vscode.CallHierarchyItem | vscode.TypeHierarchyItem): LanguageSymbol => ({
  name,
  kind: kindOf(kind),
  uri: uri.toString(),
  range: rangeOf(selectionRange),
  ...(detail !== undefined && detail !== '' && { container: detail }),
})

const kindOf = (kind: vscode.SymbolKind): string => (vscode.SymbolKind[kind] ?? 'symbol').toLowerCase()

const severities = { 0: 'error', 1: 'warning', 2: 'information', 3: 'hint' } as const satisfies Record<vscode.DiagnosticSeverity, string>

/** As Markdown. */
function markdownOf(content: vscode.MarkedString | vscode.MarkdownString): string {
  if (typeof content === 'string') return withoutCommandLinks(content)
  if ('language' in content) return `\`\`\`${content.language}\n${content.value}\n\`\`\``
  return withoutCommandLinks(content.value)
}

