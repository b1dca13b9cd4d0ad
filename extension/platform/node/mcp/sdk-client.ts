import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { OAuthError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { SSEClientTransport, SseError } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ErrorCode,
  McpError as ProtocolError,
  ProgressNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
  UrlElicitationRequiredError,
  LoggingMessageNotificationSchema,
  type ContentBlock,
} from '@modelcontextprotocol/sdk/types.js'
import type { Json, JsonObject } from '../../../base/json.ts'
import { orAbort } from '../../../base/or-abort.ts'
import { clipped } from '../../../base/text.ts'
import type { McpConnectOptions, McpConnection, McpContent, McpErrorCode, McpKeptSignIn, McpTarget, McpToolFacts } from '../../../capabilities/mcp.ts'
import { MAX_LIST_ENTRIES, MAX_LIST_PAGES } from '../../../capabilities/mcp.ts'
import { boundedFetch, withHeaders } from './bounded-fetch.ts'
import type { ConnectorNeeds } from './connector.ts'
import { revokeSignIn } from './revoke-sign-in.ts'
import { ProcessTransport, StartFailure } from './process-transport.ts'
import { QuietClient } from './quiet-client.ts'
import { wholeAnswers } from './whole-answers.ts'
import { SignInProvider } from './sign-in-provider.ts'

export interface SdkNeeds extends ConnectorNeeds {
  readonly fail: (code: McpErrorCode, message: string, cause?: unknown) => Error
}

/** UTF-16 units of what a server says of a prompt or a resource. */
const MAX_FACT = 1_000
/** UTF-16 units of what it says of its tools. */
const MAX_INSTRUCTIONS = 4_000

type WebTarget = Extract<McpTarget, { kind: 'http' | 'sse' }>
type WebTransport = StreamableHTTPClientTransport | SSEClientTransport
/** How one conversation goes. */
interface Way {
  readonly transport: Transport
  readonly target: McpTarget
  readonly signIn?: SignInProvider
  /** Told when an answer broke off. */
  readonly breaks?: Set<() => void>
}

/** The library's own limit must not be the one that counts: callers bring a signal. */
const NO_LIMIT_MS = 2 ** 31 - 1
/** For a sign of life after a stream broke off. */
const LOOK_MS = 5_000
/** For the farewell to a server over HTTP. */
const FAREWELL_MS = 2_000

/** Reach a server with the protocol's library. Errors: as `McpConnector.connect`. */
export async function connectWithSdk(target: McpTarget, options: McpConnectOptions, needs: SdkNeeds): Promise<McpConnection> {
  if (target.kind === 'stdio') return await handshake({ transport: new ProcessTransport(target, { ...needs, onLog: (line) => options.listener.onLog(line) }), target }, options, needs)
  const { signIn, signal } = options
  if (signIn === undefined || hasOwnToken(target)) return await reach(target, options, needs)
  if (signIn.browser === null) return await reach(target, options, needs, new SignInProvider(signIn, null, target.client))
  const way = await signIn.browser.expect(signal, target.client?.callbackPort)
  try {
    return await reach(target, options, needs, new SignInProvider(signIn, way, target.client))
  } finally {
    await way.close()
  }
}

/** Errors: as `McpConnector.revoke`. */
export async function revokeWithSdk(target: WebTarget, kept: McpKeptSignIn, { http, fail, signal }: Pick<SdkNeeds, 'http' | 'fail'> & { readonly signal: AbortSignal }): Promise<boolean> {
  const fetch = withHeaders(boundedFetch(http), target)
  try {
    return await revokeSignIn(target, kept, async (url, init) => await fetch(url, { ...init, signal }))
  } catch (error) {
    signal.throwIfAborted()
    throw fail('MCP_SIGN_IN', wordsOf(error), error)
  }
}

async function reach(target: WebTarget, options: McpConnectOptions, needs: SdkNeeds, signIn?: SignInProvider): Promise<McpConnection> {
  if (target.kind === 'sse') return await signedIn(target, options, needs, signIn)
  try {
    return await signedIn(target, options, needs, signIn)
  } catch (error) {
    // A server from before 2025 does not know how it is asked here. Source: Model Context Protocol 2025-11-25, transports, "Backwards Compatibility".
    if (!isOldServer(error)) throw error
    return await signedIn({ ...target, kind: 'sse' }, options, needs, signIn)
  }
}

