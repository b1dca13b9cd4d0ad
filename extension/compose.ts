import type { Attention } from './capabilities/attention.ts'
import type { BlobStore } from './capabilities/blob-store.ts'
import type { ChangeWatch } from './capabilities/change-watch.ts'
import type { Clock } from './capabilities/clock.ts'
import type { CodeRuntime } from './capabilities/code-runtime.ts'
import type { Contributions } from './capabilities/contributions.ts'
import type { DocumentText } from './capabilities/document-text.ts'
import type { EditorModels } from './capabilities/editor-models.ts'
import type { EditorTools } from './capabilities/editor-tools.ts'
import type { EditorFacts } from './capabilities/editor-facts.ts'
import type { EventStore } from './capabilities/event-store.ts'
import type { FileSystem } from './capabilities/file-system.ts'
import type { Http } from './capabilities/http.ts'
import type { Languages } from './capabilities/languages.ts'
import type { Logger } from './capabilities/logger.ts'
import type { McpBrowser, McpConnector } from './capabilities/mcp.ts'
import type { Machine } from './capabilities/machine.ts'
import type { Notebooks } from './capabilities/notebooks.ts'
import type { PictureScaler } from './capabilities/picture-scaler.ts'
import type { ProblemFeed } from './capabilities/problem-feed.ts'
import type { ProcessRunner } from './capabilities/process.ts'
import type { Sandbox } from './capabilities/sandbox.ts'
import type { Search } from './capabilities/search.ts'
import type { SearchIndexHost } from './capabilities/search-index.ts'
import type { Secrets } from './capabilities/secrets.ts'
import type { SettingsSource } from './capabilities/settings-source.ts'
import type { ShellSyntax } from './capabilities/shell-syntax.ts'
import type { WebPages } from './capabilities/web-pages.ts'
import type { TerminalHost } from './capabilities/terminal.ts'
import type { PersonTerminals } from './capabilities/person-terminals.ts'
import type { TerminalSettings } from './capabilities/terminal-settings.ts'
import type { TerminalViews } from './capabilities/terminal-view.ts'
import type { CreateScreen } from './capabilities/terminal-screen.ts'
import type { Workspace } from './capabilities/workspace.ts'
import type { WorktreeStore } from './capabilities/worktree-store.ts'
import { createKernel } from './core/kernel/kernel.ts'
import type {} from './core/cost/plugin.ts'
import type { Context, Kernel } from './core/kernel/plugin.ts'
// The services that a composition has, by name.
import type {} from './core/commands/command.ts'
import type {} from './core/compaction/service.ts'
import type {} from './core/loop/points.ts'
import type {} from './core/model/contract.ts'
import type {} from './core/policy/approval.ts'
import type {} from './core/policy/permissions.ts'
import type {} from './core/presets/preset.ts'
import type {} from './core/prompt/system-prompt.ts'
import type {} from './core/session/archive/archives.ts'
import type {} from './core/tools/service.ts'
import type {} from './features/code-mode/service.ts'
import type {} from './features/goals/service.ts'
import type {} from './features/history/service.ts'
import type {} from './features/instructions/service.ts'
import type {} from './features/hooks/events.ts'
import type {} from './features/hooks/service.ts'
import type {} from './features/jobs/service.ts'
import type { AskInput } from './features/mcp/service.ts'
import type {} from './features/observation/service.ts'
import type {} from './features/questions/service.ts'
import type {} from './features/references/service.ts'
import type {} from './features/web/service.ts'
import type {} from './features/terminals/service.ts'
import { mountAll } from './mount.ts'
import type { MountOptions } from './mount.ts'

/** The outside world, whole. Each root (editor, headless, test) gives one. */
export interface Capabilities {
  readonly attention: Attention
  readonly blobs: BlobStore
  /** Absent where files cannot be watched. */
  readonly changeWatch?: ChangeWatch
  readonly clock: Clock
  readonly codeRuntime: CodeRuntime
  /** Absent where there are no other extensions. */
  readonly contributions?: Contributions
  readonly documents: DocumentText
  /** Absent where no editor is. */
  readonly editorModels?: EditorModels
  /** Absent where no editor is. */
  readonly editorTools?: EditorTools
  readonly editorFacts: EditorFacts
  readonly events: EventStore
  readonly files: FileSystem
  readonly http: Http
  /** Null where there is no editor. */
  readonly languages: Languages | null
  readonly logger: Logger
  readonly machine: Machine
  readonly mcp: McpConnector
  /** A box for a value that an MCP server needs; absent where nobody can be asked. */
  readonly mcpInput?: AskInput
  /** The browser in which the person signs in at MCP servers; absent where there is none. */
  readonly mcpSignIn?: McpBrowser
  /** Absent where no editor is. */
  readonly notebooks?: Notebooks
  readonly pictures: PictureScaler
  /** Absent where no editor is. */
  readonly problemFeed?: ProblemFeed
  readonly processes: ProcessRunner
  /** Absent where nothing can be confined. */
  readonly sandbox?: Sandbox
  readonly search: Search
  /** Of the words of sessions. */
  readonly searchIndex: SearchIndexHost
  readonly secrets: Secrets
  readonly settings: SettingsSource
  readonly shellSyntax: ShellSyntax
  readonly webPages: WebPages
  /** Absent where no program can be started. */
  readonly terminals?: TerminalHost
  readonly createScreen: CreateScreen
  /** Absent where nobody looks. */
  readonly terminalViews?: TerminalViews
  /** Absent where no editor is. */
  readonly terminalSettings?: TerminalSettings
  /** Absent where no editor is. */
  readonly personTerminals?: PersonTerminals
  readonly workspace: Workspace
  /** Absent where no folders for worktrees can be kept. */
  readonly worktrees?: WorktreeStore
}

/** The running application. */
export interface Application {
  readonly kernel: Kernel
  readonly ctx: Context
  /** Stops every plugin in reverse order and waits until their work has ended. */
  dispose(): Promise<void>
}

/**
 * Build the whole application from the outside world: the same under an editor, in a terminal and in a test.
 *
 * Errors: none; a plugin that fails is listed by the kernel with its reason and leaves the others.
 */
export function compose(world: Capabilities, options: Partial<MountOptions> = {}): Application {
  const kernel = createKernel({ logger: world.logger })
  mountAll(kernel, world, { adapters: [], ...options })
  return {
    kernel,
    ctx: kernel.root,
    dispose() {
      // Before the first part goes: what it would answer for the person who is not there any more is no answer.
      kernel.root.get('agents')?.suspend()
      return kernel.dispose()
    },
  }
}
