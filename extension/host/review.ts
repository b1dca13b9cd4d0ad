import { nameOf, seenFrom } from '../base/folders.ts'
import type { ReviewSurface, PointedAt, ShownFile, ShownRegion } from '../capabilities/review-surface.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { FileUnderReview } from '../features/checkpoints/projection.ts'
import type { FileReview, ReviewHunk, ReviewOutcome, ReviewTarget, UndoTarget } from '../features/checkpoints/service.ts'
import type { Artifacts, ShownSession } from './artifacts.ts'
import type { ChatState } from './chat-state.ts'
import { keptNames } from './kept-names.ts'
import type { NoticeAction } from './notices.ts'
import { stayWords, wholeOf } from './review-words.ts'

/** News of files that come in bursts are shown together. */
const PAUSE_MS = 100
/** Files in the tree; what is more waits until some of these are settled. */
const MAX_SHOWN_FILES = 300
/** Files that a question names. */
const MAX_NAMED = 20

/** What the agent changed and waits for the person: shown in the tree, the gutter and the chat, and kept or taken back from each of them. */
export class Review {
  readonly #chat: ChatState
  readonly #artifacts: Artifacts
  /** As they were looked at last; what waits of one is the same object as long as the log says nothing new of it. */
  readonly #known = new Map<string, { readonly waiting: FileUnderReview; readonly shown: ShownFile | null }>()
  #stale = new Set<string>()
  #cancel: (() => void) | null = null
  #work: Promise<void> = Promise.resolve()
  #shownId: string | null = null
  #lastSeq = -1

  constructor(chat: ChatState, artifacts: Artifacts) {
    this.#chat = chat
    this.#artifacts = artifacts
  }

