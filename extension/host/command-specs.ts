import type { ChatCommand } from './chat-commands.ts'
import type { AgentCommand } from './agent-commands.ts'
import type { GoalCommand } from './goal-commands.ts'
import type { JobCommand } from './job-commands.ts'
import type { McpCommand } from './mcp-commands.ts'
import type { ReminderCommand } from './reminder-commands.ts'

/** What a command of the palette does: something of the chat's controller, of agents, background jobs, MCP servers, goals or reminders, or of the pages. */
export type CommandTarget = { readonly chat: ChatCommand } | { readonly plan: 'add-comment' | 'delete-comments' } | { readonly agent: AgentCommand } | { readonly job: JobCommand } | { readonly mcp: McpCommand } | { readonly reminder: ReminderCommand } | { readonly goal: GoalCommand } | { readonly page: 'show' | 'open-in-editor' | 'show-log' }

export type MenuPlace =
  | 'view/title'
  | 'view/item/context'
  | 'editor/context'
  | 'editor/title'
  | 'explorer/context'
  | 'editor/title/context'
  | 'scm/resourceState/context'
  | 'scm/change/title'
  | 'scm/title'
  | 'terminal/context'
  | 'comments/commentThread/context'
  | 'comments/commentThread/title'

export interface CommandSpec {
  /** Without the product prefix. */
  readonly id: string
  /** English; the manifest names it by a key of `package.nls.json`. */
  readonly title: string
  /** A codicon. */
  readonly icon?: string
  readonly target: CommandTarget
  /** Place in the menu of the chat view's title; what is used most stands in the page's own header. */
  readonly viewTitle?: string
  /** Places in the editor's own menus. */
  readonly menus?: readonly { readonly menu: MenuPlace; readonly when: string; readonly group: string }[]
  readonly key?: { readonly key: string; readonly mac?: string; readonly when?: string }
  /** What it belongs to, said before its title in the palette; the product when absent. */
  readonly category?: 'Bosun Agents' | 'Bosun Jobs' | 'Bosun MCP' | 'Bosun Reminders' | 'Bosun Goal'
  /** The palette offers it only then. */
  readonly palette?: string
}

const jobMenu = (group: string, viewItem: string) => ({ menu: 'view/item/context' as const, when: `view == bosun.jobs && viewItem =~ /${viewItem}/`, group })
/** A command on background jobs; `kinds` are words of the rows that offer it, in order. */
const job = (id: string, title: string, icon: string, target: JobCommand, palette: string, ...menus: NonNullable<CommandSpec['menus']>): CommandSpec => ({
  id,
  title,
  icon,
  target: { job: target },
  category: 'Bosun Jobs',
  palette,
  menus,
})
const agentMenu = (group: string, viewItem: string) => ({ menu: 'view/item/context' as const, when: `view == bosun.agents && viewItem =~ /${viewItem}/`, group })
/** A command on agents that agents started. */
const agent = (id: string, title: string, icon: string, target: AgentCommand, palette: string, ...menus: NonNullable<CommandSpec['menus']>): CommandSpec => ({
  id,
  title,
  icon,
  target: { agent: target },
  category: 'Bosun Agents',
  palette,
  menus,
})
const mcpMenu = (group: string, viewItem: string) => ({ menu: 'view/item/context' as const, when: `view == bosun.mcp && viewItem =~ /\\b${viewItem}\\b/`, group })
/** A command on MCP servers; `kind`: the word of the rows that offer it, also in the palette. */
const mcp = (id: string, title: string, icon: string, target: McpCommand, kind: string, ...groups: readonly string[]): CommandSpec => ({
  id,
  title,
  icon,
  target: { mcp: target },
  category: 'Bosun MCP',
  palette: `bosun.mcp.${kind}`,
  menus: groups.map((group) => mcpMenu(group, kind)),
})
/** A command on reminders; without a condition the palette always has it. */
const reminder = (id: string, title: string, icon: string, target: ReminderCommand, palette?: string): CommandSpec => ({ id, title, icon, target: { reminder: target }, category: 'Bosun Reminders', ...(palette !== undefined && { palette }) })
/** A command on the goal of the session on screen. */
const goal = (id: string, title: string, icon: string, target: GoalCommand, palette?: string): CommandSpec => ({ id, title, icon, target: { goal: target }, category: 'Bosun Goal', ...(palette !== undefined && { palette }) })
const hasChanges = 'bosun.hasChanges'
const inChanges = `view == bosun.changes && ${hasChanges}`
const onFile = 'view == bosun.changes && viewItem == file'
const onRegion = 'view == bosun.changes && viewItem == region'
/** A plan waits for a decision, and the document of one that does. */
const planWaits = 'bosun.waitingPlans'
const inPlan = 'resourceScheme == bosun-plan && resourcePath in bosun.waitingPlans'
/** Bosun's own entry in Source Control. */
const inSourceControl = 'scmProvider == bosun'
/** A diff of a file that waits, which shows no lenses. */
const inDiff = 'isInDiffEditor && resourcePath in bosun.reviewedPaths'
/** The peek of a change that is compared with a text of ours. */
const inPeek = 'originalResourceScheme == bosun-before'

