import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Workspace } from '../capabilities/workspace.ts'
import type { NewServer } from '../features/mcp/service.ts'

interface Needs {
  readonly editor: Pick<Editor, 'pick' | 'input'>
  readonly l10n: Localization
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted'>
  /** Names that are taken. */
  readonly taken: readonly string[]
}

const SETTINGS = 'settings'

/** Ask the person for a new MCP server, step by step; null when they backed out. */
export async function askForServer({ editor, l10n, workspace, taken }: Needs): Promise<NewServer | null> {
  const { t } = l10n
  const title = t('Add MCP Server')
  const kind = await editor.pick({
    title,
    items: [
      { id: 'program', label: t('Program'), description: t('started on this machine, spoken to over stdio') },
      { id: 'address', label: t('Address'), description: t('reached over HTTP') },
    ],
  })
  if (kind === null) return null
  const typed =
    kind === 'program'
      ? await editor.input({ title, prompt: t('The command with its arguments, such as npx -y my-server'), check: (line) => (commandWords(line) === null ? t('Write a command; close each quote.') : null) })
      : await editor.input({ title, prompt: t('The address, such as https://example.com/mcp'), check: (line) => (isAddress(line) ? null : t('Write an address that begins with http:// or https://.')) })
  if (typed === null) return null
  const words = kind === 'program' ? commandWords(typed) : null
  if (kind === 'program' ? words === null : !isAddress(typed)) return null
  const entry: NewServer['entry'] = words === null ? { url: typed.trim() } : { command: words[0], args: words.slice(1) }
  const name = await editor.input({
    title,
    prompt: t('A name of your own, by which Bosun and the model call it'),
    value: suggestedName(entry, taken),
    check: (given) => (!/^[A-Za-z0-9_-]{1,32}$/.test(given) ? t('A name has 1 to 32 letters, digits, - and _.') : taken.includes(given) ? t('There is a server of this name already.') : null),
  })
  if (name === null) return null
  const folders = workspace.isTrusted() ? workspace.folders().filter(({ path }) => !/^[\w.+-]{2,}:\/\//.test(path)) : []
  const place =
    folders.length === 0
      ? SETTINGS
      : await editor.pick({
          title: t('Where is “{name}” kept?', { name }),
          items: [
            { id: SETTINGS, label: t('Your settings'), description: t('in all your folders, for you alone') },
            ...folders.map((folder) => ({ id: folder.path, label: folders.length === 1 ? '.bosun/mcp.json' : `${folder.name}/.bosun/mcp.json`, description: t('in this folder, for all who work on it') })),
          ],
        })
  return place === null ? null : { name, entry, folder: place === SETTINGS ? null : place }
}

/**
 * A command line as words, as shells read plain ones: spaces part, quotes keep together, `\"` is a quote within double ones.
 *
 * Shape: null for a line without a word or with a quote that is not closed.
 */
export function commandWords(line: string): readonly [string, ...string[]] | null {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at]!
    if (quote === '"' && char === '\\' && line[at + 1] === '"') {
      word += '"'
      at += 1
    } else if (char === quote) quote = ''
    else if (quote !== '') word += char
    else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + char
  }
  if (quote !== '') return null
  if (word !== null) words.push(word)
  const [first, ...rest] = words
  return first === undefined || first === '' ? null : [first, ...rest]
}

const isAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text.trim())?.protocol ?? '')

/** From what the command or the address says of itself; the person may write another. */
function suggestedName(entry: NewServer['entry'], taken: readonly string[]): string {
  const words = 'url' in entry ? [URL.parse(entry.url)?.hostname ?? ''] : [...entry.args.filter((word) => !word.startsWith('-')), entry.command].slice(0, 1)
  const plain =
    (words[0] ?? '')
      .replace(/[\\/]+$/, '')
      .replace(/@[^/@]*$/, '')
      .split(/[\\/]/)
      .at(-1)!
      .replace(/\.(com|org|dev|io|m?[jt]s|py)$/i, '')
      .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
      .replaceAll(/_+/g, '_')
      .slice(0, 28)
      .replaceAll(/^-+|[-_]+$/g, '') || 'server'
  const free = [plain, ...Array.from({ length: 99 }, (_each, index) => `${plain}-${index + 2}`)]
  return free.find((name) => !taken.includes(name)) ?? ''
}
