import * as vscode from 'vscode'
import type { Workspace, WorkspaceSnapshot } from '../../capabilities/workspace.ts'

const MAX_OPEN_EDITORS = 20
const MAX_UNSAVED = 50

/** The folders of this window, whether the person trusts them, and what the editor knows about them right now. */
export function createVscodeWorkspace(): Workspace {
  return {
    folders: () => (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({ name, path: pathOf(uri) })),
    isTrusted: () => vscode.workspace.isTrusted,
    onDidChangeTrust(listener) {
      const subscription = vscode.workspace.onDidGrantWorkspaceTrust(listener)
      return () => subscription.dispose()
    },
    onDidChangeFolders(listener) {
      const subscription = vscode.workspace.onDidChangeWorkspaceFolders(listener)
      return () => subscription.dispose()
    },
    onDidChangeFiles(names, listener) {
      const watchers = globsOf(names).map((glob) => vscode.workspace.createFileSystemWatcher(glob))
      const notify = (uri: vscode.Uri) => listener(pathOf(uri))
      const subscriptions = watchers.flatMap((watcher) => [watcher, watcher.onDidCreate(notify), watcher.onDidChange(notify), watcher.onDidDelete(notify)])
      return () => vscode.Disposable.from(...subscriptions).dispose()
    },
    snapshot: async () => {
      const branch = gitBranch()
      return { ...activeEditor(), openEditors: openEditors(), unsavedFiles: unsavedFiles(), ...problems(), ...(branch === undefined ? {} : { gitBranch: branch }) }
    },
  }
}

/** One watcher for all plain names; it shares the editor's own watch of the workspace. A name with a character that globs know is its own. */
function globsOf(names: readonly string[]): readonly string[] {
  const plain = names.filter((name) => !/[{},*?[\]]/.test(name))
  const others = names.filter((name) => !plain.includes(name)).map((name) => `**/${name.replace(/[{},*?[\]]/g, '?')}`)
  return plain.length === 0 ? others : [plain.length === 1 ? `**/${plain[0]}` : `**/{${plain.join(',')}}`, ...others]
}

const pathOf = (uri: vscode.Uri) => (uri.scheme === 'file' ? uri.fsPath : uri.toString())

function activeEditor(): Pick<WorkspaceSnapshot, 'activeEditor'> {
  const document = vscode.window.activeTextEditor?.document
  if (document === undefined || document.isUntitled || !isOfPerson(document.uri)) return {}
  return { activeEditor: { path: pathOf(document.uri), languageId: document.languageId } }
}

function openEditors(): readonly string[] {
  const paths = vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .flatMap(({ input }) =>
      input instanceof vscode.TabInputText || input instanceof vscode.TabInputNotebook || input instanceof vscode.TabInputCustom ? [input.uri] : [],
    )
    .filter(isOfPerson)
    .map(pathOf)
  return [...new Set(paths)].slice(0, MAX_OPEN_EDITORS)
}

const unsavedFiles = () =>
  vscode.workspace.textDocuments
    .filter(({ isDirty, isUntitled, uri }) => isDirty && !isUntitled && isOfPerson(uri))
    .map(({ uri }) => pathOf(uri))
    .slice(0, MAX_UNSAVED)

/** Files, not the editor's own pages or what Bosun shows. */
const isOfPerson = ({ scheme }: vscode.Uri) => scheme === 'file' || vscode.workspace.workspaceFolders?.some(({ uri }) => uri.scheme === scheme) === true

function problems(): Pick<WorkspaceSnapshot, 'problems'> {
  let errors = 0
  let warnings = 0
  for (const [, diagnostics] of vscode.languages.getDiagnostics()) {
    for (const { severity } of diagnostics) {
      if (severity === vscode.DiagnosticSeverity.Error) errors += 1
      if (severity === vscode.DiagnosticSeverity.Warning) warnings += 1
    }
  }
  return { problems: { errors, warnings } }
}

/** The part of the Git extension's interface that is read here. Source: `extensions/git/src/api/git.d.ts` of VS Code, version 1. */
interface GitExtension {
  getAPI(version: 1): { readonly repositories: readonly { readonly rootUri: vscode.Uri; readonly state: { readonly HEAD?: { readonly name?: string } } }[] }
}

/** Only when the Git extension runs already: asking must not start it. */
function gitBranch(): string | undefined {
  const extension = vscode.extensions.getExtension<GitExtension>('vscode.git')
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath
  if (extension?.isActive !== true || root === undefined) return undefined
  try {
    const { repositories } = extension.exports.getAPI(1)
    return repositories.find(({ rootUri }) => root === rootUri.fsPath || root.startsWith(`${rootUri.fsPath}/`))?.state.HEAD?.name
  } catch {
    // The Git extension is switched off by its setting and throws then; the branch is only a courtesy.
    return undefined
  }
}
