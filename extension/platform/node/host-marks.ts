import { mkdir, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type Json } from '../../base/json.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { OWNER_VARIABLE, ownerMarkFrom } from './owner-mark.ts'
import { birthOf } from './tree-facts.ts'

/**
 * Remembers in a folder by which mark the programs of a host are known, so that the next host ends those of one that was killed, also
 * what no log names, such as the command that a call waited for.
 *
 * Only where the system shows environments: Linux and macOS. A folder that cannot be written costs just that.
 */
export interface HostMarks {
  /** Before the first program with this mark starts. */
  note(mark: string): Promise<void>
  /** Ends what killed hosts left, the first time it is called. Resolves with the process ids that were found then. */
  endLeft(): Promise<ReadonlySet<number>>
  /** This host has ended all that it started. */
  forget(): Promise<void>
}

export interface HostMarksOptions {
  readonly folder: string
  readonly logger: Logger
  /** The process that is the host. Default: this one. */
  readonly pid?: number
  readonly platform?: NodeJS.Platform
}

export function createHostMarks({ folder, logger, pid = process.pid, platform = process.platform }: HostMarksOptions): HostMarks {
  const canFind = platform === 'linux' || platform === 'darwin'
  const notes = new Map<string, Promise<string | null>>()
  let ending: Promise<ReadonlySet<number>> | undefined

  async function write(mark: string): Promise<string | null> {
    try {
      const birth = await birthOf(pid)
      if (birth === null) return null
      const path = join(folder, `${nameOf(mark)}.json`)
      await mkdir(folder, { recursive: true })
      // In one step: whoever looks meanwhile sees all of it or nothing.
      await writeFile(`${path}.new`, JSON.stringify({ mark, pid, birth, place: await placeOf(platform), startedAt: Date.now() } satisfies Note))
      await rename(`${path}.new`, path)
      return path
    } catch (error) {
      logger.warn('What programs of this host are known by could not be written down.', { error: String(error) })
      return null
    }
  }

  async function endAllLeft(): Promise<ReadonlySet<number>> {
    const found = await Promise.all((await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json')).map((name) => endLeftIn(join(folder, name))))
    return new Set(found.flat())
  }

  async function endLeftIn(path: string): Promise<readonly number[]> {
    try {
      const note = parsed(await readFile(path, 'utf8'))
      if (note === null) {
        await rm(path, { force: true })
        return []
      }
      const { mark, pid: host, birth, place, startedAt } = note
      if (place !== (await placeOf(platform))) {
        if (Date.now() - startedAt > MAX_FOREIGN_AGE_MS) await rm(path, { force: true })
        return []
      }
      if ((await birthOf(host)) === birth || isOuter(mark)) return []
      const ended = await ownerMarkFrom(mark, platform).endAll(GRACE_MS)
      await rm(path, { force: true })
      return ended
    } catch (error) {
      // Another host may be at the same note.
      logger.debug('What a killed host left could not be looked for.', { path, error: String(error) })
      return []
    }
  }

  return {
    async note(mark) {
      if (!canFind) return
      const note = notes.get(mark) ?? write(mark)
      notes.set(mark, note)
      await note
    },
    endLeft() {
      ending ??= canFind ? endAllLeft() : Promise.resolve(new Set<number>())
      return ending
    },
    async forget() {
      const paths = await Promise.all(notes.values())
      notes.clear()
      await Promise.all(paths.filter((path) => path !== null).map((path) => rm(path, { force: true })))
    },
  }
}

const GRACE_MS = 3_000
/** Of a host on another machine or in another container, whose processes cannot be seen from here. */
const MAX_FOREIGN_AGE_MS = 30 * 24 * 60 * 60 * 1_000

interface Note {
  readonly mark: string
  readonly pid: number
  readonly birth: string
  readonly place: string
  /** Epoch ms. */
  readonly startedAt: number
}

/** Null for what is none. */
function parsed(text: string): Note | null {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    return null
  }
  if (!isJsonObject(value)) return null
  const { mark, pid, birth, place, startedAt } = value
  const isWhole = typeof mark === 'string' && mark !== '' && typeof pid === 'number' && typeof birth === 'string' && typeof place === 'string' && typeof startedAt === 'number'
  return isWhole ? { mark, pid, birth, place, startedAt } : null
}

const nameOf = (mark: string) => mark.slice(mark.lastIndexOf(':') + 1)

/** A host inside a command of the killed one: all around it carries the mark, and so does what it starts itself. */
const isOuter = (mark: string) => (process.env[OWNER_VARIABLE] ?? '').includes(nameOf(mark))

/** Where a process id means the same process. */
async function placeOf(platform: NodeJS.Platform): Promise<string> {
  return `${hostname()} ${platform === 'linux' ? await readlink('/proc/self/ns/pid').catch(() => '') : ''}`
}
