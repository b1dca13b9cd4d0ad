import { expect, it } from 'vitest'
import type { Surface } from '../../../../extension/core/session/session.ts'
import { SurfaceFold } from '../../../../extension/core/told/surface-fold.ts'

const node = (seq: number): Surface['nodes'][number] => ({
  seq,
  event: { seq, time: 0, type: 'user/message', surfaceOp: 'append', data: { id: `m${seq}`, role: 'user', content: [], source: { kind: 'user' } } },
})
const setUp = () => {
  let surface: Surface = { nodes: [node(0)], generation: 0 }
  const looked: number[] = []
  const fold = new SurfaceFold<readonly number[]>({ surface: () => surface }, { start: () => [], step: (seqs, { seq }) => (looked.push(seq), [...seqs, seq]) })
  return { fold, looked, put: (next: Surface) => (surface = next) }
}

it('looks at each node once', () => {
  const { fold, looked, put } = setUp()
  expect(fold.state()).toEqual([0])
  put({ nodes: [node(0), node(1)], generation: 0 })
  expect([fold.state(), fold.state()]).toEqual([[0, 1], [0, 1]])
  expect(looked).toEqual([0, 1])
})
it('begins anew after a replacement, so that what was taken away is gone', () => {
  const { fold, put } = setUp()
  fold.state()
  put({ nodes: [node(5)], generation: 1 })
  expect(fold.state()).toEqual([5])
})
