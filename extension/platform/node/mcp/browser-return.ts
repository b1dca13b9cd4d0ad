import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../../../base/message-of.ts'
import { clipped } from '../../../base/text.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import { McpError, type McpBrowser, type McpReturn } from '../../../capabilities/mcp.ts'

/** For the person to decide, in another program. */
const RETURN_LIMIT_MS = 5 * 60_000
const PATH = '/callback'
/** UTF-16 units of what a server says of a refusal. */
const MAX_WORDS = 300

export interface BrowserReturnNeeds {
  readonly clock: Pick<Clock, 'schedule'>
  /** Show a page in the person's browser. Shape: false when it was not opened. */
  readonly open: (url: string) => Promise<boolean>
  /** Where the person's browser reaches an address of this machine, which may be another one than theirs. */
  readonly external: (url: string) => Promise<string>
  /** What the page says that the browser ends at, in the person's language: after an answer, and for one that nobody waits for. */
  readonly words: () => { readonly heard: string; readonly stranger: string }
}

/**
 * A way back from the browser: a listener on a free port of 127.0.0.1 that lives as long as one sign-in, five minutes at most, and hears
 * one answer.
 *
 * Source: RFC 8252 section 7.3; Model Context Protocol 2025-11-25, authorization, which lets a client return to loopback or HTTPS alone.
 */
export function createBrowserReturn(needs: BrowserReturnNeeds): McpBrowser {
  return {
    async expect(signal, port = 0) {
      signal.throwIfAborted()
      const visit = new Visit(needs, signal)
      try {
        await visit.listen(port)
        signal.throwIfAborted()
        return visit
      } catch (error) {
        await visit.close()
        signal.throwIfAborted()
        throw new McpError('MCP_SIGN_IN', `There is no way back from the browser: ${messageOf(error)}`, { cause: error })
      }
    },
  }
}

class Visit implements McpReturn {
  redirectUrl = ''
  readonly #needs: BrowserReturnNeeds
  readonly #signal: AbortSignal
  readonly #server: Server
  readonly #answer = Promise.withResolvers<string>()
  #state: string | null = null
  #hadStranger = false
  #closed: Promise<void> | null = null

  constructor(needs: BrowserReturnNeeds, signal: AbortSignal) {
    this.#needs = needs
    this.#signal = signal
    this.#server = createServer((request, response) => this.#hear(request, response))
    // Whoever asks awaits it; one that ends before is not unhandled.
    this.#answer.promise.catch(() => {})
  }

  async listen(wanted: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen(wanted, '127.0.0.1', resolve)
    await promise
    const { port } = this.#server.address() as AddressInfo
    this.redirectUrl = await this.#needs.external(`http://127.0.0.1:${port}${PATH}`)
  }

  async ask(url: string, state: string): Promise<string> {
    this.#state = state
    const onAbort = () => this.#answer.reject(this.#signal.reason as Error)
    if (this.#signal.aborted) onAbort()
    this.#signal.addEventListener('abort', onAbort, { once: true })
    const stop = this.#needs.clock.schedule(RETURN_LIMIT_MS, () => this.#answer.reject(this.#tooLate()))
    try {
      const isOpen = await this.#needs.open(url)
      if (!isOpen) throw new McpError('MCP_SIGN_IN', 'The page to sign in at was not opened.')
      return await this.#answer.promise
    } finally {
      stop()
      this.#signal.removeEventListener('abort', onAbort)
    }
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
    return this.#closed
  }

  #tooLate(): McpError {
    const stranger = this.#hadStranger ? ' An answer came that did not belong to this sign-in.' : ''
    return new McpError('MCP_SIGN_IN', `Nobody came back from the browser within ${RETURN_LIMIT_MS / 60_000} minutes.${stranger}`)
  }

  #hear(request: IncomingMessage, response: ServerResponse): void {
    const { heard, stranger } = this.#needs.words()
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (request.method !== 'GET' || pathname !== PATH) return say(response, 404, stranger)
    const code = searchParams.get('code')
    const error = searchParams.get('error')
    // Whoever does not know the state was not sent by the page that was shown. Source: RFC 6749 section 10.12.
    if (this.#state === null || searchParams.get('state') !== this.#state || (code === null && error === null)) {
      this.#hadStranger = true
      return say(response, 400, stranger)
    }
    // The page is on its way before the listener goes.
    say(response, 200, heard, () => {
      if (error !== null) this.#answer.reject(new McpError('MCP_SIGN_IN', refusalWords(error, searchParams.get('error_description'))))
      else this.#answer.resolve(code ?? '')
    })
  }
}

const refusalWords = (error: string, description: string | null): string => {
  const said = clipped(description === null || description === '' ? error : `${description} (${error})`, MAX_WORDS)
  return error === 'access_denied' ? `You did not agree: ${said}.` : `The server answered: ${said}.`
}

function say(response: ServerResponse, status: number, words: string, onSent: () => void = () => {}): void {
  const plain = words.replaceAll(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`<!doctype html><meta name="viewport" content="width=device-width"><title>Bosun</title><body style="font:16px system-ui;margin:3em;max-width:40em">${plain}</body>`, onSent)
  // A browser that went away before it was answered has still said what it came to say.
  response.once('close', onSent)
}
