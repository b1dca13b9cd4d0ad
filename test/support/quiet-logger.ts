import type { Logger } from '../../extension/capabilities/logger.ts'

export interface RecordingLogger extends Logger {
  readonly lines: readonly { readonly level: string; readonly message: string; readonly facts?: Readonly<Record<string, unknown>> }[]
}

/** A logger that keeps what it is told, for tests that look at it. */
export function createRecordingLogger(): RecordingLogger {
  const lines: { level: string; message: string; facts?: Readonly<Record<string, unknown>> }[] = []
  const keep = (level: string) => (message: string, facts?: Readonly<Record<string, unknown>>) =>
    void lines.push(facts ? { level, message, facts } : { level, message })
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
}
