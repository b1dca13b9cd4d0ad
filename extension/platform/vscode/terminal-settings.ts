import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, isAbsolute, join, sep } from 'node:path'
import * as vscode from 'vscode'
import { replaceVariables } from '../../base/editor-variables.ts'
import type { TerminalProfile, TerminalSettings } from '../../capabilities/terminal-settings.ts'

/**
 * `terminal.integrated.env.<os>` and `terminal.integrated.profiles.<os>` as the person set them: what a workspace sets would choose
 * programs for an agent that works in it.
 */
export function createVscodeTerminalSettings(): TerminalSettings {
  const system = process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'osx' : 'linux'
  const inspect = (key: string) => vscode.workspace.getConfiguration('terminal.integrated').inspect<unknown>(`${key}.${system}`)
  const replaced = (text: string) =>
    replaceVariables(text, { environment: process.env, homeFolder: homedir(), workspaceFolder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? null, pathSeparator: sep })
  const environmentOf = (value: unknown): Readonly<Record<string, string | null>> => {
    const changes: Record<string, string | null> = {}
    for (const [name, one] of entriesOf(value)) {
      const text = typeof one === 'string' ? replaced(one) : null
      if (one === null || text !== null) changes[name] = text
    }
    return changes
  }
  return {
    environment: () => environmentOf(inspect('env')?.globalValue),
    profiles() {
      const { defaultValue, globalValue } = inspect('profiles') ?? {}
      return entriesOf({ ...Object.fromEntries(entriesOf(defaultValue)), ...Object.fromEntries(entriesOf(globalValue)) }).flatMap(([name, profile]): readonly TerminalProfile[] => {
        const { path, args, env } = Object.fromEntries(entriesOf(profile))
        const command = textsOf(path).map(replaced).flatMap((one) => (one === null ? [] : (foundAt(one) ?? []))).at(0)
        return command === undefined ? [] : [{ name, command, args: textsOf(args).flatMap((one) => replaced(one) ?? []), environment: environmentOf(env) }]
      })
    },
  }
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] => (typeof value === 'object' && value !== null ? Object.entries(value) : [])

const textsOf = (value: unknown): readonly string[] => (typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [])

function foundAt(program: string): string | null {
  const places = isAbsolute(program) ? [program] : (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '').map((folder) => join(folder, program))
  return places.find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
