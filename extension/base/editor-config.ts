import { encodeText, latin1, utf16be, utf16le, utf8, withLineEnds, type Encoded, type TextCodec, type TextForm } from './encoding.ts'
import { compileGlob } from './glob.ts'

/** What `.editorconfig` files say of how a new file is stored; absent where they say nothing. Source: https://spec.editorconfig.org, 0.17. */
export interface EditorConfig {
  readonly charset?: { readonly codec: TextCodec; readonly hasBom: boolean }
  readonly endOfLine?: 'lf' | 'crlf'
  readonly insertFinalNewline?: boolean
}

/** Folders above a file that are looked into. */
const MAX_FOLDERS = 40

/**
 * Of all `.editorconfig` files from the folder of `path` up to one that says it is the root, nearer ones first.
 *
 * `path` is absolute with `/`. `read` gives the text of a file or null when there is none, or none that can be read.
 */
export async function editorConfigFor(path: string, read: (path: string) => Promise<string | null>): Promise<EditorConfig> {
  let found: EditorConfig = {}
  let folder = path
  for (let depth = 0; depth < MAX_FOLDERS && folder.includes('/'); depth += 1) {
    folder = folder.slice(0, folder.lastIndexOf('/'))
    const text = await read(`${folder}/.editorconfig`)
    if (text === null) continue
    const { isRoot, config } = configIn(text, path.slice(folder.length + 1))
    found = { ...config, ...found }
    if (isRoot) break
  }
  return found
}

/** A new text as the configuration wants it stored, its final line end with it; line ends that it brings itself stay. */
export function storedAsConfigured(text: string, { charset, endOfLine, insertFinalNewline }: EditorConfig): { readonly text: string; readonly encode: () => Encoded; readonly encoding: string } {
  const hasMark = text.startsWith('\u{FEFF}')
  const { codec, hasBom } = charset ?? { codec: utf8, hasBom: false }
  const isMarkable = codec.label.startsWith('utf')
  const bare = hasMark && isMarkable ? text.slice(1) : text
  const eol: TextForm['eol'] = endOfLine ?? 'none'
  const ended = insertFinalNewline === true && bare !== '' && !bare.endsWith('\n') ? `${bare}${bare.includes('\r\n') ? '\r\n' : '\n'}` : bare
  const after = withLineEnds(eol, ended)
  return { text: after, encode: () => encodeText(after, codec, isMarkable && (hasBom || hasMark)), encoding: codec.label }
}

const charsets: ReadonlyMap<string, EditorConfig['charset']> = new Map(
  Object.entries({
    'utf-8': { codec: utf8, hasBom: false },
    'utf-8-bom': { codec: utf8, hasBom: true },
    latin1: { codec: latin1, hasBom: false },
    'utf-16le': { codec: utf16le, hasBom: true },
    'utf-16be': { codec: utf16be, hasBom: true },
  }),
)

function configIn(text: string, path: string): { readonly isRoot: boolean; readonly config: EditorConfig } {
  let isRoot = false
  let applies: boolean | null = null
  const properties = new Map<string, string>()
  for (const line of text.replace(/^\u{FEFF}/u, '').split(/\r?\n/)) {
    const bare = line.trim()
    if (bare === '' || bare.startsWith('#') || bare.startsWith(';')) continue
    const section = /^\[(.+)\]$/.exec(bare)?.[1]
    if (section !== undefined) {
      applies = matches(section, path)
      continue
    }
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/.exec(bare) ?? []
    const [name, word] = [key.trim().toLowerCase(), value.replace(/\s[#;].*$/, '').trim().toLowerCase()]
    if (applies === null && name === 'root') isRoot = word === 'true'
    // Later sections win, and `unset` takes back what was said.
    if (applies === true) properties.set(name, word)
  }
  return { isRoot, config: configFrom(properties) }
}

function configFrom(properties: ReadonlyMap<string, string>): EditorConfig {
  const charset = charsets.get(properties.get('charset') ?? '')
  const endOfLine = properties.get('end_of_line')
  const final = properties.get('insert_final_newline')
  return {
    ...(charset && { charset }),
    ...((endOfLine === 'lf' || endOfLine === 'crlf') && { endOfLine }),
    ...((final === 'true' || final === 'false') && { insertFinalNewline: final === 'true' }),
  }
}

/** `*` stays within a name, `**` does not, also beside other characters; a glob without `/` matches at any depth; `{1..3}` counts. */
function matches(section: string, path: string): boolean {
  const counted = section.replace(/\{(-?\d{1,6})\.\.(-?\d{1,6})\}/g, (whole, from: string, to: string) => {
    const [low, high] = [Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to))]
    return high - low > 1_000 ? whole : `{${Array.from({ length: high - low + 1 }, (_none, index) => low + index).join(',')}}`
  })
  // One choice alone is no choice: its braces are characters.
  const braced = counted.replace(/\{([^{},]*)\}/g, '\\{$1\\}')
  const rooted = braced.includes('/') && !braced.startsWith('/') ? `/${braced}` : braced
  const globs = rooted.includes('**') ? [rooted, rooted.replace(/\*\*(?=[^/*])/g, '**/*')] : [rooted]
  return globs.some((glob) => {
    const compiled = compileGlob(glob)
    return 'matches' in compiled && compiled.matches(path)
  })
}
