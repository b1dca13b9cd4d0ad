import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Teams } from '../../features/teams/service.ts'
import { callerOf } from '../agents/agent-error.ts'
import { compact } from './compact.ts'
import { taskDone, taskOf, updateWords } from './task.card.ts'
import { taskMeta, taskSchema } from './task-view.ts'

const texts = { type: 'array', items: { type: 'string' } } as const
const scopes = { ...texts, description: 'Relative paths its owner may change.' } as const

/** `team_task_create`. Source: agent tools specification 8.2. */
export const createTaskCreate = (teams: Pick<Teams, 'createTask' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'team_task_create',
    description: 'Put a task on the board of the team, pending and owned by nobody.',
    parameters: { subject: { type: 'string', required: true }, description: { type: 'string', required: true }, blocked_by: { ...texts, description: 'Ids of tasks to be completed first.' }, write_scopes: scopes },
    output: { schema: taskSchema, render: compact, presentationMeta: taskMeta },
    limits: [
      { of: 'tasks that are not deleted', max: teams.limits.maxTasks, unit: 'items' },
      { of: 'subject', max: teams.limits.subjectChars, unit: 'characters' },
      { of: 'description', max: teams.limits.taskDescriptionChars, unit: 'characters' },
    ],
    execute: ({ subject, description, blocked_by: blockedBy, write_scopes: writeScopes }, exec) =>
      teams.createTask(callerOf(exec.agent, 'team_task_create'), { subject, description, ...(blockedBy && { blockedBy }), ...(writeScopes && { writeScopes }) }).then(plain),
    presentCall: ({ subject }) => ({ card: 'generic', title: `Add the task “${subject}”`, doneTitle: `Added the task “${subject}”`, kind: 'other' }),
    presentResult: (_args, result) => taskDone(result),
  })

/** `team_task_get`: deleted ones too. Source: agent tools specification 8.2. */
export const createTaskGet = (teams: Pick<Teams, 'task'>): ToolDefinition =>
  defineTool({
    name: 'team_task_get',
    description: 'Read one task of the board, with its revision.',
    parameters: { task_id: { type: 'string', required: true } },
    output: { schema: taskSchema, render: compact, presentationMeta: taskMeta },
    execute: ({ task_id: id }, exec) => plain(teams.task(callerOf(exec.agent, 'team_task_get'), id)),
    presentCall: ({ task_id }) => ({ card: 'generic', title: `Read ${taskOf(task_id)}`, doneTitle: `Read ${taskOf(task_id)}`, kind: 'read' }),
  })

/** `team_task_list`. Source: agent tools specification 8.2. */
export const createTaskList = (teams: Pick<Teams, 'tasks' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'team_task_list',
    description: 'List the tasks of the board.',
    parameters: {
      status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
      owner: { type: 'string', description: 'A name, or unowned.' },
      ready: { type: 'boolean', description: 'True: those that can be claimed now.' },
      cursor: { type: 'integer', description: 'nextCursor of the page before.' },
      limit: { type: 'integer', description: 'Default: 50.' },
    },
    output: {
      schema: { type: 'object', properties: { tasks: { type: 'array', items: taskSchema, required: true }, nextCursor: { type: 'integer' } }, additionalProperties: false },
      render: compact,
      presentationMeta: (_args, { tasks }) => ({ count: tasks.length }),
    },
    limits: [{ of: 'one page', max: teams.limits.pageTasks, unit: 'items' }],
    execute(filter, exec) {
      const { tasks, nextCursor } = teams.tasks(callerOf(exec.agent, 'team_task_list'), filter)
      return { tasks: tasks.map(plain), ...(nextCursor !== undefined && { nextCursor }) }
    },
    presentCall: () => ({ card: 'generic', title: 'Look at the board', doneTitle: 'Looked at the board', kind: 'read' }),
  })

/** `team_task_update`. Source: agent tools specification 8.2. */
export const createTaskUpdate = (teams: Pick<Teams, 'updateTask' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'team_task_update',
    description: 'Change a task of the board. Needs the revision you read.',
    parameters: {
      task_id: { type: 'string', required: true },
      expected_revision: { type: 'integer', required: true },
      action: { type: 'string', required: true, enum: ['claim', 'release', 'edit', 'set_dependencies', 'complete', 'reopen', 'reassign', 'delete'] },
      subject: { type: 'string' },
      description: { type: 'string' },
      blocked_by: { ...texts, description: 'Of set_dependencies: the whole list.' },
      write_scopes: scopes,
      owner: { type: 'string', description: 'Of reassign: a name; left out takes it away.' },
    },
    output: { schema: taskSchema, render: compact, presentationMeta: taskMeta },
    limits: [
      { of: 'subject', max: teams.limits.subjectChars, unit: 'characters' },
      { of: 'description', max: teams.limits.taskDescriptionChars, unit: 'characters' },
    ],
    execute({ task_id: taskId, expected_revision: expectedRevision, blocked_by: blockedBy, write_scopes: writeScopes, ...more }, exec) {
      return teams.updateTask(callerOf(exec.agent, 'team_task_update'), { ...more, taskId, expectedRevision, ...(blockedBy && { blockedBy }), ...(writeScopes && { writeScopes }) }).then(plain)
    },
    presentCall: ({ task_id, action, owner }) => ({ card: 'generic', ...updateWords(action, taskOf(task_id), owner), kind: 'other' }),
    presentResult: (_args, result) => taskDone(result),
  })

/** Lists of the schema language are not read-only. */
const plain = <View extends { readonly blockedBy: readonly string[]; readonly writeScopes: readonly string[]; readonly writeScopeWarnings: readonly string[] }>(view: View) => ({
  ...view,
  blockedBy: [...view.blockedBy],
  writeScopes: [...view.writeScopes],
  writeScopeWarnings: [...view.writeScopeWarnings],
})
