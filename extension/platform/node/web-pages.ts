import type { LookupAddress, LookupOptions } from 'node:dns'
import { messageOf } from '../../base/message-of.ts'
import { orAbort } from '../../base/or-abort.ts'
import type { Http } from '../../capabilities/http.ts'
import { MAX_URL_LENGTH, WebError, webAborted, type AddressRules, type Page, type WebPages } from '../../capabilities/web-pages.ts'
import { bareHost, privateAddressProblem, privateHostProblem } from './address-guard.ts'
import { decodePage, isReadableType, pageTypeFrom } from './decode-page.ts'
import { trustedCertificates } from './http.ts'
import type { PageTextWorker } from './page-text-worker.ts'

export interface NodeWebPagesOptions {
  readonly textWorker: Pick<PageTextWorker, 'toText'>
  /** Every address of a host. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
  /** Asked for each hop: where a proxy stands between, the connection is its own, and names are judged as far as they can be. */
  readonly proxyFor?: (url: URL) => Pick<Http, 'fetch'> | null
}

/**
 * Pages over connections that cannot be led into a private network: a host is resolved once a hop, every address it has is
 * judged, and the connection goes to one of those, so that a second answer of the resolver changes nothing.
 *
 * Source: capability specification 15, "Provider http".
 */
export function createNodeWebPages({ textWorker, resolve = systemResolver, proxyFor = () => null }: NodeWebPagesOptions): WebPages {
  return {
    check: (url, rules) => checkedUrl(url, rules).href,
    toText: (page, signal) => textWorker.toText(page, signal),
    async load({ url, maxBytes, maxPdfBytes, maxRedirects, timeoutMs, signal, ...rules }) {
      if (signal.aborted) throw webAborted()
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), timeoutMs)
      const either = AbortSignal.any([signal, deadline.signal])
      let at = checkedUrl(url, rules)
      try {
        for (let hops = 0; ; hops++) {
          const connection = await connectionTo(at, { rules, resolve, proxyFor, signal: either })
          try {
            const response = await connection.fetch(at.href, { method: 'GET', headers, redirect: 'manual', credentials: 'omit', signal: either })
            const target = redirectOf(response)
            if (target === null) return await readPage(response, { url: at.href, maxBytes, maxPdfBytes })
            if (hops >= maxRedirects) throw redirectBlocked(`${at.host} sends on and on: more than ${maxRedirects} redirects. Fetch another address.`)
            at = nextAddress(at, target, rules)
          } finally {
            await connection.close()
          }
        }
      } catch (error) {
        if (signal.aborted) throw webAborted()
        if (deadline.signal.aborted) throw new WebError('WEB_FETCH_TIMEOUT', `${at.host} did not give the page within ${timeoutMs} ms. Try again later, or another source.`, { cause: error })
        throw error instanceof WebError ? error : failed(at, error)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

const headers = {
  'user-agent': 'Bosun (an agent in an editor; fetches single pages)',
  accept: 'text/html,application/xhtml+xml,text/markdown;q=0.9,text/*;q=0.8,application/json;q=0.8,application/xml;q=0.7,*/*;q=0.1',
}

interface Connection {
  readonly fetch: Http['fetch']
  close(): Promise<void>
}

function checkedUrl(text: string, rules: AddressRules): URL {
  const spelling = text.trim()
  if (spelling.length > MAX_URL_LENGTH) throw new WebError('WEB_INVALID_URL', `The address has ${spelling.length} characters; ${MAX_URL_LENGTH} are allowed.`)
  if (!URL.canParse(spelling)) throw new WebError('WEB_INVALID_URL', `"${spelling.slice(0, 200)}" is no address. Give a whole one, such as https://example.com/page.`)
  const url = new URL(spelling)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new WebError('WEB_INVALID_URL', `Only http and https can be fetched, not ${url.protocol.slice(0, 40)}`)
  if (url.username !== '' || url.password !== '') throw blocked('The address holds a user name or password. Give it without; pages that need a login cannot be fetched.')
  if (isOpened(url, rules)) return url
  const problem = privateHostProblem(url.hostname)
  if (problem !== null) throw privateHost(url.hostname, problem)
  return url
}

function isOpened(url: URL, { allowedPrivateHosts }: AddressRules): boolean {
  const host = bareHost(url.hostname)
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  return allowedPrivateHosts.some((allowed) => {
    const [, name = '', ownPort] = /^(\[.*\]|[^:]*|.*:.*:[^\]]*)(?::(\d+))?$/.exec(allowed.trim()) ?? []
    return bareHost(name) === host && (ownPort === undefined || ownPort === port)
  })
}

async function connectionTo(
  url: URL,
  { rules, resolve, proxyFor, signal }: { readonly rules: AddressRules; readonly resolve: NonNullable<NodeWebPagesOptions['resolve']>; readonly proxyFor: NonNullable<NodeWebPagesOptions['proxyFor']>; readonly signal: AbortSignal },
): Promise<Connection> {
  const proxy = proxyFor(url)
  const addresses = await orAbort(addressesOf(url, { resolve, mayBeUnknown: proxy !== null }), signal)
  const problem = isOpened(url, rules) ? undefined : addresses.find((address) => privateAddressProblem(address) !== null)
  if (problem !== undefined) throw privateHost(url.hostname, `leads to ${problem}, which ${privateAddressProblem(problem)}`)
  return proxy === null ? pinned(url, addresses) : { fetch: proxy.fetch, close: () => Promise.resolve() }
}

/** Behind a proxy the names of the world may be unknown here; the proxy knows them. */
async function addressesOf(url: URL, { resolve, mayBeUnknown }: { readonly resolve: NonNullable<NodeWebPagesOptions['resolve']>; readonly mayBeUnknown: boolean }): Promise<readonly string[]> {
  const host = bareHost(url.hostname)
  if (privateAddressProblem(host) !== 'is no address') return [host]
  try {
    const found = await resolve(host)
    if (found.length > 0) return found
  } catch (error) {
    if (!mayBeUnknown) throw new WebError('WEB_FETCH_FAILED', `Nobody knows a host named ${host}. Check the address.`, { cause: error })
  }
  if (mayBeUnknown) return []
  throw new WebError('WEB_FETCH_FAILED', `The host ${host} has no address. Check the name.`)
}

/** The library is loaded with the first page: it takes 80 ms. */
async function pinned(url: URL, addresses: readonly string[]): Promise<Connection> {
  const undici = await import('undici')
  const known = addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }))
  const lookup = (_hostname: string, options: LookupOptions, tell: (error: Error | null, address: string | LookupAddress[], family?: number) => void) => {
    const [first] = known
    if (options.all === true) tell(null, known)
    else tell(null, first?.address ?? '', first?.family)
  }
  const ca = url.protocol === 'https:' ? await trustedCertificates() : undefined
  const agent = new undici.Agent({ connect: { lookup, ...(ca && { ca: [...ca] }) }, pipelining: 1, maxHeaderSize: 65_536 })
  // Both are the web's `fetch`; only the declarations of their classes differ.
  const undiciFetch = undici.fetch as unknown as (input: string | URL | Request, init: unknown) => Promise<Response>
  return { fetch: (input, init) => undiciFetch(input, { ...init, dispatcher: agent }), close: () => agent.destroy() }
}

