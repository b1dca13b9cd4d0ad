import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { withoutCommandLinks } from '../../../base/without-command-links.ts'
import { LanguageError, type LanguageCodeAction, type LanguageEdit, type LanguageLocation, type LanguageProblem, type LanguageRange, type LanguageSymbol } from '../../../capabilities/languages.ts'

/*
 * What servers answer, read with care: they are programs of others. Source: Language Server Protocol 3.17.
 */

const position = z.object({ line: z.int().min(0), character: z.int().min(0) })
const range = z.object({ start: position, end: position })
const location = z.object({ uri: z.string(), range })
const link = z.object({ targetUri: z.string(), targetRange: range, targetSelectionRange: range.optional() })
const locations = z.union([z.null(), location, z.array(z.union([location, link]))])

const marked = z.union([z.string(), z.object({ language: z.string(), value: z.string() }), z.object({ kind: z.string(), value: z.string() })])
const hover = z.object({ contents: z.union([marked, z.array(marked)]), range: range.optional() }).nullable()

const kind = z.int()
interface DocumentSymbol {
  readonly name: string
  readonly kind: number
  readonly range: LanguageRange
  readonly children?: readonly DocumentSymbol[] | undefined
}
const documentSymbol: z.ZodType<DocumentSymbol> = z.object({
  name: z.string(),
  kind,
  range,
  get children() {
    return z.array(documentSymbol).optional()
  },
})
const symbolInformation = z.object({ name: z.string(), kind, location: z.object({ uri: z.string(), range: range.optional() }), containerName: z.string().nullish() })
const symbols = z.array(z.union([symbolInformation, documentSymbol])).nullable()
const item = z.looseObject({ name: z.string(), kind, uri: z.string(), selectionRange: range, detail: z.string().optional() })
const items = z.array(item).nullable()
const calls = z.array(z.object({ from: item.optional(), to: item.optional() })).nullable()

const textEdit = z.object({ range, newText: z.string() })
const documentChange = z.union([
  z.object({ kind: z.literal('create'), uri: z.string() }),
  z.object({ kind: z.literal('rename'), oldUri: z.string(), newUri: z.string() }),
  z.object({ kind: z.literal('delete'), uri: z.string() }),
  z.object({ textDocument: z.object({ uri: z.string() }), edits: z.array(textEdit) }),
])
const workspaceEdit = z.object({ changes: z.record(z.string(), z.array(textEdit)).nullish(), documentChanges: z.array(documentChange).nullish() })
const command = z.object({ title: z.string(), command: z.string() })
const codeAction = z.looseObject({
  title: z.string(),
  kind: z.string().nullish(),
  isPreferred: z.boolean().nullish(),
  disabled: z.object({ reason: z.string() }).nullish(),
  edit: workspaceEdit.nullish(),
  command: command.nullish(),
})
const codeActions = z.array(z.union([command, codeAction])).nullable()

const diagnostics = z.array(
  z.object({ range, severity: z.int().nullish(), message: z.string(), source: z.string().nullish(), code: z.union([z.string(), z.number()]).nullish() }),
)

export type ItemAnswer = z.infer<typeof item>
export type ActionAnswer = z.infer<typeof codeAction> | z.infer<typeof command>

export function locationsFrom(answer: unknown): readonly LanguageLocation[] {
  const parsed = read(locations, answer)
  if (parsed === null) return []
  return (Array.isArray(parsed) ? parsed : [parsed]).map((found) =>
    'targetUri' in found ? { uri: found.targetUri, range: found.targetSelectionRange ?? found.targetRange } : { uri: found.uri, range: found.range },
  )
}

export function hoverFrom(answer: unknown): { readonly kind: 'hover'; readonly contents: string | null; readonly range?: LanguageRange } {
  const parsed = read(hover, answer)
  if (parsed === null) return { kind: 'hover', contents: null }
  const parts = (Array.isArray(parsed.contents) ? parsed.contents : [parsed.contents]).map((part) =>
    typeof part === 'string' ? withoutCommandLinks(part) : 'language' in part ? `\`\`\`${part.language}\n${part.value}\n\`\`\`` : withoutCommandLinks(part.value),
  )
  const contents = parts.filter((part) => part.trim() !== '').join('\n\n')
  return { kind: 'hover', contents: contents === '' ? null : contents, ...(parsed.range && { range: parsed.range }) }
}

