import { Emitter } from '../../base/emitter.ts'
import { encodeText, utf8 } from '../../base/encoding.ts'
import { messageOf } from '../../base/message-of.ts'
import { FileError, type ChangeOutcome, type FileSystem, type FileVersion, type TextReplacement } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Session } from '../../core/session/session.ts'
import { baselineOf, rebased, type Baseline } from './baseline.ts'
import type { Image, SettledFile } from './events.ts'
import type { Images, Now } from './images.ts'
import { applyLineEdits, isSame, joinLines, type LineEdit } from './line-merge.ts'
import type { FileStep, FileUnderReview, ReviewView } from './projection.ts'
import type { FileReview, HunkPlace, ReviewOutcome, Reviews, ReviewTarget, UndoPlan, UndoTarget } from './service.ts'
import { agentsText, hunksOf, liveBaseline, planUndo, reviewOf, sameHunk, type FilePlan } from './undo-plan.ts'

export interface ReviewsParts {
  readonly files: Pick<FileSystem, 'readText' | 'editText' | 'putBytes'>
  readonly images: Images
  readonly logger: Logger
  /** Waits until what calls changed so far is in the log. */
  readonly settled: (session: Session) => Promise<void>
  /** The model hears of an undo. `files`: lines for it. */
  readonly tell: (session: Session, undone: readonly UndoneFile[]) => void
}

/** What the review does to files that nobody of this session changed. */
type OwnReviews = Omit<Reviews, 'compare' | 'takeOver'>

export interface UndoneFile {
  readonly path: string
  readonly what: 'gone' | 'back' | 'whole' | 'part' | 'of-agents'
}

/** Run work when those before it in a session are over and all that calls changed is in the log. */
export type InTurn = <T>(session: Session, work: () => Promise<T>) => Promise<T>

/** Words why a file stays as it is. */
const GONE = 'What stood there before is not kept any more.'
const PARTLY = 'What stood there before some of the changes could not be kept, so these stay.'
const MOVED = 'It changed at this very moment. Look at it again, then repeat it.'

/** A file with everything that an action needs to know about it. */
interface Situation {
  readonly file: FileUnderReview | undefined
  readonly now: Now & { readonly lines: readonly string[] }
  /** Without all changes that wait; null where none does. */
  readonly pending: Baseline | null
}

