import { HarnessError } from '../../base/harness-error.ts'
import type { Undo } from '../../base/undo.ts'
import type { Emit, ScopeKey } from '../kernel/plugin.ts'
import type { InboxTarget } from '../log/event.ts'
import type { ImageBlock, UserMessage } from '../log/message.ts'
import type { Agent } from '../session/agent.ts'

/** A command was not run; nothing was logged. */
export class CommandError extends HarnessError<'UNKNOWN_COMMAND' | 'BAD_SYNTAX' | 'IMAGES_REFUSED' | 'BUSY' | 'NO_SESSION'> {}

/**
 * A slash command: for people, nothing of it reaches the model.
 *
 * Errors: a throw or an abort of `run` settles the command as an error with the message as its text.
 * Source: runtime specification 23.
 */
export interface CommandDefinition {
  /** `[a-z0-9_-]+`, without the slash. */
  readonly name: string
  readonly description: string
  /** Absent: the command takes no arguments, and refuses any. */
  readonly input?: { readonly hint: string; readonly allowsImages?: true }
  /** Runs only while the agent is idle; else `BUSY`, and nothing is logged. */
  readonly needsIdle?: true
  /** Says something about a talk that is there; none is begun to run it: `NO_SESSION` then. */
  readonly needsSession?: true
  /** An event of the command's own domain holds the arguments; `command/run` leaves them out. */
  readonly hidesArguments?: true
  run(call: CommandCall): CommandOutcome | Promise<CommandOutcome>
}

export interface CommandCall {
  readonly commandId: string
  readonly agent: Agent
  /** As typed after the name, trimmed; empty when there are none. */
  readonly args: string
  readonly images: readonly ImageBlock[]
  readonly signal: AbortSignal
  /**
   * Say this to the model as the person's words, and wake it. What the model has not taken up is taken back when the command is stopped.
   *
   * Errors: the signal's reason; `AgentError` `DISPOSED`.
   */
  send(content: UserMessage['content'], target: InboxTarget): void
}

export interface CommandOutcome {
  /** What the row of the command says. */
  readonly text?: string
  /** The domain event that says it better; the view draws that one. */
  readonly sourceEventSeq?: number
}

/** What the `/` menu of a composer shows of a command. */
export interface CommandEntry {
  readonly name: string
  readonly description: string
  /** What may be typed after the name; null when nothing may. */
  readonly hint: string | null
}

/** Where a command would run. */
export interface CommandPlace {
  readonly scope: ScopeKey | null
  readonly isIdle: boolean
  readonly imageCount?: number
  /** There is no session yet; one would be begun. */
  readonly isBeforeSession?: boolean
}

/** Commands that come and go by themselves, such as the skills in a folder. Any other command of the same name goes first. */
export interface CommandSource {
  /** Cheap: it is asked for every look-up. A throw is contained and counts as none. */
  list(): readonly CommandDefinition[]
  /** Called when `list` gives others. */
  onDidChange(listener: () => void): Undo
  /** Look anew, for a name that nobody knows. A rejection is contained. */
  refresh?(): Promise<void>
}

/**
 * The commands by layer: a duplicate in one layer fails, a nearer layer shadows.
 *
 * A plugin that injects `commands` registers with `ctx.commands.register({ name, description, run })`; the command belongs to the
 * plugin and to the layer of `ctx`, and goes with them. An agent's own commands are registered through `ctx.scoped(agent.scope)`.
 */
export interface Commands {
  /** Errors: `RangeError` for a bad name, `Error` for a duplicate in the layer. */
  register(definition: CommandDefinition): Undo
  /** A list that changes by itself, in the layer of the context. */
  contribute(source: CommandSource): Undo
  /** The command of that name which an agent in `scope` runs. */
  get(name: string, scope: ScopeKey | null): CommandDefinition | undefined
  /** Those an agent sees, by name. */
  list(scope: ScopeKey | null): readonly CommandDefinition[]
  /** The same for a menu. */
  entries(scope: ScopeKey | null): readonly CommandEntry[]
  /** Why `run` would refuse the line, also before an agent is there; null when it would not. */
  refusal(line: string, at: CommandPlace): CommandError | null
  /** The same; for a name that nobody knows, the lists that change by themselves look again first. */
  lookUp(line: string, at: CommandPlace): Promise<CommandError | null>
  /**
   * Run `/name arguments` of a person and log both ends.
   *
   * `signal` stops it while it runs. `onSend` hears of each message that it queues, before anything comes of it: whoever stops it later
   * takes them back. Errors: `CommandError`; a failing command gives its outcome, it does not throw.
   */
  run(agent: Agent, line: string, options?: CommandOptions): Promise<SettledCommand>
}

export interface CommandOptions {
  readonly images?: readonly ImageBlock[]
  readonly signal?: AbortSignal
  readonly onSend?: (messageId: string) => void
}

export type SettledCommand = CommandOutcome & { readonly commandId: string; readonly kind: 'success' | 'error' }

declare module '../kernel/plugin.ts' {
  interface Services {
    commands: Commands
  }
  interface ExtensionPoints {
    /** Reaches listeners of all layers. */
    'commands/change': Emit<[]>
  }
}