/** `uri`: of the file that was asked about. */
export function symbolsFrom(answer: unknown, uri: string): readonly LanguageSymbol[] {
  return (read(symbols, answer) ?? []).flatMap((symbol) => ('location' in symbol ? [informed(symbol)] : flat(symbol, uri)))
}

export const itemsFrom = (answer: unknown): readonly ItemAnswer[] => read(items, answer) ?? []

export const symbolOf = ({ name, kind: number, uri, selectionRange, detail }: ItemAnswer): LanguageSymbol => ({
  name,
  kind: kindOf(number),
  uri,
  range: selectionRange,
  ...(detail !== undefined && detail !== '' && { container: detail }),
})

export function callsFrom(answer: unknown): readonly LanguageSymbol[] {
  return (read(calls, answer) ?? []).flatMap(({ from, to }) => [from, to].filter((one) => one !== undefined).map(symbolOf))
}

export const actionsFrom = (answer: unknown): readonly ActionAnswer[] => read(codeActions, answer) ?? []

export const actionFrom = (answer: unknown): z.infer<typeof codeAction> => read(codeAction, answer)

export function listedAction(action: ActionAnswer): LanguageCodeAction {
  if (typeof action.command === 'string') return { title: action.title, isCommand: true }
  const { title, kind: word, disabled, isPreferred } = action as z.infer<typeof codeAction>
  return { title, ...(word != null && word !== '' && { kind: word }), ...(disabled != null && { disabled: disabled.reason }), ...(isPreferred === true && { isPreferred }) }
}

export function editFrom(answer: unknown): LanguageEdit | null {
  const parsed = read(workspaceEdit.nullable(), answer)
  if (parsed === null) return null
  const files = new Map<string, z.infer<typeof textEdit>[]>()
  const others: string[] = []
  const add = (uri: string, edits: readonly z.infer<typeof textEdit>[]) => files.set(pathOf(uri), [...(files.get(pathOf(uri)) ?? []), ...edits])
  // Where both are given the second is the one that is meant.
  if (parsed.documentChanges == null) for (const [uri, edits] of Object.entries(parsed.changes ?? {})) add(uri, edits)
  for (const change of parsed.documentChanges ?? []) {
    if (!('kind' in change)) add(change.textDocument.uri, change.edits)
    else if (change.kind === 'rename') others.push(`rename ${pathOf(change.oldUri)} to ${pathOf(change.newUri)}`)
    else others.push(`${change.kind} ${pathOf(change.uri)}`)
  }
  return { files: [...files].map(([path, edits]) => ({ path, edits })), others }
}

export function problemsFrom(answer: unknown): readonly LanguageProblem[] {
  return read(diagnostics, answer).map(({ range: where, severity, message, source, code }) => {
    const from = [source, code].filter((part) => part != null && part !== '').join(' ')
    return { range: where, severity: severities[severity ?? 1] ?? 'error', message, ...(from !== '' && { source: from }) }
  })
}

const severities: Readonly<Record<number, LanguageProblem['severity']>> = { 1: 'error', 2: 'warning', 3: 'information', 4: 'hint' }

/** Errors: `LanguageError` `LSP_MALFORMED_RESPONSE`. */
function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const outcome = schema.safeParse(answer ?? null)
  if (outcome.success) return outcome.data
  const at = outcome.error.issues[0]?.path.join('.') ?? ''
  throw new LanguageError('LSP_MALFORMED_RESPONSE', `The language server gave an answer that is none of the protocol${at === '' ? '' : `, at ${at}`}. Try again, or search for the text.`)
}

const informed = ({ name, kind: number, location: { uri, range: where }, containerName }: z.infer<typeof symbolInformation>): LanguageSymbol => ({
  name,
  kind: kindOf(number),
  uri,
  range: where ?? { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
  ...(containerName != null && containerName !== '' && { container: containerName }),
})

const flat = (symbol: DocumentSymbol, uri: string, container?: string): readonly LanguageSymbol[] => [
  { name: symbol.name, kind: kindOf(symbol.kind), uri, range: symbol.range, ...(container !== undefined && { container }) },
  ...(symbol.children ?? []).flatMap((child) => flat(child, uri, symbol.name)),
]

/** In the order of the protocol, from 1 on. */
const kinds = 'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enummember struct event operator typeparameter'.split(' ')
const kindOf = (number: number): string => kinds[number - 1] ?? 'symbol'

const pathOf = (uri: string): string => (uri.startsWith('file:') ? fileURLToPath(uri) : uri)
