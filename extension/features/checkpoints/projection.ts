import * as z from 'zod'
import type { SessionEvent } from '../../core/log/event.ts'
import type { Projection } from '../../core/projections/projection.ts'
import type { Image, SettledFile } from './events.ts'

/** One change of a file by a call. */
export type FileStep = {
  readonly seq: number
  readonly callId: string
  readonly turn: number
  /** Absent: nobody kept it. */
  readonly before?: Image
  readonly after: Image
}

/** A file with changes that nobody has settled yet. */
export type FileUnderReview = {
  readonly path: string
  /** Where some changes were settled: the text without those that still wait, and the text as the agent left it with them. */
  readonly base: { readonly seq: number; readonly baseline: Image; readonly current: Image } | null
  /** Every change since the last time all of them were settled, in order. */
  readonly steps: readonly FileStep[]
  /** Calls of those that still wait. */
  readonly calls: readonly string[]
}

export type TurnReview = { readonly turn: number; readonly state: 'pending' | 'kept' | 'undone' }

export type ReviewView = {
  readonly files: readonly FileUnderReview[]
  /** Turns that changed files, in order. */
  readonly turns: readonly TurnReview[]
}

interface State {
  readonly turn: number
  readonly view: ReviewView
}

/** Files that can wait at once; the oldest count as kept then. */
const MAX_FILES_UNDER_REVIEW = 5_000
/** Changes of one file that are told apart; the oldest join what was there before them. */
const MAX_STEPS = 500

const image = z.string().nullable()

/** Which changes wait for the person: a pure fold of the log, the same after a reload. */
export const reviewProjection: Projection<State, ReviewView> = {
  key: 'review',
  stateVersion: 1,
  parts: 'none',
  schema: () =>
    z.strictObject({
      files: z.array(
        z.strictObject({
          path: z.string(),
          base: z.strictObject({ seq: z.number(), baseline: image, current: image }).nullable(),
          steps: z.array(z.strictObject({ seq: z.number(), callId: z.string(), turn: z.number(), before: image.exactOptional(), after: image })),
          calls: z.array(z.string()),
        }),
      ),
      turns: z.array(z.strictObject({ turn: z.number(), state: z.enum(['pending', 'kept', 'undone']) })),
    }),
  start: () => ({ turn: 0, view: { files: [], turns: [] } }),
  step(state, event) {
    switch (event.type) {
      case 'turn/start':
        return { ...state, turn: event.data.turn }
      case 'fs/after-image':
        return { ...state, view: withStep(state, event) }
      case 'review/kept':
      case 'review/undone': {
        const files = event.data.files.reduce<readonly FileUnderReview[]>((all, file) => settle(all, file, event.seq), state.view.files)
        // Going back takes what was kept along.
        const from = event.type === 'review/undone' && event.data.scope === 'since' ? (event.data.turn ?? Infinity) : Infinity
        return { ...state, view: { files, turns: turnsAfter(state.view, files, { state: event.type === 'review/kept' ? 'kept' : 'undone', from }) } }
      }
      default:
        return state
    }
  },
  view: (state) => state.view,
}

function withStep({ turn, view }: State, { data, seq }: SessionEvent<'fs/after-image'>): ReviewView {
  const { path, callId, before, after } = data
  const known = view.files.find((file) => file.path === path)
  const step: FileStep = { seq, callId, turn, ...(before !== undefined && { before }), after }
  const steps = [...(known?.steps ?? []), step]
  const dropped = steps.length > MAX_STEPS ? steps[0] : undefined
  const base = known?.base ?? (dropped?.before === undefined ? null : { seq: dropped.seq - 1, baseline: dropped.before, current: dropped.before })
  const file: FileUnderReview = { path, base, steps: dropped === undefined ? steps : steps.slice(1), calls: [...(known?.calls ?? []).filter((id) => id !== callId), callId] }
  const others = view.files.filter((one) => one !== known)
  const files = [...(others.length >= MAX_FILES_UNDER_REVIEW ? others.slice(1) : others), file]
  return { files, turns: [...view.turns.filter((one) => one.turn !== turn), { turn, state: 'pending' as const }].toSorted((a, b) => a.turn - b.turn) }
}

function settle(files: readonly FileUnderReview[], { path, isWhole, calls, base }: SettledFile, seq: number): readonly FileUnderReview[] {
  if (isWhole) return files.filter((file) => file.path !== path)
  return files.map((file) => (file.path === path ? { ...file, ...(base && { base: { seq, ...base } }), calls: file.calls.filter((id) => !calls.includes(id)) } : file))
}

/** A turn is settled once none of its calls waits; how the last of them was settled is its state. */
function turnsAfter({ turns }: ReviewView, files: readonly FileUnderReview[], { state, from }: { readonly state: 'kept' | 'undone'; readonly from: number }): readonly TurnReview[] {
  const waiting = new Set(files.flatMap(({ steps, calls }) => steps.filter(({ callId }) => calls.includes(callId)).map(({ turn }) => turn)))
  return turns.map((one) => ((one.state === 'pending' || one.turn >= from) && !waiting.has(one.turn) ? { ...one, state } : one))
}
