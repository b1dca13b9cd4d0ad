import type { CommandView, ToolRow } from '../../extension/protocol/view-state.ts'

/** The command of a call, while it runs or once it is a job; undefined when nothing can be done with it any more. */
export function commandOf(row: ToolRow, commands: readonly CommandView[]): CommandView | undefined {
  const jobId = jobIdOf(row)
  if (jobId !== undefined) return commands.find((command) => command.jobId === jobId)
  return row.endedAt === null ? commands.find((command) => command.callId === row.callId && command.jobId === null) : undefined
}

/** The job that a call started, or that its command became. */
const jobIdOf = ({ result }: ToolRow): string | undefined => (result?.card === 'terminal' || result?.card === 'generic' ? result.jobId : undefined)

/** Where the host finds it again. */
export const placeOf = ({ callId, jobId }: CommandView): { readonly callId: string } | { readonly jobId: string } => (jobId === null ? { callId: callId ?? '' } : { jobId })
