import { afterEach, describe, expect, it } from 'vitest'
import type { Task, Todo } from '../../../extension/features/todo/events.ts'
import type {} from '../../../extension/features/todo/service.ts'
import type { TaskEdit } from '../../../extension/protocol/task-edit.ts'
import { approve, createPlanRig } from '../../support/plan-rig.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'

/* Chapter 12, point 13: the list that person and model share. Through the application as it is shipped. */

let rig: Awaited<ReturnType<typeof createPlanRig>> | undefined
afterEach(async () => {
  await rig?.whole.dispose()
  rig = undefined
})
const item = (content: string, status: Todo['status'] = 'pending') => ({ content, status })
/** A session in which the model wrote this list. */
async function start(...todos: readonly Todo[]) {
  rig = await createPlanRig()
  const { ctx, agent, turn } = rig
  const write = (...list: readonly Todo[]) => turn({ name: 'todo_write', args: { todos: list } })
  if (todos.length > 0) await write(...todos)
  const tasks = () => ctx.tasks.of(agent.session).tasks
  return {
    ...rig,
    write,
    tasks,
    line: () => tasks()?.map(({ content, status }) => (status === 'pending' ? content : `${content} ${status}`)).join(', ') ?? null,
    id: (content: string): string => tasks()?.find((task) => task.content === content)?.id ?? ctx.tasks.of(agent.session).dropped.find((task) => task.content === content)?.id ?? 'none',
    edit: (edit: TaskEdit) => ctx.tasks.edit(agent, edit),
    /** What the last request told of the person's edits. */
    told: () => [...JSON.stringify(rig!.adapter.requests.at(-1)?.messages).matchAll(/The person (?:changed the task list: ([^.]*)\.|dismissed the task list)/g)].map(([whole, what]) => what ?? whole),
    look: () => turn({ name: 'glob', args: { pattern: '*' } }),
  }
}

describe('the person', () => {
  const rows: readonly [name: string, edit: (id: (content: string) => string) => TaskEdit, line: string | null, told: string][] = [
    ['ticks', (id) => ({ do: 'tick', id: id('a'), isDone: true }), 'a completed, b, c', 'ticked “a”'],
    ['reorders', (id) => ({ do: 'move', id: id('c'), before: id('a') }), 'c, a, b', 'changed the order'],
    ['moves to the end', (id) => ({ do: 'move', id: id('a'), before: null }), 'b, c, a', 'changed the order'],
    ['adds', () => ({ do: 'add', content: ' d ' }), 'a, b, c, d', 'added “d”'],
    ['removes', (id) => ({ do: 'remove', id: id('b') }), 'a, c', 'removed “b”'],
    ['notes', (id) => ({ do: 'note', id: id('b'), note: 'see src/a.ts:3' }), 'a, b, c', 'put a note to “b”'],
    ['dismisses', () => ({ do: 'dismiss' }), null, 'The person dismissed the task list'],
  ]
  it.each(rows)('%s: an event of its own, the model’s stays as it is, and the model hears of it once', async (_name, edit, line, told) => {
    const one = await start(item('a'), item('b'), item('c'))
    const wrote = JSON.stringify(one.facts('todo/write'))
    expect(one.edit(edit(one.id))).toEqual({ ok: true })
    expect([one.line(), one.facts('todo/edited').length, JSON.stringify(one.facts('todo/write')) === wrote, one.adapter.requests.length]).toEqual([line, 1, true, 2])
    await one.look()
    await one.look()
    expect(one.told()).toEqual([told])
  })
  it('changes several things: one notice says them all', async () => {
    const { edit, id, look, told, agent } = await start(item('a'), item('b'))
    edit({ do: 'tick', id: id('a'), isDone: true })
    edit({ do: 'add', content: 'c' })
    expect(agent.inbox.nextStep).toHaveLength(1)
    await look()
    expect(told()).toEqual(['ticked “a”; added “c”'])
  })
  it('takes a change back before the model heard of it: nothing is said', async () => {
    const { edit, id, look, told, agent } = await start(item('a'))
    edit({ do: 'tick', id: id('a'), isDone: true })
    edit({ do: 'tick', id: id('a'), isDone: false })
    expect(agent.inbox.nextStep).toEqual([])
    await look()
    expect(told()).toEqual([])
  })
  it('begins a list of their own', async () => {
    const { edit, line } = await start()
    edit({ do: 'add', content: 'a' })
    expect(line()).toBe('a')
  })
  const refused: readonly [name: string, edit: TaskEdit, told: string][] = [
    ['a task that is gone', { do: 'tick', id: 'none', isDone: true }, 'not in the list'],
    ['a place that is gone', { do: 'move', id: 'none', before: null }, 'not in the list'],
    ['no words', { do: 'add', content: ' ' }, 'needs words'],
    ['the same words twice', { do: 'add', content: 'a' }, 'already'],
    ['too many words', { do: 'add', content: 'x'.repeat(2_001) }, '2000'],
    ['taking back what was not left out', { do: 'take-back', id: 'none' }, 'not in the list'],
  ]
  it.each(refused)('is told why not: %s, and nothing is logged', async (_name, edit, told) => {
    const one = await start(item('a'))
    expect([one.edit(edit), one.facts('todo/edited')]).toEqual([{ ok: false, problem: expect.stringContaining(told) as string }, []])
  })
})

