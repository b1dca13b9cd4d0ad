import { FileError, type Expectation, type FileStat, type FileTarget, type FileVersion } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import { createSeenTexts } from './seen-texts.ts'
import { textFromLog } from './text-from-log.ts'
import type { EditIntent, Observations } from './service.ts'

/** Null: seen to be absent. */
type Seen = FileVersion | null

interface Sight {
  /** Canonical, with its own spelling of upper and lower case. */
  readonly path: string
  readonly version: Seen
}

/** UTF-16 units of texts that are kept to tell what changed in a file since it was read; of all sessions together. */
const MAX_SEEN_CHARS = 4 * 1024 * 1024

/** What a failure told the model of a file; it has seen that once its next step has begun. */
interface Disclosure {
  readonly version: FileVersion
  /** Events of the session at the time. */
  readonly length: number
}

interface SessionSights {
  /** By the file's key; by its path what comes from the log or was renamed. */
  readonly seen: Map<string, Sight>
  readonly disclosed: Map<string, Disclosure>
}

export interface ObservationStore extends Observations {
  writeIntent(agent: Agent | undefined, target: FileTarget, stat: FileStat | null): Expectation
  editIntent(agent: Agent | undefined, target: FileTarget): EditIntent
  /** What was seen under `from`, a file or a folder, is now known under `to`. */
  rename(from: string, to: string): void
  /** Forget a session that closed; its log still knows. */
  forget(session: Session): void
}

/**
 * The stale-read guard: per session and file, unseen, seen at a version, or seen to be absent.
 *
 * Kept in memory by the file's key and in the log as `fs/observed`, written on the first sight and on a change only.
 * A resumed session starts from its log. Calls without an agent can create files, never change them.
 * `onObserved` is told of every sight; a failing append is reported and does not fail the call, whose effect has happened.
 */
export function createObservations(options: {
  readonly logger: Logger
  readonly onObserved: (news: { readonly agent?: Agent; readonly target: FileTarget; readonly version: Seen }) => void
}): ObservationStore {
  const sessions = new Map<Session, SessionSights>()
  const texts = createSeenTexts(MAX_SEEN_CHARS)

  const sightsOf = (session: Session) => {
    let sights = sessions.get(session)
    if (sights === undefined) {
      sights = { seen: restored(session), disclosed: new Map() }
      sessions.set(session, sights)
    }
    return sights
  }
  /** A restored entry stands under the path, a live one under the key; the live one is newer. */
  const lookUp = (agent: Agent | undefined, { key, path }: FileTarget): Seen | undefined => {
    if (agent === undefined) return undefined
    const { seen, disclosed } = sightsOf(agent.session)
    const told = disclosed.get(key)
    // Calls that the model made beside the one that failed were written without knowing of the change.
    if (told !== undefined && agent.session.events(told.length).some(({ type }) => type === 'step/start')) {
      disclosed.delete(key)
      seen.set(key, { path, version: told.version })
      append(agent.session, path, told.version)
    }
    return (seen.get(key) ?? seen.get(path))?.version
  }
  const append = (session: Session, path: string, version: Seen) => {
    try {
      session.append({ type: 'fs/observed', data: { path, version }, ignorable: true })
    } catch (error) {
      options.logger.warn('A file observation could not be logged; a resumed session will have to read the file again.', { error: String(error) })
    }
  }

  return {
    observe(agent, target, state) {
      const version = state === 'absent' ? null : state.version
      if (state !== 'absent' && state.text !== undefined) texts.keep(state.version, state.text)
      if (agent !== undefined) {
        const isNew = lookUp(agent, target) !== version
        const { seen, disclosed } = sightsOf(agent.session)
        disclosed.delete(target.key)
        if (isNew) {
          seen.set(target.key, { path: target.path, version })
          append(agent.session, target.path, version)
        }
      }
      options.onObserved({ ...(agent && { agent }), target, version })
    },

    async textOf(agent, version) {
      return texts.get(version) ?? (agent && (await textFromLog(agent.session, version)))
    },

    disclose(agent, target, { version, text }) {
      texts.keep(version, text)
      if (agent !== undefined) sightsOf(agent.session).disclosed.set(target.key, { version, length: agent.session.length })
    },

    writeIntent(agent, target, stat) {
      const seen = lookUp(agent, target)
      if (typeof seen === 'string') {
        if (stat === null) throw vanished(target)
        return { kind: 'version', version: seen }
      }
      if (stat !== null) throw seen === null ? appeared(target) : notRead(target)
      return { kind: 'absent' }
    },

    editIntent(agent, target) {
      const seen = lookUp(agent, target)
      if (seen === undefined) throw notRead(target)
      if (seen === null) throw target.exists ? appeared(target) : notThere(target)
      if (!target.exists) throw vanished(target)
      return { version: seen }
    },

    rename(from, to) {
      for (const [session, { seen }] of sessions) {
        const moves = [...seen].flatMap(([key, { path, version }]) => {
          const moved = movedPath(path, from, to)
          return moved === undefined ? [] : [{ key, moved, version }]
        })
        for (const { key } of moves) seen.delete(key)
        for (const { moved, version } of moves) {
          // What was seen of a file that stood there before says nothing of this one.
          for (const [key, { path }] of [...seen]) if (path === moved) seen.delete(key)
          seen.set(moved, { path: moved, version })
          append(session, moved, version)
        }
      }
    },

    forget: (session) => void sessions.delete(session),
  }
}

function restored(session: Session): Map<string, Sight> {
  const seen = new Map<string, Sight>()
  for (const event of session.events()) {
    // The version was minted by a file system of an earlier run; it compares equal only for the same contents.
    if (event.type === 'fs/observed') seen.set(event.data.path, { path: event.data.path, version: event.data.version as Seen })
  }
  return seen
}

function movedPath(path: string, from: string, to: string): string | undefined {
  if (path === from) return to
  const rest = path.slice(from.length)
  return path.startsWith(from) && /^[\\/]/.test(rest) ? to + rest : undefined
}

const notRead = ({ spelling, exists }: FileTarget) =>
  new FileError(
    'FS_NOT_OBSERVED',
    exists
      ? `${spelling} exists and has not been read in this session. Read it first, then try again.`
      : `${spelling} has not been read in this session, and no file is there. Check the path with glob, or create it with write.`,
  )
const appeared = ({ spelling }: FileTarget) =>
  new FileError('FS_NOT_OBSERVED', `${spelling} did not exist when you last looked, but it does now. Read it first, then try again.`)
const vanished = ({ spelling }: FileTarget) =>
  new FileError('FS_STALE_VERSION', `${spelling} was deleted or moved since you read it. Read it again to see what is there now, then decide.`)
const notThere = ({ spelling }: FileTarget) =>
  new FileError('FS_NOT_FOUND', `${spelling} does not exist, so there is nothing to edit. Create it with write.`)
