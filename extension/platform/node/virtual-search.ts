import { isUri } from '../../base/is-uri.ts'
import { compileGlob } from '../../base/glob.ts'
import { FileError, type FileSystem, type FileTarget } from '../../capabilities/file-system.ts'
import { MAX_SEARCH_BYTES, SearchError, type FileHits, type FileQuery, type ListQuery, type Search, type TextHits, type TextMatch, type TextQuery } from '../../capabilities/search.ts'
import { byText, compileOrRefuse, isInVersionControl, isVersionControl, nameGlobOf, searchAborted, type RipgrepSearch, type SearchedText } from './ripgrep-search.ts'
import { MAX_VIRTUAL_ENTRIES, QUESTIONS_AT_ONCE, walkVirtualFolder, type VirtualFile, type Walked } from './virtual-folder.ts'

export interface VirtualSearchOptions {
  /** Searches the folders of this machine's disk, and texts wherever they are from. */
  readonly ripgrep: RipgrepSearch
  readonly files: Pick<FileSystem, 'resolve' | 'stat' | 'readDirectory' | 'readText'>
  /** Default: a root with a scheme. */
  readonly isVirtual?: (root: string) => boolean
  /** In the place of the limits below. */
  readonly limits?: Partial<VirtualLimits>
}

interface VirtualLimits {
  readonly maxEntries: number
  readonly maxFileBytes: number
  readonly maxTotalBytes: number
  readonly maxMultilineFiles: number
}

const LIMITS: VirtualLimits = {
  maxEntries: MAX_VIRTUAL_ENTRIES,
  /** A larger file is not searched, and counted. Source: capability specification 11, "VS Code mapping". */
  maxFileBytes: 2_000_000,
  /** Of all texts that one search reads. */
  maxTotalBytes: 64_000_000,
  /** Files of a search over lines, where each costs a run. */
  maxMultilineFiles: 500,
}
/** UTF-16 units of the texts that one run of ripgrep gets. */
const RUN_CHARS = 4_000_000

/**
 * Search that also works in folders which no disk holds: those are listed and read through the file system and their texts given
 * to ripgrep, so that globs and patterns mean the same everywhere.
 *
 * What a limit leaves out is told in the notes. Unsaved texts are what the file system gives.
 */
export function createVirtualSearch({ ripgrep, files, isVirtual = isUri, limits }: VirtualSearchOptions): Search {
  const rooms: Rooms = { ripgrep, files, limits: { ...LIMITS, ...limits } }
  return {
    files: (query) => (isVirtual(query.root) ? failuresAsSearch(query, () => findFiles(rooms, query)) : ripgrep.files(query)),
    text: (query) => (isVirtual(query.root) ? failuresAsSearch(query, () => findText(rooms, query)) : ripgrep.text(query)),
    list: (query) => (isVirtual(query.root) ? failuresAsSearch(query, () => listAll(rooms, query)) : ripgrep.list(query)),
  }
}

interface Rooms {
  readonly ripgrep: RipgrepSearch
  readonly files: VirtualSearchOptions['files']
  readonly limits: VirtualLimits
}

async function failuresAsSearch<T>({ root, signal }: { readonly root: string; readonly signal: AbortSignal }, work: () => Promise<T>): Promise<T> {
  if (signal.aborted) throw searchAborted()
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) throw searchAborted()
    if (error instanceof FileError) throw new SearchError('SEARCH_FAILED', `${root} cannot be searched: ${error.message}`, { cause: error })
    throw error
  }
}

async function findFiles({ files, limits }: Rooms, { root, glob, includeIgnored, sort, signal }: FileQuery): Promise<FileHits> {
  const matches = compileOrRefuse(glob.startsWith(`${root}/`) ? glob.slice(root.length) : glob)
  const target = await rootOf(files, root, signal)
  if ((await files.stat(target, signal)).kind === 'file') throw new SearchError('SEARCH_FAILED', `${root} is a file, not a folder. Name the folder to search in.`)
  if (isInVersionControl(root)) return { paths: [], skippedNames: 0 }
  const found: VirtualFile[] = []
  const walked = await walkVirtualFolder({
    files, root: target, includeIgnored, maxEntries: limits.maxEntries, signal,
    wants: ({ name, relative, isFolder }) => !isVersionControl(name) && (isFolder || matches(relative)),
    onFiles: (some) => found.push(...some),
  })
  const notes = notesOf(walked, limits)
  if (sort === 'path') return { paths: found.map(({ target: { path } }) => path).sort(byText), skippedNames: 0, notes }
  const dated = await inGroups(found, signal, async ({ target: one }) => {
    const facts = await orNull(files.stat(one, signal), signal)
    return facts === null ? [] : [{ path: one.path, time: facts.modifiedAt }]
  })
  const sorted = dated.flat().sort((a, b) => b.time - a.time || byText(a.path, b.path))
  return { paths: sorted.map(({ path }) => path), modifiedAt: sorted.map(({ time }) => time), skippedNames: 0, notes }
}

