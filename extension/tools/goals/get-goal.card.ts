import type { ToolCallView } from '../../protocol/cards.ts'

export const presentCall = (): ToolCallView => ({ card: 'generic', title: 'Read the current goal', kind: 'read' })
