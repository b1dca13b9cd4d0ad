import { afterAll, describe, expect, it } from 'vitest'
import type { BodyExecution } from '../../../extension/core/tools/definition.ts'
import type { ChildOutcome, SubagentProvider } from '../../../extension/features/subagents/service.ts'
import { ralphResult } from '../../../extension/tools/workflow/ralph-report.ts'
import { createRalph } from '../../../extension/tools/workflow/ralph.ts'
import { createWorkflowRig, testCodeRuntime } from '../../support/workflow-rig.ts'

const runtime = testCodeRuntime()
afterAll(() => runtime.dispose())

const spawn: SubagentProvider = { name: 'spawn', supports: { outputSchema: true, depthLimit: true, toolFilter: true, persona: true, continuable: true }, inheritsParentContext: false, isLocal: true }
const goesOn = { status: 'continue', summary: 'half', evidence: [], nextSteps: ['more'], blocker: '' }
const complete = { status: 'complete', summary: 'all', evidence: ['tests pass'], nextSteps: [], blocker: '' }
const blocked = { status: 'blocked', summary: 'stuck', evidence: [], nextSteps: [], blocker: 'no key' }

/** A call of `ralph`; each report ends a round, null fails it. */
async function call(reports: readonly (object | null)[], { args = {}, provider = spawn, cap = 64, agent: hasAgent = true }: { args?: object; provider?: SubagentProvider | undefined; cap?: number; agent?: boolean } = {}) {
  const left = [...reports]
  const rig = createWorkflowRig(runtime, {
    mind: (): ChildOutcome => {
      const report = left.shift()
      return report == null ? { stopReason: 'error', output: '' } : { stopReason: 'completed', output: '', structured: report as NonNullable<ChildOutcome['structured']> }
    },
  })
  const tool = createRalph({ workflows: rig.workflows, subagents: { provider: () => provider }, maxRounds: () => cap })
  const exec = { callId: 'c', signal: new AbortController().signal, ...(hasAgent && { agent: rig.agent }) } as Partial<BodyExecution> as BodyExecution
  const all = { objective: ' Make it green ', ...args }
  try {
    const value = (await tool.execute(all, exec)) as { agentsStarted: number; result: { status: string; roundsStarted: number } }
    return { rig, value, text: tool.output.render(all, value).map((block) => (block.type === 'text' ? block.text : '')).join('') }
  } catch (error) {
    return { rig, error: error as Error & { code: string } }
  }
}

