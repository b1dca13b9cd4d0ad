import type { Clock } from '../../capabilities/clock.ts'
import type { Http } from '../../capabilities/http.ts'
import { ModelError } from '../../core/model/contract.ts'
import type { ModelFacts, ProviderConfig } from '../../core/model/provider-config.ts'
import { boundedText, headersOf } from './event-stream.ts'
import { failureFromError, failureFromHttp, failureFromPage, type FailureContext } from './failures.ts'
import { fetchAtHome } from './fetch-at-home.ts'
import { nativeFactsOf } from './native-facts.ts'
import type { ListedModel, Wire } from './wire.ts'

/** A list that takes longer is not waited for. */
const LIST_TIMEOUT_MS = 10_000
const NATIVE_TIMEOUT_MS = 150
const MAX_LISTED = 2_000
const MAX_LIST_BYTES = 16_000_000

export interface Inquiry {
  readonly wire: Wire
  readonly config: ProviderConfig
  readonly http: Http
  readonly clock: Clock
  readonly key: string | null
  readonly signal: AbortSignal
  readonly context: FailureContext
}

/**
 * The models a server lists, with the facts it tells about them.
 *
 * Errors: `ModelError` with the reason, as for a request.
 */
export async function fetchModels(inquiry: Inquiry): Promise<readonly ListedModel[]> {
  const { wire, context } = inquiry
  const [{ body, contentType, status }, native] = await Promise.all([inquire(wire.models.path, inquiry), nativeFacts(inquiry)])
  if (/html/i.test(contentType)) throw failureFromPage(contentType, status, context)
  const models = wire.models.read(jsonOf(body))
  if (models !== null) {
    return models.slice(0, MAX_LISTED).map(({ id, facts }) => ({ id, facts: { ...facts, ...said(native.get('*')), ...said(native.get(id)) } }))
  }
  const message = `${context.name} did not answer with a list of models. Check the address in bosun.providers; most end with "/v1".`
  throw new ModelError({ code: 'MALFORMED_RESPONSE', message, status })
}

/** What the server's own interface adds; nothing where it has none. */
async function nativeFacts(inquiry: Inquiry): Promise<ReadonlyMap<string, ModelFacts>> {
  const native = nativeFactsOf(inquiry.config)
  if (native === null) return new Map()
  const { origin } = new URL(inquiry.config.baseUrl)
  // The list of the protocol must not wait for what only adds to it.
  const limit = new AbortController()
  const cancel = inquiry.clock.schedule(NATIVE_TIMEOUT_MS, () => limit.abort())
  try {
    const signal = AbortSignal.any([inquiry.signal, limit.signal])
    const { body } = await inquire(native.path, { ...inquiry, signal, config: { ...inquiry.config, baseUrl: origin } })
    return native.read(jsonOf(body))
  } catch {
    // An older server, or another one on the usual port; the list of the protocol stands alone then.
    return new Map()
  } finally {
    cancel()
  }
}

const said = (facts: ModelFacts = {}): ModelFacts => Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))

/** Errors: `ModelError` when the server does not accept the key; nothing is asked where the list of models tells already. */
export async function checkKey(inquiry: Inquiry): Promise<void> {
  const { keyCheckPath } = inquiry.config
  if (keyCheckPath !== null) await inquire(keyCheckPath, inquiry)
}

async function inquire(
  path: string,
  { wire, config, http, clock, key, signal, context }: Inquiry,
): Promise<{ readonly body: string; readonly contentType: string; readonly status: number }> {
  const limit = new AbortController()
  const cancel = clock.schedule(LIST_TIMEOUT_MS, () => limit.abort())
  try {
    const response = await fetchAtHome(http, `${config.baseUrl}${path}`, {
      name: config.name,
      headers: { ...wire.headers(key), ...config.headers },
      signal: AbortSignal.any([signal, limit.signal]),
    })
    const { text: body, isWhole } = await boundedText(response, MAX_LIST_BYTES)
    if (!isWhole) throw listTooLong(config.name)
    if (!response.ok) throw new ModelError(failureFromHttp({ status: response.status, headers: headersOf(response), body }, context))
    return { body, contentType: response.headers.get('content-type') ?? '', status: response.status }
  } catch (error) {
    if (limit.signal.aborted) throw new ModelError({ code: 'TIMEOUT', message: `${config.name} did not answer within ${LIST_TIMEOUT_MS / 1000} s. Check that it runs and can be reached.` })
    if (signal.aborted) throw new ModelError({ code: 'ABORTED', message: 'The request was cancelled.' })
    const failure = failureFromError(error, context)
    throw failure === null ? error : new ModelError(failure, { cause: error })
  } finally {
    cancel()
  }
}

function listTooLong(name: string): ModelError {
  const message = `${name} sent a list of models over ${MAX_LIST_BYTES / 1_000_000} MB. Name the model in bosun.model.name instead of choosing from the list.`
  return new ModelError({ code: 'MALFORMED_RESPONSE', message })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Reported by the caller as no list of models, whatever it was.
    return undefined
  }
}
