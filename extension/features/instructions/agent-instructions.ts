import { parentFolder } from '../../base/folders.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { pathMatcher, styleOf } from '../../core/policy/paths.ts'
import type { Session } from '../../core/session/session.ts'
import type { Fence } from '../../core/told/guarded-read.ts'
import { canonical, rootsOf, type Root } from '../../core/told/roots.ts'
import { batchOf } from './batch.ts'
import { MAX_NESTED, nestedScopes, projectScopes } from './places.ts'
import { readPlace, type LoadedFile, type Place, type PlaceContent } from './reader.ts'
import type { IgnoredFile, InstructionReport, InstructionRow, InstructionScope, ToldFile } from './service.ts'
import { changesOf, toldInstructions } from './told.ts'

/** Settings, read when they are needed. */
export interface InstructionOptions {
  readonly files: readonly string[]
  readonly alsoRead: readonly string[]
  readonly localFiles: readonly string[]
  /** 0: nothing is read. */
  readonly maxBytes: number
  readonly rootMarkers: readonly string[]
  readonly sensitivePaths: readonly string[]
}

export interface InstructionNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'stat' | 'readText' | 'readDirectory'>
  readonly machine: Pick<Machine, 'platform' | 'homeFolder' | 'userFolder' | 'sha256' | 'randomId'>
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted'>
  readonly options: () => InstructionOptions
}

/** The user-global file has one name, whatever a workspace sets. */
const USER_NAMES = ['AGENTS.md']

/** What was found, in the order in which it is told. */
interface Found {
  readonly files: readonly LoadedFile[]
  readonly ignored: readonly IgnoredFile[]
}

/**
 * The instruction files of one session: found, and told to the model when they are new, changed or gone.
 *
 * Everything is read anew at the start of a turn and when somebody says that a file changed. In between, a step costs nothing
 * but a look at the files that are known, and that only after a tool that may have changed them.
 */
export class AgentInstructions {
  readonly #needs: InstructionNeeds
  readonly #cwd: string
  readonly #told: ReturnType<typeof toldInstructions>
  /** Folders of files that were read, written or edited. */
  readonly #worked = new Set<string>()
  /** Of `#worked`, those whose folders are not looked at yet. */
  #fresh: string[] = []
  #roots: readonly Root[] = []
  #fence: Fence = { folders: [], closedBy: () => null }
  readonly #nested = new Map<string, InstructionScope>()
  readonly #contents = new Map<string, PlaceContent>()
  #finding: Promise<unknown> = Promise.resolve()
  #isStale = true
  #mayHaveChanged = false

  constructor(session: Pick<Session, 'header' | 'surface' | 'milestones'>, needs: InstructionNeeds) {
    this.#needs = needs
    this.#cwd = session.header.cwd ?? ''
    this.#told = toldInstructions(session)
    for (const event of session.milestones()) if (event.type === 'fs/observed' && event.data.version !== null) this.noteFile(event.data.path)
  }

