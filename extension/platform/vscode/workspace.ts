import * as vscode from 'vscode'
import type { Workspace, WorkspaceSnapshot } from '../../capabilities/workspace.ts'
import { pathOf } from './address.ts'

const MAX_OPEN_EDITORS = 20
const MAX_UNSAVED = 50

/** The folders of this window, whether the person trusts them, and what the editor knows about them right now. */
export function createVscodeWorkspace({ readBranch }: { readonly readBranch: (folder: string) => Promise<string | null> }): Workspace & vscode.Disposable {
  const problems = createProblemCounts()
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
    async snapshot() {
      const gitBranches = await branches(readBranch)
      return { ...activeEditor(), openEditors: openEditors(), unsavedFiles: unsavedFiles(), problems: problems.counts(), ...(gitBranches.length > 0 && { gitBranches }) }
    },
    dispose: () => problems.dispose(),
  }
}

/** One watcher for all plain names; it shares the editor's own watch of the workspace. A name with a character that globs know is its own. */
function globsOf(names: readonly string[]): readonly string[] {
  const plain = names.filter((name) => !/[{},*?[\]]/.test(name))
  const others = names.filter((name) => !plain.includes(name)).map((name) => `**/${name.replace(/[{},*?[\]]/g, '?')}`)
  return plain.length === 0 ? others : [plain.length === 1 ? `**/${plain[0]}` : `**/{${plain.join(',')}}`, ...others]
}


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

/** Counted anew only after a change: an editor may show tens of thousands. */
function createProblemCounts(): { readonly counts: () => NonNullable<WorkspaceSnapshot['problems']>; readonly dispose: () => void } {
  let known: NonNullable<WorkspaceSnapshot['problems']> | null = null
  const subscription = vscode.languages.onDidChangeDiagnostics(() => (known = null))
  return { counts: () => (known ??= countProblems()), dispose: () => subscription.dispose() }
}

function countProblems(): NonNullable<WorkspaceSnapshot['problems']> {
  let errors = 0
  let warnings = 0
  for (const [, diagnostics] of vscode.languages.getDiagnostics()) {
    for (const { severity } of diagnostics) {
      if (severity === vscode.DiagnosticSeverity.Error) errors += 1
      if (severity === vscode.DiagnosticSeverity.Warning) warnings += 1
    }
  }
  return { errors, warnings }
}

/** The part of the Git extension's interface that is read here. Source: `extensions/git/src/api/git.d.ts` of VS Code, version 1. */
interface GitExtension {
  getAPI(version: 1): { readonly repositories: readonly { readonly rootUri: vscode.Uri; readonly state: { readonly HEAD?: { readonly name?: string } } }[] }
}

/** From the Git extension where it runs already (asking must not start it), else from the repository's own files. */
async function branches(readBranch: (folder: string) => Promise<string | null>): Promise<NonNullable<WorkspaceSnapshot['gitBranches']>> {
  const repositories = gitRepositories()
  const local = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath)
  const found = await Promise.all(
    local.map(async (folder) => {
      const known = repositories.find(({ rootUri: { fsPath } }) => folder === fsPath || folder.startsWith(`${fsPath}/`))?.state.HEAD?.name
      const branch = known ?? (await readBranch(folder))
      return branch === null ? [] : [{ folder, branch }]
    }),
  )
  return found.flat()
}

function gitRepositories(): ReturnType<GitExtension['getAPI']>['repositories'] {
  const extension = vscode.extensions.getExtension<GitExtension>('vscode.git')
  if (extension?.isActive !== true) return []
  try {
    return extension.exports.getAPI(1).repositories
  } catch {
    // The Git extension is switched off by its setting and throws then; the files say it too.
    return []
  }
}
