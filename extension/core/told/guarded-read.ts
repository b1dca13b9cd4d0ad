import { FileError, type FileStat, type FileSystem, type FileTarget } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { isWithin, styleOf } from '../policy/paths.ts'

/** What must not be left: canonical folders, and the paths that no tool may read. */
export interface Fence {
  readonly folders: readonly string[]
  /** The pattern that closes a path, or null. */
  readonly closedBy: (path: string) => string | null
}

export interface GuardedReadNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'stat' | 'readText'>
  readonly machine: Pick<Machine, 'platform'>
}

export interface GuardedRead {
  readonly path: string
  /** What a relative path begins at. */
  readonly base: string
  readonly fence: Fence
  /** The person's own file may be a link to wherever they keep it. */
  readonly mayBeAnywhere?: boolean
  readonly maxBytes: number
  /** Told before the content is read; what it returns in the place of undefined is the content. */
  readonly known?: (target: FileTarget, stat: FileStat) => string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A text, or in words for the person why there is none. */
export type GuardedText =
  | { readonly kind: 'absent' }
  /** `isUnreadable`: it may be readable again in a moment. */
  | { readonly kind: 'refused'; readonly reason: string; readonly bytes: number | null; readonly isUnreadable: boolean }
  | { readonly kind: 'text'; readonly text: string; readonly target: FileTarget; readonly stat: FileStat }

/**
 * Reads a file that speaks to the model without anybody asking: a regular text file of bounded size, inside the fence however it
 * is linked.
 *
 * Errors: the signal's reason. Whatever is wrong with the file is its outcome.
 */
export async function guardedRead(needs: GuardedReadNeeds, wanted: GuardedRead): Promise<GuardedText> {
  try {
    return await readOrThrow(needs, wanted)
  } catch (error) {
    wanted.signal?.throwIfAborted()
    if (!(error instanceof FileError)) throw error
    if (error.code === 'FS_NOT_FOUND') return { kind: 'absent' }
    return { kind: 'refused', reason: error.message, bytes: null, isUnreadable: error.code === 'FS_IO_ERROR' }
  }
}

async function readOrThrow({ files, machine }: GuardedReadNeeds, wanted: GuardedRead): Promise<GuardedText> {
  const { path, base, fence, mayBeAnywhere = false, maxBytes, known, signal } = wanted
  const target = await files.resolve(path, base, signal)
  if (target.isDanglingLink) return refused('It is a link to a file that does not exist.')
  if (!target.exists) return { kind: 'absent' }
  const outside = whyOutside(target.path, { fence, machine, mayBeAnywhere })
  if (outside !== null) return refused(outside)
  const stat = await files.stat(target, signal)
  const content = known?.(target, stat)
  if (content !== undefined) return { kind: 'text', text: content, target, stat }
  if (stat.kind !== 'file') return refused(stat.kind === 'directory' ? 'It is a folder, not a file.' : 'It is not a regular file but a FIFO, socket or device.')
  if (stat.size > maxBytes) return refused(`It has ${stat.size} bytes; at most ${maxBytes} are read.`, stat.size)
  const { text } = await files.readText(target, { maxBytes, ...(signal && { signal }) })
  return { kind: 'text', text, target, stat }
}

/** Why a canonical path may not be read, in words, or null. */
export function whyOutside(path: string, { fence, machine, mayBeAnywhere = false }: { readonly fence: Fence; readonly machine: Pick<Machine, 'platform'>; readonly mayBeAnywhere?: boolean }): string | null {
  const style = styleOf(machine)
  if (!mayBeAnywhere && !fence.folders.some((folder) => isWithin(path, folder, style))) return `It leads to ${path}, outside the workspace and Bosun's own folder.`
  return fence.closedBy(path) === null ? null : 'It is one of the paths that no tool may read.'
}

const refused = (reason: string, bytes: number | null = null): GuardedText => ({ kind: 'refused', reason, bytes, isUnreadable: false })
