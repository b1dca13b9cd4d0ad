import type { Undo } from '../base/undo.ts'

/** Raw settings as the person wrote them; the settings service validates and keeps the last good value. */
export interface SettingsSource {
  /** `key` without the product prefix, such as `agent.maxStepsPerTurn`. Undefined when nobody set it. */
  get(key: string): unknown
  /** Value and where it was set, to tell a workspace's wish from the person's. */
  inspect(key: string): { readonly user?: unknown; readonly workspace?: unknown }
  set(key: string, value: unknown, where: 'user' | 'workspace'): Promise<void>
  onDidChange(listener: (changed: (key: string) => boolean) => void): Undo
}
