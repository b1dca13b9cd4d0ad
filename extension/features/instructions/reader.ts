import { childPath, nameOf, parentFolder } from '../../base/folders.ts'
import { utf8Length } from '../../base/text.ts'
import { FileError, type FileStat, type FileSystem, type FileTarget } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { guardedRead, whyOutside, type Fence } from '../../core/told/guarded-read.ts'
import { importsIn } from './imports.ts'
import type { IgnoredFile, InstructionFile, InstructionScope } from './service.ts'

/** A folder with the names that are looked for in it. */
export interface Place {
  readonly scope: InstructionScope
  /** In the order in which they are told. A name that ends in `/` is a folder of rule files. */
  readonly names: readonly string[]
}

export interface LoadedFile extends InstructionFile {
  /** Of the file behind all links. */
  readonly key: FileTarget['key']
}

export interface PlaceContent {
  /** Imported files stand before the one that names them. */
  readonly files: readonly LoadedFile[]
  readonly ignored: readonly IgnoredFile[]
  /** What was looked at, to see cheaply whether it is still the same. */
  readonly seen: readonly { readonly target: FileTarget; readonly stat: FileStat }[]
}

/** Bytes of one file; a larger one is not read. Source: runtime specification 15.1 `maxSourceBytes`. */
export const MAX_SOURCE_BYTES = 1024 * 1024
/** Steps from a file over its imports. */
const MAX_IMPORT_DEPTH = 5
/** Imports of the files of one folder. */
const MAX_IMPORTS = 50
/** Files of one folder of rules. */
const MAX_RULES = 50

export interface ReaderNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'stat' | 'readText' | 'readDirectory'>
  readonly machine: Pick<Machine, 'platform' | 'homeFolder' | 'sha256'>
}

/**
 * Reads the instruction files of one folder, with what they import.
 *
 * Errors: the signal's reason; whatever is wrong with a file is told in `ignored`.
 */
export async function readPlace(place: Place, { needs, fence, signal }: { readonly needs: ReaderNeeds; readonly fence: Fence; readonly signal?: AbortSignal | undefined }): Promise<PlaceContent> {
  const reading = new PlaceReading(place, needs, fence, signal)
  return await reading.run()
}

type Found =
  | { readonly kind: 'absent' }
  | { readonly kind: 'ignored'; readonly row: IgnoredFile }
  | { readonly kind: 'loaded'; readonly file: LoadedFile; readonly target: FileTarget }

class PlaceReading {
  readonly #place: Place
  readonly #needs: ReaderNeeds
  readonly #fence: Fence
  readonly #signal: AbortSignal | undefined
  readonly #files: LoadedFile[] = []
  readonly #ignored: IgnoredFile[] = []
  readonly #seen: { readonly target: FileTarget; readonly stat: FileStat }[] = []
  #imports = 0

  constructor(place: Place, needs: ReaderNeeds, fence: Fence, signal: AbortSignal | undefined) {
    this.#place = place
    this.#needs = needs
    this.#fence = fence
    this.#signal = signal
  }

