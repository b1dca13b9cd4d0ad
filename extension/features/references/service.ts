import { HarnessError } from '../../base/harness-error.ts'
import type { SelectionFacts } from '../../capabilities/editor-facts.ts'
import type { TextBlock, UserMessage } from '../../core/log/message.ts'
import type { PluginState } from '../dynamic-plugins/service.ts'

/** Where something is being named. */
export interface ReferencePlace {
  /** The folder that a session works in. */
  readonly cwd: string
  /** Absent before there is a session; it is not offered to itself. */
  readonly sessionId?: string
  readonly signal: AbortSignal
}

/** Something that may be meant. */
export type ReferenceCandidate =
  | { readonly kind: 'file' | 'folder'; readonly path: string; readonly insert: string; readonly isOpen: boolean }
  | { readonly kind: 'selection' | 'problems' | 'terminal' | 'changes'; readonly insert: string }
  | { readonly kind: 'symbol'; readonly name: string; readonly symbolKind: string; readonly path: string; readonly insert: string }
  /** A beginning that offers more once it is taken. */
  | { readonly kind: 'symbols' | 'sessions' | 'resources'; readonly insert: string }
  /** One that a model wrote for the session. */
  | { readonly kind: 'plugin'; readonly name: string; readonly state: PluginState; readonly insert: string }
  /** Of an MCP server. `uri`: as the server names it. */
  | { readonly kind: 'resource'; readonly server: string; readonly name: string; readonly uri: string; readonly insert: string }
  | { readonly kind: 'session'; readonly title: string; readonly updatedAt: number; readonly insert: string }

/**
 * What a person points at with an `@`.
 *
 * Files and folders stay words: the model reads what it needs. Everything else is looked up when the message is sent and
 * goes with it, so that a replay never looks again. Source: runtime specification 15.2.
 */
export interface References {
  /**
   * What may be meant by what was typed after the `@`, best first; `found` is told what is known before the end.
   *
   * Errors: `SearchError` when the folder cannot be listed; the signal's reason.
   */
  candidates(query: string, place: ReferencePlace, found: (some: readonly ReferenceCandidate[]) => void): Promise<readonly ReferenceCandidate[]>
  /**
   * The content of a message with these words: they, and a block for each thing they name.
   * The blocks become messages of their own when the message is taken up.
   *
   * Errors: `UnresolvedReference`; the words say what to do. Nothing was sent then.
   */
  content(text: string, place: ReferencePlace): Promise<UserMessage['content']>
  /** A block for what is selected now. Errors: as `content`. */
  selection(place: Pick<ReferencePlace, 'cwd'>): Promise<{ readonly block: TextBlock; readonly facts: SelectionFacts }>
  /** How a file or folder is written behind the `@`, the sign included. */
  spelling(path: string, cwd: string): string
}

export type UnresolvedReferenceCode = 'NO_EDITOR' | 'NOTHING_THERE' | 'NOT_FOUND' | 'AMBIGUOUS' | 'TOO_MANY' | 'NOT_ALLOWED' | 'UNAVAILABLE'

/** Something that a message names cannot be looked up. */
export class UnresolvedReference extends HarnessError<UnresolvedReferenceCode> {}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    references: References
  }
}

declare module '../../core/log/message.ts' {
  interface UserSources {
    'session-reference': { readonly sessionId: string; readonly title: string }
  }
}
