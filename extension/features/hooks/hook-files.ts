import { isErrorOf } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { WorkspaceFolder } from '../../capabilities/workspace.ts'
import type { HookDialect, HookFile, HookRoot } from './hook.ts'
import { parseHooks } from './parse-hooks.ts'

const maxBytes = 1024 * 1024

export interface HookFileNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'readText'>
  readonly machine: Pick<Machine, 'homeFolder' | 'userFolder' | 'sha256'>
}

/** Where configurations stand: the person's first, below the home folder or Bosun's own, then the project's. */
const places: readonly { readonly dialect: HookDialect; readonly user: readonly [folder: 'homeFolder' | 'userFolder', name: string]; readonly project: readonly string[] }[] = [
  { dialect: 'claude', user: ['homeFolder', '.claude/settings.json'], project: ['.claude/settings.json', '.claude/settings.local.json'] },
  { dialect: 'codex', user: ['homeFolder', '.codex/hooks.json'], project: ['.codex/hooks.json'] },
  { dialect: 'bosun', user: ['userFolder', 'hooks.json'], project: ['.bosun/hooks.json'] },
]

/** The names of all files that may hold hooks, to watch them. */
export const hookFileNames: readonly string[] = ['settings.json', 'settings.local.json', 'hooks.json']

/** The session's own folder, then the others of the window. */
export function hookRoots(cwd: string, folders: readonly WorkspaceFolder[]): readonly HookRoot[] {
  const others = folders.filter(({ path }) => path !== cwd)
  const own = folders.find(({ path }) => path === cwd)?.name ?? cwd
  return others.length === 0 ? [{ path: cwd }] : [{ path: cwd, label: own }, ...others.map(({ path, name }) => ({ path, label: name }))]
}

/**
 * The configurations that hold for a session, in the order in which their hooks run: the person's, then those of each root.
 *
 * Errors: none; a file that is there and cannot be read is given without hooks and with the reason.
 */
export async function readHookFiles(needs: HookFileNeeds, roots: readonly HookRoot[], options: { readonly dialects: readonly HookDialect[]; readonly isTrusted: boolean }): Promise<readonly HookFile[]> {
  const wanted = places.filter(({ dialect }) => options.dialects.includes(dialect))
  const paths: Place[] = [
    ...wanted.map(({ dialect, user: [folder, name] }) => ({ dialect, path: `${needs.machine[folder]}/${name}` })),
    ...(options.isTrusted ? roots.flatMap((root) => wanted.flatMap(({ dialect, project }) => project.map((path) => ({ dialect, path: `${root.path}/${path}`, root })))) : []),
  ]
  // A folder that is the home folder has one file under both names.
  const unique = paths.filter(({ path }, index) => paths.findIndex((other) => other.path === path) === index)
  const found = await Promise.all(unique.map((place) => readHookFile(needs, place)))
  return found.filter((file) => file !== null)
}

type Place = Pick<HookFile, 'dialect' | 'path' | 'root'>

async function readHookFile({ files, machine }: HookFileNeeds, place: Place): Promise<HookFile | null> {
  const { dialect, path } = place
  try {
    const { text } = await files.readText(await files.resolve(path, '/'), { maxBytes })
    const { hooks, skipped } = parseHooks(text, { path, dialect })
    if (hooks.length === 0 && skipped.length === 0) return null
    const commands = hooks.map(({ point, matcher, command, timeoutMs }) => [point, matcher, command, timeoutMs ?? null])
    return { ...place, hooks, skipped, digest: hooks.length === 0 ? '' : machine.sha256(JSON.stringify([path, dialect, commands])) }
  } catch (error) {
    if (isErrorOf(FileError, error, 'FS_NOT_FOUND')) return null
    return { ...place, hooks: [], digest: '', skipped: [{ path, at: '', reason: messageOf(error) }] }
  }
}
