import { MAX_SEARCH_BYTES, type TextHits, type TextMatch } from '../../capabilities/search.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import { onOneLine } from '../shown-path.ts'
import { fittingItems, MAX_META_BYTES } from './card-page.ts'
import type { SearchToolNeeds } from './glob.ts'
import { contentPage, countByFile, firstMatches, MAX_LINE_BYTES, shownLine, type GrepLine } from './grep-page.ts'
import { presentCall, presentResult } from './grep.card.ts'
import { ignoredHint, pageFooter, saveResults, type Saved } from './saved-results.ts'
import { searchRoots } from './search-roots.ts'

const DEFAULT_LIMIT = 250
const MAX_LIMIT = 1_000
const MAX_CONTEXT = 20
const NOT_TEXT = '(this line is not valid UTF-8)'

/** `grep`: find lines by regular expression. Source: capability specification 11, design 6.1. */
export const createGrep = (needs: SearchToolNeeds): ToolDefinition =>
  defineTool({
    name: 'grep',
    description: 'Search file contents with a Rust regular expression. Leaves out ignored, hidden and binary files.',
    parameters: {
      pattern: { type: 'string', required: true },
      path: { type: 'string', description: 'File or folder.' },
      include: { type: 'string', description: 'One glob for file names, such as *.{ts,tsx}.' },
      ignore_case: { type: 'boolean' },
      context: { type: 'integer', description: 'Lines around each match.' },
      multiline: { type: 'boolean', description: 'Let . and the pattern cross lines.' },
      type: { type: 'string', description: 'ripgrep file type, such as rust.' },
      include_ignored: { type: 'boolean' },
      output_mode: { type: 'string', enum: ['content', 'files', 'count'] },
      head_limit: { type: 'integer', description: `Entries shown, default ${DEFAULT_LIMIT}.` },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          matches: {
            type: 'array',
            required: true,
            description: 'Complete, by path and line.',
            items: {
              type: 'object',
              properties: {
                path: { type: 'string', required: true },
                lineNumber: { type: 'integer', required: true },
                line: { type: 'string', required: true },
                isContext: { type: 'boolean', const: true },
                column: { type: 'integer' },
              },
              additionalProperties: false,
            },
          },
          notes: { type: 'array', items: { type: 'string' }, required: true },
          savedTo: { type: 'string' },
          saveFailed: { type: 'boolean', const: true },
        },
        additionalProperties: false,
      },
      render: (args, { matches, notes, savedTo, saveFailed }) => {
        const saved: Saved = { ...(savedTo !== undefined && { savedTo }), ...(saveFailed && { saveFailed }) }
        return [{ type: 'text', text: [page(args, matches, saved), ...notes.map((note) => `(${note})`)].join('\n') }]
      },
      presentationMeta: (_args, { matches }) => cardFacts(matches),
    },
    timeoutMs: 30_000,
    limits: [
      { of: 'matches on a page unless head_limit says otherwise', max: DEFAULT_LIMIT, unit: 'lines' },
      { of: 'head_limit', max: MAX_LIMIT, unit: 'lines' },
      { of: 'context around a match', max: MAX_CONTEXT, unit: 'lines' },
      { of: 'one line on a page', max: MAX_LINE_BYTES, unit: 'bytes' },
      { of: 'what is found', max: MAX_SEARCH_BYTES, unit: 'bytes' },
      { of: 'facts of the card', max: MAX_META_BYTES, unit: 'bytes' },
    ],
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      checkArguments(args)
      const { roots, glob: include, shown } = await searchRoots(needs, { path: args.path, glob: args.include, kind: 'any' }, exec)
      const hits = await Promise.all(
        roots.map((root) =>
          needs.search.text({
            root,
            pattern: args.pattern,
            ...(include !== undefined && { include }),
            ...(args.type !== undefined && { type: args.type }),
            ignoreCase: args.ignore_case === true,
            multiline: args.multiline === true,
            includeIgnored: args.include_ignored === true,
            contextLines: args.context ?? 0,
            signal: exec.signal,
          }),
        ),
      )
      const matches = withoutRepeats(hits).map((match) => lineOf(match, shown))
      const saved = isOverPage(args, matches) ? await saveResults(needs, exec, 'grep-results.txt', () => `${contentPage(matches)}\n`) : {}
      return { matches, notes: [...new Set(hits.flatMap((hit) => notesOf(hit, shown)))], ...saved }
    },
    presentCall,
    presentResult,
  })

interface GrepArgs {
  readonly pattern: string
  readonly path?: string
  readonly include?: string
  readonly context?: number
  readonly include_ignored?: boolean
  readonly output_mode?: 'content' | 'files' | 'count'
  readonly head_limit?: number
}

