import type { JsonObject } from '../base/json.ts'
import { manifestProperties, restrictedConfigurations } from '../core/settings/manifest.ts'
import { commandSpecs } from './command-specs.ts'

/** English texts that the manifest names by key: `package.nls.json`. */
export function manifestTexts(): Readonly<Record<string, string>> {
  return {
    'bosun.description': 'An agent harness that lives inside VS Code: its tools are the editor’s own parts.',
    'bosun.view.chat': 'Chat',
    'bosun.untrusted': 'In a folder that is not trusted Bosun only reads: no edits, no commands.',
    'bosun.virtual': 'In a folder that is not on this machine Bosun reads and edits files, but runs no commands there.',
    ...Object.fromEntries(commandSpecs.map(({ id, title }) => [titleKey(id), title])),
  }
}

const titleKey = (id: string) => `bosun.command.${id}`
const text = (key: string) => `%${key}%`

function editorMenus(): Readonly<Record<string, readonly JsonObject[]>> {
  const entries = commandSpecs.flatMap(({ id, menus = [] }) => menus.map(({ menu, when, group }) => ({ menu, entry: { command: `bosun.${id}`, when, group } })))
  return Object.fromEntries([...new Set(entries.map(({ menu }) => menu))].map((menu) => [menu, entries.filter((each) => each.menu === menu).map(({ entry }) => entry)]))
}

/** The parts of `package.json` that follow from the code; a test holds the file to them. */
export function manifestParts(): JsonObject {
  return {
    main: './dist/extension.cjs',
    icon: 'media/bosun.png',
    l10n: './l10n',
    categories: ['AI', 'Chat', 'Other'],
    extensionKind: ['workspace'],
    // Commands and views activate by themselves; this one restores editors with kept texts after a reload.
    activationEvents: ['onFileSystem:bosun'],
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
      views: { bosun: [{ id: 'bosun.chat', type: 'webview', name: text('bosun.view.chat'), icon: 'media/bosun.svg', contextualTitle: 'Bosun' }] },
      commands: commandSpecs.map(({ id, icon }) => ({
        command: `bosun.${id}`,
        title: text(titleKey(id)),
        category: 'Bosun',
        ...(icon === undefined ? {} : { icon: `$(${icon})` }),
      })),
      menus: {
        'view/title': commandSpecs.flatMap(({ id, viewTitle }) =>
          viewTitle === undefined ? [] : [{ command: `bosun.${id}`, when: 'view == bosun.chat', group: viewTitle }],
        ),
        ...editorMenus(),
      },
      keybindings: commandSpecs.flatMap(({ id, key }) => (key === undefined ? [] : [{ command: `bosun.${id}`, ...key }])),
      configuration: { title: 'Bosun', properties: manifestProperties() },
    },
  }
}
