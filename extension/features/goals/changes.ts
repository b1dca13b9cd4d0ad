import { structuredPatch } from 'diff'
import { seenFrom } from '../../base/folders.ts'
import { isHarnessError } from '../../base/harness-error.ts'
import { fitBytes } from '../../base/text.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Session } from '../../core/session/session.ts'
import type { Reviews } from '../checkpoints/service.ts'

export interface ChangesNeeds {
  /** Undefined where nothing of it is kept. */
  readonly reviews: () => Pick<Reviews, 'of' | 'turnStart'> | undefined
  readonly files: Pick<FileSystem, 'resolve' | 'readText'>
}

/** UTF-8 bytes of the diff that goes with a message. */
export const MAX_DIFF_BYTES = 6_000
const MAX_FILE_BYTES = 1_000_000
const MAX_NAMED_FILES = 50

/** What the files are now against what they were before turn `firstTurn`, as a list and a diff. Null where nothing was changed. */
export async function changesSince(session: Session, firstTurn: number, { reviews: found, files }: ChangesNeeds): Promise<string | null> {
  const reviews = found()
  const turns = reviews?.of(session).turns.filter(({ turn }) => turn >= firstTurn) ?? []
  const before = new Map<string, string | null>()
  for (const { turn } of turns) for (const file of (await reviews?.turnStart(session, turn)) ?? []) if (!before.has(file.path)) before.set(file.path, file.before)
  const cwd = session.header.cwd ?? ''
  const changed = (await Promise.all([...before].map(async ([path, old]) => changeOf({ path, shown: seenFrom(cwd, path), old, now: await textOf(path, cwd, files) })))).flat()
  if (changed.length === 0) return null
  const named = changed.slice(0, MAX_NAMED_FILES).map(({ line }) => line)
  const diff = changed.map(({ patch }) => patch).join('\n')
  const fitted = fitBytes(diff, MAX_DIFF_BYTES)
  const more = fitted.omittedBytes === 0 ? [] : [`(${fitted.omittedBytes} bytes of the diff are left out)`]
  return [...named, ...(changed.length > named.length ? [`and ${changed.length - named.length} more files`] : []), '', fitted.text, ...more].join('\n')
}

function changeOf({ path, shown, old, now }: { readonly path: string; readonly shown: string; readonly old: string | null; readonly now: string | null }): readonly { readonly path: string; readonly line: string; readonly patch: string }[] {
  if (old === now) return []
  const { hunks } = structuredPatch(shown, shown, old ?? '', now ?? '', undefined, undefined, { context: 2 })
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length
  const what = old === null ? ' (new)' : now === null ? ' (deleted)' : ''
  const patch = [`--- ${old === null ? '/dev/null' : shown}`, `+++ ${now === null ? '/dev/null' : shown}`, ...hunks.flatMap((hunk) => [`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`, ...hunk.lines])].join('\n')
  return [{ path, line: `${shown}${what} +${count('+')} -${count('-')}`, patch }]
}

/** Null where there is none, or none that is text. */
async function textOf(path: string, cwd: string, files: ChangesNeeds['files']): Promise<string | null> {
  try {
    const target = await files.resolve(path, cwd)
    return target.exists ? (await files.readText(target, { maxBytes: MAX_FILE_BYTES })).text : null
  } catch (error) {
    if (isHarnessError(error)) return null
    throw error
  }
}
