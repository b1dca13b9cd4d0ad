import { nameOf } from '../base/folders.ts'
import { messageOf } from '../base/message-of.ts'
import type { PickItem } from '../capabilities/editor.ts'
import type { Session } from '../core/session/session.ts'
import type { ReviewOutcome } from '../features/checkpoints/service.ts'
import type { ChildWork, WorkFile, Worktrees } from '../features/subagents/worktree/service.ts'
import type { ChatState } from './chat-state.ts'
import { keptNames } from './kept-names.ts'
import type { NoticeAction } from './notices.ts'

/** Files whose texts are read for one look; what is more is taken over all the same. */
const MAX_SHOWN_FILES = 200
/** Characters of a line that names a region. */
const MAX_LINE = 80

/** What agents made in worktrees of their own: shown beside where they began, and taken over, left on its branch, or discarded. */
export class ChildWorkRoom {
  readonly #chat: ChatState
  #told = ''

  constructor(chat: ChatState) {
    this.#chat = chat
  }

  get #worktrees(): Worktrees | undefined {
    return this.#chat.services.get('worktrees')
  }

  /** Says in the chat what waits, once for each change of it. */
  refresh(): void {
    const { notices, shown, world } = this.#chat
    const { t } = world.l10n
    const all = shown?.agent == null ? [] : (this.#worktrees?.waiting(shown.session) ?? [])
    const key = JSON.stringify([shown?.session.id, all.map(({ id, files, problem }) => [id, files, problem])])
    if (key === this.#told) return
    this.#told = key
    const [work] = all
    if (work === undefined) return notices.close('child-work')
    const text =
      all.length > 1
        ? t('{count} agents left changes in worktrees of their own. Your files are as they were.', { count: all.length })
        : work.files === 1
          ? t('“{label}” changed 1 file in a worktree of its own. Your files are as they were.', { label: work.label })
          : t('“{label}” changed {count} files in a worktree of its own. Your files are as they were.', { label: work.label, count: work.files })
    this.#chat.notice('child-work', 'info', text, [
      { id: 'review', label: t('Review'), run: () => this.review() },
      ...(all.length === 1 ? [{ id: 'accept', label: t('Accept All'), run: () => this.#guarded((session) => this.#acceptAll(session, work)) }] : []),
    ])
  }

  /** Choose what to look at, unless it is named by its branch, see it, and say what becomes of it. */
  async review(branch?: string): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    await this.#guarded(async (session, worktrees) => {
      const all = worktrees.waiting(session)
      if (all.length === 0) return this.#chat.notice('child-work', 'info', t('No agent of this session left anything in a worktree.'))
      const named = branch === undefined ? undefined : all.find((one) => one.branch === branch)
      const id = named !== undefined ? named.id : all.length === 1 ? all[0]!.id : await editor.pick({ title: t('Whose work?'), items: all.map((one) => ({ id: one.id, label: one.label, description: countWords(one, t) })) })
      const work = all.find((one) => one.id === id)
      if (work === undefined) return
      await this.#show(session, worktrees, work)
      await this.#decide(session, worktrees, work)
    })
  }

  /** Where the child began, against what it made, all files in one diff. */
  async #show(session: Session, worktrees: Worktrees, work: ChildWork): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const files = (await this.#read(session, worktrees, work)).filter(({ isText }) => isText)
    if (files.length === 0) return
    await editor.openDiffs({
      title: l10n.t('Work of “{label}”', { label: work.label }),
      files: files.map((file) => ({ path: file.path, before: file.base === null ? null : this.#text(session, work, file, 'base', file.base), after: this.#text(session, work, file, 'theirs', file.theirs ?? '') })),
    })
  }

  async #read(session: Session, worktrees: Worktrees, { id }: ChildWork): Promise<readonly WorkFile[]> {
    const changed = await worktrees.files(session, id)
    const files = await Promise.all(changed.slice(0, MAX_SHOWN_FILES).map(({ path }) => worktrees.file(session, id, path).catch((error: unknown) => {
      this.#chat.logError(error)
      return null
    })))
    return files.filter((file) => file != null)
  }

  #text(session: Session, work: ChildWork, file: WorkFile, side: 'base' | 'theirs' | 'ours', text: string) {
    return { name: keptNames.childWork({ session: session.id, id: work.id }, file.changed.path, side, file.changed.path.split('/').at(-1) ?? ''), text, side }
  }

  async #decide(session: Session, worktrees: Worktrees, work: ChildWork): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const files = await this.#read(session, worktrees, work)
    const conflicts = files.filter(({ isInConflict }) => isInConflict)
    const open = files.filter(({ isTaken, isInConflict }) => !isTaken && !isInConflict)
    const items: readonly PickItem[] = [
      ...(open.length > 0 ? [{ id: 'all', label: t('Accept All'), description: filesWords(open.length, t), detail: t('Into your files. The review can take it back.') }] : []),
      ...(open.length > 1 ? [{ id: 'files', label: t('Choose Files…') }] : []),
      ...(files.some(({ hunks }) => hunks.length > 1) ? [{ id: 'regions', label: t('Choose Changes of a File…') }] : []),
      ...(conflicts.length > 0 ? [{ id: 'conflicts', label: t('Merge by Hand…'), description: filesWords(conflicts.length, t), detail: t('You changed the same lines since.') }] : []),
      ...(open.length === 0 && conflicts.length === 0 && files.length > 0 ? [{ id: 'done', label: t('Close'), detail: t('All of it is in your files. The worktree goes.') }] : []),
      { id: 'branch', label: t('Keep Branch'), description: work.branch, detail: t('The worktree goes, the branch stays for git.') },
      { id: 'discard', label: t('Discard…'), detail: t('The worktree and its branch go.') },
    ]
    switch (await editor.pick({ title: t('Work of “{label}”', { label: work.label }), placeholder: work.problem ?? t('What becomes of it?'), items, stays: true })) {
      case 'all':
        return await this.#acceptAll(session, work)
      case 'files': {
        const chosen = await editor.pickMany({ title: t('Which files?'), items: open.map(({ changed }) => ({ id: changed.path, label: changed.path, description: kindWords(changed.kind, t), isCurrent: true })) })
        if (chosen !== null && chosen.length > 0) this.#report(work, await worktrees.accept(session, work.id, { paths: chosen }))
        return
      }
      case 'regions':
        return await this.#acceptRegions(session, worktrees, work, files)
      case 'conflicts':
        return await this.#merge(session, work, conflicts)
      case 'done':
        return await worktrees.close(session, work.id, { keepsBranch: false, isDone: true })
      case 'branch':
        await worktrees.close(session, work.id, { keepsBranch: true })
        return this.#chat.notice('child-work-end', 'info', t('The branch {branch} holds it.', { branch: work.branch }))
      case 'discard':
        if (await editor.confirm({ text: t('Discard what “{label}” made?', { label: work.label }), detail: t('{files} of the worktree are gone for good. What you took over stays.', { files: filesWords(work.files, t) }), yes: t('Discard') })) await worktrees.close(session, work.id, { keepsBranch: false })
        return
      default:
        return
    }
  }

  async #acceptAll(session: Session, work: ChildWork): Promise<void> {
    const worktrees = this.#worktrees
    if (worktrees === undefined) return
    const paths = (await worktrees.files(session, work.id)).map(({ path }) => path)
    const outcome = await worktrees.accept(session, work.id, { paths })
    // Nothing is left in it that is not in the person's files.
    if (outcome.conflicts.length === 0 && outcome.problems.length === 0) await worktrees.close(session, work.id, { keepsBranch: false, isDone: true })
    this.#report(work, outcome)
  }

  async #acceptRegions(session: Session, worktrees: Worktrees, work: ChildWork, files: readonly WorkFile[]): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const several = files.filter(({ hunks }) => hunks.length > 1)
    const path = several.length === 1 ? several[0]!.changed.path : await editor.pick({ title: t('Of which file?'), items: several.map(({ changed, hunks }) => ({ id: changed.path, label: changed.path, description: t('{count} changes', { count: hunks.length }) })) })
    const file = several.find(({ changed }) => changed.path === path)
    if (file === undefined) return
    const items = file.hunks.flatMap((hunk, index) => {
      const line = [...hunk.added, ...hunk.removed].find((one) => one.trim() !== '')?.trim().slice(0, MAX_LINE) ?? ''
      const state = hunk.isInConflict ? t('you changed the same lines') : `+${hunk.added.length} −${hunk.removed.length}`
      return hunk.isTaken ? [] : [{ id: String(index), label: line, description: t('line {line}, {state}', { line: hunk.from + 1, state }), isCurrent: !hunk.isInConflict }]
    })
    const chosen = await editor.pickMany({ title: t('Which changes of {file}?', { file: file.changed.path }), items })
    if (chosen === null || chosen.length === 0) return
    this.#report(work, await worktrees.accept(session, work.id, { path: file.changed.path, hunks: chosen.map((index) => file.hunks[Number(index)]!) }))
  }

  /** The editor's own merge, one file after the other. */
  async #merge(session: Session, work: ChildWork, conflicts: readonly WorkFile[]): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const path = conflicts.length === 1 ? conflicts[0]!.changed.path : await editor.pick({ title: t('Of which file?'), items: conflicts.map(({ changed }) => ({ id: changed.path, label: changed.path })) })
    const file = conflicts.find(({ changed }) => changed.path === path)
    if (file === undefined) return
    const isOpen =
      file.isText && file.base !== null && file.theirs !== null && file.ours !== null && (await editor.openMerge({
        path: file.path,
        base: this.#text(session, work, file, 'base', file.base),
        mine: { text: this.#text(session, work, file, 'ours', file.ours), title: t('Your Text') },
        theirs: { text: this.#text(session, work, file, 'theirs', file.theirs), title: t('Work of the Agent') },
      }))
    if (!isOpen) this.#chat.notice('child-work-end', 'warning', t('{file} cannot be merged here: one side has no such file, or it is no text. Keep the branch {branch}, and merge it with git.', { file: file.changed.path, branch: work.branch }))
  }

  #report(work: ChildWork, { paths, conflicts, problems }: ReviewOutcome): void {
    const { t } = this.#chat.world.l10n
    for (const { path, problem } of problems) this.#chat.world.logger.warn('A file of a worktree was not taken over.', { path, problem })
    const actions: readonly NoticeAction[] = [{ id: 'review', label: t('Review'), run: () => this.review() }]
    const [first] = problems
    if (conflicts.length > 0) return this.#chat.notice('child-work-end', 'warning', t('{taken} taken over. In {count} you changed the same lines since; they stay as they are.', { taken: filesWords(paths.length, t), count: conflicts.length }), actions)
    if (first !== undefined) {
      const why = t('{file}: {problem}', { file: nameOf(first.path), problem: first.problem })
      return this.#chat.notice('child-work-end', 'warning', paths.length === 0 ? why : `${t('{taken} taken over.', { taken: filesWords(paths.length, t) })} ${why}`, actions)
    }
    this.#chat.notice('child-work-end', 'info', t('{taken} of “{label}” taken over. The review can take it back.', { taken: filesWords(paths.length, t), label: work.label }))
  }

  async #guarded(work: (session: Session, worktrees: Worktrees) => Promise<void> | void): Promise<void> {
    const { shown } = this.#chat
    const worktrees = this.#worktrees
    if (shown?.agent == null || worktrees === undefined) return this.#chat.notice('child-work-end', 'info', this.#chat.world.l10n.t('No agent of this session left anything in a worktree.'))
    try {
      await work(shown.session, worktrees)
    } catch (error) {
      this.#chat.notice('child-work-end', 'warning', messageOf(error))
    }
  }
}

type Say = ChatState['world']['l10n']['t']

const filesWords = (count: number, t: Say) => (count === 1 ? t('1 file') : t('{count} files', { count }))
const countWords = ({ files }: ChildWork, t: Say) => filesWords(files, t)
const kindWords = (kind: WorkFile['changed']['kind'], t: Say) => ({ created: t('new'), changed: t('changed'), deleted: t('deleted') })[kind]
