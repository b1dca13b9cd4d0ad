import type { Undo } from '../../base/undo.ts'
import type { McpContent, McpPromptFacts, McpResourceFacts } from '../../capabilities/mcp.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { ToolContent } from '../../core/log/message.ts'
import type { McpInput, SkippedServer } from './server-config.ts'
import type { McpState } from './server-moves.ts'

/** Servers that lend tools, prompts and resources over the Model Context Protocol. Source: runtime specification 21. */
export interface Mcp {
  /** Read the configuration, if nobody has yet, and start what may run. Nobody waits for the servers. */
  wake(): void
  /** Read the configuration anew; what is configured the same goes on. Resolves when it is read, not when servers have started. */
  reread(): Promise<void>
  /** Resolves at once when no server is being found or started, else when none is any more, or `limitMs` milliseconds are over. Errors: the signal's reason. */
  settledWithin(limitMs: number, signal: AbortSignal): Promise<void>
  /** All servers as they stand. */
  report(): McpReport
  /** The person has seen what these would run or reach, and lets them until that changes. Errors: the failure of the settings. */
  allow(names: readonly string[]): Promise<void>
  /** Take that back; what runs by it is stopped. Errors: the failure of the settings. */
  forget(names: readonly string[]): Promise<void>
  /**
   * Write a server into the person's settings, or into `.bosun/mcp.json` of a folder of the window, and read it. What the person writes
   * in the folder so is let run with it.
   *
   * Errors: `McpError` `MCP_CONFIGURATION` for a name that is taken or cannot be one, or a file that cannot be added to; those of the settings and of files.
   */
  add(server: NewServer): Promise<void>
  /** Begin anew, whatever it was doing; resolves when it runs or says why not. Errors: `McpError` `MCP_UNAVAILABLE` for a name nobody has. */
  restart(name: string): Promise<void>
  /** Until it is started again. */
  stop(name: string): Promise<void>
  /**
   * Let the person sign in, in their browser, as if they never had. Resolves when the server runs or says why not; `stop` ends the wait.
   *
   * Errors: `McpError` `MCP_SIGN_IN` where there is no browser, or the server is none that people sign in at.
   */
  signIn(name: string): Promise<void>
  /**
   * Forget who the person is there, have the server take back what it gave, and reach it anew.
   *
   * Shape:  why what it gave may still count there, in a sentence; null when it does not.
   * Errors: as `restart`.
   */
  signOut(name: string): Promise<string | null>
  /**
   * Ask the person for the value of an input, in a box that no log sees, keep it as a secret and start the server. False when they backed out.
   *
   * Errors: `McpError` `MCP_UNAVAILABLE` where nobody can be asked, or there is no such input.
   */
  askInput(name: string, id: string): Promise<boolean>
  /** Keep the value of an input, as a secret, and start the server. */
  giveInput(name: string, id: string, value: string): Promise<void>
  /**
   * Switch a tool on or off in this workspace; one that is switched on leaves the list of those that are turned off everywhere too.
   * Errors: the failure of the settings.
   */
  setTool(tool: string, isOn: boolean): Promise<void>
  /** Take the server’s word for which of its tools only read. Errors: the failure of the settings. */
  setTrusted(name: string, isTrusted: boolean): Promise<void>
  /** The last lines of a server’s log, oldest first. */
  log(name: string): readonly string[]
  onLog(listener: (name: string, line: string) => void): Undo
  onDidChange(listener: () => void): Undo
  /** Where a server that nobody called asks its questions: in the chat that the person looks at; null while there is none. */
  attachChat(visibleAgent: () => Agent | null): Undo
  /** Errors: `McpError`; the signal's reason. A server has as long as for a call. */
  readResource(name: string, uri: string, signal: AbortSignal): Promise<readonly McpContent[]>
  /**
   * A resource as a message can hold it: texts as one; its pictures, all of them or none, where the session's model takes any; the rest in words.
   *
   * Errors: as `readResource`.
   */
  resourceContent(name: string, uri: string, options: { readonly sessionId?: string; readonly signal: AbortSignal }): Promise<readonly ToolContent[]>
}

export interface NewServer {
  readonly name: string
  readonly entry: { readonly command: string; readonly args: readonly string[] } | { readonly url: string }
  /** A folder of the window; null: the person's settings. */
  readonly folder: string | null
}

/**
 * Have one value given: by the person, who types it or picks it, or by a command of the editor.
 *
 * Shape:  null when they backed out. `preset` is picked or typed before they begin.
 * Errors: `McpError` `MCP_CONFIGURATION` for a command that fails or gives no text.
 */
export type AskInput = (asked: Pick<McpInput, 'id' | 'description' | 'isSecret' | 'options' | 'command'> & { readonly server: string; readonly preset?: string }) => Promise<string | null>

export interface McpReport {
  /** False until the configuration was read the first time. */
  readonly isRead: boolean
  readonly servers: readonly McpServerReport[]
  readonly skipped: readonly SkippedServer[]
  /** Why some are not even read. */
  readonly note?: string
}

export interface McpServerReport {
  /** By which it is called: in the names of its tools, in commands and in references. */
  readonly name: string
  /** The name that it has where it is configured, for the person. */
  readonly title: string
  /** Where it is configured: a file, or the setting. */
  readonly source: string
  /** The file of it, with the line of its entry, from 1; null for a setting. */
  readonly file: { readonly path: string; readonly line: number } | null
  /** Of its entry as it stands: another one when anything of it changes. */
  readonly digest: string
  /** The command line or the address, variables not filled in. */
  readonly target: string
  /** All that its entry gives it, a line each, variables not filled in and secrets masked. */
  readonly given: readonly string[]
  readonly state: McpState | 'disabled' | 'waits'
  /** Why it is in that state, in a sentence; null where that goes without saying. */
  readonly reason: string | null
  /** Why its tools are not as it says, in a sentence. */
  readonly problem: string | null
  readonly isTrusted: boolean
  /** A workspace’s: it runs only after the person let it. */
  readonly needsConsent: boolean
  /** It may want a sign-in, and there is a browser for it. */
  readonly canSignIn: boolean
  /** It is reached in the person’s name. */
  readonly isSignedIn: boolean
  readonly tools: readonly McpToolReport[]
  readonly prompts: readonly McpPromptFacts[]
  readonly resources: readonly McpResourceFacts[]
  /** All that its entry names. */
  readonly inputs: readonly McpInput[]
  /** Those that nobody has given yet. */
  readonly missingInputs: readonly McpInput[]
}

export interface McpToolReport {
  readonly name: string
  readonly raw: string
  readonly description: string
  readonly isOn: boolean
  /** Turned off by the setting for all tools, in every workspace. */
  readonly isOffEverywhere: boolean
  readonly isReadOnly: boolean
  /** Why it is not offered. */
  readonly problem: string | null
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    mcp: Mcp
  }
}
