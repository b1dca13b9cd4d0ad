import { UnauthorizedError, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { OAuthClientInformationFullSchema, OAuthTokensSchema, type OAuthClientInformationMixed, type OAuthClientMetadata, type OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { clipped } from '../../../base/text.ts'
import type { McpClient, McpReturn, McpSignIn, McpSignInFact } from '../../../capabilities/mcp.ts'
import type { FetchLike } from './bounded-fetch.ts'

/** Where nobody is sent to, so that the library has an address. */
const NOWHERE = 'http://127.0.0.1/callback'

/**
 * A sign-in with PKCE as the protocol's library wants it, over what is kept of it.
 *
 * Asked for, it begins from nothing and keeps what it got only once it has tokens, so that a sign-in that fails leaves the one before.
 * Not asked for, it uses and renews what is kept, registers nowhere and opens no browser.
 *
 * Source: Model Context Protocol 2025-11-25, authorization.
 */
export class SignInProvider implements OAuthClientProvider {
  /** What the browser will bring back; null while nobody was sent to one. */
  pendingCode: Promise<string> | null = null
  /** The person asked for a sign-in, and the server wants one. */
  hasBegun = false
  /** There were tokens, and they are worth nothing any more. */
  wasRefused = false
  readonly #signIn: McpSignIn
  readonly #way: McpReturn | null
  /** As what the server knows us already. */
  readonly #known: OAuthClientInformationMixed | undefined
  readonly #state = crypto.randomUUID()
  #verifier = ''
  /** Of a sign-in that is not over. */
  #client: OAuthClientInformationMixed | undefined
  #isFresh = false
  #refusedToken: string | null = null
  #isOver = false
  /** Of the renewal that was begun last, until it is kept or has failed. */
  #renewed: PromiseWithResolvers<void> | null = null

  /** `way`: back from the browser; null: nobody asked for a sign-in. */
  constructor(signIn: McpSignIn, way: McpReturn | null, client?: McpClient) {
    this.#signIn = signIn
    this.#way = way
    this.#known = client && { client_id: client.id, ...(client.secret !== undefined && { client_secret: client.secret }) }
  }

  get redirectUrl(): string {
    return this.#way?.redirectUrl ?? NOWHERE
  }

  get clientMetadata(): OAuthClientMetadata {
    return { client_name: 'Bosun', redirect_uris: [this.redirectUrl], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' }
  }

  state(): string {
    // Whoever goes on from here is sent to a browser.
    if (!this.isAsked) throw new UnauthorizedError()
    return this.#state
  }

  discoveryState(): undefined {
    // What the library asks for first.
    this.hasBegun = this.isAsked
    return undefined
  }

  async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
    if (this.#known !== undefined) return this.#known
    // A way back has a port of its own, for which nothing was registered before.
    if (this.isAsked) return this.#client
    const client = await this.#load('client', (value) => OAuthClientInformationFullSchema.loose().parse(value))
    if (client === undefined) throw new UnauthorizedError()
    return client
  }

  async saveClientInformation(client: OAuthClientInformationMixed): Promise<void> {
    // One that is configured is kept there.
    if (this.#known !== undefined) return
    this.#client = client
    if (!this.isAsked) await this.#signIn.save('client', JSON.stringify(client))
  }

  async tokens(): Promise<OAuthTokens | undefined> {
    if (this.isAsked) return undefined
    return await this.#load('tokens', (value) => OAuthTokensSchema.loose().parse(value))
  }

  async saveTokens(tokens: OAuthTokens): Promise<void> {
    try {
      await this.#signIn.save('tokens', JSON.stringify(tokens))
    } finally {
      this.#renewed?.resolve()
    }
    // Last, since it tells other windows that there is a sign-in.
    const client = this.#known === undefined ? this.#client : { client_id: this.#known.client_id }
    if (this.isAsked && client !== undefined) await this.#signIn.save('client', JSON.stringify(client))
    this.#isFresh = this.#way !== null
    this.wasRefused = false
  }

  redirectToAuthorization(url: URL): void {
    if (this.#way === null) return
    // Another address may open a program of the person's machine in the place of a page.
    const isPage = url.protocol === 'https:' || url.protocol === 'http:'
    this.pendingCode = isPage ? this.#way.ask(url.toString(), this.#state) : Promise.reject(new Error(`It sends you to an address that is no page of the web, which begins with ${clipped(url.protocol, 40)}, so nothing was opened.`))
    // Awaited once the library has given up for now; a failure before that is not unhandled.
    this.pendingCode.catch(() => {})
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (this.isAsked) {
      if (scope === 'all' || scope === 'client') this.#client = undefined
      return
    }
    if (scope === 'verifier' || scope === 'discovery') return
    // Another window may have renewed them meanwhile, and what was refused is what went before.
    const kept = await this.tokens()
    if (scope !== 'client' && this.#refusedToken !== null && kept?.refresh_token !== this.#refusedToken) return
    this.wasRefused = true
    if (scope !== 'tokens') await this.#signIn.save('client', null)
    if (scope !== 'client') await this.#signIn.save('tokens', null)
  }

  /** Renew nothing any more, and wait until what is being renewed is kept: the next conversation goes on from there. Never rejects. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#renewed?.promise
  }

  /**
   * The same requests, with one renewal at a time: a server that gives a new token for each renewal takes the second use of the one before
   * for a theft. Source: OAuth 2.1 section 4.3.1.
   */
  renewingOnce(fetch: FetchLike): FetchLike {
    const running = new Map<string, Promise<Response>>()
    return async (url, init) => {
      const token = refreshTokenOf(init)
      if (token === null) return await fetch(url, init)
      const key = `${String(url)} ${token}`
      const known = running.get(key)
      if (this.#isOver) throw new Error('The conversation is over.')
      const answer = known ?? fetch(url, init)
      if (known === undefined) {
        this.#renewed?.resolve()
        this.#renewed = Promise.withResolvers<void>()
        // Of those that went well the last is kept, for whoever still has the token that it used up.
        running.clear()
        running.set(key, answer)
      }
      try {
        const response = await answer
        if (!response.ok) {
          this.#refusedToken = token
          running.delete(key)
          this.#renewed?.resolve()
        } else if (!(await holdsTokens(response.clone()))) this.#renewed?.resolve()
        // Each reads a body of its own.
        return response.clone()
      } catch (error) {
        running.delete(key)
        this.#renewed?.resolve()
        throw error
      }
    }
  }

  /**
   * The same requests, where one that was refused for a token that others have renewed meanwhile is sent again with the new one. The
   * library takes a refusal that comes behind a renewal for one of the new token, and gives up.
   */
  withNewest(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init)
      const headers = new Headers(init?.headers)
      const sent = headers.get('authorization')
      if (response.status !== 401 || this.isAsked || sent?.startsWith('Bearer ') !== true) return response
      await this.#renewed?.promise
      const kept = await this.tokens()
      if (kept === undefined || sent === `Bearer ${kept.access_token}`) return response
      await response.body?.cancel()
      headers.set('authorization', `Bearer ${kept.access_token}`)
      return await fetch(url, { ...init, headers })
    }
  }

  /**
   * The same requests, where the stream for what a server says by itself does not ask for a sign-in beside the first request: the person
   * would be sent to the browser twice. It is opened anew with the conversation after that.
   */
  askingOnce(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init)
      const isStream = init?.method === 'GET' && new Headers(init.headers).get('accept') === 'text/event-stream'
      if (!this.isAsked || !isStream || response.status !== 401) return response
      await response.body?.cancel()
      return new Response(null, { status: 405 })
    }
  }

  /** The person asked to sign in, and there are tokens of it. */
  get isOpen(): boolean {
    return this.#isFresh
  }

  /** The person signs in now, and has not yet. */
  get isAsked(): boolean {
    return this.#way !== null && !this.#isFresh
  }

  async #load<T>(what: McpSignInFact, parse: (value: unknown) => T): Promise<T | undefined> {
    const text = await this.#signIn.load(what)
    if (text === null) return undefined
    try {
      return parse(JSON.parse(text))
    } catch {
      // What cannot be read is as good as nothing: the person signs in anew.
      return undefined
    }
  }
}

/** What holds none is never kept. */
async function holdsTokens(answer: Response): Promise<boolean> {
  try {
    return OAuthTokensSchema.safeParse(await answer.json()).success
  } catch {
    // No JSON, or an answer that broke off: the library says so to whoever asked.
    return false
  }
}

function refreshTokenOf(init: RequestInit | undefined): string | null {
  const { body, method } = init ?? {}
  if (method !== 'POST' || !(body instanceof URLSearchParams) || body.get('grant_type') !== 'refresh_token') return null
  return body.get('refresh_token')
}
