import * as vscode from 'vscode'
import { fullAddress } from '../../base/address.ts'
import { isUri } from '../../base/is-uri.ts'

/** The path of a file on this machine's disk, for any other file its address. */
export const pathOf = (uri: vscode.Uri): string => (uri.scheme === 'file' ? uri.fsPath : fullAddress(uri.toString()))

/** The other way round. */
export const uriOf = (path: string): vscode.Uri => (isUri(path) ? vscode.Uri.parse(path, true) : vscode.Uri.file(path))
