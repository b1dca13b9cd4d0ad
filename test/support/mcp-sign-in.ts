import { InvalidGrantError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import type { AuthorizationParams, OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js'
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startHttpServer, startSseServer, type HttpTestServer } from './mcp-http.ts'

export interface SignInServer extends HttpTestServer {
  /** Clients that registered, by their redirect address. */
  readonly registrations: readonly string[]
  /** Refresh tokens that were used, oldest first. */
  readonly renewals: readonly string[]
  /** Kinds of tokens that were to be taken back, oldest first. */
  readonly revocations: readonly string[]
  /** Access tokens that are worth something. */
  readonly tokens: () => readonly string[]
  /** What the person does at the page. */
  decides: 'agree' | 'deny' | 'wrong-state' | 'nothing'
  /** Every access token is too old from now on. */
  expire(): void
  /** Nothing that was given is worth anything, nor can it be renewed. */
  revoke(): void
  /** A client that it knows without being asked to. */
  know(client: OAuthClientInformationFull): void
  /** As a server that accepts no token, whoever gave it. */
  isClosed: boolean
}

/** An MCP server that wants a sign-in, with the library’s own authorization server, which checks PKCE and takes each refresh token once. */
export async function startSignInServer({ transport = 'http', asks = 'all', registers = true, revokes = 'both' }: { readonly transport?: 'http' | 'sse'; /** `requests`: everybody may shake hands. */ readonly asks?: 'all' | 'requests'; /** It takes programs that it does not know. */ readonly registers?: boolean; /** What it does when a sign-in is to be taken back. */ readonly revokes?: 'both' | 'refuses' | 'not' } = {}): Promise<SignInServer> {
  const clients = new Map<string, OAuthClientInformationFull>()
  const codes = new Map<string, AuthorizationParams & { readonly clientId: string }>()
  const access = new Map<string, { readonly clientId: string; expiresAt: number }>()
  const refresh = new Map<string, { readonly clientId: string; isUsed: boolean }>()
  const registrations: string[] = []
  const renewals: string[] = []
  const revocations: string[] = []
  const grant = (clientId: string): OAuthTokens => {
    const [token, renewal] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
    access.set(token, { clientId, expiresAt: Date.now() / 1_000 + 3_600 })
    refresh.set(renewal, { clientId, isUsed: false })
    return { access_token: token, token_type: 'bearer', expires_in: 3_600, refresh_token: renewal }
  }
  const revoke = () => {
    access.clear()
    refresh.clear()
  }
  const provider: OAuthServerProvider = {
    clientsStore: {
      getClient: (id) => clients.get(id),
      ...(registers && {
        registerClient: (made) => {
          const client = made as OAuthClientInformationFull
          clients.set(client.client_id, client)
          registrations.push(client.redirect_uris.join(' '))
          return client
        },
      }),
    },
    authorize: (client, params, response) => {
      const back = new URL(params.redirectUri)
      const code = `code-${randomUUID()}`
      codes.set(code, { ...params, clientId: client.client_id })
      if (server.decides === 'deny') back.searchParams.set('error', 'access_denied')
      else back.searchParams.set('code', code)
      back.searchParams.set('state', server.decides === 'wrong-state' ? 'somebody-else' : (params.state ?? ''))
      ;(response as unknown as ServerResponse).writeHead(302, { location: back.href }).end()
      return Promise.resolve()
    },
    challengeForAuthorizationCode: (_client, code) => Promise.resolve(codes.get(code)?.codeChallenge ?? ''),
    exchangeAuthorizationCode: (client, code) => {
      const asked = codes.get(code)
      codes.delete(code)
      if (asked?.clientId !== client.client_id) return Promise.reject(new InvalidGrantError('no such code'))
      return Promise.resolve(grant(client.client_id))
    },
    exchangeRefreshToken: (client, token) => {
      renewals.push(token)
      const known = refresh.get(token)
      if (known?.clientId !== client.client_id) return Promise.reject(new InvalidGrantError('no such refresh token'))
      if (known.isUsed) {
        revoke()
        return Promise.reject(new InvalidGrantError('this refresh token was used already'))
      }
      known.isUsed = true
      return Promise.resolve(grant(client.client_id))
    },
    ...(revokes !== 'not' && {
      revokeToken: (client: OAuthClientInformationFull, { token, token_type_hint: hint }: { readonly token: string; readonly token_type_hint?: string | undefined }) => {
        revocations.push(hint ?? 'none')
        if (revokes === 'refuses') return Promise.reject(new InvalidGrantError(`${token} stays`))
        for (const kept of [access, refresh]) if (kept.get(token)?.clientId === client.client_id) kept.delete(token)
        return Promise.resolve()
      },
    }),
    verifyAccessToken: (token) => {
      const known = access.get(token)
      if (known === undefined || server.isClosed) return Promise.reject(new InvalidTokenError('no such token'))
      return Promise.resolve({ token, clientId: known.clientId, scopes: [], expiresAt: known.expiresAt })
    },
  }
  let app: ((request: IncomingMessage, response: ServerResponse, next: () => void) => void) | null = null
  const appAt = (origin: string) => {
    const made = createMcpExpressApp()
    const resource = new URL(transport === 'sse' ? '/sse' : '/mcp', origin)
    made.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), resourceServerUrl: resource }))
    const guard = requireBearerAuth({ verifier: provider, resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource) })
    made.use((request: IncomingMessage & { readonly body?: { readonly method?: string } }, response: never, next: () => void) => {
      const isHandshake = request.method === 'POST' && ['initialize', 'notifications/initialized'].includes(request.body?.method ?? '')
      if (asks === 'requests' && isHandshake) next()
      else void guard(request, response, next)
    })
    return made as unknown as NonNullable<typeof app>
  }
  const intercept = (request: IncomingMessage, response: ServerResponse, origin: string) =>
    new Promise<boolean>((resolve) => {
      app ??= appAt(origin)
      response.once('close', () => resolve(true))
      app(request, response, () => resolve(false))
    })
  const base = await (transport === 'sse' ? startSseServer({ intercept }) : startHttpServer({ intercept }))
  const server: SignInServer = Object.assign(Object.create(base) as HttpTestServer, {
    registrations,
    renewals,
    revocations,
    tokens: () => [...access].filter(([, { expiresAt }]) => expiresAt > Date.now() / 1_000).map(([token]) => token),
    decides: 'agree' as const,
    isClosed: false,
    expire: () => access.forEach((token) => (token.expiresAt = 1)),
    revoke,
    know: (client: OAuthClientInformationFull) => void clients.set(client.client_id, client),
  })
  return server
}

/** A browser: it goes where it is sent, to the end, and says what stands on each page. */
export async function visit(url: string): Promise<readonly { readonly url: string; readonly status: number; readonly text: string }[]> {
  const pages = []
  for (let next: string | null = url; next !== null; ) {
    const response: Response = await fetch(next, { redirect: 'manual' })
    pages.push({ url: next, status: response.status, text: await response.text() })
    const location = response.headers.get('location')
    next = location === null ? null : new URL(location, next).href
  }
  return pages
}
