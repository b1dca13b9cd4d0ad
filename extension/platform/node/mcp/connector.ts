import type { Http } from '../../../capabilities/http.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import { McpError, type McpConnector, type McpErrorCode } from '../../../capabilities/mcp.ts'
import type { ProcessRunner } from '../../../capabilities/process.ts'

export interface ConnectorNeeds {
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly http: Http
  readonly clock: Pick<Clock, 'schedule'>
}

/** Servers over the protocol's own library, loaded with the first connection; programs run under the keeper as all others do. */
export function createMcpConnector(needs: ConnectorNeeds): McpConnector {
  // The library is a bundle of its own, in which a class of ours would be another one.
  const sdkNeeds = { ...needs, fail: (code: McpErrorCode, message: string, cause?: unknown) => new McpError(code, message, cause === undefined ? undefined : { cause }) }
  return {
    async connect(target, options) {
      options.signal.throwIfAborted()
      const { connectWithSdk } = await import('./sdk-client.ts')
      return await connectWithSdk(target, options, sdkNeeds)
    },
    async revoke(target, kept, signal) {
      signal.throwIfAborted()
      const { revokeWithSdk } = await import('./sdk-client.ts')
      return await revokeWithSdk(target, kept, { ...sdkNeeds, signal })
    },
  }
}
