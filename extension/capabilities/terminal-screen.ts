import type { Undo } from '../base/undo.ts'
import type { TerminalSize } from './terminal.ts'

/**
 * What a terminal shows, kept without drawing it: full-screen programs, progress bars and pagers read as a person sees them.
 *
 * Lines are whole: one that the screen wrapped counts once.
 */
export interface TerminalScreen {
  /** Bytes as the program wrote them; a sequence or character may be cut between two chunks. */
  write(bytes: Uint8Array): void
  /** Resolves when all that was written is on the screen. */
  settled(): Promise<void>
  /** Bytes that are not on the screen yet. */
  readonly pendingBytes: number
  resize(size: TerminalSize): void
  /** The place where the next text appears. */
  mark(): ScreenMark
  /** Text from a place on; `isLost` when its beginning left the scrollback or was cleared. A full-screen program gives its screen. */
  since(mark: ScreenMark): { readonly text: string; readonly isLost: boolean }
  /** `count` lines, the last of them `offset` lines before the newest. `first` is 1-based, 0 when there is none. */
  lines(range: { readonly offset: number; readonly count: number }): ScreenLines
  /** What is on the screen now, one line a row, without the empty rows at its end. */
  snapshot(): { readonly text: string; readonly isFullScreen: boolean }
  /** Sequences of the form `OSC 7137 ; data BEL`, in their place in the stream. */
  onMessage(listener: (data: string) => void): Undo
  /** What a terminal answers to a program that asks for its kind or its cursor. */
  onReply(listener: (text: string) => void): Undo
  dispose(): void
}

export interface ScreenMark {
  dispose(): void
}

export interface ScreenLines {
  readonly text: string
  readonly total: number
  readonly first: number
  readonly last: number
  /** Older lines were there and are gone. */
  readonly isLost: boolean
}

export type CreateScreen = (size: TerminalSize) => Promise<TerminalScreen>

/** Lines that stay above the screen. */
export const SCROLLBACK_LINES = 10_000
/** The number of our own sequence: of no terminal that is known. */
export const MESSAGE_SEQUENCE = 7137
