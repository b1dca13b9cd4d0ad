import { utf8Length } from '../../base/text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { FileError, ioError, notRegular, type FileLines, type FileTarget } from '../../capabilities/file-system.ts'
import type { Languages } from '../../capabilities/languages.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Observations } from '../../features/observation/service.ts'
import { sessionFolder } from '../session-folder.ts'
import { onOneLine } from '../shown-path.ts'
import { MAX_CHANGED_BYTES } from './file-change.ts'
import { createGitIgnores, isGenerated } from './file-nature.ts'
import { createReadSources, MAX_PDF_BYTES, type ReadSource, type ReadSourceNeeds } from './read-source.ts'
import { MAX_META_BYTES, presentCall, presentResult, readMeta } from './read.card.ts'
import { similarNames, splitPath } from './similar-names.ts'
import { symbolRanges, type LineRange } from './symbol-ranges.ts'

const MAX_LINES = 2_000
const MAX_LINE_LENGTH = 2_000
const MAX_BYTES = 51_200
const MAX_HINT_ENTRIES = 50
/** Parts of a file in one call. */
const MAX_RANGES = 20
const IMAGE_NAME = /\.(png|jpe?g|webp|gif)$/i

export interface ReadNeeds extends ReadSourceNeeds {
  readonly observations: Observations
  /** Null where no editor is. */
  readonly languages: Pick<Languages, 'ask'> | null
  readonly clock: Clock
}

/** `read`: a window of a text file, as the editor shows it. Source: capability specification 5 and 20.12. */
export function createRead(needs: ReadNeeds): ToolDefinition {
  const { files, observations } = needs
  const sourceOf = createReadSources(needs)
  const isGitIgnored = createGitIgnores(needs)
  return defineTool({
    name: 'read',
    description: `Read a text file, a notebook's cells or a PDF's text, with line numbers. At most ${MAX_LINES} lines at once.`,
    parameters: {
      file_path: { type: 'string', required: true },
      offset: { type: 'number', description: 'First line, from 1.' },
      limit: { type: 'number', description: 'Number of lines.' },
      ranges: { type: 'array', items: { type: 'array', items: { type: 'integer' } }, description: '[first, last] lines, in place of offset.' },
      symbol: { type: 'string', description: 'Only this, such as Class.method.' },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          path: { type: 'string', required: true },
          offset: { type: 'integer', required: true },
          lines: {
            type: 'array',
            required: true,
            items: {
              type: 'object',
              properties: { number: { type: 'integer', required: true }, text: { type: 'string', required: true }, isCut: { type: 'boolean', const: true } },
              additionalProperties: false,
            },
          },
          totalLines: { type: 'integer', required: true },
          isByteCapped: { type: 'boolean', const: true },
          isUnsaved: { type: 'boolean', const: true },
          encoding: { type: 'string', description: 'When it is not UTF-8.' },
          format: { type: 'string', enum: ['notebook', 'pdf'], description: 'When the lines are not those of the file itself.' },
          pages: { type: 'object', properties: { total: { type: 'integer', required: true }, read: { type: 'integer', required: true } }, additionalProperties: false },
          isGenerated: { type: 'boolean', const: true },
          isIgnored: { type: 'boolean', const: true, description: 'git ignores it.' },
        },
        additionalProperties: false,
      },
      render: (_args, value) => [{ type: 'text', text: envelope(value) }],
      presentationMeta: (_args, value) => readMeta(value),
    },
    limits: [
      { of: 'lines', max: MAX_LINES, unit: 'lines' },
      { of: 'one line', max: MAX_LINE_LENGTH, unit: 'characters' },
      { of: 'text of the lines', max: MAX_BYTES, unit: 'bytes' },
      { of: 'ranges', max: MAX_RANGES, unit: 'items' },
      { of: 'a PDF', max: MAX_PDF_BYTES, unit: 'bytes' },
      { of: 'a notebook', max: MAX_CHANGED_BYTES, unit: 'bytes' },
      { of: 'facts of the card', max: MAX_META_BYTES, unit: 'bytes' },
    ],
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      checkArguments(args)
      const { file_path, symbol } = args
      const target = await files.resolve(file_path, sessionFolder(exec), exec.signal)
      const [{ source, parts }, isIgnored] = await Promise.all([found(target, args, exec), target.exists ? isGitIgnored(target) : false])
      const [first] = parts
      if (first === undefined) throw new RangeError('A read has at least one part.')
      const { version, wholeText, totalLines } = first.found
      observations.observe(exec.agent, target, { version, ...(wholeText !== undefined && { text: wholeText }) })
      const beyond = symbol === undefined ? parts.find(({ range }) => range.first > Math.max(1, totalLines)) : undefined
      if (beyond) throw new FileError('FS_NOT_FOUND', `${file_path} has ${totalLines} lines, so there is no line ${beyond.range.first}. Use a smaller offset.`)
      const lines = parts.flatMap((part) => part.found.lines)
      const head = wholeText ?? (lines[0]?.number === 1 ? lines.map(({ text }) => text).join('\n') : '')
      return {
        path: file_path,
        offset: first.range.first,
        lines: lines.map(({ number, text, isCut }) => ({ number, text, ...(isCut && { isCut }) })),
        totalLines,
        ...(parts.some((part) => part.found.isByteCapped) && { isByteCapped: true as const }),
        ...(first.found.isDirty && { isUnsaved: true as const }),
        ...(first.found.form.encoding !== 'utf8' && { encoding: first.found.form.encoding }),
        ...(source.format && { format: source.format }),
        ...(source.pages && { pages: source.pages }),
        ...(source.format === undefined && isGenerated(target.path, head) && { isGenerated: true as const }),
        ...(isIgnored && { isIgnored: true as const }),
      }
    },
    presentCall,
    presentResult,
  })

  async function found(target: FileTarget, args: ReadArguments, exec: BodyExecution): Promise<{ readonly source: ReadSource; readonly parts: readonly ReadPart[] }> {
    try {
      const source = await sourceOf(target, exec)
      if (args.symbol !== undefined && source.format !== undefined) throw invalid(`symbol is for source code, and ${args.file_path} is none. Use offset and limit.`)
      const ranges = args.symbol === undefined ? rangesOf(args) : await symbolRanges(needs, { target, symbol: args.symbol, signal: exec.signal })
      return { source, parts: await partsOf(target, source, ranges) }
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') {
        observations.observe(exec.agent, target, 'absent')
        throw await withHint(error, () => withSimilarNames(target, error, exec))
      }
      if (error instanceof FileError && error.code === 'FS_NOT_TEXT' && IMAGE_NAME.test(target.path)) throw new FileError('FS_NOT_TEXT', `${target.spelling} is an image, not text. Look at it with read_image.`, { cause: error })
      if (error instanceof FileError && error.code === 'FS_NOT_REGULAR_FILE') throw await withHint(error, () => withListing(target, error, exec))
      throw error
    }
  }

  /** A slip in a name is best mended at once: say what stands beside it. */
  async function withSimilarNames(target: FileTarget, error: FileError, exec: BodyExecution): Promise<FileError> {
    const { folder, name } = splitPath(target.spelling)
    const parent = await files.resolve(folder, sessionFolder(exec), exec.signal)
    if (!parent.exists || (await files.stat(parent, exec.signal)).kind !== 'directory') return error
    const similar = similarNames(name, (await files.readDirectory(parent, exec.signal)).map((entry) => entry.name))
    return similar.length === 0 ? error : new FileError('FS_NOT_FOUND', `${error.message} Similar names there: ${similar.map(onOneLine).join(', ')}.`, { cause: error })
  }

  /** A folder's name for a file's is an easy mistake: say what is in it. */
  async function withListing(target: FileTarget, error: FileError, exec: BodyExecution): Promise<FileError> {
    if ((await files.stat(target, exec.signal)).kind !== 'directory') return error
    const entries = await files.readDirectory(target, exec.signal)
    const names = entries.slice(0, MAX_HINT_ENTRIES).map(({ name, kind }) => onOneLine(kind === 'directory' ? `${name}/` : name))
    const more = entries.length > names.length ? [`and ${entries.length - names.length} more`] : []
    return new FileError('FS_NOT_REGULAR_FILE', `${notRegular(target.spelling, 'directory').message}\n${[...names, ...more].join('\n') || '(it is empty)'}`)
  }
}

