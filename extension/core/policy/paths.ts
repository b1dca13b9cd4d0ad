import { isUri } from '../../base/is-uri.ts'
import { Minimatch } from 'minimatch'

/** Path arithmetic without a disk: both separators where the system has both. Links are followed by the file system, not here. */
export interface PathStyle {
  readonly isWindows: boolean
  /** The system does not tell capital from small letters. */
  readonly ignoresCase: boolean
}

export const styleOf = ({ platform }: { readonly platform: 'linux' | 'darwin' | 'win32' }): PathStyle => ({
  isWindows: platform === 'win32',
  ignoresCase: platform !== 'linux',
})

/** An absolute path, `.` and `..` taken out; a URI stays as it is. */
export function absolutePath(path: string, cwd: string, { isWindows }: PathStyle): string {
  if (isUri(path)) return path
  const slashed = isWindows ? path.replaceAll('\\', '/') : path
  const base = isWindows ? cwd.replaceAll('\\', '/') : cwd
  const isAbsolute = slashed.startsWith('/') || (isWindows && /^[a-z]:\//i.test(slashed))
  const [, root = '/', rest = ''] = /^([a-z]:\/|\/\/?)?(.*)$/is.exec(isAbsolute ? slashed : `${base}/${slashed}`) ?? []
  const steps: string[] = []
  for (const step of rest.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  return root + steps.join('/')
}

/** `path` is `folder` or stands in it. Both absolute. */
export function isWithin(path: string, folder: string, style: PathStyle): boolean {
  const [inner, outer] = [path, folder].map((text) => comparable(text, style)) as [string, string]
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
}

/** `path` seen from `folder`, with forward slashes; the path itself when it is elsewhere. */
export function relativeTo(path: string, folder: string, style: PathStyle): string {
  const slashed = style.isWindows ? path.replaceAll('\\', '/') : path
  return isWithin(path, folder, style) ? slashed.slice(folder.replace(/[/\\]$/, '').length + 1) || '.' : slashed
}

/**
 * Which of the patterns takes a path in; a later line that begins with `!` takes it out again.
 *
 * A pattern that ends in `/**` means the folder too.
 */
export function pathMatcher(patterns: readonly string[], style: PathStyle): (path: string) => string | null {
  const options = { platform: 'linux' as const, dot: true, nocase: style.ignoresCase, nonegate: true, nocomment: true }
  const rows = patterns.map((line) => {
    const isException = line.startsWith('!')
    const pattern = isException ? line.slice(1) : line
    const forms = pattern.endsWith('/**') ? [pattern, pattern.slice(0, -3)] : [pattern]
    return { line, isException, needle: needleOf(pattern, style), matchers: forms.map((form) => new Minimatch(form, options)) }
  })
  return (path) => {
    const slashed = style.isWindows ? path.replaceAll('\\', '/') : path
    let found: string | null = null
    const text = comparable(slashed, style)
    for (const { line, isException, needle, matchers } of rows) {
      if (isException === (found === null)) continue
      // Most patterns are out by a look at the text; matching costs a hundred times as much.
      if (text.includes(needle) && matchers.some((matcher) => matcher.match(slashed))) found = isException ? null : line
    }
    return found
  }
}

/** The same for patterns that may change, as settings do: asked for with each path, and taken over when they are another list. */
export function changingPathMatcher(patterns: () => readonly string[], style: PathStyle): (path: string) => string | null {
  let known: { readonly patterns: readonly string[]; readonly match: (path: string) => string | null } | undefined
  return (path) => {
    const now = patterns()
    if (known?.patterns !== now) known = { patterns: now, match: pathMatcher(now, style) }
    return known.match(path)
  }
}

/** The longest text that each match of a pattern holds; empty when that cannot be told. */
function needleOf(pattern: string, style: PathStyle): string {
  if (/[()[\]{}\\]/.test(pattern)) return ''
  const texts = pattern.replace(/(^|\/)\*\*(?=\/|$)\/?/g, '*').split(/[*?]/)
  return comparable(texts.reduce((longest, text) => (text.length > longest.length ? text : longest), ''), style)
}

function comparable(path: string, { isWindows, ignoresCase }: PathStyle): string {
  const slashed = isWindows ? path.replaceAll('\\', '/') : path
  return ignoresCase ? slashed.toLowerCase() : slashed
}
