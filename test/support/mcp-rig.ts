import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import type {} from '../../extension/features/mcp/service.ts'
import type { McpServerReport } from '../../extension/features/mcp/service.ts'
import { wholeApplication, type WholeApplication } from './whole-application.ts'

const program = fileURLToPath(new URL('mcp-program.ts', import.meta.url))

/** How a program of `mcp-program.ts` is configured. */
export const programServer = (...args: readonly string[]) => ({ command: process.execPath, args: [program, ...args] })

export interface McpRig {
  readonly application: WholeApplication
  readonly agent: Agent
  server(name?: string): McpServerReport
  /** Waits until the server is in one of these states. */
  until(state: McpServerReport['state'], name?: string): Promise<McpServerReport>
  call(tool: string, args?: unknown, options?: { readonly signal?: AbortSignal; readonly onProgress?: (text: string) => void; readonly server?: string; readonly agent?: Agent }): Promise<ToolResult>
  dispose(): Promise<void>
}

/** The whole application with these servers, in full access so that no call waits for an approval. */
export async function mcpRig(servers: Readonly<Record<string, unknown>>, options: Parameters<typeof wholeApplication>[0] & { /** Nobody has begun to talk. */ readonly hasNoSession?: boolean } = {}): Promise<McpRig> {
  const application = await wholeApplication({ ...options, settings: { 'permissions.defaultPreset': 'danger-full-access', 'mcp.servers': servers, ...options.settings } })
  // One that is not there is never asked for.
  const agent = options.hasNoSession === true ? (undefined as unknown as Agent) : await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
  const server = (name = Object.keys(servers)[0] ?? '') => {
    const found = application.ctx.mcp.report().servers.find((each) => each.name === name)
    if (found === undefined) throw new Error(`There is no server ${name}: ${JSON.stringify(application.ctx.mcp.report())}`)
    return found
  }
  let calls = 0
  return {
    application,
    agent,
    server,
    until: (state, name) =>
      vi.waitFor(
        () => {
          const found = server(name)
          if (found.state !== state) throw new Error(`${found.name} is ${found.state}: ${found.reason}`)
          return found
        },
        { timeout: 30_000, interval: 20 },
      ),
    call: (tool, args = {}, { signal = new AbortController().signal, onProgress, server: of = Object.keys(servers)[0], agent: caller = agent } = {}) =>
      application.ctx.tools.execute({ callId: `call ${++calls}`, name: `mcp__${of}__${tool}`, arguments: args, agent: caller, signal, ...(onProgress && { onProgress }) }),
    dispose: () => application.dispose(),
  }
}

/** Such an application for one test, which `check` is. */
export async function withRig(servers: Readonly<Record<string, unknown>>, check: (rig: McpRig) => Promise<void>, options: Parameters<typeof mcpRig>[1] = {}): Promise<void> {
  const rig = await mcpRig(servers, options)
  try {
    await check(rig)
  } finally {
    await rig.dispose()
  }
}

/** Servers are programs that have to start first. */
export const patient = { timeout: 60_000 }
/** Of turns that a scripted adapter answers. */
export const scriptedModel = { 'model.provider': 'scripted', 'model.name': 'm1' }

export const textOf = ({ content }: ToolResult): string => content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('')
export const codeOf = (result: ToolResult): string => (result.isError ? (result.error.info?.code ?? 'none') : 'ok')
