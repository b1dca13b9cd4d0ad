import type { Http } from '../../capabilities/http.ts'
import { ModelError } from '../../core/model/contract.ts'
import { hostOf } from './failures.ts'

/** As in the platform's own `fetch`. */
const maxRedirects = 20

/**
 * Fetch from a model server and follow it only to itself, or to its own encrypted port.
 *
 * The platform takes `authorization` off a request that is sent on to another server, but not the headers in which some protocols
 * carry their key, and never the conversation.
 * Errors: `ModelError`, `INVALID_REQUEST` when another server is named, `TRANSPORT` when it leads nowhere; else those of `fetch`.
 */
export async function fetchAtHome(http: Http, url: string, { name, ...init }: Omit<RequestInit, 'redirect' | 'body'> & { readonly body?: Uint8Array<ArrayBuffer>; readonly name: string }): Promise<Response> {
  let at = new URL(url)
  for (let count = 0; ; count++) {
    const response = await http.fetch(at.href, { ...init, redirect: 'manual' })
    const isOpaque = response.type === 'opaqueredirect'
    if (!isOpaque && ![301, 302, 303, 307, 308].includes(response.status)) return response
    const target = response.headers.get('location') ?? ''
    // Nobody reads it, and the connection is free again.
    response.body?.cancel().catch(() => undefined)
    if (isOpaque || count >= maxRedirects || !URL.canParse(target, at.href)) throw leadsNowhere(name, at)
    const next = new URL(target, at.href)
    if (!isHome(at, next)) throw leadsAway(name, next)
    at = next
  }
}

const isHome = (from: URL, to: URL) => to.origin === from.origin || (to.hostname === from.hostname && from.protocol === 'http:' && to.protocol === 'https:' && to.port === '')

function leadsAway(name: string, to: URL): ModelError {
  const message = `${name} sends its requests on to another server, ${hostOf(to.href)}, which is given neither the key nor the conversation. If you trust it, put its address into bosun.providers.`
  return new ModelError({ code: 'INVALID_REQUEST', message })
}

function leadsNowhere(name: string, at: URL): ModelError {
  const message = `${name} answers with a redirect that leads to no answer (at ${hostOf(at.href)}). Retry; if it happens again, check its address in bosun.providers and your proxy.`
  return new ModelError({ code: 'TRANSPORT', message })
}