/** A list stops where its limit is: it only helps to name files. */
async function listAll({ files, limits }: Rooms, { root, excludes, onPaths, signal }: ListQuery): Promise<void> {
  const target = await rootOf(files, root, signal)
  if (isInVersionControl(root)) return
  const left = excludes.flatMap((glob) => {
    const compiled = compileGlob(glob.replace(/\/(\*\*)?$/, ''))
    return glob === '' || 'problem' in compiled ? [] : [compiled.matches]
  })
  await walkVirtualFolder({
    files, root: target, includeIgnored: false, maxEntries: limits.maxEntries, signal,
    wants: ({ name, relative }) => !isVersionControl(name) && !left.some((matches) => matches(relative)),
    onFiles: (some) => (some.length > 0 ? onPaths(some.map(({ relative }) => relative)) : undefined),
  })
}

async function findText(rooms: Rooms, query: TextQuery): Promise<TextHits> {
  const { files, ripgrep, limits } = rooms
  const { root, include, type, includeIgnored, signal } = query
  const includes = include === undefined ? () => true : compileOrRefuse(include)
  const ofType = type === undefined ? null : await typeMatcher(ripgrep, type, signal)
  const target = await rootOf(files, root, signal)
  if (isInVersionControl(root)) return { matches: [], skippedNames: 0, overlaidPaths: [], notes: [`${root} belongs to version control and was not searched.`] }
  const found: VirtualFile[] = []
  let walked: Walked = { isCut: false, unreadable: 0 }
  if ((await files.stat(target, signal)).kind === 'file') {
    const relative = root.slice(root.lastIndexOf('/') + 1)
    if (includes(relative) && ofType?.(relative) !== false) found.push({ target, relative })
  } else {
    // As ripgrep does it: what is named is searched though it is hidden.
    const isNamed = ofType !== null || (include !== undefined && nameGlobOf(include) !== null)
    walked = await walkVirtualFolder({
      files, root: target, includeIgnored, maxEntries: limits.maxEntries, signal,
      wants: ({ name, relative, isFolder }) => {
        if (isVersionControl(name)) return false
        if (isFolder) return !name.startsWith('.')
        return (isNamed || !name.startsWith('.')) && includes(relative) && ofType?.(relative) !== false
      },
      onFiles: (some) => found.push(...some),
    })
  }
  const searched = await searchFiles(rooms, query, found)
  return {
    matches: searched.matches.sort((a, b) => byText(a.path, b.path) || a.lineNumber - b.lineNumber),
    skippedNames: 0,
    overlaidPaths: searched.overlaidPaths.sort(byText),
    notes: [`${searched.count} files of a virtual folder were searched`, ...notesOf({ ...walked, unreadable: walked.unreadable + searched.unreadable }, limits), ...searched.notes],
  }
}

interface Searched {
  readonly matches: TextMatch[]
  readonly overlaidPaths: string[]
  readonly count: number
  readonly unreadable: number
  readonly notes: readonly string[]
}

