import { toLf } from '../../base/encoding.ts'
import { utf8Length } from '../../base/text.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { ChangeOutcome, FileSystem, FileTarget } from '../../capabilities/file-system.ts'
import type { Notebooks } from '../../capabilities/notebooks.ts'
import type { InferValue, ValueSpec } from '../../core/schema/spec.ts'
import { newProblemsLine, newProblemsSchema, newProblemsText } from '../../core/tools/new-problems.ts'
import type { FileChange } from '../../core/tools/file-changes.ts'
import type { Execution, ToolLimit } from '../../core/tools/definition.ts'
import type { Observations } from '../../features/observation/service.ts'
import { changesBetween, type Changes, type Hunk } from '../../core/tools/hunks.ts'
import { numberedLines } from './snippet.ts'

/** What `read`, `write` and `edit` work with. */
export interface FileToolNeeds {
  readonly files: FileSystem
  readonly blobs: Pick<BlobStore, 'putBeforeImage'>
  readonly observations: Observations
  /** Absent where no editor is. */
  readonly notebooks?: Notebooks
}

/** Bytes of a file that is changed whole or in part: all of it is read, kept as it was, and compared. */
export const MAX_CHANGED_BYTES = 50 * 1024 * 1024
/** Characters of a text that is given as it was and is. */
const MAX_GIVEN_CHARS = 10 * 1024 * 1024
/** Bytes of hunks that a card may add to the log. */
export const MAX_META_BYTES = 65_536

/** Of `write` and `edit`. */
export const changeLimits: readonly ToolLimit[] = [
  { of: 'a file that is changed', max: MAX_CHANGED_BYTES, unit: 'bytes' },
  { of: 'a text that is given as it was and is', max: MAX_GIVEN_CHARS, unit: 'characters' },
  { of: 'facts of the card', max: MAX_META_BYTES, unit: 'bytes' },
]

