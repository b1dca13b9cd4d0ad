import { copyFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { Logger } from '../../capabilities/logger.ts'
import type { WorktreeRecord, WorktreeStore } from '../../capabilities/worktree-store.ts'

const text = z.string().min(1)
const recordSchema = z.object({ version: z.literal(1), id: text, sessionId: text, repository: text, root: text, branch: text })
/** Ids are ours; a name of a file is made of nothing else. */
const safeId = /^[A-Za-z0-9-]{1,64}$/

/** Records stand beside the folders, where who works in a folder cannot change them: `<id>.json`, `<id>.index`, `<id>/…`. */
export class NodeWorktreeStore implements WorktreeStore {
  readonly folder: string
  readonly #logger: Logger

  constructor({ folder, logger }: { readonly folder: string; readonly logger: Logger }) {
    this.folder = folder
    this.#logger = logger
  }

  async list(): Promise<readonly WorktreeRecord[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      return []
    })
    const records = await Promise.all(names.filter((name) => name.endsWith('.json')).map((name) => this.#read(name)))
    return records.filter((record) => record !== null)
  }

  async put(record: WorktreeRecord): Promise<void> {
    const path = this.#path(record.id, '.json')
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    const file = await open(`${path}.new`, 'w', 0o600)
    try {
      await file.writeFile(JSON.stringify(record))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.new`, path)
  }

  async copyIn(id: string, path: string): Promise<string | null> {
    const copy = this.scratch(id)
    try {
      await copyFile(path, copy)
      return copy
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }

  scratch(id: string): string {
    return this.#path(id, '.index')
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id, ''), { recursive: true, force: true })
    for (const ending of ['.index', '.index.lock', '.json.new', '.json']) await rm(this.#path(id, ending), { force: true })
  }

  #path(id: string, ending: string): string {
    if (!safeId.test(id)) throw new RangeError(`${JSON.stringify(id)} is no id of a worktree.`)
    return join(this.folder, `${id}${ending}`)
  }

  async #read(name: string): Promise<WorktreeRecord | null> {
    try {
      const record = recordSchema.parse(JSON.parse(await readFile(join(this.folder, name), 'utf8')))
      return `${record.id}.json` === name && safeId.test(record.id) ? record : null
    } catch (error) {
      this.#logger.warn('What is known of a worktree cannot be read; it stays where it is.', { name, error: String(error) })
      return null
    }
  }
}