export function createReviews({ files, images, logger, settled, tell }: ReviewsParts): OwnReviews & { readonly changed: (sessionId: string) => void; readonly inTurn: InTurn } {
  const changes = new Emitter<string>((error) => logger.error('A listener of the review failed.', { error: String(error) }))
  const turns = new Map<string, Promise<unknown>>()

  /** One action of a session after the other. */
  async function inTurn<T>(session: Session, work: () => Promise<T>): Promise<T> {
    const previous = turns.get(session.id)
    const turn = (async () => {
      await previous?.catch(() => {})
      await settled(session)
      return await work()
    })()
    turns.set(session.id, turn)
    try {
      return await turn
    } finally {
      if (turns.get(session.id) === turn) turns.delete(session.id)
    }
  }

  const of = (session: Session) => (session.projections().values['review'] as ReviewView | undefined) ?? { files: [], turns: [] }
  const underReview = (session: Session, path: string) => of(session).files.find((file) => file.path === path)

  return {
    of,
    inTurn,
    changed: (sessionId) => changes.emit(sessionId),
    onDidChange: changes.listen,

    async file(session, path) {
      await settled(session)
      const file = underReview(session, path)
      if (file === undefined) return null
      try {
        const now = await images.look(session, path)
        const baseline = now.lines === null ? null : await baselineOf(file.steps, file.base, (image) => images.lines(session, now.target, image))
        if (now.lines !== null && baseline !== null) return reviewOf(path, baseline, { image: now.image, lines: now.lines })
        return { ...noText(path), isChanged: now.image !== firstImage(file.steps) }
      } catch (error) {
        logger.debug('A file under review could not be read.', { path, error: String(error) })
        return noText(path)
      }
    },

    plan: (session, target) =>
      inTurn(session, async () => {
        const plan: { paths: string[]; conflicts: string[]; problems: { path: string; problem: string }[] } = { paths: [], conflicts: [], problems: [] }
        for (const path of pathsOf(session, target)) {
          const found = await planFile(session, path, target, false).catch((error: unknown) => ({ problem: messageOf(error) }))
          if ('problem' in found) plan.problems.push({ path, problem: found.problem })
          else if (found.plan === null && meantSteps(session, found.situation.file, path, target).some(({ before }) => before === undefined)) plan.problems.push({ path, problem: GONE })
          else if (found.plan !== null) {
            if (found.plan.hasConflict) plan.conflicts.push(path)
            if (changesSomething(found.plan)) plan.paths.push(path)
          }
        }
        return plan satisfies UndoPlan
      }),

    undo: (session, target, { overConflicts = false } = {}) =>
      inTurn(session, async () => {
        const done: (SettledFile & { readonly before: Image; readonly after: Image })[] = []
        const told: UndoneFile[] = []
        const outcome = await each(session, target, async (path) => {
          const found = await planFile(session, path, target, overConflicts)
          if ('problem' in found) return { problem: found.problem }
          const { plan, situation } = found
          const { image } = situation.now
          const isUnknown = target.kind !== 'hunk' && meantSteps(session, situation.file, path, target).some(({ before }) => before === undefined)
          // Nobody kept what stood there, so nothing says that it is back.
          if (plan === null && isUnknown) return { problem: GONE }
          if (plan === null && situation.file !== undefined && target.kind !== 'hunk') {
            // Nothing is left of it, whoever took it back.
            const nothing: FilePlan = { edits: [], lines: situation.now.lines, isGone: image === null, hasConflict: false }
            done.push({ ...(await settledBy(session, path, { situation, plan: nothing, target, after: image })), before: image, after: image })
          }
          if (plan === null || !changesSomething(plan)) return { hasConflict: plan?.hasConflict === true }
          const after = await apply(session, situation.now, plan)
          done.push({ ...(await settledBy(session, path, { situation, plan, target, after })), before: image, after })
          told.push({ path, what: after === null ? 'gone' : image === null ? 'back' : plan.hasConflict || target.kind === 'hunk' ? 'part' : 'whole' })
          return { hasConflict: plan.hasConflict, ...(isUnknown && { problem: PARTLY, isDone: true }) }
        })
        if (done.length > 0) {
          const turn = 'turn' in target ? target.turn : undefined
          session.append({ type: 'review/undone', data: { scope: target.kind, ...(turn !== undefined && { turn }), files: done }, ignorable: true })
          if (told.length > 0) tell(session, told)
        }
        return { ...outcome, paths: told.map(({ path }) => path) }
      }),

    async turnStart(session, turn) {
      await settled(session)
      const found = [...stepsSince(session, turn)].flatMap(([path, steps]) => {
        const first = steps.find((step) => step.turn === turn)
        return first?.before === undefined ? [] : [{ path, before: first.before }]
      })
      const texts = await Promise.all(
        found.map(async ({ path, before }) => {
          const lines = await images.linesOf(session, path, before)
          return lines === null ? [] : [{ path, before: before === null ? null : joinLines(lines) }]
        }),
      )
      return texts.flat()
    },

    keep: (session, target) =>
      inTurn(session, async () => {
        const done: SettledFile[] = []
        const outcome = await each(session, target, async (path) => {
          const kept = await keepFile(session, path, target)
          if ('problem' in kept) return kept
          done.push(kept)
          return {}
        })
        if (done.length > 0) session.append({ type: 'review/kept', data: { files: done }, ignorable: true })
        return { ...outcome, paths: done.map(({ path }) => path) }
      }),
  }

  /** One file after the other; what keeps one from it is told and leaves the others. */
  async function each(session: Session, target: UndoTarget, work: (path: string) => Promise<{ readonly problem?: string; readonly hasConflict?: boolean; readonly isDone?: boolean }>): Promise<ReviewOutcome> {
    const conflicts: string[] = []
    const done = new Set<string>()
    const problems = new Map<string, string>()
    const attempt = async (path: string): Promise<void> => {
      problems.delete(path)
      try {
        let result
        try {
          result = await work(path)
        } catch (error) {
          // Somebody changed it between the look and the change: look once more.
          if (!isStale(error)) throw error
          result = await work(path)
        }
        if (result.problem !== undefined) problems.set(path, result.problem)
        if (result.hasConflict === true) conflicts.push(path)
        if (result.isDone === true) done.add(path)
      } catch (error) {
        problems.set(path, isStale(error) ? MOVED : messageOf(error))
      }
    }
    const paths = pathsOf(session, target)
    for (const path of paths) await attempt(path)
    // What stood in the way of one, such as a file in the place of its folder, may have been another, which is gone now.
    if (problems.size < paths.length) for (const path of [...problems.keys()].filter((one) => !done.has(one))) await attempt(path)
    return { paths: [], conflicts, problems: [...problems].map(([path, problem]) => ({ path, problem })) }
  }

  function pathsOf(session: Session, target: UndoTarget): readonly string[] {
    switch (target.kind) {
      case 'hunk':
      case 'file':
        return [target.path]
      case 'since':
        return [...stepsSince(session, target.turn, target.from).keys()]
      default:
        return of(session).files.filter((file) => stepsMeant(file, target).length > 0).map(({ path }) => path)
    }
  }

  async function situationOf(session: Session, path: string): Promise<Situation | { readonly now: Now; readonly file: FileUnderReview | undefined }> {
    const now = await images.now(session, path)
    const file = underReview(session, path)
    const { lines } = now
    if (lines === null) return { now, file }
    const pending = file === undefined ? null : await baselineOf(file.steps, file.base, (image) => images.lines(session, now.target, image))
    if (file !== undefined && pending === null) return { now, file }
    return { file, now: { ...now, lines }, pending }
  }

  async function planFile(session: Session, path: string, target: UndoTarget, isForced: boolean): Promise<{ readonly plan: FilePlan | null; readonly situation: Situation } | { readonly problem: string }> {
    const situation = await situationOf(session, path)
    const steps = meantSteps(session, situation.file, path, target)
    if (!('pending' in situation)) return planOfBytes(session, situation.now, steps, isForced)
    const { file, now, pending } = situation
    if (target.kind !== 'since' && (file === undefined || pending === null)) return { plan: null, situation }
    if (target.kind === 'hunk') return { plan: pending === null ? null : planHunk(pending, now, target.hunk, isForced), situation }
    const isAll = target.kind === 'since' || file === undefined || target.kind === 'file' || target.kind === 'all' || (file.base === null && file.steps.length === steps.length)
    const baseline = isAll && target.kind !== 'since' ? pending : await baselineOf(steps, null, (image) => images.lines(session, now.target, image))
    if (baseline === null) return { problem: GONE }
    return { plan: planUndo({ baseline, now, within: isAll || pending === null ? null : hunksOf(pending, now), isForced }), situation }
  }

  function planHunk(pending: Baseline, now: Situation['now'], place: HunkPlace, isForced: boolean): FilePlan | null {
    const hunk = sameHunk(hunksOf(pending, now), place)
    if (hunk === undefined) throw new Error(MOVED)
    if (hunk.isMixed && !isForced) return { edits: [], lines: now.lines, isGone: false, hasConflict: true }
    const edits = [{ from: hunk.from, to: hunk.to, lines: hunk.removed }]
    const lines = applyLineEdits(now.lines, edits)
    return { edits, lines, isGone: pending.isAbsent && lines.length === 0, hasConflict: false }
  }

  /** What is no text is taken back as a whole, or not at all. */
  async function planOfBytes(session: Session, now: Now, steps: readonly FileStep[], isForced: boolean): Promise<{ readonly plan: FilePlan | null; readonly situation: Situation } | { readonly problem: string }> {
    const before = firstImage(steps)
    const last = steps.at(-1)?.after
    if (before === undefined || last === undefined || (before !== null && (await images.bytes(session, before)) === null)) return { problem: GONE }
    const situation: Situation = { file: underReview(session, now.target.path), now: { ...now, lines: [] }, pending: null }
    if (now.image === before) return { plan: null, situation }
    const isMine = now.image === last || isForced
    return { plan: isMine ? { edits: [], lines: [], isGone: before === null, hasConflict: false, exact: before } : { edits: [], lines: [], isGone: false, hasConflict: true }, situation }
  }

  /** Gives the image of the file as it is then. Errors: `FileError`. */
  async function apply(session: Session, now: Situation['now'], plan: FilePlan): Promise<Image> {
    const { target, version } = now
    const expect = version === null ? ({ kind: 'absent' } as const) : ({ kind: 'version', version } as const)
    if (plan.isGone) {
      await files.putBytes({ target, bytes: null, expect })
      return null
    }
    const isNew = now.bytes === null || version === null
    if (plan.exact !== undefined) {
      const bytes = await images.bytes(session, plan.exact)
      if (bytes === null) throw new Error(GONE)
      if (isNew || plan.edits.length === 0 || (await files.readText(target, { maxBytes: Number.MAX_SAFE_INTEGER })).source === 'disk') {
        await files.putBytes({ target, bytes, expect })
      } else {
        // In an open document it is one stop of its undo; what a text cannot say (a mark, line ends) is put below it.
        const changed = await edit(target, now, plan.edits, version)
        if (changed.version !== `sha256:${plan.exact}` && !changed.isUnsaved) await files.putBytes({ target, bytes, expect: { kind: 'version', version: changed.version } })
      }
      return await images.keep(session, target.path)
    }
    if (isNew) {
      const encoded = encodeText(joinLines(plan.lines), utf8, false)
      if ('unencodable' in encoded) throw new Error(GONE)
      await files.putBytes({ target, bytes: encoded.bytes, expect })
    } else await edit(target, now, plan.edits, version)
    return await images.keep(session, target.path)
  }

  function edit(target: Now['target'], now: Situation['now'], edits: readonly LineEdit[], version: FileVersion): Promise<ChangeOutcome> {
    return files.editText({ target, replacements: replacementsOf(now.lines, edits), expect: { kind: 'version', version }, label: 'Bosun: undo changes' })
  }

  async function settledBy(session: Session, path: string, { situation, plan, target, after }: { readonly situation: Situation; readonly plan: FilePlan; readonly target: UndoTarget; readonly after: Image }): Promise<SettledFile> {
    const { file, now, pending } = situation
    if (file === undefined || pending === null) return { path, isWhole: !plan.hasConflict, calls: [] }
    // What was kept and goes now was in the baseline too.
    const live = target.kind === 'since' ? rebased(liveBaseline(pending, now), now.lines, plan.lines) : liveBaseline(pending, now)
    const isAbsent = pending.isAbsent && live.length === 0
    if (plan.exact !== undefined && target.kind !== 'since') return { path, isWhole: true, calls: [] }
    if (isSame(live, plan.isGone ? [] : plan.lines) && isAbsent === (after === null)) return { path, isWhole: true, calls: [] }
    const calls = target.kind === 'hunk' || plan.hasConflict ? [] : callsMeant(session, file, target)
    const [baseline, current] = await Promise.all([isAbsent ? null : images.put(session, live), images.put(session, agentsText(pending, now, plan.lines))])
    return { path, isWhole: false, calls, base: { baseline, current } }
  }

  async function keepFile(session: Session, path: string, target: ReviewTarget): Promise<SettledFile | { readonly problem: string }> {
    const whole: SettledFile = { path, isWhole: true, calls: [] }
    const situation = await situationOf(session, path)
    const { file } = situation
    if (file === undefined || target.kind === 'file' || target.kind === 'all' || !('pending' in situation) || situation.pending === null) return whole
    const { now, pending } = situation
    const live = liveBaseline(pending, now)
    const kept = target.kind === 'hunk' ? keptHunk(pending, now, target.hunk) : await keptSteps(session, situation, target)
    if (kept === null) return { problem: MOVED }
    const calls = target.kind === 'hunk' ? [] : callsMeant(session, file, target)
    const isWhole = joinLines(kept.baseline) === joinLines(now.lines) || file.calls.every((id) => calls.includes(id))
    if (isWhole) return whole
    const isAbsent = pending.isAbsent && live.length === 0 && kept.baseline.length === 0
    const [baseline, current] = await Promise.all([isAbsent ? null : images.put(session, kept.baseline), images.put(session, kept.current)])
    return { path, isWhole: false, calls, base: { baseline, current } }
  }

  function keptHunk(pending: Baseline, now: Situation['now'], place: HunkPlace): Kept | null {
    const hunk = sameHunk(hunksOf(pending, now), place)
    if (hunk === undefined) return null
    const baseline = applyLineEdits(liveBaseline(pending, now), [{ from: hunk.baseFrom, to: hunk.baseTo, lines: hunk.added }])
    return { baseline, current: agentsText(pending, now, now.lines) }
  }

  /** What these calls did joins the baseline: the file as it is now over the file without them. */
  async function keptSteps(session: Session, { file, now, pending }: Situation, target: ReviewTarget): Promise<Kept | null> {
    const steps = file === undefined ? [] : stepsMeant(file, target)
    const baseline = await baselineOf(steps, null, (image) => images.lines(session, now.target, image))
    if (baseline === null || pending === null) return null
    const plan = planUndo({ baseline, now, within: hunksOf(pending, now), isForced: true })
    const without = plan?.lines ?? now.lines
    return { baseline: rebased(liveBaseline(pending, now), without, now.lines), current: agentsText(pending, now, now.lines) }
  }

  function callsMeant(session: Session, file: FileUnderReview, target: UndoTarget): readonly string[] {
    const steps = meantSteps(session, file, file.path, target)
    return [...new Set(steps.map(({ callId }) => callId))]
  }
}

