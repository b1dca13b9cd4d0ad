import type { Http } from '../../capabilities/http.ts'
import type { Environment } from './environment.ts'

export interface NodeHttpOptions {
  /** Default: the environment of this process. */
  readonly environment?: Environment
  /** PEM certificates to trust beside those of Node, of `NODE_EXTRA_CA_CERTS` and of the system. */
  readonly extraCertificates?: readonly string[]
  /** The person's settings under the editor's names for them, read for each request; they win over the environment. */
  readonly settings?: (name: 'http.proxy' | 'http.noProxy') => unknown
}

/**
 * `fetch` for hosts without an editor: through the proxy that the settings or `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name,
 * trusting what Node trusts and what the system trusts, so that a company's certificate is not refused. This machine itself
 * is never reached through a proxy.
 *
 * Plain HTTP without a proxy, as a local model server has it, needs none of this and starts nothing. The rest is loaded
 * with the first request that needs it (undici 80 ms, the system's certificates up to 50 ms).
 * Errors: beside those of `fetch`, `TypeError` for a setting that names no proxy.
 */
export function createNodeHttp({ environment = process.env, extraCertificates = [], settings = () => undefined }: NodeHttpOptions = {}): Http {
  const careful = new Map<string, Promise<Http['fetch']>>()
  return {
    fetch: async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input)
      const proxy = isLoopback(url.hostname) ? noProxies : proxyFrom(environment, settings)
      if (proxy === noProxies && url.protocol === 'http:') return fetch(input, init)
      const key = JSON.stringify(proxy)
      const known = careful.get(key) ?? createCarefulFetch(proxy, extraCertificates)
      careful.set(key, known)
      return (await known)(input, init)
    },
  }
}

interface Proxies {
  readonly http?: string | undefined
  readonly https?: string | undefined
  /** Hosts that are reached without it, by commas. */
  readonly except?: string | undefined
}

const noProxies: Proxies = {}

function proxyFrom(environment: Environment, settings: NonNullable<NodeHttpOptions['settings']>): Proxies {
  const given = (name: string) => environment[name] || environment[name.toLowerCase()] || undefined
  const set = settings('http.proxy')
  const exceptions = settings('http.noProxy')
  const except = Array.isArray(exceptions) ? exceptions.join(',') : given('NO_PROXY')
  if (typeof set === 'string' && set.trim() !== '') {
    const url = set.trim()
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new TypeError('The setting http.proxy must be an address such as http://proxy.example:8080. Correct it, or take it out.')
    }
    return { http: url, https: url, except }
  }
  const [http, https] = [given('HTTP_PROXY'), given('HTTPS_PROXY')]
  return http === undefined && https === undefined ? noProxies : { http, https, except }
}

/**
 * Whether a request goes through a proxy, so that whoever must know the machine at the other end knows that it cannot.
 *
 * Errors: `TypeError` for a setting that names no proxy.
 */
export function usesProxy(url: URL, { environment = process.env, settings = () => undefined }: Pick<NodeHttpOptions, 'environment' | 'settings'>): boolean {
  if (isLoopback(url.hostname)) return false
  const { http, https, except = '' } = proxyFrom(environment, settings)
  const exceptions = except.toLowerCase().split(/[\s,]+/).map((entry) => entry.replace(/^\*?\.?/, '').replace(/:\d+$/, ''))
  const host = url.hostname.toLowerCase()
  if (except.trim() === '*' || exceptions.some((name) => name !== '' && (host === name || host.endsWith(`.${name}`)))) return false
  return (url.protocol === 'https:' ? https : http) !== undefined
}

const isLoopback = (host: string) => host === 'localhost' || host === '127.0.0.1' || host === '[::1]'

async function createCarefulFetch({ http, https, except }: Proxies, extraCertificates: readonly string[]): Promise<Http['fetch']> {
  const [undici, trusted] = await Promise.all([import('undici'), trustedCertificates()])
  const ca = [...new Set([...trusted, ...extraCertificates])]
  const dispatcher =
    http === undefined && https === undefined
      ? new undici.Agent({ connect: { ca } })
      : new undici.EnvHttpProxyAgent({
          connect: { ca },
          requestTls: { ca },
          proxyTls: { ca },
          // An empty text keeps the library from looking into the environment by itself.
          httpProxy: http ?? '',
          httpsProxy: https ?? '',
          noProxy: except ?? '',
        })
  // Both are the web's `fetch`; only the declarations of their classes differ.
  const undiciFetch = undici.fetch as unknown as (input: string | URL, init: unknown) => Promise<Response>
  return async (input, init) => {
    // A platform `Request` is not undici's own class: it is taken apart.
    const request = input instanceof Request ? new Request(input, init) : undefined
    if (!request) return undiciFetch(input as string | URL, { ...init, dispatcher })
    const { method, headers, body, redirect, signal } = request
    return undiciFetch(request.url, { method, headers: [...headers], body, redirect, signal, ...(body && { duplex: 'half' }), dispatcher })
  }
}

/** What Node trusts and what the system trusts, as PEM. */
export async function trustedCertificates(): Promise<readonly string[]> {
  const tls = await import('node:tls')
  return [...new Set([...tls.getCACertificates('default'), ...systemCertificates(tls)])]
}

/** An unreadable store of the system is no reason to refuse what Node itself trusts. */
function systemCertificates(tls: { getCACertificates(type: 'system'): string[] }): readonly string[] {
  try {
    return tls.getCACertificates('system')
  } catch {
    return []
  }
}
