import { z } from 'zod'
import type { Clock } from '../../capabilities/clock.ts'
import type { Http } from '../../capabilities/http.ts'
import { ModelError } from '../../core/model/contract.ts'
import type { ModelFacts, ProviderConfig } from '../../core/model/provider-config.ts'
import { failureFromError, failureFromHttp, failureFromPage, type FailureContext } from './failures.ts'

export interface ListedModel {
  readonly id: string
  readonly facts: ModelFacts
}

/** A list that takes longer is not waited for. */
const LIST_TIMEOUT_MS = 10_000
const MAX_LISTED = 2_000
const MAX_LIST_BYTES = 16_000_000

const positive = z.coerce.number().int().positive().optional().catch(undefined)
const price = z.coerce.number().min(0).optional().catch(undefined)

/** The fields that servers add to the protocol: OpenRouter's, vLLM's, llama.cpp's and LM Studio's. What is odd is left out, never an error. */
const listedModel = z.object({
  id: z.string().min(1),
  name: z.string().min(1).optional().catch(undefined),
  context_length: positive,
  max_model_len: positive,
  max_context_length: positive,
  meta: z.object({ n_ctx_train: positive }).optional().catch(undefined),
  top_provider: z.object({ max_completion_tokens: positive }).nullish().catch(undefined),
  architecture: z.object({ input_modalities: z.array(z.string()).optional() }).nullish().catch(undefined),
  pricing: z.object({ prompt: price, completion: price, input_cache_read: price, input_cache_write: price }).nullish().catch(undefined),
})
const modelList = z.object({ data: z.array(z.unknown()) })

export interface Inquiry {
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
  const { body, contentType, status } = await inquire('/models', inquiry)
  return read(body, { contentType, status }, inquiry.context)
}

/** Errors: `ModelError` when the server does not accept the key; nothing is asked where the list of models tells already. */
export async function checkKey(inquiry: Inquiry): Promise<void> {
  const { keyCheckPath } = inquiry.config
  if (keyCheckPath !== null) await inquire(keyCheckPath, inquiry)
}

async function inquire(path: string, { config, http, clock, key, signal, context }: Inquiry): Promise<{ readonly body: string; readonly contentType: string; readonly status: number }> {
  const limit = new AbortController()
  const cancel = clock.schedule(LIST_TIMEOUT_MS, () => limit.abort())
  try {
    const response = await http.fetch(`${config.baseUrl}${path}`, {
      headers: { ...config.headers, ...(key !== null && { authorization: `Bearer ${key}` }) },
      signal: AbortSignal.any([signal, limit.signal]),
    })
    const body = await boundedText(response, config.name)
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

function read(body: string, { contentType, status }: { readonly contentType: string; readonly status: number }, context: FailureContext): readonly ListedModel[] {
  if (/html/i.test(contentType)) throw failureFromPage(contentType, status, context)
  const parsed = modelList.safeParse(jsonOf(body))
  if (!parsed.success) {
    const message = `${context.name} did not answer with a list of models. Check the address in bosun.providers; most end with "/v1".`
    throw new ModelError({ code: 'MALFORMED_RESPONSE', message, status })
  }
  return parsed.data.data.slice(0, MAX_LISTED).flatMap((entry) => {
    const model = listedModel.safeParse(entry)
    return model.success ? [{ id: model.data.id, facts: factsFrom(model.data) }] : []
  })
}

function factsFrom(model: z.infer<typeof listedModel>): ModelFacts {
  const { prompt, completion, input_cache_read, input_cache_write } = model.pricing ?? {}
  const inputs = model.architecture?.input_modalities
  return {
    name: model.name,
    contextWindow: model.max_model_len ?? model.context_length ?? model.max_context_length ?? model.meta?.n_ctx_train,
    maxOutputTokens: model.top_provider?.max_completion_tokens,
    images: inputs?.includes('image'),
    ...(prompt !== undefined &&
      completion !== undefined && {
        price: {
          currency: 'USD',
          input: perMillion(prompt),
          cacheRead: perMillion(input_cache_read ?? prompt),
          cacheWrite: perMillion(input_cache_write ?? prompt),
          output: perMillion(completion),
        },
      }),
  }
}

/** Listed in dollars a token. */
const perMillion = (dollars: number) => Math.round(dollars * 1e12) / 1e6

/** Errors: `ModelError` `MALFORMED_RESPONSE` beyond the cap. */
async function boundedText(response: Response, name: string): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_LIST_BYTES) {
      const message = `${name} sent a list of models over ${MAX_LIST_BYTES / 1_000_000} MB. Name the model in bosun.model.name instead of choosing from the list.`
      throw new ModelError({ code: 'MALFORMED_RESPONSE', message })
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Reported by the caller as no list of models, whatever it was.
    return undefined
  }
}

export function headersOf(response: Response): Readonly<Record<string, string>> {
  return Object.fromEntries(response.headers)
}
