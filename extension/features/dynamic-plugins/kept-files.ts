import * as z from 'zod'
import { isErrorOf } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'
import { MAX_CODE_BYTES, MAX_NAME_CHARS, MAX_PURPOSE_CHARS } from './caps.ts'
import { DynamicPluginError } from './error.ts'
import type { CordisCode } from './service.ts'

/** What `plugin.json` says of a package. */
const factsSchema = z.object({ pluginId: z.string(), packageId: z.string(), name: z.string().min(1).max(MAX_NAME_CHARS), purpose: z.string().max(MAX_PURPOSE_CHARS) })
export type KeptFacts = z.infer<typeof factsSchema>

export interface KeptPackage extends KeptFacts {
  readonly code: CordisCode
}

const halves = ['host', 'client'] as const

/** The code of packages as files that the person can read: `<folder>/host.js`, `client.js`, `plugin.json`, each written once. */
export class KeptFiles {
  readonly #files: Pick<FileSystem, 'resolve' | 'readText' | 'writeText'>

  constructor(files: Pick<FileSystem, 'resolve' | 'readText' | 'writeText'>) {
    this.#files = files
  }

  /** Errors: `FileError`, when they cannot be written; the package is not defined then. */
  async keep(folder: string, { code, ...facts }: KeptPackage): Promise<void> {
    for (const half of halves) {
      const text = code[half]
      if (text !== undefined) await this.#write(`${folder}/${half}.js`, text)
    }
    // Last, so that a folder with it is whole.
    await this.#write(`${folder}/plugin.json`, `${JSON.stringify(facts, null, 2)}\n`)
  }

  /** Errors: `DynamicPluginError` `NOT_RESTORABLE`. */
  async read(folder: string): Promise<KeptPackage> {
    const text = await this.#read(`${folder}/plugin.json`)
    if (text === undefined) throw new DynamicPluginError('NOT_RESTORABLE', `There is no plugin in ${folder}. /plugins lists what is kept.`)
    const code: { host?: string; client?: string } = {}
    for (const half of halves) {
      const body = await this.#read(`${folder}/${half}.js`)
      if (body !== undefined) code[half] = body
    }
    return { ...factsFrom(text, folder), code }
  }

  async #write(path: string, text: string): Promise<void> {
    const target = await this.#files.resolve(path, '/')
    const before = target.exists ? await this.#files.readText(target, { maxBytes: MAX_CODE_BYTES * 2 }) : undefined
    if (before?.text === text) return
    await this.#files.writeText({ target, text, expect: before === undefined ? { kind: 'absent' } : { kind: 'version', version: before.version }, label: 'Bosun: keep the code of a plugin' })
  }

  async #read(path: string): Promise<string | undefined> {
    const target = await this.#files.resolve(path, '/')
    try {
      return (await this.#files.readText(target, { maxBytes: MAX_CODE_BYTES * 2 })).text
    } catch (error) {
      if (isErrorOf(FileError, error, 'FS_NOT_FOUND')) return undefined
      throw new DynamicPluginError('NOT_RESTORABLE', `${path} cannot be read: ${messageOf(error)}`, { cause: error })
    }
  }
}

function factsFrom(text: string, folder: string): KeptFacts {
  let raw: unknown
  try {
    raw = JSON.parse(text)
  } catch (error) {
    throw new DynamicPluginError('NOT_RESTORABLE', `${folder}/plugin.json is no JSON, so the plugin cannot be defined from it.`, { cause: error })
  }
  const parsed = factsSchema.safeParse(raw)
  if (!parsed.success) throw new DynamicPluginError('NOT_RESTORABLE', `${folder}/plugin.json does not say what the plugin is (${parsed.error.issues[0]?.path.join('.') ?? ''}).`)
  return parsed.data
}
