import { HarnessError } from '../base/harness-error.ts'
import type { Json, JsonObject } from '../base/json.ts'

/** Where an MCP server is: a program of this machine, or an address. `sse`: the transport of servers from before 2025. */
export type McpTarget =
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>>; readonly cwd: string }
  | { readonly kind: 'http' | 'sse'; readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly client?: McpClient }

/** As what the server knows Bosun already, where it takes no program that it does not know. */
export interface McpClient {
  readonly id: string
  readonly secret?: string
  /** Port of this machine that the browser comes back to; any when absent. */
  readonly callbackPort?: number
}

/** Conversations with MCP servers. What speaks the protocol is loaded with the first. */
export interface McpConnector {
  /**
   * Reach a server and shake hands. When it fails, nothing of it is left running.
   *
   * Errors: `McpError` `MCP_START_FAILED`, `MCP_TIMEOUT`, `MCP_CLOSED`, `MCP_PROTOCOL`, `MCP_SIGN_IN`; the signal's reason.
   */
  connect(target: McpTarget, options: McpConnectOptions): Promise<McpConnection>
  /**
   * Have whoever gave a sign-in take it back.
   *
   * Shape:  false where it offers no way to.
   * Errors: `McpError` `MCP_SIGN_IN` with the reason; the signal's reason.
   */
  revoke(target: Extract<McpTarget, { kind: 'http' | 'sse' }>, kept: McpKeptSignIn, signal: AbortSignal): Promise<boolean>
}

export interface McpConnectOptions {
  /** For the handshake; `MCP_TIMEOUT` after it. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly listener: McpListener
  /** Absent: whoever wants a sign-in is refused. */
  readonly signIn?: McpSignIn
}

/** Told what a server does by itself. None may throw. */
export interface McpListener {
  /** The conversation is over, however; once, and never before `connect` has resolved. */
  onClose(reason: string): void
  /** A line for the person: what the server writes beside the protocol, or gets wrong in it. At most 2 000 characters. */
  onLog(line: string): void
  onListChange(list: 'tools' | 'prompts' | 'resources'): void
  /** The server asks the person for values that its schema names. `call`: the token of the call that it says it asks for. */
  elicit(request: { readonly message: string; readonly schema: JsonObject; readonly call?: string }, signal: AbortSignal): Promise<{ readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: JsonObject }>
}

/** What is kept of a sign-in, and how the person is asked for one. */
export interface McpSignIn {
  load(what: McpSignInFact): Promise<string | null>
  /** Null forgets it. */
  save(what: McpSignInFact, value: string | null): Promise<void>
  /** Null while nobody asked for a sign-in, so that no browser opens by itself: what is kept is used and renewed, and no more. */
  readonly browser: McpBrowser | null
}
/** `client`: as what Bosun is registered there; `tokens`: what it may do in the person's name. Both are secrets. */
export type McpSignInFact = 'client' | 'tokens'

/** A sign-in as it was kept. `client`: null where none was. */
export interface McpKeptSignIn {
  readonly tokens: string
  readonly client: string | null
}

/** The person's browser, in which they let Bosun use a server in their name. */
export interface McpBrowser {
  /** Be ready for the browser to come back, once, at `port` or any that is free. Errors: `McpError` `MCP_SIGN_IN` where no way back can be opened; the signal's reason. */
  expect(signal: AbortSignal, port?: number): Promise<McpReturn>
}

export interface McpReturn {
  /** Where the browser is sent when the person has decided. */
  readonly redirectUrl: string
  /**
   * Show the page at `url` and wait for the code that the browser brings back with this `state`; one that brings another is turned away.
   *
   * Errors: `McpError` `MCP_SIGN_IN` when the person declined, the page was not opened, or nobody came back in time; the signal's reason.
   */
  ask(url: string, state: string): Promise<string>
  /** Nobody is waited for any more. Never rejects; idempotent. */
  close(): Promise<void>
}

export interface McpConnection {
  readonly server: { readonly name: string; readonly version: string }
  readonly instructions: string | null
  readonly offers: { readonly tools: boolean; readonly prompts: boolean; readonly resources: boolean }
  /** The whole list, every page of it. Errors: as `callTool`; more pages or entries than a list may have are `MCP_PROTOCOL`. */
  listTools(signal: AbortSignal): Promise<readonly McpToolFacts[]>
  listPrompts(signal: AbortSignal): Promise<readonly McpPromptFacts[]>
  listResources(signal: AbortSignal): Promise<readonly McpResourceFacts[]>
  /** `token`: the server tells by it which call it speaks of. Errors: `McpError` `MCP_PROTOCOL` with the server's words, `MCP_CLOSED`; the signal's reason. */
  callTool(call: { readonly name: string; readonly token: string; readonly arguments: JsonObject; readonly signal: AbortSignal; readonly onProgress: (text: string) => void }): Promise<McpToolResult>
  getPrompt(prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>>; readonly signal: AbortSignal }): Promise<readonly McpPromptMessage[]>
  readResource(uri: string, signal: AbortSignal): Promise<readonly McpContent[]>
  /** Whether it answers at all before the signal fires; a refusal is an answer too. Never rejects. */
  isThere(signal: AbortSignal): Promise<boolean>
  /** Say goodbye, and end what runs. Never rejects; idempotent. */
  close(): Promise<void>
}

export interface McpToolFacts {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly isReadOnly: boolean
  /** It can only be run as a task that is asked for later, which Bosun does not do. */
  readonly needsTask: boolean
}

export interface McpPromptFacts {
  readonly name: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly isRequired: boolean }[]
}

export interface McpResourceFacts {
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly mediaType: string | null
}

export type McpContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mediaType: string }
  | { readonly type: 'resource'; readonly uri: string; readonly mediaType: string | null; readonly text: string | null; /** Of a resource that is no text. */ readonly bytes: number | null }
  | { readonly type: 'link'; readonly uri: string; readonly name: string }

export interface McpToolResult {
  readonly content: readonly McpContent[]
  readonly structuredContent?: Json
  readonly isError: boolean
}

export interface McpPromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: McpContent
}

/** Bytes of one message of a server. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
/** Entries of one list of a server, and pages they may come in. */
export const MAX_LIST_ENTRIES = 1_000
export const MAX_LIST_PAGES = 100

/**
 * `MCP_CLOSED`: the conversation ended; `MCP_UNAVAILABLE`: there is none now, and the message says why; `MCP_SIGN_IN`: the server wants
 * the person to sign in; `MCP_TOOL_FAILED`: the tool ran and says that it failed; `MCP_CONFIGURATION`: a server cannot be written down so.
 */
export type McpErrorCode = 'MCP_START_FAILED' | 'MCP_TIMEOUT' | 'MCP_CLOSED' | 'MCP_PROTOCOL' | 'MCP_SIGN_IN' | 'MCP_UNAVAILABLE' | 'MCP_TOOL_FAILED' | 'MCP_CONFIGURATION'

export class McpError extends HarnessError<McpErrorCode> {}
