import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Todo } from '../../features/todo/events.ts'
import { MAX_TASK_CHARS, MAX_TASKS } from '../../protocol/task-edit.ts'
import { presentCall, presentResult } from './todo-write.card.ts'

export interface TodoWriteOptions {
  /** Several entries may be in progress at once. */
  readonly allowParallelInProgress: boolean
}

const todoList = {
  type: 'array',
  required: true,
  items: {
    type: 'object',
    properties: {
      content: { type: 'string', required: true },
      status: { type: 'string', required: true, enum: ['pending', 'in_progress', 'completed'] },
    },
    additionalProperties: false,
  },
} as const

/** `todo_write`: the whole task list of the turn, shown to the person. Source: agent tools specification 4. */
export function createTodoWrite({ allowParallelInProgress }: TodoWriteOptions): ToolDefinition {
  return defineTool({
    name: 'todo_write',
    description:
      'Show the person your task list. Send the whole list each time; it replaces the last one. ' +
      'Use it for work of three or more steps, and mark an entry completed as soon as it is. ' +
      (allowParallelInProgress ? 'Mark what you work on as in_progress.' : 'Exactly one entry is in_progress while you work.'),
    parameters: {
      todos: todoList,
    },
    limits: [
      { of: 'tasks', max: MAX_TASKS, unit: 'items' },
      { of: 'one task', max: MAX_TASK_CHARS, unit: 'characters' },
    ],
    output: {
      schema: {
        type: 'object',
        properties: {
          todos: todoList,
          counts: {
            type: 'object',
            required: true,
            properties: {
              pending: { type: 'integer', required: true },
              inProgress: { type: 'integer', required: true },
              completed: { type: 'integer', required: true },
            },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
      render: (_args, { counts }) => [
        { type: 'text', text: `Task list updated: ${counts.completed} completed, ${counts.inProgress} in progress, ${counts.pending} pending.` },
      ],
    },
    execute(args, exec) {
      const todos = args.todos.map(({ content, status }): Todo => ({ content: content.trim(), status }))
      const counts = countsOf(todos)
      checkTodos(todos)
      if (!allowParallelInProgress && counts.inProgress > 1)
        throw invalid(`${counts.inProgress} entries are in_progress; only one may be. Set the others to pending.`)
      if (exec.agent === undefined) throw invalid('A task list belongs to a session, and this call has none.')
      exec.agent.session.append({ type: 'todo/write', data: { todos } })
      return { todos, counts }
    },
    presentCall,
    presentResult,
  })
}

function countsOf(todos: readonly Todo[]) {
  const count = (status: Todo['status']) => todos.filter((todo) => todo.status === status).length
  return { pending: count('pending'), inProgress: count('in_progress'), completed: count('completed') }
}

function checkTodos(todos: readonly Todo[]): void {
  if (todos.length > MAX_TASKS) throw invalid(`The list has ${todos.length} entries, at most ${MAX_TASKS}. Leave finished ones out, or say several in one.`)
  const seen = new Set<string>()
  for (const [index, { content }] of todos.entries()) {
    if (content === '') throw invalid(`Entry ${index + 1} has no text. Give each entry a content.`)
    if (content.length > MAX_TASK_CHARS) throw invalid(`Entry ${index + 1} has ${content.length} characters, at most ${MAX_TASK_CHARS}. Say it shorter.`)
    if (seen.has(content)) throw invalid(`“${content}” stands in the list twice. Each entry needs its own content.`)
    seen.add(content)
  }
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
