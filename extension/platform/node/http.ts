import type { Http } from '../../capabilities/http.ts'
import type { Environment } from './environment.ts'

export interface NodeHttpOptions {
  /** Default: the environment of this process. */
  readonly environment?: Environment
  /** PEM certificates to trust beside those of Node and the system. */
  readonly extraCertificates?: readonly string[]
}

/**
 * `fetch` for hosts without an editor: through the proxy that `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name, trusting what
 * Node trusts and what the system trusts, so that a company's certificate is not refused.
 *
 * Plain HTTP without a proxy, as a local model server has it, needs none of this and starts nothing. The rest is loaded
 * with the first request that needs it (undici 80 ms, the system's certificates up to 50 ms).
 */
export function createNodeHttp({ environment = process.env, extraCertificates = [] }: NodeHttpOptions = {}): Http {
  let careful: Promise<Http['fetch']> | undefined
  return {
    fetch: async (input, init) => {
      if (!hasProxy(environment) && isPlain(input)) return fetch(input, init)
      careful ??= createCarefulFetch(environment, extraCertificates)
      return (await careful)(input, init)
    },
  }
}

const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']
const hasProxy = (environment: Environment) => proxyNames.some((name) => environment[name])

const isPlain = (input: string | URL | Request) => /^http:/i.test(input instanceof Request ? input.url : String(input))

async function createCarefulFetch(environment: Environment, extraCertificates: readonly string[]): Promise<Http['fetch']> {
  const [undici, tls] = await Promise.all([import('undici'), import('node:tls')])
  const ca = [...new Set([...tls.getCACertificates('default'), ...systemCertificates(tls), ...extraCertificates])]
  const value = (name: string) => environment[name] || environment[name.toLowerCase()] || undefined
  const httpProxy = value('HTTP_PROXY')
  const httpsProxy = value('HTTPS_PROXY')
  const noProxy = value('NO_PROXY')
  const dispatcher =
    httpProxy === undefined && httpsProxy === undefined
      ? new undici.Agent({ connect: { ca } })
      : new undici.EnvHttpProxyAgent({
          connect: { ca },
          requestTls: { ca },
          proxyTls: { ca },
          ...(httpProxy !== undefined && { httpProxy }),
          ...(httpsProxy !== undefined && { httpsProxy }),
          ...(noProxy !== undefined && { noProxy }),
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

/** An unreadable store of the system is no reason to refuse what Node itself trusts. */
function systemCertificates(tls: { getCACertificates(type: 'system'): string[] }): readonly string[] {
  try {
    return tls.getCACertificates('system')
  } catch {
    return []
  }
}
