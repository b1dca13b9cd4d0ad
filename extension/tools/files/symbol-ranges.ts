import { pause } from '../../base/pause.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileTarget } from '../../capabilities/file-system.ts'
import { LanguageError, type Languages, type LanguageSymbol } from '../../capabilities/languages.ts'
import { ToolError } from '../../core/tools/definition.ts'

/** 1-based lines, both ends inclusive. */
export interface LineRange {
  readonly first: number
  readonly last: number
}

/** Places of one name that are shown, such as overloads. */
const MAX_PLACES = 5
const MAX_LISTED_NAMES = 40
/** Between the questions to a language service that may be starting. */
const RETRY_DELAYS_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000]

/**
 * Where a symbol such as `Class.method` stands in a file, by the language services of the editor.
 *
 * Errors: `LanguageError` `LSP_UNAVAILABLE` where nobody knows symbols, `ToolError` `INVALID_ARGS` with the names that are there.
 */
export async function symbolRanges({ languages, clock }: { readonly languages: Pick<Languages, 'ask'> | null; readonly clock: Clock }, { target, symbol, signal }: {
  readonly target: FileTarget
  readonly symbol: string
  readonly signal: AbortSignal
}): Promise<readonly LineRange[]> {
  if (languages === null) throw unavailable('There is no editor here that knows symbols.')
  const symbols = await symbolsOf(target.path, { languages, clock, signal })
  if (symbols.length === 0) throw unavailable(`No language service of the editor knows symbols of ${target.spelling}.`)
  const found = symbols.filter((each) => isMeant(each, symbol, symbols))
  if (found.length === 0) {
    const names = [...new Set(symbols.map(({ name, container }) => (container === undefined ? plain(name) : `${plain(container)}.${plain(name)}`)))]
    const more = names.length > MAX_LISTED_NAMES ? ` and ${names.length - MAX_LISTED_NAMES} more` : ''
    throw new ToolError('INVALID_ARGS', `${target.spelling} has no symbol ${symbol}. It has ${names.slice(0, MAX_LISTED_NAMES).join(', ')}${more}.`)
  }
  return found.slice(0, MAX_PLACES).map(({ range }) => ({ first: range.start.line + 1, last: range.end.line + 1 }))
}

const unavailable = (what: string) => new LanguageError('LSP_UNAVAILABLE', `${what} Find the line with grep, and read from there with offset and limit.`)

async function symbolsOf(path: string, { languages, clock, signal }: { readonly languages: Pick<Languages, 'ask'>; readonly clock: Clock; readonly signal: AbortSignal }): Promise<readonly LanguageSymbol[]> {
  for (const delayMs of [...RETRY_DELAYS_MS, null]) {
    const answer = await languages.ask({ operation: 'documentSymbols', path, position: { line: 0, character: 0 } }, signal)
    if (answer.kind === 'symbols' && answer.symbols.length > 0) return answer.symbols
    if (delayMs !== null) await pause(clock, delayMs, signal)
  }
  return []
}

/** The last name is the symbol's own; the names before it are those of what it stands in. */
function isMeant(symbol: LanguageSymbol, wanted: string, all: readonly LanguageSymbol[]): boolean {
  if (symbol.name === wanted || plain(symbol.name) === wanted) return true
  const names = wanted.split(/\.|::|#/)
  const own = names.pop() ?? ''
  return plain(symbol.name) === own && stands(symbol, names, all)
}

function stands(symbol: LanguageSymbol, names: readonly string[], all: readonly LanguageSymbol[]): boolean {
  const parent = names.at(-1)
  if (parent === undefined) return true
  const parents = all.filter((each) => each !== symbol && plain(each.name) === parent && holds(each, symbol))
  if (parents.length === 0) return names.length === 1 && symbol.container !== undefined && plain(symbol.container) === parent
  return parents.some((each) => stands(each, names.slice(0, -1), all))
}

const holds = ({ range: outer }: LanguageSymbol, { range: inner }: LanguageSymbol) => outer.start.line <= inner.start.line && outer.end.line >= inner.end.line

/** A name as it stands in code: without a signature, type arguments or quotation marks. */
const plain = (name: string): string => name.replace(/^["'`]|["'`]$/g, '').replace(/(?<=\w)[(<].*$/s, '')
