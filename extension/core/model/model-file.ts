import { isErrorOf } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'
import { modelOverridesFrom, type ModelOverrides } from './model-overrides.ts'

export interface ModelFile {
  readonly overrides: ModelOverrides
  /** Why entries, or the whole file, do not count. */
  readonly problems: readonly string[]
}

export const noModelFile: ModelFile = { overrides: {}, problems: [] }

const MAX_BYTES = 4_000_000

/** What the person says of models in a file of their own, `{"models": {…}}` or the object itself. Absent: nothing. Errors: none. */
export async function readModelFile(files: Pick<FileSystem, 'resolve' | 'readText'>, path: string): Promise<ModelFile> {
  let text: string
  try {
    text = (await files.readText(await files.resolve(path, '/'), { maxBytes: MAX_BYTES })).text
  } catch (error) {
    if (isErrorOf(FileError, error, 'FS_NOT_FOUND')) return noModelFile
    return { overrides: {}, problems: [`${path} was not read: ${messageOf(error)}`] }
  }
  try {
    const value: unknown = JSON.parse(text)
    return modelOverridesFrom(isWrapped(value) ? value.models : value, path)
  } catch {
    // Not JSON, and what the parser says of it helps nobody who writes the file in an editor.
    return { overrides: {}, problems: [`${path} holds no JSON. Mend it; until then nothing of it counts.`] }
  }
}

const isWrapped = (value: unknown): value is { readonly models: unknown } => typeof value === 'object' && value !== null && Object.keys(value).join() === 'models'
