import { isWithin, pathMatcher, relativeTo, type PathStyle } from './paths.ts'

/** Whether the pattern of a rule takes a path in: an absolute one anywhere, others from each of the folders. Without a slash it means the name at any depth. */
export function fitsRulePath(pattern: string, path: string, folders: readonly string[], style: PathStyle): boolean {
  const matches = pathMatcher([pattern.includes('/') ? pattern : `**/${pattern}`], style)
  if (isAbsolutePattern(pattern)) return matches(path) !== null
  return folders.some((folder) => isWithin(path, folder, style) && matches(relativeTo(path, folder, style)) !== null)
}

export const isAbsolutePattern = (pattern: string): boolean => /^([a-z]:)?[/\\]/i.test(pattern)
