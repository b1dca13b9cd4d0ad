import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { AnySchema, SchemaOutput } from '@modelcontextprotocol/sdk/server/zod-compat.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { ClientRequest } from '@modelcontextprotocol/sdk/types.js'

/**
 * The library's client, which says of no request that it is cancelled once it is over.
 *
 * The library never lets go of the signal that a request came with: when that fires, which may be at the end of a turn or of the server, it
 * tells the server that every request is cancelled that ever had it. Here each request has a signal of its own, which is let go with it.
 * Source: `Protocol.request` of `@modelcontextprotocol/sdk` 1.32; Model Context Protocol 2025-11-25, cancellation, "Behavior Requirements".
 */
export class QuietClient extends Client {
  override async request<T extends AnySchema>(request: ClientRequest, schema: T, options?: RequestOptions): Promise<SchemaOutput<T>> {
    const signal = options?.signal
    if (signal === undefined) return await super.request(request, schema, options)
    const own = new AbortController()
    const stop = () => own.abort(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await super.request(request, schema, { ...options, signal: own.signal })
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
}
