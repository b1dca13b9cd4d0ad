import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A line of a log as it stands on the disk: an event, or packed rows of them. */
export interface StoredRow {
  readonly type: string
  readonly data: Record<string, unknown>
  readonly [key: string]: unknown
}

/** A log as it stands on the disk. */
export interface StoredLog {
  readonly header: Record<string, unknown>
  readonly rows: readonly StoredRow[]
}

/** Paths of the logs below a storage folder; none while it is not there. */
export function logsIn(storage: string): readonly string[] {
  const sessions = join(storage, 'sessions')
  if (!existsSync(sessions)) return []
  return readdirSync(sessions, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('events.jsonl'))
    .map((path) => join(sessions, path))
}

/** Header and events of a log, packed rows as they are; a torn last line is left out. */
export function readLog(path: string): StoredLog {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const [header = {}, ...rows] = lines.map((line) => JSON.parse(line) as StoredRow)
  return { header, rows }
}
