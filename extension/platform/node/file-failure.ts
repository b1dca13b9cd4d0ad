import { FileError, fileAborted, ioError, notFound, readonlyFile } from '../../capabilities/file-system.ts'

/** Runs `work` and gives what the system reports as a `FileError` about `spelling`. */
export async function withFileErrors<T>(spelling: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // A range error is a mistake of the caller, not of the system.
    throw error instanceof FileError || error instanceof RangeError ? error : fileFailure(spelling, error)
  }
}

export function checkNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw fileAborted()
}

function fileFailure(spelling: string, cause: unknown): FileError {
  const { code = '', message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return notFound(spelling, cause)
  if (code === 'EROFS') return readonlyFile(spelling, 'is on a read-only file system', cause)
  const words = reasons[code]
  return ioError(spelling, words === undefined ? message : `${words} (${code})`, cause)
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'a name in the path is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports a fault',
}
