import type { FileSystem } from '../../capabilities/file-system.ts'
import { MAX_SEARCH_BYTES, type FileHits, type Search } from '../../capabilities/search.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import { onOneLine } from '../shown-path.ts'
import { fittingItems, MAX_META_BYTES } from './card-page.ts'
import { presentCall, presentResult } from './glob.card.ts'
import { ignoredHint, pageFooter, saveResults, type SaveNeeds, type Saved } from './saved-results.ts'
import { searchRoots } from './search-roots.ts'

export type SearchToolNeeds = SaveNeeds & {
  readonly search: Search
  readonly files: Pick<FileSystem, 'resolve' | 'stat'>
  readonly workspace: Pick<Workspace, 'folders'>
}

const MAX_SHOWN_PATHS = 100
const MAX_SUMMARY_FOLDERS = 8

/** `glob`: find files by pattern, newest first. Source: capability specification 10, design 6.1. */
export const createGlob = (needs: SearchToolNeeds): ToolDefinition =>
  defineTool({
    name: 'glob',
    description: 'Find files by name, newest first. A pattern without / matches at any depth. Leaves out what git ignores.',
    parameters: {
      pattern: { type: 'string', required: true, description: 'Such as src/**/*.ts.' },
      path: { type: 'string', description: 'Folder to look in.' },
      include_ignored: { type: 'boolean' },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          root: { type: 'string', required: true },
          paths: { type: 'array', items: { type: 'string' }, required: true, description: 'Complete, newest first.' },
          skippedNames: { type: 'integer', required: true },
          notes: { type: 'array', items: { type: 'string' } },
          savedTo: { type: 'string' },
          saveFailed: { type: 'boolean', const: true },
        },
        additionalProperties: false,
      },
      render: ({ pattern, include_ignored }, { paths, skippedNames, notes = [], savedTo, saveFailed }) => {
        const asides = notes.map((note) => `(${note})`)
        if (paths.length === 0) return text([`No files match ${pattern}.${ignoredHint(include_ignored)}`, ...asides].join('\n'))
        const saved: Saved = { ...(savedTo !== undefined && { savedTo }), ...(saveFailed && { saveFailed }) }
        return text(
          [
            ...paths.slice(0, MAX_SHOWN_PATHS).map(onOneLine),
            ...(paths.length > MAX_SHOWN_PATHS ? ['', pageFooter(MAX_SHOWN_PATHS, paths.length, 'files, newest first', saved), byFolder(paths)] : []),
            ...(skippedNames > 0 ? [`(${skippedNames} files with names that are not valid UTF-8 are left out)`] : []),
            ...asides,
          ].join('\n'),
        )
      },
      presentationMeta: (_args, { paths }) => {
        const shown = fittingItems(paths)
        return { paths: shown, total: paths.length, truncated: shown.length < paths.length }
      },
    },
    timeoutMs: 30_000,
    limits: [
      { of: 'paths on a page', max: MAX_SHOWN_PATHS, unit: 'items' },
      { of: 'what is found', max: MAX_SEARCH_BYTES, unit: 'bytes' },
      { of: 'facts of the card', max: MAX_META_BYTES, unit: 'bytes' },
    ],
    isConcurrencySafe: () => true,
    async execute({ pattern, path, include_ignored = false }, exec) {
      if (pattern.trim() === '') throw new ToolError('INVALID_ARGS', 'pattern is blank. Give a pattern such as **/*.ts.')
      if (path?.trim() === '') throw new ToolError('INVALID_ARGS', 'path is blank. Leave it out to look everywhere.')
      const { roots, glob = pattern, shown } = await searchRoots(needs, { path, glob: pattern, kind: 'folder' }, exec)
      const hits = await Promise.all(
        roots.map((root) => needs.search.files({ root, glob, includeIgnored: include_ignored, sort: 'newest', signal: exec.signal })),
      )
      const paths = newestFirst(hits).map(shown)
      const saved = paths.length > MAX_SHOWN_PATHS ? await saveResults(needs, exec, 'glob-results.txt', () => `${paths.map(onOneLine).join('\n')}\n`) : {}
      const notes = [...new Set(hits.flatMap((hit) => hit.notes ?? []))]
      const skippedNames = hits.reduce((sum, hit) => sum + hit.skippedNames, 0)
      return { root: roots.map(shown).join(', '), paths, skippedNames, ...(notes.length > 0 && { notes }), ...saved }
    },
    presentCall,
    presentResult,
  })

const text = (content: string) => [{ type: 'text', text: content }] as const

/** The hits of all roots in one order; a file that two of them hold is there once. */
function newestFirst(hits: readonly FileHits[]): readonly string[] {
  const [only] = hits
  if (only && hits.length === 1) return only.paths
  const times = new Map<string, number>()
  for (const { paths, modifiedAt = [] } of hits) for (const [index, path] of paths.entries()) times.set(path, modifiedAt[index] ?? 0)
  return [...times].sort(([, a], [, b]) => b - a).map(([path]) => path)
}

/** Where the files are, so that a next search can be narrowed without reading the list. */
function byFolder(paths: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const folder = path.includes('/') ? path.slice(0, path.indexOf('/', 1) + 1) : '(top)'
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const largest = [...counts].sort(([, a], [, b]) => b - a)
  const named = largest.slice(0, MAX_SUMMARY_FOLDERS).map(([folder, count]) => `${onOneLine(folder)} ${count}`)
  return `By folder: ${named.join(', ')}${largest.length > named.length ? `, ${largest.length - named.length} more` : ''}`
}