  /** A file was read, written or edited: the folders down to it may hold instructions. */
  noteFile(path: string): void {
    const folder = parentFolder(path)
    if (folder === null || this.#worked.has(folder)) return
    this.#worked.add(folder)
    this.#fresh.push(folder)
  }

  /** Read everything anew before the next request. */
  refresh(): void {
    this.#isStale = true
  }

  /** Something ran that can change files. */
  noteEffect(): void {
    this.#mayHaveChanged = true
  }

  /** The message for the next request, or undefined when the model knows it all. Errors: the signal's reason. */
  async next(signal: AbortSignal): Promise<UserMessage | undefined> {
    const found = await this.#find(signal)
    const changes = changesOf(this.#told.state(), { files: found.files, unreadable: unreadableOf(found) })
    if (changes.length === 0) return undefined
    const { text, files } = batchOf(changes, Math.max(1000, this.#needs.options().maxBytes))
    return { id: this.#needs.machine.randomId(), role: 'user', content: [{ type: 'text', text }], source: { kind: 'agent-instructions', files } }
  }

  /** Everything as it is now, with what became of it. */
  async report(): Promise<InstructionReport> {
    this.refresh()
    const found = await this.#find()
    const told = this.#told.state()
    const rows: readonly InstructionRow[] = [...found.files.map((file) => rowOf(file, told.get(file.path))), ...found.ignored.map((file) => ignoredRow(file, told.get(file.path)))]
    const maxBytes = this.#needs.options().maxBytes
    return { rows, maxBytes, ...(maxBytes === 0 && { note: 'The setting `bosun.instructions.maxBytes` is 0: no instruction files are read.' }) }
  }

  /** One after the other: what one finds is what the next begins with. */
  async #find(signal?: AbortSignal): Promise<Found> {
    const turn = this.#finding.then(() => this.#findNow(signal))
    this.#finding = turn.catch(() => {})
    return await turn
  }

  async #findNow(signal: AbortSignal | undefined): Promise<Found> {
    if (this.#mayHaveChanged && !this.#isStale) this.#isStale = await this.#hasChanged(signal)
    const isNew = this.#isStale
    const fresh = this.#fresh
    if (isNew) await this.#locate()
    this.#addNested(isNew ? this.#worked : fresh)
    const places = this.#places()
    const missing = places.filter(({ scope }) => isNew || !this.#contents.has(keyOf(scope)))
    const needs = { needs: this.#needs, fence: this.#fence, signal }
    const contents = await Promise.all(missing.map(async (place) => [keyOf(place.scope), await readPlace(place, needs)] as const))
    // Only now: a scan that was cut short begins anew.
    if (isNew) this.#contents.clear()
    for (const [key, content] of contents) this.#contents.set(key, content)
    this.#isStale = false
    this.#mayHaveChanged = false
    this.#fresh = this.#fresh.filter((folder) => !fresh.includes(folder))
    return this.#inOrder(places)
  }

  async #locate(): Promise<void> {
    const { files, machine, workspace } = this.#needs
    const { rootMarkers, sensitivePaths } = this.#needs.options()
    this.#roots = workspace.isTrusted() ? await rootsOf(this.#cwd, { files, workspace }, rootMarkers) : []
    const own = await canonical(files, machine.userFolder)
    this.#fence = {
      folders: [own, ...this.#roots.flatMap(({ folder, projectRoot }) => [folder, projectRoot])],
      closedBy: pathMatcher(sensitivePaths, styleOf(machine)),
    }
    this.#nested.clear()
  }

  #addNested(folders: Iterable<string>): void {
    const known = new Set(projectScopes(this.#roots).map((scope) => scope.folder))
    for (const folder of folders) {
      for (const scope of nestedScopes(folder, this.#roots, this.#needs.machine)) {
        if (this.#nested.size >= MAX_NESTED) return
        if (!known.has(scope.folder)) this.#nested.set(scope.folder, scope)
      }
    }
  }

  #places(): readonly Place[] {
    const { files, alsoRead, localFiles, maxBytes } = this.#needs.options()
    if (maxBytes === 0) return []
    const user: InstructionScope = { kind: 'user', folder: this.#needs.machine.userFolder }
    const names = [...new Set([...files, ...alsoRead.map((name) => (name === '.cursor/rules' ? `${name}/` : name)), ...localFiles])]
    const nested = [...this.#nested.values()].toSorted((a, b) => (a.folder < b.folder ? -1 : 1))
    return [{ scope: user, names: USER_NAMES }, ...[...projectScopes(this.#roots), ...nested].map((scope) => ({ scope, names }))]
  }

  /** A file that a broader folder told already is not told again. */
  #inOrder(places: readonly Place[]): Found {
    const first = new Map<string, string>()
    const files: LoadedFile[] = []
    const ignored: IgnoredFile[] = this.#refusals()
    for (const { scope } of places) {
      const content = this.#contents.get(keyOf(scope))
      ignored.push(...(content?.ignored ?? []))
      for (const file of content?.files ?? []) {
        const twin = first.get(file.key)
        if (twin === undefined) files.push(file)
        else ignored.push({ path: file.path, scope: file.scope, bytes: file.bytes, reason: `It is the same file as ${twin}.` })
        first.set(file.key, twin ?? file.path)
      }
    }
    return { files, ignored }
  }

  #refusals(): IgnoredFile[] {
    const { workspace, options } = this.#needs
    const refused = (folder: string, reason: string): IgnoredFile => ({ path: folder, scope: { kind: 'project', folder }, bytes: null, reason })
    if (!workspace.isTrusted() && options().maxBytes > 0) {
      const folders = new Set([...workspace.folders().map(({ path }) => path), ...(this.#cwd === '' ? [] : [this.#cwd])])
      return [...folders].map((folder) => refused(folder, 'The workspace is not trusted; its instruction files are not read.'))
    }
    return this.#nested.size < MAX_NESTED ? [] : [refused(this.#cwd, `Instructions are looked for in the first ${MAX_NESTED} folders that are worked in; later ones are left out.`)]
  }

  async #hasChanged(signal: AbortSignal | undefined): Promise<boolean> {
    const { files } = this.#needs
    const seen = [...this.#contents.values()].flatMap((content) => content.seen)
    const same = await Promise.all(
      seen.map(async ({ target, stat }) => {
        try {
          const now = await files.stat(target, signal)
          return now.size === stat.size && now.modifiedAt === stat.modifiedAt && now.kind === stat.kind
        } catch {
          // Gone or out of reach: reading it says which.
          return false
        }
      }),
    )
    signal?.throwIfAborted()
    return same.includes(false)
  }
}

const keyOf = ({ kind, folder }: InstructionScope) => `${kind} ${folder}`

/** Paths that hold on as they were told, because nobody can say what stands there now. */
const unreadableOf = ({ ignored }: Found): ReadonlySet<string> => new Set(ignored.flatMap(({ path, isUnreadable }) => (isUnreadable ? [path] : [])))

function rowOf({ path, scope, bytes, digest, importedBy }: LoadedFile, told: ToldFile | undefined): InstructionRow {
  const from = importedBy === undefined ? [] : [`Imported by ${importedBy}.`]
  const row = (state: InstructionRow['state'], ...reasons: readonly string[]): InstructionRow => {
    const reason = [...reasons, ...from].join(' ')
    return { path, scope, bytes, state, ...(reason !== '' && { reason }) }
  }
  if (told === undefined) return row('pending', 'The model is told with the next message.')
  if (told.digest !== digest) return row('pending', 'It changed; the model is told with the next message.')
  if (told.outcome === 'cut') return row('cut', 'Only its beginning fits the limit.')
  if (told.outcome === 'dropped') return row('dropped', 'The files together are over the limit; broader ones go first.')
  return row('delivered')
}

function ignoredRow({ path, scope, bytes, reason, isUnreadable }: IgnoredFile, told: ToldFile | undefined): InstructionRow {
  const holds = told === undefined ? '' : isUnreadable ? ' What the model was told of it holds on.' : ' The model is told with the next message that it holds no longer.'
  return { path, scope, bytes, state: 'ignored', reason: reason + holds }
}
