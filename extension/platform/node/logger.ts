import type { Logger } from '../../capabilities/logger.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One line a message, facts as JSON, to `write` (standard error by default), from `level` upwards. */
export function createLineLogger({
  level = 'warn',
  write = (line: string) => void process.stderr.write(line),
}: { readonly level?: LogLevel; readonly write?: (line: string) => void } = {}): Logger {
  const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
  const at = (own: LogLevel) => (message: string, facts?: Readonly<Record<string, unknown>>) => {
    if (levels.indexOf(own) < levels.indexOf(level)) return
    write(`${own}: ${message}${facts === undefined ? '' : ` ${factsText(facts)}`}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** A line about a failure must not fail itself: what JSON cannot carry is named by its kind. */
function factsText(facts: Readonly<Record<string, unknown>>): string {
  const seen = new Set<unknown>()
  return JSON.stringify(facts, (_key, value: unknown) => {
    if (value instanceof Error) return value.stack ?? value.message
    if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return String(value)
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return '(seen)'
    seen.add(value)
    return value
  })
}