  async run(): Promise<PlaceContent> {
    const { scope, names } = this.#place
    const paths = (await Promise.all(names.map((name) => this.#pathsOf(childPath(scope.folder, name))))).flat()
    const found = await Promise.all(paths.map((path) => this.#read(path)))
    const loaded = found.flatMap((one) => (one.kind === 'loaded' ? [one] : []))
    for (const one of found) if (one.kind === 'ignored') this.#ignored.push(one.row)
    const own = new Map<FileTarget['key'], string>()
    for (const one of this.#withoutCopies(loaded)) {
      own.set(one.file.key, one.file.path)
      await this.#import(one, [one.file.key], own)
      this.#files.push(one.file)
    }
    return { files: this.#files, ignored: this.#ignored, seen: this.#seen }
  }

  /** A folder of rules stands for the files in it. */
  async #pathsOf(path: string): Promise<readonly string[]> {
    if (!path.endsWith('/') && !path.endsWith('\\')) return [path]
    const folder = path.slice(0, -1)
    const target = await this.#attempt(folder, async () => {
      const found = await this.#resolve(folder)
      return found.exists && whyOutside(found.path, { fence: this.#fence, machine: this.#needs.machine }) === null ? found : null
    })
    if (target === null) return []
    const entries = await this.#attempt(folder, () => this.#needs.files.readDirectory(target, this.#signal))
    const rules = (entries ?? []).filter(({ name, kind }) => kind !== 'directory' && /\.mdc?$/i.test(name))
    for (const { name } of rules.slice(MAX_RULES)) this.#ignore(childPath(folder, name), `A folder of rules gives at most ${MAX_RULES} files.`)
    return rules.slice(0, MAX_RULES).map(({ name }) => childPath(folder, name))
  }

  /** Siblings that say the same, or are one file under two names: the earliest is kept. */
  #withoutCopies<T extends { readonly file: LoadedFile }>(loaded: readonly T[]): readonly T[] {
    const kept: T[] = []
    for (const one of loaded) {
      const twin = kept.find(({ file }) => file.key === one.file.key || file.digest === one.file.digest)
      if (twin === undefined) kept.push(one)
      else this.#ignore(one.file.path, `It says the same as ${nameOf(twin.file.path)}.`, one.file.bytes)
    }
    return kept
  }

  /** Put what a file names before it. `chain`: the files on the way here; `known`: all of this folder. */
  async #import({ file }: { readonly file: LoadedFile }, chain: readonly FileTarget['key'][], known: Map<FileTarget['key'], string>): Promise<void> {
    const folder = parentFolder(file.path) ?? file.path
    for (const spelling of importsIn(file.text)) {
      const path = this.#importPath(spelling, folder)
      const refuse = (reason: string) => this.#ignore(path, `${reason} ${nameOf(file.path)} names it as @${spelling}.`)
      if (this.#imports >= MAX_IMPORTS) {
        refuse(`The files of a folder import at most ${MAX_IMPORTS} others.`)
        return
      }
      this.#imports++
      const found = await this.#read(path, file.path)
      if (found.kind === 'absent') refuse('It is not there.')
      else if (found.kind === 'ignored') refuse(found.row.reason)
      else if (chain.includes(found.file.key)) refuse('It imports itself in a circle.')
      else if (known.has(found.file.key)) continue
      else if (chain.length > MAX_IMPORT_DEPTH) refuse(`Imports go at most ${MAX_IMPORT_DEPTH} files deep.`)
      else {
        known.set(found.file.key, found.file.path)
        await this.#import(found, [...chain, found.file.key], known)
        this.#files.push(found.file)
      }
    }
  }

  #importPath(spelling: string, folder: string): string {
    if (spelling.startsWith('~/')) return childPath(this.#needs.machine.homeFolder, spelling.slice(2))
    return /^([\\/]|[a-z]:[\\/])/i.test(spelling) ? spelling : childPath(folder, spelling)
  }

  async #read(path: string, importedBy?: string): Promise<Found> {
    const { scope } = this.#place
    const read = await guardedRead(this.#needs, {
      path,
      base: scope.folder,
      fence: this.#fence,
      mayBeAnywhere: scope.kind === 'user' && importedBy === undefined,
      maxBytes: MAX_SOURCE_BYTES,
      known: (target, stat) => void this.#seen.push({ target, stat }),
      signal: this.#signal,
    })
    if (read.kind === 'absent') return read
    if (read.kind === 'refused') return this.#ignoredRow(path, read.reason, read.bytes, read.isUnreadable)
    const { target, stat } = read
    const text = read.text.trim().toWellFormed()
    if (text === '') return this.#ignoredRow(path, 'It is empty.', stat.size)
    const file = { path, scope, text, digest: this.#needs.machine.sha256(text), bytes: utf8Length(text), key: target.key, ...(importedBy !== undefined && { importedBy }) }
    return { kind: 'loaded', file, target }
  }

  async #attempt<T>(path: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      this.#signal?.throwIfAborted()
      if (!(error instanceof FileError)) throw error
      this.#ignore(path, error.message)
      return null
    }
  }

  #resolve(path: string): Promise<FileTarget> {
    return this.#needs.files.resolve(path, this.#place.scope.folder, this.#signal)
  }

  #ignoredRow(path: string, reason: string, bytes: number | null, isUnreadable = false): Found {
    return { kind: 'ignored', row: { path, scope: this.#place.scope, bytes, reason, ...(isUnreadable && { isUnreadable: true as const }) } }
  }

  #ignore(path: string, reason: string, bytes: number | null = null): void {
    this.#ignored.push({ path, scope: this.#place.scope, bytes, reason })
  }
}
