import { isErrorOf } from '../../base/harness-error.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { HookDialect, HookFile } from './hook.ts'
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

/**
 * The configurations that hold in a folder, in the order in which their hooks run: the person's, then the project's.
 *
 * Errors: none; a file that is there and cannot be read is given without hooks and with the reason.
 */
export async function readHookFiles(needs: HookFileNeeds, cwd: string, options: { readonly dialects: readonly HookDialect[]; readonly isTrusted: boolean }): Promise<readonly HookFile[]> {
  const wanted = places.filter(({ dialect }) => options.dialects.includes(dialect))
  const paths = [
    ...wanted.map(({ dialect, user: [folder, name] }) => ({ dialect, path: `${needs.machine[folder]}/${name}` })),
    ...(options.isTrusted ? wanted.flatMap(({ dialect, project }) => project.map((path) => ({ dialect, path: `${cwd}/${path}` }))) : []),
  ]
  // A folder that is the home folder has one file under both names.
  const unique = paths.filter(({ path }, index) => paths.findIndex((other) => other.path === path) === index)
  const found = await Promise.all(unique.map((place) => readHookFile(needs, place)))
  return found.filter((file) => file !== null)
}

async function readHookFile({ files, machine }: HookFileNeeds, { dialect, path }: { readonly dialect: HookDialect; readonly path: string }): Promise<HookFile | null> {
  const none = { path, dialect, hooks: [], digest: '' }
  try {
    const { text } = await files.readText(await files.resolve(path, '/'), { maxBytes })
    const { hooks, skipped } = parseHooks(text, { path, dialect })
    if (hooks.length === 0 && skipped.length === 0) return null
    const commands = hooks.map(({ point, matcher, command, timeoutMs }) => [point, matcher, command, timeoutMs ?? null])
    return { path, dialect, hooks, skipped, digest: hooks.length === 0 ? '' : machine.sha256(JSON.stringify([path, dialect, commands])) }
  } catch (error) {
    if (isErrorOf(FileError, error, 'FS_NOT_FOUND')) return null
    return { ...none, skipped: [{ path, at: '', reason: error instanceof Error ? error.message : String(error) }] }
  }
}
