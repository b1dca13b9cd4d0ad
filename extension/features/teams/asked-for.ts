import type { Session } from '../../core/session/session.ts'

const verbs = 'use|using|start|spawn|form|build|create|make|set up|assemble|gather|launch|run|have|get|want|need|as|with|put together|in'
const between = '(?:a|an|your|our|the|another|new|small|agent|whole|little|good|\\S+-(?:person|agent|member))'
const team = new RegExp(`\\bteam-?mates?\\b|\\bagent teams?\\b|\\b(?:${verbs})\\s+(?:${between}\\s+){0,4}team\\b(?!\\s+(?:page|pages|component|table|model|class|file|files|view|list|form|name|id|member|members|settings|module|folder|api|test|tests)\\b)`, 'i')
const refused = /\b(?:no|not|never|without|don['’]?t|instead of|rather than)\b[^.!?\n]{0,40}\bteam/i

/** Whether words ask for a team of agents; an application about teams does not. */
const asksForTeam = (text: string): boolean => team.test(text) && !refused.test(text)

/** The person asked for a team in this session, in words of their own. */
export function isTeamAskedFor(session: Pick<Session, 'milestones' | 'header'>): boolean {
  return session.milestones().some((event) => event.type === 'user/message' && event.data.source.kind === 'user' && event.data.content.some((block) => block.type === 'text' && asksForTeam(block.text)))
}