/** The handshake, and once more after the person has signed in where they were sent to a browser. */
async function signedIn(target: WebTarget, options: McpConnectOptions, needs: SdkNeeds, signIn: SignInProvider | undefined): Promise<McpConnection> {
  const breaks = new Set<() => void>()
  const transport = transportFor(target, needs, { signIn, breaks })
  const shakeHands = async (on: WebTransport) => await handshake({ transport: on, target, breaks, ...(signIn && { signIn }) }, options, needs)
  try {
    return await shakeHands(transport)
  } catch (error) {
    if (signIn?.pendingCode == null) {
      if (signIn?.hasBegun !== true) throw error
      options.signal.throwIfAborted()
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      const needsKnown = wordsOf(cause).includes('does not support dynamic client registration')
      throw needs.fail('MCP_SIGN_IN', `The sign-in did not succeed. ${needsKnown ? 'It lets only programs ask that it knows already, which Bosun is not. Give it “oauth” with a “clientId” of its own where it is configured, or a token.' : wordsOf(cause)}`, error)
    }
    try {
      await orAbort(transport.finishAuth(await signIn.pendingCode), options.signal)
    } catch (refusal) {
      options.signal.throwIfAborted()
      throw needs.fail('MCP_SIGN_IN', `The sign-in did not succeed. ${wordsOf(refusal)}`, refusal)
    }
    return await shakeHands(transportFor(target, needs, { signIn, breaks }))
  }
}

const isOldServer = (error: unknown): boolean => error instanceof Error && error.cause instanceof StreamableHTTPError && [400, 404, 405].includes(error.cause.code ?? 0)

/** What its entry gives counts for more than any sign-in. */
const hasOwnToken = ({ headers }: WebTarget): boolean => Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')

function transportFor(target: WebTarget, needs: SdkNeeds, { signIn, breaks }: { readonly signIn: SignInProvider | undefined; readonly breaks: ReadonlySet<() => void> }): WebTransport {
  const bounded = withHeaders(boundedFetch(needs.http), target)
  const plain = target.kind === 'sse' ? bounded : wholeAnswers(bounded, () => breaks.forEach((told) => told()))
  const url = new URL(target.url)
  if (signIn === undefined) return target.kind === 'sse' ? new SSEClientTransport(url, { fetch: plain }) : new StreamableHTTPClientTransport(url, { fetch: plain })
  const fetch = signIn.withNewest(signIn.renewingOnce(plain))
  return target.kind === 'sse' ? new SSEClientTransport(url, { fetch, authProvider: signIn }) : new StreamableHTTPClientTransport(url, { fetch: signIn.askingOnce(fetch), authProvider: signIn })
}