describe('7.2 rounds', () => {
  it('go on with a fresh child each, which gets objective, round, cap and the report before, until one is complete', async () => {
    const { rig, value } = await call([goesOn, complete], { args: { maxRounds: 5 } })
    expect(value).toEqual({ runId: 'id-1', agentsStarted: 2, result: { status: 'complete', roundsStarted: 2, report: complete } })
    const [one, two] = rig.asked
    expect(one?.prompt).toContain('Make it green')
    expect(one?.prompt).toContain('round 1 of at most 5')
    expect(one?.prompt).toContain('There was no round before')
    expect(two?.prompt).toContain('"half"')
    expect([one?.provider, one?.purpose, two?.purpose, one?.schema?.['additionalProperties']]).toEqual(['spawn', { kind: 'ralph', runId: 'id-1', round: 1 }, { kind: 'ralph', runId: 'id-1', round: 2 }, false])
  })
  it.each([
    ['blocked', [blocked], { status: 'blocked', roundsStarted: 1, report: blocked }],
    ['out of rounds', [goesOn, goesOn], { status: 'budget-limited', roundsStarted: 2, report: goesOn }],
    ['complete, its texts trimmed', [{ ...complete, summary: ' all ', evidence: [' tests pass ', ' '] }], { status: 'complete', roundsStarted: 1, report: complete }],
  ])('end %s', async (_, reports, result) => expect((await call(reports, { args: { maxRounds: 2 } })).value?.result).toEqual(result))

  it.each([
    ['a blank summary', { ...complete, summary: ' ' }],
    ['going on without next steps', { ...goesOn, nextSteps: [' '] }],
    ['going on with a blocker', { ...goesOn, blocker: 'x' }],
    ['complete without evidence', { ...complete, evidence: [] }],
    ['complete with next steps', { ...complete, nextSteps: ['x'] }],
    ['complete with a blocker', { ...complete, blocker: 'x' }],
    ['blocked without a blocker', { ...blocked, blocker: ' ' }],
    ['more than is handed on', { ...complete, evidence: ['x'.repeat(16_400)] }],
  ])('fail with %s; nothing is cut', async (_, report) => {
    const { error } = await call([goesOn, report])
    expect([error?.code, error?.message]).toEqual(['WORKFLOW_FAILED', expect.stringContaining('Round 2 failed')])
    expect(error?.message).toContain('"half"')
  })
  it('that fail are not tried again, and say that there was no report before', async () => {
    const { error, rig } = await call([null])
    expect([error?.message, rig.asked.length]).toEqual([expect.stringContaining('Round 1 failed. There is no report of a round before'), 1])
  })
  it('leave a durable record of the run', async () => {
    const { rig } = await call([goesOn, complete])
    expect(rig.logOf('tool-workflow/run-start', 'tool-workflow/agent-start', 'tool-workflow/run-end')).toEqual([
      { runId: 'id-1', name: 'ralph' },
      { runId: 'id-1', seq: 1, label: 'Round 1', phase: 'Round 1', childId: 'child-1' },
      { runId: 'id-1', seq: 2, label: 'Round 2', phase: 'Round 2', childId: 'child-2' },
      { runId: 'id-1', stopReason: 'completed' },
    ])
  })
})

describe('7.2 a call', () => {
  it('says that the end is what the worker claims, with rounds and report, in 16,384 characters', async () => {
    const { text } = await call([complete])
    expect(text).toMatch(/last agent says that the objective is met; nobody else has checked it\. Rounds: 1\./)
    const long = await call([{ ...complete, evidence: Array.from({ length: 900 }, () => 'evidence "x"') }])
    expect(long.text?.length).toBe(16_384)
    expect(long.text?.endsWith('[cut]')).toBe(true)
  })
  it.each([
    ['an empty objective', { args: { objective: '  ' } }, 'INVALID_ARGS'],
    ['an objective that is too long', { args: { objective: 'x'.repeat(20_001) } }, 'INVALID_ARGS'],
    ['no rounds', { args: { maxRounds: 0 } }, 'INVALID_ARGS'],
    ['more rounds than the cap', { args: { maxRounds: 65 } }, 'INVALID_ARGS'],
    ['no agent', { agent: false }, 'NO_AGENT'],
    ['agents that cannot give an object', { provider: { ...spawn, supports: { ...spawn.supports, outputSchema: false } } }, 'PROVIDER_UNFIT'],
    ['agents that begin with the talk', { provider: { ...spawn, inheritsParentContext: true } }, 'PROVIDER_UNFIT'],
  ])('with %s is refused before anything starts', async (_, options, code) => {
    const { error, rig } = await call([complete], options)
    expect([error?.code, rig.agent.log]).toEqual([code, []])
  })
  it('takes the cap where no rounds are said', async () => expect((await call([goesOn, goesOn, goesOn], { cap: 3 })).value?.result).toMatchObject({ status: 'budget-limited', roundsStarted: 3 }))
  it('holds the end to the rules a second time', () => {
    const end = { status: 'complete', roundsStarted: 1, report: complete }
    expect(ralphResult(end, 1)).toEqual(end)
    for (const broken of [null, { ...end, status: 'continue' }, { ...end, roundsStarted: 2 }, { ...end, report: goesOn }, { ...end, report: { ...complete, more: 1 } }, { ...end, report: { ...complete, evidence: [' x'] } }, { ...end, report: { ...complete, evidence: ['x'.repeat(16_400)] } }])
      expect(ralphResult(broken, 1)).toBe(null)
  })
})
