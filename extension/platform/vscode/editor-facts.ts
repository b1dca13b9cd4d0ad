import * as vscode from 'vscode'
import type { EditorFacts, ProblemFacts, SelectionFacts, SymbolFacts } from '../../capabilities/editor-facts.ts'
import type { Undo } from '../../base/undo.ts'
import { pathOf } from './address.ts'
import { throughClipboard } from './through-clipboard.ts'

const MAX_RECENT = 50
const MAX_PROBLEMS = 1_000
const MAX_SYMBOLS = 200
/** Symbols of the name asked for whose whole range is looked up. */
const MAX_RANGED = 3

/** What the editor knows and a person may point at. Reading takes no focus. */
export class VscodeEditorFacts implements EditorFacts {
  /** Paths in the order in which they were seen last. */
  #recent: readonly string[] = []
  readonly #subscription: vscode.Disposable

  constructor() {
    this.#note(vscode.window.activeTextEditor)
    this.#subscription = vscode.window.onDidChangeActiveTextEditor((editor) => this.#note(editor))
  }

  dispose(): void {
    this.#subscription.dispose()
  }

  // The editor answers at once; elsewhere it may take a while.
  // oxlint-disable-next-line require-await
  async selection(): Promise<SelectionFacts | null> {
    const editor = [vscode.window.activeTextEditor, ...vscode.window.visibleTextEditors].find((each) => each !== undefined && !each.selection.isEmpty)
    if (editor === undefined) return null
    const { document, selection } = editor
    // A selection that ends before the first character of a line does not mean that line.
    const endsBefore = selection.end.character === 0 && selection.end.line > selection.start.line
    return {
      path: pathOf(document.uri),
      languageId: document.languageId,
      startLine: selection.start.line + 1,
      endLine: selection.end.line + (endsBefore ? 0 : 1),
      text: document.getText(selection),
    }
  }

  // As above.
  // oxlint-disable-next-line require-await
  async problems(): Promise<readonly ProblemFacts[]> {
    const all = vscode.languages.getDiagnostics().flatMap(([uri, diagnostics]) => diagnostics.map((diagnostic) => ({ uri, diagnostic })))
    return all
      .sort((a, b) => a.diagnostic.severity - b.diagnostic.severity || compare(a.uri.path, b.uri.path) || a.diagnostic.range.start.line - b.diagnostic.range.start.line)
      .slice(0, MAX_PROBLEMS)
      .map(({ uri, diagnostic: { range, severity, message, source, code } }) => {
        const from = [source, typeof code === 'object' ? code.value : code].filter((part) => part !== undefined && part !== '').join(' ')
        return { path: pathOf(uri), line: range.start.line + 1, severity: severities[severity], message, ...(from === '' ? {} : { source: from }) }
      })
  }

  async symbols(query: string, signal: AbortSignal): Promise<readonly SymbolFacts[]> {
    const found = await vscode.commands.executeCommand<readonly vscode.SymbolInformation[] | undefined>('vscode.executeWorkspaceSymbolProvider', query)
    signal.throwIfAborted()
    const symbols = (found ?? []).slice(0, MAX_SYMBOLS)
    let ranged = 0
    const facts: SymbolFacts[] = []
    for (const symbol of symbols) {
      const isMeant = symbol.name.replace(/\(.*$/, '') === query && ranged < MAX_RANGED
      if (isMeant) ranged += 1
      const range = isMeant ? await wholeRange(symbol) : symbol.location.range
      signal.throwIfAborted()
      // TypeScript marks functions so.
      facts.push({ name: symbol.name.replace(/\(\)$/, ''), kind: kinds[symbol.kind] ?? 'misc', path: pathOf(symbol.location.uri), startLine: range.start.line + 1, endLine: range.end.line + 1 })
    }
    return facts
  }

  /** The editor gives no other way to what is selected there. */
  async terminalSelection(): Promise<string> {
    if (vscode.window.activeTerminal === undefined) return ''
    return throughClipboard('workbench.action.terminal.copySelection')
  }

  openFiles(): readonly string[] {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs)
    const open = tabs.flatMap(({ input }) => (input instanceof vscode.TabInputText || input instanceof vscode.TabInputNotebook || input instanceof vscode.TabInputCustom ? [input.uri] : []))
    return [...new Set([...this.#recent, ...open.filter(isOfPerson).map(pathOf)])]
  }

  excludes(folder: string): readonly string[] {
    const scope = vscode.workspace.workspaceFolders?.find(({ uri }) => pathOf(uri) === folder)?.uri
    const lists = [vscode.workspace.getConfiguration('files', scope), vscode.workspace.getConfiguration('search', scope)].map((section) => section.get<Readonly<Record<string, unknown>>>('exclude') ?? {})
    return lists.flatMap((list) => Object.entries(list).flatMap(([glob, isOn]) => (isOn === true ? [glob] : [])))
  }

  onDidChangeFiles(listener: (path: string) => void): Undo {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*', false, true, false)
    const tell = (uri: vscode.Uri) => listener(pathOf(uri))
    const all = vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(tell),
      watcher.onDidDelete(tell),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (!change.affectsConfiguration('files.exclude') && !change.affectsConfiguration('search.exclude')) return
        for (const { uri } of vscode.workspace.workspaceFolders ?? []) tell(uri)
      }),
    )
    return () => void all.dispose()
  }