interface ReadArguments {
  readonly file_path: string
  readonly offset?: number
  readonly limit?: number
  readonly ranges?: readonly (readonly number[])[]
  readonly symbol?: string
}

/** Errors: `ToolError` `INVALID_ARGS`. */
function checkArguments({ file_path, offset, limit, ranges, symbol }: ReadArguments): void {
  if (file_path.trim() === '') throw invalid('file_path is blank. Give the path of a file.')
  if (offset !== undefined && (!Number.isInteger(offset) || offset < 1)) throw invalid(`offset must be a whole number of 1 or more, not ${offset}.`)
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1 || limit > MAX_LINES)) throw invalid(`limit must be a whole number from 1 to ${MAX_LINES}, not ${limit}.`)
  const ways = [offset !== undefined || limit !== undefined, ranges !== undefined, symbol !== undefined].filter(Boolean)
  if (ways.length > 1) throw invalid('Give offset and limit, or ranges, or symbol, not several of them.')
  if (symbol?.trim() === '') throw invalid('symbol is blank. Give a name, such as Class.method.')
  if (ranges === undefined) return
  if (ranges.length === 0 || ranges.length > MAX_RANGES) throw invalid(`ranges must have 1 to ${MAX_RANGES} parts, not ${ranges.length}.`)
  for (const range of ranges) {
    const [first, last] = range
    if (range.length !== 2 || first === undefined || last === undefined || first < 1 || last < first) throw invalid(`Each of ranges is [first, last], two lines from 1 on, not ${JSON.stringify(range)}.`)
  }
}

