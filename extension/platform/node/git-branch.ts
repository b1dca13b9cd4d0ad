import { dirname, join, resolve } from 'node:path'
import { stat } from 'node:fs/promises'
import { decodeText } from '../../base/encoding.ts'
import { readStart, withRegularFile } from './read-file.ts'

/** Bytes of `HEAD` or of a `.git` file that are looked at; both are one line. */
const MAX_BYTES = 4096

/**
 * The branch of the repository that `folder` stands in, read from its files: no program is started.
 *
 * Gives `detached at <7 digits>` without a branch; null where there is no repository or its files cannot be understood.
 */
export async function readGitBranch(folder: string): Promise<string | null> {
  try {
    const gitFolder = await gitFolderOf(folder)
    return gitFolder === null ? null : branchIn(await firstLine(join(gitFolder, 'HEAD')))
  } catch {
    // The branch is a courtesy: a repository that is being changed or cannot be read has none to tell.
    return null
  }
}

/** A worktree or a submodule has a file that names the folder. */
async function gitFolderOf(folder: string): Promise<string | null> {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, '.git')
    const facts = await stat(path).catch(() => null)
    if (facts?.isDirectory()) return path
    if (facts?.isFile()) {
      const named = /^gitdir: (.+)$/.exec(await firstLine(path))?.[1]
      return named === undefined ? null : resolve(at, named)
    }
    if (dirname(at) === at) return null
  }
}

function branchIn(head: string): string | null {
  // What git lets be a name: no space, no control character, none of its own signs.
  const branch = /^ref: refs\/heads\/([^\s\u0000-\u001f\u007f~^:?*[\\]{1,250})$/.exec(head)?.[1]
  if (branch !== undefined) return branch
  return /^[0-9a-f]{40,64}$/.test(head) ? `detached at ${head.slice(0, 7)}` : null
}

async function firstLine(path: string): Promise<string> {
  const bytes = await withRegularFile({ path, spelling: path }, (file) => readStart(file, MAX_BYTES))
  return decodeText(bytes)?.text.split('\n')[0]?.trimEnd() ?? ''
}
