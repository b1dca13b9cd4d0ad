import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  failures,
  textOf,
  type Answer,
  type ChatMessage,
  type ChatRequest,
  type ErrorAnswer,
  type ModelScript,
  type ScriptPart,
  type ScriptStep,
  type ScriptToolCall,
  type ScriptUsage,
  type StreamAnswer,
} from './model-script.ts'

/** A loopback server that speaks the OpenAI-compatible streaming wire format and plays a script. */
export interface ModelServer {
  /** Base URL with `/v1`. */
  readonly url: string
  readonly port: number
  /** Every request, byte for byte, in order of arrival. */
  readonly requests: readonly RecordedRequest[]
  /** Chat requests alone, without those for a title. */
  chats(): readonly RecordedRequest[]
  /** Requests for a title of a session. They are answered beside the script and use no step of it. */
  titles(): readonly RecordedRequest[]
  /** Steps that no request has used. */
  unused(): number
  /** Put another script in place; used steps are forgotten. */
  play(script: ModelScript): void
  close(): Promise<void>
}

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
  /** The client went away before the answer was complete. */
  wasAborted: boolean
}

const MAX_BODY_BYTES = 64_000_000

/** Start the server on 127.0.0.1. Port 0 takes a free one. */
export async function startModelServer(script: ModelScript, options: { readonly port?: number } = {}): Promise<ModelServer> {
  let player = createPlayer(script)
  const requests: RecordedRequest[] = []
  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch((error: unknown) => {
      if (!response.headersSent) sendError(response, { status: 500, body: { error: { message: String(error), type: 'script_error' } } })
      else response.destroy()
    })
  })

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming)
    const record: RecordedRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body,
      wasAborted: false,
    }
    requests.push(record)
    response.on('close', () => {
      if (!response.writableEnded) record.wasAborted = true
    })
    const current = player
    if (current.script.apiKey !== undefined && incoming.headers.authorization !== `Bearer ${current.script.apiKey}`)
      return sendError(response, failures.wrongKey)
    if (record.method === 'GET' && record.path === '/v1/models') return sendModels(response, current.script)
    if (record.method !== 'POST' || record.path !== '/v1/chat/completions')
      return sendError(response, { status: 404, body: { error: { message: `Unknown request URL: ${record.method} ${record.path}.` } } })

    const request = readChat(body, current.count())
    if (current.script.models !== undefined && !current.script.models.includes(request.model))
      return sendError(response, failures.unknownModel(request.model))
    const chosen = isForTitle(record) ? titleAnswer : current.next(request)
    if ('status' in chosen) return sendError(response, chosen)
    if ('hang' in chosen) return hang(response, chosen.hang)
    return stream(response, request, chosen)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    chats: () => requests.filter((request) => isChat(request) && !isForTitle(request)),
    titles: () => requests.filter((request) => isChat(request) && isForTitle(request)),
    unused: () => player.unused(),
    play(next) {
      player = createPlayer(next)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Bytes that two texts have in common from their start. */
export function sharedPrefixLength(a: string, b: string): number {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  const end = Math.min(left.length, right.length)
  let length = 0
  while (length < end && left[length] === right[length]) length += 1
  return length
}

const isChat = ({ path }: RecordedRequest): boolean => path.endsWith('/chat/completions')

/** No tools, and few tokens for the answer: what no turn of an agent sends. */
function isForTitle({ body }: RecordedRequest): boolean {
  return body.includes('"max_tokens":64,') && !body.includes('"tools":[')
}

const titleAnswer: Answer = { parts: [{ text: 'A title from the model' }] }

interface Player {
  readonly script: ModelScript
  count(): number
  next(request: ChatRequest): Answer
  unused(): number
}

function createPlayer(script: ModelScript): Player {
  const left: ScriptStep[] = [...script.steps]
  let count = 0
  return {
    script,
    count: () => count,
    next(request) {
      count += 1
      const at = left.findIndex((step) => fits(step, request))
      const step = left[at]
      if (step === undefined) {
        const message = `The script has no step for request ${request.index} (${left.length} steps left, last message: ${JSON.stringify(textOf(request.messages.at(-1)).slice(0, 200))}).`
        return { status: 400, body: { error: { message, type: 'script_error' } } }
      }
      if (step.repeat !== true) left.splice(at, 1)
      return typeof step.answer === 'function' ? step.answer(request) : step.answer
    },
    unused: () => left.filter((step) => step.repeat !== true).length,
  }
}

function fits({ when }: ScriptStep, request: ChatRequest): boolean {
  if (when === undefined) return true
  if (typeof when === 'function') return when(request)
  return new RegExp(when).test(textOf(request.messages.at(-1)))
}

function readChat(body: string, index: number): ChatRequest {
  const json = JSON.parse(body) as Record<string, unknown>
  const messages = Array.isArray(json['messages']) ? (json['messages'] as readonly ChatMessage[]) : []
  return { index, length: body.length, json, messages, model: typeof json['model'] === 'string' ? json['model'] : '' }
}

async function stream(response: ServerResponse, request: ChatRequest, answer: StreamAnswer): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-request-id': `scripted-${request.index}`,
  })
  response.flushHeaders()
  const length = Math.max(1, answer.chunkLength ?? 11)
  const head = { id: `chatcmpl-${request.index}`, object: 'chat.completion.chunk', created: 1_700_000_000, model: request.model }
  let hasCalls = false
  let callCount = 0

  const write = async (text: string) => {
    if (answer.chunkDelayMs !== undefined) await sleep(answer.chunkDelayMs)
    if (response.destroyed) return
    if (!response.write(text)) await new Promise<void>((resolve) => void response.once('drain', resolve).once('close', resolve))
  }
  const send = (value: unknown) => write(`data: ${JSON.stringify(value)}\n\n`)
  const delta = (delta: unknown, finish: string | null = null) =>
    send({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })

  await delta({ role: 'assistant', content: '' })
  for (const part of answer.parts ?? []) {
    if (response.destroyed) return
    if ('text' in part) for (const piece of pieces(part.text, length)) await delta({ content: piece })
    else if ('reasoning' in part)
      for (const piece of pieces(part.reasoning, length)) await delta({ [part.key ?? 'reasoning_content']: piece })
    else if ('toolCalls' in part) {
      hasCalls = true
      for (const piece of callDeltas(part, request, callCount, length)) await delta({ tool_calls: [piece] })
      callCount += part.toolCalls.length
    } else if ('raw' in part) await write(part.raw)
    else if ('waitMs' in part) await sleep(part.waitMs)
    else return cut(response)
  }
  if (answer.finish !== null) await delta({}, answer.finish ?? (hasCalls ? 'tool_calls' : 'stop'))
  if (answer.usage !== null) await send({ ...head, choices: [], usage: wireUsage(answer.usage ?? guessUsage(request, answer)) })
  if (answer.done !== false) await write('data: [DONE]\n\n')
  response.end()
}

