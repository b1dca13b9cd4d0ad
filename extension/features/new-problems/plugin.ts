import { seenFrom } from '../../base/folders.ts'
import { isHarnessError } from '../../base/harness-error.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem, FileTarget } from '../../capabilities/file-system.ts'
import type { LanguageProblem } from '../../capabilities/languages.ts'
import type { ProblemFeed } from '../../capabilities/problem-feed.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { Permissions } from '../../core/policy/permissions.ts'
import type { Execution, ToolResult } from '../../core/tools/definition.ts'
import { newProblemsText, type NewProblems } from '../../core/tools/new-problems.ts'
import type {} from '../../core/tools/service.ts'
import { allProblems, newProblems } from './new-problems.ts'
import { PublicationWaits } from './publication-waits.ts'

export interface NewProblemsNeeds {
  /** Absent where no editor is: nothing is waited for or told then. */
  readonly feed: ProblemFeed | undefined
  readonly files: Pick<FileSystem, 'resolve' | 'stat'>
  readonly clock: Pick<Clock, 'schedule'>
  /** Read at each call. 0: off. */
  readonly waitMs: () => number
}

/** Which argument names the file that a tool changes. */
const changedBy: Readonly<Record<string, string>> = { write: 'file_path', edit: 'file_path', str_replace_editor: 'path' }
/** Of a change to many files, so many are looked at. */
const MAX_LOOKED_AT = 20
/** Files that a change broke without touching them; more are left out. */
const MAX_DEPENDANTS = 20
/** Larger files are not opened for the language services, which leave them alone as well. */
const MAX_OPENED_BYTES = 5 * 1024 * 1024

/**
 * After a change to a file, wait for the language services to look at its new text, and tell the model and the card what they
 * find wrong with it that they did not before.
 *
 * Files that the change did not touch are told of too, where what was wrong with them before is known.
 * Only what was published for the new text counts, and only against what is known of the old one: where that never came, nothing
 * is told. Calls of programs are not held up.
 * Source: capability specification 20.4.
 */
export const newProblemsPlugin = ({ feed, waitMs, ...needs }: NewProblemsNeeds): Plugin => ({
  name: 'new-problems',
  inject: ['tools'],
  apply(ctx) {
    if (feed === undefined) return
    const waits = new PublicationWaits({ clock: needs.clock })
    const look = createLook({ ...needs, feed, waits })
    ctx.effect(feed.onDidPublish((news) => waits.note(news)))
    ctx.on('tools/execute', (exec, next) => {
      const limitMs = waitMs()
      return limitMs === 0 || exec.parent !== undefined ? next() : watched(exec, { feed, limitMs, next })
    })

    async function watched(exec: Execution, { feed, limitMs, next }: { readonly feed: ProblemFeed; readonly limitMs: number; readonly next: () => Promise<ToolResult> }): Promise<ToolResult> {
      const changed = await changedFiles({ files: needs.files, permissions: ctx.get('permissions') }, exec)
      if (changed.length === 0) return await next()
      const mark = waits.mark
      const elsewhere = feed.all()
      const before = await Promise.all(changed.map(async ({ target }) => await look.before(target, limitMs, exec.signal)))
      const result = await next()
      if (result.isError || isUnchanged(result.value)) return result
      const found = await Promise.all(
        changed.map(async ({ target, path, spelling }, index) => {
          const known = before[index] ?? null
          const after = known === null ? null : await look.after(target, { version: known.version, limitMs, signal: exec.signal })
          return { path, spelling, isKnown: after !== null, problems: known && after && newProblems(known.problems, after) }
        }),
      )
      const touched = new Set(changed.map(({ target }) => target.path))
      const broken = found.some(({ isKnown }) => isKnown) ? dependants({ elsewhere, mark, touched }) : []
      const all = allProblems([
        // Beside others a file has to be named.
        ...found.flatMap(({ path, spelling, problems }) => (problems === null ? [] : [{ path: broken.length > 0 ? spelling : path, problems }])),
        ...broken.map(({ path, problems }) => ({ path: shownIn(exec, path), problems })),
      ])
      return all === null ? result : withProblems(result, all)
    }

    /** Files that the change did not touch, and that have problems which they had not. */
    function dependants({ elsewhere, mark, touched }: { readonly elsewhere: ReturnType<ProblemFeed['all']>; readonly mark: number; readonly touched: ReadonlySet<string> }) {
      const found: { readonly path: string; readonly problems: NewProblems }[] = []
      for (const [path, now] of feed?.all() ?? []) {
        if (found.length === MAX_DEPENDANTS) break
        const known = elsewhere.get(path) ?? (waits.wasHeard(path, mark) ? [] : null)
        const problems = known === null || touched.has(path) ? null : newProblems(known, now)
        if (problems !== null) found.push({ path, problems })
      }
      return found
    }
  },
})

