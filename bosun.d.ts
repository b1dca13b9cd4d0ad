/**
 * What Bosun gives to other extensions. Copy this file into your sources; docs/extension-api.md shows how to begin.
 *
 * Versions are semantic: within one major version members and optional fields are only added.
 */

/** What `vscode.extensions.getExtension<BosunExtension>('bosun.bosun')?.exports` is. */
export interface BosunExtension {
  /** The version that `getApi` gives, such as `"1.0.0"`. */
  readonly apiVersion: string
  /**
   * The API for one extension. Costs next to nothing: Bosun itself starts when the person first uses it, and takes over
   * then what was registered before.
   *
   * `context`: the one that your `activate` was given. What you register goes with your extension.
   * Errors: rejects with a `BosunApiError`: `UNSUPPORTED_VERSION`, `UNKNOWN_EXTENSION`.
   */
  getApi(version: 1, context: ExtensionContext): Promise<BosunApi>
}

/** The parts of `vscode.ExtensionContext` that are looked at. */
export interface ExtensionContext {
  readonly extension: { readonly id: string }
  readonly subscriptions: { push(...items: { dispose(): unknown }[]): unknown }
}

/**
 * Register what your extension adds, at any time: before there is a session, or while several run.
 *
 * Errors: what can be told at once is thrown as a `BosunApiError`; the rest, such as a name that is taken, is thrown while Bosun
 * runs, and else told by `ready` when it starts. Each names your extension and stands in the log "Bosun" too.
 */
export interface BosunApi {
  /** The version of the API, such as `"1.0.0"`. */
  readonly version: string
  registerTool<const Parameters extends ParameterSpecs, const Output extends ValueSpec>(tool: Tool<Parameters, Output>): Registration
  /** The same tool, with its arguments and value typed by its schemas also where it stands apart from its registration. Registers nothing. */
  defineTool<const Parameters extends ParameterSpecs, const Output extends ValueSpec>(tool: Tool<Parameters, Output>): Tool<Parameters, Output>
  registerPromptSection(section: PromptSection): Registration
  registerPolicy(listener: PolicyListener): Registration
  observeResults(observer: ResultObserver): Registration
  registerPlugin(plugin: Plugin): Registration
  /** Take back everything that was registered here, and wait until the work behind it has stopped. Happens by itself when your extension ends. */
  dispose(): Promise<void>
}

export interface Registration {
  /** Settles when Bosun has taken it over; rejects with the reason why it could not; stays open until Bosun is first used. */
  readonly ready: Promise<void>
  /** Take it back and wait until the work behind it has stopped: calls that run are aborted. Idempotent. */
  dispose(): Promise<void>
}

/** `code` is a word to act on, `extensionId` whose fault it was, `message` says what to do. */
export interface BosunApiError extends Error {
  readonly code: 'UNSUPPORTED_VERSION' | 'UNKNOWN_EXTENSION' | 'INVALID_CONTRIBUTION' | 'NAME_TAKEN' | 'DISPOSED'
  readonly extensionId: string
}

// Tools

/**
 * A tool that models can call, in the presets that take those of your extension (`"extensions"` in a preset; Editor does).
 *
 * Nobody knows what it does, so the person is asked before each call until they make a rule, and in a folder that is not trusted it is not there.
 */
export interface Tool<Parameters extends ParameterSpecs = ParameterSpecs, Output extends ValueSpec = ValueSpec> {
  /** 1 to 64 letters, digits, dashes and underscores, a letter first. No name of Bosun's own, nor one beginning `mcp__`, `vscode__` or `cordis_`. */
  readonly name: string
  /** For the model: what it does and when to use it. At most 4 000 characters. */
  readonly description: string
  /** The arguments, each by its name. They are validated before policy and body. At most 64 KB as JSON Schema. */
  readonly parameters: Parameters
  readonly output: {
    /** The type of the value that `execute` returns. */
    readonly schema: Output
    /** What the model reads. At most 4 000 000 characters; long texts are kept whole and shown in part. */
    render(args: InferArgs<Parameters>, value: InferValue<Output>): readonly TextContent[]
    /** Facts for the card that must outlive the value, which is not kept. */
    presentationMeta?(args: InferArgs<Parameters>, value: InferValue<Output>): Json | undefined
  }
  /**
   * Do it and return the value: plain JSON of the schema. Throw for what the caller cannot go on without; the message is what the model reads.
   * After `exec.signal` fires it has five seconds to end.
   */
  execute(args: InferArgs<Parameters>, exec: ToolExecution): InferValue<Output> | Promise<InferValue<Output>>
  /** The last word on what the model reads, also of a failure; at once, without waiting. */
  finalizeContent?(call: ToolCall, result: ToolResult): readonly TextContent[] | undefined
  /** Only exactly `true` lets calls run beside others. */
  isConcurrencySafe?(args: InferArgs<Parameters>): boolean
  /** Milliseconds after which `exec.signal` fires. */
  readonly timeoutMs?: number
  /**
   * It changes nothing, anywhere. The person is asked all the same, since Bosun cannot know; but is told that you say so, may make a rule in a
   * session that may only read, and that rule holds while they plan.
   */
  readonly readOnly?: boolean
  /**
   * The card while it runs, from the arguments alone, and after. Pure: they run again when an old talk is opened. Without one, or when your
   * extension is gone, the card shows name, arguments and result.
   */
  presentCall?(args: InferArgs<Parameters>): ToolCallView | undefined
  presentResult?(args: InferArgs<Parameters>, result: PresentedResult): ToolResultView | undefined
}

