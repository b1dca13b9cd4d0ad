import { randomBytes } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Emitter } from '../../base/emitter.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Secrets } from '../../capabilities/secrets.ts'
import type { Environment } from './environment.ts'
import { makeFolders } from './make-folders.ts'
import { readPlainText } from './read-plain-file.ts'

const maxFileBytes = 16 * 1024 * 1024

export interface FileSecretsOptions {
  /** Holds `secrets.json`, readable by its owner alone. */
  readonly folder: string
  readonly logger: Logger
  /** Default: the environment of this process. */
  readonly environment?: Environment
}

/**
 * Secrets for hosts without a store of their own: the environment variable of that name, else a private file.
 *
 * Errors: `set` and `delete` refuse to write over a file that cannot be understood, so that no other secret is lost.
 */
export function createFileSecrets({ folder, logger, environment = process.env }: FileSecretsOptions): Secrets {
  const path = join(folder, 'secrets.json')
  const changes = new Emitter<string>((error) => logger.error('A listener for secrets failed.', { error }))
  let lastChange: Promise<unknown> = Promise.resolve()

  const change = (name: string, apply: (values: Record<string, string>) => void) => {
    const work = lastChange
      .catch(() => {})
      .then(async () => {
        const values = { ...(await readSecrets(path)) }
        apply(values)
        await writePrivately(folder, path, `${JSON.stringify(values, null, 2)}\n`)
        changes.emit(name)
      })
    lastChange = work
    return work
  }

  return {
    async get(name) {
      const given = environment[name]
      if (given !== undefined && given !== '') return { value: given, source: 'environment' }
      try {
        const value = (await readSecrets(path))[name]
        return value === undefined ? null : { value, source: 'store' }
      } catch (error) {
        logger.error('The stored secrets cannot be read; only those of the environment are known.', { error })
        return null
      }
    },
    async set(name, value) {
      if (environment[name]) throw new Error(`${name} is given by the environment. Change it there.`)
      await change(name, (values) => (values[name] = value))
    },
    async delete(name) {
      await change(name, (values) => delete values[name])
    },
    onDidChange: changes.listen,
  }
}

async function readSecrets(path: string): Promise<Readonly<Record<string, string>>> {
  const text = await readPlainText(path, maxFileBytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  const values = parseObject(text)
  if (!values) throw new Error(`${path} does not hold a JSON object of names and secrets. Mend or remove it.`)
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** Null when the text is no JSON object. Never shows the text: it may hold secrets. */
function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

async function writePrivately(folder: string, path: string, text: string): Promise<void> {
  await makeFolders(folder, 0o700)
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
}
