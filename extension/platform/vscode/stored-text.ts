import * as vscode from 'vscode'
import { editorConfigFor, storedAsConfigured } from '../../base/editor-config.ts'
import {
  applyEdits,
  countLineEnds,
  decodeText,
  editBytes,
  encodeText,
  eolFrom,
  latin1,
  utf8,
  type ByteEdit,
  type Encoded,
  type TextForm,
  type Unencodable,
} from '../../base/encoding.ts'

/** A file's text with the way back to its bytes. */
export interface StoredText {
  readonly text: string
  readonly form: TextForm
  /** The bytes of another whole text in the same form. */
  encode(text: string): Promise<Encoded>
  /** The bytes with ranges replaced; all other bytes stay. */
  edit(edits: readonly ByteEdit[]): Promise<Encoded>
}

/** Encodings that the harness reads by itself, whatever the editor is set to. */
const universal = /^(utf8|utf8bom|utf16le|utf16be|iso88591)$/

/**
 * Understand the bytes of a file: a mark decides, else UTF-8, else the editor's encoding for the file, else Latin-1. Null: not text.
 * Plain ASCII tells nothing of what else the file may hold, so that the editor's encoding for the file decides.
 *
 * `shownIn`: the encoding of the document that shows the file.
 * Source: design 6.1 "What is text".
 */
export async function decodeStored(bytes: Uint8Array, uri: vscode.Uri, shownIn?: string): Promise<StoredText | null> {
  let decoded = decodeText(bytes)
  if (decoded === null) return null
  const isAscii = decoded.codec === utf8 && decoded.bomLength === 0 && decoded.text.length === bytes.length
  if (decoded.codec === latin1 || isAscii) {
    const label = await encodingFor(uri, shownIn, { mayGuess: !isAscii })
    const legacy = universal.test(label) ? null : await decodeLegacy(bytes, label)
    if (legacy !== null) return legacy
    if (label === 'iso88591') decoded = { ...decoded, codec: latin1, form: { ...decoded.form, encoding: latin1.label } }
  }
  const known = decoded
  return {
    text: known.text,
    form: known.form,
    encode: async (text) => encodeText(text, known.codec, known.form.hasBom),
    edit: async (edits) => editBytes(bytes, known, edits),
  }
}

/** What the editor stores a file in that bears no mark: as it is shown, as the editor guesses where it is set to, else as it is set. */
export async function encodingFor(uri: vscode.Uri, shownIn: string | undefined, { mayGuess }: { readonly mayGuess: boolean }): Promise<string> {
  if (shownIn !== undefined) return shownIn
  const settings = vscode.workspace.getConfiguration('files', uri)
  const label = settings.get<string>('encoding', 'utf8')
  if (!mayGuess || !settings.get('autoGuessEncoding', false)) return label
  try {
    // Only the document that the editor makes of a file says what was guessed.
    return (await vscode.workspace.openTextDocument(uri)).encoding
  } catch {
    // Too large for the editor, or it takes it for binary: it guesses nothing then.
    return label
  }
}

/** A new file as `.editorconfig` files and, where they say nothing, the editor's settings want it stored. A mark at the start of the text asks for one in the file. */
export async function storedAnew(text: string, uri: vscode.Uri): Promise<{ readonly after: string; readonly encoding: string; readonly encoded: Encoded }> {
  const settings = vscode.workspace.getConfiguration('files', uri)
  const label = settings.get<string>('encoding', 'utf8')
  const config = await editorConfigFor(uri.path, (path) => readConfig(uri.with({ path })))
  const isOther = config.charset === undefined && label !== 'utf8' && label !== 'utf8bom'
  const stored = storedAsConfigured(isOther ? withoutMark(text) : text, {
    insertFinalNewline: settings.get('insertFinalNewline', false),
    ...(settings.get('eol') === '\r\n' && { endOfLine: 'crlf' }),
    ...(label === 'utf8bom' && { charset: { codec: utf8, hasBom: true } }),
    ...config,
  })
  return isOther ? { after: stored.text, encoding: label, encoded: await encodeAs(stored.text, label) } : { after: stored.text, encoding: stored.encoding, encoded: stored.encode() }
}

/** Bytes of an `.editorconfig`. */
const MAX_CONFIG_BYTES = 256 * 1024

async function readConfig(uri: vscode.Uri): Promise<string | null> {
  try {
    const { size } = await vscode.workspace.fs.stat(uri)
    return size > MAX_CONFIG_BYTES ? null : (decodeText(await vscode.workspace.fs.readFile(uri))?.text ?? null)
  } catch {
    // What is not there, or cannot be read, says nothing of other files.
    return null
  }
}

/** A mark is no content: it says how a file is stored. */
export const withoutMark = (text: string): string => (text.startsWith('\u{FEFF}') ? text.slice(1) : text)

/** The bytes of `text` in one of the editor's encodings, or the first character that it cannot hold. */
export async function encodeAs(text: string, encoding: string): Promise<Encoded> {
  const bytes = await vscode.workspace.encode(text, { encoding })
  // The editor puts a substitute for what an encoding cannot hold, without a word.
  const back = await vscode.workspace.decode(bytes, { encoding })
  return back === text ? { bytes } : { unencodable: firstDifference(text, back) }
}

/** Null when the bytes do not survive the way there and back. */
async function decodeLegacy(bytes: Uint8Array, encoding: string): Promise<StoredText | null> {
  const text = await vscode.workspace.decode(bytes, { encoding })
  const back = await vscode.workspace.encode(text, { encoding })
  if (Buffer.compare(back, bytes) !== 0) return null
  return {
    text,
    form: { encoding, hasBom: false, eol: eolFrom(countLineEnds(text)) },
    encode: (next) => encodeAs(next, encoding),
    edit: (edits) => encodeAs(applyEdits(text, edits), encoding),
  }
}

function firstDifference(text: string, other: string): Unencodable {
  let offset = 0
  while (offset < text.length && text[offset] === other[offset]) offset += 1
  const before = text.slice(0, offset)
  return {
    character: String.fromCodePoint(text.codePointAt(offset) ?? 0xff_fd),
    offset,
    line: before.split('\n').length,
    column: offset - (before.lastIndexOf('\n') + 1) + 1,
  }
}

/** Whether a document of the editor with `encoding` stores exactly what `form` says. */
export function isSameForm(form: TextForm, encoding: string): boolean {
  switch (encoding) {
    case 'utf8':
      return form.encoding === 'utf8' && !form.hasBom
    case 'utf8bom':
      return form.encoding === 'utf8' && form.hasBom
    case 'utf16le':
    case 'utf16be':
      return form.encoding === encoding && form.hasBom
    case 'iso88591':
      return form.encoding === 'latin1'
    default:
      return form.encoding === encoding
  }
}

/** The form of a document's text as it would be stored. */
export function formOf(document: vscode.TextDocument): TextForm {
  const { encoding } = document
  const eol = document.lineCount < 2 ? 'none' : document.eol === vscode.EndOfLine.CRLF ? 'crlf' : 'lf'
  if (encoding === 'utf8bom') return { encoding: 'utf8', hasBom: true, eol }
  if (encoding === 'utf16le' || encoding === 'utf16be') return { encoding, hasBom: true, eol }
  return { encoding: encoding === 'iso88591' ? 'latin1' : encoding, hasBom: false, eol }
}
