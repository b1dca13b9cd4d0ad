import type { Undo } from '../base/undo.ts'
import type { Plugin, PolicyListener, PromptSection, ResultObserver, Tool } from '../../bosun.d.ts'

/** What another extension of the editor adds, checked as far as it can be told from itself. `extensionId`: `publisher.name`. */
export type Contribution = { readonly extensionId: string } & (
  | { readonly kind: 'tool'; readonly tool: Tool }
  | { readonly kind: 'section'; readonly section: PromptSection }
  | { readonly kind: 'policy'; readonly listener: PolicyListener }
  | { readonly kind: 'results'; readonly observer: ResultObserver }
  | { readonly kind: 'plugin'; readonly plugin: Plugin }
)

/** A contribution that was taken over. */
export interface TakenContribution {
  /** Rejects with the reason why it could not become active. */
  readonly ready: Promise<void>
  /** Take it back and wait until the work behind it has stopped. */
  dispose(): Promise<void>
}

/** Takes a contribution over. Errors: throws what can be told at once, such as a name that is taken. */
export type TakeContribution = (contribution: Contribution) => TakenContribution

/** The other extensions of the editor, as far as they add something. */
export interface Contributions {
  /**
   * Hand over what is there and whatever comes, until the undo. Of what cannot be taken over its extension is told.
   *
   * Whoever takes takes back: the undo only ends the handing over.
   */
  attach(take: TakeContribution): Undo
}
