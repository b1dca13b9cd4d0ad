import { HarnessError } from '../../base/harness-error.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Jobs } from '../../features/jobs/service.ts'
import type { ChildOutcome, ChildRequest, ChildStopReason, SubagentProvider, Subagents, ToolFilter } from '../../features/subagents/service.ts'
import { AgentToolError, callerOf } from './agent-error.ts'
import { subagentJob } from './subagent-job.ts'
import { presentCall, presentResult } from './subagent.card.ts'

/** One tool that starts agents; instances differ by these. Source: agent tools specification 6.2. */
export interface SubagentToolOptions {
  /** Name of a registered provider. */
  readonly provider: string
  readonly toolName: string
  /** Absent: true. */
  readonly enableRunInBackground?: boolean
  /** What a call in the background starts. Absent: `one-shot`. */
  readonly backgroundMode?: 'one-shot' | 'continuable'
  readonly agentOptions?: NonNullable<ChildRequest['model']>
  readonly persona?: string
  readonly toolFilter?: ToolFilter
  /** Absent: the cap of the governor alone. */
  readonly maxDepth?: number | 'provider-managed'
}

/** A child did not get to its end. `CHILD_ABNORMAL`: for a reason nobody knows. */
export class SubagentRunError extends HarnessError<'CHILD_ABORTED' | 'CHILD_FAILED' | 'CHILD_CUT_OFF' | 'CHILD_REFUSED' | 'CHILD_ABNORMAL'> {}

interface Needs {
  readonly subagents: Subagents
  /** Undefined while there are none. */
  readonly jobs: () => Jobs | undefined
  readonly provider: SubagentProvider
}

/**
 * Errors: `AgentToolError` `UNSUPPORTED_CAPABILITY` for options that the provider cannot keep, `RangeError` for a depth that is no
 * whole number; nothing is registered then.
 */
export function createSubagentTool(options: SubagentToolOptions, { subagents, jobs, provider }: Needs): ToolDefinition {
  checkOptions(options, provider)
  const { toolName, enableRunInBackground = true, backgroundMode = 'one-shot', agentOptions, persona, toolFilter, maxDepth } = options
  const isKept = backgroundMode === 'continuable'
  const request = (agent: Agent, { description, prompt, isolation }: { readonly description: string; readonly prompt: string; readonly isolation?: 'worktree' }, exec: BodyExecution): ChildRequest => ({
    parent: agent,
    provider: provider.name,
    label: description,
    prompt,
    purpose: { kind: 'subagent' },
    callId: exec.rootCallId,
    signal: exec.signal,
    ...(isolation !== undefined && { isolation }),
    ...(agentOptions && { model: agentOptions }),
    ...(persona !== undefined && { persona }),
    ...(toolFilter && { toolFilter }),
    ...(maxDepth !== undefined && { maxDepth }),
  })

  return defineTool({
    name: toolName,
    description: `${provider.inheritsParentContext ? forkWords : provider.isLocal ? freshWords : foreignWords(provider.name)}${enableRunInBackground ? backgroundWords[backgroundMode] : ''}`,
    parameters: {
      description: { type: 'string', required: true, description: 'The task in 3 to 5 words.' },
      prompt: { type: 'string', required: true, description: provider.inheritsParentContext ? 'What is new: the task, and what to answer with.' : 'The whole task: goal, facts, paths, and what to answer with.' },
      ...(enableRunInBackground && { run_in_background: { type: 'boolean', description: `Default: ${isKept}.` } as const }),
      isolation: { type: 'string', enum: ['worktree'], description: 'Its own git worktree; the person merges.' },
    },
    output: {
      schema: {
        oneOf: [
          { type: 'object', properties: { kind: { type: 'string', const: 'foreground', required: true }, runId: { type: 'string', required: true }, output: { type: 'array', required: true, items: textBlock } }, additionalProperties: false },
          { type: 'object', properties: { kind: { type: 'string', const: 'background', required: true }, jobId: { type: 'string', required: true } }, additionalProperties: false },
          { type: 'object', properties: { kind: { type: 'string', const: 'continuable', required: true }, subagentId: { type: 'string', required: true } }, additionalProperties: false },
        ],
      },
      render: (_args, value) => [{ type: 'text', text: value.kind === 'foreground' ? value.output.map(({ text }) => text).join('') : value.kind === 'background' ? `Started as background job ${value.jobId}.` : `Started agent ${value.subagentId}. You are told when it rests.` }],
      presentationMeta: (_args, value) => (value.kind === 'foreground' ? { runId: value.runId } : value.kind === 'background' ? { jobId: value.jobId } : { subagentId: value.subagentId }),
    },
    limits: [
      { of: 'description', max: MAX_DESCRIPTION_CHARS, unit: 'characters' },
      { of: 'prompt', max: subagents.limits.promptBytes, unit: 'bytes' },
      { of: 'words on a failure', max: subagents.limits.diagnosticBytes, unit: 'bytes' },
    ],
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      const agent = callerOf(exec.agent, toolName)
      checkDescription(args.description)
      // The root of the arguments is open, so this one can come although it is not declared.
      const asked: unknown = (args as { readonly run_in_background?: unknown }).run_in_background
      if (!enableRunInBackground && asked === true) throw new AgentToolError('NO_BACKGROUND', `${toolName} runs nothing in the background. Leave run_in_background out.`)
      const isBackground = enableRunInBackground && (typeof asked === 'boolean' ? asked : isKept)
      if (!isBackground) return runInForeground(subagents, request(agent, args, exec), exec)
      if (isKept) return { kind: 'continuable' as const, subagentId: (await subagents.startContinuable(request(agent, args, exec))).childId }
      const runtime = jobs()
      if (runtime === undefined) throw new AgentToolError('NO_JOBS', 'There are no background jobs here. Call again with run_in_background false.')
      subagents.governor.checkDepth(agent, provider.supports.depthLimit ? maxDepth : 'provider-managed')
      return { kind: 'background' as const, jobId: runtime.start(subagentJob(subagents, { toolName, agent, request: request(agent, args, exec) })).id }
    },
    presentCall,
    presentResult,
  })
}

