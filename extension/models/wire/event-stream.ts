import { createParser } from 'eventsource-parser'
import { ModelError } from '../../core/model/contract.ts'
import { failureFromBody, failureFromHttp, failureFromPage, type FailureContext } from './failures.ts'
import { MalformedEvent } from './wire.ts'

/** Characters of one event. */
const MAX_EVENT_LENGTH = 32_000_000
/** Bytes, or characters once they are read. */
const MAX_ERROR_LENGTH = 1_000_000

/**
 * The data of each event of an answer that is a stream of events.
 *
 * `onSign` hears of every piece that arrives, comments too.
 * Errors: `ModelError` with what the server said instead; `MalformedEvent`; whatever the connection throws.
 */
export async function* eventsOf(response: Response, context: FailureContext, onSign: () => void): AsyncGenerator<string> {
  const body = await streamOf(response, context)
  const ready: string[] = []
  const parser = createParser({
    maxBufferSize: MAX_EVENT_LENGTH,
    onEvent: ({ data }) => void ready.push(data),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new MalformedEvent(error.message)
    },
  })
  const decoder = new TextDecoder()
  let head = ''
  let isStream = false
  for await (const bytes of body) {
    onSign()
    const text = decoder.decode(bytes, { stream: true })
    if (!isStream) {
      head += text
      // No event begins like JSON or a page: such a server did not stream, whatever its headers say.
      isStream = /^\s*[^\s{[<]/.test(head)
      if (!isStream && head.length > MAX_ERROR_LENGTH) break
    }
    if (!isStream) continue
    parser.feed(head === '' ? text : head)
    head = ''
    yield* ready.splice(0)
  }
  if (head.trim() !== '') throw failureInstead(head, response, context)
  parser.feed(decoder.decode())
  // The last event counts also without the empty line after it.
  parser.reset({ consume: true })
  yield* ready
}

/** The text of an answer that is no stream. What is beyond `maxBytes` stays unread; `isWhole` tells. */
export async function boundedText(response: Response, maxBytes: number): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return { text, isWhole: false }
    text += decoder.decode(chunk, { stream: true })
  }
  return { text: text + decoder.decode(), isWhole: true }
}

export function headersOf(response: Response): Readonly<Record<string, string>> {
  return Object.fromEntries(response.headers)
}

async function streamOf(response: Response, context: FailureContext): Promise<AsyncIterable<Uint8Array>> {
  const { status } = response
  const contentType = response.headers.get('content-type') ?? ''
  if (!response.ok) {
    const { text } = await boundedText(response, MAX_ERROR_LENGTH)
    throw new ModelError(failureFromHttp({ status, headers: headersOf(response), body: text }, context))
  }
  if (/html/i.test(contentType)) {
    await response.body?.cancel()
    throw failureFromPage(contentType, status, context)
  }
  if (response.body === null) {
    const message = `${context.name} answered without any content (${status}). Retry; if it happens again, check its address in bosun.providers.`
    throw new ModelError({ code: 'MALFORMED_RESPONSE', message, status })
  }
  return response.body
}

function failureInstead(text: string, response: Response, context: FailureContext): ModelError {
  const contentType = response.headers.get('content-type') ?? 'no type'
  if (text.trimStart().startsWith('<')) return failureFromPage(contentType, response.status, context)
  return new ModelError(failureFromBody({ status: response.status, headers: headersOf(response), body: text }, context))
}
