import * as vscode from 'vscode'

/** What a command of the editor copies, for what it gives in no other way. What the clipboard held is put back. */
export async function throughClipboard(command: string): Promise<string> {
  const held = await vscode.env.clipboard.readText()
  try {
    await vscode.env.clipboard.writeText('')
    await vscode.commands.executeCommand(command)
    return await vscode.env.clipboard.readText()
  } finally {
    await vscode.env.clipboard.writeText(held)
  }
}
