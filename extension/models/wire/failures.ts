import { ModelError, type Failure, type FailureCode } from '../../core/model/contract.ts'
import { believedWait, isBelievedWhole, MAX_BELIEVED_WAIT_MS } from '../../core/model/provider-wait.ts'
import { MalformedEvent } from './wire.ts'

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
  const retryAfterMs = retryAfter(answer.headers, context.now) ?? said.retryAfterMs
  const requestId = requestIdOf(answer.headers)
  return {
    code,
    message: wordsFor(code, answer, said, context, retryAfterMs),
    status: answer.status,
    ...(retryAfterMs !== undefined && { providerRetryAfterMs: retryAfterMs }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** What JSON means where a stream was expected, under a status of success: an error told this way, or a server that cannot stream. */
export function failureFromBody(answer: HttpAnswer, context: FailureContext): Failure {
  const said = saidBy(answer.body, context.key)
  if (said.isError) return failureFromHttp({ ...answer, status: statusIn(said) }, context)
  const reason = said.message === '' ? '' : ` It said: ${said.message}`
  const message = `${context.name} answered in one piece and not as a stream. Check its address in bosun.providers, or choose another model.${reason}`
  return { code: 'MALFORMED_RESPONSE', message, status: answer.status }
}

/** What an error inside of a stream means. `requestId` is the one of the answer. */
export function failureFromStream(error: unknown, context: FailureContext, requestId?: string): Failure {
  const said = saidBy(JSON.stringify({ error }), context.key)
  return {
    code: codeFor(statusIn(said), said),
    message: `${context.name} broke its answer off: ${said.message || 'no reason given'}. Retry, or choose another model.`,
    ...(said.retryAfterMs !== undefined && { providerRetryAfterMs: said.retryAfterMs }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** Whatever a provider calls its filter. */
export const filtered: Failure = {
  code: 'INVALID_REQUEST',
  message: 'The provider’s filter stopped the answer. Say it differently, or choose another model.',
}

export const requestIdOf = (headers: HttpAnswer['headers']): string | undefined => headers['x-request-id'] ?? headers['request-id']

/** What an error that was thrown on the way means, or null when it is none of the way (a cancelled request, a defect). */
export function failureFromError(error: unknown, context: FailureContext): Failure | null {
  if (error instanceof ModelError) return error.failure
  if (error instanceof MalformedEvent)
    return {
      code: 'MALFORMED_RESPONSE',
      message: `${context.name} sent something that is no part of an answer. Retry, or choose another model.`,
    }
  return failureFromNetwork(error, context)
}

/** What a failed connection means, or null when `error` is none. */
function failureFromNetwork(error: unknown, context: FailureContext): Failure | null {
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
  if (code.startsWith('Z_'))
    return { code: 'MALFORMED_RESPONSE', message: `The answer of ${host} cannot be unpacked (${code}). Retry; if it happens again, check your proxy.` }
  if (/TIMEDOUT|TIMEOUT/.test(code))
    return { code: 'TIMEOUT', message: `${context.name} did not answer in time at ${host}. Retry, or choose another model.` }
  return { code: 'TRANSPORT', message: `The connection to ${host} broke (${code}). Retry; if it happens again, check your network and proxy.` }
}

/** A page where an answer was expected. */
export function failureFromPage(contentType: string, status: number, context: FailureContext): ModelError {
  const message = `${hostOf(context.baseUrl)} answered with a web page (${contentType}) and not as a model server. Check the address in bosun.providers, its end "/v1" above all, and your proxy.`
  return new ModelError({ code: 'MALFORMED_RESPONSE', message, status })
}

interface Said {
  readonly message: string
  readonly code: string
  readonly type: string
  /** Told among the words, as Google and OpenAI do. */
  readonly retryAfterMs?: number | undefined
  /** It is an error and says so. */
  readonly isError: boolean
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/
const contextWords = /context.{0,20}(length|window|size|limit)|maximum.{0,20}tokens|too many (input )?tokens|(prompt|input) is too long|exceeds? the (available )?context/i
const modelWords = /model.{0,80}(not.{0,4}(exist|found|available)|unknown)|(unknown|invalid|no such) model|not_found_error model:/i
const quotaWords = /insufficient_(quota|balance)|billing_error|billing_hard_limit|credit balance is too low|quota.{0,80}per_?day/i
const keyWords = /api_key_invalid|api key (not valid|expired)/i

function codeFor(status: number, { message, code, type }: Said): FailureCode {
  const all = `${code} ${type} ${message}`
  if (status === 402 || quotaWords.test(all)) return 'QUOTA'
  if (status === 401 || status === 403 || keyWords.test(all)) return 'AUTH'
  if (status === 429) return 'RATE_LIMIT'
  if (status === 408) return 'TIMEOUT'
  if (status >= 500) return 'SERVER'
  if (status === 413 || /context_length_exceeded/.test(all) || contextWords.test(message)) return 'CONTEXT_WINDOW_EXCEEDED'
  if (/model_not_found/.test(all) || modelWords.test(all)) return 'UNKNOWN_MODEL'
  if (status === 400 || status === 422) return 'INVALID_REQUEST'
  return `HTTP_${status}`
}

/** As the provider asks for it: "Wait 8 s", "Wait 10 min"; what is too long to be believed is not waited for. */
function waitOf(ms: number | undefined): string {
  if (ms === undefined) return 'Wait'
  if (!isBelievedWhole(ms)) return `It asks to wait longer than ${MAX_BELIEVED_WAIT_MS / 3_600_000} h, which is not waited for. Retry when you think it answers again`
  const seconds = Math.ceil(ms / 1_000)
  return seconds < 120 ? `Wait ${seconds} s` : `Wait ${Math.ceil(seconds / 60)} min`
}

/** In a stream a provider gives words and not always a status. */
function statusIn(said: Said): number {
  const status = Number(said.code)
  return status >= 400 && status < 600 ? status : statusOf(said)
}

function statusOf({ message, code, type }: Said): number {
  const kind = `${code} ${type}`
  const all = `${kind} ${message}`
  if (/rate.?limit|too many requests|resource_exhausted/i.test(all)) return 429
  if (/overloaded/i.test(all)) return 529
  if (/invalid_(request|argument|prompt)|context|too long|too_large/i.test(all)) return 400
  if (/auth|permission|api.?key/i.test(kind) || /api.?key/i.test(message)) return 401
  if (/not_found/i.test(kind)) return 404
  return 500
}

function wordsFor(code: FailureCode, { status }: HttpAnswer, said: Said, { name, baseUrl, model, isLocal }: FailureContext, retryAfterMs: number | undefined): string {
  const reason = said.message === '' ? '' : ` It said: ${said.message}`
  switch (code) {
    case 'AUTH':
      return status === 403
        ? `${name} does not let this key use ${model} (403). Check the key’s rights, or set another one with "Bosun: Set API Key".${reason}`
        : `${name} does not accept the key (${status}). Set another one with "Bosun: Set API Key".${reason}`
    case 'QUOTA':
      return `The account at ${name} has no money or quota left. Top it up, or choose another model.${reason}`
    case 'RATE_LIMIT':
      return `${name} limits how often it may be asked (429). ${waitOf(retryAfterMs)}, or choose another model.${reason}`
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
    const parsed = JSON.parse(body) as unknown
    // Google sends a list where it was to stream.
    const value = record(Array.isArray(parsed) ? parsed[0] : parsed)
    const error = record(value['error'] ?? value)
    const message = cut(typeof value['error'] === 'string' ? value['error'] : (error['message'] ?? error['detail']))
    const details = detailsOf(error['details'])
    return {
      message,
      code: cut(error['code']),
      type: [cut(error['type']), cut(error['status']), ...details.reasons].filter((word) => word !== '').join(' '),
      retryAfterMs: details.retryAfterMs ?? retryWords(message),
      isError: value['error'] !== undefined && value['error'] !== null,
    }
  } catch {
    const text = /<\w+[^>]*>/.test(body) ? '' : body
    return { message: cut(text), code: '', type: '', isError: false }
  }
}

/** Google's details of an error: how long to wait, which quota, which reason. */
function detailsOf(details: unknown): { readonly retryAfterMs: number | undefined; readonly reasons: readonly string[] } {
  const entries = Array.isArray(details) ? details.map(record) : []
  const delay = entries.map(({ retryDelay }) => /^([\d.]+)s$/.exec(String(retryDelay))?.[1]).find((text) => text !== undefined)
  const reasons = entries.flatMap(({ reason, violations }) => [reason, ...(Array.isArray(violations) ? violations.map((entry) => record(entry)['quotaId']) : [])])
  return {
    retryAfterMs: delay === undefined ? undefined : believedWait(Number(delay) * 1_000),
    reasons: reasons.flatMap((word) => (typeof word === 'string' ? [word.includes('PerDay') ? `quota ${word}` : word] : [])),
  }
}

/** "Please try again in 1.2s." */
function retryWords(message: string): number | undefined {
  const [, amount, unit] = /try again in ([\d.]+) ?(ms|s|m)\b/i.exec(message) ?? []
  const factor = unit === 'ms' ? 1 : unit === 's' ? 1_000 : 60_000
  return amount === undefined || unit === undefined ? undefined : believedWait(Number(amount) * factor)
}

const record = (value: unknown) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {})

/** `Retry-After` in seconds or as a date, or the milliseconds that some providers send. */
function retryAfter(headers: HttpAnswer['headers'], now: number): number | undefined {
  const exact = believedWait(Number(headers['retry-after-ms']))
  if (exact !== undefined) return exact
  const text = headers['retry-after']?.trim() ?? ''
  if (text === '') return undefined
  const seconds = Number(text)
  return believedWait(Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1_000)
}

/** The system's code somewhere down the chain of causes; for what `fetch` says without one, its words. */
function networkCause(error: unknown): { readonly code: string } | null {
  const causes: unknown[] = [error]
  let words: string | undefined
  // A chain may be circular; ten links are more than any library makes.
  for (let depth = 0; depth < 10 && causes.length > 0; depth += 1) {
    const cause = causes.shift()
    if (!(cause instanceof Error)) continue
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    if (/^(E[A-Z_]+|UND_ERR_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|Z_\w+)$/.test(code)) return { code }
    if (cause instanceof AggregateError) causes.push(...(cause.errors as unknown[]))
    causes.push(cause.cause)
    if (cause instanceof TypeError && /terminated|network|fetch failed/i.test(cause.message)) words ??= cause.cause instanceof Error ? cause.cause.message : 'ECONNRESET'
  }
  return words === undefined ? null : { code: words }
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
