import { childPath, nameOf, parentFolder } from '../../base/folders.ts'
import { isErrorOf } from '../../base/harness-error.ts'
import { FileError, type FileStat, type FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import { pathMatcher, styleOf } from '../../core/policy/paths.ts'
import { guardedRead, whyOutside, type Fence, type GuardedText } from '../../core/told/guarded-read.ts'
import { parseSkill } from './parse-skill.ts'
import { placesFor, type PlaceOptions, type SkillPlace } from './places.ts'
import { SkillError, type Skill, type SkillFacts } from './service.ts'

/** Bytes of one file; a larger one is not read. */
export const MAX_SKILL_BYTES = 1024 * 1024
/** Skills of one folder. */
export const MAX_IN_FOLDER = 500
/** Files that are looked at at once. */
const MAX_AT_ONCE = 16

export interface ScanNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'stat' | 'readText' | 'readDirectory'>
  readonly machine: Pick<Machine, 'platform' | 'homeFolder' | 'userFolder'>
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted'>
  readonly options: () => PlaceOptions & { readonly sensitivePaths: readonly string[] }
}

/** What stands at one place: a skill, or why it is none. */
export type FoundSkill = {
  readonly place: SkillPlace
  readonly path: string
  /** As its file or folder is called. */
  readonly fileName: string
} & (
  | { readonly kind: 'skill'; readonly facts: SkillFacts; /** The canonical folder it stands in, with what it brings along; null for a file alone. */ readonly folder: string | null }
  | { readonly kind: 'broken' | 'refused'; readonly reason: string; readonly isUnreadable?: true }
)

export interface Scan {
  /** In the order in which they go first. */
  readonly found: readonly FoundSkill[]
  readonly places: readonly SkillPlace[]
  readonly fence: Fence
  /** False: something could not be read just now and may be there still; what was last known of it is in `found`. */
  readonly isComplete: boolean
}

type Parsed = { readonly facts: SkillFacts } | { readonly reason: string }
interface Known {
  readonly stat: Pick<FileStat, 'size' | 'modifiedAt'>
  readonly parsed: Parsed
}

/** Looks for skills again and again; a file that is as it was is not read again. */
export class SkillScanner {
  readonly #needs: ScanNeeds
  readonly #cwd: string
  #known = new Map<string, Known>()
  #last: Scan | null = null

  constructor(cwd: string, needs: ScanNeeds) {
    this.#cwd = cwd
    this.#needs = needs
  }