/** Deltas of the calls of one part: id and name with the first, the arguments in pieces after it. */
function callDeltas(
  part: Extract<ScriptPart, { toolCalls: unknown }>,
  request: ChatRequest,
  firstIndex: number,
  length: number,
): readonly unknown[] {
  const perCall = part.toolCalls.map((call, offset) => {
    const index = firstIndex + offset
    const id = call.id === undefined ? `call_${request.index}_${index}` : call.id
    const first = { index, ...(id === null ? {} : { id }), type: 'function', function: { name: call.name, arguments: '' } }
    return [first, ...pieces(argumentsOf(call, request), length).map((piece) => ({ index, function: { arguments: piece } }))]
  })
  if (part.interleaved !== true) return perCall.flat()
  const longest = Math.max(...perCall.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => perCall.flatMap((deltas) => (at < deltas.length ? [deltas[at]] : []))).flat()
}

function argumentsOf(call: ScriptToolCall, request: ChatRequest): string {
  if (typeof call.arguments === 'string') return call.arguments
  const last = textOf(request.messages.at(-1))
  return JSON.stringify(call.arguments, (_key, value: unknown) =>
    typeof value === 'string'
      ? value.replace(/\{\{match:(.*?)\}\}/g, (_whole, pattern: string) => new RegExp(pattern).exec(last)?.[1] ?? '')
      : value,
  )
}

function pieces(text: string, length: number): readonly string[] {
  const result: string[] = []
  for (let at = 0; at < text.length; at += length) result.push(text.slice(at, at + length))
  return result
}

function guessUsage(request: ChatRequest, answer: StreamAnswer): ScriptUsage {
  return {
    promptTokens: Math.ceil(request.length / 4),
    completionTokens: Math.max(1, Math.ceil(JSON.stringify(answer.parts ?? []).length / 4)),
  }
}

function wireUsage({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: ScriptUsage): unknown {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}

function sendModels(response: ServerResponse, script: ModelScript): void {
  const data = (script.models ?? ['scripted']).map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'script' }))
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }))
}

function sendError(response: ServerResponse, { status, headers, body }: ErrorAnswer): void {
  const isText = typeof body === 'string'
  response.writeHead(status, {
    'content-type': isText ? 'text/html' : 'application/json',
    'x-request-id': 'scripted-failure',
    ...headers,
  })
  response.end(isText ? body : JSON.stringify(body))
}

function hang(response: ServerResponse, where: 'before-headers' | 'after-headers'): void {
  if (where === 'before-headers') return
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
}

async function cut(response: ServerResponse): Promise<void> {
  // What was written must leave the machine first, else the client sees fewer chunks than the script says.
  await new Promise<void>((resolve) => setImmediate(resolve))
  response.socket?.destroy()
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error(`The request is over ${MAX_BODY_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
