import { HarnessError } from '../../base/harness-error.ts'
import type { Undo } from '../../base/undo.ts'
import type { TerminalSignal } from '../../capabilities/terminal.ts'
import type { Agent } from '../../core/session/agent.ts'
import { PresentedError } from '../../core/tools/definition.ts'
import type { JobWork } from '../jobs/service.ts'

export type TerminalStatus = { readonly kind: 'running' } | { readonly kind: 'exited'; readonly exitCode: number | null; readonly signal: string | null; /** Absent: by itself, or by a tool. */ readonly closedBy?: 'person' }

/** A terminal as everybody may see it. Source: capability specification 16. */
export type TerminalInfo = {
  readonly sessionId: string
  readonly name?: string
  /** Which shell runs at it, such as `bash`. */
  readonly type: string
  readonly pid: number
  readonly status: TerminalStatus
  /** It is the person's, who let the agent in. */
  readonly isAdopted?: true
}

/** A terminal of the person's that an agent may ask for. */
export type AdoptableTerminal = {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly folder?: string
}

/** `stdin_read`: somebody waits for keys, which is known. `inferred_idle`: it has been silent for a while. */
export type WaitReason = 'stdin_read' | 'inferred_idle' | 'timeout' | 'session_exit'

export type SendResult = {
  /** What appeared since the text was sent, as the screen shows it. */
  readonly viewport: string
  readonly waitReason: WaitReason
  readonly sessionStatus: TerminalStatus
  /** The beginning of the viewport is gone. */
  readonly truncated: boolean
  /** Keys of the person since the last look, secrets left out; absent when there were none. */
  readonly personTyped?: string
  /** The text went to a program, or waits on the line: it is no command that the shell ran. */
  readonly isTyped?: true
}

export type TerminalLines = {
  readonly text: string
  readonly totalLines: number
  /** 1-based, 0 when there are none. */
  readonly lineBegin: number
  readonly lineEnd: number
  /** Older lines were there and are gone. */
  readonly truncated: boolean
  readonly personTyped?: string
}

export interface SendRequest {
  readonly text: string
  /** Press Enter after it. */
  readonly submit: boolean
}

/** What is known of the line being typed at a terminal, for whoever judges what a call would run. */
export interface TypingState {
  /** The shell itself waits for a line. */
  readonly isAtPrompt: boolean
  /** Typed before and not sent yet; null when a person typed, so that nobody knows. */
  readonly pendingLine: string | null
  /** The shell's folder, as its last prompt said; null where nobody knows, such as on another machine. */
  readonly folder: string | null
  readonly type: string
}

/** The terminals of agents: each belongs to the one that opened it, and ends with it at the latest. */
export interface Terminals {
  /** That one agent may have, ended ones that were not closed included. */
  readonly maxTerminals: number
  /** How long `send` waits at most. */
  readonly sendDeadlineMs: number
  /** Names of shells that can be asked for. */
  readonly types: readonly string[]
  /** Errors: `TerminalSessionError` `NO_BACKEND`, `DUPLICATE_NAME`, `OWNER_NOT_LIVE`, `TERMINAL_LIMIT`, `SERVICE_DISPOSING`; `TerminalError`. */
  open(owner: Agent | undefined, request: { readonly type: string; readonly name?: string; readonly cwd: string }): Promise<TerminalInfo & { readonly motd: string }>
  /** Terminals of the person's that may be asked for now; none where the setting `terminals.adopt` is off. */
  adoptable(): readonly AdoptableTerminal[]
  /**
   * Read and type in a terminal of the person's, who has been asked. Closing it gives it back and ends nothing.
   * Errors: as `open`, and `NO_SESSION` for one that is not there; `TerminalError`.
   */
  adopt(owner: Agent | undefined, id: string, name?: string): Promise<TerminalInfo & { readonly motd: string }>
  /** The person wants their terminals back, from every agent. How many there were. */
  takeBack(): Promise<number>
  /**
   * Type, and wait until somebody waits for keys again, nothing came for a while, the time is up or the program ended. None of these ends it.
   * Errors: `NO_SESSION`, `FOREIGN_SESSION`, `SEND_ACTIVE`; `TerminalStopped` when `signal` fires, after SIGINT went to the foreground.
   */
  send(caller: Agent | undefined, id: string, request: SendRequest & { readonly signal: AbortSignal; readonly onText: (text: string) => void }): Promise<SendResult>
  /** The same as the work of a job: it goes on until somebody waits for keys or the program ends. Errors as above, at once. */
  sendInBackground(caller: Agent | undefined, id: string, request: SendRequest): JobWork
  /** Errors as above, before anything happens. */
  check(caller: Agent | undefined, id: string): void
  /** Errors: `NO_SESSION`, `FOREIGN_SESSION`. */
  read(caller: Agent | undefined, id: string, range: { readonly offset: number; readonly count: number }): Promise<TerminalLines>
  screen(caller: Agent | undefined, id: string): Promise<{ readonly text: string; readonly isFullScreen: boolean; readonly personTyped?: string }>
  /** To the foreground group; null when the system does not say which one that was. Errors: those of reading, and of `signalForeground`. */
  signal(caller: Agent | undefined, id: string, signal: TerminalSignal): Promise<number | null>
  /** Resolves when everything that was started at it is gone. */
  close(caller: Agent | undefined, id: string): Promise<'closed' | 'already-closing' | 'given-back'>
  list(caller: Agent | undefined): readonly TerminalInfo[]
  /** Undefined for a terminal that is not there. */
  typingState(id: string): TypingState | undefined
  onDidChange(listener: () => void): Undo
}

export type TerminalSessionErrorCode = 'NO_SESSION' | 'FOREIGN_SESSION' | 'NO_BACKEND' | 'DUPLICATE_NAME' | 'OWNER_NOT_LIVE' | 'SEND_ACTIVE' | 'SERVICE_DISPOSING' | 'TERMINAL_LIMIT'

export class TerminalSessionError extends HarnessError<TerminalSessionErrorCode> {}

/** A send that was stopped, with what had appeared until then. */
export class TerminalStopped extends PresentedError<'ABORTED'> {
  constructor(viewport: string) {
    const words = 'The wait was stopped, and SIGINT was sent to what ran.'
    super('ABORTED', viewport === '' ? `${words} Nothing had appeared.` : `${words} Until then appeared:\n${viewport}`, { kind: 'foreground', output: viewport })
  }
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    terminals: Terminals
  }
}
declare module '../../core/log/event.ts' {
  interface EventMap {
    /** `ignorable`. A terminal without `terminal/ended` did not outlive the host; the next resume says so. */
    'terminal/opened': { readonly id: string; readonly shell: string; readonly name?: string; readonly isAdopted?: boolean }
    /** `ignorable`. */
    'terminal/ended': { readonly id: string; readonly exitCode?: number; readonly signal?: string }
  }
}
