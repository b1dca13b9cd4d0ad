import { clipped } from '../../../base/text.ts'
import type { FetchLike } from './bounded-fetch.ts'

/** Source: Model Context Protocol's library, `ErrorCode.ConnectionClosed`. */
const CLOSED = -32_000
/** UTF-16 units at the end of a piece, so that what is looked for is found across two. */
const OVERLAP = 40

/**
 * The same requests, where a stream that should bring an answer and ends without it brings the failure in its place: the library would
 * wait for the answer as long as the call may take. `onBroken` hears of those that broke off.
 *
 * A stream whose events have ids is left alone: the library goes on with it where it was.
 */
export function wholeAnswers(fetch: FetchLike, onBroken: () => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    const id = requestIdOf(init)
    if (id === null || response.body === null || response.headers.get('content-type')?.includes('text/event-stream') !== true) return response
    const { status, statusText, headers } = response
    const whole = new Response(withAnswer(response.body, id, onBroken), { status, statusText, headers })
    // A response made by hand does not say where it came from, which redirects are judged by.
    Object.defineProperties(whole, { url: { value: response.url }, redirected: { value: response.redirected } })
    return whole
  }
}

/** Null for what wants no answer. */
function requestIdOf(init: RequestInit | undefined): number | null {
  if (init?.method !== 'POST' || typeof init.body !== 'string') return null
  // The library’s own requests, whose id stands at the end.
  const [, id] = /^\{.*"method":.*"jsonrpc":"2\.0","id":(\d+)\}$/s.exec(init.body) ?? []
  return id === undefined ? null : Number(id)
}

function withAnswer(body: ReadableStream<Uint8Array<ArrayBuffer>>, id: number, onBroken: () => void): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const answer = new RegExp(`"id"\\s*:\\s*${id}\\b`)
  let tail = ''
  let isLeftAlone = false
  const fail = (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>, message: string) => {
    controller.enqueue(new TextEncoder().encode(`\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: CLOSED, message } })}\n\n`))
    controller.close()
  }
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) return isLeftAlone ? controller.close() : fail(controller, 'It ended its answer before it was whole.')
        if (!isLeftAlone) {
          const text = tail + decoder.decode(value, { stream: true })
          isLeftAlone = answer.test(text) || /(^|\n)id:/.test(text)
          tail = text.slice(-OVERLAP)
        }
        controller.enqueue(value)
      } catch (error) {
        if (isLeftAlone) return controller.error(error)
        fail(controller, clipped(error instanceof Error && error.message.startsWith('It ') ? error.message : `Its answer broke off: ${String(error)}`, 300))
        onBroken()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
