import { Emitter } from '../../../base/emitter.ts'
import { nameOf } from '../../../base/folders.ts'
import { messageOf } from '../../../base/message-of.ts'
import { clipped } from '../../../base/text.ts'
import type { Logger } from '../../../capabilities/logger.ts'
import type { WorktreeRecord, WorktreeStore } from '../../../capabilities/worktree-store.ts'
import type { EventDraft } from '../../../core/log/event.ts'
import type { Session } from '../../../core/session/session.ts'
import type { Reviews } from '../../checkpoints/service.ts'
import type { GitWorktrees } from './git-worktrees.ts'
import { WorktreeError, type ChangedFile, type ChildWorktree, type WorktreeEnd, type WorktreeRequest, type Worktrees } from './service.ts'
import { worktreesIn, type KnownWorktree } from './state.ts'

export interface WorktreesParts {
  readonly git: GitWorktrees
  readonly store: WorktreeStore
  readonly logger: Logger
  readonly newId: () => string
  readonly reviews: () => Pick<Reviews, 'compare' | 'takeOver'> | undefined
  /** Read at each start. */
  readonly includesUncommitted: () => boolean
}

export interface WorktreesBook extends Worktrees {
  /** After a crash: what children of a session left open is put in order. Never rejects. */
  mend(session: Session): Promise<void>
  /** A session is gone for good: what its children left goes too. Never rejects. */
  drop(sessionId: string): Promise<void>
  /** Takes away what belongs to no session any more. Never rejects. */
  sweep(isThere: (sessionId: string) => boolean): Promise<void>
  changed(sessionId: string): void
}

/** UTF-16 units of a label in the name of a branch. */
const MAX_SLUG = 40

