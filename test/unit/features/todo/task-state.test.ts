import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../../extension/core/log/event.ts'
import { historyOf } from '../../../../extension/features/todo/history.ts'
import { noTasks, stepTasks } from '../../../../extension/features/todo/task-state.ts'

const event = (seq: number, type: string, data: object) => ({ type, seq, time: seq, data }) as unknown as SessionEvent
const good = { id: 't1', content: 'Read', status: 'pending' }

/* The log holds these lists to being lists, and nothing in them. */
const entries: readonly unknown[] = [null, 1, 'x', [], {}, { content: 1, status: 'pending' }, { content: 'a', status: 'done' }, { content: 'a' }, { ...good, id: 1 }, { ...good, note: {} }, { ...good, files: [1] }]

describe('a list with entries that cannot be read goes on with the others', () => {
  it.each(entries.map((entry) => [JSON.stringify(entry), entry] as const))('%s', (_name, bad) => {
    const log = [
      event(1, 'todo/edited', { action: 'add', tasks: [bad, good], dropped: [bad] }),
      event(2, 'turn/start', { turn: 1 }),
      event(3, 'todo/write', { todos: [{ content: 'Read', status: 'in_progress' }, bad] }),
      event(4, 'plan/approved', { callId: 'c', plan: '# P', isEdited: false, comments: [], steps: [bad, 'Write'] }),
    ]
    const contents = log.reduce(stepTasks, noTasks).tasks?.map(({ content }) => content) ?? []
    expect([contents[0], contents.at(-1)]).toEqual(['Read', 'Write'])
    expect(historyOf(log).length).toBeGreaterThan(1)
  })
})
