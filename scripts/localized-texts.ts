import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const folders = ['extension/host', 'extension/platform/vscode']
const files = ['extension/main.ts', 'extension/editor-root.ts', 'extension/core/cost/words.ts']

/** Every English text that the extension asks translations for, sorted: `l10n/bundle.l10n.json`. */
export async function localizedTexts(root: string): Promise<Readonly<Record<string, string>>> {
  const inFolders = await Promise.all(
    folders.map(async (folder) => (await readdir(join(root, folder))).filter((name) => name.endsWith('.ts')).map((name) => join(folder, name))),
  )
  const sources = await Promise.all([...files, ...inFolders.flat()].map((path) => readFile(join(root, path), 'utf8')))
  const texts = sources.flatMap((source) => [...source.matchAll(/\bt\(\s*'((?:[^'\\]|\\.)*)'/g)].map(([, text]) => text ?? ''))
  return Object.fromEntries([...new Set(texts)].sort().map((text) => [text, text]))
}
