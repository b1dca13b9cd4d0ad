import type { Json } from '../base/json.ts'

/** What a person sees of one tool call: data only, the same live and on replay. Source: runtime specification chapter 9. */
export type CardKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'fetch' | 'other'

/** A place in a file. `line` and `column` are 1-based, columns in UTF-16 units. `path` is as the tool got it; the view resolves it against the session's folder. */
export interface FileLocation {
  readonly path: string
  readonly line?: number
  readonly column?: number
}

/** One changed region or whole file. `oldText` null means a new file, or a pure insertion in a hunk. */
export interface FileDiff {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
  /** 1-based first line of the region in the old and in the new text; absent for whole files. */
  readonly oldStart?: number
  readonly newStart?: number
}

export type CardContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly attachmentId: string; readonly mediaType: string; readonly name?: string }

/** The pending card, from the arguments alone. */
export type ToolCallView =
  | {
      readonly card: 'generic'
      readonly title: string
      /** The same in the past, said once it went well: "Stopped bash-1". Absent: `title`. */
      readonly doneTitle?: string
      readonly kind?: CardKind
      /**
       * What it acts on, bare: a path, a pattern, an address. With it and `kind` the view words the line itself, in the right
       * tense ("Reading a.ts", "Read a.ts"); without it the line is `title`.
       */
      readonly subject?: string
      /** Of a command, where it runs when that is not the session's folder. */
      readonly cwd?: string
      readonly rawInput?: Json
      /** What it is drawn as, where it is more than a title and texts: a plan is Markdown, an agent is followed after the call ended. */
      readonly face?: 'plan' | 'agent'
      readonly content?: readonly CardContent[]
      readonly locations?: readonly FileLocation[]
    }
  | {
      readonly card: 'terminal'
      readonly title: string
      readonly description?: string
      readonly cwd?: string
      /** Present when it goes to a terminal that is open already, where it may be an answer as well as a command: the title as typed, Enter alone, or nothing, which only waits. */
      readonly typed?: 'text' | 'enter' | 'nothing'
    }
  | {
      readonly card: 'diff'
      readonly title: string
      readonly diffs: readonly FileDiff[]
      readonly locations?: readonly FileLocation[]
      /** It changes no file of the person's; its line is the title. */
      readonly isDraft?: true
    }

/** The completed card, from the arguments, the durable result and its `meta`. It replaces the pending one. */
export type ToolResultView =
  | {
      readonly card: 'generic'
      readonly title?: string
      readonly face?: 'plan'
      readonly content?: readonly CardContent[]
      /** The job that the call started: the view follows it. */
      readonly jobId?: string
      /** The session of the agent that it started. */
      readonly agentId?: string
    }
  | TerminalResultView
  | {
      readonly card: 'diff'
      readonly title?: string
      readonly diffs: readonly FileDiff[]
      readonly note?: string
      /** It changed no file of the person's: what was shown to them as a change waits to be run, such as the code of a plugin. */
      readonly isDraft?: true
    }
  | SearchResultView
  | {
      readonly card: 'read'
      readonly path: string
      readonly offset: number
      readonly lines: readonly { readonly number: number; readonly text: string }[]
      readonly totalLines: number
      readonly lang?: string
      readonly content?: readonly CardContent[]
    }
  | {
      readonly card: 'web'
      readonly kind: 'search'
      readonly sources: readonly {
        readonly url: string
        readonly title?: string
        readonly snippet?: string
        readonly publishedAt?: string
      }[]
      readonly answer?: string
      readonly truncated: boolean
    }
  | {
      readonly card: 'web'
      readonly kind: 'fetch'
      readonly url: string
      readonly statusCode: number
      readonly truncated: boolean
    }
  | {
      readonly card: 'question'
      readonly items: readonly {
        readonly question: string
        readonly options: readonly string[]
        readonly selected: readonly string[]
        readonly custom?: string
      }[]
    }

export interface TerminalResultView {
  readonly card: 'terminal'
  readonly title?: string
  readonly output?: string
  readonly exitCode?: number
  readonly signal?: string
  readonly timedOut?: boolean
  readonly aborted?: boolean
  readonly durationMs?: number
  /** Path of the whole log when the shown output was cut. */
  readonly logPath?: string
  /** Where it ran. */
  readonly cwd?: string
  /** Of its output that nobody is shown, though the log may have it. */
  readonly omittedBytes?: number
  /** The system held it to what the session may write: `confined`, or `denied` when that stopped it. */
  readonly sandbox?: 'confined' | 'denied'
  /** It went on as this background job. */
  readonly jobId?: string
  /** It was typed to a program that runs there, or not sent yet: no command was run. */
  readonly isTyped?: boolean
}

/** A search by regular expression, as the editor's view of searches takes it. */
export interface EditorQuery {
  readonly pattern: string
  readonly isCaseSensitive: boolean
  /** A path or glob, as the tool got it. */
  readonly files?: string
  readonly isMultiline?: true
  readonly includesIgnored?: true
}

export type SearchResultView =
  | {
      readonly card: 'search'
      readonly shape: 'matches'
      readonly files: readonly {
        readonly path: string
        readonly matches: readonly { readonly lineNumber: number; readonly line: string; readonly column?: number }[]
      }[]
      readonly truncated: boolean
      readonly total: number
      /** For the editor's own search; absent where the places were not found by an expression. */
      readonly query?: EditorQuery
    }
  | {
      readonly card: 'search'
      readonly shape: 'paths'
      readonly paths: readonly string[]
      readonly truncated: boolean
      readonly total: number
    }
