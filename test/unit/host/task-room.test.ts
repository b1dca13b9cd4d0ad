import { describe, expect, it } from 'vitest'
import { chatRig } from './chat-rig.ts'

/** A session with a list that the model wrote. */
async function listed() {
  const rig = await chatRig()
  await rig.send('go')
  const id = rig.state().session!.id
  const write = async (...contents: readonly string[]) => {
    await rig.happen(id, { type: 'todo/write', data: { todos: contents.map((content) => ({ content, status: 'pending' as const })) } })
    rig.tasks.changed(rig.agent(id).session)
    await rig.settle()
  }
  await write('a', 'b')
  return { ...rig, id, write }
}

describe('the list on screen', () => {
  it('is what the log says, with ids', async () => expect((await listed()).state().tasks?.map(({ id, content }) => [typeof id, content])).toEqual([['string', 'a'], ['string', 'b']]))
  it('is edited by the person, in the log of the session', async () => {
    const { state, say, agent, id, tasks } = await listed()
    await say({ type: 'task', edit: { do: 'tick', id: state().tasks![1]!.id, isDone: true } })
    expect([agent(id).log.at(-1), tasks.of(agent(id).session).tasks?.[1]?.status]).toMatchObject([{ type: 'todo/edited', data: { action: 'tick' } }, 'completed'])
  })
  it('says why an edit is refused, and takes the word back with the next that is not', async () => {
    const { state, say } = await listed()
    await say({ type: 'task', edit: { do: 'add', content: 'a' } })
    const said = state().notices.map(({ text }) => text)
    await say({ type: 'task', edit: { do: 'add', content: 'c' } })
    expect([said, state().notices]).toEqual([['This task stands in the list already.'], []])
  })
  it('shows what the model left out', async () => {
    const { state, write } = await listed()
    await write('b')
    expect(state().droppedTasks.map(({ content }) => content)).toEqual(['a'])
  })
  it('gets a task from the palette', async () => {
    const { controller, editor, agent, id } = await listed()
    editor.answers.push('mine')
    await controller.run('add-task')
    expect(agent(id).log.at(-1)).toMatchObject({ type: 'todo/edited', data: { action: 'add' } })
  })
  it('has a page of what became of it, which can be drawn again', async () => {
    const { say, editor, controller } = await listed()
    editor.take()
    await say({ type: 'task-history' })
    const page = editor.take()[0] as { kind: string; value: { name: string; text: string } }
    expect([page.kind, page.value.text]).toEqual(['text', expect.stringMatching(/# What became of the tasks[^]*added “a”\n- added “b”/)])
    expect(await controller.redraw(page.value.name)).toBe(page.value.text)
  })
})