  get #surface(): ReviewSurface {
    return this.#chat.world.reviewSurface
  }

  /** What waits in the session on screen may have changed. */
  refresh(): void {
    const { model, services, shown } = this.#chat
    const view = shown?.agent == null ? null : services.reviews.of(shown.session)
    model.set('review', view === null ? null : { turns: view.turns, calls: [...new Set(view.files.flatMap(({ calls }) => calls))] })
    this.#look()
    const newest = view?.files.flatMap(({ path, steps }) => steps.map(({ seq }) => ({ path, seq }))).reduce((a, b) => (b.seq > a.seq ? b : a), { path: '', seq: -1 }) ?? { path: '', seq: -1 }
    const isSame = shown?.session.id === this.#shownId
    this.#shownId = shown?.session.id ?? null
    const isNews = isSame && newest.seq > this.#lastSeq
    this.#lastSeq = newest.seq
    if (isNews && services.settings.get(specs.uiFollowAlong)) this.#follow(newest.path)
  }

  /** Somebody else changed a file: that is none of the agent's. */
  changed(path: string): void {
    if (!this.#known.has(path)) return
    this.#stale.add(path)
    this.#look()
  }

  dispose(): void {
    this.#cancel?.()
    this.#surface.show({ files: [], hasMarks: false })
  }

  // What the person does

  async keep(target: ReviewTarget): Promise<void> {
    const session = this.#writable()
    if (session === null) return
    this.#report(await this.#chat.services.reviews.keep(session, target), target)
  }

  /** Where they changed the same lines since, these stay until they say otherwise. */
  async undo(target: UndoTarget, overConflicts = false): Promise<void> {
    const session = this.#writable()
    if (session === null) return
    const outcome = await this.#chat.services.reviews.undo(session, target, { overConflicts })
    this.#report(outcome, target, wholeOf(outcome.paths, outcome.conflicts).length)
  }

  async undoAll(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const session = this.#writable()
    if (session === null) return
    const count = this.#chat.services.reviews.of(session).files.length
    if (count === 0) return this.#nothing()
    const text = count === 1 ? l10n.t('Undo what Bosun changed in 1 file?') : l10n.t('Undo what Bosun changed in {count} files?', { count })
    if (await editor.confirm({ text, detail: l10n.t('What you typed yourself stays.'), yes: l10n.t('Undo All') })) await this.undo({ kind: 'all' })
  }

  /** Take back everything since a message of the person, also what was kept. */
  async restoreTo(turn: number): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const session = this.#writable()
    if (session === null) return
    const plan = await this.#chat.services.reviews.plan(session, { kind: 'since', turn })
    const all = [...new Set([...plan.paths, ...plan.conflicts])]
    // Nothing would be restored: say why, rather than ask for it.
    if (plan.paths.length === 0 && (all.length > 0 || plan.problems.length > 0)) return this.#report(plan, { kind: 'since', turn })
    if (all.length === 0) return this.#chat.notice('review', 'info', t('Nothing that was changed since this message is left to take back.'))
    const detail = [
      ...all.slice(0, MAX_NAMED).map((path) => (plan.conflicts.includes(path) ? t('{file} (you changed the same lines since; those stay)', { file: this.#short(path) }) : this.#short(path))),
      ...(all.length > MAX_NAMED ? [t('and {count} more', { count: all.length - MAX_NAMED })] : []),
      '',
      t('What you typed yourself stays. The conversation stays as it is; the model is told.'),
    ].join('\n')
    const text = all.length === 1 ? t('Restore 1 file to before this message?') : t('Restore {count} files to before this message?', { count: all.length })
    if (await editor.confirm({ text, detail, yes: t('Restore') })) await this.undo({ kind: 'since', turn })
  }

  /** Keep or take back a region: the one that is pointed at, else the one at the cursor. */
  async region(verb: 'keep' | 'undo', path: string | undefined, at: PointedAt | null): Promise<void> {
    const session = this.#writable()
    const cursor = this.#surface.cursor()
    const file = path ?? cursor?.path
    if (session === null || file === undefined) return this.#nothing()
    const lines = at ?? (cursor === null ? null : { startLine: cursor.line, endLine: cursor.line })
    const hunks = (await this.#chat.services.reviews.file(session, file))?.hunks ?? []
    const hunk = lines === null ? undefined : hunks.find((one) => isMeant(one, lines))
    if (hunk === undefined) return this.#nothing()
    const target = { kind: 'hunk', path: file, hunk } as const
    if (verb === 'keep') await this.keep(target)
    else await this.undo(target)
  }

  async file(verb: 'keep' | 'undo' | 'open', path: string | undefined): Promise<void> {
    const file = path ?? this.#surface.cursor()?.path
    if (file === undefined || !this.#known.has(file)) return this.#nothing()
    if (verb === 'open') await this.#openFiles([file])
    else if (verb === 'keep') await this.keep({ kind: 'file', path: file })
    else await this.undo({ kind: 'file', path: file })
  }

  /** Everything that waits, in the editor's own diff. */
  async openAll(): Promise<void> {
    const session = this.#writable()
    const files = session === null ? [] : this.#chat.services.reviews.of(session).files.map(({ path }) => path)
    if (files.length === 0) return this.#nothing()
    await this.#openFiles(files)
  }

  /** What one turn changed, or one file of it: what waits of it against the file without it, what was settled against how it was before. */
  async openTurn(shown: ShownSession, turn: number, path?: string): Promise<string | null> {
    const { reviews } = this.#chat.services
    const { editor, l10n } = this.#chat.world
    const all = await reviews.turnStart(shown.session, turn)
    const meant = all.filter((file) => path === undefined || file.path === path || file.path.replaceAll('\\', '/').endsWith(`/${path.replaceAll('\\', '/').replace(/^\.\//, '')}`))
    if (meant.length === 0) return await this.#artifacts.reviewTurn(shown, turn, path)
    const files = meant.map((file) => ({ path: file.path, before: named(keptNames.turnStart({ session: shown.session.id, turn }, file.path, nameOf(file.path)), file.before) }))
    const [only] = files
    if (files.length === 1 && only !== undefined) await editor.openDiff({ title: l10n.t('{file} (before and now)', { file: nameOf(only.path) }), path: only.path, before: only.before ?? nothing })
    else await editor.openDiffs({ title: l10n.t('Changes of turn {turn}', { turn }), files })
    return null
  }

  /** One file is merged by the editor's own hands, where it has them. */
  async #compare(paths: readonly string[]): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { shown, services } = this.#chat
    const [path] = paths
    if (shown === null || path === undefined || paths.length > 1) return await this.#openFiles(paths)
    const review = await services.reviews.file(shown.session, path)
    const { sides, now } = review ?? {}
    if (sides === undefined || now == null) return await this.#openFiles(paths)
    const text = (side: 'agent' | 'without' | 'now', content: string) => ({ name: keptNames.mergeSide(shown.session.id, path, side, nameOf(path)), text: content })
    const isOpen = await editor.openMerge({
      path,
      base: text('agent', sides.agent),
      mine: { text: text('now', now), title: l10n.t('Your Text') },
      theirs: { text: text('without', sides.without), title: l10n.t('Text without Bosun') },
    })
    if (!isOpen) await this.#openFiles(paths)
  }

  async #openFiles(paths: readonly string[]): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { shown, services } = this.#chat
    if (shown === null) return
    const reviews = await Promise.all(paths.map(async (path) => ({ path, review: await services.reviews.file(shown.session, path) })))
    const files = reviews.flatMap(({ path, review }) => (review === null ? [] : [{ path, before: named(keptNames.baseline(shown.session.id, path, nameOf(path)), review.baseline) }]))
    const [only] = files
    if (only === undefined) return this.#nothing()
    if (files.length === 1) await editor.openDiff({ title: l10n.t('{file} (without the change and now)', { file: nameOf(only.path) }), path: only.path, before: only.before ?? nothing })
    else await editor.openDiffs({ title: l10n.t('Changes to review'), files })
  }

  // Words

  /** `undone`: how many files went back. */
  #report({ conflicts, problems }: ReviewOutcome, target: UndoTarget, undone = 0): void {
    const { notices } = this.#chat
    const { l10n, logger } = this.#chat.world
    const { t } = l10n
    notices.close('review')
    for (const { path, problem } of problems) logger.warn('A file under review stayed as it was.', { path, problem })
    const why = stayWords({ conflicts, problems }, l10n, (path) => this.#short(path))
    if (why.length === 0) return
    const back = undone === 0 ? [] : [undone === 1 ? t('1 file went back.') : t('{count} files went back.', { count: undone })]
    const actions =
      conflicts.length === 0
        ? []
        : [
            { id: 'compare', label: t('Compare'), run: () => this.#compare(conflicts) },
            { id: 'undo', label: t('Undo all the same'), run: () => this.#force(conflicts, target) },
          ]
    this.#say('warning', [...back, ...why].join(' '), actions)
  }

  async #force(conflicts: readonly string[], target: UndoTarget): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const detail = conflicts.slice(0, MAX_NAMED).map((path) => this.#short(path)).join('\n')
    if (await editor.confirm({ text: l10n.t('Undo the lines that you changed too? Your words in them go with them.'), detail, yes: l10n.t('Undo all the same') })) await this.undo(target, true)
  }

  #say(level: 'info' | 'warning', text: string, actions: readonly NoticeAction[]): void {
    const { attention, editor } = this.#chat.world
    this.#chat.notice('review', level, text, actions)
    if (editor.isChatVisible()) return
    attention.tell({ level, text, actions: actions.map(({ id, label }) => ({ id, label })) }).then(
      async (id) => await actions.find((action) => action.id === id)?.run(),
      (error: unknown) => this.#chat.logError(error),
    )
  }

  #nothing(): void {
    this.#say('info', this.#chat.world.l10n.t('Nothing waits for your review here.'), [])
  }

  #short(path: string): string {
    return seenFrom(this.#chat.shown?.session.header.cwd ?? '', path)
  }

  #writable() {
    const { shown } = this.#chat
    return shown?.agent == null ? null : shown.session
  }

  // What is shown

  #look(): void {
    if (this.#cancel !== null || this.#chat.isDisposed) return
    this.#cancel = this.#chat.world.clock.schedule(PAUSE_MS, () => {
      this.#cancel = null
      this.#work = this.#work.then(() => this.#lookNow()).catch((error: unknown) => this.#chat.logError(error))
    })
  }

  async #lookNow(): Promise<void> {
    const { services, shown } = this.#chat
    const stale = this.#stale
    this.#stale = new Set()
    const waiting = shown?.agent == null ? [] : services.reviews.of(shown.session).files.slice(-MAX_SHOWN_FILES)
    for (const path of [...this.#known.keys()]) if (!waiting.some((file) => file.path === path)) this.#known.delete(path)
    for (const file of waiting) {
      const known = this.#known.get(file.path)
      if (shown === null || (known?.waiting === file && !stale.has(file.path))) continue
      const review = await services.reviews.file(shown.session, file.path)
      this.#known.set(file.path, { waiting: file, shown: review === null || !review.isChanged ? null : shownFile(review) })
    }
    if (this.#chat.isDisposed) return
    const hasMarks = services.settings.get(specs.uiDiffMode) === 'editor'
    this.#surface.show({ files: [...this.#known.values()].flatMap((file) => file.shown ?? []).toSorted((a, b) => (a.path < b.path ? -1 : 1)), hasMarks })
  }

  #follow(path: string): void {
    const { services, shown } = this.#chat
    if (shown === null) return
    services.reviews
      .file(shown.session, path)
      .then(async (review) => {
        if (review?.isText === true && review.now !== null) await this.#surface.follow(path, (review.hunks.at(-1)?.from ?? 0) + 1)
      })
      .catch((error: unknown) => this.#chat.logError(error))
  }
}

function shownFile({ path, baseline, now, hunks, isText }: FileReview): ShownFile {
  const sum = (read: (hunk: ReviewHunk) => number) => hunks.reduce((total, hunk) => total + read(hunk), 0)
  return {
    path,
    kind: !isText ? 'changed' : baseline === null ? 'created' : now === null ? 'deleted' : 'changed',
    baseline: isText ? (baseline ?? '') : null,
    added: sum(({ added }) => added.length),
    removed: sum(({ removed }) => removed.length),
    regions: hunks.map(regionOf),
  }
}

const MAX_LABEL_CHARS = 80

function regionOf({ baseFrom, baseTo, from, to, added, removed }: ReviewHunk): ShownRegion {
  const hasLines = to > from
  const telling = [...added, ...removed].find((line) => line.trim() !== '') ?? ''
  return {
    startLine: hasLines ? from + 1 : Math.max(1, from),
    endLine: hasLines ? to : Math.max(1, from),
    hasLines,
    label: telling.trim().slice(0, MAX_LABEL_CHARS),
    added: added.length,
    removed: removed.length,
    place: { baseFrom, baseTo, from, to },
  }
}

/** The very region, or the one that these lines touch. */
function isMeant(hunk: ReviewHunk, at: PointedAt): boolean {
  if ('place' in at) return hunk.baseFrom === at.place.baseFrom && hunk.baseTo === at.place.baseTo && hunk.from === at.place.from && hunk.to === at.place.to
  const { startLine, endLine } = regionOf(hunk)
  return startLine <= at.endLine && at.startLine <= endLine
}

/** In a diff of one file there is always a text before. */
const nothing = { name: 'gone', text: '' }
const named = (name: string, text: string | null) => (text === null ? null : { name, text })

