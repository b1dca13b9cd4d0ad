import type { Agent } from '../session/agent.ts'

/** Makes room in a talk. Source: runtime specification 13. */
export interface Compaction {
  /**
   * Summarise the older part of an idle agent's talk, as a person asks for it, and wait until that is on the disk. Prompts sent
   * meanwhile wait; a cancel of the agent ends it.
   *
   * Errors: `CompactionError`; the talk is as it was then, but for `persistence`.
   */
  compact(agent: Agent, options?: { readonly signal?: AbortSignal; readonly sourceCommandId?: string }): Promise<CompactionOutcome>
}

export type CompactionOutcome =
  /** There was nothing that a summary would make smaller. */
  | { readonly kind: 'nothing' }
  /** Old tool output was shortened; there was nothing to summarise. */
  | { readonly kind: 'pruned'; readonly results: number }
  | { readonly kind: 'summarised'; readonly summarySeq: number; readonly tokensBefore: number; readonly tokensAfter: number }

declare module '../kernel/plugin.ts' {
  interface Services {
    compaction: Compaction
  }
}
