import { describe, expect, it } from 'vitest'
import type { McpServerReport } from '../../../extension/features/mcp/service.ts'
import { MAX_LOG_LINES, SIGN_OF_LIFE_MS, START_TIMEOUT_MS } from '../../../extension/features/mcp/server-life.ts'
import { createMcpConnector } from '../../../extension/platform/node/mcp/connector.ts'
import { badProgram, startBadServer, type BadStyle } from '../../support/mcp-bad-server.ts'
import { codeOf, textOf, withRig, type McpRig } from '../../support/mcp-rig.ts'
import { realClock } from '../../support/real-clock.ts'

const transports = ['stdio', 'http', 'sse'] as const
type Transport = (typeof transports)[number]

/** The long waits are short, all others as they are. To start there is little time only where nothing comes of it. */
const clockFor = (style: BadStyle) => {
  const short = new Map([[SIGN_OF_LIFE_MS, 300], ...(style === 'mute' ? [[START_TIMEOUT_MS, 1_000] as const] : [])])
  return { ...realClock, schedule: (delayMs: number, fire: () => void) => realClock.schedule(short.get(delayMs) ?? delayMs, fire) }
}

async function withBad(style: BadStyle, transport: Transport, check: (rig: McpRig) => Promise<void>): Promise<void> {
  const web = transport === 'stdio' ? null : await startBadServer(style, transport)
  const entry = web === null ? badProgram(style) : { url: web.url, ...(transport === 'sse' && { type: 'sse' }) }
  const clock = clockFor(style)
  const toolCallTimeoutMs = ['hangs', 'deaf'].includes(style) ? 1_000 : 30_000
  try {
    await withRig({ bad: { ...entry, toolCallTimeoutMs, reconnect: { initialMs: 20, maxMs: 40, attempts: 2 } } }, check, { alter: (world) => ({ ...world, clock, mcp: createMcpConnector({ processes: world.processes, http: world.http, clock }) }) })
  } finally {
    await web?.close()
  }
}

interface Row {
  /** What becomes of it once it was reached. */
  readonly state: McpServerReport['state']
  readonly reason?: RegExp
  readonly problem?: RegExp
  /** Of a call of its tool: the code, and what it says. */
  readonly call?: readonly [string, RegExp]
  /** After that call. */
  readonly after?: readonly [McpServerReport['state'], RegExp | null]
  /** What its log says of it then. */
  readonly log?: RegExp
}

const worked = ['ok', /^worked$/] as const
const rows: Readonly<Record<BadStyle, Row>> = {
  mute: { state: 'failed', reason: /^It did not answer within 60 s\. It was given up after 2 attempts\.$/ },
  hangs: { state: 'running', call: ['TOOL_TIMEOUT', /did not finish within 1000 ms/], after: ['running', null] },
  deaf: { state: 'running', call: ['TOOL_TIMEOUT', /did not finish within 1000 ms/], after: ['running', null], log: /retrying: It let a call run out of time and gave no sign of life 3 times in a row, so it was ended\.\n(.*\n)*.* starting\n(.*\n)*.* running$/ },
  crashes: { state: 'running', call: ['MCP_CLOSED', /It ended with exit code 3\.|connection was closed|cannot be reached|fetch failed|terminated|SSE/] },
  lies: { state: 'running', call: ['INVALID_TOOL_OUTPUT', /count/], after: ['running', null] },
  babbles: { state: 'running', call: worked, after: ['running', null] },
  floods: { state: 'running', call: ['MCP_CLOSED', /more than 10 MB|connection was closed/], after: ['running', null] },
  notifies: { state: 'running', call: worked, after: ['running', null] },
  repeats: { state: 'running', problem: /^It lists the tool “work” twice, so its list is not taken over\.$/, call: ['UNKNOWN_TOOL', /./] },
  pages: { state: 'running', problem: /^Its tools could not be listed: Its list of tools has more than 100 pages\.$/, call: ['UNKNOWN_TOOL', /./] },
  restless: { state: 'running', call: worked, after: ['running', null] },
}

describe.each(transports)('over %s, a server that', { timeout: 60_000 }, (transport) => {
  it.each(Object.entries(rows) as [BadStyle, Row][])('%s', (style, { state, reason, problem, call, after, log }) =>
    withBad(style, transport, async (rig) => {
      const report = await rig.until(state)
      if (reason !== undefined) expect(report.reason).toMatch(reason)
      expect(report.problem ?? '').toMatch(problem ?? /^$/)
      if (call !== undefined) {
        const result = await rig.call('work')
        expect([codeOf(result), textOf(result)]).toEqual([call[0], expect.stringMatching(call[1])])
      }
      if (after !== undefined) expect((await rig.until(after[0])).reason).toEqual(after[1] === null ? null : expect.stringMatching(after[1]))
      if (log !== undefined) await expect.poll(() => rig.application.ctx.mcp.log('bad').join('\n')).toMatch(log)
      expect(rig.application.ctx.mcp.log('bad').length).toBeLessThanOrEqual(MAX_LOG_LINES)
    }))
})
