import type { Http } from '../../../capabilities/http.ts'
import { MAX_MESSAGE_BYTES } from '../../../capabilities/mcp.ts'

export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>

/** The same requests, with answers that end in an error once one message of them outgrows its cap. Units: bytes; a stream of events is counted anew at each empty line. */
export function boundedFetch(http: Http): FetchLike {
  return async (url, init) => {
    const response = await http.fetch(url, init)
    if (response.body === null) return response
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
    const { body, status, statusText, headers } = response
    const bounded = new Response(body.pipeThrough(capped(isStream)), { status, statusText, headers })
    // A response made by hand does not say where it came from, which redirects are judged by.
    Object.defineProperties(bounded, { url: { value: response.url }, redirected: { value: response.redirected } })
    return bounded
  }
}

/** The same requests, with headers that only the server they are meant for gets, not the one that lets people sign in. */
export function withHeaders(fetch: FetchLike, { url: target, headers: given }: { readonly url: string; readonly headers: Readonly<Record<string, string>> }): FetchLike {
  const { origin } = new URL(target)
  return async (url, init) => {
    if (Object.keys(given).length === 0 || new URL(url).origin !== origin) return await fetch(url, init)
    const headers = new Headers(init?.headers)
    for (const [name, value] of Object.entries(given)) headers.set(name, value)
    return await fetch(url, { ...init, headers })
  }
}

function capped(isStream: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0
  let isAtLineStart = true
  return new TransformStream({
    transform(chunk, controller) {
      for (let start = isStream ? 0 : chunk.length; start < chunk.length; ) {
        const end = chunk.indexOf(10, start)
        if (end < 0) {
          bytes += chunk.length - start
          isAtLineStart = false
          break
        }
        const isEmpty = isAtLineStart && (end === start || (end === start + 1 && chunk[start] === 13))
        bytes = isEmpty ? 0 : bytes + end - start
        isAtLineStart = true
        start = end + 1
      }
      if (!isStream) bytes += chunk.length
      if (bytes > MAX_MESSAGE_BYTES) controller.error(new Error(`It sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB.`))
      else controller.enqueue(chunk)
    },
  })
}
