import type { Localization } from '../capabilities/localization.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long, in one coarse unit: `4 s`, `12 min`, `3 h`, `2 d`. */
export function ageOf(ms: number, { t }: Localization): string {
  if (ms < MINUTE) return t('{count} s', { count: Math.max(0, Math.floor(ms / SECOND)) })
  if (ms < HOUR) return t('{count} min', { count: Math.floor(ms / MINUTE) })
  return ms < 2 * DAY ? t('{count} h', { count: Math.floor(ms / HOUR) }) : t('{count} d', { count: Math.floor(ms / DAY) })
}

/** How long ago: `just now`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function agoOf(ms: number, { t }: Localization): string {
  if (ms < MINUTE) return t('just now')
  if (ms < HOUR) return t('{count} min ago', { count: Math.floor(ms / MINUTE) })
  return ms < DAY ? t('{count} h ago', { count: Math.floor(ms / HOUR) }) : t('{count} d ago', { count: Math.floor(ms / DAY) })
}