/** In their order, those that touch or overlap as one. */
function rangesOf({ offset = 1, limit = MAX_LINES, ranges }: ReadArguments): readonly LineRange[] {
  if (ranges === undefined) return [{ first: offset, last: offset + limit - 1 }]
  const joined: LineRange[] = []
  for (const [first = 1, last = 1] of ranges.toSorted((left, right) => (left[0] ?? 0) - (right[0] ?? 0))) {
    const before = joined.at(-1)
    if (before && first <= before.last + 1) joined[joined.length - 1] = { first: before.first, last: Math.max(before.last, last) }
    else joined.push({ first, last })
  }
  return joined
}

interface ReadPart {
  readonly range: LineRange
  readonly found: FileLines
}

/** All parts of one version, within the caps that hold for one read. Errors: `FileError` `FS_IO_ERROR` when the file changes while it is read. */
async function partsOf(target: FileTarget, source: ReadSource, ranges: readonly LineRange[]): Promise<readonly ReadPart[]> {
  const parts: ReadPart[] = []
  let [lines, bytes] = [MAX_LINES, MAX_BYTES]
  for (const range of ranges) {
    // At least one line is asked for, to have the facts of the file.
    const limit = Math.max(1, Math.min(lines, range.last - range.first + 1))
    const part = await source.lines({ offset: range.first, limit, maxLineLength: MAX_LINE_LENGTH, maxBytes: bytes })
    if (parts[0] !== undefined && part.version !== parts[0].found.version) throw ioError(target.spelling, 'it changed while its parts were read; read it again')
    parts.push({ range, found: part })
    lines -= part.lines.length
    bytes -= part.lines.reduce((sum, { text }) => sum + utf8Length(text) + 1, 0)
    if (part.isByteCapped || lines <= 0) break
  }
  return parts
}

/** The failure with what helps to mend it; a folder that cannot be listed, say, leaves it as it is. */
async function withHint(failure: FileError, hinted: () => Promise<FileError>): Promise<FileError> {
  try {
    return await hinted()
  } catch (error) {
    if (error instanceof FileError) return failure
    throw error
  }
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)

interface ReadValue {
  readonly path: string
  readonly lines: readonly { readonly number: number; readonly text: string; readonly isCut?: true }[]
  readonly totalLines: number
  readonly isByteCapped?: true
  readonly isUnsaved?: true
  readonly encoding?: string
  readonly format?: 'notebook' | 'pdf'
  readonly pages?: { readonly total: number; readonly read: number }
  readonly isGenerated?: true
  readonly isIgnored?: true
}

function envelope(value: ReadValue): string {
  const { path, lines, format } = value
  const attribute = path.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('\r', '&#13;').replaceAll('\n', '&#10;')
  return [
    `<file path="${attribute}"${format === undefined ? '' : ` format="${format}"`}>`,
    ...lines.flatMap(({ number, text, isCut }, index) => [
      ...(index > 0 && number !== (lines[index - 1]?.number ?? 0) + 1 ? ['…'] : []),
      `${number}: ${text}${isCut ? `… (line truncated to ${MAX_LINE_LENGTH} chars)` : ''}`,
    ]),
    '',
    `(${[footer(value), ...notes(value)].join(' ')})`,
    '</file>',
  ].join('\n')
}

function footer({ lines, totalLines, isByteCapped }: ReadValue): string {
  if (totalLines === 0) return 'The file is empty.'
  const last = lines.at(-1)?.number ?? 0
  if (isByteCapped) return `Output stopped at ${MAX_BYTES} bytes, line ${last} of ${totalLines}. Go on with offset ${last + 1}.`
  const runs = runsOf(lines)
  if (runs.length > 1) return `Lines ${runs.join(', ')} of ${totalLines}.`
  return last < totalLines ? `Lines ${runs[0] ?? '0-0'} of ${totalLines}. Go on with offset ${last + 1}.` : `End of file, ${totalLines} ${totalLines === 1 ? 'line' : 'lines'}.`
}

/** Lines that follow each other, as `first-last`. */
function runsOf(lines: ReadValue['lines']): readonly string[] {
  const runs: { first: number; last: number }[] = []
  for (const { number } of lines) {
    const run = runs.at(-1)
    if (run?.last === number - 1) run.last = number
    else runs.push({ first: number, last: number })
  }
  return runs.map(({ first, last }) => `${first}-${last}`)
}

function notes({ isUnsaved, encoding, format, pages, isGenerated: generated, isIgnored: ignored }: ReadValue): readonly string[] {
  return [
    ...(isUnsaved ? [`This is the ${format === 'notebook' ? 'notebook' : 'text'} in the editor, with changes that are not saved.`] : []),
    ...(encoding === undefined ? [] : [`Stored as ${encoding}.`]),
    ...(format === 'notebook' ? ['Cells of a notebook; edit changes their sources, without the headings.'] : []),
    ...(pages === undefined ? [] : [`The text of a PDF with ${pages.total} ${pages.total === 1 ? 'page' : 'pages'}${pages.read < pages.total ? `, of the first ${pages.read}` : ''}; pictures are not shown.`]),
    ...(generated ? ['It is a generated file: change what it is made from.'] : []),
    ...(ignored ? ['git ignores it.'] : []),
  ]
}
