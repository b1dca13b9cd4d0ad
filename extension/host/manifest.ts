import type { JsonObject } from '../base/json.ts'
import { manifestProperties, restrictedConfigurations } from '../core/settings/manifest.ts'
import { commandSpecs } from './command-specs.ts'
import { PARTICIPANT } from './manifest-ids.ts'
import { offeredTexts } from './offered-tools.ts'

/** English texts that the manifest names by key: `package.nls.json`. */
export function manifestTexts(): Readonly<Record<string, string>> {
  return {
    'bosun.description': 'An agent harness that lives inside VS Code: its tools are the editor’s own parts.',
    'bosun.view.chat': 'Chat',
    'bosun.view.agents': 'Agents',
    'bosun.welcome.agents': 'Agents that Bosun starts for parts of a task appear here, with what they do, what they cost and what you can do with them.',
    'bosun.view.jobs': 'Jobs',
    'bosun.welcome.jobs': 'Commands that Bosun runs in the background, such as a server or a watching build, appear here while they run and after.',
    'bosun.welcome.jobs.untrusted': 'This folder is not trusted, so Bosun runs no commands in it, and no jobs.\n[Manage Workspace Trust](command:workbench.trust.manage)',
    'bosun.view.mcp': 'MCP Servers',
    'bosun.welcome.mcp': 'Servers of the Model Context Protocol lend the model their tools. None is configured here yet.\n[Add an MCP Server](command:bosun.mcpAdd)',
    'bosun.welcome.mcp.untrusted': 'This folder is not trusted, so Bosun reads no MCP servers that it configures, and offers none of their tools.\n[Manage Workspace Trust](command:workbench.trust.manage)',
    'bosun.view.changes': 'Changes',
    'bosun.welcome.changes': 'What Bosun changes in files waits here for you to keep or undo. Nothing waits now.',
    'bosun.participant': 'Let Bosun work on it: its tools, your permissions, its review',
    'bosun.participant.new': 'Begin a new session with this message',
    'bosun.untrusted': 'In a folder that is not trusted Bosun only reads: no edits, no commands.',
    'bosun.virtual': 'In a folder that is not on this machine Bosun reads and edits files, but runs no commands there.',
    ...Object.fromEntries(commandSpecs.map(({ id, title }) => [titleKey(id), title])),
    ...offeredTexts(),
  }
}

const titleKey = (id: string) => `bosun.command.${id}`
const text = (key: string) => `%${key}%`

/** Each menu with its entries, in the order of the palette. */
function menusOf(): Readonly<Record<string, readonly JsonObject[]>> {
  const entries = commandSpecs.flatMap(({ id, viewTitle, menus = [], palette }) => [
    ...(viewTitle === undefined ? [] : [{ menu: 'view/title', entry: { command: `bosun.${id}`, when: 'view == bosun.chat', group: viewTitle } }]),
    ...menus.map(({ menu, when, group }) => ({ menu, entry: { command: `bosun.${id}`, when, group } })),
    ...(palette === undefined ? [] : [{ menu: 'commandPalette', entry: { command: `bosun.${id}`, when: palette } }]),
  ])
  return Object.fromEntries([...new Set(entries.map(({ menu }) => menu))].map((menu) => [menu, entries.filter((each) => each.menu === menu).map(({ entry }) => entry)]))
}

/** The parts of `package.json` that follow from the code; a test holds the file to them. `tools`: what the editor's own chat may be offered. */
export function manifestParts(tools: readonly JsonObject[]): JsonObject {
  return {
    main: './dist/extension.cjs',
    icon: 'media/bosun.png',
    l10n: './l10n',
    categories: ['AI', 'Chat', 'Other'],
    extensionKind: ['workspace'],
    // Commands and views activate by themselves; these restore editors after a reload (kept texts, pages of ours), and the last looks for reminders.
    activationEvents: ['onFileSystem:bosun', 'onFileSystem:bosun-plan', 'onWebviewPanel:bosun.page.workflow', 'onWebviewPanel:bosun.page.team', 'onStartupFinished'],
    capabilities: {
      untrustedWorkspaces: {
        supported: 'limited',
        description: text('bosun.untrusted'),
        restrictedConfigurations: [...restrictedConfigurations()],
      },
      virtualWorkspaces: { supported: 'limited', description: text('bosun.virtual') },
    },
    contributes: {
      // Open to every extension since VS Code 1.106, which is the oldest that runs this one: no fallback is needed.
      viewsContainers: { secondarySidebar: [{ id: 'bosun', title: 'Bosun', icon: 'media/bosun.svg' }] },
      views: {
        bosun: [
          { id: 'bosun.chat', type: 'webview', name: text('bosun.view.chat'), icon: 'media/bosun.svg', contextualTitle: 'Bosun' },
          { id: 'bosun.changes', name: text('bosun.view.changes'), icon: 'media/bosun.svg', contextualTitle: 'Bosun', visibility: 'collapsed' },
          { id: 'bosun.agents', name: text('bosun.view.agents'), icon: 'media/bosun.svg', contextualTitle: 'Bosun', visibility: 'collapsed' },
          { id: 'bosun.jobs', name: text('bosun.view.jobs'), icon: 'media/bosun.svg', contextualTitle: 'Bosun', visibility: 'collapsed' },
          { id: 'bosun.mcp', name: text('bosun.view.mcp'), icon: 'media/bosun.svg', contextualTitle: 'Bosun', visibility: 'collapsed' },
        ],
      },
      viewsWelcome: [
        { view: 'bosun.changes', contents: text('bosun.welcome.changes') },
        { view: 'bosun.agents', contents: text('bosun.welcome.agents') },
        { view: 'bosun.jobs', contents: text('bosun.welcome.jobs'), when: 'isWorkspaceTrusted' },
        { view: 'bosun.jobs', contents: text('bosun.welcome.jobs.untrusted'), when: '!isWorkspaceTrusted' },
        // Not before it is known that there are none.
        { view: 'bosun.mcp', contents: text('bosun.welcome.mcp'), when: 'isWorkspaceTrusted && bosun.mcp.read' },
        { view: 'bosun.mcp', contents: text('bosun.welcome.mcp.untrusted'), when: '!isWorkspaceTrusted' },
      ],
      commands: commandSpecs.map(({ id, icon, category = 'Bosun' }) => ({
        command: `bosun.${id}`,
        title: text(titleKey(id)),
        category,
        ...(icon === undefined ? {} : { icon: `$(${icon})` }),
      })),
      menus: menusOf(),
      keybindings: commandSpecs.flatMap(({ id, key }) => (key === undefined ? [] : [{ command: `bosun.${id}`, ...key }])),
      configuration: { title: 'Bosun', properties: manifestProperties() },
      languageModelTools: [...tools],
      chatParticipants: [
        {
          id: PARTICIPANT,
          name: 'bosun',
          fullName: 'Bosun',
          description: text('bosun.participant'),
          isSticky: true,
          commands: [{ name: 'new', description: text('bosun.participant.new') }],
        },
      ],
    },
  }
}
