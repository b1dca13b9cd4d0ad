import { describe, expect, it } from 'vitest'
import { RowOffsets } from '../../../webview/components/list/row-offsets.ts'

const offsets = (keys: string, heights: Readonly<Record<string, number>> = {}) => {
  const list = new RowOffsets()
  list.setKeys(keys.split(''), () => 10)
  for (const [key, height] of Object.entries(heights)) list.setHeight(key, height)
  return list
}
const tops = (list: RowOffsets) => Array.from({ length: list.count + 1 }, (_, index) => list.topOf(index))

describe('row offsets', () => {
  it('guess until measured', () => expect(tops(offsets('abc', { b: 25 }))).toEqual([0, 10, 35, 45]))
  it('keep heights when rows come before', () => {
    const list = offsets('bc', { b: 25, c: 5 })
    list.setKeys(['x', 'b', 'c'], () => 10)
    expect(tops(list)).toEqual([0, 10, 35, 40])
  })
  it('keep up with rows that go', () => {
    const list = offsets('abc', { a: 1, b: 2, c: 3 })
    list.setKeys(['a', 'c'], () => 10)
    expect([tops(list), list.indexOf('b'), list.indexOf('c')]).toEqual([[0, 1, 4], -1, 1])
  })
  it('find the row at a height', () => {
    const list = offsets('abc', { a: 10, b: 30, c: 10 })
    expect([-5, 0, 9, 10, 39, 40, 49, 50, 99].map((y) => list.indexAt(y))).toEqual([0, 0, 0, 1, 1, 2, 2, 2, 2])
  })
  it('know an empty list', () => expect([new RowOffsets().indexAt(0), new RowOffsets().totalHeight]).toEqual([-1, 0]))
  it('agree with a plain sum over many changes', () => {
    const list = new RowOffsets()
    const heights = new Map<string, number>()
    let keys: string[] = []
    for (let step = 0; step < 300; step += 1) {
      const where = (step * 7) % (keys.length + 1)
      keys = step % 5 === 4 ? keys.toSpliced(where, 1) : keys.toSpliced(where, 0, `k${step}`)
      list.setKeys(keys, () => 10)
      const measured = keys[(step * 3) % Math.max(1, keys.length)]
      if (measured !== undefined) {
        heights.set(measured, step)
        list.setHeight(measured, step)
      }
      expect(list.totalHeight).toBe(keys.reduce((sum, key) => sum + (heights.get(key) ?? 10), 0))
    }
  })
})
