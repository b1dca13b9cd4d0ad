import { utf8Length } from '../../base/text.ts'
import type { Session } from '../../core/session/session.ts'
import { SurfaceFold } from '../../core/told/surface-fold.ts'
import type { Skill } from './service.ts'

export interface SkillCatalogue {
  readonly text: string
  readonly count: number
  /** They are there, and no room was left for their line. */
  readonly omittedCount: number
}

/** Characters of one description, from what is usual to what is left when many skills share the room. Source: capability specification 13. */
const descriptionSteps = [500, 200, 80] as const

/**
 * The list of skills that a model may load, one a line, at most `maxBytes` long.
 *
 * `skills` stand in the order in which they go first. Where they are too many, descriptions are shortened, then the last ones are
 * left out and counted.
 * Units: UTF-8 bytes of the whole message.
 */
export function catalogueOf(skills: readonly Skill[], maxBytes: number): SkillCatalogue {
  if (skills.length === 0) return { text: framed(['There are no skills any more. What was listed before cannot be loaded.']), count: 0, omittedCount: 0 }
  const omitted = (count: number) => (count === 0 ? [] : [`(${count} more are not listed for want of room; the person can name them.)`])
  for (const maxChars of descriptionSteps) {
    const text = framed([introduction, ...skills.map((skill) => lineOf(skill, maxChars))])
    if (utf8Length(text) <= maxBytes) return { text, count: skills.length, omittedCount: 0 }
  }
  const lines = skills.map((skill) => lineOf(skill, descriptionSteps[2]))
  let left = maxBytes - utf8Length(framed([introduction, ...omitted(skills.length)]))
  const overflow = lines.findIndex((line) => (left -= utf8Length(line) + 1) < 0)
  const kept = overflow < 0 ? lines : lines.slice(0, overflow)
  const omittedCount = lines.length - kept.length
  return { text: framed([introduction, ...kept, ...omitted(omittedCount)]), count: skills.length, omittedCount }
}

const introduction =
  'Skills: packages of instructions for certain kinds of work. When one fits what you are about to do, load it first with the tool `skill` and follow it. This list takes the place of every earlier one.'

const framed = (lines: readonly string[]) => ['<skills>', ...lines, '</skills>'].join('\n')

function lineOf({ name, description, whenToUse }: Skill, maxChars: number): string {
  return `- ${name}: ${escaped(brief(whenToUse === undefined ? description : `${description} When to use: ${whenToUse}`, maxChars))}`
}

/** On one line, cut. */
export function brief(text: string, maxChars: number): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim().toWellFormed()
  // Two units more than the longest that fits, so that one character too many is seen.
  const characters = Array.from(line.slice(0, maxChars * 2 + 2))
  return characters.length > maxChars ? `${characters.slice(0, maxChars - 1).join('')}…` : line
}

/** What a description says must not end the frame. */
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** The list that the model still sees; null when there is none, or a compaction took it away. */
export const toldCatalogue = (session: Pick<Session, 'surface'>) =>
  new SurfaceFold<{ readonly digest: string; readonly count: number } | null>(session, {
    start: () => null,
    step: (told, { type, data }) => (type === 'user/message' && data.source.kind === 'skill-catalog' ? data.source : told),
  })
