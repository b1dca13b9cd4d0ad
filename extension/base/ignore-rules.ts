import { compileGlob } from './glob.ts'

/** Bytes of a list of what is ignored; a larger one is not read. */
export const MAX_IGNORE_BYTES = 256 * 1024

/** A line of a `.gitignore` or `.ignore` file. */
export interface IgnoreRule {
  readonly isNegated: boolean
  readonly isFolderOnly: boolean
  /** A path seen from the folder of the file, with forward slashes. */
  readonly matches: (path: string) => boolean
}

/** The rules of a file, in its order. A line that cannot be understood rules nothing. Source: gitignore(5), "PATTERN FORMAT". */
export const ignoreRules = (text: string): readonly IgnoreRule[] => text.split(/\r?\n/).flatMap(ruleFrom)

/** What the rules of one file make of a path, given what those before it made of it: the last that matches decides. */
export function isHiddenBy(rules: readonly IgnoreRule[], { path, isFolder, wasHidden }: { readonly path: string; readonly isFolder: boolean; readonly wasHidden: boolean }): boolean {
  let isHidden = wasHidden
  for (const rule of rules) if ((!rule.isFolderOnly || isFolder) && rule.matches(path)) isHidden = !rule.isNegated
  return isHidden
}

function ruleFrom(line: string): readonly IgnoreRule[] {
  let end = line.length
  // A blank at the end counts where a backslash stands before it.
  while (line[end - 1] === ' ' && line[end - 2] !== '\\') end -= 1
  const bare = line.slice(0, end)
  if (bare === '' || bare.startsWith('#')) return []
  const isNegated = bare.startsWith('!')
  const pattern = (isNegated ? bare.slice(1) : bare).replace(/^\\(?=[#!])/, '')
  const isFolderOnly = pattern.endsWith('/')
  const inner = isFolderOnly ? pattern.slice(0, -1) : pattern
  // A name alone matches at any depth; git knows no braces.
  const glob = (inner.startsWith('/') ? inner : inner.includes('/') ? `/${inner}` : inner).replaceAll(/[{}]/g, '\\$&')
  const compiled = compileGlob(glob)
  return 'problem' in compiled ? [] : [{ isNegated, isFolderOnly, matches: compiled.matches }]
}
