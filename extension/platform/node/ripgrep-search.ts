import { lstat, lstatSync, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, sep } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { compileGlob, type GlobMatcher } from '../../base/glob.ts'
import { ProcessError, type ProcessExit, type ProcessRunner } from '../../capabilities/process.ts'
import { MAX_SEARCH_BYTES, SearchError, type FileHits, type FileQuery, type ListQuery, type Search, type TextHits, type TextMatch, type TextQuery } from '../../capabilities/search.ts'
import { createRipgrepFinder } from './find-ripgrep.ts'
import { LineReader, MatchCollector, NameReader } from './ripgrep-output.ts'

export interface RipgrepSearchOptions {
  readonly processes: ProcessRunner
  /** Where ripgrep is; default: the one that ships with Bosun, else one on PATH. Errors: `SearchError`. */
  readonly findProgram?: () => Promise<string>
  /** Texts that stand in the place of the disk's, such as those of documents with unsaved changes. */
  readonly unsavedTexts?: () => readonly SearchedText[]
  /** Bytes of ripgrep's output that one search may hold. Default `MAX_SEARCH_BYTES`. */
  readonly maxRawBytes?: number
}

/** A text that is searched in the place of a file's. */
export interface SearchedText {
  /** Absolute, canonical. */
  readonly path: string
  readonly text: string
}

/** Ripgrep also searches texts that no disk holds, so that a pattern means the same there. */
export interface RipgrepSearch extends Search {
  /** Lines of each text in their order. Errors: `SearchError`. */
  inTexts(query: TextPattern, texts: readonly SearchedText[]): Promise<readonly TextMatch[]>
  /** The globs of names that a file type stands for. Errors: `SearchError` `SEARCH_INVALID_PATTERN` for a type that ripgrep does not know. */
  globsOfType(type: string, signal: AbortSignal): Promise<readonly string[]>
}

export type TextPattern = Pick<TextQuery, 'pattern' | 'ignoreCase' | 'multiline' | 'contextLines' | 'signal'>

/**
 * Search by ripgrep, without its user configuration. Ignore files count outside git repositories too.
 *
 * Globs are matched here, not by ripgrep, whose `--glob` would bring back what ignore files hide. Unsaved texts are searched
 * by ripgrep as well, through its standard input, so that a pattern means the same everywhere and none can be slow.
 * Source: capability specification 10 and 11, "Engine".
 */
export function createRipgrepSearch({ processes, findProgram = createRipgrepFinder({ configured: () => null }), unsavedTexts = () => [], maxRawBytes = MAX_SEARCH_BYTES }: RipgrepSearchOptions): RipgrepSearch {
  const turns = createTurns(4)
  const runRipgrep = async (run: RipgrepRun) => runProgram({ ...run, processes, command: await findProgram(), maxRawBytes })
  return {
    files: (query) => turns(query.signal, () => findFiles(runRipgrep, query)),
    text: (query) => turns(query.signal, () => findText(runRipgrep, query, unsavedTexts())),
    list: (query) => turns(query.signal, () => listAll(runRipgrep, query)),
    inTexts: (query, texts) => turns(query.signal, () => findInTexts(runRipgrep, query, texts)),
    globsOfType: (type, signal) => turns(signal, () => globsOfType(runRipgrep, type, signal)),
  }
}

type RunRipgrep = (run: RipgrepRun) => Promise<RipgrepOutcome>

// Files.

/** A walk waits for the system more than it computes: by itself ripgrep takes a thread a core, and 41 ms for what four threads do in 26 on two cores. */
const WALKERS = Math.max(4, availableParallelism())

async function findFiles(run: RunRipgrep, query: FileQuery): Promise<FileHits> {
  const { root, sort, signal } = query
  const matches = compileOrRefuse(query.glob.startsWith(`${root}/`) ? query.glob.slice(root.length) : query.glob)
  if ((await kindOf(root)) === 'file') throw new SearchError('SEARCH_FAILED', `${root} is a file, not a folder. Name the folder to search in.`)
  if (isInVersionControl(root)) return { paths: [], skippedNames: 0 }
  // What ripgrep decides by the name alone needs no second look.
  const byName = nameGlobOf(query.glob)
  const isDecided = byName !== null && (query.glob === byName || query.glob === `**/${byName}`)
  const times = sort === 'newest' ? new TimeCollector() : null
  const paths: string[] = []
  const reader = new NameReader()
  const relative = relativeTo(root)
  await run({
    args: ['--files', '--null', '--hidden', `--threads=${WALKERS}`, ...scopeArgs(query), ...nameArgs({ include: query.glob }), '--', root],
    cwd: root,
    signal,
    onOutput: (chunk) => {
      let bytes = 0
      const found: string[] = []
      for (const path of reader.push(chunk)) {
        if (!isDecided && !matches(relative(path))) continue
        bytes += path.length
        found.push(path)
      }
      if (times) times.add(found)
      else paths.push(...found)
      return bytes
    },
  })
  return { ...(times ? await times.newestFirst() : { paths: paths.sort(byText) }), skippedNames: reader.skipped }
}

