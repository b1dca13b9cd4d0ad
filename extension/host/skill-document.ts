import type { Localization } from '../capabilities/localization.ts'
import type { Workspace } from '../capabilities/workspace.ts'
import type { SkillReport, SkillRow } from '../features/skills/service.ts'
import { plainCell, tableRow } from './markdown-table.ts'
import { placeWords } from './place-words.ts'

/** Which skills there are, which were passed over and why, as a page of Markdown. */
export function skillDocument({ rows, note }: SkillReport, { l10n, workspace }: { readonly l10n: Localization; readonly workspace: Pick<Workspace, 'folders'> }): string {
  const { t } = l10n
  const place = (path: string) => placeWords(path, workspace.folders())
  const loaded = rows.filter(({ state }) => state === 'loaded')
  const others = rows.filter(({ state }) => state !== 'loaded')
  const lines = [
    `# ${t('Skills')}`,
    '',
    t('Packages of instructions that the model loads when it needs them, and that you call with {call} in a message. They stand in {folders} of the workspace and of your home folder; where two have one name, the upper one goes first.', {
      call: '`/name`',
      folders: '`.bosun/skills`, `.agents/skills`, `.claude/skills`',
    }),
    '',
  ]
  if (note !== undefined) lines.push(note, '')
  if (rows.length === 0) lines.push(t('There are none. A skill is a folder with a {file}: a name and a description between two lines of three dashes, then what the model should do.', { file: '`SKILL.md`' }), '')
  if (loaded.length > 0) {
    lines.push(tableRow([t('Skill'), t('Description'), t('Called by'), t('Belongs to'), t('File')]), '| --- | --- | --- | --- | --- |', ...loaded.map((row) => loadedRow({ ...row, path: place(row.path) }, l10n)), '')
  }
  if (others.length > 0) {
    lines.push(`## ${t('Not loaded')}`, '', tableRow([t('Skill'), t('Reason'), t('File')]), '| --- | --- | --- |', ...others.map(({ name, reason = '', path }) => tableRow([name, reason, place(path)].map(plainCell))), '')
  }
  return lines.join('\n')
}

function loadedRow(row: SkillRow, l10n: Localization): string {
  const { name, description = '', path } = row
  return tableRow([name, description, callers(row, l10n), owner(row, l10n), path].map(plainCell))
}

function callers({ isForModel, isForPerson }: SkillRow, { t }: Localization): string {
  if (isForModel && isForPerson) return t('you and the model')
  if (isForModel) return t('the model')
  return isForPerson ? t('you') : t('nobody')
}

function owner({ origin, label }: SkillRow, { t }: Localization): string {
  switch (origin) {
    case 'project':
      return label === undefined ? t('the project') : t('the project {name}', { name: label })
    case 'contributed':
      return t('an extension')
    case 'custom':
      return t('a folder of your settings')
    case 'user':
      return t('you')
    case 'bundled':
      return 'Bosun'
  }
}
