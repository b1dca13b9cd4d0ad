import type { McpState } from './server-moves.ts'

/** What serves in the place of a sign-in where there is no browser to do it in. */
const tokenInstead = (variable: string): string => `give it a token in the place of a sign-in: "headers": {"Authorization": "Bearer ${variable}"} where it is configured`

/** Why nobody can sign in, and what serves instead. Units: `name` is the server’s. */
export const noSignIn = (name: string): string => `There is no browser to sign in with here. For ${name}, ${tokenInstead('${env:NAME}')}, and set that variable.`

/** What serves where nobody can be asked for a value. */
export const withoutAsking = (ids: readonly string[], source: string): string =>
  `Put \${env:NAME} in the place of ${ids.map((id) => `\${input:${id}}`).join(', ')} in ${source} and set that variable, or give the server another value there.`

/** What the person can do about a server that does not run, to stand after “you can” or “the person can”; null where it goes on by itself. */
export function remedyFor(state: McpState | 'disabled' | 'waits', name: string, { canSignIn }: { readonly canSignIn: boolean }): string | null {
  switch (state) {
    case 'needs-input':
      return `give it what it needs with “/mcp input ${name}”`
    case 'needs-sign-in':
      return canSignIn ? `sign in with “/mcp sign-in ${name}”` : tokenInstead('${env:NAME}')
    case 'waits':
      return `let it run with “/mcp allow ${name}”`
    case 'disabled':
      return 'turn it on where it is configured'
    case 'failed':
    case 'stopped':
      return `start it with “/mcp restart ${name}”`
    case 'ready':
    case 'starting':
    case 'running':
    case 'idle':
    case 'retrying':
      return null
  }
}
