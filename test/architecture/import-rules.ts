import { posix } from 'node:path'
import { importsOf, type SourceFile } from './source-files.ts'

type Target = { readonly path: string; readonly isTypeOnly: boolean }

type Room = {
  readonly folder: string
  readonly why: string
  readonly mayImport: (target: Target, from: string) => boolean
}

const within =
  (...folders: readonly string[]) =>
  ({ path }: Target) =>
    folders.some((folder) => path.startsWith(`${folder}/`))

const typesWithin =
  (...folders: readonly string[]) =>
  (target: Target) =>
    target.isTypeOnly && within(...folders)(target)

const base = 'extension/base'
const protocol = 'extension/protocol'
const capabilities = 'extension/capabilities'
const core = 'extension/core'
const features = 'extension/features'
const host = 'extension/host'

/** The feature that a path under `extension/features` belongs to. */
const featureOf = (path: string) => path.split('/')[2]?.replace(/\.ts$/, '')

/** The import table: the first room whose folder holds a file decides. A file may always import its own room. */
const rooms: readonly Room[] = [
  { folder: base, why: 'base holds helpers without an opinion and imports nothing', mayImport: () => false },
  { folder: protocol, why: 'protocol is what crosses to the webview: it may import base', mayImport: within(base) },
  {
    folder: capabilities,
    why: 'capabilities only describe the outside world: they may import base and protocol',
    mayImport: within(base, protocol),
  },
  {
    folder: core,
    why: 'core knows the outside world only through capabilities: it may import base, protocol and capabilities',
    mayImport: within(base, protocol, capabilities),
  },
  {
    folder: features,
    why: 'features may import base to core, and of each other only types: a feature that calls another asks for its service',
    mayImport: (target, from) =>
      within(base, protocol, capabilities, core)(target) ||
      (within(features)(target) && (target.isTypeOnly || featureOf(target.path) === featureOf(from))),
  },
  {
    folder: 'extension/tools',
    why: 'tools may import base to capabilities, of core only core/tools (and types of the rest), of features only types',
    mayImport: (target) =>
      within(base, protocol, capabilities, 'extension/core/tools')(target) || typesWithin(core, features)(target),
  },
  {
    folder: 'extension/models',
    why: 'a model adapter may import base, capabilities and core/model: the loop must not depend on who answers',
    mayImport: within(base, capabilities, 'extension/core/model'),
  },
  {
    folder: host,
    why: 'controllers may import base to features; the editor reaches them through capabilities',
    mayImport: within(base, protocol, capabilities, core, features),
  },
  {
    folder: 'extension/platform/node',
    why: 'Node providers may import base and capabilities: what they serve must not know who asks',
    mayImport: within(base, capabilities),
  },
  {
    folder: 'extension/platform/vscode',
    why: 'editor providers may import base, protocol, capabilities and types of host',
    mayImport: (target) => within(base, protocol, capabilities)(target) || typesWithin(host)(target),
  },
  {
    folder: 'webview',
    why: 'the webview runs in a browser and gets everything by message: it may import extension/protocol and extension/base',
    mayImport: within(base, protocol),
  },
]

const isFeature = (path: string) => path.startsWith(`${features}/`)

/** What is wrong with one file's imports, as sentences that say where and why. */
export function importProblems({ path, text }: SourceFile): readonly string[] {
  const room = rooms.find(({ folder }) => path.startsWith(`${folder}/`))
  return importsOf(text).flatMap(({ specifier, isTypeOnly, line }) => {
    const at = `${path}:${line} imports ${specifier}`
    if (specifier === 'vscode') {
      return path.startsWith('extension/platform/vscode/') || editorRoots.includes(path)
        ? []
        : [`${at}: only extension/platform/vscode, extension/main.ts and extension/editor-root.ts may know the editor; ask for a capability instead`]
    }
    if (!specifier.startsWith('.')) return bareProblems(path, specifier, at)
    if (!/\.(tsx?|json|css|ttf|svg)$/.test(specifier)) return [`${at}: a relative import names its file with the extension`]
    const target = { path: posix.join(posix.dirname(path), specifier), isTypeOnly }
    // What other extensions see is types alone and the same for all rooms.
    if (target.path === 'bosun.d.ts') return isTypeOnly ? [] : [`${at}: bosun.d.ts holds types, which are imported as types`]
    if (room === undefined) return rootProblems(path, target, at)
    const isOwn = target.path.startsWith(`${room.folder}/`) && !isFeature(path)
    return isOwn || room.mayImport(target, path) ? [] : [`${at}: ${room.why}`]
  })
}

/** The editor's root in two halves: what is there at once, and what the first use loads. */
const editorRoots = ['extension/main.ts', 'extension/editor-root.ts']

/** Folders that run under plain Node, or hold what only such folders may touch. */
const nodeFolders = ['extension/platform/', 'extension/models/', 'extension/main.ts', 'extension/editor-root.ts', 'extension/headless']

function bareProblems(path: string, specifier: string, at: string): readonly string[] {
  const mayUseNode = nodeFolders.some((folder) => path.startsWith(folder))
  return specifier.startsWith('node:') && !mayUseNode
    ? [`${at}: Node's own modules are behind capabilities, so that this runs under a fake in tests and in any host`]
    : []
}

/** `compose.ts`, `mount.ts`, `main.ts`, `editor-root.ts`, `headless.ts`: roots may import every room, but only the editor's own the editor's providers. */
function rootProblems(path: string, target: Target, at: string): readonly string[] {
  if (target.path.startsWith('webview/')) return [`${at}: the webview is another program; speak to it through extension/protocol`]
  if (target.path.startsWith('extension/platform/vscode/') && !editorRoots.includes(path))
    return [`${at}: the composition must run without an editor; editor-root.ts hands the editor's providers in`]
  return []
}

/** Folders whose code takes time, chance and the network from capabilities only. */
const pureFolders = ['base', 'protocol', 'capabilities', 'core', 'features', 'tools', 'host'].map((room) => `extension/${room}/`)
const ambient = /(?<![.\w])(?:Date\.now|Math\.random|performance\.now|crypto\.randomUUID|setTimeout|setInterval|fetch)(?=\()|new Date\(\)/g

/** Where a file that must run under a fake clock and network reaches for the real ones. */
export function ambientProblems({ path, text }: SourceFile): readonly string[] {
  if (!pureFolders.some((folder) => path.startsWith(folder))) return []
  return [...text.matchAll(ambient)].map(
    ({ 0: name, index }) =>
      `${path}:${text.slice(0, index).split('\n').length} uses ${name}: time, chance and the network come from capabilities, so that tests decide them`,
  )
}
