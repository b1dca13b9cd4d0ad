import * as vscode from 'vscode'
import type { Localization } from '../../capabilities/localization.ts'

/** Translations from the extension's `l10n` folder; English where there is none. */
export const vscodeLocalization: Localization = {
  t: (text, values) => (values === undefined ? vscode.l10n.t(text) : vscode.l10n.t(text, { ...values })),
}
