import type { Json } from '../base/json.ts'
import type { Undo } from '../base/undo.ts'

/** A program that speaks the Language Server Protocol over its standard input and output. Source: the setting `languageServers`. */
export interface LanguageServerConfig {
  readonly command: string
  readonly args: readonly string[]
  /** Language ids of the files it knows. */
  readonly languages: readonly string[]
  /** Globs of the files it knows, such as `**\/*.zig`. */
  readonly files: readonly string[]
  readonly initializationOptions?: Json
  /** Added to the scrubbed environment of the host. */
  readonly env: Readonly<Record<string, string>>
}

/** The language servers that the person configured, as they stand. */
export interface LanguageServers {
  list(): readonly LanguageServerReport[]
  /** Begin anew, whatever it was doing. Resolves when it runs or has failed. */
  restart(name: string): Promise<void>
  onDidChange(listener: () => void): Undo
}

export interface LanguageServerReport {
  readonly name: string
  readonly command: string
  readonly state: LanguageServerState
  /** Why it is in that state, in a sentence; null where that goes without saying. */
  readonly reason: string | null
}

/**
 * `waiting`: nobody has asked about its files yet; `unneeded`: the editor knows the language without it; `restarting`: it ended, and is
 * started again after a pause; `failed`: given up until the person starts it again.
 */
export type LanguageServerState = 'waiting' | 'unneeded' | 'starting' | 'running' | 'restarting' | 'failed' | 'stopped'
