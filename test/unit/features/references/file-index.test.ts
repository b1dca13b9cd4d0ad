import { describe, expect, it } from 'vitest'
import type { ListQuery } from '../../../../extension/capabilities/search.ts'
import { FileIndex } from '../../../../extension/features/references/file-index.ts'

/** A listing that goes on when the test says so. */
function rig({ maxBytes = 1_000_000, watches = true } = {}) {
  const lists: { readonly query: ListQuery; readonly end: (error?: Error) => void }[] = []
  const cuts: unknown[] = []
  let changed: (path: string) => void = () => undefined
  const index = new FileIndex({
    search: {
      list: (query) =>
        new Promise((resolve, reject) => {
          const end = (error?: Error) => (error === undefined ? resolve() : reject(error))
          query.signal.addEventListener('abort', () => end(new Error('stopped')))
          lists.push({ query, end })
        }),
    },
    facts: {
      excludes: () => ['**/dist'],
      ...(watches && {
        onDidChangeFiles: (listener: (path: string) => void) => {
          changed = listener
          return () => undefined
        },
      }),
    },
    maxBytes,
    onCut: (folder, files) => cuts.push([folder, files]),
  })
  const answers: string[][] = []
  const find = (query: string, signal = new AbortController().signal) =>
    index.find('/w', { query, limit: 3, signal, found: (hits) => answers.push(hits.map(({ path }) => path)) }).then((hits) => hits.map(({ path }) => path))
  return { index, lists, cuts, answers, find, change: (path: string) => changed(path) }
}
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('the list', () => {
  it('is made with the first question and shared by all that come meanwhile', async () => {
    const { lists, find } = rig()
    const both = [find('a'), find('b')]
    lists[0]!.query.onPaths(['a.ts', 'b.ts'])
    lists[0]!.end()
    expect([await Promise.all(both), lists.length]).toEqual([[['a.ts'], ['b.ts']], 1])
    expect(await find('b')).toEqual(['b.ts'])
    expect(lists).toHaveLength(1)
  })

  it('leaves out what the editor leaves out, and what nobody means', async () => {
    const { lists, find } = rig()
    void find('a')
    expect(lists[0]!.query.excludes).toEqual(['**/node_modules', '**/.git', '**/dist'])
    lists[0]!.end()
  })

  it('holds the folders too, each once', async () => {
    const { lists, find } = rig()
    const found = find('')
    lists[0]!.query.onPaths(['src/deep/a.ts', 'src/deep/b.ts'])
    lists[0]!.end()
    expect((await found).toSorted()).toEqual(['src/', 'src/deep/', 'src/deep/a.ts'])
  })

  it('answers before it is complete', async () => {
    const { lists, find, answers } = rig()
    const found = find('file-7.ts')
    lists[0]!.query.onPaths(Array.from({ length: 600 }, (_, n) => `file-${n}.ts`))
    await settle()
    expect(answers.at(-1)?.[0]).toBe('file-7.ts')
    lists[0]!.end()
    expect((await found)[0]).toBe('file-7.ts')
  })

  it('is made anew after a file came, and the old one answers meanwhile', async () => {
    const { lists, find, answers, change } = rig()
    const first = find('a')
    lists[0]!.query.onPaths(['a.ts'])
    lists[0]!.end()
    await first
    change('/elsewhere/x')
    expect([await find('a'), lists.length]).toEqual([['a.ts'], 1])
    change('/w/ab.ts')
    const second = find('a')
    await settle()
    expect([answers.at(-1), lists.length]).toEqual([['a.ts'], 2])
    lists[1]!.query.onPaths(['a.ts', 'ab.ts'])
    lists[1]!.end()
    expect(await second).toEqual(['a.ts', 'ab.ts'])
  })

  it('is made anew each time where nobody tells of changes', async () => {
    const { lists, find } = rig({ watches: false })
    for (const round of [0, 1]) {
      const found = find('a')
      lists[round]!.end()
      await found
    }
    expect(lists).toHaveLength(2)
  })
})

describe('an end', () => {
  it('is told to who asks when it cannot be made, and the next question tries again', async () => {
    const { lists, find } = rig()
    const found = find('a')
    lists[0]!.end(new Error('no such folder'))
    await expect(found).rejects.toThrow('no such folder')
    const again = find('a')
    lists[1]!.query.onPaths(['a.ts'])
    lists[1]!.end()
    expect(await again).toEqual(['a.ts'])
  })

  it('comes to a question that is given up, not to the list', async () => {
    const { lists, find } = rig()
    const controller = new AbortController()
    const found = find('a', controller.signal)
    controller.abort(new Error('another question'))
    await expect(found).rejects.toThrow('another question')
    expect(lists[0]!.query.signal.aborted).toBe(false)
  })

  it('comes when the memory is used up: what fits is offered, and it is said', async () => {
    const { lists, find, cuts } = rig({ maxBytes: 70_000 })
    const found = find('file-0.ts')
    lists[0]!.query.onPaths(Array.from({ length: 3_000 }, (_, n) => `file-${n}.ts`))
    expect(await found).toContain('file-0.ts')
    expect([cuts.length, lists[0]!.query.signal.aborted]).toEqual([1, true])
  })

  it('comes with the plugin', () => {
    const { index, lists, find } = rig()
    find('a').catch(() => undefined)
    index.dispose()
    expect(lists[0]!.query.signal.aborted).toBe(true)
  })
})
