import type { Localization } from '../capabilities/localization.ts'
import type { Workspace } from '../capabilities/workspace.ts'
import type { InstructionReport, InstructionRow } from '../features/instructions/service.ts'
import { plainCell, tableRow } from './markdown-table.ts'
import { placeWords } from './place-words.ts'

/** What was loaded of the instruction files, what was cut and why, as a page of Markdown. */
export function instructionDocument({ rows, maxBytes, note }: InstructionReport, { l10n, workspace }: { readonly l10n: Localization; readonly workspace: Pick<Workspace, 'folders'> }): string {
  const lines = [
    `# ${l10n.t('Instruction files')}`,
    '',
    l10n.t('Standing instructions that the model is told, broad ones first. One message of them may have {bytes} bytes (setting {setting}); broader files are left out first, then the most specific one is cut.', {
      bytes: maxBytes.toLocaleString('en'),
      setting: '`bosun.instructions.maxBytes`',
    }),
    '',
  ]
  if (note !== undefined) lines.push(note, '')
  if (rows.length === 0) {
    if (note === undefined) lines.push(l10n.t('There are none. {command} in the chat asks the model to write one.', { command: '`/init`' }), '')
    return lines.join('\n')
  }
  const head = [l10n.t('File'), l10n.t('Holds for'), l10n.t('Bytes'), l10n.t('State'), l10n.t('Reason')]
  lines.push(tableRow(head), '| --- | --- | ---: | --- | --- |', ...rows.map((row) => tableRow(cells(row, l10n, (path) => placeWords(path, workspace.folders())))), '')
  return lines.join('\n')
}

function cells({ path, scope, bytes, state, reason }: InstructionRow, l10n: Localization, place: (path: string) => string): readonly string[] {
  const held = scope.kind === 'user' ? l10n.t('all projects') : scope.label === undefined ? place(scope.folder) : `${place(scope.folder)} (${scope.label})`
  return [place(path), held, bytes === null ? '' : bytes.toLocaleString('en'), stateName(state, l10n), reason ?? ''].map(plainCell)
}

function stateName(state: InstructionRow['state'], l10n: Localization): string {
  switch (state) {
    case 'delivered':
      return l10n.t('delivered')
    case 'cut':
      return l10n.t('cut')
    case 'dropped':
      return l10n.t('left out')
    case 'pending':
      return l10n.t('waits')
    case 'ignored':
      return l10n.t('ignored')
  }
}
