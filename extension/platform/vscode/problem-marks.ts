import { resolve } from 'node:path'
import * as vscode from 'vscode'
import type { MarkedProblem, ProblemMarks } from '../../capabilities/problem-marks.ts'

/** A collection of diagnostics for each owner, so that one never takes the problems of another away. */
export class VscodeProblemMarks implements ProblemMarks {
  readonly #collections = new Map<string, vscode.DiagnosticCollection>()

  set(owner: string, problems: readonly MarkedProblem[]): void {
    const collection = this.#collections.get(owner) ?? vscode.languages.createDiagnosticCollection(`bosun ${owner}`)
    this.#collections.set(owner, collection)
    const byPath = Map.groupBy(problems, ({ path, folder }) => resolve(folder, path))
    collection.clear()
    collection.set([...byPath].map(([path, of]) => [vscode.Uri.file(path), of.map(diagnosticOf)]))
  }

  remove(owner: string): void {
    this.#collections.get(owner)?.dispose()
    this.#collections.delete(owner)
  }

  dispose(): void {
    for (const owner of [...this.#collections.keys()]) this.remove(owner)
  }
}

function diagnosticOf({ range: { start, end }, severity, message, source, code }: MarkedProblem): vscode.Diagnostic {
  const diagnostic = new vscode.Diagnostic(new vscode.Range(start.line, start.character, end.line, end.character), message, severities[severity])
  if (source !== undefined) diagnostic.source = source
  if (code !== undefined) diagnostic.code = code
  return diagnostic
}

const severities = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
  hint: vscode.DiagnosticSeverity.Hint,
} satisfies Record<MarkedProblem['severity'], vscode.DiagnosticSeverity>