/** As the session names its files. */
const shownIn = ({ agent }: Execution, path: string): string => seenFrom(agent?.session.header.cwd ?? '', path)

interface Known {
  readonly problems: readonly LanguageProblem[]
  /** Of the text in the editor; 0: there was no file. */
  readonly version: number
}

function createLook({ feed, files, waits }: { readonly feed: ProblemFeed; readonly files: NewProblemsNeeds['files']; readonly waits: PublicationWaits }) {
  return {
    /** What is known to be wrong with the text as it is, or null where that cannot be known. */
    async before(target: FileTarget, limitMs: number, signal: AbortSignal): Promise<Known | null> {
      if (!target.exists) return { problems: [], version: 0 }
      const { path } = target
      const opened = (await canBeOpened(target, signal)) ? await unlessAborted(feed.open(path, signal), signal) : null
      if (opened === null) return null
      const { language, version, wasOpen } = opened
      const isKnown = wasOpen ? !waits.isUnknown(path) : await waits.published({ path, language, fromVersion: version, isFirst: true, limitMs, signal })
      return isKnown ? { problems: feed.problemsOf(path), version } : null
    },

    /** What is wrong with the text that came after that version, or null where nothing was published for it in time. */
    async after({ path }: FileTarget, { version, limitMs, signal }: { readonly version: number; readonly limitMs: number; readonly signal: AbortSignal }): Promise<readonly LanguageProblem[] | null> {
      const opened = await unlessAborted(feed.open(path, signal), signal)
      if (opened === null) return null
      const isPublished = await waits.published({ path, language: opened.language, fromVersion: version + 1, isFirst: version === 0, limitMs, signal })
      return isPublished ? feed.problemsOf(path) : null
    },
  }

  async function canBeOpened(target: FileTarget, signal: AbortSignal): Promise<boolean> {
    const stat = await unlessRefused(files.stat(target, signal))
    return stat !== null && stat.kind === 'file' && stat.size <= MAX_OPENED_BYTES
  }
}

interface ChangedFile {
  readonly target: FileTarget
  /** As it is named where the call changes several; null where the call is about one. */
  readonly path: string | null
  /** As the call names it. */
  readonly spelling: string
}

interface ChangeNeeds {
  readonly files: Pick<FileSystem, 'resolve'>
  readonly permissions: Pick<Permissions, 'effectOf'> | undefined
}

/** The files that the call is about to change, as far as that is known. */
async function changedFiles({ files, permissions }: ChangeNeeds, exec: Execution): Promise<readonly ChangedFile[]> {
  const { name, arguments: args, agent, signal } = exec
  const cwd = agent?.session.header.cwd
  if (cwd === undefined || !isJsonObject(args)) return []
  const effect = permissions?.effectOf(name, args, agent?.scope)
  if (effect?.kind === 'edit' && effect.plan !== undefined) {
    const planned = await unlessRefused(effect.plan(exec))
    const few = planned?.changes.slice(0, MAX_LOOKED_AT) ?? []
    return await Promise.all(few.map(async ({ target, path }) => ({ target: await files.resolve(target, cwd, signal), path, spelling: path })))
  }
  const argument = changedBy[name]
  const spelling = argument === undefined || args['command'] === 'view' ? undefined : args[argument]
  if (typeof spelling !== 'string' || spelling.trim() === '') return []
  const target = await unlessRefused(files.resolve(spelling, cwd, signal))
  return target === null ? [] : [{ target, path: null, spelling }]
}

/** Whatever is wrong with the file is the tool's to say. */
async function unlessRefused<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isHarnessError(error)) return null
    throw error
  }
}

/** The stop of a call ends the wait; what the call did is told by the pipeline. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

/** A change that changes nothing has no new text to look at. */
const isUnchanged = (value: Json) => isJsonObject(value) && value['added'] === 0 && value['removed'] === 0 && value['before'] !== null

function withProblems(result: ToolResult & { readonly isError: false }, found: NewProblems): ToolResult {
  const { value } = result
  if (typeof value === 'string') return { ...result, value: `${value}\n${newProblemsText(found)}` }
  return isJsonObject(value) ? { ...result, value: { ...value, newProblems: found } satisfies JsonObject } : result
}
