import { basename, extname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sourceFiles, type SourceFile } from './source-files.ts'

describe('source files', () => {
  const files = sourceFiles('extension', 'webview', 'test', 'scripts')

  it('are there', () => expect(files.length).toBeGreaterThan(0))
  it('keep to the layout', () => expect(files.flatMap(layoutProblems)).toEqual([]))
})

describe('the layout', () => {
  const check = (path: string, text: string, problems: readonly string[]) => expect(layoutProblems({ path, text })).toEqual(problems)

  it('allows kebab-case with a suffix', () => check('extension/tools/files/read-many.card.ts', 'export const a = 1', []))
  it('refuses other cases', () =>
    check('webview/components/ToolCard.tsx', 'export const a = 1', ['webview/components/ToolCard.tsx: file names are kebab-case, named after the main export']))
  it('refuses a default export', () =>
    check('extension/a.ts', 'const a = 1\nexport default a', ['extension/a.ts: no default exports; a name is found by searching for it']))
  it('refuses an index that only re-exports', () =>
    check('extension/core/index.ts', "// all\nexport * from './a.ts'\nexport { b } from './b.ts'\n", [
      'extension/core/index.ts: no index.ts that only re-exports; import from the file that has it',
    ]))
  it('refuses work left for later', () =>
    check('extension/a.ts', '// ' + 'TODO: finish', ['extension/a.ts: no marks for work left undone; do it or file it']))
  it('refuses zod by name', () =>
    check('extension/a.ts', "import { z } from 'zod'\n", [
      'extension/a.ts: zod is imported as `* as z`; by name, the messages of all its languages come into the bundle (350 KB)',
    ]))
})

function layoutProblems({ path, text }: SourceFile): readonly string[] {
  const problems: string[] = []
  const name = basename(path)
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*\.tsx?$/.test(name))
    problems.push(`${path}: file names are kebab-case, named after the main export`)
  if (/^export default\b|^export \{[^}]*\bas default\b/m.test(text))
    problems.push(`${path}: no default exports; a name is found by searching for it`)
  if (basename(name, extname(name)) === 'index' && withoutComments(text).every((line) => /^export .* from /.test(line)))
    problems.push(`${path}: no index.ts that only re-exports; import from the file that has it`)
  if (/^import (type )?\{[^}]*\} from 'zod'/m.test(text))
    problems.push(`${path}: zod is imported as \`* as z\`; by name, the messages of all its languages come into the bundle (350 KB)`)
  if (/\b(TODO|FIXME|XXX)\b/.test(text) && !path.startsWith('test/architecture/'))
    problems.push(`${path}: no marks for work left undone; do it or file it`)
  return problems
}

const withoutComments = (text: string) =>
  text
    .replaceAll(/\/\*.*?\*\/|\/\/.*$/gms, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
