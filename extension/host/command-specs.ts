import type { ChatCommand } from './chat-commands.ts'
import type { JobCommand } from './job-commands.ts'

/** What a command of the palette does: something of the chat's controller, of background jobs, or of the pages. */
export type CommandTarget = { readonly chat: ChatCommand } | { readonly job: JobCommand } | { readonly page: 'show' | 'open-in-editor' | 'show-log' }

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
  readonly category?: 'Bosun Jobs'
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
const hasChanges = 'bosun.hasChanges'
const inChanges = `view == bosun.changes && ${hasChanges}`
const onFile = 'view == bosun.changes && viewItem == file'
const onRegion = 'view == bosun.changes && viewItem == region'
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
  { id: 'openChatInEditor', title: 'Open Chat in Editor', icon: 'open-preview', target: { page: 'open-in-editor' }, viewTitle: '1_view@1' },
  { id: 'stop', title: 'Stop', icon: 'debug-stop', target: { chat: 'stop' } },
  { id: 'continue', title: 'Continue', icon: 'debug-continue', target: { chat: 'continue' } },
  { id: 'approvals', title: 'Answer Waiting Approvals…', icon: 'bell', target: { chat: 'approvals' } },
  { id: 'chooseModel', title: 'Choose Model…', icon: 'chip', target: { chat: 'choose-model' }, viewTitle: '2_choose@1' },
  { id: 'choosePreset', title: 'Choose Preset…', icon: 'tools', target: { chat: 'choose-preset' }, viewTitle: '2_choose@2' },
  { id: 'copyPreset', title: 'Copy Preset…', icon: 'copy', target: { chat: 'copy-preset' } },
  { id: 'choosePermission', title: 'Choose Permissions…', icon: 'shield', target: { chat: 'choose-permission' }, viewTitle: '2_choose@3' },
  { id: 'showPermissions', title: 'Show Permission Rules', icon: 'law', target: { chat: 'show-permissions' }, viewTitle: '2_choose@6' },
  { id: 'togglePlan', title: 'Toggle Plan Mode', icon: 'checklist', target: { chat: 'toggle-plan' } },
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
  { id: 'takeBackTerminals', title: 'Take Back Terminals', icon: 'debug-disconnect', target: { chat: 'take-back-terminals' } },
  { id: 'showMenu', title: 'Show Menu', icon: 'menu', target: { chat: 'menu' } },
  { id: 'showLog', title: 'Show Diagnostics', icon: 'output', target: { page: 'show-log' }, viewTitle: '4_help@2' },
]