function redirectOf({ status, headers: given }: Response): string | null {
  return [301, 302, 303, 307, 308].includes(status) ? given.get('location') : null
}

/** Within one origin, or from http to https of the same host; consent was given to a host, not to where it sends. */
function nextAddress(from: URL, target: string, rules: AddressRules): URL {
  if (!URL.canParse(target, from.href)) throw redirectBlocked(`${from.host} redirects to "${target.slice(0, 200)}", which is no address.`)
  const next = new URL(target, from.href)
  if (next.hash === '') next.hash = from.hash
  const isUpgrade = next.protocol === 'https:' && from.protocol === 'http:' && next.hostname === from.hostname && next.port === '' && from.port === ''
  if (next.origin !== from.origin && !isUpgrade) {
    let isOpen = true
    try {
      checkedUrl(next.href, rules)
    } catch {
      // Why it is closed does not matter to the one who was sent there.
      isOpen = false
    }
    const shown = next.href.slice(0, 500)
    throw redirectBlocked(isOpen ? `${from.host} redirects to another site: ${shown}. If that is where you want to go, fetch that address.` : `${from.host} redirects to ${shown}, which is closed to this tool. Use another source.`)
  }
  return checkedUrl(next.href, rules)
}

async function readPage(response: Response, { url, ...caps }: { readonly url: string; readonly maxBytes: number; readonly maxPdfBytes: number }): Promise<Page> {
  const { status: statusCode } = response
  const type = pageTypeFrom(response.headers.get('content-type'))
  const isEmpty = response.body === null || [204, 205, 304].includes(statusCode)
  if (isEmpty) return { url, statusCode, mediaType: type.mediaType, isHtml: false, text: '', isCut: false, isDamaged: false }
  const isPdfType = type.mediaType === 'application/pdf' || type.mediaType === 'application/x-pdf'
  if (!isPdfType && !isReadableType(type.mediaType)) {
    throw new WebError('WEB_UNSUPPORTED_CONTENT_TYPE', `${url.slice(0, 300)} (status ${statusCode}) is ${type.mediaType}, which is no text. Look for the same as a web page, or download it with the shell.`)
  }
  const maxBytes = isPdfType ? caps.maxPdfBytes : caps.maxBytes
  const tooLarge = (size: string) => new WebError('WEB_FETCH_TOO_LARGE', `${url.slice(0, 300)} has ${size} bytes; at most ${maxBytes} are fetched. Look for a smaller page, or download it with the shell.`)
  const declared = Number(response.headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(String(declared))
  const { bytes, isCut } = await readBytes(response, maxBytes)
  if (isPdfType) {
    if (isCut) throw tooLarge(`more than ${maxBytes}`)
    return { url, statusCode, mediaType: type.mediaType, isHtml: false, text: '', isCut, isDamaged: false, pdf: bytes }
  }
  const { text, isHtml, isDamaged } = decodePage(bytes, type, isCut)
  return { url, statusCode, mediaType: type.mediaType, isHtml, text, isCut, isDamaged }
}

/** Bytes are counted as they come out of decompression, so that a small answer cannot become a large one. */
async function readBytes({ body }: Response, maxBytes: number): Promise<{ readonly bytes: Uint8Array; readonly isCut: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  // The platform's stream can be iterated; the declaration for browsers does not say so.
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(size + chunk.byteLength > maxBytes ? chunk.subarray(0, maxBytes - size) : chunk)
    size += chunk.byteLength
    if (size > maxBytes) return { bytes: Buffer.concat(chunks), isCut: true }
  }
  return { bytes: Buffer.concat(chunks), isCut: false }
}

async function systemResolver(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises')
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}

const blocked = (message: string) => new WebError('WEB_BLOCKED_URL', message)
const redirectBlocked = (message: string) => new WebError('WEB_REDIRECT_BLOCKED', message)
const privateHost = (hostname: string, problem: string) =>
  blocked(`${hostname} ${problem}, and this tool stays out of private networks. If the person wants it open, they can name the host in bosun.tools.web.allowedPrivateHosts.`)

function failed(url: URL, error: unknown): WebError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const words = messageOf(cause)
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? `${String(cause.code)}: ` : ''
  return new WebError('WEB_FETCH_FAILED', `${url.host} could not be read: ${code}${words}. Check the address, or try again later.`, { cause: error })
}
