import { messageOf } from '../../base/message-of.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'
import { isErrorOf } from '../../base/harness-error.ts'
import { presetFromText, presetSuffix } from './preset-file.ts'
import type { Preset, PresetRoot } from './preset.ts'

const maxFiles = 100
const maxBytes = 262_144

/** What was found in one file: a preset, or why there is none. */
export type FoundPreset = { readonly id: string; readonly path: string; readonly root: PresetRoot; readonly generation: string } & (
  | { readonly preset: Preset; readonly problem?: undefined }
  | { readonly preset?: undefined; readonly problem: string }
)

/**
 * The presets in the files of one folder, by name. A folder that is not there holds none; a file that cannot be read is found with its reason.
 *
 * Units: at most 100 files of 256 KiB; what is over is found with that as its reason.
 */
export async function discoverPresets(files: Pick<FileSystem, 'resolve' | 'readDirectory' | 'readText'>, folder: string, root: PresetRoot): Promise<readonly FoundPreset[]> {
  const names = await presetNames(files, folder)
  return Promise.all(names.map((name, index) => readPreset(files, { folder, name, root, isOver: index >= maxFiles })))
}

async function presetNames(files: Pick<FileSystem, 'resolve' | 'readDirectory'>, folder: string): Promise<readonly string[]> {
  try {
    const entries = await files.readDirectory(await files.resolve(folder, '/'))
    return entries.flatMap(({ name }) => (name.endsWith(presetSuffix) ? [name] : []))
  } catch (error) {
    if (isErrorOf(FileError, error)) return []
    throw error
  }
}

async function readPreset(
  files: Pick<FileSystem, 'resolve' | 'readText'>,
  { folder, name, root, isOver }: { readonly folder: string; readonly name: string; readonly root: PresetRoot; readonly isOver: boolean },
): Promise<FoundPreset> {
  const id = name.slice(0, -presetSuffix.length)
  const path = `${folder}/${name}`
  const found = { id, path, root, generation: '' }
  if (isOver) return { ...found, problem: `${folder} holds more than ${maxFiles} presets. Remove some.` }
  try {
    const { text, version } = await files.readText(await files.resolve(path, '/'), { maxBytes })
    return { ...found, generation: version, preset: { ...presetFromText(id, text), ...(root === 'workspace' && { isFromWorkspace: true as const }) } }
  } catch (error) {
    return { ...found, problem: messageOf(error) }
  }
}
