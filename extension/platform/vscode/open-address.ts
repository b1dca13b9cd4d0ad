import * as vscode from 'vscode'

/**
 * Open an address outside of the editor, which asks by itself before it opens a host that the person has not trusted. False when it did not.
 *
 * Errors: `Error` for what is no address. Source: VS Code "Outgoing link protection".
 */
export async function openAddress(url: string): Promise<boolean> {
  vscode.Uri.parse(url, true)
  // The editor takes the text of an address too, and opens it as it stands; of a `Uri` it decodes the query, so that an escaped & in a
  // value would part it in two. Source: VS Code, `extHostWindow.ts`, `openUri`; issue 85930.
  return await vscode.env.openExternal(url as unknown as vscode.Uri)
}