/** A file system whose answers take longer on the average, over a network say, is asked without waiting. */
const MAX_WAITED_STAT_MS = 0.02
const FIRST_WAITED_STATS = 16

/**
 * Asks for the time of each file while ripgrep still walks. A local disk answers in 2 µs, a fifth of what a question through
 * the thread pool costs, so the thread waits for it as long as it stays that quick.
 */
class TimeCollector {
  readonly #waiting: string[] = []
  readonly #found: { readonly path: string; readonly time: number }[] = []
  #running = 0
  #isQuick = true
  #onIdle: () => void = () => {}

  add(paths: readonly string[]): void {
    const rest = this.#isQuick ? this.#addQuickly(paths) : paths
    this.#waiting.push(...rest)
    while (this.#running < 64 && this.#waiting.length > 0) this.#next()
  }

  /** Files with the same time are in the order of their paths; those that vanished meanwhile are left out. */
  async newestFirst(): Promise<{ readonly paths: readonly string[]; readonly modifiedAt: readonly number[] }> {
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    // Of a hundred thousand each step takes a while; whatever waits for the thread goes between.
    await nextTurn()
    const sorted = this.#found.sort((a, b) => b.time - a.time || byText(a.path, b.path))
    await nextTurn()
    return { paths: sorted.map(({ path }) => path), modifiedAt: sorted.map(({ time }) => time) }
  }

  /** Gives those that are left once the file system turned out to be slow. */
  #addQuickly(paths: readonly string[]): readonly string[] {
    const startedAt = performance.now()
    for (const [index, path] of paths.entries()) {
      if (index % FIRST_WAITED_STATS === 0 && performance.now() - startedAt > Math.max(1, index * MAX_WAITED_STAT_MS)) {
        this.#isQuick = false
        return paths.slice(index)
      }
      try {
        this.#found.push({ path, time: lstatSync(path).mtimeMs })
      } catch {
        // It vanished meanwhile, or nobody may look at it: it is left out, as below.
      }
    }
    return []
  }

  #next(): void {
    const path = this.#waiting.pop()
    if (path === undefined) {
      if (this.#running === 0) this.#onIdle()
      return
    }
    this.#running++
    // The callback form: promises cost half as much again for thousands of files.
    lstat(path, (error: Error | null, facts: Stats) => {
      this.#running--
      if (!error) this.#found.push({ path, time: facts.mtimeMs })
      this.#next()
    })
  }
}

/** Nothing is kept here, so there is no cap: whoever listens stops it. */
async function listAll(run: RunRipgrep, { root, excludes, onPaths, signal }: ListQuery): Promise<void> {
  if ((await kindOf(root)) === 'file') throw new SearchError('SEARCH_FAILED', `${root} is a file, not a folder. Name the folder to list.`)
  if (isInVersionControl(root)) return
  const reader = new NameReader()
  const relative = relativeTo(root)
  // Globs that only leave out bring nothing back that ignore files hide.
  const left = excludes.filter((glob) => glob !== '' && !glob.startsWith('!') && !('problem' in compileGlob(glob)))
  await run({
    args: ['--files', '--null', '--hidden', ...scopeArgs({ includeIgnored: false }), ...left.map((glob) => `--glob=!${glob}`), '--', root],
    cwd: root,
    signal,
    onOutput: (chunk) => {
      const paths = reader.push(chunk)
      if (paths.length > 0) onPaths(paths.map(relative))
      return 0
    },
  })
}

// Text.

