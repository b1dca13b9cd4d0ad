/**
 * `ready`: not wanted yet; `idle`: was stopped because nobody used it; `retrying`: it went away and is reached again after a pause;
 * `failed`: given up until the person starts it; `stopped`: by the person.
 */
export const mcpStates = ['ready', 'starting', 'running', 'idle', 'retrying', 'failed', 'needs-input', 'needs-sign-in', 'stopped'] as const
export type McpState = (typeof mcpStates)[number]

/** What happens to a server. `lost`: the connection, or an attempt at one; `rest`: nobody uses it. */
export const mcpMoves = ['start', 'connected', 'lost', 'give-up', 'lack-input', 'lack-sign-in', 'rest', 'stop'] as const
export type McpMove = (typeof mcpMoves)[number]

const moves: Readonly<Record<McpState, Readonly<Partial<Record<McpMove, McpState>>>>> = {
  ready: { start: 'starting', stop: 'stopped' },
  starting: { connected: 'running', lost: 'retrying', 'give-up': 'failed', 'lack-input': 'needs-input', 'lack-sign-in': 'needs-sign-in', stop: 'stopped' },
  running: { start: 'starting', lost: 'retrying', 'give-up': 'failed', 'lack-sign-in': 'needs-sign-in', rest: 'idle', stop: 'stopped' },
  idle: { start: 'starting', stop: 'stopped' },
  retrying: { start: 'starting', 'give-up': 'failed', stop: 'stopped' },
  failed: { start: 'starting', stop: 'stopped' },
  'needs-input': { start: 'starting', stop: 'stopped' },
  'needs-sign-in': { start: 'starting', stop: 'stopped' },
  stopped: { start: 'starting' },
}

/** Where a move leads; null when it cannot happen there. */
export const moved = (state: McpState, move: McpMove): McpState | null => moves[state][move] ?? null
