import type { Undo } from '../../base/undo.ts'
import type { Emit, ScopeKey, Waterfall } from '../kernel/plugin.ts'
import type { ToolDeclaration } from '../model/contract.ts'
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
  /** Scoped contexts only: filter what the scope inherits. Errors: `INVALID_RESTRICTION` naming the known tools. */
  restrict(filter: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }): Undo
  /** A monotonic veto: the first returned text denies. */
  guard(check: (exec: Execution) => string | undefined): Undo
  get(name: string, scope?: ScopeKey | null): ToolDefinition | undefined
  /** Model-facing list for a scope, sorted by name unless an order is configured; detached copies. */
  schemas(scope?: ScopeKey | null): readonly ToolDeclaration[]
  /** Visible definitions, in the order of `schemas`. */
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

export interface StagedExecution {
  prepare(): Promise<void>
  run(): Promise<void>
  commit(): Promise<ToolResult>
}

/** Where, in a configured order of tools, those stand that it does not name. */
export const UNLISTED_TOOLS = '<unlisted-tools>'

export type PresentationMode = 'native' | 'code' | 'both'

declare module '../kernel/plugin.ts' {
  interface Services {
    tools: Tools
  }
  interface ExtensionPoints {
    'tools/pre-execute': Waterfall<[exec: Execution], PreExecuteAnswer>
    'tools/execute': Waterfall<[exec: MutableExecution], ToolResult>
    'tools/post-execute': Waterfall<[exec: Execution, result: ToolResult], PostExecuteDecision>
    'tools/result': Emit<[exec: Execution, result: ToolResult]>
    'tools/change': Emit<[]>
  }
}
