import type { CodeErrorCode, CodeLimits, CodeProgram } from '../../../capabilities/code-runtime.ts'

/** What crosses between the host and the thread of one program: plain data, values as JSON text. */
export type ToIsolate =
  | { readonly kind: 'run'; readonly source: string; readonly language?: CodeProgram['language']; readonly name: string; readonly prelude: string; readonly limits: CodeLimits }
  | { readonly kind: 'check'; readonly source: string }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] }
  /** Looked at where the program waits; one that does not wait sees the control. */
  | { readonly kind: 'stop' }

export interface Answer {
  readonly call: number
  readonly ok: boolean
  readonly text: string
}

export type PrintLevel = Parameters<NonNullable<CodeProgram['print']>>[0]

export type FromIsolate =
  /** In the order in which the program said it; `end` comes last of all. */
  | { readonly kind: 'news'; readonly said: readonly Said[]; readonly end?: { readonly outcome: IsolateOutcome; readonly calls: number } }
  | { readonly kind: 'checked'; readonly problem: string | null }

export type Said =
  | { readonly kind: 'call'; readonly call: number; readonly name: string; readonly text: string }
  | { readonly kind: 'print'; readonly level: PrintLevel; readonly text: string }

/** What one of them counts for: its text in UTF-16 units, and something for itself. */
export const weightOf = ({ text }: Said): number => text.length + 64

export type IsolateOutcome = { readonly text: string; readonly isNothing?: true; readonly hasLeftCalls?: true } | { readonly code: CodeErrorCode; readonly message: string }

/** What a thread is born with. */
export interface IsolateData {
  readonly wasm: WebAssembly.Module
  /** 32-bit words, by the places below. */
  readonly control: Int32Array
}

/** The host wants a run to end; 0 while it does not. Seen in the middle of a slice. */
export const STOP = 0
/** Counts up as a slice begins and as it ends: odd within one. A host that sees the same odd number for too long knows that nothing can interrupt it. */
export const SLICE = 1

/** Weight of what was said and not taken by the host yet. A program that says more than `MAX_UNREAD` waits, so that the host never gets it all at once. */
export const UNREAD = 2
export const MAX_UNREAD = 262_144

/** Counts the messages that the host has posted. A thread whose program waits for answers waits here for the next one, and takes it from its port. */
export const POSTED = 3

/** Words of the control. */
export const CONTROL_WORDS = 4

/** Values within one value that a program returns or sends: the host reads it in one go. */
export const MAX_PARTS = 100_000

/** What `console` shows of a value: levels, items of each list, UTF-16 units of each text within a value, and values in all. */
export const PRINT = { depth: 4, items: 100, stringChars: 10_000, parts: 10_000 } as const

/** Longest text of an error. */
export const MAX_MESSAGE_CHARS = 4_096
