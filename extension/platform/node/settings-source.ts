import { randomBytes } from 'node:crypto'
import { chmod, realpath, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Emitter } from '../../base/emitter.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import { makeFolders } from './make-folders.ts'
import { readPlainText } from './read-plain-file.ts'

export interface FileSettingsOptions {
  /** The person's settings, such as `~/.bosun/settings.json`; absent: none, and they cannot be set. */
  readonly userFile?: string
  /** The workspace's, such as `.bosun/settings.json`. */
  readonly workspaceFile?: string
  /** For this run only, such as those of the command line. They win. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** The same for settings that are objects: these entries stand beside the person's own, and win over one of the same name. */
  readonly additions?: Readonly<Record<string, Values>>
  /** What counts where nobody says otherwise, in the place of a setting's own default. */
  readonly fallbacks?: Values
  readonly logger: Logger
}

/** Far beyond what anybody writes; a file of that size is something else. */
const maxFileBytes = 16 * 1024 * 1024

type Values = Readonly<Record<string, unknown>>

/**
 * Settings from JSON files: one object whose keys are the settings' names, with or without the `bosun.` before them.
 *
 * Read once, on creation; a file that cannot be understood counts as empty, is reported and never written over.
 */
export async function createFileSettings(options: FileSettingsOptions): Promise<SettingsSource> {
  const { additions = {}, fallbacks = {}, logger } = options
  const files = { user: options.userFile, workspace: options.workspaceFile }
  const values: Record<'user' | 'workspace', Values | null> = {
    user: await readValues(files.user, logger),
    workspace: await readValues(files.workspace, logger),
  }
  const added = Object.entries(additions).map(([key, entries]) => [key, { ...objectOr(values.user?.[key]), ...entries }])
  const overrides: Values = { ...options.overrides, ...Object.fromEntries(added) }
  const changes = new Emitter<(key: string) => boolean>((error) => logger.error('A listener for settings failed.', { error }))
  let lastChange: Promise<unknown> = Promise.resolve()

  const change = async (key: string, value: unknown, where: 'user' | 'workspace') => {
    const path = files[where]
    const stored = values[where]
    if (path === undefined) throw new Error(`There is no file for ${where} settings here; "${key}" cannot be kept.`)
    if (stored === null) throw new Error(`${path} does not hold a JSON object of settings. Mend it, then set "${key}" again.`)
    const { [key]: _, ...others } = stored
    const next = value === undefined ? others : { ...others, [key]: value }
    await writeValues(path, next)
    values[where] = next
    changes.emit((asked) => asked === key)
  }

  return {
    get: (key) => overrides[key] ?? values.workspace?.[key] ?? values.user?.[key] ?? fallbacks[key],
    inspect: (key) => ({ user: overrides[key] ?? values.user?.[key] ?? fallbacks[key], workspace: values.workspace?.[key] }),
    set(key, value, where) {
      const work = lastChange.catch(() => {}).then(() => change(key, value, where))
      lastChange = work
      return work
    },
    onDidChange: changes.listen,
  }
}

/** What is no object is reported where it is read, and adds nothing here. */
const objectOr = (value: unknown): object => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {})

/** Null when there is something that is no object. */
async function readValues(path: string | undefined, logger: Logger): Promise<Values | null> {
  if (path === undefined) return {}
  try {
    const value: unknown = JSON.parse(await readPlainText(path, maxFileBytes))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('it is no JSON object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.replace(/^bosun\./, ''), one]))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    logger.warn(`The settings in ${path} cannot be read and count as empty until they are mended: ${messageOf(error)}`)
    return null
  }
}

/** A file that is there stays where a link leads, and as private as it is; a new one follows the umask. */
async function writeValues(path: string, values: Values): Promise<void> {
  await makeFolders(dirname(path))
  const found = await place(path)
  const temporary = `${found.path}.${randomBytes(6).toString('hex')}`
  await writeFile(temporary, `${JSON.stringify(values, null, 2)}\n`, { flag: 'wx', mode: found.mode === null ? 0o666 : 0o600 })
  if (found.mode !== null) await chmod(temporary, found.mode & 0o777)
  await rename(temporary, found.path)
}

async function place(path: string): Promise<{ readonly path: string; readonly mode: number | null }> {
  try {
    const real = await realpath(path)
    return { path: real, mode: (await stat(real)).mode }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { path, mode: null }
    throw error
  }
}