interface Kept {
  readonly baseline: readonly string[]
  readonly current: readonly string[]
}

const noText = (path: string): FileReview => ({ path, baseline: null, now: null, hunks: [], isText: false, isChanged: true })

const firstImage = (steps: readonly FileStep[]): Image | undefined => steps[0]?.before

const changesSomething = ({ edits, isGone, exact }: FilePlan): boolean => edits.length > 0 || isGone || exact !== undefined

const isStale = (error: unknown): boolean => error instanceof FileError && error.code === 'FS_STALE_VERSION'

/** Changes of a file that wait and are meant. */
function stepsMeant({ steps, calls }: FileUnderReview, target: UndoTarget): readonly FileStep[] {
  const waiting = steps.filter(({ callId }) => calls.includes(callId))
  switch (target.kind) {
    case 'call':
      return waiting.filter(({ callId }) => callId === target.callId)
    case 'turn':
    case 'since':
      return waiting.filter(({ turn }) => (target.kind === 'turn' ? turn === target.turn : turn >= target.turn))
    default:
      return waiting
  }
}

/** Changes of a file that an action is about. */
function meantSteps(session: Session, file: FileUnderReview | undefined, path: string, target: UndoTarget): readonly FileStep[] {
  if (target.kind === 'since') return stepsSince(session, target.turn, target.from).get(path) ?? []
  return file === undefined ? [] : stepsMeant(file, target)
}

