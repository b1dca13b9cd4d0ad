import type { ChangeWatch, WatchedFolder } from '../../capabilities/change-watch.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { GitError } from '../../core/git/run-git.ts'
import type { Session } from '../../core/session/session.ts'
import type { ToolResult } from '../../core/tools/definition.ts'
import type { Image, ReviewLimit } from './events.ts'
import type { GitFacts } from './git-facts.ts'
import type { Images } from './images.ts'
import type { Recorder, Touched } from './recorder.ts'

/** Files that one look keeps as they are. */
export const MAX_KEPT_FILES = 1_000
/** Their bytes together. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024
/** One file; larger ones can be seen to change, not taken back. */
export const MAX_KEPT_FILE_BYTES = 5 * 1024 * 1024
/** Files that one command can put up for review. */
export const MAX_FOUND_FILES = 2_000
/** Reads under way at once. */
const READERS = 8

export interface ShellChangesParts {
  readonly watch: ChangeWatch
  readonly git: GitFacts
  readonly images: Images
  readonly recorder: Recorder
  readonly logger: Logger
  readonly isSecret: (path: string) => boolean
  /** Files that calls of this session changed: kept too where a command destroys. */
  readonly touched: (session: Session) => readonly string[]
}

/** A command that may change files without saying which. */
export interface Command {
  readonly session: Session
  readonly callId: string
  readonly turn: number
  /** It throws work away for good: everything that no commit holds is looked at anew before it runs. */
  readonly destroys: boolean
  /** It may move what is checked out. */
  readonly usesGit: boolean
  readonly signal: AbortSignal
}

export interface ShellChanges {
  /** Keep what is at stake, run it, and put up for review what it changed. */
  around(command: Command, next: () => Promise<ToolResult>): Promise<ToolResult>
  forget(session: Session): void
}

/** Asked until it does not answer. */
interface Repository {
  /** Null: there is none, or git does not answer. */
  root: string | null
}

interface Ground {
  readonly folder: string
  readonly watched: WatchedFolder
  readonly repository: Repository
  head: string | null
  /** Turn in which `head` was asked for last. */
  headTurn: number
  /** What stands in files that no commit holds, or that changed since. */
  readonly kept: Map<string, Image>
  /** Changed by a command, and not kept again yet. */
  readonly stale: Set<string>
  /** No commit holds what stands in them, and nobody kept it either. */
  readonly unkept: Set<string>
  /** Something changed that nobody told of: only a look at everything helps. */
  isBehind: boolean
}

/**
 * Files that shell commands change: a watch tells which, and what was kept before tells what stood in them. What a commit holds is not
 * kept a second time. The repository is only asked, never changed.
 */
