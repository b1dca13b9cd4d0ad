import { afterEach, describe, expect, it } from 'vitest'
import type { Todo } from '../../../extension/features/todo/events.ts'
import type {} from '../../../extension/features/todo/service.ts'
import { todoTools } from '../../../extension/tools/todo/plugin.ts'
import { createPlanRig } from '../../support/plan-rig.ts'
import { createScriptedAdapter } from '../../support/scripted-adapter.ts'
import { createToolBench, outcomeOf, textOf } from '../../support/tool-bench.ts'

/* Chapter 4: `todo_write`, and the list over turns and restarts. What person and model share of it is in 04-todo-shared. */

const item = (content: string, status: Todo['status'] | string = 'pending') => ({ content, status })

describe('the call', () => {
  const bench = async (allowParallelInProgress: boolean) => {
    const made = createToolBench()
    await made.mount(todoTools({ allowParallelInProgress }))
    return made
  }
  it('replaces the whole list, trimmed, and gives it with three counts in one line', async () => {
    const { run, agent } = await bench(true)
    const result = await run('todo_write', { todos: [item('  a '), item('b', 'in_progress'), item('c', 'completed')] })
    const todos = [item('a'), item('b', 'in_progress'), item('c', 'completed')]
    expect(outcomeOf(result)).toEqual({ todos, counts: { pending: 1, inProgress: 1, completed: 1 } })
    expect(textOf(result)).toMatch(/^[^\n]*1[^\n]*1[^\n]*1[^\n]*$/)
    expect(agent.log).toEqual([{ type: 'todo/write', data: { todos } }])
  })
  it('takes an empty list', async () => expect(outcomeOf(await (await bench(true)).run('todo_write', { todos: [] }))).toEqual({ todos: [], counts: { pending: 0, inProgress: 0, completed: 0 } }))
  const refused: readonly [name: string, args: unknown, isParallel: boolean, told: RegExp][] = [
    ['extra keys in an item', { todos: [{ ...item('a'), id: '1' }] }, true, /id/],
    ['a missing status', { todos: [{ content: 'a' }] }, true, /status/],
    ['a foreign status', { todos: [item('a', 'done')] }, true, /status/],
    ['blank content', { todos: [item(' ')] }, true, /no text/],
    ['content that is twice there once trimmed', { todos: [item('a'), item('a ')] }, true, /twice/],
    ['more entries than a list holds, with their number', { todos: Array.from({ length: 10_000 }, (_, index) => item(`task ${index}`)) }, true, /10000 entries, at most 200/],
    ['an entry that is too long', { todos: [item('a'), item('x'.repeat(2_001))] }, true, /Entry 2 has 2001 characters, at most 2000/],
    ['several in progress where one may be, with their number', { todos: [item('a', 'in_progress'), item('b', 'in_progress'), item('c', 'in_progress')] }, false, /3 entries/],
  ]
  it.each(refused)('refuses %s and appends nothing', async (_name, args, isParallel, told) => {
    const { run, agent } = await bench(isParallel)
    const result = await run('todo_write', args)
    expect([outcomeOf(result), agent.log]).toEqual([{ code: 'INVALID_ARGS', message: expect.stringMatching(told) as string }, []])
  })
  it('refuses a call without a session', async () => expect((await (await bench(true)).run('todo_write', { todos: [] }, { agent: null })).isError).toBe(true))
  it('allows several in progress where that is configured, and its description says which', async () => {
    const [many, one] = [await bench(true), await bench(false)]
    expect((await many.run('todo_write', { todos: [item('a', 'in_progress'), item('b', 'in_progress')] })).isError).toBe(false)
    expect(many.ctx.tools.get('todo_write')?.description).not.toBe(one.ctx.tools.get('todo_write')?.description)
  })
  it('is exclusive', async () => expect((await bench(true)).ctx.tools.executionMode({ name: 'todo_write', arguments: { todos: [] } })).toBe('exclusive'))
  it('has a generic card with the list as its raw input, and none for malformed arguments', async () => {
    const tool = (await bench(true)).ctx.tools.get('todo_write')
    expect([tool?.presentCall?.({ todos: [item('a')] }), tool?.presentCall?.({ todos: 1 })]).toEqual([{ card: 'generic', kind: 'other', title: 'Update the task list', rawInput: [item('a')] }, undefined])
  })
})

describe('the list', () => {
  let rig: Awaited<ReturnType<typeof createPlanRig>> | undefined
  afterEach(async () => {
    await rig?.whole.dispose()
    rig = undefined
  })
  const contents = (value: unknown) => (value as readonly Todo[] | null)?.map(({ content, status }) => `${content} ${status}`) ?? null
  const write = (...todos: readonly ReturnType<typeof item>[]) => rig!.turn({ name: 'todo_write', args: { todos } })
  const shown = () => contents(rig!.agent.session.projections().values['todos'])

  it('stands after its turn and over the following ones while something is open', async () => {
    rig = await createPlanRig()
    await write(item('a', 'completed'), item('b'))
    await rig.turn({ name: 'glob', args: { pattern: '*' } })
    expect(shown()).toEqual(['a completed', 'b pending'])
  })
  it('goes with the next turn once it is finished', async () => {
    rig = await createPlanRig()
    await write(item('a', 'completed'))
    const before = shown()
    await rig.turn({ name: 'glob', args: { pattern: '*' } })
    expect([before, shown()]).toEqual([['a completed'], null])
  })
  it('is there again after a restart, with the same ids', async () => {
    rig = await createPlanRig()
    await write(item('a'))
    await write(item('a', 'in_progress'), item('b'))
    const before = rig.agent.session.projections().values['todos']
    const again = await rig.whole.restart()
    again.ctx.models.register(createScriptedAdapter())
    const reopened = await again.ctx.agents.resume(rig.agent.id)
    expect(reopened.session.projections().values['todos']).toEqual(before)
  })
  it('belongs to one session: a child has its own', async () => {
    rig = await createPlanRig()
    await write(item('a'))
    const child = await rig.ctx.agents.create({ cwd: rig.whole.folder, owner: rig.agent })
    expect(child.session.projections().values['todos']).toBeNull()
  })
  it('of an old log replays whatever the rule on active items was', async () => {
    rig = await createPlanRig()
    const { agent } = rig
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    agent.session.append({ type: 'todo/write', data: { todos: [{ content: 'a', status: 'in_progress' }, { content: 'b', status: 'in_progress' }] } })
    expect(shown()).toEqual(['a in_progress', 'b in_progress'])
  })
})