describe('ids', () => {
  it('stay when the model writes the list again, in another order, worded a little otherwise', async () => {
    const { id, write, tasks } = await start(item('Read the test'), item('Use UTC in src/date.ts'), item('Run the suite'))
    const ids = [id('Read the test'), id('Use UTC in src/date.ts'), id('Run the suite')]
    await write(item('run the suite!'), item('Read the test', 'completed'), item('Use UTC in src/date.ts and its test'))
    expect(tasks()?.map((task) => task.id)).toEqual([ids[2], ids[0], ids[1]])
  })
  it('are new for what is new', async () => {
    const { id, write, tasks } = await start(item('a'))
    const before = id('a')
    await write(item('a'), item('something else'))
    expect([tasks()?.[0]?.id, tasks()?.[1]?.id === before]).toEqual([before, false])
  })
})

describe('a list of the model that had not heard of the person', () => {
  /** The model writes while an edit waits to be told. */
  const race = async (edit: (id: (content: string) => string) => TaskEdit, ...list: readonly Todo[]) => {
    const one = await start(item('a'), item('b'))
    one.adapter.play([{ type: 'do', act: () => void one.edit(edit(one.id)) }, ...(callTools({ id: 'w', name: 'todo_write', args: { todos: list } }) as readonly never[])], sayText('Done.'))
    one.say('go')
    await one.agent.whenIdle()
    return one
  }
  it('keeps what they added', async () => expect((await race(() => ({ do: 'add', content: 'mine' }), item('a', 'completed'), item('b'))).line()).toBe('a completed, b, mine'))
  it('keeps what they ticked', async () => expect((await race((id) => ({ do: 'tick', id: id('b'), isDone: true }), item('a', 'in_progress'), item('b'))).line()).toBe('a in_progress, b completed'))
  it('does not bring back what they removed', async () => expect((await race((id) => ({ do: 'remove', id: id('b') }), item('a'), item('b'), item('c'))).line()).toBe('a, c'))
  it('keeps their order', async () => expect((await race((id) => ({ do: 'move', id: id('b'), before: id('a') }), item('a'), item('b'), item('c'))).line()).toBe('b, a, c'))
  it('is told all the same', async () => expect((await race(() => ({ do: 'add', content: 'mine' }), item('a'), item('b'))).told()).toEqual(['added “mine”']))
})

describe('what the model leaves out', () => {
  it('unfinished is kept beside the list, until the person takes it back or lets it go', async () => {
    const one = await start(item('a', 'completed'), item('b'), item('c'))
    await one.write(item('c', 'in_progress'))
    const dropped = () => one.ctx.tasks.of(one.agent.session).dropped.map(({ content }) => content)
    expect([one.line(), dropped()]).toEqual(['c in_progress', ['b']])
    one.edit({ do: 'take-back', id: one.id('b') })
    expect([one.line(), dropped()]).toEqual(['c in_progress, b', []])
    await one.look()
    expect(one.told()).toEqual(['added “b”'])
    await one.write(item('c', 'completed'))
    one.edit({ do: 'let-go' })
    expect([one.line(), dropped()]).toEqual(['c completed', []])
  })
  it('and writes again later is no longer missed', async () => {
    const one = await start(item('a'), item('b'))
    await one.write(item('a'))
    await one.write(item('a'), item('b'))
    expect(one.ctx.tasks.of(one.agent.session).dropped).toEqual([])
  })
})