  #note(editor: vscode.TextEditor | undefined): void {
    if (editor === undefined || editor.document.isUntitled || !isOfPerson(editor.document.uri)) return
    const path = pathOf(editor.document.uri)
    this.#recent = [path, ...this.#recent.filter((other) => other !== path)].slice(0, MAX_RECENT)
  }
}

const isOfPerson = ({ scheme }: vscode.Uri) => scheme === 'file' || vscode.workspace.workspaceFolders?.some(({ uri }) => uri.scheme === scheme) === true
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Language services often name the place of the name only; the outline of the file has the whole. */
async function wholeRange({ name, location }: vscode.SymbolInformation): Promise<vscode.Range> {
  const outline = await vscode.commands.executeCommand<readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined>('vscode.executeDocumentSymbolProvider', location.uri)
  const plain = name.replace(/\(.*$/, '')
  const within = (symbols: readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[]): vscode.Range | undefined => {
    for (const symbol of symbols) {
      const range = 'location' in symbol ? symbol.location.range : symbol.range
      if (!range.contains(location.range.start)) continue
      const inner = 'children' in symbol ? within(symbol.children) : undefined
      if (inner !== undefined) return inner
      if (symbol.name.replace(/\(.*$/, '') === plain) return range
    }
    return undefined
  }
  return within(outline ?? []) ?? location.range
}

const severities: Readonly<Record<vscode.DiagnosticSeverity, ProblemFacts['severity']>> = {
  [vscode.DiagnosticSeverity.Error]: 'error',
  [vscode.DiagnosticSeverity.Warning]: 'warning',
  [vscode.DiagnosticSeverity.Information]: 'information',
  [vscode.DiagnosticSeverity.Hint]: 'hint',
}

/** The last part of the codicon of each kind. */
const kinds: Partial<Readonly<Record<vscode.SymbolKind, string>>> = {
  [vscode.SymbolKind.Class]: 'class',
  [vscode.SymbolKind.Constant]: 'constant',
  [vscode.SymbolKind.Constructor]: 'constructor',
  [vscode.SymbolKind.Enum]: 'enum',
  [vscode.SymbolKind.EnumMember]: 'enum-member',
  [vscode.SymbolKind.Event]: 'event',
  [vscode.SymbolKind.Field]: 'field',
  [vscode.SymbolKind.File]: 'file',
  [vscode.SymbolKind.Function]: 'function',
  [vscode.SymbolKind.Interface]: 'interface',
  [vscode.SymbolKind.Method]: 'method',
  [vscode.SymbolKind.Module]: 'module',
  [vscode.SymbolKind.Namespace]: 'namespace',
  [vscode.SymbolKind.Object]: 'object',
  [vscode.SymbolKind.Property]: 'property',
  [vscode.SymbolKind.Struct]: 'struct',
  [vscode.SymbolKind.TypeParameter]: 'type-parameter',
  [vscode.SymbolKind.Variable]: 'variable',
}
