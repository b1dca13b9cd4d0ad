import { messageOf } from '../../base/message-of.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'
import type { Session } from '../../core/session/session.ts'
import type { Image } from './events.ts'
import { MAX_REVIEWED_BYTES, type Images, type Now } from './images.ts'
import { applyLineEdits, joinLines, lineEdits, mergeLines, splitLines, type LineEdit, type LineMerge } from './line-merge.ts'
import type { Recorder } from './recorder.ts'
import { replacementsOf, type InTurn } from './reviews.ts'
import type { HunkPlace, OtherHunk, OtherSide, OtherView, ReviewOutcome, Reviews } from './service.ts'

export interface TakeOverParts {
  readonly files: Pick<FileSystem, 'readText' | 'editText' | 'putBytes' | 'decode'>
  readonly images: Images
  readonly recorder: Pick<Recorder, 'note'>
  readonly inTurn: InTurn
}

/** A file of the person with both other sides of a merge; `lines` null where one of them is no text. */
interface Sides {
  readonly now: Now
  readonly base: Image
  readonly theirs: Image
  readonly lines: { readonly base: readonly string[]; readonly theirs: readonly string[]; readonly ours: readonly string[] } | null
}

const MOVED = 'It changed at this very moment. Look at it again, then repeat it.'
const READ_ONLY = 'This session can only be read here, so nothing is taken over. Open it for writing first.'

/** Merges what others made of files into those of the person, and keeps what stood there before. */
export function createTakeOver({ files, images, recorder, inTurn }: TakeOverParts): Pick<Reviews, 'compare' | 'takeOver'> {
  const text = async (now: Now, bytes: Uint8Array | null) => (bytes === null ? '' : bytes.length > MAX_REVIEWED_BYTES ? null : await files.decode(now.target, bytes))
  const imageOf = async (bytes: Uint8Array | null): Promise<Image> => (bytes === null ? null : await images.digestOf(bytes))

  async function sidesOf(session: Session, { path, base, theirs }: OtherSide): Promise<Sides> {
    const now = await images.now(session, path)
    const [baseText, theirText] = [await text(now, base), await text(now, theirs)]
    const lines = baseText === null || theirText === null || now.lines === null ? null : { base: splitLines(baseText), theirs: splitLines(theirText), ours: now.lines }
    return { now, base: await imageOf(base), theirs: await imageOf(theirs), lines }
  }

  /** Gives what keeps it from being taken over, or null. */
  async function take(session: Session, callId: string, side: OtherSide & { readonly hunks?: readonly HunkPlace[] }): Promise<'conflict' | 'nothing' | 'done'> {
    const sides = await sidesOf(session, side)
    const change = changeOf(sides, side.hunks)
    if (change === 'conflict' || change === 'nothing') return change
    const { target, version, image } = sides.now
    session.append({ type: 'fs/before-image', data: { callId, path: target.path, digest: image }, ignorable: true })
    // What stood there is safe, and told of, before it goes.
    await session.flush()
    const expect = version === null ? ({ kind: 'absent' } as const) : ({ kind: 'version', version } as const)
    const isOpen = async () => version !== null && (await files.readText(target, { maxBytes: Number.MAX_SAFE_INTEGER })).source === 'buffer'
    if (change !== 'whole') await edit(sides.now, change)
    // In an open document it is one stop of its undo.
    else if (sides.lines !== null && side.theirs !== null && (await isOpen())) await edit(sides.now, lineEdits(sides.lines.ours, sides.lines.theirs))
    else await files.putBytes({ target, bytes: side.theirs, expect })
    await recorder.note(session, callId, [{ path: target.path, before: image }], { isFound: true, isCounted: true })
    return 'done'
  }

  async function edit({ target, version, lines }: Now, edits: readonly LineEdit[]): Promise<void> {
    if (version === null || lines === null) throw new Error(MOVED)
    await files.editText({ target, replacements: replacementsOf(lines, edits), expect: { kind: 'version', version }, label: 'Bosun: take over changes' })
  }

  return {
    async compare(session, side) {
      const sides = await sidesOf(session, side)
      const { now, lines } = sides
      const change = changeOf(sides, undefined)
      const shown = (bytes: Uint8Array | null, content: readonly string[] | undefined) => (bytes === null || content === undefined ? null : joinLines(content))
      return {
        path: side.path,
        isText: lines !== null,
        base: shown(side.base, lines?.base),
        theirs: shown(side.theirs, lines?.theirs),
        ours: shown(now.bytes, lines?.ours),
        hunks: lines === null ? [] : hunksOf(lines),
        isInConflict: change === 'conflict',
        isTaken: change === 'nothing',
      } satisfies OtherView
    },
    takeOver: (session, callId, sides) =>
      inTurn(session, async () => {
        const paths: string[] = []
        const conflicts: string[] = []
        const problems: { path: string; problem: string }[] = []
        for (const side of sides) {
          try {
            if (session.access !== 'write') throw new Error(READ_ONLY)
            const outcome = await take(session, callId, side)
            if (outcome === 'done') paths.push(side.path)
            if (outcome === 'conflict') conflicts.push(side.path)
          } catch (error) {
            const isStale = error instanceof FileError && error.code === 'FS_STALE_VERSION'
            problems.push({ path: side.path, problem: isStale ? MOVED : messageOf(error) })
          }
        }
        return { paths, conflicts, problems } satisfies ReviewOutcome
      }),
  }
}

/** What has to be done to the person's file: `whole`: become the other side; else edits of its lines. */
function changeOf({ now, base, theirs, lines }: Sides, hunks: readonly HunkPlace[] | undefined): 'conflict' | 'nothing' | 'whole' | readonly LineEdit[] {
  const isWhole = hunks === undefined
  if (now.image === theirs) return 'nothing'
  if (isWhole && now.image === base) return 'whole'
  // One side took the file away, or both made it, each in its own way: nothing that could be merged by lines.
  if (lines === null || now.image === null || theirs === null || base === null) return 'conflict'
  const meant = isWhole ? lines.theirs : applyLineEdits(lines.base, lineEdits(lines.base, lines.theirs).filter((one, index, all) => hunks.some((hunk) => isPlace(hunk, one, placeBefore(all, index)))))
  const merge = mergeLines(lines.base, lines.ours, meant)
  if (hasConflict(merge)) return 'conflict'
  return merge.length === 0 ? 'nothing' : merge
}

const hasConflict = (merge: LineMerge): boolean => merge.some(({ base }) => base !== undefined)

/** By how many lines what was made is ahead of its base, before an edit. */
const placeBefore = (all: readonly LineEdit[], index: number): number => all.slice(0, index).reduce((sum, { from, to, lines }) => sum + lines.length - (to - from), 0)

const isPlace = ({ baseFrom, baseTo, from }: HunkPlace, edit: LineEdit, ahead: number): boolean => baseFrom === edit.from && baseTo === edit.to && from === edit.from + ahead

function hunksOf({ base, theirs, ours }: NonNullable<Sides['lines']>): readonly OtherHunk[] {
  return lineEdits(base, theirs).map((edit, index, all) => {
    const { from, to, lines } = edit
    const ahead = placeBefore(all, index)
    const merge = mergeLines(base, ours, applyLineEdits(base, [edit]))
    return { baseFrom: from, baseTo: to, from: from + ahead, to: from + ahead + lines.length, removed: base.slice(from, to), added: lines, isInConflict: hasConflict(merge), isTaken: merge.length === 0 }
  })
}
