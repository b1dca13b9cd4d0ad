import type { Attention } from '../capabilities/attention.ts'
import type { BlobStore } from '../capabilities/blob-store.ts'
import type { Clock } from '../capabilities/clock.ts'
import type { Editor } from '../capabilities/editor.ts'
import type { EditorPages } from '../capabilities/editor-pages.ts'
import type { LanguageServers } from '../capabilities/language-servers.ts'
import type { LogViews } from '../capabilities/log-view.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Logger } from '../capabilities/logger.ts'
import type { Machine } from '../capabilities/machine.ts'
import type { Memento } from '../capabilities/memento.ts'
import type { PlanSurface } from '../capabilities/plan-surface.ts'
import type { FileMarks } from '../capabilities/file-marks.ts'
import type { ProblemMarks } from '../capabilities/problem-marks.ts'
import type { ReviewSurface } from '../capabilities/review-surface.ts'
import type { Secrets } from '../capabilities/secrets.ts'
import type { SettingsSource } from '../capabilities/settings-source.ts'
import type { TerminalViews } from '../capabilities/terminal-view.ts'
import type { TreeView } from '../capabilities/tree-view.ts'
import type { Workspace } from '../capabilities/workspace.ts'
import type { Services } from '../core/kernel/plugin.ts'
import type {} from '../core/commands/command.ts'
import type {} from '../core/cost/plugin.ts'
import type {} from '../core/log/event-types.ts'
import type {} from '../core/loop/model-routes.ts'
import type {} from '../core/loop/points.ts'
import type {} from '../core/loop/retry.ts'
import type {} from '../core/model/contract.ts'
import type {} from '../core/model/providers-plugin.ts'
import type {} from '../core/policy/approval.ts'
import type {} from '../core/policy/permissions.ts'
import type {} from '../core/presets/preset.ts'
import type {} from '../core/projections/projection.ts'
import type {} from '../core/session/archive/archives.ts'
import type {} from '../core/session/session.ts'
import type {} from '../core/settings/settings.ts'
import type {} from '../core/tools/service.ts'
import type {} from '../features/checkpoints/service.ts'
import type {} from '../features/dynamic-plugins/service.ts'
import type {} from '../features/history/service.ts'
import type {} from '../features/hooks/events.ts'
import type {} from '../features/hooks/service.ts'
import type {} from '../features/goals/service.ts'
import type {} from '../features/instructions/service.ts'
import type {} from '../features/jobs/service.ts'
import type {} from '../features/mcp/service.ts'
import type {} from '../features/plan/service.ts'
import type {} from '../features/questions/service.ts'
import type {} from '../features/references/service.ts'
import type {} from '../features/subagents/service.ts'
import type {} from '../features/schedule/service.ts'
import type {} from '../features/subagents/worktree/service.ts'
import type {} from '../features/terminals/service.ts'
import type {} from '../features/todo/service.ts'
import type {} from '../features/web/service.ts'
import type {} from '../features/skills/service.ts'
import type {} from '../features/teams/service.ts'
import type {} from '../features/workflow/service.ts'

/** The outside world as the chat's host needs it. */
export interface ChatCapabilities {
  readonly attention: Attention
  readonly blobs: Pick<BlobStore, 'getBeforeImage' | 'putAttachment' | 'getAttachment' | 'keepAttachments' | 'usage'>
  readonly clock: Clock
  readonly editor: Editor
  readonly pages: EditorPages
  readonly agentTree: TreeView
  readonly jobTree: TreeView
  readonly mcpTree: TreeView
  readonly logViews: LogViews
  readonly l10n: Localization
  readonly languageServers: LanguageServers
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId'>
  readonly memento: Memento
  readonly planSurface: PlanSurface
  readonly problemMarks: ProblemMarks
  readonly fileMarks: FileMarks
  readonly reviewSurface: ReviewSurface
  readonly secrets: Secrets
  readonly settings: SettingsSource
  readonly terminalViews: TerminalViews
  readonly workspace: Workspace
}

/** Services that the chat stands on, by name. */
export const chatServices = [
  'agents',
  'approvals',
  'budgets',
  'commands',
  'costs',
  'dynamicPlugins',
  'eventTypes',
  'history',
  'goals',
  'hooks',
  'instructions',
  'agentChanges',
  'jobs',
  'mcp',
  'modelRoutes',
  'modelProblems',
  'models',
  'permissions',
  'plan',
  'planReviews',
  'presets',
  'projections',
  'questions',
  'retries',
  'reviews',
  'references',
  'schedules',
  'sessionArchives',
  'sessions',
  'settings',
  'skills',
  'subagents',
  'tasks',
  'teams',
  'tools',
  'web',
  'workflows',
] as const

export type ChatServices = Pick<Services, (typeof chatServices)[number]> & {
  /** Absent where no program can be started at a terminal. */
  get(name: 'terminals'): Services['terminals'] | undefined
  /** Absent where no worktrees can be kept. */
  get(name: 'worktrees'): Services['worktrees'] | undefined
}
