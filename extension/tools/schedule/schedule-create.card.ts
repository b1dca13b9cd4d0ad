import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'

export interface ScheduleCreateArgs {
  readonly prompt: string
  readonly action?: 'tell' | 'do'
}

export const presentCall = ({ prompt, action }: ScheduleCreateArgs): ToolCallView => ({
  card: 'generic',
  title: `${action === 'do' ? 'Plan the task' : 'Set the reminder'} ${quoted(prompt)}`,
  doneTitle: `${action === 'do' ? 'Planned the task' : 'Set the reminder'} ${quoted(prompt)}`,
  kind: 'other',
  rawInput: prompt,
})

const quoted = (prompt: string): string => `“${/^.*/.exec(prompt)?.[0] ?? ''}”`

/** A refusal is a value, so the line says so where nothing was set. */
export function presentResult(_args: unknown, { isError, meta }: PresentedResult): ToolResultView | undefined {
  if (isError || typeof meta !== 'object' || meta === null || !('refused' in meta) || typeof meta.refused !== 'string') return undefined
  return { card: 'generic', title: 'Set no reminder', content: [{ type: 'text', text: meta.refused }] }
}
