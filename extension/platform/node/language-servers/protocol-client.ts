import { pathToFileURL } from 'node:url'
import type { ProtocolConnection } from 'vscode-languageserver-protocol/node'
import { nameOf } from '../../../base/folders.ts'
import { orAbort } from '../../../base/or-abort.ts'
import { thrownText } from '../../../base/thrown-text.ts'
import type { Json } from '../../../base/json.ts'
import { LanguageError } from '../../../capabilities/languages.ts'
import type { ConnectServer, ServerConnection } from './server-supervisor.ts'

/** Messages that are none of the protocol, in a row or not, after which a server is begun anew. */
export const MAX_BROKEN_MESSAGES = 5
/** Files whose problems are kept as the server last published them; the oldest go first. */
const MAX_PUBLISHED = 1_000
/** Problems of one file. */
const MAX_PROBLEMS = 1_000

/** A server after its handshake. */
export interface ProtocolClient extends ServerConnection {
  /** Errors: `LanguageError` `LSP_REFUSED` with the words of the server; the signal's reason, and the server is told to stop then. */
  ask(method: string, params: object, signal: AbortSignal): Promise<unknown>
  tell(method: string, params: object): Promise<void>
  /** It ended; nothing more can be asked of this one. */
  isGone(): boolean
  /** Whether it says that it does a thing, such as `renameProvider`. */
  can(provider: string): boolean
  /** What it last published about a file, by URI; undefined before it did. */
  published(uri: string): unknown
  onPublished(listener: (uri: string) => void): () => void
}

/** Shake hands over the streams of a server, as a client that reads and edits plain text. */
export const connectProtocol =
  ({ folder, initializationOptions }: { readonly folder: string; readonly initializationOptions: Json | undefined }): ConnectServer<ProtocolClient> =>
  async ({ reader, writer }, broken) => {
    const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = await import('vscode-languageserver-protocol/node')
    const connection = createProtocolConnection(new StreamMessageReader(reader), new StreamMessageWriter(writer))
    let errors = 0
    connection.onError(() => {
      errors += 1
      if (errors === MAX_BROKEN_MESSAGES) broken(`It sent ${errors} messages that are none of the protocol`)
    })
    const published = new Map<string, unknown>()
    const listeners = new Set<(uri: string) => void>()
    connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }: { readonly uri: string; readonly diagnostics: unknown }) => {
      published.delete(uri)
      published.set(uri, Array.isArray(diagnostics) ? diagnostics.slice(0, MAX_PROBLEMS) : diagnostics)
      for (const oldest of published.keys()) {
        if (published.size <= MAX_PUBLISHED) break
        published.delete(oldest)
      }
      for (const tell of listeners) tell(uri)
    })
    // A server that is gone answers nothing more, which its open questions must hear.
    let isGone = false
    connection.onClose(() => {
      isGone = true
      connection.dispose()
    })
    answerRequests(connection, folder)
    connection.listen()
    const uri = pathToFileURL(folder).href
    const { capabilities } = await connection.sendRequest<{ readonly capabilities?: Readonly<Record<string, unknown>> }>('initialize', {
      processId: process.pid,
      clientInfo: { name: 'Bosun' },
      rootUri: uri,
      rootPath: folder,
      workspaceFolders: [{ uri, name: nameOf(folder) }],
      capabilities: clientCapabilities,
      ...(initializationOptions !== undefined && { initializationOptions }),
    })
    await connection.sendNotification('initialized', {})
    return {
      ask: (method, params, signal) => request(connection, method, params, signal),
      tell: async (method, params) => await connection.sendNotification(method, params),
      isGone: () => isGone,
      can: (provider) => Boolean(capabilities?.[provider]),
      published: (file) => published.get(file),
      onPublished(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      async stop() {
        await connection.sendRequest('shutdown')
        await connection.sendNotification('exit')
        connection.dispose()
      },
    }
  }

async function request(connection: ProtocolConnection, method: string, params: object, signal: AbortSignal): Promise<unknown> {
  const { CancellationTokenSource } = await import('vscode-languageserver-protocol/node')
  const source = new CancellationTokenSource()
  const cancel = () => source.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await orAbort(connection.sendRequest<unknown>(method, params, source.token), signal)
  } catch (error) {
    signal.throwIfAborted()
    throw new LanguageError('LSP_REFUSED', `The language server does not answer this: ${thrownText(error) ?? 'it gave no reason'}`, { cause: error })
  } finally {
    signal.removeEventListener('abort', cancel)
    source.dispose()
  }
}

/** What a server may ask of its client. Nothing is changed or shown on its behalf. */
function answerRequests(connection: ProtocolConnection, folder: string): void {
  connection.onRequest('workspace/configuration', ({ items }: { readonly items?: readonly unknown[] }) => (items ?? []).map(() => null))
  connection.onRequest('workspace/workspaceFolders', () => [{ uri: pathToFileURL(folder).href, name: folder }])
  connection.onRequest('workspace/applyEdit', () => ({ applied: false, failureReason: 'Bosun makes changes itself.' }))
  for (const method of ['client/registerCapability', 'client/unregisterCapability', 'window/workDoneProgress/create', 'window/showMessageRequest']) connection.onRequest(method, () => null)
}

const clientCapabilities = {
  general: { positionEncodings: ['utf-16'] },
  workspace: { workspaceFolders: true, configuration: true, symbol: {}, workspaceEdit: { documentChanges: true } },
  textDocument: {
    synchronization: {},
    definition: { linkSupport: true },
    implementation: { linkSupport: true },
    typeDefinition: { linkSupport: true },
    references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    callHierarchy: {},
    typeHierarchy: {},
    rename: { prepareSupport: true },
    publishDiagnostics: {},
    codeAction: {
      codeActionLiteralSupport: { codeActionKind: { valueSet: ['', 'quickfix', 'refactor', 'source'] } },
      isPreferredSupport: true,
      disabledSupport: true,
      dataSupport: true,
      resolveSupport: { properties: ['edit'] },
    },
  },
  window: { workDoneProgress: true },
}
