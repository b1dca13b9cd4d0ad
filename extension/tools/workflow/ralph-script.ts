/**
 * What `ralph` runs: a fresh agent a round, which knows the objective, the state of the folder and the report of the round before.
 * Source: agent tools specification 7.2.
 */
export const ralphScript = `
const { objective, maxRounds, maxHandoffChars } = args
const texts = { type: 'array', items: { type: 'string' } }
const schema = {
  type: 'object',
  properties: { status: { type: 'string', enum: ['continue', 'complete', 'blocked'] }, summary: { type: 'string' }, evidence: texts, nextSteps: texts, blocker: { type: 'string' } },
  required: ['status', 'summary', 'evidence', 'nextSteps', 'blocker'],
  additionalProperties: false,
}
const trimmed = (list) => list.map((text) => text.trim()).filter((text) => text !== '')
const problemOf = ({ status, summary, evidence, nextSteps, blocker }) => {
  if (summary === '') return 'its summary is empty'
  if (status === 'continue') return nextSteps.length === 0 ? 'it goes on without next steps' : blocker !== '' ? 'it goes on and names a blocker' : null
  if (status === 'complete') return evidence.length === 0 ? 'it is complete without evidence' : nextSteps.length > 0 ? 'it is complete and has next steps' : blocker !== '' ? 'it is complete and names a blocker' : null
  return blocker === '' ? 'it is blocked without a blocker' : null
}
let handoff = null
const lastWords = () => (handoff === null ? 'There is no report of a round before.' : 'The last good report: ' + JSON.stringify(handoff))
for (let round = 1; round <= maxRounds; round++) {
  phase('Round ' + round)
  const given = await agent([
    'You are round ' + round + ' of at most ' + maxRounds + ', each of which is an agent of its own that knows nothing of the others but one report.',
    'Objective:\\n' + objective,
    handoff === null ? 'There was no round before.' : 'Report of the round before:\\n' + JSON.stringify(handoff, null, 2),
    'What is in the folder is the truth: look at it before you believe the report. Do one useful piece of the work and check it. Then report: status "continue" with the next steps and no blocker; "complete" with evidence, no next steps and no blocker, only when the whole objective is met; or "blocked" with the blocker, when nobody but the person can go on.',
  ].join('\\n\\n'), { label: 'Round ' + round, schema })
  if (given === null) throw new Error('Round ' + round + ' failed. ' + lastWords())
  const report = { status: given.status, summary: given.summary.trim(), evidence: trimmed(given.evidence), nextSteps: trimmed(given.nextSteps), blocker: given.blocker.trim() }
  const problem = problemOf(report)
  if (problem !== null) throw new Error('Round ' + round + ' failed: its report cannot be used, since ' + problem + '. ' + lastWords())
  const size = JSON.stringify(report).length
  if (size > maxHandoffChars) throw new Error('Round ' + round + ' failed: its report has ' + size + ' characters, and ' + maxHandoffChars + ' is the most that is handed on. ' + lastWords())
  handoff = report
  log('Round ' + round + ': ' + report.status + '. ' + report.summary.slice(0, 2000))
  if (report.status !== 'continue') return { status: report.status, roundsStarted: round, report }
}
return { status: 'budget-limited', roundsStarted: maxRounds, report: handoff }
`