  /** Errors: none for a file or folder. */
  async scan(): Promise<Scan> {
    const { machine } = this.#needs
    const options = this.#needs.options()
    const { places, fenceFolders } = await placesFor(this.#cwd, this.#needs, options)
    const fence: Fence = { folders: fenceFolders, closedBy: pathMatcher(options.sensitivePaths, styleOf(machine)) }
    const seen = new Map<string, Known>()
    const found: FoundSkill[] = []
    for (const place of places) found.push(...(await this.#inPlace(place, { fence, seen })))
    this.#known = seen
    this.#last = { found, places, fence, isComplete: !found.some((one) => one.kind === 'broken' && one.isUnreadable) }
    return this.#last
  }

  /** One file with all it says, read now. */
  async read(path: string, place: SkillPlace, fence: Fence): Promise<GuardedText> {
    return await guardedRead(this.#needs, { path, base: place.folder, fence, mayBeAnywhere: isOwn(place), maxBytes: MAX_SKILL_BYTES })
  }

  async #inPlace(place: SkillPlace, reading: Reading): Promise<readonly FoundSkill[]> {
    const { files, machine, workspace } = this.#needs
    try {
      const target = await files.resolve(place.folder, '/')
      if (!target.exists) return []
      const outside = whyOutside(target.path, { fence: reading.fence, machine, mayBeAnywhere: isOwn(place) })
      const whole = { place, path: place.folder, fileName: nameOf(place.folder), kind: 'broken' } as const
      if (outside !== null) return [{ ...whole, reason: outside }]
      if ((await files.stat(target)).kind !== 'directory') return [{ ...whole, reason: 'It is no folder. Skills stand in a folder of this name.' }]
      const entries = (await files.readDirectory(target)).flatMap(({ name, kind }) => {
        if (name.startsWith('.')) return []
        if (name.toLowerCase().endsWith('.md') && kind !== 'directory') return [{ fileName: name.slice(0, -3), path: childPath(place.folder, name) }]
        return kind === 'directory' || kind === 'link' ? [{ fileName: name, path: childPath(place.folder, `${name}/SKILL.md`) }] : []
      })
      if (place.origin === 'project' && !workspace.isTrusted()) return entries.slice(0, MAX_IN_FOLDER).map((entry) => ({ ...entry, place, kind: 'refused', reason: 'The workspace is not trusted; its skills are not read.' }))
      const found = await inTurns(entries.slice(0, MAX_IN_FOLDER), (entry) => this.#one({ ...entry, place }, reading))
      const over = entries.slice(MAX_IN_FOLDER)
      return over.length === 0 ? found : [...found, { place, path: place.folder, fileName: `${over[0]?.fileName}…`, kind: 'broken', reason: `A folder gives at most ${MAX_IN_FOLDER} skills; ${over.length} more are left out.` }]
    } catch (error) {
      if (!isErrorOf(FileError, error)) throw error
      if (error.code === 'FS_NOT_FOUND') return []
      const row: FoundSkill = { place, path: place.folder, fileName: nameOf(place.folder), kind: 'broken', reason: error.message, ...(error.code === 'FS_IO_ERROR' && { isUnreadable: true }) }
      // A folder that is out of reach for a moment has what it had.
      const before = error.code === 'FS_IO_ERROR' ? (this.#last?.found.filter((one) => one.place.folder === place.folder && one.path !== place.folder) ?? []) : []
      for (const { path } of before) this.#keep(path, reading)
      return [...before, row]
    }
  }

  async #one(at: Pick<FoundSkill, 'place' | 'path' | 'fileName'>, reading: Reading): Promise<FoundSkill> {
    const { path, place } = at
    const before = this.#known.get(path)
    let same: Known | undefined
    const read = await guardedRead(this.#needs, {
      path,
      base: place.folder,
      fence: reading.fence,
      mayBeAnywhere: isOwn(place),
      maxBytes: MAX_SKILL_BYTES,
      known(_target, { kind, size, modifiedAt }) {
        if (kind !== 'file' || before?.stat.size !== size || before.stat.modifiedAt !== modifiedAt) return undefined
        same = before
        return ''
      },
    })
    if (read.kind === 'absent') return { ...at, kind: 'broken', reason: 'It has no SKILL.md.' }
    if (read.kind === 'refused') {
      const last = read.isUnreadable ? this.#last?.found.find((one) => one.path === path && one.kind === 'skill') : undefined
      if (last !== undefined) this.#keep(path, reading)
      return last ?? { ...at, kind: 'broken', reason: read.reason, ...(read.isUnreadable && { isUnreadable: true }) }
    }
    const known = same ?? { stat: read.stat, parsed: parsedFrom(read.text) }
    reading.seen.set(path, known)
    const { parsed } = known
    if ('reason' in parsed) return { ...at, kind: 'broken', reason: parsed.reason }
    return { ...at, kind: 'skill', facts: parsed.facts, folder: path.endsWith('/SKILL.md') || path.endsWith('\\SKILL.md') ? parentFolder(read.target.path) : null }
  }

  #keep(path: string, { seen }: Reading): void {
    const known = this.#known.get(path)
    if (known !== undefined) seen.set(path, known)
  }
}

interface Reading {
  readonly fence: Fence
  readonly seen: Map<string, Known>
}

/** The person's own folders may hold links to wherever they keep their skills. */
const isOwn = ({ origin }: SkillPlace) => origin === 'user' || origin === 'custom'

function parsedFrom(text: string): Parsed {
  try {
    return { facts: parseSkill(text).facts }
  } catch (error) {
    if (isErrorOf(SkillError, error)) return { reason: error.message }
    throw error
  }
}

/** In order, a bounded number at once. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = []
  for (let at = 0; at < items.length; at += MAX_AT_ONCE) done.push(...(await Promise.all(items.slice(at, at + MAX_AT_ONCE).map(work))))
  return done
}

/** A found skill as others see it. */
export const skillFrom = ({ place, path, facts }: FoundSkill & { readonly kind: 'skill' }): Skill => ({ ...facts, origin: place.origin, path, ...(place.label !== undefined && { label: place.label }) })