describe('an approved plan', () => {
  it('seeds the list with its steps, and their ids stay while the model works', async () => {
    const one = await start()
    one.ctx.plan.set(one.agent, true)
    await (await one.submit()).answer(approve)
    expect(one.line()).toBe('Read the test., Use UTC in `src/date.ts`., Run the suite.')
    const ids = one.tasks()?.map(({ id }) => id)
    await one.write(item('Read the test.', 'completed'), item('Use UTC in `src/date.ts`.', 'in_progress'), item('Run the suite.'))
    expect([one.tasks()?.map(({ id }) => id), one.told()]).toEqual([ids, []])
  })
  it('comes after what is unfinished', async () => {
    const one = await start(item('old'), item('older', 'completed'))
    one.ctx.plan.set(one.agent, true)
    await (await one.submit()).answer(approve)
    expect(one.tasks()?.map(({ content }) => content)).toEqual(['old', 'Read the test.', 'Use UTC in `src/date.ts`.', 'Run the suite.'])
  })
})

it('a task that the model calls done is linked to what changed while it was worked on', async () => {
  const one = await start(item('first', 'in_progress'), item('second'))
  await one.turn({ name: 'write', args: { file_path: 'a.txt', content: 'x' } })
  await expect.poll(() => one.facts('fs/after-image').length).toBe(1)
  await one.write(item('first', 'completed'), item('second', 'in_progress'))
  await one.turn({ name: 'write', args: { file_path: 'b.txt', content: 'x' } })
  await expect.poll(() => one.facts('fs/after-image').length).toBe(2)
  await one.write(item('first', 'completed'), item('second', 'completed'))
  const names = ({ files, turn }: Task) => [files?.map((path) => path.split('/').at(-1)), turn]
  expect(one.tasks()?.map(names)).toEqual([[['a.txt'], 2], [['b.txt'], 4]])
})

it('a list that was summarised away is told again, once', async () => {
  const one = await start(item('a', 'in_progress'), item('b'))
  const words = 'word '.repeat(6_000)
  for (const each of [1, 2]) {
    one.adapter.play(sayText(`${words}${each}`))
    one.say(`more ${each}`)
    await one.agent.whenIdle()
  }
  one.adapter.play(sayText('Summary: work on the dates.'))
  await one.ctx.commands.run(one.agent, '/compact')
  expect(one.facts('compaction/summary')).toHaveLength(1)
  await one.look()
  await one.look()
  const told = JSON.stringify(one.adapter.requests.at(-1)?.messages)
  expect(told.match(/The task list, as it stands:\\n\[>\] a\\n\[ \] b/g)?.length).toBe(1)
})

it('has a history of its changes, with who made them', async () => {
  const one = await start(item('a'), item('b'))
  one.edit({ do: 'tick', id: one.id('a'), isDone: true })
  await one.write(item('a', 'completed'), item('b', 'in_progress'))
  expect(one.ctx.tasks.history(one.agent.session).map(({ by, changes }) => [by, changes])).toEqual([
    ['model', [{ kind: 'added', content: 'a' }, { kind: 'added', content: 'b' }]],
    ['person', [{ kind: 'completed', content: 'a' }]],
    ['model', [{ kind: 'begun', content: 'b' }]],
  ])
})

it('what the person did and the model had not heard of waits over a restart', async () => {
  const one = await start(item('a'))
  one.edit({ do: 'add', content: 'mine' })
  const again = await one.whole.restart()
  const adapter = createScriptedAdapter([sayText('Done.')])
  again.ctx.models.register(adapter)
  const reopened = await again.ctx.agents.resume(one.agent.id)
  reopened.followup({ id: 'p', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
  await reopened.whenIdle()
  expect([again.ctx.tasks.of(reopened.session).tasks?.map(({ content }) => content), JSON.stringify(adapter.requests[0]?.messages).includes('added “mine”')]).toEqual([['a', 'mine'], true])
})
