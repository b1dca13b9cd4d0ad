import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WireApi } from '../../extension/core/model/provider-config.ts'
import { textOf, type Answer, type ChatRequest, type ErrorAnswer, type ModelScript, type ScriptStep, type StreamAnswer } from './model-script.ts'
import { anthropicServer } from './wires/anthropic.ts'
import { googleServer } from './wires/google.ts'
import { openAiCompatibleServer } from './wires/openai-compatible.ts'
import { openAiResponsesServer } from './wires/openai-responses.ts'
import type { ServerWire } from './wires/server-wire.ts'

/** How the server speaks each protocol. */
export const serverWires = {
  'openai-compatible': openAiCompatibleServer,
  anthropic: anthropicServer,
  'openai-responses': openAiResponsesServer,
  google: googleServer,
} satisfies Record<WireApi, ServerWire>

/** A loopback server that speaks a provider's streaming wire format and plays a script. */
export interface ModelServer {
  /** Base URL with its version, such as `/v1`. */
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

/** Start the server on 127.0.0.1. Port 0 takes a free one; without `api` it speaks chat completions. */
export async function startModelServer(script: ModelScript, options: { readonly port?: number; readonly api?: WireApi } = {}): Promise<ModelServer> {
  const wire: ServerWire = serverWires[options.api ?? 'openai-compatible']
  const isChat = ({ path }: RecordedRequest): boolean => wire.isChat(belowRoot(path))
  const belowRoot = (path: string) => (path.startsWith(`${wire.root}/`) ? path.slice(wire.root.length).replace(/\?.*$/, '') : '')
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
    if (current.script.apiKey !== undefined && wire.keyOf(incoming.headers) !== current.script.apiKey) return sendError(response, wire.failures.wrongKey)
    const path = belowRoot(record.path)
    if (record.method === 'GET' && path === wire.modelsPath) return sendJson(response, wire.modelList(current.script.models ?? ['scripted']))
    if (record.method !== 'POST' || !wire.isChat(path))
      return sendError(response, { status: 404, body: { error: { message: `Unknown request URL: ${record.method} ${record.path}.` } } })

    const request = wire.read(body, path, current.count())
    if (current.script.models !== undefined && !current.script.models.includes(request.model)) return sendError(response, wire.failures.unknownModel(request.model))
    const chosen = isForTitle(record) ? titleAnswer : current.next(request)
    if ('status' in chosen) return sendError(response, chosen)
    if ('hang' in chosen) return hang(response, chosen.hang)
    return stream(response, wire, { request, answer: chosen })
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${wire.root}`,
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

/** No tools, and few tokens for the answer: what no turn of an agent sends. */
function isForTitle({ body }: RecordedRequest): boolean {
  return /"(max_tokens|max_output_tokens|maxOutputTokens)":(64|2112)\b/.test(body) && !body.includes('"tools":[')
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

async function stream(response: ServerResponse, wire: ServerWire, { request, answer }: { readonly request: ChatRequest; readonly answer: StreamAnswer }): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    [wire.requestIdHeader]: `scripted-${request.index}`,
  })
  response.flushHeaders()
  for (const frame of wire.frames(request, answer)) {
    if (response.destroyed) return
    if (typeof frame !== 'string') {
      if ('cut' in frame) return cut(response)
      await sleep(frame.waitMs)
      continue
    }
    if (answer.chunkDelayMs !== undefined) await sleep(answer.chunkDelayMs)
    if (response.destroyed) return
    if (!response.write(frame)) await new Promise<void>((resolve) => void response.once('drain', resolve).once('close', resolve))
  }
  response.end()
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
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
