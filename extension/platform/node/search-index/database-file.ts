import { closeSync, fstatSync, openSync, readSync, rmSync } from 'node:fs'
import { hasCode } from '../file-facts.ts'

/** `BsnX` in the header of the file: ours. Source: SQLite file format 1.3.12 "Application ID". */
export const APPLICATION_ID = 0x42_73_6e_58
/** Of our tables; another number means that the file is made anew. */
export const SCHEMA_VERSION = 3

const HEADER_BYTES = 100
const magic = 'SQLite format 3\0'

/** What lies at `path`. `ours` can be opened; `broken` is ours and cut short, or of another version; `foreign` is not ours. */
export type FileNature = 'missing' | 'ours' | 'broken' | 'foreign'

/** Judged by its first bytes alone, without opening it as a database. Errors: what the file system says but for a missing file. */
export function natureOf(path: string): FileNature {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'missing'
    throw error
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    const length = readSync(file, header, 0, HEADER_BYTES, 0)
    if (length === 0) return 'missing'
    if (length < HEADER_BYTES || header.toString('latin1', 0, magic.length) !== magic || header.readInt32BE(68) !== APPLICATION_ID) return 'foreign'
    // 1 stands for 65536, which two bytes cannot say. Source: SQLite file format 1.3.2.
    const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
    const isWhole = fstatSync(file).size >= pageSize * header.readUInt32BE(28)
    return isWhole && header.readInt32BE(60) === SCHEMA_VERSION ? 'ours' : 'broken'
  } finally {
    closeSync(file)
  }
}

/** With what SQLite keeps beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true })
}
