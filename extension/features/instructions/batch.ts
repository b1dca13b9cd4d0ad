import { fitBytes, utf8Length } from '../../base/text.ts'
import type { InstructionFile, InstructionScope, ToldFile } from './service.ts'

/** What differs between the files and what the model was told of them. */
export type InstructionChange =
  | { readonly kind: 'added' | 'updated'; readonly file: InstructionFile }
  | { readonly kind: 'removed'; readonly path: string; readonly digest: string }

export interface InstructionBatch {
  readonly text: string
  readonly files: readonly ToldFile[]
}

/** Names in a notice; the rest are counted. */
const MAX_NAMED = 10

/**
 * One message about changed files, at most `maxBytes` long.
 *
 * `changes` stand broad first. What does not fit is left out from the broad end; the most specific file is cut when it alone is
 * too long. A notice in the message says what is missing.
 * Units: UTF-8 bytes of the whole message.
 * Source: runtime specification 15.1.
 */
export function batchOf(changes: readonly InstructionChange[], maxBytes: number): InstructionBatch {
  const removals = changes.filter((change) => change.kind === 'removed')
  const contents = changes.filter((change) => change.kind !== 'removed')
  const blocks = contents.map((change) => block(change, change.file.text))
  const gone = removals.map(({ path }) => `=== Removed: ${oneLine(path)}. What it said holds no longer. ===`)
  const told: readonly ToldFile[] = removals.map(({ path, digest }) => ({ path, digest, outcome: 'removed' }))
  const first = firstThatFits(blocks, contents, { gone, maxBytes })
  const dropped = contents.slice(0, first)
  const outcome = (file: InstructionFile, value: ToldFile['outcome']): ToldFile => ({ path: file.path, digest: file.digest, outcome: value })
  const files = [...told, ...dropped.map(({ file }) => outcome(file, 'dropped'))]
  if (first < contents.length || contents.length === 0) {
    const text = framed([...gone, ...blocks.slice(first), ...droppedNotice(dropped)])
    return { text, files: [...files, ...contents.slice(first).map(({ file }) => outcome(file, 'whole'))] }
  }
  const last = contents.at(-1)!
  const others = dropped.slice(0, -1)
  const notices = (keptBytes: number) => [
    ...droppedNotice(others),
    `=== Notice: ${oneLine(last.file.path)} has ${last.file.bytes} bytes; only its first ${keptBytes} fit here. Read the file for the rest. ===`,
  ]
  const room = maxBytes - utf8Length(framed([...gone, block(last, ''), ...notices(last.file.bytes)]))
  const kept = fitEscaped(last.file.text, Math.max(0, room))
  return {
    text: framed([...gone, block(last, kept), ...notices(utf8Length(kept))]),
    files: [...files.slice(0, -1), outcome(last.file, 'cut')],
  }
}

/** How many from the broad end must go; all of them when even the last alone does not fit. */
function firstThatFits(
  blocks: readonly string[],
  contents: readonly { readonly file: InstructionFile }[],
  { gone, maxBytes }: { readonly gone: readonly string[]; readonly maxBytes: number },
): number {
  const sizes = blocks.map((text) => utf8Length(text) + blockGap.length)
  let rest = sizes.reduce((sum, size) => sum + size, 0)
  for (let first = 0; first < blocks.length; first++) {
    const around = utf8Length(framed([...gone, ...droppedNotice(contents.slice(0, first))]))
    if (around + rest <= maxBytes) return first
    rest -= sizes[first]!
  }
  return blocks.length
}

function droppedNotice(dropped: readonly { readonly file: InstructionFile }[]): readonly string[] {
  if (dropped.length === 0) return []
  const names = dropped.slice(0, MAX_NAMED).map(({ file }) => `${oneLine(file.path)} (${file.bytes} bytes)`)
  const more = dropped.length > MAX_NAMED ? ` and ${dropped.length - MAX_NAMED} more` : ''
  return [`=== Notice: left out because the files together are too long: ${names.join(', ')}${more}. Read them when they matter. ===`]
}

const block = ({ kind, file }: Exclude<InstructionChange, { readonly kind: 'removed' }>, text: string) =>
  `=== ${kind === 'added' ? 'Added' : 'Updated'}: ${oneLine(file.path)}, ${placeOf(file)} ===\n${withoutEndTag(text)}`

function placeOf({ scope, importedBy }: InstructionFile): string {
  const from = importedBy === undefined ? '' : `imported by ${oneLine(importedBy)}, `
  return `${from}${scope.kind === 'user' ? 'for all projects' : `for ${oneLine(scope.folder)}${labelOf(scope)}`}`
}

const labelOf = ({ label }: InstructionScope) => (label === undefined ? '' : ` (workspace folder ${oneLine(label)})`)

const blockGap = '\n\n'

const framed = (blocks: readonly string[]) =>
  [
    `<instructions>\nStanding instructions that the person keeps in files. Follow them where they apply: the more specific file, further down, goes before a broader one, and the person's own words in this talk go before all files.`,
    ...blocks,
  ].join(blockGap) + '\n</instructions>'

/** What a file says must not end the frame. */
const withoutEndTag = (text: string) => text.replace(/<(?=\s*\/\s*instructions)/gi, '&lt;')

/** The longest start that fits once the end tags in it are escaped. */
function fitEscaped(text: string, maxBytes: number): string {
  let kept = fitBytes(text, maxBytes).text
  for (let over = utf8Length(withoutEndTag(kept)) - maxBytes; over > 0; over = utf8Length(withoutEndTag(kept)) - maxBytes) {
    kept = fitBytes(kept, Math.max(0, utf8Length(kept) - over)).text
  }
  return kept
}

/** A path is the name of a file of anybody: it must not pose as a line or a tag of the frame. */
const oneLine = (path: string) => withoutEndTag(path.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')).toWellFormed()
