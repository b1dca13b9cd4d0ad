import * as vscode from 'vscode'

/** The icon of our tabs, in the colours that the editor gives its own: a drawing without a colour would be black in every theme. */
export const tabIcon = (extensionUri: vscode.Uri): { readonly light: vscode.Uri; readonly dark: vscode.Uri } => ({
  light: vscode.Uri.joinPath(extensionUri, 'media', 'tab-light.svg'),
  dark: vscode.Uri.joinPath(extensionUri, 'media', 'tab-dark.svg'),
})