/** Every command, in the order of the palette. Source: ux 1 "Palette and keys": few keys, none over the editor's own. */
export const commandSpecs: readonly CommandSpec[] = [
  { id: 'openChat', title: 'Open Chat', icon: 'comment-discussion', target: { page: 'show' }, key: { key: 'ctrl+alt+shift+b', mac: 'cmd+alt+shift+b' } },
  { id: 'newSession', title: 'New Session', icon: 'add', target: { chat: 'new-session' }, viewTitle: '0_session@1' },
  { id: 'openSession', title: 'Open Session…', icon: 'history', target: { chat: 'open-session' }, viewTitle: '0_session@2' },
  { id: 'searchSessions', title: 'Search Sessions…', icon: 'search', target: { chat: 'search-sessions' }, viewTitle: '0_session@3' },
  { id: 'showTrace', title: 'Show Trace of Session', icon: 'type-hierarchy', target: { chat: 'show-trace' }, viewTitle: '3_session@8' },
  { id: 'openChatInEditor', title: 'Open Chat in Editor', icon: 'open-preview', target: { page: 'open-in-editor' }, viewTitle: '1_view@1' },
  { id: 'stop', title: 'Stop', icon: 'debug-stop', target: { chat: 'stop' } },
  { id: 'continue', title: 'Continue', icon: 'debug-continue', target: { chat: 'continue' } },
  { id: 'approvals', title: 'Answer What Waits…', icon: 'bell', target: { chat: 'approvals' } },
  { id: 'chooseModel', title: 'Choose Model…', icon: 'chip', target: { chat: 'choose-model' }, viewTitle: '2_choose@1' },
  { id: 'choosePreset', title: 'Choose Preset…', icon: 'tools', target: { chat: 'choose-preset' }, viewTitle: '2_choose@2' },
  { id: 'copyPreset', title: 'Copy Preset…', icon: 'copy', target: { chat: 'copy-preset' } },
  { id: 'editPreset', title: 'Edit Preset…', icon: 'edit', target: { chat: 'edit-preset' } },
  { id: 'deletePreset', title: 'Delete Preset…', icon: 'trash', target: { chat: 'delete-preset' } },
  { id: 'choosePermission', title: 'Choose Permissions…', icon: 'shield', target: { chat: 'choose-permission' }, viewTitle: '2_choose@3' },
  { id: 'showPermissions', title: 'Show Permission Rules', icon: 'law', target: { chat: 'show-permissions' }, viewTitle: '2_choose@6' },
  { id: 'togglePlan', title: 'Toggle Plan Mode', icon: 'checklist', target: { chat: 'toggle-plan' } },
  { id: 'approvePlan', title: 'Approve Plan', icon: 'check', target: { chat: 'approve-plan' }, palette: planWaits, menus: [{ menu: 'editor/title', when: inPlan, group: 'navigation@-3' }] },
  { id: 'refusePlan', title: 'Refuse Plan with Feedback…', icon: 'circle-slash', target: { chat: 'refuse-plan' }, palette: planWaits, menus: [{ menu: 'editor/title', when: inPlan, group: 'navigation@-2' }] },
  { id: 'discussPlan', title: 'Discuss Plan', icon: 'comment-discussion', target: { chat: 'discuss-plan' }, palette: planWaits, menus: [{ menu: 'editor/title', when: inPlan, group: 'navigation@-1' }] },
  { id: 'openPlan', title: 'Open Waiting Plan', icon: 'open-preview', target: { chat: 'open-plan' }, palette: planWaits },
  { id: 'addPlanComment', title: 'Add Comment', target: { plan: 'add-comment' }, palette: 'false', menus: [{ menu: 'comments/commentThread/context', when: 'commentController == bosun.plan', group: 'inline' }] },
  { id: 'deletePlanComments', title: 'Delete Comment', icon: 'trash', target: { plan: 'delete-comments' }, palette: 'false', menus: [{ menu: 'comments/commentThread/title', when: 'commentController == bosun.plan && !commentThreadIsEmpty', group: 'navigation' }] },
  { id: 'addTask', title: 'Add Task…', icon: 'add', target: { chat: 'add-task' } },
  { id: 'showTaskHistory', title: 'Show Task History', icon: 'history', target: { chat: 'task-history' } },
  { id: 'setApiKey', title: 'Set API Key…', icon: 'key', target: { chat: 'set-api-key' }, viewTitle: '2_choose@4' },
  { id: 'checkConnection', title: 'Check Connection', icon: 'plug', target: { chat: 'check-connection' }, viewTitle: '2_choose@5' },
  { id: 'renameSession', title: 'Rename Session…', icon: 'edit', target: { chat: 'rename-session' }, viewTitle: '3_session@1' },
  { id: 'deleteSession', title: 'Delete Session…', icon: 'trash', target: { chat: 'delete-session' }, viewTitle: '3_session@2' },
  { id: 'reviewHooks', title: 'Review Hooks…', icon: 'list-selection', target: { chat: 'review-hooks' } },
  { id: 'showInstructions', title: 'Show Instruction Files', icon: 'book', target: { chat: 'show-instructions' }, viewTitle: '4_help@0' },
  { id: 'showSkills', title: 'Show Skills', icon: 'mortar-board', target: { chat: 'show-skills' }, viewTitle: '4_help@1' },
  { id: 'showStorage', title: 'Show Storage', icon: 'database', target: { chat: 'show-storage' } },
  { id: 'showLanguageServers', title: 'Show Language Servers', icon: 'server-process', target: { chat: 'show-language-servers' } },
  { id: 'forkSession', title: 'Fork Session', icon: 'repo-forked', target: { chat: 'fork-session' }, viewTitle: '3_session@3' },
  { id: 'rewindSession', title: 'Go Back to a Message…', icon: 'discard', target: { chat: 'rewind-session' }, viewTitle: '3_session@4' },
  { id: 'archiveSession', title: 'Archive Session', icon: 'archive', target: { chat: 'archive-session' } },
  { id: 'exportSession', title: 'Export Session…', icon: 'export', target: { chat: 'export-session' }, viewTitle: '3_session@5' },
  { id: 'importSession', title: 'Import Session…', icon: 'desktop-download', target: { chat: 'import-session' }, viewTitle: '3_session@6' },
  { id: 'compact', title: 'Compact Conversation', icon: 'fold', target: { chat: 'compact' }, viewTitle: '3_session@7' },
  { id: 'runCommand', title: 'Run Slash Command…', icon: 'terminal', target: { chat: 'run-command' } },
  { id: 'reviewChanges', title: 'Review Changes', icon: 'diff-multiple', target: { chat: 'review-changes' }, palette: hasChanges, menus: [{ menu: 'view/title', when: inChanges, group: 'navigation@1' }, { menu: 'scm/title', when: inSourceControl, group: 'navigation@1' }] },
  { id: 'reviewChildWork', title: 'Review Child’s Work…', icon: 'git-merge', target: { chat: 'review-child-work' }, viewTitle: '3_session@8' },
  { id: 'showTeamBoard', title: 'Show Team Board', icon: 'project', target: { chat: 'show-team-board' }, viewTitle: '3_session@9' },
  { id: 'keepAllChanges', title: 'Keep All Changes', icon: 'check-all', target: { chat: 'keep-all' }, palette: hasChanges, menus: [{ menu: 'view/title', when: inChanges, group: 'navigation@2' }, { menu: 'scm/title', when: inSourceControl, group: 'navigation@2' }] },
  { id: 'undoAllChanges', title: 'Undo All Changes…', icon: 'discard', target: { chat: 'undo-all' }, palette: hasChanges, menus: [{ menu: 'view/title', when: inChanges, group: 'navigation@3' }, { menu: 'scm/title', when: inSourceControl, group: 'navigation@3' }] },
  { id: 'openFileChanges', title: 'Open Changes of File', icon: 'diff', target: { chat: 'open-file-changes' }, palette: hasChanges, menus: [{ menu: 'view/item/context', when: onFile, group: 'inline@1' }] },
  { id: 'keepFileChanges', title: 'Keep Changes of File', icon: 'check', target: { chat: 'keep-file' }, palette: hasChanges, menus: [{ menu: 'view/item/context', when: onFile, group: 'inline@2' }, { menu: 'scm/resourceState/context', when: inSourceControl, group: 'inline@1' }, { menu: 'editor/title', when: inDiff, group: 'navigation@1' }] },
  { id: 'undoFileChanges', title: 'Undo Changes of File', icon: 'discard', target: { chat: 'undo-file' }, palette: hasChanges, menus: [{ menu: 'view/item/context', when: onFile, group: 'inline@3' }, { menu: 'scm/resourceState/context', when: inSourceControl, group: 'inline@2' }, { menu: 'editor/title', when: inDiff, group: 'navigation@2' }] },
  {
    id: 'keepChange',
    title: 'Keep Change',
    icon: 'check',
    target: { chat: 'keep-change' },
    palette: hasChanges,
    menus: [
      { menu: 'view/item/context', when: onRegion, group: 'inline@1' },
      // The peek shows the last first.
      { menu: 'scm/change/title', when: inPeek, group: 'navigation@2' },
    ],
  },
  {
    id: 'undoChange',
    title: 'Undo Change',
    icon: 'discard',
    target: { chat: 'undo-change' },
    palette: hasChanges,
    menus: [
      { menu: 'view/item/context', when: onRegion, group: 'inline@2' },
      { menu: 'scm/change/title', when: inPeek, group: 'navigation@1' },
    ],
  },
  {
    id: 'askAboutSelection',
    title: 'Ask Bosun About Selection',
    icon: 'comment',
    target: { chat: 'ask-about-selection' },
    menus: [{ menu: 'editor/context', when: 'editorHasSelection', group: '1_chat@90' }],
  },
  {
    id: 'addToChat',
    title: 'Add to Bosun Chat',
    icon: 'mention',
    target: { chat: 'add-files' },
    menus: [
      { menu: 'explorer/context', when: 'resourceScheme == file || resourceScheme == vscode-remote', group: '5_cutcopypaste@90' },
      { menu: 'editor/title/context', when: 'resourceScheme == file || resourceScheme == vscode-remote', group: '1_close@90' },
      { menu: 'scm/resourceState/context', when: 'scmProvider == git', group: 'navigation@90' },
    ],
  },
  {
    id: 'askAboutTerminalSelection',
    title: 'Ask Bosun About Terminal Selection',
    icon: 'terminal',
    target: { chat: 'ask-about-terminal' },
    menus: [{ menu: 'terminal/context', when: 'terminalTextSelectedInFocused || terminalTextSelected', group: '1_chat@90' }],
  },
  goal('goalCreate', 'Set a Goal…', 'target', 'create', '!bosun.goal.unfinished'),
  goal('goalShow', 'Show Goal', 'target', 'show', 'bosun.goal'),
  goal('goalEdit', 'Edit Goal…', 'edit', 'edit', 'bosun.goal.unfinished'),
  goal('goalPause', 'Pause Goal', 'debug-pause', 'pause', 'bosun.goal.active'),
  goal('goalResume', 'Resume Goal', 'debug-continue', 'resume', 'bosun.goal.resumable'),
  goal('goalComplete', 'Mark Goal as Complete', 'check', 'complete', 'bosun.goal.unfinished'),
  goal('goalClear', 'Clear Goal…', 'trash', 'clear', 'bosun.goal'),
  agent('agentOpen', 'Open Transcript', 'comment-discussion', 'open', 'bosun.agents', agentMenu('inline@3', '\\bagent\\b.*\\bsession\\b'), agentMenu('1_open@1', '\\bsession\\b')),
  agent('agentMessage', 'Message…', 'comment', 'message', 'bosun.agents.writable', agentMenu('inline@2', '\\bwritable\\b'), agentMenu('2_speak@1', '\\bwritable\\b')),
  agent('agentInterrupt', 'Interrupt', 'debug-stop', 'interrupt', 'bosun.agents.working', agentMenu('inline@1', '\\binterruptible\\b'), agentMenu('2_speak@2', '\\binterruptible\\b')),
  agent('agentTakeOver', 'Take Over Conversation…', 'person', 'take-over', 'bosun.agents.takeable', agentMenu('2_speak@3', '\\btakeable\\b')),
  agent('agentStopJob', 'Stop Job', 'stop-circle', 'stop-job', 'false', agentMenu('2_speak@4', '\\bjob\\b')),
  agent('agentChanges', 'Show Changes', 'diff-multiple', 'changes', 'bosun.agents', agentMenu('3_changes@1', '\\bagent\\b.*\\bsession\\b')),
  agent('agentReviewWork', 'Review Work…', 'git-merge', 'review-work', 'false', agentMenu('3_changes@2', '\\bwork\\b')),
  agent('agentRestore', 'Restore to Before This…', 'discard', 'restore', 'bosun.agents', agentMenu('3_changes@3', '\\bagent\\b.*\\bsession\\b')),
  agent('agentCopyId', 'Copy ID', 'copy', 'copy-id', 'false', agentMenu('4_copy@1', '\\bagent\\b')),
  agent('agentLimits', 'Change Limits of Agents', 'settings-gear', 'limits', 'true', { menu: 'view/title', when: 'view == bosun.agents', group: 'navigation@1' }),
  job('jobShowOutput', 'Show Output', 'output', 'show-output', 'bosun.jobs', jobMenu('1_open@1', '\\bjob\\b')),
  job('jobOpenPort', 'Open Port', 'globe', 'open-port', 'bosun.jobs.listening', jobMenu('inline@1', '\\b(listening|port)\\b'), jobMenu('1_open@2', '\\b(listening|port)\\b')),
  job('jobCopyAddress', 'Copy Address', 'copy', 'copy-address', 'bosun.jobs.listening', jobMenu('inline@2', '\\bport\\b'), jobMenu('1_open@3', '\\b(listening|port)\\b')),
  job('jobShowProblems', 'Show Problems', 'warning', 'show-problems', 'bosun.jobs.watching', jobMenu('1_open@4', '\\b(watching|problems)\\b')),
  job('jobSendInput', 'Send Input…', 'keyboard', 'send-input', 'bosun.jobs.taking', jobMenu('2_change@1', '\\binput\\b')),
  job('jobWakeWhen', 'Wake Agent When Output Matches…', 'bell', 'wake-when', 'bosun.jobs.live', jobMenu('2_change@2', '\\b(live|wake)\\b')),
  job('jobPin', 'Pin', 'pin', 'pin', 'bosun.jobs', jobMenu('3_keep@1', '\\bunpinned\\b')),
  job('jobUnpin', 'Unpin', 'pinned', 'unpin', 'bosun.jobs.pinned', jobMenu('3_keep@1', '\\bpinned\\b')),
  job('jobRemove', 'Remove from List', 'close', 'forget', 'bosun.jobs.ended', jobMenu('3_keep@2', '\\bended\\b')),
  job('jobRemoveEnded', 'Remove All That Ended', 'clear-all', 'forget-ended', 'bosun.jobs.ended', { menu: 'view/title', when: 'view == bosun.jobs && bosun.jobs.ended', group: 'navigation@1' }),
  job('jobRestart', 'Restart', 'debug-restart', 'restart', 'bosun.jobs', jobMenu('inline@3', '\\bended\\b.*\\brestartable\\b'), jobMenu('4_end@1', '\\brestartable\\b')),
  job('jobKill', 'Kill', 'debug-stop', 'kill', 'bosun.jobs.live', jobMenu('inline@4', '\\blive\\b'), jobMenu('4_end@2', '\\blive\\b')),
  { id: 'mcpAdd', title: 'Add MCP Server…', icon: 'add', target: { mcp: 'add' }, menus: [{ menu: 'view/title', when: 'view == bosun.mcp', group: 'navigation@1' }] },
  { id: 'mcpRefresh', title: 'Reload MCP Configuration', icon: 'refresh', target: { mcp: 'refresh' }, menus: [{ menu: 'view/title', when: 'view == bosun.mcp', group: 'navigation@2' }] },
  mcp('mcpAllow', 'Allow Server to Run', 'check', 'allow', 'waits', 'inline@1', '1_run@1'),
  mcp('mcpSignIn', 'Sign In…', 'sign-in', 'sign-in', 'locked', 'inline@1', '1_run@1'),
  { ...mcp('mcpInput', 'Give Value…', 'key', 'give-input', 'asking'), menus: [mcpMenu('inline@1', 'lacking'), mcpMenu('3_change@1', 'asking')] },
  mcp('mcpStart', 'Start', 'play', 'start', 'startable', 'inline@2', '1_run@2'),
  mcp('mcpRestart', 'Restart', 'debug-restart', 'restart', 'restartable', 'inline@2', '1_run@3'),
  mcp('mcpStop', 'Stop', 'debug-stop', 'stop', 'stoppable', '1_run@4'),
  mcp('mcpShowLog', 'Show Log', 'output', 'show-log', 'logged', 'inline@3', '2_open@1'),
  mcp('mcpOpenConfiguration', 'Open Configuration', 'go-to-file', 'open-configuration', 'server', '2_open@2'),
  mcp('mcpTools', 'Switch Tools On or Off…', 'checklist', 'tools', 'switchable', '3_change@2'),
  mcp('mcpTrust', 'Trust Read-only Hints', 'verified', 'trust', 'trustable', '3_change@3'),
  mcp('mcpDistrust', 'Stop Trusting Read-only Hints', 'unverified', 'distrust', 'trusted', '3_change@3'),
  mcp('mcpSignOut', 'Sign Out', 'sign-out', 'sign-out', 'signed', '4_end@1'),
  mcp('mcpForget', 'Forget Consent', 'circle-slash', 'forget', 'consented', '4_end@2'),
  { id: 'mcpToolOn', title: 'Switch Tool On', icon: 'check', target: { mcp: 'tool-on' }, palette: 'false', menus: [mcpMenu('1_run@1', 'off')] },
  { id: 'mcpToolOff', title: 'Switch Tool Off', icon: 'circle-slash', target: { mcp: 'tool-off' }, palette: 'false', menus: [mcpMenu('1_run@1', 'on')] },
  reminder('newReminder', 'New Reminder…', 'add', 'new'),
  reminder('showReminders', 'Show Reminders', 'clock', 'show', 'bosun.reminders'),
  reminder('snoozeReminder', 'Snooze…', 'history', 'snooze', 'bosun.reminders'),
  reminder('pauseReminder', 'Pause…', 'debug-pause', 'pause', 'bosun.reminders'),
  reminder('resumeReminder', 'Resume…', 'debug-continue', 'resume', 'bosun.reminders'),
  reminder('runReminder', 'Run Now…', 'play', 'run', 'bosun.reminders'),
  reminder('editReminder', 'Edit…', 'edit', 'edit', 'bosun.reminders'),
  reminder('deleteReminder', 'Delete…', 'trash', 'delete', 'bosun.reminders'),
  { id: 'takeBackTerminals', title: 'Take Back Terminals', icon: 'debug-disconnect', target: { chat: 'take-back-terminals' } },
  { id: 'showMenu', title: 'Show Menu', icon: 'menu', target: { chat: 'menu' } },
  { id: 'showLog', title: 'Show Diagnostics', icon: 'output', target: { page: 'show-log' }, viewTitle: '4_help@2' },
]
