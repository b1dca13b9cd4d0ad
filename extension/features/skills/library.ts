import { isErrorOf } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import { isWithin, styleOf } from '../../core/policy/paths.ts'
import { parseSkill, SKILL_NAME } from './parse-skill.ts'
import { ranks } from './places.ts'
import { skillFrom, SkillScanner, type FoundSkill, type Scan, type ScanNeeds } from './scan.ts'
import { SkillError, type ContributedSkill, type LoadedSkill, type Skill, type SkillErrorCode, type SkillRow } from './service.ts'

/** Skills that one session can have; each of them costs a line of what the model is told. */
const MAX_SKILLS = 1000
const MAX_NAMED = 5

export interface LibraryNeeds extends ScanNeeds {
  readonly contributed: () => readonly ContributedSkill[]
  readonly onChange: () => void
}

type Entry =
  | { readonly kind: 'found'; readonly rank: number; readonly skill: Skill; readonly found: FoundSkill & { readonly kind: 'skill' } }
  | { readonly kind: 'contributed'; readonly rank: number; readonly skill: Skill; readonly contributed: ContributedSkill }

/** What one look at the folders came to. */
interface Shelf {
  /** Those that can be loaded, in the order in which they go first. */
  readonly entries: ReadonlyMap<string, Entry>
  readonly skills: readonly Skill[]
  readonly rows: readonly SkillRow[]
  readonly scan: Scan | null
}

const emptyShelf: Shelf = { entries: new Map(), skills: [], rows: [], scan: null }

/** The skills of the sessions in one folder. */
export class SkillLibrary {
  readonly #needs: LibraryNeeds
  readonly #scanner: SkillScanner
  #shelf: Shelf = emptyShelf
  #digest = '[]'
  #isStale = true
  #looking: Promise<void> | null = null

  constructor(cwd: string, needs: LibraryNeeds) {
    this.#needs = needs
    this.#scanner = new SkillScanner(cwd, needs)
  }

  /** As last found; a first look may still be under way. */
  get skills(): readonly Skill[] {
    return this.#shelf.skills
  }

  /** False: part of what was found before could not be looked at. */
  get isComplete(): boolean {
    return this.#shelf.scan?.isComplete === true
  }

