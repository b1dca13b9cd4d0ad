import * as vscode from 'vscode'
import type { LanguageProblem } from '../../capabilities/languages.ts'
import type { ProblemFeed } from '../../capabilities/problem-feed.ts'
import { pathOf, uriOf } from './address.ts'

/** The diagnostics of the editor's language services. */
export const vscodeProblemFeed: ProblemFeed = {
  problemsOf: (path) => vscode.languages.getDiagnostics(uriOf(path)).flatMap(problemFrom),

  all: () =>
    new Map(
      vscode.languages.getDiagnostics().flatMap(([uri, diagnostics]) => {
        const problems = diagnostics.flatMap(problemFrom)
        return problems.length === 0 ? [] : [[pathOf(uri), problems] as const]
      }),
    ),

  // Services such as TypeScript's look at files that stand in a tab alone; to open one without would only make each change wait.
  open(path) {
    const open = documentOf(uriOf(path))
    return Promise.resolve(open === undefined ? null : { language: open.languageId, version: open.version, wasOpen: true })
  },

  onDidPublish(listener) {
    const subscription = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      for (const uri of uris) {
        const document = documentOf(uri)
        listener({ path: pathOf(uri), ...(document && { open: { language: document.languageId, version: document.version } }) })
      }
    })
    return () => void subscription.dispose()
  },
}

const documentOf = (uri: vscode.Uri): vscode.TextDocument | undefined => {
  const key = uri.toString()
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === key && !document.isClosed)
}

function problemFrom({ range: { start, end }, severity, message, source, code }: vscode.Diagnostic): readonly LanguageProblem[] {
  if (severity !== vscode.DiagnosticSeverity.Error && severity !== vscode.DiagnosticSeverity.Warning) return []
  const from = [source, typeof code === 'object' ? code.value : code].filter((part) => part !== undefined && part !== '').join(' ')
  return [
    {
      range: { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } },
      severity: severity === vscode.DiagnosticSeverity.Error ? 'error' : 'warning',
      message,
      ...(from !== '' && { source: from }),
    },
  ]
}