export const hunkSchema = {
  type: 'object',
  properties: {
    oldStart: { type: 'integer', required: true },
    newStart: { type: 'integer', required: true },
    oldText: { type: 'string', required: true },
    newText: { type: 'string', required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSpec

/** Facts that every changed file gives, besides its own. Texts have `\n` line ends. */
export const changeProperties = {
  path: { type: 'string', required: true },
  target: { type: 'string', required: true, description: 'Absolute path.' },
  before: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
  after: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
  beforeImage: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
  hunks: { type: 'array', items: hunkSchema, required: true },
  added: { type: 'integer', required: true },
  removed: { type: 'integer', required: true },
  isUnsaved: { type: 'boolean', const: true },
  reformatted: { type: 'array', items: hunkSchema, description: 'What the editor’s save actions changed further.' },
  newProblems: { ...newProblemsSchema, description: 'What the editor finds wrong with the file since the change.' },
} as const

const changeSchema = { type: 'object', properties: changeProperties, additionalProperties: false } as const satisfies ValueSpec
export type ChangeFacts = InferValue<typeof changeSchema>

/**
 * Keep the file as it is before a change to it, durably, and say so in the log.
 *
 * Shape:  the digest, or null when there is no file yet or no session to keep it for.
 * Errors: `FileError` `FS_TOO_LARGE`, and what keeps the bytes or the line of the log from being kept: the change must not happen then.
 */
export async function keepBeforeImage({ files, blobs }: Pick<FileToolNeeds, 'files' | 'blobs'>, target: FileTarget, exec: Execution): Promise<string | null> {
  if (exec.agent === undefined) return null
  const bytes = target.exists ? await files.readBytes(target, { maxBytes: MAX_CHANGED_BYTES, signal: exec.signal }) : null
  const { digest } = bytes === null ? { digest: null } : await blobs.putBeforeImage(exec.agent.id, bytes)
  const { session } = exec.agent
  session.append({ type: 'fs/before-image', data: { callId: exec.callId, path: target.path, digest }, ignorable: true })
  // Bytes that no durable line of the log names could not be found again.
  await session.flush()
  return digest
}

/** The facts of a change that was made. `intended` is the text before the editor's save actions. */
export function changeFacts(options: {
  readonly path: string
  readonly target: FileTarget
  readonly outcome: ChangeOutcome
  readonly intended: string
  readonly beforeImage: string | null
}): ChangeFacts {
  const { outcome, intended, target, path, beforeImage } = options
  const before = outcome.before === null ? null : toLf(outcome.before)
  const after = toLf(outcome.after)
  const isGiven = [before ?? '', after].every(isGivenWhole)
  const changes: Changes = before === null ? { hunks: [], added: 0, removed: 0 } : changesBetween(before, after)
  return {
    path,
    target: target.path,
    before: isGiven ? before : null,
    after: isGiven ? after : null,
    beforeImage,
    ...changes,
    hunks: givenHunks(changes.hunks),
    ...(outcome.isUnsaved && { isUnsaved: true }),
    ...(outcome.wasReformatted && { reformatted: givenHunks(changesBetween(toLf(intended), after).hunks) }),
  }
}

const isGivenWhole = (text: string) => text.length < MAX_GIVEN_CHARS

/** Of a large file, a few changed regions can be given where the whole cannot; none where they are too large themselves. */
const givenHunks = (hunks: readonly Hunk[]): readonly Hunk[] => (isGivenWhole(hunks.map(({ oldText, newText }) => oldText + newText).join('')) ? hunks : [])

/** Sentences for the model about what else happened to the change. */
export function changeNotes({ isUnsaved, reformatted, newProblems }: Pick<ChangeFacts, 'isUnsaved' | 'reformatted' | 'newProblems'>): readonly string[] {
  return [
    ...(reformatted ? [`The editor's save actions changed the text further:\n${snippetOf(reformatted)}`] : []),
    ...(isUnsaved ? ['The person has unsaved changes in this file, so yours stands in the editor unsaved beside them; programs on the disk do not see it yet.'] : []),
    ...(newProblems ? [newProblemsText(newProblems)] : []),
  ]
}

const MAX_SNIPPET_LINES = 40

/** The changed regions as they are now, with line numbers. */
export function snippetOf(hunks: readonly Hunk[]): string {
  const parts: string[] = []
  let left = MAX_SNIPPET_LINES
  for (const { newText, newStart } of hunks) {
    if (left <= 0) {
      parts.push('…')
      break
    }
    const lines = numberedLines(newText, 1, left)
    const count = lines === '' ? 0 : lines.split('\n').length
    parts.push(lines.replace(/^(\d+):/gm, (_whole, number: string) => `${Number(number) + newStart - 1}:`))
    left -= count
  }
  return parts.filter((part) => part !== '').join('\n…\n')
}

/** Hunks as durable facts of a card, as far as they fit, and how many did not. */
export function keptHunks<Each extends Hunk>(hunks: readonly Each[]): { readonly hunks: Each[]; readonly omittedHunks?: number } {
  const kept: Each[] = []
  let bytes = 0
  for (const hunk of hunks) {
    bytes += utf8Length(hunk.oldText) + utf8Length(hunk.newText)
    if (bytes > MAX_META_BYTES) break
    kept.push(hunk)
  }
  return { hunks: kept, ...(kept.length < hunks.length && { omittedHunks: hunks.length - kept.length }) }
}

/** Durable facts of the card: hunks as far as they fit, counts, and where the file as it was is kept. */
export function changeMeta(facts: ChangeFacts, operation: 'create' | 'update') {
  const change: FileChange = { path: facts.target, before: facts.beforeImage }
  return {
    operation,
    ...keptHunks(facts.hunks),
    added: facts.added,
    removed: facts.removed,
    ...(facts.isUnsaved && { isUnsaved: true }),
    ...(facts.reformatted && { wasReformatted: true }),
    ...(facts.newProblems && { newProblems: newProblemsLine(facts.newProblems) }),
    fileChanges: [{ path: change.path, before: change.before }],
  }
}
