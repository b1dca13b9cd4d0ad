import type { Undo } from '../base/undo.ts'

/** Named secrets. The environment wins over the store and shows as read-only. Values never enter the log. */
export interface Secrets {
  get(name: string): Promise<{ readonly value: string; readonly source: 'environment' | 'store' } | null>
  /** Errors: `Error` when the name is given by the environment. */
  set(name: string, value: string): Promise<void>
  delete(name: string): Promise<void>
  onDidChange(listener: (name: string) => void): Undo
}