export function createWorktrees({ git, store, logger, newId, reviews, includesUncommitted }: WorktreesParts): WorktreesBook {
  const changes = new Emitter<string>((error) => logger.error('A listener of the worktrees failed.', { error: String(error) }))
  /** At work in this process, by id. */
  const atWork = new Set<string>()
  const turns = new Map<string, Promise<unknown>>()
  /** What ends or is taken away is not given up half way, whoever stops meanwhile. */
  const always = () => new AbortController().signal

  /** One thing of a worktree after the other. */
  async function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const turn = (turns.get(id) ?? Promise.resolve()).catch(() => {}).then(work)
    turns.set(id, turn)
    try {
      return await turn
    } finally {
      if (turns.get(id) === turn) turns.delete(id)
    }
  }

  /** Never throws: what the log takes no note of is put in order at the next start. */
  function log(session: Session, event: EventDraft<'worktree/waiting' | 'worktree/closed'>): void {
    try {
      if (session.access === 'write') session.append({ ...event, ignorable: true })
    } catch (error) {
      logger.warn('The log takes no note of what became of a worktree.', { id: event.data.id, error: String(error) })
    }
  }

  async function create({ parent, runId, label, callId, mayReturn, signal }: WorktreeRequest): Promise<ChildWorktree> {
    const { session } = parent
    const cwd = session.header.cwd
    if (cwd === undefined || /^[a-z][\w+.-]+:\/\//i.test(cwd)) throw new WorktreeError('NOT_A_REPOSITORY', 'A worktree needs a session that works in a folder of this machine. Start the agent without a worktree.')
    const repository = await git.find(cwd, signal)
    const id = newId().slice(0, 12)
    const root = `${store.folder}/${id}/${nameOf(repository.top) || 'work'}`
    const branch = `bosun/${slug(label)}-${id.slice(0, 6)}`
    const record: WorktreeRecord = { version: 1, id, sessionId: session.id, repository: repository.top, root, branch }
    try {
      await store.put(record)
      const base = includesUncommitted() ? await git.snapshot(id, repository, signal) : repository.head
      const { gitDir } = await git.add(repository, { root, branch, base }, signal)
      session.append({ type: 'worktree/opened', data: { id, label, runId, ...(callId !== undefined && { callId }), ...(mayReturn === true && { mayReturn }), repository: repository.top, root, gitDir, branch, base }, ignorable: true })
    } catch (error) {
      await takeAway(record, branch)
      throw isDiskFull(error) ? new WorktreeError('NO_SPACE', 'There is no room for the worktree. Free some space on the disk, then try again.', { cause: error }) : error
    }
    atWork.add(id)
    changes.emit(session.id)
    const folder = repository.prefix === '' ? root : `${root}/${repository.prefix.replace(/\/$/, '')}`
    return handleOf(session, record, folder)
  }

  async function end(session: Session, id: string): Promise<'removed' | 'kept'> {
    atWork.delete(id)
    const known = worktreesIn(session.milestones()).get(id)
    if (known === undefined || known.phase === 'closed') return 'removed'
    try {
      const left = await git.commit(known, known, always())
      if (left === null && known.commit === undefined && known.mayReturn !== true) {
        await takeAway({ ...known, sessionId: session.id, version: 1 }, known.branch)
        log(session, { type: 'worktree/closed', data: { id, how: 'unchanged' } })
        return 'removed'
      }
      if (left !== null && left.commit !== known.commit) log(session, { type: 'worktree/waiting', data: { id, ...left } })
    } catch (error) {
      logger.warn('The end of a worktree could not be put in order.', { id, root: known.root, error: String(error) })
      log(session, { type: 'worktree/waiting', data: { id, files: known.files, ...(known.commit !== undefined && { commit: known.commit }), problem: messageOf(error) } })
    } finally {
      changes.emit(session.id)
    }
    return 'kept'
  }

  const handleOf = (session: Session, record: WorktreeRecord, folder: string): ChildWorktree => ({
    id: record.id,
    folder,
    branch: record.branch,
    end: () => inTurn(record.id, () => end(session, record.id)),
    discard: () => inTurn(record.id, () => discard(session, record)),
  })

  async function discard(session: Session, record: WorktreeRecord): Promise<void> {
    atWork.delete(record.id)
    await takeAway(record, record.branch)
    log(session, { type: 'worktree/closed', data: { id: record.id, how: 'unchanged' } })
    changes.emit(session.id)
  }

  /** Never rejects: what cannot be taken away is tried again at the next start. */
  async function takeAway({ id, repository, root }: WorktreeRecord, branch: string | null): Promise<void> {
    try {
      await git.remove({ repository, root, branch }, always()).catch((error: unknown) => {
        // A repository that is gone holds nothing of it.
        logger.info('A worktree could not be taken out of its repository.', { repository, root, error: String(error) })
        if (!(error instanceof WorktreeError) || error.code !== 'GIT_UNAVAILABLE') throw error
      })
      await store.remove(id)
    } catch (error) {
      logger.warn('A worktree could not be taken away.', { root, error: String(error) })
    }
  }

  function waitingOne(session: Session, id: string): KnownWorktree & { readonly commit: string } {
    const known = worktreesIn(session.milestones()).get(id)
    if (known === undefined || known.phase === 'closed') throw new WorktreeError('WORKTREE_GONE', 'This worktree is gone already.')
    const { commit } = known
    if (commit === undefined) throw new WorktreeError('WORKTREE_GONE', `What the child left in ${known.root} stands in no commit${known.problem === undefined ? '' : ` (${known.problem})`}. Look at the folder itself, or discard it.`)
    return { ...known, commit }
  }

  async function filesOf(session: Session, id: string): Promise<readonly ChangedFile[]> {
    const { repository, base, commit } = waitingOne(session, id)
    return await git.changes(repository, base, commit, always())
  }

  const sideOf = async ({ repository, base, commit }: KnownWorktree & { readonly commit: string }, { path, target }: ChangedFile) => {
    const [before, after] = await Promise.all([git.content(repository, base, path, always()), git.content(repository, commit, path, always())])
    return { path: target, base: before, theirs: after }
  }

  const reviewing = () => {
    const service = reviews()
    if (service === undefined) throw new WorktreeError('WORKTREE_FAILED', 'Nothing keeps what stands in files before a change here, so nothing is taken over. Keep the branch, and merge it with git.')
    return service
  }

  const callOf = ({ callId, id }: KnownWorktree) => callId ?? `worktree-${id}`

  return {
    create,
    of(session, childFolder) {
      const known = [...worktreesIn(session.milestones()).values()].find(({ root }) => childFolder === root || childFolder.startsWith(`${root}/`))
      if (known === undefined) return undefined
      if (known.phase === 'closed') throw new WorktreeError('WORKTREE_GONE', 'The worktree of this agent was taken away, so it cannot go on. Start another one.')
      atWork.add(known.id)
      return handleOf(session, { ...known, version: 1, sessionId: session.id }, childFolder)
    },
    waiting: (session) => [...worktreesIn(session.milestones()).values()].filter(({ phase, id }) => phase === 'waiting' && !atWork.has(id)),
    files: filesOf,
    async file(session, id, path) {
      const known = waitingOne(session, id)
      const changed = (await filesOf(session, id)).find((file) => file.path === path)
      if (changed === undefined) return null
      return { ...(await reviewing().compare(session, await sideOf(known, changed))), changed }
    },
    accept: (session, id, what) =>
      inTurn(id, async () => {
        const known = waitingOne(session, id)
        const all = await filesOf(session, id)
        const paths = 'paths' in what ? what.paths : [what.path]
        const sides = []
        const problems: { path: string; problem: string }[] = []
        for (const path of paths) {
          const changed = all.find((file) => file.path === path)
          if (changed === undefined) problems.push({ path, problem: 'The child did not change it.' })
          else if (changed.special === 'other') problems.push({ path: changed.target, problem: `It is a link or a submodule. Keep the branch ${known.branch}, and take it over with git.` })
          else {
            const side = await sideOf(known, changed).catch((error: unknown) => void problems.push({ path: changed.target, problem: messageOf(error) }))
            if (side !== undefined) sides.push({ ...side, ...('hunks' in what && { hunks: what.hunks }) })
            if (changed.special === 'executable') problems.push({ path: changed.target, problem: 'It was made executable, which is not taken over.' })
          }
        }
        const outcome = await reviewing().takeOver(session, callOf(known), sides)
        changes.emit(session.id)
        return { ...outcome, problems: [...problems, ...outcome.problems] }
      }),
    close: (session, id, { keepsBranch, isDone = false }) =>
      inTurn(id, async () => {
        const known = worktreesIn(session.milestones()).get(id)
        if (known === undefined || known.phase === 'closed') throw new WorktreeError('WORKTREE_GONE', 'This worktree is gone already.')
        if (session.access !== 'write') throw new WorktreeError('WORKTREE_FAILED', 'This session can only be read here. Open it for writing first.')
        await takeAway({ ...known, sessionId: session.id, version: 1 }, keepsBranch ? null : known.branch)
        const how: WorktreeEnd = keepsBranch ? 'branch-kept' : isDone ? 'taken-over' : 'discarded'
        log(session, { type: 'worktree/closed', data: { id, how } })
        changes.emit(session.id)
      }),
    onDidChange: changes.listen,
    changed: (sessionId) => changes.emit(sessionId),

    async mend(session) {
      if (session.access !== 'write') return
      const known = worktreesIn(session.milestones())
      for (const { id, phase, problem } of known.values()) if ((phase === 'open' || (phase === 'waiting' && problem !== undefined)) && !atWork.has(id)) await inTurn(id, () => end(session, id)).catch((error: unknown) => logger.warn('A worktree that a crash left could not be put in order.', { id, error: String(error) }))
      const records = await listed()
      for (const record of records) {
        const one = known.get(record.id)
        if (record.sessionId === session.id && !atWork.has(record.id) && (one === undefined || one.phase === 'closed')) await takeAway(record, one === undefined ? record.branch : null)
      }
    },
    async drop(sessionId) {
      for (const record of await listed()) if (record.sessionId === sessionId && !atWork.has(record.id)) await takeAway(record, record.branch)
    },
    async sweep(isThere) {
      for (const record of await listed()) if (!atWork.has(record.id) && !isThere(record.sessionId)) await takeAway(record, record.branch)
    },
  }

  async function listed(): Promise<readonly WorktreeRecord[]> {
    try {
      return await store.list()
    } catch (error) {
      logger.warn('Which worktrees are left could not be found out.', { error: String(error) })
      return []
    }
  }
}

/** What git lets be part of a name of a branch. */
function slug(label: string): string {
  const plain = label.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '')
  return clipped(plain === '' ? 'task' : plain, MAX_SLUG).replace(/[-…]+$/, '')
}

const isDiskFull = (error: unknown): boolean => error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