export interface ToolExecution extends ToolCall {
  /** The call was stopped, took too long, or your extension goes. */
  readonly signal: AbortSignal
  /** Shown in the card while it runs; not kept. */
  progress(text: string): void
  /**
   * Say which file you are about to change, create or delete, and wait for it, whichever way you change it then: `vscode.workspace.applyEdit`,
   * `vscode.workspace.fs` or Node. What stands there now is kept, with what the person has not saved; after the call the change waits for the
   * person with those of Bosun's own tools, to be looked at, kept or undone. Since 1.1.0.
   *
   * `path`: absolute, below the folder of the session, or a URI as text. At most 500 files in one call, of 50 MB each.
   * Errors: rejects with words for the model where it cannot be kept, or may not be changed: leave the file as it is then.
   */
  willChange(path: string): Promise<void>
}

export interface TextContent {
  readonly type: 'text'
  readonly text: string
}

/** What of a result a card is drawn from; `meta` is from `presentationMeta`. */
export interface PresentedResult {
  readonly content: readonly Content[]
  readonly isError: boolean
  readonly meta?: Json
}

// Prompt sections

/** More words in the system prompt, in the presets that take those of your extension. They do not move: dispose it and register another to change them. */
export interface PromptSection {
  /** Unique in your extension. */
  readonly name: string
  /** At most 8 000 characters. May use `{{provider}}`, `{{model}}` and `{{cwd}}`; other double braces are refused. */
  readonly text: string
  /** Place among the sections, ascending. Absent: 200, at the end. */
  readonly order?: number
  /** Said only where all of these tools are there. */
  readonly tools?: readonly string[]
}

// Policy

/**
 * Looks at every call of every session before it runs, those of Bosun's own tools too. It can make things stricter and never wider.
 *
 * No answer within five seconds, a throw and an answer that is none count as `ask`, and are logged. Where nobody may be asked, `ask` denies.
 */
export type PolicyListener = (call: ToolCall, signal: AbortSignal) => PolicyAnswer | undefined | void | Promise<PolicyAnswer | undefined | void>

export interface PolicyAnswer {
  readonly decision: 'deny' | 'ask'
  /** For the person, and for the model when it is denied. At most 1 000 characters. */
  readonly reason: string
}

/** One call of a tool. Frozen. */
export interface ToolCall {
  readonly callId: string
  /** Of the call around it, when a program makes it; else its own. */
  readonly rootCallId: string
  readonly tool: string
  readonly arguments: Json
  /** Null outside of a session. */
  readonly sessionId: string | null
  /** The folder that the session works in. */
  readonly cwd: string | null
  /** Of the extension that the tool is from; null for Bosun's own and those of servers. */
  readonly extensionId: string | null
}

// Results

/** Hears of every call that ended, also of those that were denied. It changes nothing; a throw is logged. */
export type ResultObserver = (call: ToolCall, result: ToolResult) => void

/** What the model reads of a call. Frozen. */
export interface ToolResult {
  readonly isError: boolean
  readonly content: readonly Content[]
  /** Of a failure of Bosun's own kind, such as `DENIED`. */
  readonly errorCode?: string
}

export type Content = TextContent | { readonly type: 'image'; readonly mediaType: string }

// Plugins

/**
 * Several registrations that come and go together.
 *
 * `apply` runs when Bosun has started, and again should a service have gone and come back. What it registers is taken back with it; the function
 * it may return is awaited then. A throw takes everything back and is told by `ready`.
 */
export interface Plugin {
  readonly name: string
  /** Services it cannot do without: `tools`, `systemPrompt`. Any other is refused when it is registered. */
  readonly inject?: readonly string[]
  apply(ctx: PluginContext): void | Undo | Promise<void | Undo>
}

export interface PluginContext {
  readonly tools: {
    register<const Parameters extends ParameterSpecs, const Output extends ValueSpec>(tool: Tool<Parameters, Output>): Undo
  }
  readonly systemPrompt: { section(section: PromptSection): Undo }
  on(point: 'tools/pre-execute', listener: PolicyListener): Undo
  on(point: 'tools/result', observer: ResultObserver): Undo
  /** Own something that is to be taken back with the plugin, and awaited. */
  effect(undo: Undo): Undo
  /** A plugin of this plugin. */
  plugin(plugin: Plugin): Undo
}

export type Undo = () => void | Promise<void>

// Cards

export type CardKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'fetch' | 'other'