/** UTF-16 units: it stands in the tree, on cards and in what the agent that asked is told at the end. */
const MAX_DESCRIPTION_CHARS = 200

function checkDescription(description: string): void {
  if (description.length > MAX_DESCRIPTION_CHARS) throw new ToolError('INVALID_ARGS', `The description has ${description.length} characters, at most ${MAX_DESCRIPTION_CHARS}. Say the task in 3 to 5 words, and all else in the prompt.`)
}

const textBlock = { type: 'object', properties: { type: { type: 'string', const: 'text', required: true }, text: { type: 'string', required: true } }, additionalProperties: false } as const

const freshWords = 'Give a task to an agent of its own. It has your tools and knows nothing of this talk; its last message is the result.'
const forkWords = 'Give a task to an agent that begins with this talk as it was before the current turn, and has your tools. Its last message is the result.'
const foreignWords = (name: string) => `Give a task to another coding agent that is installed here (${name}). It works in this folder with tools and rules of its own and knows nothing of this talk; its last message is the result.`
const backgroundWords = {
  'one-shot': ' With run_in_background it is a background job.',
  continuable: ' In the background it stays: you are told when it rests, and send_message goes on with it. In the foreground you wait for one answer.',
} as const

/** The caller waits; meanwhile the place it holds among the agents at work is free for its child. */
async function runInForeground(subagents: Subagents, request: ChildRequest, exec: BodyExecution) {
  const { runId, outcome } = await subagents.governor.lend(
    request.parent,
    async () => {
      const child = await subagents.start(request)
      const stop = followed(subagents, child.childId, exec)
      try {
        return { runId: child.runId, outcome: await child.outcome }
      } finally {
        stop()
      }
    },
    request.signal,
  )
  if (outcome.stopReason !== 'completed') throw failureOf(outcome)
  return { kind: 'foreground' as const, runId, output: outcome.output === '' ? [] : [{ type: 'text' as const, text: outcome.output }] }
}

/** What it does now, in the card of the call. */
function followed(subagents: Subagents, childId: string, exec: BodyExecution): () => void {
  let shown: string | undefined
  return subagents.onDidChange(() => {
    const line = subagents.facts(childId)?.lastLine
    if (line === undefined || line === shown) return
    shown = line
    exec.progress(`${line}\n`)
  })
}

const headlines: Readonly<Record<ChildStopReason, readonly [code: SubagentRunError['code'], words: string]>> = {
  aborted: ['CHILD_ABORTED', 'The agent was stopped before it finished.'],
  error: ['CHILD_FAILED', 'The agent failed.'],
  'max-tokens': ['CHILD_CUT_OFF', 'The agent was cut off: its answer came to the limit of tokens.'],
  refusal: ['CHILD_REFUSED', 'The agent was kept from working.'],
  completed: ['CHILD_ABNORMAL', 'The agent ended in an unknown way.'],
}

/** Why, what its transport says, and what it had said until then. */
export function failureOf({ stopReason, diagnostic, output }: ChildOutcome): SubagentRunError {
  // Providers are others' code: a reason that nobody knows is told as such.
  const [code, words] = (headlines as Partial<typeof headlines>)[stopReason] ?? headlines.completed
  const lines = [words, ...(diagnostic === undefined || diagnostic === '' ? [] : [diagnostic]), ...(output.trim() === '' ? [] : [`What it had said:\n${output}`])]
  return new SubagentRunError(code, lines.join('\n'))
}

function checkOptions({ toolName, backgroundMode, toolFilter, persona, maxDepth }: SubagentToolOptions, { name, supports }: SubagentProvider): void {
  const refuse = (why: string) => new AgentToolError('UNSUPPORTED_CAPABILITY', `The tool ${toolName} cannot be offered: ${why}`)
  if (backgroundMode === 'continuable' && !supports.continuable) throw refuse(`agents of ${name} give one answer, and it is to keep them.`)
  if (typeof maxDepth === 'number' && !supports.depthLimit) throw refuse(`${name} counts depth by itself, so maxDepth is "provider-managed".`)
  if (typeof maxDepth === 'number' && (!Number.isSafeInteger(maxDepth) || maxDepth < 0)) throw new RangeError(`The tool ${toolName} cannot be offered: maxDepth is ${maxDepth}, and must be a whole number of 0 or more.`)
  if (toolFilter && (toolFilter.allow?.length ?? 0) + (toolFilter.deny?.length ?? 0) === 0) throw refuse('its toolFilter names no tool.')
  if (toolFilter && !supports.toolFilter) throw refuse(`${name} cannot filter tools.`)
  if (persona !== undefined && !supports.persona) throw refuse(`${name} takes no persona.`)
}
