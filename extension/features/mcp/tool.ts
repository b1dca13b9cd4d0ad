import { isJsonObject, stringifyJson, type Json, type JsonObject } from '../../base/json.ts'
import { clipped, utf8Length } from '../../base/text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { McpError, type McpConnection, type McpToolFacts } from '../../capabilities/mcp.ts'
import type { BodyExecution, ToolDefinition } from '../../core/tools/definition.ts'
import { ToolTimeoutError } from '../../core/tools/guards/time-out.ts'
import { declarationCaps } from '../../core/tools/lent/declaration-caps.ts'
import { canonicalValue, renderValue, wordsOf, type KeepImage } from '../../core/tools/lent/result-content.ts'
import { presentCall, presentResult } from '../../core/tools/lent/lent-tool.card.ts'
import { toolName } from './tool-name.ts'
import { declaredParameters, enforcedOutput } from '../../core/tools/lent/tool-schema.ts'

/** UTF-16 units of what a failure says. */
const MAX_FAILURE = 20_000

/** What the tools of a server need of it. */
export interface ToolHost {
  readonly server: { readonly name: string; /** For the person. */ readonly title: string }
  readonly sha256: (text: string) => string
  readonly clock: Clock
  readonly timeoutMs: () => number
  /** The person takes its word for which tools only read. */
  readonly isTrusted: () => boolean
  /** Have the server do something for a call; `waiting` says for how long the person was asked meanwhile. Errors: as `ServerLife.use`. */
  readonly use: <T>(exec: BodyExecution, work: (connection: McpConnection) => Promise<T>, signal: AbortSignal) => Promise<T>
  /** A call runs from now on until its end; `onAsking`: the person is asked something for it, and is not any more. */
  readonly begin: (exec: BodyExecution, onAsking: (isAsking: boolean) => void) => { readonly token: string; end(): void }
  readonly keepImage: (exec: BodyExecution) => Promise<KeepImage | null>
}

/** A tool that a server has, as it would be offered; or why it is not. */
export type OfferedTool = { readonly facts: McpToolFacts; readonly name: string } & ({ readonly definition: ToolDefinition; readonly problem: null } | { readonly definition: null; readonly problem: string })

/** Turn what a server says of a tool into a definition. Errors: none; what cannot be offered says why. */
export function offeredTool(facts: McpToolFacts, host: ToolHost): OfferedTool {
  const name = toolName(host.server.name, facts.name, host.sha256)
  const refused = (problem: string): OfferedTool => ({ facts, name, definition: null, problem })
  if (facts.needsTask) return refused('It can only be run as a task of the protocol, which Bosun does not do.')
  const parameters = declaredParameters(facts.inputSchema)
  if (utf8Length(stringifyJson(parameters)) > declarationCaps.schemaBytes) return refused(`Its schema has more than ${declarationCaps.schemaBytes / 1024} KB.`)
  const output = enforcedOutput(facts.outputSchema)
  const card = { title: facts.title ?? facts.name, lender: host.server.title }
  return {
    facts,
    name,
    problem: null,
    definition: {
      name,
      mcpServer: host.server,
      description: clipped(facts.description, declarationCaps.descriptionChars),
      parameters,
      output: {
        schema: {
          type: 'object',
          properties: { content: { type: 'array' }, structuredContent: output ?? {} },
          required: output === null ? ['content'] : ['content', 'structuredContent'],
          additionalProperties: false,
        },
        render: (_args, value) => renderValue(value),
      },
      isConcurrencySafe: () => facts.isReadOnly && host.isTrusted(),
      execute: async (args, exec) => await call(facts, isJsonObject(args) ? args : {}, exec, host),
      presentCall: (args) => presentCall(card, args),
      presentResult: (_args, result) => presentResult(result),
    },
  }
}

async function call({ name }: McpToolFacts, args: JsonObject, exec: BodyExecution, host: ToolHost): Promise<Json> {
  const timeoutMs = host.timeoutMs()
  const deadline = new Deadline(host.clock, timeoutMs, () => new ToolTimeoutError('TOOL_TIMEOUT', `${exec.name} did not finish within ${timeoutMs} ms. Narrow the request and try again; the person can give the server more time with toolCallTimeoutMs.`))
  // While the person is asked, the server does nothing that could take too long.
  const running = host.begin(exec, (isAsking) => (isAsking ? deadline.pause() : deadline.goOn()))
  const signal = AbortSignal.any([exec.signal, deadline.signal])
  try {
    const result = await host.use(
      exec,
      async (connection) => {
        const answer = await connection.callTool({ name, token: running.token, arguments: args, signal, onProgress: (text) => exec.progress(text) })
        if (!answer.isError) return answer
        const words = wordsOf(answer.content)
        throw new McpError('MCP_TOOL_FAILED', clipped(words === '' ? `${exec.name} failed and did not say why.` : words, MAX_FAILURE))
      },
      signal,
    )
    return await canonicalValue(result, await host.keepImage(exec))
  } finally {
    running.end()
    deadline.end()
  }
}

/** A time-out that can wait. */
class Deadline {
  readonly #clock: Clock
  readonly #controller = new AbortController()
  readonly #reason: () => Error
  #leftMs: number
  #since = 0
  #cancel: (() => void) | null = null
  /** Pauses that have not ended, and one more once there is nothing left to time. */
  #held = 0

  constructor(clock: Clock, leftMs: number, reason: () => Error) {
    this.#clock = clock
    this.#leftMs = leftMs
    this.#reason = reason
    this.#begin()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  pause(): void {
    this.#held += 1
    if (this.#cancel === null) return
    this.#leftMs -= this.#clock.monotonicMs() - this.#since
    this.#stop()
  }

  goOn(): void {
    this.#held -= 1
    if (this.#held === 0) this.#begin()
  }

  /** For good, also where a question outlives its call. */
  end(): void {
    this.#held += 1
    this.#stop()
  }

  #begin(): void {
    this.#since = this.#clock.monotonicMs()
    this.#cancel = this.#clock.schedule(Math.max(1, this.#leftMs), () => this.#controller.abort(this.#reason()))
  }

  #stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }
}
