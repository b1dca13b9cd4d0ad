import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Subagents } from '../../features/subagents/service.ts'
import type { Workflows } from '../../features/workflow/service.ts'
import { WorkflowToolError } from './error.ts'
import { MAX_HANDOFF_CHARS, ralphResult, type RalphResult } from './ralph-report.ts'
import { ralphScript } from './ralph-script.ts'
import { presentRalph, presentRalphResult } from './workflow.card.ts'

export interface RalphNeeds {
  readonly workflows: Pick<Workflows, 'run'>
  readonly subagents: Pick<Subagents, 'provider'>
  readonly maxRounds: () => number
}

/** UTF-16 units: every round is told it. */
const MAX_OBJECTIVE_CHARS = 20_000
/** UTF-16 units of what the model reads, with the mark of a cut. */
const MAX_SHOWN_CHARS = 16_384

/** `ralph`: fresh agents work on one objective, round after round. Source: agent tools specification 7.2. */
export function createRalph({ workflows, subagents, maxRounds: cap }: RalphNeeds): ToolDefinition {
  const texts = { type: 'array', items: { type: 'string' }, required: true } as const
  return defineTool({
    name: 'ralph',
    description: 'Let fresh agents work on one objective in rounds. Each sees the folder and the report of the round before, nothing else; it ends when a round reports complete or blocked.',
    parameters: {
      objective: { type: 'string', required: true },
      maxRounds: { type: 'number' },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          runId: { type: 'string', required: true },
          agentsStarted: { type: 'integer', required: true },
          result: {
            type: 'object',
            required: true,
            properties: {
              status: { type: 'string', enum: ['complete', 'blocked', 'budget-limited'], required: true },
              roundsStarted: { type: 'integer', required: true },
              report: {
                type: 'object',
                required: true,
                properties: {
                  status: { type: 'string', enum: ['continue', 'complete', 'blocked'], required: true },
                  summary: { type: 'string', required: true },
                  evidence: texts,
                  nextSteps: texts,
                  blocker: { type: 'string', required: true },
                },
                additionalProperties: false,
              },
            },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
      render: (_args, { result }) => [{ type: 'text', text: shown(result) }],
      presentationMeta: (_args, { result }) => ({ status: result.status, rounds: result.roundsStarted }),
    },
    limits: [
      { of: 'objective', max: MAX_OBJECTIVE_CHARS, unit: 'characters' },
      { of: 'text', max: MAX_SHOWN_CHARS, unit: 'characters' },
      { of: 'report of a round', max: MAX_HANDOFF_CHARS, unit: 'characters' },
      { of: 'rounds', max: cap(), unit: 'items' },
    ],
    async execute(args, exec) {
      const objective = args.objective.trim()
      if (objective === '') throw new ToolError('INVALID_ARGS', 'The objective is empty. Say what is to be reached.')
      if (objective.length > MAX_OBJECTIVE_CHARS) throw new ToolError('INVALID_ARGS', `The objective has ${objective.length} characters, at most ${MAX_OBJECTIVE_CHARS}. Put the details into a file and name it.`)
      const most = cap()
      const maxRounds = args.maxRounds ?? most
      if (!Number.isSafeInteger(maxRounds) || maxRounds < 1 || maxRounds > most) throw new ToolError('INVALID_ARGS', `maxRounds is ${maxRounds}, but must be a whole number from 1 to ${most}.`)
      if (exec.agent === undefined) throw new WorkflowToolError('NO_AGENT', 'Ralph belongs to a session, and this call has none.')
      const provider = subagents.provider('spawn')
      if (provider === undefined || !provider.supports.outputSchema || provider.inheritsParentContext)
        throw new WorkflowToolError('PROVIDER_UNFIT', 'Ralph needs agents that begin fresh and can give a result of a schema, and there are none here.')
      const isRecorded = exec.parent === undefined
      const { runId, agentsStarted, result } = await workflows.run({
        kind: 'ralph',
        agent: exec.agent,
        script: ralphScript,
        meta: { name: 'ralph', description: objective.slice(0, 500).toWellFormed() },
        args: { objective, maxRounds, maxHandoffChars: MAX_HANDOFF_CHARS },
        ...(isRecorded && { callId: exec.callId }),
        mayResume: isRecorded,
        isRecorded,
        maxTotalAgents: maxRounds,
        signal: exec.signal,
      })
      const checked = ralphResult(result, maxRounds)
      if (checked === null) throw new WorkflowToolError('RALPH_RESULT', 'Ralph ended with a report that breaks its own rules, so nothing of it is taken over. Look at the folder for what was done.')
      return { runId, agentsStarted, result: checked }
    },
    presentCall: presentRalph,
    presentResult: presentRalphResult,
  })
}

const outcomes: Readonly<Record<RalphResult['status'], string>> = {
  complete: 'The last agent says that the objective is met',
  blocked: 'The last agent says that it is blocked',
  'budget-limited': 'The rounds are used up, and the last agent says that work is left',
}

function shown({ status, roundsStarted, report }: RalphResult): string {
  const text = `${outcomes[status]}; nobody else has checked it. Rounds: ${roundsStarted}.\n${JSON.stringify(report, null, 2)}`
  if (text.length <= MAX_SHOWN_CHARS) return text
  const mark = '\n[cut]'
  return text.slice(0, MAX_SHOWN_CHARS - mark.length).toWellFormed() + mark
}