/** Reads a few files at a time and gives ripgrep what a run may hold, so that never more than that is in memory. */
async function searchFiles({ files, ripgrep, limits }: Rooms, query: TextQuery, all: readonly VirtualFile[]): Promise<Searched> {
  const { signal, multiline } = query
  const wanted = multiline ? all.slice(0, limits.maxMultilineFiles) : all
  const matches: TextMatch[] = []
  const overlaidPaths: string[] = []
  const counts = { searched: 0, tooLarge: 0, unreadable: 0, bytes: 0, foundBytes: 0 }
  let waiting: SearchedText[] = []
  let waitingChars = 0
  const search = async () => {
    const found = await ripgrep.inTexts(query, waiting)
    waiting = []
    waitingChars = 0
    for (const match of found) {
      counts.foundBytes += match.path.length + (match.line?.length ?? 0)
      matches.push(match)
    }
    if (counts.foundBytes > MAX_SEARCH_BYTES) throw new SearchError('SEARCH_RAW_OUTPUT_OVERFLOW', `The search found more than ${MAX_SEARCH_BYTES} bytes. Narrow the pattern, the path or the files it includes.`)
  }
  let at = 0
  for (; at < wanted.length && counts.bytes < limits.maxTotalBytes; at += QUESTIONS_AT_ONCE) {
    const texts = await Promise.all(wanted.slice(at, at + QUESTIONS_AT_ONCE).map(({ target }) => textOf(files, target, { maxBytes: limits.maxFileBytes, signal })))
    for (const one of texts) {
      if (one.kind !== 'text') {
        if (one.kind !== 'binary') counts[one.kind]++
        continue
      }
      counts.searched++
      counts.bytes += one.text.length
      if (one.isDirty) overlaidPaths.push(one.path)
      waiting.push(one)
      waitingChars += one.text.length
    }
    if (waitingChars >= RUN_CHARS) await search()
  }
  // Also when there is none, so that a pattern that cannot be understood is refused.
  await search()
  const notes = [
    ...(counts.tooLarge > 0 ? [`${counts.tooLarge} files have more than ${limits.maxFileBytes} bytes and were left out`] : []),
    ...(at < wanted.length ? [`only the first ${limits.maxTotalBytes} characters of the folder were searched; name a folder in it for the rest`] : []),
    ...(wanted.length < all.length ? [`a search over lines looks at ${limits.maxMultilineFiles} files of a virtual folder; narrow it with path or include for the others`] : []),
  ]
  return { matches, overlaidPaths, count: counts.searched, unreadable: counts.unreadable, notes }
}

type Read = (SearchedText & { readonly kind: 'text'; readonly isDirty: boolean }) | { readonly kind: 'binary' | 'tooLarge' | 'unreadable' }

async function textOf(files: Pick<FileSystem, 'readText'>, target: FileTarget, options: { readonly maxBytes: number; readonly signal: AbortSignal }): Promise<Read> {
  try {
    const { text, isDirty } = await files.readText(target, options)
    return { kind: 'text', path: target.path, text, isDirty }
  } catch (error) {
    if (options.signal.aborted || !(error instanceof FileError)) throw error
    return { kind: error.code === 'FS_NOT_TEXT' ? 'binary' : error.code === 'FS_TOO_LARGE' ? 'tooLarge' : 'unreadable' }
  }
}

async function typeMatcher(ripgrep: RipgrepSearch, type: string, signal: AbortSignal): Promise<(relative: string) => boolean> {
  const matchers = (await ripgrep.globsOfType(type, signal)).map(compileGlob)
  return (relative) => matchers.some((compiled) => 'matches' in compiled && compiled.matches(relative))
}

async function rootOf(files: Pick<FileSystem, 'resolve'>, root: string, signal: AbortSignal): Promise<FileTarget> {
  const target = await files.resolve(root, root, signal)
  if (!target.exists) throw new SearchError('SEARCH_FAILED', `${root} cannot be searched: it does not exist. Check the path.`)
  return target
}

const notesOf = ({ isCut, unreadable }: Walked, { maxEntries }: VirtualLimits): readonly string[] => [
  ...(isCut ? [`only the first ${maxEntries} files and folders of the virtual folder were looked at; name a folder in it for the others`] : []),
  ...(unreadable > 0 ? [`${unreadable} files or folders could not be read.`] : []),
]

async function inGroups<T, U>(items: readonly T[], signal: AbortSignal, work: (item: T) => Promise<U>): Promise<readonly U[]> {
  const results: U[] = []
  for (let at = 0; at < items.length; at += QUESTIONS_AT_ONCE) {
    signal.throwIfAborted()
    results.push(...(await Promise.all(items.slice(at, at + QUESTIONS_AT_ONCE).map(work))))
  }
  return results
}

/** Null for a file that vanished meanwhile, or that nobody may look at. */
async function orNull<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (signal.aborted || !(error instanceof FileError)) throw error
    return null
  }
}
