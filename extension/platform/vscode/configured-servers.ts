import * as vscode from 'vscode'
import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import { LanguageError } from '../../capabilities/languages.ts'
import type { LanguageServerConfig, LanguageServerReport, LanguageServers } from '../../capabilities/language-servers.ts'
import { isServerFor } from './language-client.ts'

/** Pauses between the looks whether an extension of the editor knows a file; together they are what a first question may wait. */
const PROBE_DELAYS_MS: readonly number[] = [0, 250]
/** The same where an extension starts for the language, which may have to read a project before it answers. */
const PATIENT_DELAYS_MS: readonly number[] = [0, 250, 500, 1_000, 2_000, 4_000, 4_000]

/** One server, from its first question to its end. */
export interface SupervisedServer {
  readonly config: LanguageServerConfig
  readonly hasBegun: boolean
  report(): LanguageServerReport
  leave(reason: string): void
  running(signal: AbortSignal): Promise<unknown>
  restart(): Promise<void>
  dispose(): Promise<void>
}

interface Parts {
  /** Read anew after each change of the settings. */
  readonly configs: () => Readonly<Record<string, LanguageServerConfig>>
  readonly onDidChangeConfigs: (listener: () => void) => Undo
  readonly create: (name: string, config: LanguageServerConfig, onChange: () => void) => SupervisedServer
  /** A server may run what the folder says, so none is started in one that is not trusted. Asked at each question. */
  readonly isTrusted: () => boolean
  readonly onError: (error: unknown) => void
}

/**
 * The servers that the person configured, each started when a file of its languages is first asked about and nobody else in the editor
 * knows that file.
 */
export class ConfiguredServers implements LanguageServers {
  readonly #parts: Parts
  readonly #servers = new Map<string, SupervisedServer>()
  readonly #changes: Emitter<void>
  readonly #undo: Undo

  constructor(parts: Parts) {
    this.#parts = parts
    this.#changes = new Emitter<void>(parts.onError)
    this.#undo = parts.onDidChangeConfigs(() => void this.#update().catch(parts.onError))
    void this.#update().catch(parts.onError)
  }

  list(): readonly LanguageServerReport[] {
    return [...this.#servers.values()].map((server) => server.report())
  }

  async restart(name: string): Promise<void> {
    if (this.#parts.isTrusted()) await this.#servers.get(name)?.restart()
  }

  onDidChange(listener: () => void): Undo {
    return this.#changes.listen(listener)
  }

  async dispose(): Promise<void> {
    this.#undo()
    await Promise.all([...this.#servers.values()].map((server) => server.dispose()))
    this.#servers.clear()
  }

  /**
   * Have the server of a document run, where it needs one.
   *
   * Errors: `LanguageError` `LSP_UNAVAILABLE` with the reason when the server was given up, `WORKSPACE_UNTRUSTED`; the signal's reason.
   */
  async ready(document: vscode.TextDocument, signal: AbortSignal): Promise<void> {
    for (const server of this.#servers.values()) {
      if (!isServerFor(server.config, document)) continue
      if (!server.hasBegun) {
        if (await isKnown(document, signal)) {
          server.leave(`An extension of the editor knows ${document.languageId} files.`)
          continue
        }
        if (!this.#parts.isTrusted()) throw untrusted(server.report().name)
      }
      await server.running(signal)
    }
  }

  /** What is configured the same goes on; what changed ends, and begins anew with the next question. */
  async #update(): Promise<void> {
    const configs = this.#parts.configs()
    const ended: SupervisedServer[] = []
    for (const [name, server] of this.#servers) {
      if (JSON.stringify(configs[name]) === JSON.stringify(server.config)) continue
      this.#servers.delete(name)
      ended.push(server)
    }
    for (const [name, config] of Object.entries(configs)) {
      if (!this.#servers.has(name)) this.#servers.set(name, this.#parts.create(name, config, () => this.#changes.emit()))
    }
    this.#changes.emit()
    await Promise.all(ended.map((server) => server.dispose()))
  }
}

const untrusted = (name: string) =>
  new LanguageError('WORKSPACE_UNTRUSTED', `This folder is not trusted, so the language server ${name} is not started. Search for the text instead; the person can trust the folder in the editor.`)

/** Whether somebody in the editor lists symbols for the file. */
async function isKnown(document: vscode.TextDocument, signal: AbortSignal): Promise<boolean> {
  const hasExtension = vscode.extensions.all.some(({ packageJSON }) => activatesFor(packageJSON, document.languageId))
  for (const delayMs of hasExtension ? PATIENT_DELAYS_MS : PROBE_DELAYS_MS) {
    await passed(delayMs, signal)
    const found: unknown = await vscode.commands.executeCommand('vscode.executeDocumentSymbolProvider', document.uri)
    if (Array.isArray(found) && found.length > 0) return true
  }
  return false
}

function activatesFor(manifest: unknown, language: string): boolean {
  const events = typeof manifest === 'object' && manifest !== null && 'activationEvents' in manifest ? manifest.activationEvents : []
  return Array.isArray(events) && events.includes(`onLanguage:${language}`)
}

async function passed(delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise((resolve) => setTimeout(resolve, delayMs))
  signal.throwIfAborted()
}
