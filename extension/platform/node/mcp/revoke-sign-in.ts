import { discoverAuthorizationServerMetadata, discoverOAuthServerInfo, selectClientAuthMethod } from '@modelcontextprotocol/sdk/client/auth.js'
import { OAuthClientInformationFullSchema, OAuthTokensSchema, type OAuthClientInformationMixed } from '@modelcontextprotocol/sdk/shared/auth.js'
import { clipped } from '../../../base/text.ts'
import type { McpKeptSignIn, McpTarget } from '../../../capabilities/mcp.ts'
import type { FetchLike } from './bounded-fetch.ts'

type WebTarget = Extract<McpTarget, { kind: 'http' | 'sse' }>

/**
 * Have the server that gave tokens take them back: the one to renew with first, with which the other may go too.
 *
 * Shape:  false where it offers no way to.
 * Errors: `Error` with the reason; those of `fetch`.
 * Source: RFC 7009; RFC 8414 section 2, `revocation_endpoint`.
 */
export async function revokeSignIn(target: WebTarget, kept: McpKeptSignIn, fetch: FetchLike): Promise<boolean> {
  const tokens = OAuthTokensSchema.loose().parse(JSON.parse(kept.tokens))
  const client = clientOf(target, kept)
  if (client === null) throw new Error('it is not known any more as what Bosun was registered there')
  // Whom the library had the tokens from; only that server may see them.
  const metadata: Readonly<Record<string, unknown>> | undefined = typeof tokens.issuer === 'string' ? await discoverAuthorizationServerMetadata(tokens.issuer, { fetchFn: fetch }) : (await discoverOAuthServerInfo(target.url, { fetchFn: fetch })).authorizationServerMetadata
  // The library says no more of a failure.
  if (metadata === undefined) throw new Error('whoever gave it cannot be reached, or does not say any more what it does')
  const endpoint = metadata?.['revocation_endpoint']
  if (typeof endpoint !== 'string') return false
  const listed: unknown = metadata?.['revocation_endpoint_auth_methods_supported']
  const method = selectClientAuthMethod(client, Array.isArray(listed) ? listed.filter((each) => typeof each === 'string') : [])
  const given = [['refresh_token', tokens.refresh_token], ['access_token', tokens.access_token]] as const
  for (const [hint, token] of given) {
    if (token === undefined) continue
    const { headers, fields } = authentication(client, method)
    const answer = await fetch(endpoint, { method: 'POST', headers, body: new URLSearchParams({ token, token_type_hint: hint, ...fields }) })
    const text = answer.ok ? '' : clipped(await answer.text(), 300)
    if (answer.ok) await answer.body?.cancel()
    else throw new Error(`it answered ${answer.status}${text === '' ? '' : `: ${text}`}`)
  }
  return true
}

function clientOf({ client }: WebTarget, { client: kept }: McpKeptSignIn): OAuthClientInformationMixed | null {
  if (client !== undefined) return { client_id: client.id, ...(client.secret !== undefined && { client_secret: client.secret }) }
  return kept === null ? null : OAuthClientInformationFullSchema.loose().parse(JSON.parse(kept))
}

/** Source: RFC 6749 section 2.3.1. */
function authentication({ client_id: id, client_secret: secret }: OAuthClientInformationMixed, method: string): { readonly headers: Readonly<Record<string, string>>; readonly fields: Readonly<Record<string, string>> } {
  if (secret === undefined) return { headers: {}, fields: { client_id: id } }
  if (method === 'client_secret_basic') return { headers: { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}` }, fields: {} }
  return { headers: {}, fields: { client_id: id, client_secret: secret } }
}