function checkArguments({ pattern, path, include, context = 0, head_limit = DEFAULT_LIMIT }: GrepArgs): void {
  if (pattern === '') throw invalid('pattern is empty. Give a regular expression.')
  if (path?.trim() === '') throw invalid('path is blank. Leave it out to search everywhere.')
  if (include !== undefined) checkInclude(include)
  if (context < 0 || context > MAX_CONTEXT) throw invalid(`context must be 0 to ${MAX_CONTEXT}, not ${context}.`)
  if (head_limit < 1 || head_limit > MAX_LIMIT) throw invalid(`head_limit must be 1 to ${MAX_LIMIT}, not ${head_limit}.`)
}

/** One positive glob: a list or an exclusion would be read as something else. */
function checkInclude(include: string): void {
  if (include.trim() === '') throw invalid('include is blank. Leave it out to search all files.')
  if (include.startsWith('!')) throw invalid('include cannot exclude files. Name the files to search instead.')
  let depth = 0
  for (const char of include) {
    if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (char === ',' && depth === 0) throw invalid('include is one glob, not a list. Put alternatives in braces, such as *.{ts,tsx}.')
  }
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)

const lineOf = ({ path, lineNumber, line, isContext, column }: TextMatch, shown: (path: string) => string): GrepLine => ({
  path: shown(path),
  lineNumber,
  line: line ?? NOT_TEXT,
  ...(isContext && { isContext }),
  ...(column !== undefined && { column }),
})

/** The lines of all roots; a file that two of them hold is there once. */
function withoutRepeats(hits: readonly TextHits[]): readonly TextMatch[] {
  const seen = new Set<string>()
  return hits.flatMap(({ matches }) => {
    const fresh = matches.filter(({ path }) => !seen.has(path))
    for (const { path } of fresh) seen.add(path)
    return fresh
  })
}

function notesOf({ skippedNames, overlaidPaths, notes }: TextHits, shown: (path: string) => string): readonly string[] {
  return [
    ...(skippedNames > 0 ? [`${skippedNames} files with names that are not valid UTF-8 were left out`] : []),
    ...(overlaidPaths.length > 0 ? [`unsaved text of the editor was searched in ${overlaidPaths.map((path) => onOneLine(shown(path))).join(', ')}`] : []),
    ...notes,
  ]
}

function isOverPage({ output_mode = 'content', head_limit = DEFAULT_LIMIT }: GrepArgs, matches: readonly GrepLine[]): boolean {
  const entries = output_mode === 'content' ? matches.filter(({ isContext }) => !isContext).length : countByFile(matches).size
  return entries > head_limit
}

function page({ pattern, include_ignored, context = 0, output_mode = 'content', head_limit = DEFAULT_LIMIT }: GrepArgs, matches: readonly GrepLine[], saved: Saved): string {
  const files = countByFile(matches)
  const total = [...files.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return `No lines match ${pattern}.${ignoredHint(include_ignored)}`
  const found = `Found ${total} ${total === 1 ? 'match' : 'matches'} in ${files.size} ${files.size === 1 ? 'file' : 'files'}`
  if (output_mode === 'content') {
    const body = contentPage(firstMatches(matches, head_limit, context))
    return total <= head_limit ? `${found}\n\n${body}` : `${found}, the first ${head_limit} shown\n\n${body}\n\n${pageFooter(head_limit, total, 'matches', saved)}`
  }
  const lines = [...files].slice(0, head_limit).map(([path, count]) => (output_mode === 'count' ? `${onOneLine(path)}: ${count}` : onOneLine(path)))
  return [found, '', ...lines, ...(files.size > head_limit ? ['', pageFooter(head_limit, files.size, 'files', saved)] : [])].join('\n')
}

/** Matching lines by file, as many as a card may keep. */
function cardFacts(matches: readonly GrepLine[]) {
  const hits = matches.filter(({ isContext }) => !isContext)
  const kept = fittingItems(mapLazily(hits, ({ path, lineNumber, line, column }) => ({ path, lineNumber, line: shownLine(line), ...(column !== undefined && { column }) })))
  const files = new Map<string, { lineNumber: number; line: string; column?: number }[]>()
  for (const { path, ...match } of kept) {
    const lines = files.get(path) ?? []
    files.set(path, lines)
    lines.push(match)
  }
  return { files: [...files].map(([path, lines]) => ({ path, matches: lines })), total: hits.length, truncated: kept.length < hits.length }
}

function* mapLazily<T, U>(items: Iterable<T>, map: (item: T) => U): Iterable<U> {
  for (const item of items) yield map(item)
}