  /** Canonical folders of the skills outside the project. */
  get resourceFolders(): readonly string[] {
    return [...this.#shelf.entries.values()].flatMap((entry) => (entry.kind === 'found' && entry.skill.origin !== 'project' && entry.found.folder !== null ? [entry.found.folder] : []))
  }

  /** Look anew before the next answer. */
  refresh(): void {
    this.#isStale = true
  }

  /** A change of this file may be a change of a skill. */
  concerns(path: string): boolean {
    const style = styleOf(this.#needs.machine)
    return this.#shelf.scan?.places.some(({ folder }) => isWithin(path, folder, style)) === true
  }

  /** Up to date afterwards. All that ask meanwhile wait for the same look. */
  async settle(): Promise<void> {
    while (this.#looking !== null || this.#isStale) await (this.#looking ??= this.#begin())
  }

  async rows(): Promise<readonly SkillRow[]> {
    this.refresh()
    await this.settle()
    return this.#shelf.rows
  }

  /** Errors: `SkillError`. */
  async load(name: string, by: 'model' | 'person'): Promise<LoadedSkill> {
    if (!SKILL_NAME.test(name)) throw failure('SKILL_INVALID_NAME', `${JSON.stringify(name.slice(0, 100))} is no name of a skill: names are lower-case letters and digits with single hyphens between. Take one from the list.`)
    await this.settle()
    const listed = this.#shelf.entries.get(name)
    if (listed !== undefined) {
      checkOpen(listed.skill, by)
      const loaded = await this.#read(listed, by)
      if (loaded !== null) return loaded
    }
    // It came, or went, or moved since the list was made.
    this.refresh()
    await this.settle()
    const now = this.#shelf.entries.get(name)
    if (now !== undefined) checkOpen(now.skill, by)
    const loaded = now === undefined ? null : await this.#read(now, by)
    if (loaded === null) throw this.#missing(name, { wasListed: listed !== undefined, by })
    return loaded
  }

  async #begin(): Promise<void> {
    this.#isStale = false
    try {
      await this.#look()
    } catch (error) {
      this.#isStale = true
      throw error
    } finally {
      this.#looking = null
    }
  }

  async #look(): Promise<void> {
    const scan = await this.#scanner.scan()
    this.#shelf = shelfOf(scan, this.#needs.contributed())
    const digest = JSON.stringify(this.#shelf.skills)
    const isOther = digest !== this.#digest
    this.#digest = digest
    if (isOther) this.#needs.onChange()
  }

  /** Null when it is not there any more, or is another one now. */
  async #read(entry: Entry, by: 'model' | 'person'): Promise<LoadedSkill | null> {
    const { skill } = entry
    if (entry.kind === 'contributed') return await readContributed(entry.contributed)
    const { found } = entry
    if (skill.origin === 'project' && !this.#needs.workspace.isTrusted()) throw untrusted(skill.name)
    const fence = this.#shelf.scan?.fence ?? { folders: [], closedBy: () => null }
    const read = await this.#scanner.read(found.path, found.place, fence)
    if (read.kind === 'absent') return null
    if (read.kind === 'refused') throw failure('SKILL_BROKEN', `The skill ${skill.name} (${found.path}) cannot be loaded. ${read.reason}`)
    const { facts, body } = parsedNow(read.text, skill, found.path)
    if (facts.name !== skill.name) return null
    checkOpen(facts, by)
    return { name: skill.name, provider: skill.origin, ...(found.folder !== null && { resourceBase: { kind: 'directory' as const, path: folderOf(found.path) } }), content: body }
  }

  #missing(name: string, { wasListed, by }: { readonly wasListed: boolean; readonly by: 'model' | 'person' }): SkillError {
    const row = this.#shelf.rows.find((one) => one.name === name && one.state !== 'loaded' && one.state !== 'shadowed')
    if (row?.state === 'refused') return untrusted(name)
    if (row !== undefined) return failure('SKILL_BROKEN', `The skill ${name} (${row.path}) cannot be loaded. ${row.reason ?? ''}`)
    if (wasListed) return failure('SKILL_NOT_FOUND', `The skill ${name} went away since it was listed. Go on without it.`)
    const open = this.#shelf.skills.filter((skill) => isOpen(skill, by)).map((skill) => skill.name)
    const near = open.filter((other) => other.includes(name) || name.includes(other) || other.split('-').some((word) => word.length > 2 && name.split('-').includes(word)))
    const named = (near.length > 0 ? near : open).slice(0, MAX_NAMED)
    const advice = named.length === 0 ? 'There are none here.' : near.length > 0 ? `Did you mean ${named.join(', ')}?` : `There are ${named.join(', ')}${open.length > named.length ? ` and ${open.length - named.length} more` : ''}.`
    return failure('SKILL_NOT_FOUND', `There is no skill ${name}. ${advice}`)
  }
}

/** Rank by rank, the first of a name wins. */
function shelfOf(scan: Scan, contributed: readonly ContributedSkill[]): Shelf {
  const entries = new Map<string, Entry>()
  const rows: SkillRow[] = []
  for (const one of inRank(scan, contributed)) {
    if (!('skill' in one)) {
      const { place, path, fileName, kind, reason } = one
      rows.push({ name: fileName, path, origin: place.origin, ...(place.label !== undefined && { label: place.label }), state: kind, reason })
      continue
    }
    const { name, description, path, origin, label, isForModel, isForPerson } = one.skill
    const row = { name, path, origin, ...(label !== undefined && { label }), description, isForModel, isForPerson }
    const first = entries.get(name)
    if (first !== undefined) rows.push({ ...row, state: 'shadowed', reason: `${first.skill.path} has the same name and goes first.` })
    else if (entries.size >= MAX_SKILLS) rows.push({ ...row, state: 'broken', reason: `A session has at most ${MAX_SKILLS} skills.` })
    else {
      entries.set(name, one)
      rows.push({ ...row, state: 'loaded' })
    }
  }
  return { entries, rows, scan, skills: [...entries.values()].map(({ skill }) => skill) }
}

type Broken = Exclude<FoundSkill, { readonly kind: 'skill' }>

function inRank({ found }: Scan, contributed: readonly ContributedSkill[]): readonly (Entry | Broken)[] {
  const all = [
    ...found.map((one) => ({ rank: one.place.rank, one: one.kind === 'skill' ? ({ kind: 'found', rank: one.place.rank, skill: skillFrom(one), found: one } as const) : one })),
    ...contributed.map((one) => {
      const origin = one.origin ?? 'contributed'
      return { rank: ranks[origin], one: { kind: 'contributed', rank: ranks[origin], skill: contributedSkill(one, origin), contributed: one } as const }
    }),
  ]
  return all.toSorted((a, b) => a.rank - b.rank).map(({ one }) => one)
}

const contributedSkill = ({ name, description, whenToUse, isForModel = true, isForPerson = true, provider }: ContributedSkill, origin: Skill['origin']): Skill => ({
  name, description, ...(whenToUse !== undefined && { whenToUse }), isForModel, isForPerson, origin, path: provider,
})

async function readContributed({ name, provider, resourceBase, content }: ContributedSkill): Promise<LoadedSkill> {
  try {
    const text = await content()
    return { name, provider, ...(resourceBase && { resourceBase }), content: text.toWellFormed() }
  } catch (error) {
    throw failure('SKILL_BROKEN', `The skill ${name} of ${provider} cannot be loaded: ${messageOf(error)}`, error)
  }
}

function parsedNow(text: string, { name }: Skill, path: string): ReturnType<typeof parseSkill> {
  try {
    return parseSkill(text)
  } catch (error) {
    if (!isErrorOf(SkillError, error)) throw error
    throw failure('SKILL_BROKEN', `The skill ${name} (${path}) cannot be loaded. ${error.message}`, error)
  }
}

const isOpen = ({ isForModel, isForPerson }: Pick<Skill, 'isForModel' | 'isForPerson'>, by: 'model' | 'person') => (by === 'model' ? isForModel : isForPerson)

function checkOpen(skill: Pick<Skill, 'name' | 'isForModel' | 'isForPerson'>, by: 'model' | 'person'): void {
  if (isOpen(skill, by)) return
  throw failure('SKILL_NOT_ALLOWED', by === 'model' ? `The skill ${skill.name} is for the person to call: they type /${skill.name}. Go on without it, or ask them to.` : `The skill ${skill.name} is for the model alone; it cannot be called with a slash.`)
}

const folderOf = (path: string) => path.slice(0, -'/SKILL.md'.length)

const untrusted = (name: string) => failure('WORKSPACE_UNTRUSTED', `The skill ${name} belongs to a workspace that is not trusted, so it is not read. The person can trust the workspace.`)

const failure = (code: SkillErrorCode, message: string, cause?: unknown) => new SkillError(code, message, { cause })
