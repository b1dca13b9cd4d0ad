import { randomBytes } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { link, lstat, open, realpath, rename, rmdir, unlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { danglingLink, ioError, readonlyFile, staleVersion, tooLarge, type Expectation, type FileTarget, type FileVersion } from '../../capabilities/file-system.ts'
import { checkNotAborted } from './file-failure.ts'
import { makeFolders } from './make-folders.ts'
import { readWhole, versionOf, withRegularFile } from './read-file.ts'

/** Whole text is held in memory to change it; a string can hold no more than twice this. */
const maxChangeBytes = 256 * 1024 * 1024

/** What a change begins with. */
export interface CurrentFile {
  readonly bytes: Uint8Array
  readonly stat: BigIntStats
  readonly version: FileVersion
}

/** What stands at the target now, or null when nothing does. The target is canonical: a link there has come since. */
export async function readCurrent(target: FileTarget): Promise<CurrentFile | null> {
  const facts = await lstat(target.path).catch((error: NodeJS.ErrnoException) => {
    // Below a file nothing can stand.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  if (!facts) return null
  if (facts.isSymbolicLink()) {
    if (!target.isDanglingLink) throw staleVersion(target.spelling, 'became a link')
    throw danglingLink(target.spelling)
  }
  return withRegularFile(target, async (file) => {
    const stat = await file.stat({ bigint: true })
    if (stat.size > maxChangeBytes) throw tooLarge(target.spelling, Number(stat.size), maxChangeBytes)
    const bytes = await readWhole(file, { size: Number(stat.size), maxBytes: maxChangeBytes })
    return { bytes, stat, version: versionOf(bytes) }
  })
}

export function checkExpected(target: FileTarget, expect: Expectation, current: CurrentFile | null): void {
  if (expect.kind === 'absent') {
    if (current) throw staleVersion(target.spelling, 'exists by now')
    return
  }
  if (!current) throw staleVersion(target.spelling, 'was deleted')
  if (current.version !== expect.version) throw staleVersion(target.spelling, 'changed')
}

export interface Publication {
  readonly target: FileTarget
  readonly bytes: Uint8Array
  /** What is replaced; null to create. */
  readonly current: CurrentFile | null
  /** A new file, and the folders that are made for it, are closed to others. Absent: they follow the umask. */
  readonly isForOwnerAlone?: boolean
  readonly signal: AbortSignal | undefined
  readonly beforePublish: ((path: string) => Promise<void>) | undefined
}

/** Puts `bytes` in the place of the target, whole or not at all. */
export async function publish(publication: Publication): Promise<void> {
  const { target, bytes, current, isForOwnerAlone = false, signal, beforePublish } = publication
  const folder = dirname(target.path)
  const madeFolder = current ? undefined : await makeFolder(target, folder, isForOwnerAlone)
  const temporary = join(folder, `.${basename(target.path).slice(0, 50)}.${randomBytes(6).toString('hex')}.tmp`)
  let isPublished = false
  try {
    await writeTemporary(target, temporary, { bytes, current, isForOwnerAlone })
    await beforePublish?.(target.path)
    checkNotAborted(signal)
    if ((await realpath(folder)) !== folder) throw staleVersion(target.spelling, 'moved')
    if (current) {
      await checkUntouched(target, current)
      await rename(temporary, target.path)
    } else await createFrom(target, temporary, bytes)
    isPublished = true
  } finally {
    if (!isPublished || !current) await unlink(temporary).catch(() => {})
    if (!isPublished && madeFolder !== undefined) await removeEmptyFolders(folder, madeFolder)
  }
  await checkWritten(target, bytes)
}

/** Takes the target away, as long as it is still what was looked at. */
export async function remove({ target, current, beforePublish }: Pick<Publication, 'target' | 'beforePublish'> & { readonly current: CurrentFile }): Promise<void> {
  await beforePublish?.(target.path)
  await checkUntouched(target, current)
  await unlink(target.path).catch((error: NodeJS.ErrnoException) => {
    throw isForbidden(error) ? readonlyFolder(target, error) : error
  })
}

/** The outermost folder that had to be made, if any. */
async function makeFolder(target: FileTarget, folder: string, isForOwnerAlone: boolean): Promise<string | undefined> {
  try {
    return await makeFolders(folder, isForOwnerAlone ? 0o700 : 0o777)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (isForbidden(error)) throw readonlyFolder(target, error)
    if (code === 'ENOENT') throw ioError(target.spelling, 'a folder in its path is a link to nothing; choose another path', error)
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error
    throw ioError(target.spelling, 'a part of its path is a file, not a folder; choose another path', error)
  }
}

const isForbidden = (error: unknown) => ['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')

const readonlyFolder = ({ spelling }: FileTarget, error: unknown) =>
  readonlyFile(spelling, `stands in a folder that allows no new files (${(error as NodeJS.ErrnoException).code})`, error)

async function writeTemporary(target: FileTarget, path: string, { bytes, current, isForOwnerAlone }: { readonly bytes: Uint8Array; readonly current: CurrentFile | null; readonly isForOwnerAlone: boolean }): Promise<void> {
  // A replacement is private until it has the mode of what it replaces; a new file follows the umask.
  const file = await open(path, 'wx', current || isForOwnerAlone ? 0o600 : 0o666).catch((error: NodeJS.ErrnoException) => {
    throw isForbidden(error) ? readonlyFolder(target, error) : error
  })
  try {
    await file.writeFile(bytes)
    if (current) await takeOver(file, current.stat)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function takeOver(file: FileHandle, { mode, uid, gid }: BigIntStats): Promise<void> {
  const own = await file.stat()
  const isOwned = own.uid === Number(uid) && own.gid === Number(gid)
  // Only the superuser may give a file away; without that right the file stays the writer's, as with every editor,
  // and loses the right to run as its owner. The mode comes last, because changing the owner drops that bit.
  const isKept = isOwned || (await file.chown(Number(uid), Number(gid)).then(
    () => true,
    () => false,
  ))
  await file.chmod(Number(mode) & (isKept ? 0o7777 : 0o777))
}

/** Between the first look and now only what bears the same times and the same identity is surely the same. */
async function checkUntouched(target: FileTarget, current: CurrentFile): Promise<void> {
  const facts = await lstat(target.path, { bigint: true }).catch(() => null)
  if (!facts) throw staleVersion(target.spelling, 'was deleted')
  if (facts.isSymbolicLink()) throw staleVersion(target.spelling, 'became a link')
  const { dev, ino, size, mtimeNs, ctimeNs } = current.stat
  if (facts.dev === dev && facts.ino === ino && facts.size === size && facts.mtimeNs === mtimeNs && facts.ctimeNs === ctimeNs) return
  const now = await readCurrent(target)
  if (now?.version !== current.version) throw staleVersion(target.spelling, 'changed')
}

/** Linking fails when something stands there already, so that nothing is ever overwritten. */
async function createFrom(target: FileTarget, temporary: string, bytes: Uint8Array): Promise<void> {
  try {
    await link(temporary, target.path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw staleVersion(target.spelling, 'exists by now')
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code ?? '')) throw error
    await createWithoutLinks(target, bytes)
  }
}

/** For file systems without hard links: not in one step, but as careful about what stands there. */
async function createWithoutLinks(target: FileTarget, bytes: Uint8Array): Promise<void> {
  const file = await open(target.path, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? staleVersion(target.spelling, 'exists by now') : error
  })
  try {
    await file.writeFile(bytes)
    await file.sync()
  } catch (error) {
    // Half a file would be worse than none, and it is ours.
    await unlink(target.path).catch(() => {})
    throw error
  } finally {
    await file.close()
  }
}

async function removeEmptyFolders(from: string, to: string): Promise<void> {
  for (let at = from; at.startsWith(to); at = dirname(at)) {
    const isRemoved = await rmdir(at).then(
      () => true,
      // Somebody else put something into it meanwhile: it stays.
      () => false,
    )
    if (!isRemoved) return
  }
}

async function checkWritten(target: FileTarget, bytes: Uint8Array): Promise<void> {
  const now = await readCurrent(target)
  if (now && Buffer.compare(now.bytes, bytes) === 0) return
  throw ioError(target.spelling, 'it was written, but holds something else now, because another program changed it at the same moment; read it again')
}
