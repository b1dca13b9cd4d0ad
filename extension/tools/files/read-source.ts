import { LineWindowScanner } from '../../base/line-window.ts'
import { isPdf, pdfAsLines, type DocumentText } from '../../capabilities/document-text.ts'
import { FileError, MAX_WHOLE_TEXT_CHARS, versionOfBytes, type FileLines, type FileSystem, type FileTarget, type FileVersion, type LineWindow } from '../../capabilities/file-system.ts'
import type { Notebooks } from '../../capabilities/notebooks.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import { MAX_CHANGED_BYTES } from './file-change.ts'
import { cellsOfJson } from './notebook-json.ts'
import { notebookText } from './notebook-text.ts'

export interface ReadSourceNeeds {
  readonly files: FileSystem
  readonly documents: DocumentText
  /** Absent where no editor is. */
  readonly notebooks?: Notebooks
}

/** What can be read of a file by lines: its text, or what stands for it. */
export interface ReadSource {
  /** Absent: the file is text and is shown as it is. */
  readonly format?: 'notebook' | 'pdf'
  /** Of a PDF. `read` is less than `total` where a limit was met. */
  readonly pages?: { readonly total: number; readonly read: number }
  lines(window: LineWindow): Promise<FileLines>
}

export const MAX_PDF_BYTES = 50 * 1024 * 1024
const MAX_PDF_PAGES = 1_000
/** UTF-16 units of the text of a PDF. */
const MAX_PDF_CHARS = 4 * 1024 * 1024

/** Decides by what a file is called and holds how its lines are found. */
export function createReadSources({ files, documents, notebooks }: ReadSourceNeeds): (target: FileTarget, exec: BodyExecution) => Promise<ReadSource> {
  /** The PDF that was read last: whoever reads one reads on in it. */
  let lastPdf: { readonly version: FileVersion; readonly source: ReadSource } | undefined

  return async (target, exec) => {
    const ending = /\.[^./\\]+$/.exec(target.path)?.[0].toLowerCase()
    const special = ending === '.ipynb' ? await notebookSource(target, exec) : ending === '.pdf' ? await pdfSource(target, exec) : null
    return special ?? { lines: (window) => files.readLines(target, window, exec.signal) }
  }

  /** Null for what is called a notebook and is none. */
  async function notebookSource(target: FileTarget, { signal }: BodyExecution): Promise<ReadSource | null> {
    const open = await notebooks?.find(target)
    if (open) return { format: 'notebook', lines: linesOf(notebookText(open.cells).text, { version: open.version, source: 'buffer', isDirty: open.isDirty, isKept: true }) }
    let stored
    try {
      stored = await files.readText(target, { maxBytes: MAX_CHANGED_BYTES, signal })
    } catch (error) {
      // Too large to be taken apart, or no text: the ordinary way shows what can be shown, or says what is wrong.
      if (error instanceof FileError && (error.code === 'FS_TOO_LARGE' || error.code === 'FS_NOT_TEXT')) return null
      throw error
    }
    const cells = cellsOfJson(stored.text)
    return cells === null ? null : { format: 'notebook', lines: linesOf(notebookText(cells).text, { ...stored, isKept: true }) }
  }

  /** Null for what is called a PDF and is none. */
  async function pdfSource(target: FileTarget, { signal }: BodyExecution): Promise<ReadSource | null> {
    const bytes = Uint8Array.from(await files.readBytes(target, { maxBytes: MAX_PDF_BYTES, signal }))
    if (!isPdf(bytes)) return null
    const version = await versionOfBytes(bytes)
    if (lastPdf?.version === version) return lastPdf.source
    const found = await documents.pdf(bytes, { maxPages: MAX_PDF_PAGES, maxChars: MAX_PDF_CHARS }, signal)
    const source: ReadSource = { format: 'pdf', pages: { total: found.totalPages, read: found.pages.length }, lines: linesOf(pdfAsLines(found), { version, source: 'disk', isDirty: false }) }
    lastPdf = { version, source }
    return source
  }
}

/** `isKept`: the text can be edited, so that what changes in it later has to be told. */
function linesOf(text: string, { version, source, isDirty, isKept = false }: Pick<FileLines, 'version' | 'source' | 'isDirty'> & { readonly isKept?: boolean }): ReadSource['lines'] {
  return async (window) => {
    const scanner = new LineWindowScanner(window)
    scanner.write(text)
    const { lines, totalLines, isByteCapped } = scanner.end()
    return { lines, totalLines, isByteCapped, ...(isKept && text.length <= MAX_WHOLE_TEXT_CHARS && { wholeText: text }), form: { encoding: 'utf8', hasBom: false, eol: 'lf' }, version, source, isDirty }
  }
}
