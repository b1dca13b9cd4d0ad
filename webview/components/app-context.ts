import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ReadonlySignal, Signal } from '@preact/signals'
import type { ChatActions } from '../actions/chat-actions.ts'
import type { Announcements } from '../store/announcements.ts'
import type { ChatStore } from '../store/chat-store.ts'
import type { Attaching } from '../store/attaching.ts'
import type { SessionFinder } from '../store/session-finder.ts'
import type { CompletionMenu } from '../store/completion-menu.ts'
import type { ComposerModel } from '../store/composer-model.ts'
import type { UiState } from '../store/ui-state.ts'
import type { Highlighter } from '../text/highlight.ts'

/** What every component may reach: state to read, actions to call. */
export interface App {
  readonly store: ChatStore
  readonly ui: UiState
  readonly actions: ChatActions
  readonly composer: ComposerModel
  readonly completion: CompletionMenu
  readonly attaching: Attaching
  readonly sessionFinder: SessionFinder
  readonly announcements: Announcements
  readonly highlighter: Highlighter
  readonly safeHtml: (html: string) => DocumentFragment
  /** Width of the view; diffs stand side by side from 480 pixels on. */
  readonly width: Signal<number>
  readonly isSessionListOpen: Signal<boolean>
  /** The form of the goal, while it is open. */
  readonly goalForm: Signal<'create' | 'edit' | null>
  /** Epoch milliseconds, ticking once a second while something on screen counts. */
  readonly now: ReadonlySignal<number>
}

export const AppContext = createContext<App | null>(null)

/** Errors: `Error` outside the application: a component was drawn alone, without its context. */
export function useApp(): App {
  const app = useContext(AppContext)
  if (app === null) throw new Error('A component of the chat was drawn outside of it.')
  return app
}
