import { lentToolName } from '../../core/tools/lent/tool-name.ts'

/** The name under which a model calls a tool of a server: `mcp__<server>__<raw>`, made safe. Source: runtime specification 21. */
export const toolName = (server: string, raw: string, sha256: (text: string) => string): string => lentToolName({ prefix: `mcp__${server}`, lender: server, raw }, sha256)
