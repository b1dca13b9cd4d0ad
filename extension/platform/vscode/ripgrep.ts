import { access } from 'node:fs/promises'
import { join } from 'node:path'
import * as vscode from 'vscode'

/** The ripgrep that the editor ships, or null where it ships none. Where it lies differs between desktop and server. */
export async function findEditorRipgrep(): Promise<string | null> {
  const program = process.platform === 'win32' ? 'rg.exe' : 'rg'
  const candidates = ['node_modules.asar.unpacked', 'node_modules'].map((folder) => join(vscode.env.appRoot, folder, '@vscode', 'ripgrep', 'bin', program))
  for (const path of candidates) {
    try {
      await access(path)
      return path
    } catch {
      // Not there; the next place is looked at.
    }
  }
  return null
}
