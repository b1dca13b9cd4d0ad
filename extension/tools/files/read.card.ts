import { isJsonObject, type Json } from '../../base/json.ts'
import { utf8Length } from '../../base/text.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asList, asNumber, asString, textContent } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface ReadArgs {
  readonly file_path: string
  readonly offset?: number
  readonly limit?: number
  readonly ranges?: readonly (readonly number[])[]
  readonly symbol?: string
}

/** Bytes of lines that a card may add to the log; the whole text stands in the result already. */
export const MAX_META_BYTES = 16_384

/** Durable facts of the card. */
export function readMeta({ path, offset, lines, totalLines, format }: {
  readonly path: string
  readonly offset: number
  readonly lines: readonly { readonly number: number; readonly text: string }[]
  readonly totalLines: number
  /** The lines are not those of the file, so that its name says nothing of their language. */
  readonly format?: string
}): Json {
  const kept: { number: number; text: string }[] = []
  let bytes = 0
  for (const { number, text } of lines) {
    bytes += utf8Length(text) + 20
    if (bytes > MAX_META_BYTES) break
    kept.push({ number, text })
  }
  const lang = format === undefined ? languageOf(path) : undefined
  return { path, offset, lines: kept, totalLines, ...(lang !== undefined && { lang }) }
}

export function presentCall(args: ReadArgs): ToolCallView {
  const { file_path } = args
  const part = partOf(args)
  const line = args.offset ?? args.ranges?.[0]?.[0]
  return { card: 'generic', title: `Read ${file_path}${part === '' ? '' : ` (${part})`}`, kind: 'read', subject: file_path, locations: [{ path: file_path, ...(line !== undefined && { line }) }] }
}

function partOf({ offset, limit, ranges, symbol }: ReadArgs): string {
  if (symbol !== undefined) return symbol
  if (ranges !== undefined) return ranges.map(([first, last]) => `${first} - ${last}`).join(', ')
  if (limit !== undefined) return `${offset ?? 1} - ${(offset ?? 1) + limit - 1}`
  return offset === undefined ? '' : `from line ${offset}`
}

export function presentResult(_args: ReadArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return { card: 'generic', content: textContent(content) }
  if (!isJsonObject(meta)) return undefined
  const [path, offset, totalLines, lang] = [asString(meta['path']), asNumber(meta['offset']), asNumber(meta['totalLines']), asString(meta['lang'])]
  const lines = asList(meta['lines'], lineFrom)
  if (path === undefined || offset === undefined || totalLines === undefined || lines === undefined) return undefined
  return { card: 'read', path, offset, lines, totalLines, ...(lang !== undefined && { lang }) }
}

function lineFrom(meta: Json) {
  if (!isJsonObject(meta)) return undefined
  const [number, text] = [asNumber(meta['number']), asString(meta['text'])]
  return number === undefined || text === undefined ? undefined : { number, text }
}

/** Names that highlighters know, by file ending. A map, so that an ending such as `constructor` is only an ending. */
const languages: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bash: 'sh bash zsh',
    c: 'c h',
    cpp: 'cc cpp cxx hpp hh',
    csharp: 'cs',
    css: 'css',
    dart: 'dart',
    dockerfile: 'dockerfile',
    go: 'go',
    html: 'html htm vue svelte',
    ini: 'ini toml cfg properties',
    java: 'java',
    javascript: 'js mjs cjs jsx',
    json: 'json jsonc ipynb',
    kotlin: 'kt kts',
    less: 'less',
    lua: 'lua',
    makefile: 'mk makefile',
    markdown: 'md markdown mdx',
    php: 'php',
    perl: 'pl pm',
    powershell: 'ps1 psm1',
    python: 'py pyi',
    r: 'r',
    ruby: 'rb',
    rust: 'rs',
    scss: 'scss',
    sql: 'sql',
    swift: 'swift',
    typescript: 'ts mts cts tsx',
    xml: 'xml svg xsd plist',
    yaml: 'yaml yml',
  }).flatMap(([language, endings]) => endings.split(' ').map((ending) => [ending, language] as const)),
)

function languageOf(path: string): string | undefined {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase()
  return languages.get(name.slice(name.lastIndexOf('.') + 1))
}
