import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, sourceFiles, type SourceFile } from './source-files.ts'

/* A card is drawn again from the log whenever a session is opened: from the call and its durable facts, and nothing else. */

describe('cards', () => {
  const files = sourceFiles('extension')
  const cards = files.filter(({ path }) => path.endsWith('.card.ts'))

  it('are there', () => expect(cards.length).toBeGreaterThan(5))
  it('draw from their arguments alone', () => expect(cards.flatMap((card) => problemsOf(card, files))).toEqual([]))
})

describe('a card is refused', () => {
  const card = 'extension/tools/a/b.card.ts'
  const check = (text: string, problems: readonly string[], others: readonly SourceFile[] = []) => expect(problemsOf({ path: card, text }, [{ path: card, text }, ...others])).toEqual(problems)

  it('not for types, helpers without an opinion and other pure files', () =>
    check(
      "import { x } from '../../base/x.ts'\nimport type { T } from '../../capabilities/file-system.ts'\nimport { y } from './y.ts'\n// new Date() is not for cards\nconst title = 'Date and process'\nexport const updated = { processed: 1 }",
      [],
      [{ path: 'extension/tools/a/y.ts', text: "import { z } from '../z.ts'" }, { path: 'extension/tools/z.ts', text: 'export const z = 1' }],
    ))
  it('when it reads a clock', () => check('export const a = `${Date.now()}`', [`${card}: uses Date`]))
  it('when it reads chance', () => check('export const a = Math.random()', [`${card}: uses Math.random`]))
  it('when it waits', () => check('export const a = async () => await b', [`${card}: uses await`]))
  it('when it imports what acts', () => check("import { b } from './b.ts'", ['extension/tools/a/b.ts: imports ../../capabilities/file-system.ts'], [{ path: 'extension/tools/a/b.ts', text: "import { notFound } from '../../capabilities/file-system.ts'" }]))
  it('when it imports from Node', () => check("import { join } from 'node:path'", [`${card}: imports node:path`]))
})

/** In the card and in every file whose code it takes along. */
function problemsOf(card: SourceFile, files: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const [seen, problems] = [new Set<string>(), [] as string[]]
  const look = (file: SourceFile) => {
    if (seen.has(file.path)) return
    seen.add(file.path)
    problems.push(...usesOf(file))
    for (const { specifier, isTypeOnly } of importsOf(file.text)) {
      if (isTypeOnly) continue
      const path = posix.join(posix.dirname(file.path), specifier)
      const next = byPath.get(path)
      if (specifier.startsWith('.') && /^extension\/(base|protocol)\//.test(path)) continue
      if (next && path.startsWith('extension/tools/')) look(next)
      else problems.push(`${file.path}: imports ${specifier}`)
    }
  }
  look(card)
  return problems
}

const impure = ['Date', 'Math.random', 'performance', 'process', 'globalThis', 'fetch', 'setTimeout', 'await', 'Promise']

function usesOf({ path, text }: SourceFile): readonly string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*|'[^'\n]*'/g, '')
  return impure.filter((name) => new RegExp(`(?<![\\w.$])${name.replace('.', '\\.')}(?![\\w$:])`).test(code)).map((name) => `${path}: uses ${name}`)
}