async function handshake(way: Way, options: McpConnectOptions, needs: SdkNeeds): Promise<McpConnection> {
  const { transport } = way
  const { listener, signal, timeoutMs } = options
  const client = new QuietClient(
    { name: 'bosun', title: 'Bosun', version: '1' },
    // What a tool returns is held to its schema by Bosun's own pipeline.
    { capabilities: { elicitation: { form: {} } }, jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) } },
  )
  let isOpen = false
  let isOver = false
  const over = (reason: string) => {
    if (isOver) return
    isOver = true
    if (isOpen) listener.onClose(reason)
  }
  const onError = (error: Error) => {
    listener.onLog(clipped(`Protocol: ${error.message}`, 2_000))
    // The stream for what a server says by itself came to nothing, again and again: it is gone.
    const isLost = error instanceof SseError || error.message.startsWith('Maximum reconnection attempts')
    if (isLost && isOpen) void close()
  }
  /** Whether the server is still there when an answer of it broke off; when it is not, the conversation is over. Never rejects. */
  const look = async (): Promise<void> => {
    if (!isOpen || isOver) return
    try {
      await client.ping({ timeout: LOOK_MS })
    } catch (error) {
      over(wordsOf(error))
      await close()
    }
  }
  way.breaks?.add(() => void look())
  const onEnd = () => over((transport instanceof ProcessTransport ? transport.reason : null) ?? 'The connection was closed.')
  Object.assign(client, { onerror: onError, onclose: onEnd })
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, extra) => {
    if (!('requestedSchema' in params)) {
      listener.onLog(clipped(`It asked the person to open ${params.url}, which is not done for a server: ${params.message}`, 2_000))
      return { action: 'decline' }
    }
    const call = params._meta?.progressToken
    const { action, content } = await listener.elicit({ message: clipped(params.message, 4_000), schema: params.requestedSchema as unknown as JsonObject, ...(typeof call === 'string' && { call }) }, extra.signal)
    // Of the kinds that the schema asked for.
    return content === undefined ? { action } : { action, content: content as Record<string, string | number | boolean | string[]> }
  })
  /** Of the calls that run, by their tokens. */
  const progresses = new Map<string, (text: string) => void>()
  client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => progresses.get(String(params.progressToken))?.(progressText(params)))
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => listener.onListChange('tools'))
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => listener.onListChange('prompts'))
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => listener.onListChange('resources'))
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params: { level, data } }) => listener.onLog(clipped(`${level}: ${typeof data === 'string' ? data : JSON.stringify(data)}`, 2_000)))

  let closing: Promise<void> | null = null
  const close = (): Promise<void> => {
    closing ??= (async () => {
      const late = Promise.withResolvers<void>()
      const stop = needs.clock.schedule(FAREWELL_MS, () => late.resolve())
      // A handshake that failed is done again after the sign-in, with the same.
      if (isOpen) await Promise.race([way.signIn?.end(), late.promise])
      if (transport instanceof StreamableHTTPClientTransport) {
        // A server that is gone hears no farewell.
        await Promise.race([transport.terminateSession().catch(() => {}), late.promise])
      }
      stop()
      await transport.close().catch((error: unknown) => listener.onLog(`It could not be closed in order: ${wordsOf(error)}`))
      over('The connection was closed.')
    })()
    return closing
  }
  const failure = (error: unknown): Error => failureOf(error, way, needs.fail)

  const late = new AbortController()
  const stopClock = needs.clock.schedule(timeoutMs, () => late.abort())
  try {
    const inTime = { timeout: NO_LIMIT_MS, signal: AbortSignal.any([signal, late.signal]) }
    // The library takes no signal for what comes before its first request, such as a stream that never says where to write; and no server may
    // be told that its handshake is cancelled. Source: Model Context Protocol 2025-11-25, cancellation, "Behavior Requirements".
    await orAbort(client.connect(transport, { timeout: NO_LIMIT_MS }), inTime.signal)
    // Some let everybody shake hands and ask who it is with the first request; whoever came to sign in is sent to the browser then.
    if (way.signIn?.isAsked === true && client.getServerCapabilities()?.tools !== undefined) {
      await client.listTools({}, inTime).catch((error: unknown) => {
        if (way.signIn?.pendingCode !== null) throw error
      })
    }
  } catch (error) {
    await close()
    signal.throwIfAborted()
    if (late.signal.aborted) throw needs.fail('MCP_TIMEOUT', `It did not answer within ${timeoutMs / 1_000} s.`, error)
    throw failure(error)
  } finally {
    stopClock()
  }
  isOpen = true
  const capabilities = client.getServerCapabilities() ?? {}
  const { name, version } = client.getServerVersion() ?? { name: '', version: '' }

  /** A request whose failure is told in our words; one that shows that the server is gone ends the conversation. */
  const ask = async <T>(work: (requestOptions: { signal: AbortSignal; timeout: number }) => Promise<T>, requestSignal: AbortSignal): Promise<T> => {
    requestSignal.throwIfAborted()
    try {
      return await work({ signal: requestSignal, timeout: NO_LIMIT_MS })
    } catch (error) {
      requestSignal.throwIfAborted()
      if (isGone(error)) {
        over(wordsOf(error))
        void close()
      }
      throw failure(error)
    }
  }
  const drained = async <T>(list: string, page: (cursor: string | undefined) => Promise<{ readonly entries: readonly T[]; readonly nextCursor?: string | undefined }>): Promise<readonly T[]> => {
    const all: T[] = []
    const seen = new Set<string>()
    let cursor: string | undefined
    for (let pages = 0; ; pages++) {
      if (pages >= MAX_LIST_PAGES) throw needs.fail('MCP_PROTOCOL', `Its list of ${list} has more than ${MAX_LIST_PAGES} pages.`)
      const { entries, nextCursor } = await page(cursor)
      all.push(...entries)
      if (all.length > MAX_LIST_ENTRIES) throw needs.fail('MCP_PROTOCOL', `Its list of ${list} has more than ${MAX_LIST_ENTRIES} entries.`)
      if (nextCursor === undefined) return all
      if (seen.has(nextCursor)) throw needs.fail('MCP_PROTOCOL', `Its list of ${list} comes back to a page that was read already.`)
      seen.add(nextCursor)
      cursor = nextCursor
    }
  }
  const at = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor })

  return {
    server: { name: clipped(name, 200), version: clipped(version, 100) },
    instructions: clipped(client.getInstructions() ?? '', MAX_INSTRUCTIONS) || null,
    offers: { tools: capabilities.tools !== undefined, prompts: capabilities.prompts !== undefined, resources: capabilities.resources !== undefined },
    listTools: (requestSignal) =>
      ask(
        (requestOptions) =>
          drained('tools', async (cursor) => {
            const { tools, nextCursor } = await client.listTools(at(cursor), requestOptions)
            return { entries: tools.map(toolFacts), nextCursor }
          }),
        requestSignal,
      ),
    listPrompts: (requestSignal) =>
      ask(
        (requestOptions) =>
          drained('prompts', async (cursor) => {
            const { prompts, nextCursor } = await client.listPrompts(at(cursor), requestOptions)
            const entries = prompts.map((prompt) => ({
              name: prompt.name,
              description: clipped(prompt.description ?? prompt.title ?? '', MAX_FACT),
              arguments: (prompt.arguments ?? []).map(({ name: argument, description = '', required = false }) => ({ name: argument, description, isRequired: required })),
            }))
            return { entries, nextCursor }
          }),
        requestSignal,
      ),
    listResources: (requestSignal) =>
      ask(
        (requestOptions) =>
          drained('resources', async (cursor) => {
            const { resources, nextCursor } = await client.listResources(at(cursor), requestOptions)
            // An address that is cut is none.
            const usable = resources.filter(({ uri }) => uri.length <= MAX_FACT)
            return { entries: usable.map((each) => ({ uri: each.uri, name: clipped(each.title ?? each.name, 200), description: clipped(each.description ?? '', MAX_FACT), mediaType: each.mimeType ?? null })), nextCursor }
          }),
        requestSignal,
      ),
    callTool: ({ name: tool, token, arguments: args, signal: callSignal, onProgress }) =>
      ask(async (requestOptions) => {
        progresses.set(token, onProgress)
        const result = await client
          .request({ method: 'tools/call', params: { name: tool, arguments: args, _meta: { progressToken: token } } }, CallToolResultSchema, requestOptions)
          .finally(() => progresses.delete(token))
        return {
          content: result.content.map(contentOf),
          ...(result.structuredContent !== undefined && { structuredContent: result.structuredContent as Json }),
          isError: result.isError === true,
        }
      }, callSignal),
    getPrompt: ({ name: prompt, arguments: args, signal: promptSignal }) =>
      ask(async (requestOptions) => {
        const { messages } = await client.getPrompt({ name: prompt, arguments: { ...args } }, requestOptions)
        return messages.map(({ role, content }) => ({ role, content: contentOf(content) }))
      }, promptSignal),
    readResource: (uri, readSignal) =>
      ask(async (requestOptions) => {
        const { contents } = await client.readResource({ uri }, requestOptions)
        return contents.map((resource) => ('blob' in resource && resource.mimeType?.startsWith('image/') === true ? { type: 'image' as const, data: resource.blob, mediaType: resource.mimeType } : contentOf({ type: 'resource', resource })))
      }, readSignal),
    isThere: async (lookSignal) => await ask((requestOptions) => client.ping(requestOptions), lookSignal).then(
      () => true,
      () => !lookSignal.aborted,
    ),
    close,
  }
}

