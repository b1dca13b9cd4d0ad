import { clipped } from '../../base/text.ts'
import type { Session } from '../session/session.ts'
import { isWithin, type PathStyle } from './paths.ts'

/**
 * The folder that a session may not leave by writing, or null: who works below `root`, where children have folders of their own, is held
 * to the one folder of it that theirs lies in. It follows from the session's folder alone, so no reload and no reopening opens it.
 */
export function createWalls(root: string | undefined, style: PathStyle): (session: Session | undefined) => string | null {
  if (root === undefined) return () => null
  const slash = style.isWindows ? '\\' : '/'
  const known = new WeakMap<Session, string | null>()
  return (session) => {
    if (session === undefined) return null
    const before = known.get(session)
    if (before !== undefined) return before
    const wall = wallFor(session.header.cwd)
    known.set(session, wall)
    return wall
  }

  function wallFor(cwd: string | undefined): string | null {
    if (cwd === undefined || root === undefined || !isWithin(cwd, root, style)) return null
    const own = cwd.slice(root.length).split(/[/\\]/).find((step) => step !== '')
    return own === undefined ? null : `${root}${slash}${own}`
  }
}

export const wallWords = (spelling: string) => `${spelling} lies outside of the worktree that is yours alone, and nothing of yours may change anything there. Change the file of the same name in your own folder; the person takes over what is good.`

export const sharedGitWords = (command: string) => `\`${clipped(command, 200)}\` would change what your worktree shares with the person’s repository: other branches, tags, the stash, settings or remotes. Leave those as they are: files, index and commits of your own branch are yours, and the person takes over what is good.`
