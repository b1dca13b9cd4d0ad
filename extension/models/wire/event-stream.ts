import { createParser } from 'eventsource-parser'
import type { Clock } from '../../capabilities/clock.ts'
import { ModelError } from '../../core/model/contract.ts'
import { failureFromBody, failureFromHttp, failureFromPage, type FailureContext } from './failures.ts'
import { MalformedEvent } from './wire.ts'

/** Characters of one event. */
const MAX_EVENT_LENGTH = 32_000_000
/** Bytes, or characters once they are read. */
const MAX_ERROR_LENGTH = 1_000_000

type BodyReader = ReadableStreamDefaultReader<Uint8Array>

interface StreamOptions {
  readonly context: FailureContext
  /** Hears of every piece that arrives, comments too. */
  readonly onSign: () => void
  /** Gets the body when it is not read to its end. */
  readonly onLeave: (reader: BodyReader) => void
}

/**
 * The data of each event of an answer that is a stream of events.
 *
 * Errors: `ModelError` with what the server said instead; `MalformedEvent`; whatever the connection throws.
 */
export async function* eventsOf(response: Response, { context, onSign, onLeave }: StreamOptions): AsyncGenerator<string> {
  const reader = (await streamOf(response, context)).getReader()
  let isRead = false
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { done, value } = await reader.read()
      isRead = done
      if (done) return
      yield value
    }
  }
  try {
    yield* eventsIn(pieces(), response, { context, onSign })
  } finally {
    if (!isRead) onLeave(reader)
  }
}

async function* eventsIn(body: AsyncIterable<Uint8Array>, response: Response, { context, onSign }: Pick<StreamOptions, 'context' | 'onSign'>): AsyncGenerator<string> {
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
  // The last event counts also without the empty line after it, when it is whole.
  parser.feed(`${decoder.decode()}\n\n`)
  yield* ready.filter(isWhole)
}

function isWhole(data: string): boolean {
  try {
    JSON.parse(data)
    return true
  } catch {
    // Cut off in the middle: the stream has no end, and that is what is told of it.
    return false
  }
}

/** Milliseconds and bytes that a server has to end a stream after its last event. */
const LAST_MS = 200
const LAST_BYTES = 64_000

/** Read what is left after the last event, so that the connection can carry the next request; a server that does not end is left. Never throws. */
export async function readRest(reader: BodyReader, clock: Pick<Clock, 'schedule'>): Promise<void> {
  const leave = () => void reader.cancel().catch(() => undefined)
  const cancel = clock.schedule(LAST_MS, leave)
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.byteLength
      if (bytes > LAST_BYTES) return leave()
    }
  } catch {
    // The answer is complete; what breaks now concerns nobody.
  } finally {
    cancel()
  }
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

async function streamOf(response: Response, context: FailureContext): Promise<ReadableStream<Uint8Array>> {
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