export function createShellChanges({ watch, git, images, recorder, logger, isSecret, touched }: ShellChangesParts): ShellChanges {
  const grounds = new Map<Session, Promise<Ground | null>>()

  return {
    async around(command, next) {
      const ground = await prepared(command)
      if (ground === null) return await next()
      const from = command.session.length
      try {
        return await next()
      } finally {
        await found(ground, command, toldBy(command, from)).catch((error: unknown) => logger.warn('What a command changed could not be looked at.', { error: String(error) }))
      }
    },
    forget,
  }

  function forget(session: Session): void {
    const ground = grounds.get(session)
    grounds.delete(session)
    // One that could not be begun watches nothing.
    void ground?.then((known) => known?.watched.close()).catch(() => undefined)
  }

  /** Null: nothing of it can be seen. A command never fails because of it. */
  async function prepared(command: Command): Promise<Ground | null> {
    const { session, signal } = command
    try {
      const known = grounds.get(session)
      const begun = known ?? begin(command)
      grounds.set(session, begun)
      const ground = await begun
      if (ground === null) return null
      if (known !== undefined) await keepNews(ground, command)
      if (command.destroys) {
        const stakes = [...(await atStake(ground, command)), ...touched(session)]
        const { tooLarge, tooMany } = await keep(ground, session, stakes, { isAnew: false })
        if (tooLarge > 0) limited(command, 'too-large-to-keep', tooLarge)
        if (tooMany > 0) limited(command, 'too-many-to-keep', tooMany)
      }
      return ground
    } catch (error) {
      forget(session)
      if (!signal.aborted) logger.warn('What a command changes cannot be seen.', { error: String(error) })
      return null
    }
  }

  /** The person sees it in the talk. */
  function limited({ session, callId }: Command, reason: ReviewLimit, files?: number): void {
    if (session.access === 'write') session.append({ type: 'review/limited', data: { callId, reason, ...(files !== undefined && { files }) }, ignorable: true })
  }

  /** A question to git. The first that it does not answer is the last one here, so that no other command waits for it in vain. */
  async function asked<T>(repository: Repository, question: (root: string) => Promise<T>, command: Command | null): Promise<T | null> {
    const { root } = repository
    if (root === null) return null
    try {
      return await question(root)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      logger.warn('Git is not asked any more what commands change.', { root, error: error.message })
      if (repository.root !== null && command !== null) limited(command, 'git-unavailable')
      repository.root = null
      return null
    }
  }

  async function begin(command: Command): Promise<Ground | null> {
    const { session, signal, turn } = command
    const folder = session.header.cwd
    if (folder === undefined || /^[a-z][\w+.-]+:\/\//i.test(folder)) return null
    const repository: Repository = { root: folder }
    if ((await asked(repository, (at) => git.isIn(at, signal), command)) !== true) repository.root = null
    // Asked long after this command, and also when it was stopped.
    const { signal: always } = new AbortController()
    const isIgnored = async (paths: readonly string[]) => (await asked(repository, (root) => git.ignored(root, paths, always), null)) ?? new Set<string>()
    const watched = await watch.begin(folder, { isIgnored, signal })
    if (watched.kind === 'refused') {
      logger.info('Files that commands change are not put up for review here.', { reason: watched.reason, detail: watched.detail })
      limited(command, watched.reason)
      return null
    }
    try {
      const head = await asked(repository, (root) => git.head(root, signal), command)
      const ground: Ground = { folder, watched, repository, head, headTurn: turn, kept: new Map(), stale: new Set(), unkept: new Set(), isBehind: false }
      await watched.take()
      await keep(ground, session, await atStake(ground, command), { isAnew: true })
      return ground
    } catch (error) {
      watched.close()
      throw error
    }
  }

  /** Files that no commit holds as they are. */
  async function atStake({ repository, watched }: Ground, command: Command): Promise<readonly string[]> {
    return (await asked(repository, (root) => git.uncommitted(root, command.signal), command)) ?? [...watched.files()]
  }

  /** What others changed since the last command is theirs: keep it as it is now. */
  async function keepNews(ground: Ground, command: Command): Promise<void> {
    const { session, turn, signal } = command
    const { changes, isWhole } = await ground.watched.take()
    const isKnown = isWhole && !ground.isBehind
    if (!isKnown) {
      ground.kept.clear()
      ground.unkept.clear()
      ground.isBehind = false
    }
    const paths = isKnown ? [...new Set([...changes.map(({ path }) => path), ...ground.stale])] : await atStake(ground, command)
    ground.stale.clear()
    await keep(ground, session, paths, { isAnew: true })
    if (ground.headTurn !== turn || !isKnown) {
      ground.head = await asked(ground.repository, (root) => git.head(root, signal), command)
      ground.headTurn = turn
    }
  }

  /** Gives how many could not be kept. */
  async function keep(ground: Ground, session: Session, paths: readonly string[], { isAnew }: { readonly isAnew: boolean }): Promise<{ readonly tooLarge: number; readonly tooMany: number }> {
    const wanted = [...new Set(paths)].filter((path) => !isSecret(path) && (isAnew || !ground.kept.has(path)))
    const queue = wanted.slice(0, MAX_KEPT_FILES)
    const leave = (path: string) => {
      ground.kept.delete(path)
      ground.unkept.add(path)
    }
    wanted.slice(MAX_KEPT_FILES).forEach(leave)
    let bytes = 0
    let tooLarge = 0
    const reader = async () => {
      for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
        const read = bytes > MAX_KEPT_BYTES ? undefined : await readSmall(session, path)
        const image = read === undefined ? undefined : read === null ? null : await keepSmall(session, read)
        if (image === undefined) {
          tooLarge += 1
          leave(path)
          continue
        }
        bytes += read?.length ?? 0
        ground.unkept.delete(path)
        ground.kept.set(path, image)
      }
    }
    const tooMany = wanted.length - queue.length
    await Promise.all(Array.from({ length: READERS }, reader))
    return { tooLarge, tooMany }
  }

  /** Undefined: there is no room for it. The others are kept all the same. */
  async function keepSmall(session: Session, bytes: Uint8Array): Promise<Image | undefined> {
    try {
      return await images.keepBytes(session, bytes)
    } catch (error) {
      logger.warn('A file could not be kept before a command.', { error: String(error) })
      return undefined
    }
  }

  /** Undefined: too large. Null: no plain file. */
  async function readSmall(session: Session, path: string): Promise<Uint8Array | null | undefined> {
    try {
      return await images.readBytes(session, path, MAX_KEPT_FILE_BYTES)
    } catch {
      // Too large by far, or a file that may not be read: nothing that could be put back.
      return undefined
    }
  }

  /** `told`: files that the call itself put up for review. */
  async function found(ground: Ground, command: Command, told: ReadonlySet<string>): Promise<void> {
    const { session, callId, destroys } = command
    const { changes, isWhole } = await ground.watched.take()
    const extra = destroys ? touched(session).filter((path) => !changes.some((change) => change.path === path)).map((path) => ({ path, wasThere: true })) : []
    const all = [...changes, ...extra].filter(({ path }) => !isSecret(path))
    const { kept, unkept, stale } = ground
    const unknown = all.filter(({ path, wasThere }) => wasThere && !kept.has(path) && !unkept.has(path)).map(({ path }) => path)
    const held = await committed(ground, unknown, command)
    const touchedNow: Touched[] = []
    for (const { path, wasThere } of all) {
      stale.add(path)
      if (told.has(path)) continue
      const blob = held?.get(path)
      if (kept.has(path)) touchedNow.push({ path, before: kept.get(path) ?? null })
      else if (!wasThere) touchedNow.push({ path, before: null })
      // Not what a commit holds: that would take the person's own changes back too.
      else if (unkept.has(path)) touchedNow.push({ path })
      else if (blob !== undefined) touchedNow.push(withBefore(path, await keepSmall(session, blob)))
      // What moved with the commit that is checked out is safe in the repository.
      else if (held !== null) touchedNow.push({ path })
    }
    const more = touchedNow.length - MAX_FOUND_FILES
    ground.isBehind ||= !isWhole
    if (!isWhole && held !== null) limited(command, 'too-many-found')
    else if (more > 0) limited(command, 'too-many-found', more)
    await recorder.note(session, callId, touchedNow.slice(0, MAX_FOUND_FILES), { isFound: true, isCounted: true })
  }

  /** Contents before the command of files that no one kept, from the commit that was checked out; null when another one is now. */
  async function committed(ground: Ground, paths: readonly string[], command: Command): Promise<ReadonlyMap<string, Uint8Array> | null> {
    const { repository, head } = ground
    // A stop of the command does not keep what it did from being seen.
    const signal = command.signal.aborted ? new AbortController().signal : command.signal
    if (command.usesGit) {
      const now = await asked(repository, (root) => git.head(root, signal), command)
      ground.head = now
      if (repository.root !== null && now !== head) return null
    }
    if (head === null || paths.length === 0) return new Map()
    const contents = await asked(repository, (root) => git.contents(root, head, paths.slice(0, MAX_FOUND_FILES), signal), command)
    return new Map([...(contents ?? [])].filter(([, bytes]) => !isPointer(bytes)))
  }
}

const toldBy = ({ session, callId }: Command, from: number): ReadonlySet<string> =>
  new Set(session.events(from).flatMap((event) => (event.type === 'fs/before-image' && event.data.callId === callId ? [event.data.path] : [])))

const withBefore = (path: string, before: Image | undefined): Touched => (before === undefined ? { path } : { path, before })

/** Of a large file that the repository holds elsewhere. Source: Git LFS, "The Pointer". */
const isPointer = (bytes: Uint8Array): boolean => bytes.length < 1_024 && new TextDecoder().decode(bytes.subarray(0, 40)).startsWith('version https://git-lfs.github.com/')
