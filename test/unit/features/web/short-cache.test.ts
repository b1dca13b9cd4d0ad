import { describe, expect, it } from 'vitest'
import { createShortCache } from '../../../../extension/features/web/short-cache.ts'

function setUp() {
  let now = 0
  const cache = createShortCache<string>({ now: () => now, lifetimeMs: 100, maxSize: 10 })
  return { cache, pass: (ms: number) => (now += ms) }
}

describe('a short cache', () => {
  it('gives what was kept, until it is old', () => {
    const { cache, pass } = setUp()
    cache.set('a', 'x', 1)
    pass(99)
    expect(cache.get('a')).toBe('x')
    pass(1)
    expect(cache.get('a')).toBeUndefined()
  })
  it('drops the longest unused when it is full', () => {
    const { cache } = setUp()
    cache.set('a', 'x', 4)
    cache.set('b', 'y', 4)
    cache.get('a')
    cache.set('c', 'z', 4)
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['x', undefined, 'z'])
  })
  it('does not keep what is larger than all of it, and counts a replaced entry once', () => {
    const { cache } = setUp()
    cache.set('a', 'x', 11)
    expect(cache.get('a')).toBeUndefined()
    for (let round = 0; round < 5; round++) cache.set('b', String(round), 6)
    cache.set('c', 'z', 4)
    expect([cache.get('b'), cache.get('c')]).toEqual(['4', 'z'])
  })
})
