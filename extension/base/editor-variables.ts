/** What `${…}` in a setting of the editor may stand for. */
export interface EditorVariables {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly homeFolder: string
  /** Null in a window without one. */
  readonly workspaceFolder: string | null
  readonly pathSeparator: string
}

/**
 * Put values in the place of variables; null when one is not known here, so that nothing half replaced is used.
 *
 * Source: Visual Studio Code, variables reference.
 */
export function replaceVariables(text: string, { environment, homeFolder, workspaceFolder, pathSeparator }: EditorVariables): string | null {
  let isKnown = true
  // `cwd` is the folder too, where there is one.
  const workspaceFolderBasename = workspaceFolder?.split(pathSeparator).findLast((part) => part !== '') ?? null
  const known: Readonly<Record<string, string | null>> = { userHome: homeFolder, workspaceFolder, workspaceFolderBasename, cwd: workspaceFolder, pathSeparator, '/': pathSeparator }
  const replaced = text.replaceAll(/\$\{([^}]*)\}/g, (_whole, name: string) => {
    // A variable that is not set is empty, as in the editor.
    const value = name.startsWith('env:') ? (environment[name.slice('env:'.length)] ?? '') : (known[name] ?? null)
    isKnown &&= value !== null
    return value ?? ''
  })
  return isKnown ? replaced : null
}