async function findText(run: RunRipgrep, query: TextQuery, unsaved: readonly SearchedText[]): Promise<TextHits> {
  const { root, signal } = query
  const includes = query.include === undefined ? () => true : compileOrRefuse(query.include)
  const kind = await kindOf(root)
  if (isInVersionControl(root)) return { matches: [], skippedNames: 0, overlaidPaths: [], notes: [`${root} belongs to version control and was not searched.`] }
  const relative = kind === 'file' ? basename : relativeTo(root)
  const accepts = (path: string) => includes(relative(path))
  const filters = [...scopeArgs(query), ...nameArgs(query)]
  const texts = unsaved.filter(({ path }) => isBelow(root, path) && accepts(path))

  const collector = new MatchCollector(accepts)
  const searchDisk = runJson(run, { args: [...patternArgs(query), ...filters, '--', root], cwd: kind === 'file' ? sep : root, signal, ...minResultBytes(query) }, collector)
  const searchTexts = texts.length === 0 ? Promise.resolve([]) : findInTexts(run, query, texts)
  const listScope = texts.length === 0 || kind === 'file' ? Promise.resolve(null) : listFiles(run, [...filters, '--', root], root, signal)
  const [{ unreadable }, inTexts, scope] = await allOrFirstFailure([searchDisk, searchTexts, listScope])

  const overlaid = new Set(texts.map(({ path }) => path).filter((path) => scope === null || scope.has(path)))
  const onDisk = collector.matches().filter(({ path }) => !overlaid.has(path))
  const matches = [...onDisk, ...inTexts.filter(({ path }) => overlaid.has(path))]
  return {
    // Stable: the lines of a file are in order already.
    matches: overlaid.size === 0 ? onDisk : matches.sort((a, b) => byText(a.path, b.path)),
    skippedNames: collector.skippedNames,
    overlaidPaths: [...overlaid].sort(byText),
    notes: [
      ...(unreadable > 0 ? [`${unreadable} files or folders could not be read.`] : []),
      ...(collector.malformedRecords > 0 ? [`${collector.malformedRecords} results could not be understood and were left out.`] : []),
    ],
  }
}

/** `{"type":"match","data":{"path":{"text":""},"lines":{"text":""},"line_number":1,"absolute_offset":0,"submatches":[]}}`; matches that span lines share one. */
const minResultBytes = ({ multiline }: TextPattern) => (multiline ? {} : { minResultBytes: 116 })

async function runJson(run: RunRipgrep, options: Omit<RipgrepRun, 'onOutput'>, collector: MatchCollector): Promise<RipgrepOutcome> {
  const reader = new LineReader()
  return run({
    ...options,
    onOutput: (chunk) => {
      for (const line of reader.push(chunk)) collector.push(line)
      return chunk.length
    },
  })
}

/** All in one run, one below the other; only a pattern that spans lines needs a run for each. */
async function findInTexts(run: RunRipgrep, query: TextPattern, texts: readonly SearchedText[]): Promise<readonly TextMatch[]> {
  if (!query.multiline) return findInJoined(run, query, texts)
  const found: TextMatch[] = []
  for (const text of texts) found.push(...(await findInJoined(run, query, [text])))
  return found
}

async function findInJoined(run: RunRipgrep, query: TextPattern, texts: readonly SearchedText[]): Promise<readonly TextMatch[]> {
  // Empty lines between two texts, so that the context of a match never reaches into the other.
  const gap = '\n'.repeat(query.contextLines + 1)
  const starts: { readonly path: string; readonly first: number; readonly last: number }[] = []
  let input = ''
  let line = 1
  for (const { path, text } of texts) {
    const block = text === '' || text.endsWith('\n') ? text : `${text}\n`
    const count = block.split('\n').length - 1
    starts.push({ path, first: line, last: line + count - 1 })
    input += block + gap
    line += count + query.contextLines + 1
  }
  const collector = new MatchCollector(() => true)
  let at = 0
  await runJson(run, { args: [...patternArgs(query), '--text', '--no-config', '--', '-'], cwd: sep, signal: query.signal, stdin: input }, collector)
  return collector.matches().flatMap((match) => {
    // Both are in the order of lines.
    while (at < starts.length && starts[at]!.last < match.lineNumber) at += 1
    const text = starts[at]
    return text !== undefined && text.first <= match.lineNumber ? [{ ...match, path: text.path, lineNumber: match.lineNumber - text.first + 1 }] : []
  })
}

