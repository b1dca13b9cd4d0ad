import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A model that answers at once, so that what is left between two requests is the harness. */
export interface StepServer {
  readonly url: string
  /** `performance.now()` at the arrival of each chat request. */
  readonly arrivals: readonly number[]
  /** The last request's body. */
  lastBody(): string
  /** Requests whose body does not begin with all but the closing of the one before. */
  brokenPrefixes(): number
  close(): Promise<void>
}

export type StepKind = 'read' | 'grep' | 'bash'
export const KINDS: readonly StepKind[] = ['read', 'grep', 'bash']

const ARGUMENTS: Readonly<Record<StepKind, object>> = {
  read: { file_path: 'src/module-1.ts' },
  grep: { pattern: 'needle' },
  bash: { command: 'echo done', description: 'Say that it is done' },
}

/** Answers `steps` requests with one tool call each, in turn of kind, then with a closing text. */
export async function startStepServer(steps: number): Promise<StepServer> {
  const arrivals: number[] = []
  let last = ''
  let broken = 0
  const server = createServer((request, response) => {
    const at = performance.now()
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => void (body += chunk))
    request.on('end', () => {
      if (!request.url?.endsWith('/chat/completions')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[{"id":"bench","object":"model"}]}')
        return
      }
      const index = arrivals.push(at) - 1
      if (last && messagesText(body).slice(0, messagesText(last).length) !== messagesText(last)) broken += 1
      last = body
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of index < steps ? callEvents(index) : closingEvents()) response.write(`data: ${JSON.stringify(event)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    arrivals,
    lastBody: () => last,
    brokenPrefixes: () => broken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The part of a request that must stay the same: everything up to the end of its list of messages. */
function messagesText(body: string): string {
  const parsed = JSON.parse(body) as { readonly messages: readonly unknown[]; readonly tools?: unknown }
  return JSON.stringify([parsed.tools, ...parsed.messages]).slice(0, -1)
}

const base = { id: 'bench', object: 'chat.completion.chunk', created: 0, model: 'bench' }
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

function callEvents(index: number): object[] {
  const kind = KINDS[index % KINDS.length] as StepKind
  const call = { index: 0, id: `call-${index}`, type: 'function', function: { name: kind, arguments: JSON.stringify(ARGUMENTS[kind]) } }
  return [
    { ...base, choices: [{ index: 0, delta: { role: 'assistant', content: `Step ${index}.` }, finish_reason: null }] },
    { ...base, choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] },
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage },
  ]
}

function closingEvents(): object[] {
  return [
    { ...base, choices: [{ index: 0, delta: { role: 'assistant', content: 'Done.' }, finish_reason: null }] },
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ]
}
