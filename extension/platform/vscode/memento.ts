import type * as vscode from 'vscode'
import type { Json } from '../../base/json.ts'
import type { Memento } from '../../capabilities/memento.ts'

/** The editor's storage for this workspace. */
export function createVscodeMemento(storage: vscode.Memento): Memento {
  return {
    get: (key) => storage.get<Json>(key),
    set: async (key, value) => await storage.update(key, value),
  }
}
