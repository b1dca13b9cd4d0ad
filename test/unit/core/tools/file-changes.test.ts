import { expect, it } from 'vitest'
import type { Json } from '../../../../extension/base/json.ts'
import { fileChangesFrom } from '../../../../extension/core/tools/file-changes.ts'

const check = (meta: Json | undefined, expected: readonly unknown[]) => expect(fileChangesFrom(meta)).toEqual(expected)

it('reads what a call changed', () =>
  check({ hunks: [], fileChanges: [{ path: '/a', before: 'sha256:1' }, { path: '/b', before: null, more: 1 }] }, [
    { path: '/a', before: 'sha256:1' },
    { path: '/b', before: null },
  ]))

it.each([[undefined], [null], [3], [[]], [{}], [{ fileChanges: 'x' }], [{ fileChanges: [null, 4, {}, { path: 1, before: null }, { path: '/a' }] }]])(
  'finds nothing in meta of another shape: %j',
  (meta) => check(meta, []),
)
