import type { FileSystem, FileTarget } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { absolutePath, changingPathMatcher, styleOf } from '../../core/policy/paths.ts'
import type { BodyExecution, Execution } from '../../core/tools/definition.ts'

/** Files that one call may say it will change. */
export const MAX_CHANGED_FILES = 500

export interface FileChangesNeeds {
  readonly files: Pick<FileSystem, 'resolve'>
  /** Keeps the file as it is, durably, and says so in the log; what the call made of it is put up for review after that. */
  readonly keepBeforeImage: (target: FileTarget, exec: Execution) => Promise<unknown>
  /** Patterns of paths that look like secrets. Read at each call. */
  readonly sensitivePaths: () => readonly string[]
  readonly machine: Pick<Machine, 'platform'>
}

/** Files that the body of one call says it will change. */
export interface FileChanges {
  /** Errors: `Error` with words for the model; the file must stay as it is then. */
  willChange(path: unknown): Promise<void>
  /** The call is over: what is changed from now on, nobody would see. */
  end(): void
}

export type BeginFileChanges = (exec: BodyExecution, tool: { /** For the model: which tool of which extension. */ readonly words: string; readonly isReadOnly: boolean }) => FileChanges

/** The way of other extensions' tools to have what they change reviewed, as Bosun's own is. */
export function createFileChanges({ files, keepBeforeImage, sensitivePaths, machine }: FileChangesNeeds): BeginFileChanges {
  const style = styleOf(machine)
  const secretPattern = changingPathMatcher(sensitivePaths, style)
  return (exec, { words, isReadOnly }) => {
    let isOver = false
    let count = 0
    const refuseIfOver = () => {
      if (isOver) throw new Error(`The call of ${words} has ended, so its changes cannot be put up for review any more.`)
    }
    return {
      async willChange(path) {
        if (typeof path !== 'string' || path.trim() === '') throw new Error('willChange takes the path of a file: absolute, below the folder of the session, or a URI as text.')
        if (isReadOnly) throw new Error(`${words} is registered as readOnly, so it may change no file. Nothing was changed.`)
        refuseIfOver()
        count += 1
        if (count > MAX_CHANGED_FILES) throw new Error(`${words} would change too many files: ${MAX_CHANGED_FILES} files at most can be put up for review with one call.`)
        // Calls outside of a session have nobody who could take anything back.
        const cwd = exec.agent?.session.header.cwd
        if (cwd === undefined) return
        const target = await files.resolve(path, cwd, exec.signal)
        if ((secretPattern(absolutePath(path, cwd, style)) ?? secretPattern(target.path)) !== null) throw new Error(`${path} looks like a secret and is closed to every tool (bosun.permissions.sensitivePaths). Nothing was changed.`)
        refuseIfOver()
        await keepBeforeImage(target, exec)
        // Who does not wait for this must not take it for a yes that came after the look at what the call changed.
        refuseIfOver()
      },
      end: () => void (isOver = true),
    }
  }
}
