import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Workspace } from '../capabilities/workspace.ts'
import type { HookReport, Hooks } from '../features/hooks/service.ts'
import { keptNames } from './kept-names.ts'
import { plainCell, tableRow } from './markdown-table.ts'
import { placeWords } from './place-words.ts'

interface Parts {
  readonly hooks: Hooks
  readonly editor: Pick<Editor, 'openText' | 'confirm'>
  readonly l10n: Localization
  readonly workspace: Pick<Workspace, 'folders'>
}

/** What the person does with hooks: see what would run and why, and let it run. */
export function createHookReview({ hooks, editor, l10n, workspace }: Parts) {
  return {
    /** Show every command and ask once for those that wait. True when they may run now. */
    async review(cwd: string): Promise<boolean> {
      const report = await hooks.report(cwd)
      const show = (shown: HookReport) => editor.openText({ name: keptNames.hooks(l10n.t('Hooks')), text: hookDocument(shown, { l10n, workspace }), language: 'markdown' })
      await show(report)
      const waiting = report.files.filter(({ state }) => state === 'waits')
      if (waiting.length === 0) return false
      const count = waiting.reduce((sum, file) => sum + file.hooks.length, 0)
      const isSure = await editor.confirm({
        text: count === 1 ? l10n.t('Let this command run by itself during sessions?') : l10n.t('Let these {count} commands run by themselves during sessions?', { count }),
        detail: waiting.flatMap(({ path, hooks: all }) => [path, ...all.map(({ point, matcher, command }) => `    ${point}${matcher === '' ? '' : ` (${matcher})`}: ${command}`)]).join('\n'),
        yes: count === 1 ? l10n.t('Let It Run') : l10n.t('Let Them Run'),
      })
      if (!isSure) return false
      await hooks.allow(waiting)
      await show(await hooks.report(cwd))
      return true
    },

    /** The same page without a question. */
    page: async (cwd: string): Promise<string> => hookDocument(await hooks.report(cwd), { l10n, workspace }),
  }
}

/** All configured hooks as a page of Markdown: what runs when, what waits, what is skipped and why. */
export function hookDocument({ files, skipped, note }: HookReport, { l10n, workspace }: Pick<Parts, 'l10n' | 'workspace'>): string {
  const place = (path: string) => plainCell(placeWords(path, workspace.folders()))
  const lines = [`# ${l10n.t('Hooks')}`, '', l10n.t('Commands that agent configurations name for moments of a session. They run only after you let them, and wait again when their file changes.'), '']
  if (note !== undefined) lines.push(note, '')
  if (files.length === 0) lines.push(l10n.t('There are none.'), '')
  for (const { path, state, hooks, root } of files) {
    lines.push(`## ${place(path)}`, '')
    if (root?.label !== undefined) lines.push(l10n.t('Of the folder {folder}.', { folder: plainCell(root.label) }), '')
    lines.push(state === 'runs' ? l10n.t('These run.') : l10n.t('These wait for you: use “Bosun: Review Hooks…”.'), '')
    lines.push(tableRow([l10n.t('Moment'), l10n.t('For'), l10n.t('Command')]), '| --- | --- | --- |')
    for (const { point, matcher, command } of hooks) lines.push(tableRow([point, matcher === '' ? l10n.t('everything') : plainCell(matcher), plainCell(command)]))
    lines.push('')
  }
  if (skipped.length > 0) {
    lines.push(`## ${l10n.t('Does not run')}`, '', tableRow([l10n.t('File'), l10n.t('Place'), l10n.t('Reason')]), '| --- | --- | --- |')
    for (const { path, at, reason } of skipped) lines.push(tableRow([place(path), plainCell(at), plainCell(reason)]))
    lines.push('')
  }
  return lines.join('\n')
}
