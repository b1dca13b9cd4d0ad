import type { Undo } from '../../base/undo.ts'
import type { Emit, ScopeKey, Waterfall } from '../kernel/plugin.ts'
import type { Agent } from '../session/agent.ts'

/** A part of the system prompt, rendered ascending by `order`. Source: runtime specification 14.1. */
export interface PromptSection {
  readonly name: string
  readonly order: number
  /** May use `{{provider}}`, `{{model}}`, `{{cwd}}`. */
  readonly text: string | ((context: PromptContext) => string | undefined)
  /** Replaces all others; two of them are an error. */
  readonly isComplete?: true
  /** Said only to agents that see all of these tools. */
  readonly tools?: readonly string[]
}

/** Facts that change; they form one user message, sent again only when the text differs from the last one the model still sees. */
export interface RuntimeContextSection {
  readonly name: string
  readonly order: number
  readonly text: (context: PromptContext) => string | undefined | Promise<string | undefined>
}

/** A section as it was rendered. */
export interface RenderedSection {
  readonly name: string
  readonly text: string
}

/** What a request says beside the talk and its tools, before it is joined. */
export interface PromptAssembly {
  readonly sections: readonly RenderedSection[]
  readonly runtimeContext: readonly RenderedSection[]
}

export interface PromptContext {
  readonly agent: Agent
  readonly scope: ScopeKey
  readonly provider: string
  readonly model: string
  readonly cwd: string
  /** 1 in the first step of a turn. */
  readonly step: number
}

/** As seen from one context: contributions go to its layer and plugin. */
export interface SystemPrompt {
  section(section: PromptSection): Undo
  runtimeContext(section: RuntimeContextSection): Undo
  /** Scoped contexts only: agents at or below the layer get no runtime context. */
  omitRuntimeContext(): Undo
  /** Errors: `Error` for an unknown, valueless or malformed placeholder, two complete sections, or an order of tools that names an unknown one. */
  assemble(context: PromptContext): Promise<{ readonly system: string; readonly runtimeContext: string; readonly runtimeSections: readonly string[] }>
}

declare module '../kernel/plugin.ts' {
  interface Services {
    systemPrompt: SystemPrompt
  }
  interface ExtensionPoints {
    'system-prompt/assemble': Waterfall<[assembly: PromptAssembly, context: PromptContext], PromptAssembly>
    'system-prompt/change': Emit<[]>
  }
}
