import { childPath, decodedPart } from '../../base/address.ts'
import { ignoreRules, isHiddenBy, MAX_IGNORE_BYTES, type IgnoreRule } from '../../base/ignore-rules.ts'
import { FileError, type DirectoryEntry, type FileKey, type FileSystem, type FileTarget } from '../../capabilities/file-system.ts'

/** Files and folders of one virtual folder that a search looks at. */
export const MAX_VIRTUAL_ENTRIES = 50_000
/** Questions to its file system at once: each may go over a network. */
export const QUESTIONS_AT_ONCE = 8
/** Folders above the one that is searched whose ignore files count. */
const MAX_PARENTS = 40

export interface VirtualFile {
  readonly target: FileTarget
  /** Seen from the folder that is walked, with forward slashes. */
  readonly relative: string
}

export interface WalkOptions {
  readonly files: Pick<FileSystem, 'readDirectory' | 'readText'>
  readonly root: FileTarget
  readonly includeIgnored: boolean
  /** Whether to go into a folder, or tell a file. */
  readonly wants: (entry: { readonly name: string; readonly relative: string; readonly isFolder: boolean }) => boolean
  readonly onFiles: (found: readonly VirtualFile[]) => void
  readonly maxEntries: number
  readonly signal: AbortSignal
}

export interface Walked {
  /** There was more than may be looked at. */
  readonly isCut: boolean
  readonly unreadable: number
}

/**
 * Tell every file below a folder that only the `FileSystem` can list, level by level and by name, so that a cut is the same each
 * time. Links are not followed; ignore files count where they can be read.
 *
 * Errors: `FileError` when the folder itself cannot be listed.
 */
export async function walkVirtualFolder({ files, root, includeIgnored, wants, onFiles, maxEntries, signal }: WalkOptions): Promise<Walked> {
  const above = includeIgnored ? [] : await rulesAbove(files, root, signal)
  let level: readonly Folder[] = [{ target: root, relative: '', rules: above }]
  let entries = 0
  let unreadable = 0
  for (let depth = 0; level.length > 0; depth++) {
    const next: Folder[] = []
    for (let at = 0; at < level.length; at += QUESTIONS_AT_ONCE) {
      const group = level.slice(at, at + QUESTIONS_AT_ONCE)
      const listed = await Promise.all(group.map((folder) => listFolder({ files, folder, includeIgnored, isRoot: depth === 0, signal })))
      for (const [index, found] of listed.entries()) {
        const parent = group[index]!
        if (found === null) {
          unreadable++
          continue
        }
        const { rules } = found
        const room = found.entries.slice(0, maxEntries - entries)
        const children = room.flatMap(({ name, kind }) => {
          if (kind !== 'file' && kind !== 'directory') return []
          const relative = parent.relative === '' ? name : `${parent.relative}/${name}`
          const isFolder = kind === 'directory'
          return wants({ name, relative, isFolder }) && !isIgnored(rules, { relative, isFolder }) ? [{ target: childTarget(parent.target, name), relative, isFolder }] : []
        })
        onFiles(children.filter(({ isFolder }) => !isFolder))
        next.push(...children.filter(({ isFolder }) => isFolder).map(({ target, relative }) => ({ target, relative, rules })))
        entries += room.length
        if (room.length < found.entries.length) return { isCut: true, unreadable }
      }
    }
    level = next
  }
  return { isCut: false, unreadable }
}

interface Folder {
  readonly target: FileTarget
  readonly relative: string
  readonly rules: readonly FolderRules[]
}

interface FolderRules {
  /** From the folder of the rules to the one that is walked, with a slash at the end; empty when they are in it or below. */
  readonly lead: string
  /** Where they stand below the folder that is walked. */
  readonly relative: string
  readonly rules: readonly IgnoreRule[]
}

interface ListOptions extends Pick<WalkOptions, 'files' | 'includeIgnored' | 'signal'> {
  readonly folder: Folder
  readonly isRoot: boolean
}

/** Null for a folder that may not be looked into. */
async function listFolder({ files, folder, includeIgnored, isRoot, signal }: ListOptions): Promise<{ readonly entries: readonly DirectoryEntry[]; readonly rules: readonly FolderRules[] } | null> {
  try {
    const entries = await files.readDirectory(folder.target, signal)
    if (includeIgnored) return { entries, rules: [] }
    const own: IgnoreRule[] = []
    for (const list of IGNORE_LISTS) if (entries.some(({ name, kind }) => name === list && kind === 'file')) own.push(...(await rulesOf(files, childTarget(folder.target, list), signal)))
    return { entries, rules: own.length === 0 ? folder.rules : [...folder.rules, { lead: '', relative: folder.relative, rules: own }] }
  } catch (error) {
    if (isRoot || signal.aborted || !(error instanceof FileError)) throw error
    return null
  }
}

/** The later says more. */
const IGNORE_LISTS = ['.gitignore', '.ignore']

function isIgnored(all: readonly FolderRules[], { relative, isFolder }: { readonly relative: string; readonly isFolder: boolean }): boolean {
  let isHidden = false
  for (const { lead, relative: at, rules } of all) {
    isHidden = isHiddenBy(rules, { path: lead + (at === '' ? relative : relative.slice(at.length + 1)), isFolder, wasHidden: isHidden })
  }
  return isHidden
}

async function rulesAbove(files: WalkOptions['files'], root: FileTarget, signal: AbortSignal): Promise<readonly FolderRules[]> {
  // No folder stands above the host of an address.
  const start = /^[a-z][\w+.-]+:\/\/[^/]*/i.exec(root.path)?.[0].length ?? 0
  const names = root.path.slice(start).split('/').filter((name) => name !== '')
  const parents = names.map((_name, index) => ({ path: `${root.path.slice(0, start)}/${names.slice(0, index).join('/')}`, lead: `${names.slice(index).map(decodedPart).join('/')}/` })).slice(-MAX_PARENTS)
  const found = await Promise.all(
    parents.map(async ({ path, lead }) => {
      const rules: IgnoreRule[] = []
      for (const list of IGNORE_LISTS) rules.push(...(await rulesOf(files, childTarget({ ...root, path }, list), signal)))
      return { lead, relative: '', rules }
    }),
  )
  return found.filter(({ rules }) => rules.length > 0)
}

/** A list that is not there or cannot be read ignores nothing: the files themselves can be read all the same. */
async function rulesOf(files: WalkOptions['files'], target: FileTarget, signal: AbortSignal): Promise<readonly IgnoreRule[]> {
  try {
    return ignoreRules((await files.readText(target, { maxBytes: MAX_IGNORE_BYTES, signal })).text)
  } catch (error) {
    if (error instanceof FileError && !signal.aborted) return []
    throw error
  }
}

/** What the file system itself would say of a file that is no link: outside of the disk a file's address is its key. */
function childTarget(folder: FileTarget, name: string): FileTarget {
  const path = childPath(folder.path, name)
  return { key: path as FileKey, path, spelling: path, isDanglingLink: false, exists: true }
}