/** 1-based. `path` is absolute or below the folder of the session. */
export interface FileLocation {
  readonly path: string
  readonly line?: number
  readonly column?: number
}

/** `oldText` null: a new file. */
export interface FileDiff {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
}

export type ToolCallView =
  | {
      readonly card: 'generic'
      readonly title: string
      readonly kind?: CardKind
      readonly rawInput?: Json
      readonly content?: readonly TextContent[]
      readonly locations?: readonly FileLocation[]
    }
  | { readonly card: 'terminal'; readonly title: string; readonly description?: string; readonly cwd?: string }
  | { readonly card: 'diff'; readonly title: string; readonly diffs: readonly FileDiff[]; readonly locations?: readonly FileLocation[] }

export type ToolResultView =
  | { readonly card: 'generic'; readonly title?: string; readonly content?: readonly TextContent[] }
  | { readonly card: 'terminal'; readonly title?: string; readonly output?: string; readonly exitCode?: number; readonly signal?: string }
  | { readonly card: 'diff'; readonly title?: string; readonly diffs: readonly FileDiff[] }
  | {
      readonly card: 'search'
      readonly shape: 'matches'
      readonly files: readonly { readonly path: string; readonly matches: readonly { readonly lineNumber: number; readonly line: string }[] }[]
      readonly truncated: boolean
      readonly total: number
    }
  | { readonly card: 'search'; readonly shape: 'paths'; readonly paths: readonly string[]; readonly truncated: boolean; readonly total: number }
  | {
      readonly card: 'read'
      readonly path: string
      readonly offset: number
      readonly lines: readonly { readonly number: number; readonly text: string }[]
      readonly totalLines: number
      readonly lang?: string
    }
  | {
      readonly card: 'web'
      readonly kind: 'search'
      readonly sources: readonly { readonly url: string; readonly title?: string; readonly snippet?: string; readonly publishedAt?: string }[]
      readonly answer?: string
      readonly truncated: boolean
    }
  | { readonly card: 'web'; readonly kind: 'fetch'; readonly url: string; readonly statusCode: number; readonly truncated: boolean }

// Schemas

/** Any value that JSON carries without loss: numbers finite, objects plain. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

interface Annotations {
  readonly description?: string
  readonly title?: string
  readonly default?: Json
  readonly examples?: readonly Json[]
}

/** The type of a value. An object says whether it may have other properties; `json` is any value; of `oneOf` exactly one branch matches. */
export type ValueSpec =
  | ({ readonly type: 'string'; readonly enum?: readonly string[]; readonly const?: string } & Annotations)
  | ({ readonly type: 'number' | 'integer'; readonly enum?: readonly number[]; readonly const?: number } & Annotations)
  | ({ readonly type: 'boolean'; readonly enum?: readonly boolean[]; readonly const?: boolean } & Annotations)
  | ({ readonly type: 'null'; readonly enum?: readonly null[]; readonly const?: null } & Annotations)
  | ({ readonly type: 'array'; readonly items?: ValueSpec } & Annotations)
  | ({ readonly type: 'object'; readonly properties?: ParameterSpecs; readonly additionalProperties: boolean } & Annotations)
  | ({ readonly type: 'json' } & Annotations)
  | ({ readonly oneOf: readonly ValueSpec[] } & Annotations)

/** Properties by name; optional unless they say `required: true`. */
export type ParameterSpecs = { readonly [name: string]: ValueSpec & { readonly required?: true } }

/** The TypeScript type of the values that a spec accepts. */
export type InferValue<Spec> = ValueSpec extends Spec
  ? Json
  : Spec extends { readonly oneOf: readonly (infer Branch)[] }
    ? InferValue<Branch>
    : Spec extends { readonly const: infer Const }
      ? Const
      : Spec extends { readonly enum: readonly (infer Member)[] }
        ? Member
        : Spec extends { readonly type: 'string' }
          ? string
          : Spec extends { readonly type: 'number' | 'integer' }
            ? number
            : Spec extends { readonly type: 'boolean' }
              ? boolean
              : Spec extends { readonly type: 'null' }
                ? null
                : Spec extends { readonly type: 'array'; readonly items: infer Item }
                  ? readonly InferValue<Item>[]
                  : Spec extends { readonly type: 'array' }
                    ? readonly Json[]
                    : Spec extends { readonly type: 'object'; readonly properties: infer Properties }
                      ? InferArgs<Properties>
                      : Spec extends { readonly type: 'object' }
                        ? { readonly [key: string]: Json }
                        : Json

type RequiredNames<Properties> = { [Name in keyof Properties]: Properties[Name] extends { readonly required: true } ? Name : never }[keyof Properties]
type Flat<T> = { readonly [Name in keyof T]: T[Name] }

/** The TypeScript type of a tool's arguments. */
export type InferArgs<Properties> = Flat<
  { [Name in RequiredNames<Properties>]: InferValue<Properties[Name]> } & {
    [Name in Exclude<keyof Properties, RequiredNames<Properties>>]?: InferValue<Properties[Name]>
  }
>
