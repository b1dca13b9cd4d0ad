import { describe, expect, it } from 'vitest'
import { todoTools } from '../../../../extension/tools/todo/plugin.ts'
import { createToolBench, outcomeOf, textOf } from '../../../support/tool-bench.ts'

const bench = async (allowParallelInProgress = true) => {
  const made = createToolBench()
  const fiber = await made.mount(todoTools({ allowParallelInProgress }))
  return { ...made, fiber }
}
const todo = (content: string, status = 'pending') => ({ content, status })

describe('todo_write', () => {
  it('replaces the list in the log with trimmed entries, and reports counts', async () => {
    const { run, agent } = await bench()
    const result = await run('todo_write', { todos: [todo(' a ', 'completed'), todo('b', 'in_progress'), todo('c', 'in_progress'), todo('d')] })
    const todos = [todo('a', 'completed'), todo('b', 'in_progress'), todo('c', 'in_progress'), todo('d')]
    expect(outcomeOf(result)).toEqual({ todos, counts: { pending: 1, inProgress: 2, completed: 1 } })
    expect(textOf(result)).toBe('Task list updated: 1 completed, 2 in progress, 1 pending.')
    expect(agent.log).toEqual([{ type: 'todo/write', data: { todos } }])
  })
  it('takes an empty list', async () => {
    const { run, agent } = await bench()
    await run('todo_write', { todos: [] })
    expect(agent.log).toEqual([{ type: 'todo/write', data: { todos: [] } }])
  })

  const refused: readonly [string, unknown, string, boolean?][] = [
    ['a missing list', {}, 'todos'],
    ['an entry that is blank', { todos: [todo('a'), todo('  ')] }, 'Entry 2 has no text'],
    ['entries that are the same after trimming', { todos: [todo('a'), todo(' a')] }, '“a” stands in the list twice'],
    ['an unknown status', { todos: [todo('a', 'done')] }, 'status'],
    ['extra keys in an entry', { todos: [{ ...todo('a'), id: '1' }] }, 'id'],
    ['two entries in progress where one is allowed', { todos: [todo('a', 'in_progress'), todo('b', 'in_progress')] }, '2 entries are in_progress', false],
  ]
  it.each(refused)('refuses %s and logs nothing', async (_name, args, message, parallel = true) => {
    const { run, agent } = await bench(parallel)
    expect(outcomeOf(await run('todo_write', args))).toEqual({ code: 'INVALID_ARGS', message: expect.stringContaining(message) as string })
    expect(agent.log).toEqual([])
  })
  it('needs a session', async () => {
    const { run } = await bench()
    expect(outcomeOf(await run('todo_write', { todos: [] }, { agent: null }))).toMatchObject({ code: 'INVALID_ARGS' })
  })
  it('ignores extra keys at the root', async () => expect((await (await bench()).run('todo_write', { todos: [], extra: 1 })).isError).toBe(false))
  it('says in its description whether several entries may be active', async () => {
    const description = async (parallel: boolean) => (await bench(parallel)).ctx.tools.get('todo_write')?.description
    expect(await description(false)).toContain('Exactly one')
    expect(await description(true)).not.toContain('Exactly one')
  })
  it('runs alone', async () => expect((await bench()).ctx.tools.executionMode({ name: 'todo_write', arguments: { todos: [] } })).toBe('exclusive'))
  it('goes with its plugin', async () => {
    const { ctx, fiber } = await bench()
    await fiber.dispose()
    expect(ctx.tools.get('todo_write')).toBeUndefined()
  })
})

describe('the card of todo_write', () => {
  it('says in its completed card how much is done, and nothing of its own for a failure or an old record', async () => {
    const present = (await bench()).ctx.tools.get('todo_write')?.presentResult
    const args = { todos: [{ content: 'a', status: 'completed' }, { content: 'b', status: 'pending' }] }
    expect([present?.(args, { content: [], isError: false }), present?.(args, { content: [], isError: true }), present?.({ todos: 1 }, { content: [], isError: false })]).toEqual([
      { card: 'generic', title: 'Updated the task list, 1 of 2 done', content: [{ type: 'text', text: '✓ a\n○ b' }] }, undefined, undefined,
    ])
  })

  const check = async (args: unknown, view: unknown) => expect((await bench()).ctx.tools.get('todo_write')?.presentCall?.(args as never)).toEqual(view)

  it('shows the list', () => check({ todos: [todo('a')] }, { card: 'generic', title: 'Update the task list', kind: 'other', rawInput: [todo('a')] }))
  it('is generic for malformed arguments', () => check({ todos: 'a' }, undefined))
})
