import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../../scripts/root.ts'

export type SourceFile = { readonly path: string; readonly text: string }

export type Import = { readonly specifier: string; readonly isTypeOnly: boolean; readonly line: number }

/** Every TypeScript file under the given folders of the repository, with `/`-separated paths from its root. */
export function sourceFiles(...folders: readonly string[]): readonly SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path: relative(root, path).replaceAll('\\', '/'), text: readFileSync(path, 'utf8') })),
  )
}

const statement = /^[ \t]*(?:import|export)\s+(type\s)?(?:[\w*$\s{},]+?from\s+)?(['"])([^'"\n]+)\2/gm
const dynamic = /\bimport\(\s*(['"])([^'"\n]+)\1\s*\)/g

/**
 * What a file imports or re-exports, with the line it starts on.
 *
 * `isTypeOnly` holds for `import type` and for an import whose every name carries `type`; an `import('…')` in a type
 * position counts as a value, since the text alone does not tell.
 */
export function importsOf(text: string): readonly Import[] {
  const found: Import[] = []
  const lineAt = (index: number) => text.slice(0, index).split('\n').length
  for (const match of text.matchAll(statement)) {
    const names = /\{([^}]*)\}/.exec(match[0])?.[1]
    const isEveryNameType = names !== undefined && names.split(',').every((name) => /^\s*(type\s.*)?$/s.test(name)) && /type\s/.test(names)
    const hasOtherBinding = /^\s*import\s+[\w$*]/.test(match[0]) && match[1] === undefined
    found.push({
      specifier: match[3]!,
      isTypeOnly: match[1] !== undefined || (isEveryNameType && !hasOtherBinding),
      line: lineAt(match.index + match[0].search(/\S/)),
    })
  }
  for (const match of text.matchAll(dynamic)) found.push({ specifier: match[2]!, isTypeOnly: false, line: lineAt(match.index) })
  return found
}
