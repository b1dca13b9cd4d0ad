import type { Json } from '../../base/json.ts'
import { PresentedError } from '../../core/tools/definition.ts'

export type ShellErrorCode = 'ABORTED' | 'BAD_WORKDIR' | 'BACKGROUND_UNAVAILABLE' | 'SHELL_FAILED'

/** A command that did not run, or was stopped; `meta` are its card's facts. */
export class ShellError extends PresentedError<ShellErrorCode> {}

export const stopped = (output: string, meta: Json) =>
  new ShellError(
    'ABORTED',
    output === '' ? 'The command was stopped before it finished. It had written nothing.' : `The command was stopped before it finished. It had written:\n${output}`,
    meta,
  )
export const badWorkdir = (workdir: string, problem: string) =>
  new ShellError('BAD_WORKDIR', `The working folder ${workdir} ${problem}. Leave workdir out to run in the session’s folder.`, null)
export const backgroundUnavailable = () =>
  new ShellError('BACKGROUND_UNAVAILABLE', 'Background jobs are not available here. Run the command without run_in_background.', null)
