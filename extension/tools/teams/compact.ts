import type { ToolContent } from '../../core/log/message.ts'

/** Values of the team tools, for the model: JSON without blanks. Source: agent tools specification 8. */
export const compact = (_args: unknown, value: unknown): readonly ToolContent[] => [{ type: 'text', text: JSON.stringify(value) }]
