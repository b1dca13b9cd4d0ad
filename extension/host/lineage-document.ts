import type { Localization } from '../capabilities/localization.ts'
import type { Lineage, LineageBranch, LineageNode, Title } from '../features/history/service.ts'
import { plainCell } from './markdown-table.ts'

/** Where a session comes from and what came out of it, as a page of Markdown. */
export function lineageDocument(lineage: Lineage, l10n: Localization): string {
  const { t } = l10n
  const { ancestors, descendants, outsideChildren, isCapped } = lineage
  const line = (node: LineageNode) => `${plainCell(titleText(node.title, l10n))} — ${day(node.createdAt)}, \`${node.id}\``
  // The oldest ancestor stands first, each below what it came out of.
  const path = [...ancestors].reverse()
  const lines = path.map((ancestor, depth) => `${'  '.repeat(depth)}- ${ancestor === 'outside' ? t('(a session that is gone)') : line(ancestor)}`)
  const indent = '  '.repeat(path.length)
  return [
    `# ${t('Trace of “{title}”', { title: titleText(lineage.title, l10n) })}`,
    '',
    t('Created {time}.', { time: new Date(lineage.createdAt).toISOString().replace('T', ' ').slice(0, 16) }),
    '',
    ...lines,
    `${indent}- **${line(lineage)}**`,
    ...branchLines(descendants, outsideChildren, `${indent}  `, { line, outside: t('(a session that is gone)') }),
    ...(isCapped ? ['', t('There are more than these.')] : []),
    ...(ancestors.length === 0 && descendants.length === 0 ? ['', t('No session came before it, and none came out of it: forks of it and agents it starts will stand here.')] : []),
    '',
  ].join('\n')
}

const titleText = (title: Title, { t }: Localization): string => ('title' in title ? title.title : t('untitled ({problem})', { problem: title.problem }))
const day = (time: number): string => new Date(time).toISOString().slice(0, 10)

const branchLines = (branches: readonly LineageBranch[], outside: number, indent: string, words: { readonly line: (node: LineageNode) => string; readonly outside: string }): readonly string[] => [
  ...branches.flatMap((branch) => [`${indent}- ${words.line(branch)}`, ...branchLines(branch.children, branch.outsideChildren, `${indent}  `, words)]),
  ...Array.from({ length: outside }, () => `${indent}- ${words.outside}`),
]