/** Every change of a turn and those after it, also what was settled, by file. */
function stepsSince(session: Session, turn: number, from = -Infinity): ReadonlyMap<string, readonly FileStep[]> {
  const found = new Map<string, FileStep[]>()
  let at = 0
  for (const event of session.milestones()) {
    if (event.type === 'turn/start') at = event.data.turn
    if (event.type !== 'fs/after-image' || at < turn || event.time < from) continue
    const { path, callId, before, after } = event.data
    found.set(path, [...(found.get(path) ?? []), { seq: event.seq, callId, turn: at, ...(before !== undefined && { before }), after }])
  }
  return found
}

/** Edits of whole lines as offsets into the text. */
export function replacementsOf(lines: readonly string[], edits: readonly LineEdit[]): readonly TextReplacement[] {
  const after = applyLineEdits(lines, edits)
  // A line without an end that comes to stand before others needs one, and so does what is put behind it: taken as one then.
  if (joinLines(after) !== after.join('')) return [{ start: 0, end: lines.join('').length, newText: joinLines(after) }]
  const starts: number[] = [0]
  for (const line of lines) starts.push(starts.at(-1)! + line.length)
  return edits.map(({ from, to, lines: added }) => ({ start: starts[from]!, end: starts[to]!, newText: added.join('') }))
}