async function globsOfType(run: RunRipgrep, type: string, signal: AbortSignal): Promise<readonly string[]> {
  const reader = new LineReader()
  const lines: string[] = []
  await run({
    args: ['--no-config', '--type-list'],
    cwd: sep,
    signal,
    onOutput: (chunk) => {
      lines.push(...reader.push(chunk))
      return chunk.length
    },
  })
  const found = lines.find((line) => line.startsWith(`${type}: `))
  if (found === undefined) throw new SearchError('SEARCH_INVALID_PATTERN', `The search program knows no file type "${type}". Use include with a glob such as *.ts.`)
  return found.slice(type.length + 2).split(', ')
}

/** What a search with these filters looks at: an unsaved text that an ignore file hides is none of its business. */
async function listFiles(run: RunRipgrep, args: readonly string[], cwd: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const reader = new NameReader()
  const paths = new Set<string>()
  await run({
    args: ['--files', '--null', ...args],
    cwd,
    signal,
    onOutput: (chunk) => {
      for (const path of reader.push(chunk)) paths.add(path)
      return chunk.length
    },
  })
  return paths
}

// Arguments.

const versionControlFolders = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl']

export const isVersionControl = (name: string): boolean => versionControlFolders.includes(name)

export const isInVersionControl = (path: string) => path.split(/[/\\]/).some(isVersionControl)

function scopeArgs({ includeIgnored }: { readonly includeIgnored: boolean }): readonly string[] {
  return [
    '--no-config',
    '--no-require-git',
    ...(includeIgnored ? ['--no-ignore'] : []),
    ...versionControlFolders.map((name) => `--glob=!${name}`),
  ]
}

function patternArgs({ pattern, ignoreCase, multiline, contextLines }: TextPattern): readonly string[] {
  if (pattern.includes('\0')) throw new SearchError('SEARCH_INVALID_PATTERN', String.raw`A pattern cannot hold a NUL character. Write it as \x00.`)
  return [
    '--json',
    // `$` also matches before CRLF.
    '--crlf',
    ignoreCase ? '--ignore-case' : '--case-sensitive',
    ...(multiline ? ['--multiline'] : []),
    ...(contextLines > 0 ? [`--context=${contextLines}`] : []),
    `--regexp=${pattern}`,
  ]
}

/** What can spare ripgrep the files that are not meant: as a file type, a glob leaves ignore files their say. */
function nameArgs({ type, include }: Pick<TextQuery, 'type' | 'include'>): readonly string[] {
  if (type !== undefined) return [`--type=${type}`]
  const name = include === undefined ? null : nameGlobOf(include)
  return name === null ? [] : [`--type-add=included:${name}`, '--type=included']
}

/**
 * A glob that every matching file's own name matches; `null` where there is none that is short of `*`.
 * ripgrep's file types match bytes, so a character of several is more than its `?`, and may be outside of its classes.
 */
export function nameGlobOf(glob: string): string | null {
  // A choice that spans folders cannot be cut at its last slash.
  const name = glob.includes('/') ? (/\/([^/{},\\]+)$/.exec(glob)?.[1] ?? '') : glob
  if (/^!|[[\]:\\]/.test(name) || !/[^*?]/.test(name)) return null
  return name.replaceAll('?', '*')
}

export function compileOrRefuse(glob: string): GlobMatcher {
  const compiled = compileGlob(glob)
  if ('problem' in compiled) throw new SearchError('SEARCH_INVALID_PATTERN', `The glob "${glob}" is wrong: ${compiled.problem}.`)
  return compiled.matches
}

function relativeTo(root: string): (path: string) => string {
  const prefix = root.endsWith(sep) ? root.length : root.length + 1
  return sep === '/' ? (path) => path.slice(prefix) : (path) => path.slice(prefix).replaceAll(sep, '/')
}

const isBelow = (root: string, path: string) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

async function kindOf(root: string): Promise<'file' | 'folder'> {
  const facts = await stat(root).catch((cause: NodeJS.ErrnoException) => {
    throw new SearchError('SEARCH_FAILED', `${root} cannot be searched (${cause.code}). Check the path.`, { cause })
  })
  if (facts.isDirectory()) return 'folder'
  // A FIFO or a device would be read without end.
  if (!facts.isFile()) throw new SearchError('SEARCH_FAILED', `${root} is neither a file nor a folder, so it cannot be searched. Name another path.`)
  return 'file'
}

