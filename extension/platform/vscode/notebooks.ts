import * as vscode from 'vscode'
import * as z from 'zod'
import { applyEdits, toLf } from '../../base/encoding.ts'
import { stripAnsi } from '../../base/strip-ansi.ts'
import { fileAborted, ioError, readonlyFile, staleVersion, versionOfBytes, type FileSystem, type FileTarget, type FileVersion } from '../../capabilities/file-system.ts'
import { readableForms, type CellEdit, type NotebookCell, type NotebookOutcome, type NotebookOutput, type Notebooks } from '../../capabilities/notebooks.ts'
import { pathOf } from './address.ts'

/** The notebooks that the editor holds. A change of a cell goes through its document, so that outputs, folds and the undo of the person stay. */
export function createVscodeNotebooks({ files }: { readonly files: Pick<FileSystem, 'resolve' | 'stat'> }): Notebooks {
  return {
    async find(target) {
      for (const notebook of vscode.workspace.notebookDocuments) {
        if (notebook.isClosed || notebook.isUntitled || !(await isOf(notebook, target))) continue
        return { cells: cellsOf(notebook), version: await versionOf(notebook), isDirty: notebook.isDirty, editCells: (change) => editCells({ notebook, target, files }, change) }
      }
      return null
    },
  }

  /** Also when it was opened through a link. */
  async function isOf({ uri }: vscode.NotebookDocument, target: FileTarget): Promise<boolean> {
    if (uri.scheme !== 'file') return pathOf(uri) === target.path
    return (await files.resolve(uri.fsPath, '/')).key === target.key
  }
}

interface Open {
  readonly notebook: vscode.NotebookDocument
  readonly target: FileTarget
  readonly files: Pick<FileSystem, 'stat'>
}

async function editCells({ notebook, target, files }: Open, { cells, label, signal }: { readonly cells: readonly CellEdit[]; readonly label: string; readonly signal?: AbortSignal }): Promise<NotebookOutcome> {
  if (signal?.aborted === true) throw fileAborted()
  if ((await files.stat(target)).isReadonly) throw readonlyFile(target.spelling)
  const wasDirty = notebook.isDirty
  const forth = new vscode.WorkspaceEdit()
  const made: { readonly document: vscode.TextDocument; readonly own: string; readonly after: string }[] = []
  for (const { index, source, replacements } of cells) {
    const document = notebook.getCells()[index]?.document
    if (document === undefined || toLf(document.getText()) !== source) throw staleVersion(target.spelling, 'changed')
    const own = document.getText()
    for (const { start, end, newText } of replacements) forth.replace(document.uri, new vscode.Range(positionAt(source, start), positionAt(source, end)), newText, { label, needsConfirmation: false })
    made.push({ document, own, after: applyEdits(source, replacements) })
  }
  if (!(await vscode.workspace.applyEdit(forth))) throw staleVersion(target.spelling, 'changed')
  // What had unsaved changes is the person's to save.
  if (!wasDirty && !(await notebook.save())) {
    // What the person typed into a cell meanwhile stays, and the change with it.
    const untouched = made.filter(({ document, after }) => toLf(document.getText()) === after)
    const back = new vscode.WorkspaceEdit()
    for (const { document, own } of untouched) back.replace(document.uri, new vscode.Range(0, 0, Number.MAX_SAFE_INTEGER, 0), own, { label, needsConfirmation: false })
    await vscode.workspace.applyEdit(back)
    throw ioError(target.spelling, untouched.length < made.length ? 'the editor could not save the notebook; the change was taken back but for cells that were typed in meanwhile' : 'the editor could not save the notebook, and the change was taken back')
  }
  return { cells: cellsOf(notebook), version: await versionOf(notebook), isUnsaved: notebook.isDirty }
}

/** Of a text with `\n` line ends, whatever ends the lines of the document. */
function positionAt(text: string, offset: number): vscode.Position {
  const before = text.slice(0, offset)
  const line = before.split('\n').length - 1
  return new vscode.Position(line, offset - (before.lastIndexOf('\n') + 1))
}

async function versionOf(notebook: vscode.NotebookDocument): Promise<FileVersion> {
  const stored = await vscode.workspace.fs.readFile(notebook.uri)
  return await versionOfBytes(Uint8Array.from(notebook.isDirty ? unsavedNotebook(notebook, stored) : stored))
}

