import * as z from 'zod'
import { messageOf } from '../../../base/message-of.ts'
import { clipped } from '../../../base/text.ts'
import type { Http } from '../../../capabilities/http.ts'
import { WebError, webAborted } from '../../../capabilities/web-pages.ts'
import type { WebProviderName } from '../../../core/settings/specs.ts'
import type { SearchRequest, SearchSource } from '../service.ts'

/** What one query gave. */
export interface QueryAnswer {
  readonly answer?: string
  readonly sources: readonly SearchSource[]
}

export interface Query {
  readonly text: string
  readonly maxResults: number
  readonly signal: AbortSignal
  readonly onModelRequest?: SearchRequest['onModelRequest']
}

/** What the settings and the secrets say of a provider, whole. */
export interface ProviderSetup {
  readonly http: Http
  /** Without a slash at its end. */
  readonly baseUrl: string
  /** Empty for a provider that wants none. */
  readonly key: string
  readonly model: string
}

export interface SearchProvider {
  readonly name: WebProviderName
  /** For people. */
  readonly title: string
  /** Null: the person has to say where it is. */
  readonly baseUrl: string | null
  /** Name of its key in the secrets and the environment; null: it wants none. */
  readonly keyName: string | null
  /** Asked only when the settings name it: its key is there for something else, or each search costs as much as a model's turn. */
  readonly isByNameOnly: boolean
  readonly model: string
  /** Errors: `WebError` `WEB_PROVIDER_ERROR`, `WEB_ABORTED`; a `QueryError` when only this query is at fault. */
  ask(query: Query, setup: ProviderSetup): Promise<QueryAnswer>
}

/** The provider refused or failed this query; another one may well succeed. */
export class QueryError extends WebError {}

/** Bytes of an answer. */
const MAX_ANSWER_BYTES = 4_000_000
/** UTF-16 units of one snippet and one title. */
const MAX_SNIPPET = 600
const MAX_TITLE = 200

export interface JsonRequest<T> {
  readonly title: string
  readonly setup: ProviderSetup
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: GET. */
  readonly body?: unknown
  readonly schema: z.ZodType<T>
  readonly signal: AbortSignal
}

/** One request to a provider. Redirects are refused, so that no key travels further than it was meant to. */
export async function requestJson<T>({ title, setup, path, headers, body, schema, signal }: JsonRequest<T>): Promise<T> {
  const response = await send()
  const text = await textOf(response)
  if (response.status >= 300) throw refusal(title, response.status, text)
  const parsed = schema.safeParse(parseJson(text))
  if (!parsed.success) throw new QueryError('WEB_PROVIDER_ERROR', `${title} gave an answer that is not in its documented form${at(parsed.error)}. Check its address in bosun.tools.web.providers.`)
  return parsed.data

  async function send(): Promise<Response> {
    try {
      return await setup.http.fetch(`${setup.baseUrl}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal,
      })
    } catch (error) {
      throw failure(error)
    }
  }

  async function textOf({ body: stream }: Response): Promise<string> {
    if (stream === null) return ''
    const decoder = new TextDecoder()
    let [text, size] = ['', 0]
    try {
      // The platform's stream can be iterated; the declaration for browsers does not say so.
      for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
        size += chunk.byteLength
        if (size > MAX_ANSWER_BYTES) throw new QueryError('WEB_PROVIDER_ERROR', `${title} answered with more than ${MAX_ANSWER_BYTES} bytes. Ask a narrower query.`)
        text += decoder.decode(chunk, { stream: true })
      }
    } catch (error) {
      throw failure(error)
    }
    return text + decoder.decode()
  }

  function failure(error: unknown): WebError {
    if (signal.aborted) return webAborted()
    if (error instanceof WebError) return error
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return new WebError('WEB_PROVIDER_ERROR', `${title} could not be reached: ${withoutKey(messageOf(cause))}. Check the network and bosun.tools.web.providers.`, { cause: error })
  }

  function withoutKey(words: string): string {
    return setup.key === '' ? words : words.replaceAll(setup.key, '[key]')
  }

  function refusal(name: string, status: number, answer: string): WebError {
    const words = withoutKey(reasonIn(answer))
    const said = words === '' ? '' : ` (${words})`
    if (status < 400) return new WebError('WEB_PROVIDER_ERROR', `${name} redirects elsewhere, which is not followed because the key would go along. Correct its address in bosun.tools.web.providers.`)
    if (status === 401 || status === 403) return new WebError('WEB_PROVIDER_ERROR', `${name} refused access, status ${status}${said}. The person has to check its key and plan${setup.key === '' ? ', and that it may answer in JSON' : ''}.`)
    if (status === 402 || status === 432 || status === 433) return new WebError('WEB_PROVIDER_ERROR', `The credit with ${name} is used up, status ${status}${said}. The person has to top it up, or choose another provider.`)
    if (status === 429) return new WebError('WEB_PROVIDER_ERROR', `${name} wants fewer searches, status 429${said}. Wait a little, then search again.`)
    return new QueryError('WEB_PROVIDER_ERROR', `${name} failed, status ${status}${said}. Change the query, or try again later.`)
  }
}

/** The words that an error's JSON holds, wherever they stand. */
function reasonIn(answer: string): string {
  const parsed = z.looseObject({ error: z.unknown(), message: z.unknown(), detail: z.unknown() }).partial().safeParse(parseJson(answer))
  const candidates = parsed.success ? [parsed.data.error, parsed.data.message, parsed.data.detail] : []
  const texts = candidates.flatMap((candidate) => {
    if (typeof candidate === 'string') return [candidate]
    if (typeof candidate !== 'object' || candidate === null) return []
    return ['message', 'error', 'detail'].flatMap((key) => {
      const inner: unknown = Object.entries(candidate).find(([name]) => name === key)?.[1]
      return typeof inner === 'string' ? [inner] : []
    })
  })
  return (texts[0] ?? '').replace(/\s+/g, ' ').trim().slice(0, 200)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // What is no JSON fits no schema, which is what the caller reports.
    return undefined
  }
}

const at = (error: z.ZodError) => {
  const path = error.issues[0]?.path.join('.') ?? ''
  return path === '' ? '' : ` (at ${path})`
}

/** Text of a source as people read it: no tags, no entities, one line. */
export function plainText(text: string): string {
  return text.replace(/<[^>]{0,200}>/g, '').replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (whole: string, decimal?: string, hex?: string, name?: string) => {
    const point = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : null
    if (point !== null) return point <= 0x10ffff ? String.fromCodePoint(point) : whole
    return entities[name?.toLowerCase() ?? ''] ?? whole
  }).replace(/\s+/g, ' ').trim()
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** A source from what a provider gives; null without an address of the web. */
export function sourceFrom({ url, title, snippet, publishedAt }: { readonly url: string; readonly title?: string | null | undefined; readonly snippet?: string | null | undefined; readonly publishedAt?: string | null | undefined }): SearchSource | null {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return null
  const [name, words, time] = [short(title, MAX_TITLE), short(snippet, MAX_SNIPPET), short(publishedAt, 40)]
  return { url, ...(name !== '' && { title: name }), ...(words !== '' && { snippet: words }), ...(time !== '' && { publishedAt: time }) }
}

function short(text: string | null | undefined, max: number): string {
  const plain = plainText(text ?? '')
  return clipped(plain, max)
}

export const isSource = (source: SearchSource | null): source is SearchSource => source !== null

/** Texts that may be missing, null, or something else in an answer that is otherwise good. */
export const looseText = z.string().nullish().catch(null)
