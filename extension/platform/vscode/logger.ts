import type * as vscode from 'vscode'
import type { Logger } from '../../capabilities/logger.ts'

/** Diagnostics in the output panel, under the level that the person set there. */
export function createVscodeLogger(channel: vscode.LogOutputChannel): Logger {
  const line = (message: string, facts?: Readonly<Record<string, unknown>>) => (facts === undefined ? message : `${message} ${JSON.stringify(facts)}`)
  return {
    debug: (message, facts) => channel.debug(line(message, facts)),
    info: (message, facts) => channel.info(line(message, facts)),
    warn: (message, facts) => channel.warn(line(message, facts)),
    error: (message, facts) => channel.error(line(message, facts)),
  }
}
