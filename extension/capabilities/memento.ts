import type { Json } from '../base/json.ts'

/** Small facts about the person's view that outlive the window: the open session, drafts. Never session data. Kept per workspace. */
export interface Memento {
  get(key: string): Json | undefined
  /** Undefined forgets the key. Resolves when it is kept. */
  set(key: string, value: Json | undefined): Promise<void>
}
