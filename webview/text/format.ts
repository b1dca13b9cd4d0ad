import { formatNumber, t } from '../l10n.ts'

/** `840 ms`, `3.2 s`, `42 s`, `3 min 5 s`, `1 h 4 min`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, Math.round(durationMs))
  if (ms < 1_000) return t('{0} ms', ms)
  if (ms < 9_950) return t('{0} s', formatNumber(Math.round(ms / 100) / 10))
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return t('{0} s', seconds)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? t('{0} min', minutes) : t('{0} min {1} s', minutes, seconds % 60)
  return t('{0} h {1} min', Math.floor(minutes / 60), minutes % 60)
}

/** Whole seconds for a count that ticks: `4 s`, `1 min 4 s`. */
export const formatSeconds = (durationMs: number): string => formatDuration(Math.max(0, Math.round(durationMs / 1_000)) * 1_000 || 0).replace(/^0 ms$/, t('{0} s', 0))

/** `950`, `8.1k`, `120k`, `1.2M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1_000) return formatNumber(tokens)
  const [value, unit] = tokens < 999_500 ? [tokens / 1_000, 'k'] : [tokens / 1_000_000, 'M']
  return `${formatNumber(value < 99.95 ? Math.round(value * 10) / 10 : Math.round(value))}${unit}`
}

/** `35%` of a whole; `<1%` for what is there but rounds to nothing. */
export function formatShare(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return '0%'
  const percent = Math.round((part / whole) * 100)
  return percent === 0 ? '<1%' : `${percent}%`
}

/** `812 B`, `14 KB`, `2.3 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return t('{0} B', bytes)
  const kilo = bytes / 1_024
  return kilo < 1_000 ? t('{0} KB', formatNumber(Math.round(kilo))) : t('{0} MB', formatNumber(Math.round(kilo / 102.4) / 10))
}

/** How long ago, in one coarse word: `now`, `5 min`, `3 h`, `yesterday`, a date. */
export function formatAge(then: number, now: number, language: string): string {
  const minutes = Math.floor((now - then) / 60_000)
  if (minutes < 1) return t('now')
  if (minutes < 60) return t('{0} min', minutes)
  if (minutes < 24 * 60) return t('{0} h', Math.floor(minutes / 60))
  if (minutes < 48 * 60) return t('yesterday')
  return new Date(then).toLocaleDateString(language, { day: 'numeric', month: 'short' })
}

/** The last part of a path, of either kind of slash. */
export const fileName = (path: string): string => /[^/\\]*$/.exec(path.replace(/[/\\]+$/, ''))?.[0] || path

/** `a.example.org` of an address; the address itself when it is none. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host || url
  } catch {
    return url
  }
}

/** The first line that says something, cut to `maxChars`. */
export function firstLine(text: string, maxChars: number): string {
  const line = text.split('\n', 50).find((candidate) => candidate.trim() !== '')?.trim() ?? ''
  // By characters, so that none is cut in two.
  const characters = Array.from(line.slice(0, maxChars * 2 + 2))
  return characters.length > maxChars ? `${characters.slice(0, maxChars).join('')}…` : line
}
