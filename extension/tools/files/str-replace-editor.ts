import { FileError, notRegular, staleVersion, type FileStat, type FileTarget, type TextFile, type TextReplacement } from '../../capabilities/file-system.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import { sessionFolder } from '../session-folder.ts'
import { onOneLine } from '../shown-path.ts'
import { explainMiss } from './explain-miss.ts'
import { explainStale } from './explain-stale.ts'
import { lineEndAt } from './line-ends.ts'
import { keepBeforeImage, MAX_CHANGED_BYTES, type FileToolNeeds } from './file-change.ts'
import { findAll, listedMatches } from './plan-edit.ts'
import { presentCall, type StrReplaceEditorArgs } from './str-replace-editor.card.ts'

/** Characters (UTF-16 units) of one answer. Source: capability specification 9 `maxOutputChars`. */
export const MAX_OUTPUT_CHARS = 16_000
/** Levels of folders below the one that is viewed. */
const VIEWED_LEVELS = 2
const hiddenNames: ReadonlySet<string> = new Set(['node_modules', '__pycache__'])

/** `str_replace_editor`: one tool to look at, create and change files, for models that were trained on it. Source: capability specification 9. */
export function createStrReplaceEditor(needs: FileToolNeeds): ToolDefinition {
  const { files, observations } = needs
  return defineTool({
    name: 'str_replace_editor',
    description:
      'View, create and change files. `view` shows a file with line numbers, or a folder two levels deep; `create` makes a new file; `str_replace` replaces text that stands in the file exactly once; `insert` puts text after a line.',
    parameters: {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'], required: true },
      path: { type: 'string', required: true, description: 'Absolute path.' },
      file_text: { type: 'string', description: 'create: the whole text.' },
      old_str: { type: 'string', description: 'str_replace: the text to replace, white space included.' },
      new_str: { type: 'string', description: 'str_replace: what stands there afterwards, left out to delete. insert: the text.' },
      insert_line: { type: 'integer', description: 'insert: after this line; 0 is the top.' },
      view_range: { type: 'array', items: { type: 'integer' }, description: 'view: first and last line, from 1; -1 is the end.' },
    },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    limits: [
      { of: 'the answer', max: MAX_OUTPUT_CHARS, unit: 'characters' },
      { of: 'a file that is shown or changed', max: MAX_CHANGED_BYTES, unit: 'bytes' },
    ],
    async execute(args, exec) {
      if (args.path.trim() === '') throw invalid('path is blank. Give the absolute path of a file.')
      const cwd = sessionFolder(exec)
      if (!isAbsolute(args.path)) throw invalid(`${args.path} is not absolute. Maybe you mean ${cwd.replace(/[\\/]$/, '')}/${args.path.replace(/^\.\//, '')}.`)
      const target = await files.resolve(args.path, cwd, exec.signal)
      const act = { args, target, exec }
      switch (args.command) {
        case 'view':
          return clipped(await view(act))
        case 'create':
          return await create(act)
        case 'str_replace':
          return await replace(act)
        case 'insert':
          return await insert(act)
      }
    },
    presentCall,
  })

  interface Act {
    readonly args: StrReplaceEditorArgs
    readonly target: FileTarget
    readonly exec: BodyExecution
  }

  async function view({ args, target, exec }: Act): Promise<string> {
    const stat = await present(target, exec)
    if (stat.kind === 'directory') {
      if (args.view_range !== undefined) throw invalid('view_range is for files; a folder is shown whole.')
      return await folderListing(args.path, target, exec)
    }
    const file = await text(target, exec)
    observations.observe(exec.agent, target, file)
    const lines = file.text.split('\n')
    const [first, last] = viewedRange(args.view_range, lines.length)
    const range = args.view_range === undefined ? '' : `, lines ${first} to ${last}`
    return [`${args.path} (${lines.length} ${lines.length === 1 ? 'line' : 'lines'}${range})`, ...lines.slice(first - 1, last).map((line, index) => `${String(first + index).padStart(6)}  ${line}`)].join('\n')
  }

  async function folderListing(path: string, target: FileTarget, exec: BodyExecution): Promise<string> {
    const rows = await below(path.replace(/(?<=.)[\\/]+$/, ''), target, VIEWED_LEVELS, exec)
    const sorted = rows.toSorted((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0))
    return [`${path}: what is in it, two levels deep, without hidden files`, `d\t${path}`, ...sorted.map(({ kind, path: shown }) => `${kind}\t${onOneLine(shown)}`)].join('\n')
  }

  async function below(path: string, target: FileTarget, levels: number, exec: BodyExecution): Promise<readonly { readonly kind: string; readonly path: string }[]> {
    const entries = (await files.readDirectory(target, exec.signal)).filter(({ name }) => !name.startsWith('.') && !hiddenNames.has(name))
    const rows = await Promise.all(
      entries.map(async ({ name, kind }) => {
        const child = `${path}/${name}`
        const row = { kind: kind === 'directory' ? 'd' : kind === 'file' ? 'f' : '?', path: child }
        if (kind !== 'directory' || levels === 1) return [row]
        try {
          return [row, ...(await below(child, await files.resolve(child, child, exec.signal), levels - 1, exec))]
        } catch (error) {
          exec.signal.throwIfAborted()
          // A folder nobody may look into is shown without what is in it.
          if (error instanceof FileError) return [row]
          throw error
        }
      }),
    )
    return rows.flat()
  }

  async function create({ args, target, exec }: Act): Promise<string> {
    const { file_text: content, path } = args
    if (content === undefined) throw invalid('create needs file_text; an empty text makes an empty file.')
    const stat = await statOf(target, exec)
    if (stat !== null) throw invalid(`${path} is there already. Change it with str_replace or insert.`)
    const expect = await observations.writeIntent(exec.agent, target, null)
    await keepBeforeImage(needs, target, exec)
    const outcome = await files.writeText({ target, text: content, expect, label: `Bosun: create ${path}`, signal: exec.signal })
    observations.observe(exec.agent, target, { version: outcome.version, text: outcome.after })
    return `Created ${path}.`
  }

  async function replace({ args, target, exec }: Act): Promise<string> {
    const { path, old_str: wanted, new_str: replacement = '' } = args
    const { version } = await observations.editIntent(exec.agent, target)
    if (wanted === undefined || wanted === '') throw invalid('str_replace needs old_str, the text to replace; it may not be empty.')
    const file = await current(target, version, exec)
    const found = findAll(file.text, wanted)
    const [start] = found
    if (start === undefined) throw new FileError('FS_EDIT_NOT_FOUND', explainMiss({ path, text: file.text, wanted, replacement, names: { wanted: 'old_str', replacement: 'new_str' } }))
    if (found.length > 1) throw new FileError('FS_AMBIGUOUS_EDIT', `old_str stands ${found.length} times in ${path}. Nothing was changed. Add lines around it.\n${listedMatches(file.text, found)}`)
    await change({ args, target, exec }, { version, replacement: { start, end: start + wanted.length, newText: replacement } })
    return `Replaced the text in ${path}.`
  }

  async function insert({ args, target, exec }: Act): Promise<string> {
    const { path, insert_line: line, new_str: inserted } = args
    if (line === undefined || inserted === undefined) throw invalid('insert needs insert_line and new_str.')
    const { version } = await observations.editIntent(exec.agent, target)
    const file = await current(target, version, exec)
    const count = file.text.split('\n').length
    if (line < 0 || line > count) throw invalid(`insert_line is ${line}, and ${path} has ${count} ${count === 1 ? 'line' : 'lines'}. Give a number from 0 to ${count}.`)
    await change({ args, target, exec }, { version, replacement: insertionAt(file.text, line, inserted) })
    return `Inserted the text into ${path} after line ${line}.`
  }

  async function change({ args, target, exec }: Act, { version, replacement }: { readonly version: TextFile['version']; readonly replacement: TextReplacement }): Promise<void> {
    await keepBeforeImage(needs, target, exec)
    const outcome = await files.editText({ target, replacements: [replacement], expect: { kind: 'version', version }, label: `Bosun: ${args.command} ${args.path}`, signal: exec.signal })
    observations.observe(exec.agent, target, { version: outcome.version, text: outcome.after })
  }

  /** What is there; its absence is remembered. Errors: `FileError` `FS_NOT_FOUND`, `FS_NOT_REGULAR_FILE` for what is neither file nor folder. */
  async function present(target: FileTarget, exec: BodyExecution): Promise<FileStat> {
    try {
      const stat = await files.stat(target, exec.signal)
      if (stat.kind === 'other') throw notRegular(target.spelling, 'other')
      return stat
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') observations.observe(exec.agent, target, 'absent')
      throw error
    }
  }

  /** Null when nothing is there. */
  async function statOf(target: FileTarget, exec: BodyExecution): Promise<FileStat | null> {
    try {
      return await files.stat(target, exec.signal)
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') return null
      throw error
    }
  }

  async function text(target: FileTarget, exec: BodyExecution): Promise<TextFile> {
    return await files.readText(target, { maxBytes: MAX_CHANGED_BYTES, signal: exec.signal })
  }

  /** The text in the very version that was seen. Errors: `FileError` `FS_STALE_VERSION`. */
  async function current(target: FileTarget, version: TextFile['version'], exec: BodyExecution): Promise<TextFile> {
    const stat = await present(target, exec)
    if (stat.kind === 'directory') throw notRegular(target.spelling, 'directory')
    const file = await text(target, exec)
    if (file.version !== version) throw await explainStale(needs, { failure: staleVersion(target.spelling, file.isDirty ? 'has unsaved changes in the editor, made' : 'changed'), target, version, exec })
    return file
  }
}

