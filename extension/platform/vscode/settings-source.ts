import * as vscode from 'vscode'
import type { SettingsSource } from '../../capabilities/settings-source.ts'

const SECTION = 'bosun'

/** The person's settings in the editor, raw. What only the manifest's defaults say counts as not set. */
export function createVscodeSettingsSource(): SettingsSource {
  const inspect = (key: string) => {
    const found = vscode.workspace.getConfiguration(SECTION).inspect<unknown>(key)
    return {
      user: plain(found?.globalValue),
      workspace: plain(found?.workspaceFolderValue ?? found?.workspaceValue),
    }
  }
  return {
    get(key) {
      const { user, workspace } = inspect(key)
      return workspace ?? user
    },
    inspect(key) {
      const { user, workspace } = inspect(key)
      return { ...(user === undefined ? {} : { user }), ...(workspace === undefined ? {} : { workspace }) }
    },
    async set(key, value, where) {
      const target = where === 'user' ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace
      await vscode.workspace.getConfiguration(SECTION).update(key, value, target)
    },
    onDidChange(listener) {
      const subscription = vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(SECTION)) listener((key) => event.affectsConfiguration(`${SECTION}.${key}`))
      })
      return () => subscription.dispose()
    },
  }
}

/** The editor hands out live views of its settings; a value is taken as it stands now. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown))