type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number]

const toolFacts = ({ name, title, description = '', inputSchema, outputSchema, annotations, execution }: ListedTool): McpToolFacts => ({
  name,
  ...((title ?? annotations?.title) !== undefined && { title: title ?? annotations?.title ?? name }),
  description,
  // The library has read them as JSON.
  inputSchema: inputSchema as unknown as JsonObject,
  ...(outputSchema !== undefined && { outputSchema: outputSchema as unknown as JsonObject }),
  isReadOnly: annotations?.readOnlyHint === true,
  needsTask: execution?.taskSupport === 'required',
})

function contentOf(block: ContentBlock): McpContent {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: block.type, data: block.data, mediaType: block.mimeType }
    case 'resource_link':
      return { type: 'link', uri: block.uri, name: block.title ?? block.name }
    case 'resource': {
      const { resource } = block
      const isText = 'text' in resource
      return { type: 'resource', uri: resource.uri, mediaType: resource.mimeType ?? null, text: isText ? resource.text : null, bytes: isText ? null : Math.floor((resource.blob.length * 3) / 4) }
    }
  }
}

function progressText({ progress, total, message }: { readonly progress: number; readonly total?: number | undefined; readonly message?: string | undefined }): string {
  const share = total === undefined || total <= 0 ? `${progress}` : `${Math.round((progress / total) * 100)} %`
  return `${share}${message === undefined ? '' : ` ${clipped(message, 500)}`}\n`
}

