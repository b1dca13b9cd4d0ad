import { isUri } from '../../base/is-uri.ts'
import type { Workspace } from '../../capabilities/workspace.ts'

/** Tools that start programs or are about programs that were started: of no use where none can be. */
export const isProgramTool = (name: string): boolean => /^(?:bash|pwsh|terminal_\w+|job_\w+)$/.test(name)

/** Whether a folder of the workspace is on the disk of the machine that programs run on; a window without a folder works in the home folder. */
export function hasFolderForPrograms(workspace: Pick<Workspace, 'folders'>): boolean {
  const folders = workspace.folders()
  return folders.length === 0 || folders.some(({ path }) => !isUri(path))
}
