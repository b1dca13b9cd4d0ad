import { expect, it } from 'vitest'
import type { FileSystem } from '../../../extension/capabilities/file-system.ts'
import type { ProcessRunner } from '../../../extension/capabilities/process.ts'
import type { Search } from '../../../extension/capabilities/search.ts'
import type { GoalCalls } from '../../../extension/features/goals/calls.ts'
import type { Jobs } from '../../../extension/features/jobs/service.ts'
import type { Observations } from '../../../extension/features/observation/service.ts'
import type { Plan, PlanReviews } from '../../../extension/features/plan/service.ts'
import type { Questions } from '../../../extension/features/questions/service.ts'
import type { Subagents } from '../../../extension/features/subagents/service.ts'
import type { Skills } from '../../../extension/features/skills/service.ts'
import { workflowTools } from '../../../extension/tools/workflow/plugin.ts'
import type { Workflows } from '../../../extension/features/workflow/service.ts'
import { agentTools } from '../../../extension/tools/agents/plugin.ts'
import { fileTools } from '../../../extension/tools/files/plugin.ts'
import { goalTools } from '../../../extension/tools/goals/plugin.ts'
import { jobTools } from '../../../extension/tools/jobs/plugin.ts'
import { planTools } from '../../../extension/tools/plan/plugin.ts'
import { questionTools } from '../../../extension/tools/questions/plugin.ts'
import { searchTools } from '../../../extension/tools/search/plugin.ts'
import { shellTools } from '../../../extension/tools/shell/plugin.ts'
import { scheduleTools } from '../../../extension/tools/schedule/plugin.ts'
import type { Schedules } from '../../../extension/features/schedule/service.ts'
import { skillTools } from '../../../extension/tools/skills/plugin.ts'
import { todoTools } from '../../../extension/tools/todo/plugin.ts'
import type { Permissions } from '../../../extension/core/policy/permissions.ts'
import type { Web } from '../../../extension/features/web/service.ts'
import { webTools } from '../../../extension/tools/web/plugin.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { noEditor } from '../../support/no-editor.ts'
import { createToolBench } from '../../support/tool-bench.ts'
import { plainEnvironment } from '../../support/plain-environment.ts'

const bench = async () => {
  const made = createToolBench()
  const [files, blobs, clock] = [{} as FileSystem, createMemoryBlobStore(), createManualClock()]
  made.ctx.provide('observations', {} as Observations)
  made.ctx.provide('jobs', {} as Jobs)
  made.ctx.provide('goalCalls', { limits: {} } as GoalCalls)
  made.ctx.provide('questions', {} as Questions)
  made.ctx.provide('skills', {} as Skills)
  await made.mount(fileTools({ ...noEditor, files, blobs }))
  await made.mount(searchTools({ files, blobs, search: {} as Search, workspace: { folders: () => [] }, logger: made.logger }))
  await made.mount(shellTools({ files, blobs, clock, processes: {} as ProcessRunner, machine: createFakeMachine(), shellPath: () => null, timeoutMs: () => 1, offered: () => 'auto', environment: plainEnvironment }))
  await made.mount(jobTools)
  await made.mount(todoTools({ allowParallelInProgress: true }))
  await made.mount(questionTools)
  made.ctx.provide('plan', {} as Plan)
  made.ctx.provide('planReviews', {} as PlanReviews)
  await made.mount(planTools)
  await made.mount(goalTools)
  const web: Partial<Web> = { searchers: () => [{ name: 'brave', host: 'b' }], isFetchOn: () => true, timeoutMs: () => 60_000, onDidChange: () => () => undefined }
  made.ctx.provide('web', web as Web)
  made.ctx.provide('permissions', { declare: () => () => undefined } as Partial<Permissions> as Permissions)
  await made.mount(webTools)
  made.ctx.provide('schedules', { limits: { promptChars: 1, ruleChars: 1, active: 1 } } as Partial<Schedules> as Schedules)
  await made.mount(scheduleTools)
  await made.mount(skillTools)
  const supports = { outputSchema: true, depthLimit: true, toolFilter: true, persona: true, continuable: true }
  const subagents: Partial<Subagents> = {
    limits: { promptBytes: 1, messageBytes: 1, waitingReports: 1, diagnosticBytes: 1, coldReads: 1 },
    provider: (name) => (name === 'spawn' || name === 'fork' ? { name, supports, inheritsParentContext: name === 'fork', isLocal: true } : undefined),
    onDidChangeProviders: () => () => undefined,
  }
  made.ctx.provide('subagents', subagents as Subagents)
  made.ctx.provide('workflows', { limits: { resultChars: 1, totalAgents: 1, itemsPerCall: 1 } } as Partial<Workflows> as Workflows)
  await made.mount(workflowTools({ maxRounds: () => 1 }))
  await made.mount(agentTools({ machine: createFakeMachine(), forkMode: () => 'one-shot' }))
  return made
}