export const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

// Running.

interface RipgrepRun {
  readonly args: readonly string[]
  readonly cwd: string
  readonly signal: AbortSignal
  readonly stdin?: string
  /** Bytes that each result takes at least. Ripgrep tells the results of a file at its end, which one that grows may not have, so it leaves a file that has more than may be held. */
  readonly minResultBytes?: number
  /** Gives how many bytes of the chunk are kept. */
  readonly onOutput: (chunk: Uint8Array) => number
}

interface RipgrepOutcome {
  /** Files and folders that the system did not let it read. */
  readonly unreadable: number
}

const maxErrorBytes = 65_536

async function runProgram({
  processes,
  command,
  args,
  cwd,
  signal,
  stdin,
  minResultBytes,
  onOutput,
  maxRawBytes,
}: RipgrepRun & { readonly processes: ProcessRunner; readonly command: string; readonly maxRawBytes: number }): Promise<RipgrepOutcome> {
  const overflow = new AbortController()
  let keptBytes = 0
  let errors = ''
  const receive = (chunk: Uint8Array) => {
    if (overflow.signal.aborted) return
    keptBytes += onOutput(chunk)
    if (keptBytes > maxRawBytes) overflow.abort()
  }
  let exit: ProcessExit
  try {
    const running = await processes.start({
      command,
      args: minResultBytes === undefined ? args : [`--max-count=${Math.floor(maxRawBytes / minResultBytes) + 1}`, ...args],
      cwd,
      ...(stdin !== undefined && { stdin }),
      onOutput: (stream, chunk) => {
        if (stream === 'stdout') receive(chunk)
        else if (errors.length < maxErrorBytes) errors += Buffer.from(chunk).toString()
      },
      signal: AbortSignal.any([signal, overflow.signal]),
      // It keeps no state: it may be killed at once.
      graceMs: 100,
    })
    exit = await running.exit
  } catch (cause) {
    if (signal.aborted) throw searchAborted()
    throw new SearchError('SEARCH_FAILED', `The search program could not be started. ${cause instanceof ProcessError ? cause.message : ''}`.trim(), { cause })
  }
  if (signal.aborted) throw searchAborted()
  if (overflow.signal.aborted) {
    throw new SearchError('SEARCH_RAW_OUTPUT_OVERFLOW', `The search found more than ${maxRawBytes} bytes. Narrow the pattern, the path or the files it includes.`)
  }
  return outcomeOf(exit, errors)
}

/** Exit 1 means that nothing was found; 2 that something went wrong, be it only one unreadable file. */
function outcomeOf({ exitCode, signal }: ProcessExit, errors: string): RipgrepOutcome {
  if (exitCode === 0 || exitCode === 1) return { unreadable: 0 }
  const lines = errors.split('\n').filter((line) => line !== '')
  if (exitCode === 2 && lines.length > 0 && lines.every((line) => /^rg: .*\(os error \d+\)$/.test(line))) return { unreadable: lines.length }
  const words = errors.replace(/^rg: /, '').trim()
  if (exitCode === 2 && isAboutPattern(words)) throw new SearchError('SEARCH_INVALID_PATTERN', `The search program refuses the pattern: ${words}`)
  throw new SearchError('SEARCH_FAILED', `The search program failed (${signal ?? `exit code ${exitCode}`}): ${words}`)
}

const isAboutPattern = (words: string) =>
  /regex parse error|error parsing glob|unrecognized file type|is not allowed in a regex|regex exceeds size|look-around|backreferences/.test(words)

export const searchAborted = () => new SearchError('SEARCH_ABORTED', 'The search was stopped.')

/** Like `Promise.all`, but waits until all have settled, so that nothing runs on behind a failure. */
async function allOrFirstFailure<T extends readonly unknown[]>(work: { readonly [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** At most `limit` at once; the others wait for their turn, or until they are stopped. */
function createTurns(limit: number): <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (signal, work) => {
    if (signal.aborted) throw searchAborted()
    if (running >= limit) await turnOf(waiting, signal)
    else running++
    try {
      return await work()
    } finally {
      // The turn goes on to the next, so that nobody slips in between.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

function turnOf(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      signal.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      waiting.splice(waiting.indexOf(begin), 1)
      reject(searchAborted())
    }
    waiting.push(begin)
    signal.addEventListener('abort', leave, { once: true })
  })
}
