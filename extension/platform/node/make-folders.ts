import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './file-facts.ts'

/**
 * Make a folder and those above it; the topmost one that was made, or undefined when all were there.
 *
 * Not `mkdir` with `recursive`: below a folder that answers ENOENT to every new name, such as `/proc` or an automount,
 * Node tries for ever and keeps the process from ending (seen 2026-11-30, Node 24).
 * Errors: what the file system says.
 */
export async function makeFolders(path: string, mode = 0o777): Promise<string | undefined> {
  if (await makeOne(path, mode)) return path
  if (await isFolder(path)) return undefined
  const parent = dirname(path)
  const first = parent === path ? undefined : await makeFolders(parent, mode)
  try {
    await mkdir(path, { mode })
    return first ?? path
  } catch (error) {
    // Somebody else was faster.
    if (hasCode(error, 'EEXIST') && (await isFolder(path))) return first
    throw error
  }
}

/** False when it is there, or when what stands above it is not. */
async function makeOne(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode })
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT') || (await isFolder(path))) return false
    throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // Whatever keeps it from being seen, it is no folder to us; making it then says why.
    return false
  }
}
