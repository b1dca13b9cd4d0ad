import { describe, expect, it } from 'vitest'
import { matchTasks } from '../../../../extension/features/todo/match-tasks.ts'

const task = (id: string, content: string) => ({ id, content, status: 'pending' as const })
const meant = (tasks: readonly string[], todos: readonly string[]) =>
  matchTasks(tasks.map((content, index) => task(String(index), content)), todos.map((content) => ({ content }))).map((each) => each?.id ?? null)

describe('which task an entry means', () => {
  const rows: readonly [name: string, tasks: string[], todos: string[], meant: (string | null)[]][] = [
    ['the same words, in another order', ['a', 'b'], ['b', 'a'], ['1', '0']],
    ['the same but for case and signs', ['Run the tests.'], ['run: the tests'], ['0']],
    ['the exact one before the alike', ['run the tests', 'Run the tests!'], ['Run the tests!', 'run the tests'], ['1', '0']],
    ['worded much alike', ['Read the date test'], ['Read the old date test'], ['0']],
    ['something else is new', ['Read the date test'], ['Ship it'], [null]],
    ['each once', ['a'], ['a', 'A', 'a.'], ['0', null, null]],
    ['nothing, where there is nothing', [], ['a'], [null]],
  ]
  it.each(rows)('%s', (_name, tasks, todos, ids) => expect(meant(tasks, todos)).toEqual(ids))

  it.each([200, 10_000])('of %i, all worded otherwise, is found without a wait', (count) => {
    const tasks = Array.from({ length: count }, (_, index) => `do the thing number ${index}`)
    const begin = performance.now()
    meant(tasks, tasks.map((text) => `well then ${text} more words here that differ`))
    expect(performance.now() - begin).toBeLessThan(20_000)
  })
})