it('declares every tool with exactly the arguments of the catalogue, and our optional ones', async () => {
  const { ctx } = await bench()
  const shape = Object.fromEntries(
    ctx.tools.schemas().map(({ name, parameters }) => {
      const { properties, required = [] } = parameters as { properties: object; required?: readonly string[] }
      return [name, Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`))]
    }),
  )
  expect(shape).toEqual({
    ask_user_question: ['questions'],
    bash: ['command', 'description', 'timeoutMs?', 'workdir?', 'run_in_background?', 'wake_on?', 'interactive?'],
    create_goal: ['objective', 'max_goal_rounds?', 'checks?', 'max_tokens?', 'max_cost?', 'max_minutes?'],
    edit: ['file_path', 'old_string', 'new_string', 'replace_all?', 'near_line?'],
    exit_plan_mode: ['plan'],
    get_goal: [],
    glob: ['pattern', 'path?', 'include_ignored?'],
    grep: ['pattern', 'path?', 'include?', 'ignore_case?', 'context?', 'multiline?', 'type?', 'include_ignored?', 'output_mode?', 'head_limit?'],
    interrupt_agent: ['agent_id'],
    job_kill: ['job_id', 'reason?'],
    job_list: [],
    job_output: ['job_id', 'wait?', 'input?', 'timeout_ms?'],
    list_agents: ['scope?'],
    ralph: ['objective', 'maxRounds?'],
    workflow: ['script', 'meta', 'args?', 'resume_run_id?', 'run_in_background?'],
    read: ['file_path', 'offset?', 'limit?', 'ranges?', 'symbol?'],
    read_image: ['file_path'],
    schedule_create: ['prompt', 'after_seconds?', 'every_seconds?', 'at?', 'calendar?', 'action?', 'catch_up?'],
    schedule_delete: ['id'],
    schedule_list: [],
    send_message: ['subagent_id', 'message', 'mode?'],
    subagent: ['description', 'prompt', 'run_in_background?', 'isolation?'],
    subagent_fork: ['description', 'prompt', 'run_in_background?', 'isolation?'],
    str_replace_editor: ['command', 'path', 'file_text?', 'old_str?', 'new_str?', 'insert_line?', 'view_range?'],
    skill: ['name'],
    todo_write: ['todos'],
    update_goal: ['goal_id', 'revision', 'action', 'objective?', 'max_goal_rounds?', 'blocked_reason?'],
    web_fetch: ['url', 'offset?', 'limit?', 'whole_page?'],
    web_search: ['queries'],
    write: ['file_path', 'content'],
  })
})

it('declares them in at most 13 400 bytes, and adds at most 1 800 bytes to the prompt', async () => {
  const { ctx, promptSections } = await bench()
  const [declarations, prompt] = [JSON.stringify(ctx.tools.schemas().filter(({ name }) => !name.startsWith('schedule_'))).length, promptSections.map(({ text }) => text).join('\n').length]
  expect(declarations).toBeLessThanOrEqual(13_400)
  expect(prompt).toBeLessThanOrEqual(1_800)
})

it('declares those of reminders, which few presets have, in at most 1 700 bytes', async () =>
  expect(JSON.stringify((await bench()).ctx.tools.schemas().filter(({ name }) => name.startsWith('schedule_'))).length).toBeLessThanOrEqual(1_700))
