import { FileError, notRegular, type FileLines, type FileSystem, type FileTarget } from '../../capabilities/file-system.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Observations } from '../../features/observation/service.ts'
import { sessionFolder } from '../session-folder.ts'
import { onOneLine } from '../shown-path.ts'
import { presentCall, presentResult, readMeta } from './read.card.ts'
import { similarNames, splitPath } from './similar-names.ts'

const MAX_LINES = 2_000
const MAX_LINE_LENGTH = 2_000
const MAX_BYTES = 51_200
const MAX_HINT_ENTRIES = 50

/** `read`: a window of a text file, as the editor shows it. Source: capability specification 5. */
export function createRead({ files, observations }: { readonly files: FileSystem; readonly observations: Observations }): ToolDefinition {
  return defineTool({
    name: 'read',
    description: `Read a text file, with line numbers. At most ${MAX_LINES} lines at once; use offset and limit for more.`,
    parameters: {
      file_path: { type: 'string', required: true },
      offset: { type: 'number', description: 'First line, from 1.' },
      limit: { type: 'number', description: 'Number of lines.' },
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
        },
        additionalProperties: false,
      },
      render: (_args, value) => [{ type: 'text', text: envelope(value) }],
      presentationMeta: (_args, value) => readMeta(value),
    },
    isConcurrencySafe: () => true,
    async execute({ file_path, offset = 1, limit = MAX_LINES }, exec) {
      if (file_path.trim() === '') throw invalid('file_path is blank. Give the path of a file.')
      if (!Number.isInteger(offset) || offset < 1) throw invalid(`offset must be a whole number of 1 or more, not ${offset}.`)
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LINES) throw invalid(`limit must be a whole number from 1 to ${MAX_LINES}, not ${limit}.`)
      const target = await files.resolve(file_path, sessionFolder(exec), exec.signal)
      const found = await readLines(target, { offset, limit }, exec)
      observations.observe(exec.agent, target, { version: found.version, ...(found.wholeText !== undefined && { text: found.wholeText }) })
      if (offset > Math.max(1, found.totalLines))
        throw new FileError('FS_NOT_FOUND', `${file_path} has ${found.totalLines} lines, so there is no line ${offset}. Use a smaller offset.`)
      return {
        path: file_path,
        offset,
        lines: found.lines.map(({ number, text, isCut }) => ({ number, text, ...(isCut && { isCut }) })),
        totalLines: found.totalLines,
        ...(found.isByteCapped && { isByteCapped: found.isByteCapped }),
        ...(found.isDirty && { isUnsaved: found.isDirty }),
        ...(found.form.encoding !== 'utf8' && { encoding: found.form.encoding }),
      }
    },
    presentCall,
    presentResult,
  })

  async function readLines(target: FileTarget, window: { readonly offset: number; readonly limit: number }, exec: BodyExecution): Promise<FileLines> {
    try {
      return await files.readLines(target, { ...window, maxLineLength: MAX_LINE_LENGTH, maxBytes: MAX_BYTES }, exec.signal)
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') {
        observations.observe(exec.agent, target, 'absent')
        throw await withHint(error, () => withSimilarNames(target, error, exec))
      }
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
}

function envelope({ path, lines, totalLines, isByteCapped, isUnsaved, encoding }: ReadValue): string {
  const last = lines.at(-1)?.number ?? 0
  const footer =
    totalLines === 0
      ? 'The file is empty.'
      : isByteCapped
        ? `Output stopped at ${MAX_BYTES} bytes, line ${last} of ${totalLines}. Go on with offset ${last + 1}.`
        : last < totalLines
          ? `Lines ${lines[0]?.number ?? 0}-${last} of ${totalLines}. Go on with offset ${last + 1}.`
          : `End of file, ${totalLines} ${totalLines === 1 ? 'line' : 'lines'}.`
  const notes = [
    ...(isUnsaved ? ['This is the text in the editor, with changes that are not saved.'] : []),
    ...(encoding === undefined ? [] : [`Stored as ${encoding}.`]),
  ]
  return [
    `<file path="${path.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('\r', '&#13;').replaceAll('\n', '&#10;')}">`,
    ...lines.map(({ number, text, isCut }) => `${number}: ${text}${isCut ? `… (line truncated to ${MAX_LINE_LENGTH} chars)` : ''}`),
    '',
    `(${[footer, ...notes].join(' ')})`,
    '</file>',
  ].join('\n')
}
