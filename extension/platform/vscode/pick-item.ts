import * as vscode from 'vscode'
import type { PickItem } from '../../capabilities/editor.ts'

/** A line of a native list. */
export function pickItem({ id, label, description, detail, isSeparator }: PickItem): vscode.QuickPickItem & { readonly id: string } {
  return {
    id,
    label,
    ...(description === undefined ? {} : { description }),
    ...(detail === undefined ? {} : { detail }),
    kind: isSeparator === true ? vscode.QuickPickItemKind.Separator : vscode.QuickPickItemKind.Default,
  }
}