/** The server does not hear us any more, or has forgotten us. */
function isGone(error: unknown): boolean {
  if (error instanceof StreamableHTTPError) return error.code === 404
  return error instanceof TypeError && error.message.includes('fetch failed')
}

function failureOf(error: unknown, { target, transport, signIn }: Way, fail: SdkNeeds['fail']): Error {
  const reason = transport instanceof ProcessTransport ? transport.reason : null
  if (error instanceof StartFailure) return fail('MCP_START_FAILED', error.message, error)
  const signInReason = target.kind === 'stdio' ? null : signInReasonOf(error, target, signIn)
  if (signInReason !== null) return fail('MCP_SIGN_IN', signInReason, error)
  if (error instanceof ProtocolError && error.code === (ErrorCode.ConnectionClosed as number)) {
    const own = /: (Connection closed|It ended its answer .*|It sent a message of .*|Its answer broke off.*)$/s.exec(error.message)?.[1]
    // Servers use the same number for whatever fails in them.
    if (reason !== null || own !== undefined) return fail('MCP_CLOSED', reason ?? (own === 'Connection closed' ? 'The connection was closed.' : (own ?? '')), error)
  }
  if (error instanceof UrlElicitationRequiredError) return fail('MCP_PROTOCOL', `It wants the person to open ${clipped(error.elicitations.map(({ url }) => url).join(' and '), 1_000)} first. They can do that in their browser; then call again.`, error)
  if (error instanceof ProtocolError) return fail('MCP_PROTOCOL', `It answered: ${clipped(error.message.replace(/^(MCP error -?\d+: )+/, '').replace(/(?<=[^.!?])$/, '.'), 2_000)}`, error)
  if (isGone(error)) return fail('MCP_CLOSED', `${target.kind === 'stdio' ? target.command : target.url} cannot be reached: ${wordsOf(error)}`, error)
  return fail(reason === null ? 'MCP_PROTOCOL' : 'MCP_CLOSED', reason ?? wordsOf(error), error)
}

/** Why the person has to sign in; null for a failure of another kind. */
function signInReasonOf(error: unknown, target: WebTarget, signIn: SignInProvider | undefined): string | null {
  const status = error instanceof StreamableHTTPError || error instanceof SseError ? error.code : error instanceof Error ? Number(/\(HTTP (\d{3})\)/.exec(error.message)?.[1]) : undefined
  const isUnknown = error instanceof UnauthorizedError || status === 401
  if (hasOwnToken(target)) return isUnknown ? 'It refuses the header “Authorization” of its entry.' : null
  if (signIn?.wasRefused === true && (isUnknown || error instanceof OAuthError)) return 'Your sign-in is over, and it does not renew it.'
  if (signIn?.isOpen === true && status === 401) return 'It refuses the sign-in that it gave.'
  if (isUnknown) return 'It wants you to sign in.'
  if (signIn !== undefined && status === 403 && error instanceof Error && /upscoping/.test(error.message)) return 'It wants you to sign in with more rights.'
  // What the server that lets people sign in says of it.
  return error instanceof OAuthError ? `The sign-in did not succeed. It answered: ${wordsOf(error)}` : null
}

/** With the cause, which says more where a request failed. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return clipped(String(error), 500)
  const cause = error.cause instanceof Error && error.cause.message !== '' ? ` (${error.cause.message})` : ''
  // What a server answered in full may hold what nobody should read, and is no reason.
  return clipped(`${error.message.replace(/\.? Raw body:.*/s, '.')}${cause}`, 500)
}
