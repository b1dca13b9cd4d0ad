import { expect, it } from 'vitest'
import { mcpMoves, mcpStates, moved } from '../../../../extension/features/mcp/server-moves.ts'

/** Every move that is legal; all others are not. */
const legal: readonly string[] = [
  'ready start starting', 'ready stop stopped',
  'starting connected running', 'starting lost retrying', 'starting give-up failed', 'starting lack-input needs-input', 'starting lack-sign-in needs-sign-in', 'starting stop stopped',
  'running start starting', 'running lost retrying', 'running give-up failed', 'running lack-sign-in needs-sign-in', 'running rest idle', 'running stop stopped',
  'idle start starting', 'idle stop stopped',
  'retrying start starting', 'retrying give-up failed', 'retrying stop stopped',
  'failed start starting', 'failed stop stopped',
  'needs-input start starting', 'needs-input stop stopped',
  'needs-sign-in start starting', 'needs-sign-in stop stopped',
  'stopped start starting',
]

it.each(mcpStates.flatMap((state) => mcpMoves.map((move) => [state, move] as const)))('%s, %s', (state, move) => {
  const expected = legal.map((line) => line.split(' ')).find(([from, by]) => from === state && by === move)?.[2] ?? null
  expect(moved(state, move)).toBe(expected)
})
