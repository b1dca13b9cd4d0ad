import * as vscode from 'vscode'
import type { LanguageServerConfig } from '../../capabilities/language-servers.ts'

/** Messages that are none of the protocol, after which a server is begun anew. */
const MAX_BROKEN_MESSAGES = 5
/** For the farewell of the protocol. */
const STOP_TIMEOUT_MS = 2_000

/** The streams of a server's program; whoever started it ends it. */
interface Streams {
  readonly reader: NodeJS.ReadableStream
  readonly writer: NodeJS.WritableStream
}

/**
 * Give the features of a configured server to the editor, as an extension for the language would: to Bosun's tools and to the person.
 * The client is loaded with the first server.
 */
export const connectLanguageClient =
  (name: string, config: LanguageServerConfig) =>
  async ({ reader, writer }: Streams, broken: (reason: string) => void): Promise<{ stop(): Promise<void> }> => {
    const { CloseAction, ErrorAction, LanguageClient } = await import('vscode-languageclient/node')
    const client = new LanguageClient(`bosun.languageServers.${name}`, `Bosun: ${name}`, () => Promise.resolve({ reader, writer }), {
      documentSelector: [...config.languages.map((language) => ({ scheme: 'file', language })), ...config.files.map((pattern) => ({ scheme: 'file', pattern }))],
      ...(config.initializationOptions !== undefined && { initializationOptions: config.initializationOptions }),
      errorHandler: {
        error(_error, _message, count) {
          if ((count ?? 0) < MAX_BROKEN_MESSAGES) return { action: ErrorAction.Continue, handled: true }
          broken(`It sent ${count} messages that are none of the protocol`)
          return { action: ErrorAction.Continue, handled: true }
        },
        // Whoever started the program starts it again, with pauses.
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      initializationFailedHandler: () => false,
      middleware: { didOpen: async (document, next) => await next(asLanguage(document, config)) },
    })
    await client.start()
    return { stop: async () => await client.dispose(STOP_TIMEOUT_MS) }
  }

/** A file whose language the editor does not know is of the server's own. */
function asLanguage(document: vscode.TextDocument, { languages }: LanguageServerConfig): vscode.TextDocument {
  const [own] = languages
  if (own === undefined || languages.includes(document.languageId)) return document
  return new Proxy(document, { get: (target, key) => (key === 'languageId' ? own : Reflect.get(target, key)) })
}

/** Whether a server is for a document. */
export const isServerFor = ({ languages, files }: LanguageServerConfig, document: vscode.TextDocument): boolean =>
  document.uri.scheme === 'file' && (languages.includes(document.languageId) || files.some((pattern) => vscode.languages.match({ pattern }, document) > 0))