/** What of a stored notebook is looked at. Source: nbformat 4. */
const storedNotebook = z.looseObject({ nbformat_minor: z.number().optional(), cells: z.array(z.looseObject({ id: z.string().optional(), cell_type: z.string() })) })

/**
 * The notebook with its cells as they are in the editor, unsaved ones too; outputs and metadata are those that are stored.
 *
 * Shape: the sources alone, as JSON, where what is stored is no notebook.
 */
export function unsavedNotebook(notebook: vscode.NotebookDocument, stored: Uint8Array): Uint8Array {
  const json = new TextDecoder().decode(stored)
  const cells = notebook.getCells().map(({ document, kind, metadata }) => {
    const type = document.languageId === 'raw' ? 'raw' : kind === vscode.NotebookCellKind.Code ? 'code' : 'markdown'
    return { id: idFrom(metadata), type, source: toLf(document.getText()).match(/[^\n]*\n|[^\n]+$/g) ?? [] }
  })
  const parsed = storedNotebook.safeParse(jsonFrom(json))
  if (!parsed.success) return new TextEncoder().encode(JSON.stringify(cells))
  const { cells: storedCells, nbformat_minor: minor = 0 } = parsed.data
  const next = cells.map(({ id, type, source }, index) => {
    const before = storedCells.find((cell) => id !== null && cell.id === id) ?? (id === null && storedCells.length === cells.length ? storedCells[index] : undefined)
    if (before?.cell_type === type) return { ...before, source }
    const own = minor < 5 ? {} : { id: id ?? `unsaved-${index + 1}` }
    return { cell_type: type, ...own, metadata: {}, ...(type === 'code' && { execution_count: null, outputs: [] }), source }
  })
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(json)?.[1]
  return new TextEncoder().encode(`${JSON.stringify({ ...parsed.data, cells: next }, null, indent)}${json.endsWith('\n') ? '\n' : ''}`)
}

function jsonFrom(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // No notebook that could be told apart.
    return null
  }
}

function cellsOf(notebook: vscode.NotebookDocument): readonly NotebookCell[] {
  return notebook.getCells().map(({ kind, document, outputs, metadata }) => {
    const isRaw = document.languageId === 'raw'
    const isCode = kind === vscode.NotebookCellKind.Code && !isRaw
    return { id: idFrom(metadata), kind: isRaw ? 'raw' : isCode ? 'code' : 'markdown', language: isCode ? document.languageId : null, source: document.getText(), outputs: outputs.flatMap(outputsFrom) }
  })
}

/** The editor's own support of Jupyter notebooks keeps the id of a cell there. */
function idFrom(metadata: Readonly<Record<string, unknown>>): string | null {
  const id: unknown = metadata['id']
  return typeof id === 'string' ? id : null
}

/** Names of the streams, in the place of the media types that the editor has for them. */
const STREAMS: ReadonlyMap<string, string> = new Map([
  ['application/vnd.code.notebook.stdout', 'stdout'],
  ['application/vnd.code.notebook.stderr', 'stderr'],
  ['application/x.notebook.stdout', 'stdout'],
  ['application/x.notebook.stderr', 'stderr'],
])
const ERROR_TYPE = 'application/vnd.code.notebook.error'

function outputsFrom({ items }: vscode.NotebookCellOutput): readonly NotebookOutput[] {
  const forms = items.map(({ mime, data }) => ({ mediaType: mime, text: new TextDecoder().decode(data) }))
  const streams = forms.flatMap(({ mediaType, text }) => {
    const name = STREAMS.get(mediaType)
    return name === undefined ? (mediaType === ERROR_TYPE ? [textOutput('error', errorText(text))] : []) : [textOutput(name, text)]
  })
  if (streams.length > 0) return streams
  return readableForms(forms).map(({ form: { mediaType, text }, isText }) => (isText ? textOutput(mediaType, text) : { name: mediaType, text: null, chars: text.length }))
}

const textOutput = (name: string, text: string): NotebookOutput => ({ name, text: stripAnsi(text), chars: text.length })

/** Source: `NotebookCellOutputItem.error`, which stores an error as JSON. */
function errorText(json: string): string {
  try {
    const { name, message, stack } = JSON.parse(json) as { readonly name?: string; readonly message?: string; readonly stack?: string }
    return stack !== undefined && stack !== '' ? stack : `${name ?? 'Error'}: ${message ?? ''}`
  } catch {
    // Another extension stored something else; it is shown as it is.
    return json
  }
}
