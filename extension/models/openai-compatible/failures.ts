import { ModelError, type Failure, type FailureCode } from '../../core/model/contract.ts'

/** Where a failure happened, for the words that say what to do next. */
export interface FailureContext {
  readonly name: string
  readonly baseUrl: string
  readonly model: string
  readonly isLocal: boolean
  /** Epoch ms, to read a date in `Retry-After`. */
  readonly now: number
  /** Taken out of whatever the server says: some servers send it back. */
  readonly key: string | null
}

/** An answer of the server that is no success. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** What an answer with an error status means. Source: runtime specification 16.1. */
export function failureFromHttp(answer: HttpAnswer, context: FailureContext): Failure {
  const said = saidBy(answer.body, context.key)
  const code = codeFor(answer.status, said)
  const retryAfterMs = retryAfter(answer.headers, context.now)
  const requestId = answer.headers['x-request-id'] ?? answer.headers['request-id']
  return {
    code,
    message: wordsFor(code, answer, said, context, retryAfterMs),
    status: answer.status,
    ...(retryAfterMs !== undefined && { providerRetryAfterMs: retryAfterMs }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** What an error inside of a stream means. */
export function failureFromStream(error: unknown, context: FailureContext): Failure {
  const said = saidBy(JSON.stringify({ error }), context.key)
  const status = Number(said.code)
  const code = codeFor(status >= 400 && status < 600 ? status : statusOf(said), said)
  return { code, message: `${context.name} broke its answer off: ${said.message || 'no reason given'}. Retry, or choose another model.` }
}

/** What an error that the library or `fetch` threw means, or null when it is none of theirs (a cancelled request, a defect). */
export function failureFromError(error: unknown, context: FailureContext): Failure | null {
  if (error instanceof ModelError) return error.failure
  const { statusCode, responseHeaders, responseBody } = answerOf(error)
  if (typeof statusCode === 'number' && statusCode >= 400)
    return failureFromHttp({ status: statusCode, headers: responseHeaders ?? {}, body: responseBody ?? '' }, context)
  if (error instanceof Error && malformedNames.test(error.name))
    return {
      code: 'MALFORMED_RESPONSE',
      message: `${context.name} sent something that is no part of an answer. Retry, or choose another model.`,
    }
  return failureFromNetwork(error, context)
}

/** What a failed connection means, or null when `error` is none. */
export function failureFromNetwork(error: unknown, context: FailureContext): Failure | null {
  const cause = networkCause(error)
  if (cause === null) return null
  const host = hostOf(context.baseUrl)
  const { code } = cause
  if (code === 'ECONNREFUSED') {
    const next = context.isLocal ? `Start ${context.name}` : 'Start the server'
    return { code: 'TRANSPORT', message: `Nothing answers at ${host}. ${next}, or correct the address in bosun.providers.` }
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { code: 'TRANSPORT', message: `The name ${host} is not known. Check the spelling in bosun.providers and your network connection.` }
  if (certificateCodes.test(code))
    return {
      code: 'CERTIFICATE',
      message: `The certificate of ${host} is not accepted (${code}). Add your company’s root certificate to the system, or turn on http.systemCertificates in the editor.`,
    }
  if (/TIMEDOUT|TIMEOUT/.test(code))
    return { code: 'TIMEOUT', message: `${context.name} did not answer in time at ${host}. Retry, or choose another model.` }
  return { code: 'TRANSPORT', message: `The connection to ${host} broke (${code}). Retry; if it happens again, check your network and proxy.` }
}

/** A page where an answer was expected. */
export function failureFromPage(contentType: string, status: number, context: FailureContext): ModelError {
  const message = `${hostOf(context.baseUrl)} answered with a web page (${contentType}) and not as a model server. Check the address in bosun.providers, its end "/v1" above all, and your proxy.`
  return new ModelError({ code: 'MALFORMED_RESPONSE', message, status })
}

/** The library's own errors, by name: their classes would load the library. */
const malformedNames = /JSONParseError|TypeValidationError|InvalidResponseDataError|EmptyResponseBodyError/

/** The fields of the library's error for an answer with an error status. */
function answerOf(error: unknown): {
  readonly statusCode?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
} {
  return typeof error === 'object' && error !== null ? error : {}
}

interface Said {
  readonly message: string
  readonly code: string
  readonly type: string
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/
const contextWords = /context.{0,20}(length|window|size)|maximum.{0,20}tokens|too many (input )?tokens|prompt is too long|exceeds? the (available )?context/i
const modelWords = /model.{0,80}(not.{0,4}(exist|found|available)|unknown)|(unknown|invalid|no such) model/i

function codeFor(status: number, { message, code, type }: Said): FailureCode {
  const all = `${code} ${type} ${message}`
  if (status === 401 || status === 403) return 'AUTH'
  if (status === 402 || /insufficient_(quota|balance)/i.test(all)) return 'QUOTA'
  if (status === 429) return 'RATE_LIMIT'
  if (status === 408) return 'TIMEOUT'
  if (status >= 500) return 'SERVER'
  if (status === 413 || /context_length_exceeded/.test(all) || contextWords.test(message)) return 'CONTEXT_WINDOW_EXCEEDED'
  if (/model_not_found/.test(all) || modelWords.test(message)) return 'UNKNOWN_MODEL'
  if (status === 400 || status === 422) return 'INVALID_REQUEST'
  return `HTTP_${status}`
}

/** As the provider asks for it: " 8 s", " 10 min". */
function waitOf(ms: number | undefined): string {
  if (ms === undefined) return ''
  const seconds = Math.ceil(ms / 1_000)
  return seconds < 120 ? ` ${seconds} s` : ` ${Math.ceil(seconds / 60)} min`
}

/** In a stream a provider gives words and no status. */
function statusOf({ message, code, type }: Said): number {
  const all = `${code} ${type} ${message}`
  if (/rate.?limit|too many requests/i.test(all)) return 429
  if (/invalid_request|context/i.test(all)) return 400
  if (/auth|api.?key/i.test(all)) return 401
  return 500
}

function wordsFor(code: FailureCode, { status }: HttpAnswer, said: Said, { name, baseUrl, model, isLocal }: FailureContext, retryAfterMs: number | undefined): string {
  const reason = said.message === '' ? '' : ` It said: ${said.message}`
  switch (code) {
    case 'AUTH':
      return status === 403
        ? `${name} does not let this key use ${model} (403). Check the key’s rights, or set another one with "Bosun: Set API Key".${reason}`
        : `${name} does not accept the key (401). Set another one with "Bosun: Set API Key".${reason}`
    case 'QUOTA':
      return `The account at ${name} has no money or quota left. Top it up, or choose another model.${reason}`
    case 'RATE_LIMIT':
      return `${name} limits how often it may be asked (429). Wait${waitOf(retryAfterMs)}, or choose another model.${reason}`
    case 'TIMEOUT':
      return `${name} did not answer in time (${status}). Retry, or choose another model.${reason}`
    case 'SERVER':
      return `${name} has a problem of its own (${status}). Retry in a while, or choose another model.${reason}`
    case 'CONTEXT_WINDOW_EXCEEDED':
      return `The conversation is longer than ${model} can take. Start a new session, or choose a model with a larger window.${reason}`
    case 'UNKNOWN_MODEL': {
      const next = isLocal ? 'Load it in the server, or choose another one' : 'Choose another one'
      return `${name} has no model "${model}". ${next}.${reason}`
    }
    case 'INVALID_REQUEST':
      return `${name} refused the request (${status}). Choose another model, or start a new session.${reason}`
    default:
      return status === 404
        ? `There is no model server at ${baseUrl} (404). Check the address in bosun.providers; most end with "/v1".${reason}`
        : `${name} answered with ${status}. Check the address in bosun.providers, or choose another model.${reason}`
  }
}

/** What an error body says; a page of HTML says nothing a person should read. */
function saidBy(body: string, key: string | null): Said {
  const cut = (value: unknown) => {
    const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
    return (key === null ? text : text.replaceAll(key, '…')).trim().slice(0, 500)
  }
  try {
    const value = JSON.parse(body) as unknown
    const error = record(record(value)['error'] ?? value)
    const message = typeof record(value)['error'] === 'string' ? record(value)['error'] : (error['message'] ?? error['detail'])
    return { message: cut(message), code: cut(error['code']), type: cut(error['type']) }
  } catch {
    const text = /<\w+[^>]*>/.test(body) ? '' : body
    return { message: cut(text), code: '', type: '' }
  }
}

const record = (value: unknown) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {})

/** `Retry-After` in seconds or as a date, or the milliseconds that some providers send. */
function retryAfter(headers: HttpAnswer['headers'], now: number): number | undefined {
  const exact = Number(headers['retry-after-ms'])
  if (Number.isFinite(exact) && exact >= 0) return exact
  const text = headers['retry-after']
  if (text === undefined || text.trim() === '') return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** The system's code somewhere down the chain of causes. */
function networkCause(error: unknown): { readonly code: string } | null {
  const causes: unknown[] = [error]
  // A chain may be circular; ten links are more than any library makes.
  for (let depth = 0; depth < 10 && causes.length > 0; depth += 1) {
    const cause = causes.shift()
    if (!(cause instanceof Error)) continue
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    if (/^(E[A-Z_]+|UND_ERR_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/.test(code)) return { code }
    if (cause instanceof AggregateError) causes.push(...(cause.errors as unknown[]))
    causes.push(cause.cause)
    if (cause instanceof TypeError && /terminated|network|fetch failed/i.test(cause.message) && cause.cause === undefined)
      return { code: 'ECONNRESET' }
  }
  return null
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