/** The first and the last line to show. Errors: `ToolError` `INVALID_ARGS`. */
function viewedRange(range: readonly number[] | undefined, count: number): readonly [number, number] {
  if (range === undefined) return [1, count]
  const [first, last] = range
  if (range.length !== 2 || first === undefined || last === undefined) throw invalid('view_range is two whole numbers: the first and the last line.')
  if (first < 1 || first > count) throw invalid(`view_range begins at line ${first}, and the file has ${count} ${count === 1 ? 'line' : 'lines'}.`)
  if (last === -1) return [first, count]
  if (last > count) throw invalid(`view_range ends at line ${last}, and the file has ${count} ${count === 1 ? 'line' : 'lines'}. Use -1 for the end.`)
  if (last < first) throw invalid(`view_range ends at line ${last}, before it begins at ${first}.`)
  return [first, last]
}

/** Whole lines after line `line`; the text brings no line end of its own to its last line. Lines that bring no CR end as those around them. */
function insertionAt(text: string, line: number, inserted: string): TextReplacement {
  const { start, end, newText } = linesInsertedAt(text, line, inserted)
  const lineEnd = inserted.includes('\r') ? '\n' : lineEndAt(text, start)
  return { start, end, newText: lineEnd === '\n' ? newText : newText.replaceAll('\n', lineEnd) }
}

function linesInsertedAt(text: string, line: number, inserted: string): TextReplacement {
  if (line === 0) return { start: 0, end: 0, newText: text === '' ? inserted : `${inserted}\n` }
  let offset = -1
  for (let passed = 0; passed < line; passed += 1) {
    const next = text.indexOf('\n', offset + 1)
    // After the last line, which no line end closes.
    if (next < 0) return { start: text.length, end: text.length, newText: `\n${inserted}` }
    offset = next
  }
  return { start: offset + 1, end: offset + 1, newText: `${inserted}\n` }
}

/** The head of a long answer, and how to see the rest. */
function clipped(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text
  const head = text.slice(0, MAX_OUTPUT_CHARS).toWellFormed()
  return `${head}\n(Cut at ${MAX_OUTPUT_CHARS} characters. Find the lines you need with a search first, then view them with view_range.)`
}

const isAbsolute = (path: string): boolean => /^([\\/]|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]+:\/\/)/.test(path)
const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
