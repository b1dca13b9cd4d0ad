import type { Undo } from '../../base/undo.ts'
import type { Emit, ScopeKey, Waterfall } from '../kernel/plugin.ts'
import type { ToolContent } from '../log/message.ts'
import type { ToolDeclaration } from '../model/contract.ts'
import type { ToolEffect } from '../policy/tool-effects.ts'
import type { Agent } from '../session/agent.ts'
import type {
  Execution,
  ExecutionRequest,
  MutableExecution,
  PostExecuteDecision,
  PreExecuteAnswer,
  ToolDefinition,
  ToolResult,
} from './definition.ts'

/** The tools there are, and the only way to run one. As seen from one context: registrations go to its layer and plugin. */
export interface Tools {
  /** Errors: `ToolError` `INVALID_DEFINITION`, `UNSUPPORTED_SCHEMA`, `RESERVED_NAME`, `DUPLICATE_TOOL`. */
  register(definition: ToolDefinition): Undo
  /** Scoped contexts only, once a scope. */
  presentAs(mode: PresentationMode): Undo
  /** How the tools of a scope are presented: the nearest declaration, else the setting. */
  presentation(scope?: ScopeKey | null): PresentationMode
  /**
   * Fill the reserved name. Code Mode alone does, once for all layers: the tool is there where tools are presented as code, and can
   * neither be shadowed nor restricted. Errors: `ToolError` `DUPLICATE_TOOL`, `RESERVED_NAME` for any other name, and as `register`.
   */
  registerCode(definition: ToolDefinition): Undo
  /** Scoped contexts only: filter what the scope inherits. Errors: `INVALID_RESTRICTION` naming the known tools. */
  restrict(filter: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }): Undo
  /**
   * Make a tool known that the shared layer has not, or not now, with what must be so before it is there. For catalogues and documents,
   * never for a model: nothing can call it, and a call is told what it needs. `make` is asked each time somebody looks. The same name may be said by several.
   */
  declareAbsent(absence: ToolAbsence, make: () => ToolDefinition): Undo
  /** What was declared absent, by name, each as sound as `register` wants it. Errors: as `register`, but for `DUPLICATE_TOOL`. */
  absent(): readonly AbsentTool[]
  /** A monotonic veto: the first returned text denies. */
  guard(check: (exec: Execution) => string | undefined): Undo
  /** Say of a name that is not offered where it is called why, and what to do; the first that knows is what the model reads. */
  explainAbsent(explain: (name: string) => string | undefined): Undo
  /** The one for programs is there in scopes that present tools as code, and in the global layer. */
  get(name: string, scope?: ScopeKey | null): ToolDefinition | undefined
  /** What a model may call directly, by the presentation of the scope, sorted by name unless an order is configured; detached copies. */
  schemas(scope?: ScopeKey | null): readonly ToolDeclaration[]
  /** Visible definitions by name or in the configured order, without the one for programs: what a program may call. */
  list(scope?: ScopeKey | null): readonly ToolDefinition[]
  /** Name of the plugin that registered a visible tool: the group it belongs to. */
  groupOf(name: string, scope?: ScopeKey | null): string | undefined
  executionMode(request: Pick<ExecutionRequest, 'name' | 'arguments' | 'agent'>): 'parallel' | 'exclusive'
  /** The whole pipeline. Never rejects for a failure of the tool. */
  execute(request: ExecutionRequest): Promise<ToolResult>
  /**
   * The pipeline in two halves for the scheduler: `prepare` runs up to and with policy, in model order;
   * `run` the body; `commit` post-execute to observers, in model order.
   */
  begin(request: ExecutionRequest): StagedExecution
}

/** Why a tool is not in the shared layer. */
export interface ToolAbsence {
  /** What must be so before it is there, for people: one sentence. */
  readonly needs: string
  /** Presets that have it then. Absent: those that name it. */
  readonly presets?: readonly string[]
  /** Kinds of what its calls do to the world, as policy sees them then. Absent: what policy says of the name. */
  readonly effects?: readonly ToolEffect['kind'][]
}

export interface AbsentTool extends ToolAbsence {
  readonly definition: ToolDefinition
  /** Name of the plugin that declared it. */
  readonly group: string
}

export interface StagedExecution {
  prepare(): Promise<void>
  run(): Promise<void>
  commit(): Promise<ToolResult>
}

/** Where, in a configured order of tools, those stand that it does not name. */
export const UNLISTED_TOOLS = '<unlisted-tools>'

export type PresentationMode = 'native' | 'code' | 'both'

/** A call of a program that has ended. */
export interface CodeDispatchNews {
  readonly agent: Agent
  readonly rootCallId: string
  readonly subCallId: string
  readonly name: string
  readonly isError: boolean
  readonly content: readonly ToolContent[]
}

declare module '../kernel/plugin.ts' {
  interface Services {
    tools: Tools
  }
  interface ExtensionPoints {
    'tools/pre-execute': Waterfall<[exec: Execution], PreExecuteAnswer>
    'tools/execute': Waterfall<[exec: MutableExecution], ToolResult>
    'tools/post-execute': Waterfall<[exec: Execution, result: ToolResult], PostExecuteDecision>
    /** What the log keeps of the result of a program's call; the program has had the whole of it. A throw keeps all. */
    'tools/code-dispatch-log': Waterfall<[news: CodeDispatchNews], readonly ToolContent[]>
    'tools/result': Emit<[exec: Execution, result: ToolResult]>
    'tools/change': Emit<[]>
  }
}
