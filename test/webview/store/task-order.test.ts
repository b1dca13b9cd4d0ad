import { expect, it } from 'vitest'
import { placeAfterMove } from '../../../webview/store/task-order.ts'

const tasks = ['a', 'b', 'c'].map((id) => ({ id }))
const rows: readonly [index: number, step: 1 | -1, before: string | null | undefined][] = [
  [0, -1, undefined],
  [1, -1, 'a'],
  [2, -1, 'b'],
  [0, 1, 'c'],
  [1, 1, null],
  [2, 1, undefined],
]
it.each(rows)('task %i, moved by %i, stands before %s', (index, step, before) => expect(placeAfterMove(tasks, index, step)).toBe(before))
