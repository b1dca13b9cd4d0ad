import { mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { foldWords } from '../../extension/base/search-words.ts'
import { compareHits, SNIPPET_CHARS, type IndexedEvent, type IndexPage, type IndexQuery, type SearchIndex } from '../../extension/capabilities/search-index.ts'
import { MemoryIndex } from '../../extension/platform/node/search-index/memory-index.ts'
import { databaseName, SqliteIndex } from '../../extension/platform/node/search-index/sqlite-index.ts'
import { createThreadIndexHost } from '../../extension/platform/node/search-index/thread-index.ts'

const undos: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const undo of undos.splice(0).reverse()) await undo()
})

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bosun-index-'))
  undos.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}
async function opened<Index extends SearchIndex>(opening: Promise<Index>): Promise<Index> {
  const index = await opening
  undos.push(() => index.close())
  return index
}
const entry = new URL('../../extension/platform/node/search-index/index-main.ts', import.meta.url)
const providers: Readonly<Record<string, () => Promise<SearchIndex>>> = {
  memory: async () => new MemoryIndex(),
  sqlite: async () => SqliteIndex.open({ folder: await folderOf() }),
  'sqlite in its thread': async () => createThreadIndexHost({ entry, folder: await folderOf(), isKeptUp: false }).open(),
}

const event = (seq: number, text: string, more: Partial<IndexedEvent> = {}): IndexedEvent => ({ seq, type: 'user/message', surface: 'current', time: 1_000 + seq, text, ...more })
const add = (id: string, events: readonly IndexedEvent[]) => ({ kind: 'add', id, events, nextSeq: (events.at(-1)?.seq ?? -1) + 1, stamp: 'whole' }) as const
const ask = (words: string, more: Partial<IndexQuery> = {}): IndexQuery => ({ phrase: foldWords(words), mode: 'words', sessions: ['a', 'b', 'c'], per: 'event', limit: 50, ...more })
const places = ({ hits }: IndexPage) => hits.map(({ sessionId, seq }) => `${sessionId}${seq}`)

describe.each(Object.keys(providers))('an index of sessions: %s', (name) => {
  const start = async (...talks: (readonly [string, readonly IndexedEvent[]])[]) => {
    const index = await opened(providers[name]!())
    if (talks.length > 0) await index.write(talks.map(([id, events]) => add(id, events)))
    return index
  }
  const check = async (texts: readonly string[], query: IndexQuery, found: readonly number[]) =>
    expect(places(await (await start(['a', texts.map((text, seq) => event(seq, text))])).search(query))).toEqual(found.map((seq) => `a${seq}`))

  it('finds whole words, whatever their case and accents', () => check(['the AI wrote it', 'a BRAID of hair', 'AÎ et café', 'ai_model'], ask('ai'), [3, 2, 0]))
  it('finds a phrase in its order, across line ends and signs', () => check(['read the\n  file', 'file read the', 'the read-the-file rule'], ask('read the file'), [0, 2]))
  it('takes signs of query languages as what they are', () => check(['a OR b', 'a', 'b NOT "a" *'], ask('a" OR "b'), [0]))
  it('finds words in scripts without blanks', () => check(['修复测试失败', '测试', '试测'], ask('测试'), [1, 0]))
  it('puts more occurrences first, then the shorter text, then the earlier', async () => {
    const index = await start(['a', [event(0, 'red and much more text'), event(1, 'red red'), event(2, 'red'), event(3, 'red red red and a very long text'), event(4, 'red')]])
    expect(places(await index.search(ask('red')))).toEqual(['a3', 'a1', 'a2', 'a4', 'a0'])
  })
  it('counts occurrences that share words', () => check(['no no no', 'no no, and no more'], ask('no no'), [0, 1]))
  it('takes the beginning of the last word while it is typed', () => check(['parse config', 'parse the con', 'reparse config', 'parse constant'], ask('parse con', { mode: 'prefix' }), [0, 3]))
  it('takes any part of a word when asked to', () => check(['renderAnsi', 'the ansible', 'transient', 'an sick'], ask('ansi', { mode: 'substring' }), [2, 0, 1]))
  it('takes a part that goes over words', () => check(['foobar bazqux', 'bar baz', 'foobar x bazqux', 'bar bat'], ask('bar ba', { mode: 'substring' }), [1, 3, 0]))
  it('finds a beginning that very many words have, and that after another word', async () => {
    const texts = [...Array.from({ length: 600 }, (_, at) => `part${at} and more`), 'a passage', 'part part part5', 'odd partition']
    const index = await start(['a', texts.map((text, seq) => event(seq, text))])
    const whole = await index.search(ask('odd par', { mode: 'prefix' }))
    const { hits, cursor } = await index.search(ask('par', { mode: 'prefix', limit: 3 }))
    expect([places(whole), hits[0]?.seq, hits[0]?.matches, hits.length, cursor === null]).toEqual([['a602'], 601, 3, 3, false])
  })
  it('finds nothing of what is in no text', () => check(['x'], ask('y'), []))
  it('finds parts of words however many words hold them', () => check(Array.from({ length: 400 }, (_, at) => `part${at}x`), ask('art', { mode: 'substring', limit: 2 }), [0, 1]))

  it.each<[string, Partial<IndexQuery>, readonly string[]]>([
    ['sessions', { sessions: ['b'] }, ['b0']],
    ['no session', { sessions: ['none'] }, []],
    ['types', { types: ['tool/call'] }, ['a1']],
    ['a type nobody wrote', { types: ['who/knows'] }, []],
    ['surfaces', { surfaces: ['shadowed', 'log-only'] }, ['a1', 'a2']],
    ['times, both inclusive', { time: { from: 1_001, to: 1_002 } }, ['a1', 'a2']],
    ['numbers, both inclusive', { seq: { from: 1, to: 2 } }, ['a1', 'a2']],
    ['numbers of one session', { sessions: ['a'], seq: { from: 2 } }, ['a2']],
    ['a file by its whole path', { files: ['/project/src/date.ts'] }, ['a1']],
    ['a file by its name', { files: ['date.ts'] }, ['a1']],
    ['not a file whose name only ends so', { files: ['ate.ts'] }, []],
    ['a name letter by letter', { symbols: ['parseDate'] }, ['a2']],
    ['several names', { symbols: ['nope', 'parseDate'] }, ['a2']],
    ['all of them at once', { sessions: ['a'], types: ['tool/call'], surfaces: ['log-only'], files: ['date.ts'] }, ['a1']],
  ])('keeps to %s', async (_, more, found) => {
    const index = await start(
      ['a', [event(0, 'word'), event(1, 'word', { type: 'tool/call', surface: 'log-only', paths: ['/project/src/date.ts'] }), event(2, 'word parseDate', { surface: 'shadowed' })]],
      ['b', [event(0, 'word parsedate reparseDate')]],
    )
    expect(places(await index.search(ask('word', more)))).toEqual(found)
  })

  it('gives the best event of each session when asked for sessions', async () => {
    const index = await start(['a', [event(0, 'x'), event(1, 'x x x')]], ['b', [event(0, 'x x')]], ['c', [event(0, 'y')]])
    expect(places(await index.search(ask('x', { per: 'session' })))).toEqual(['a1', 'b0'])
  })
  it('finds the best of each session however many better ones one session has', async () => {
    const index = await start(['a', Array.from({ length: 3_000 }, (_, seq) => event(seq, 'x x'))], ['b', [event(0, 'x')]])
    expect(places(await index.search(ask('x', { per: 'session' })))).toEqual(['a0', 'b0'])
  })
  it('ranks a word that stands often in many texts as one that does not', async () => {
    const texts = Array.from({ length: 300 }, (_, at) => `${'x '.repeat(1 + ((at * 7) % 9))}${'y '.repeat((at * 5) % 11)}`)
    const index = await start(['a', texts.slice(0, 150).map((text, seq) => event(seq, text))], ['b', texts.slice(150).map((text, seq) => event(seq, text))])
    const whole = await index.search(ask('x', { limit: 400 }))
    expect(whole.hits.map(({ sessionId, seq, matches, length }) => ({ sessionId, seq, matches, length }))).toEqual(
      whole.hits.toSorted(compareHits).map(({ sessionId, seq, matches, length }) => ({ sessionId, seq, matches, length })),
    )
    expect((await index.search(ask('x', { limit: 20 }))).hits).toEqual(whole.hits.slice(0, 20))
    expect((await index.search(ask('x', { limit: 20, sessions: ['b'] }))).hits).toEqual(whole.hits.filter(({ sessionId }) => sessionId === 'b').slice(0, 20))
    await index.write([{ kind: 'forget', id: 'a' }])
    expect((await index.search(ask('x', { limit: 20 }))).hits).toEqual(whole.hits.filter(({ sessionId }) => sessionId === 'b').slice(0, 20))
  })
  it('says what was found where', async () => {
    const index = await start(['a', [event(4, 'one two one', { type: 'tool/result', surface: 'log-only', time: 7.5 })]])
    expect((await index.search(ask('one'))).hits).toEqual([{ sessionId: 'a', seq: 4, type: 'tool/result', surface: 'log-only', time: 7.5, matches: 2, length: 11, snippet: 'one two one' }])
  })
  it('cuts a snippet around the words, by code points, on one line', async () => {
    const index = await start(['a', [event(0, `${'😀 '.repeat(300)}\n\nneedle\t${'ä '.repeat(300)}`)]])
    const { snippet } = (await index.search(ask('needle'))).hits[0]!
    expect([Array.from(snippet).length <= SNIPPET_CHARS, snippet.includes(' needle ä'), /[\n\t]/.test(snippet), snippet.startsWith('…'), snippet.endsWith('…')]).toEqual([true, true, false, true, true])
  })

  it('gives pages that follow each other without a gap', async () => {
    const index = await start(['a', Array.from({ length: 7 }, (_, seq) => event(seq, 'x'))])
    const first = await index.search(ask('x', { limit: 3 }))
    const second = await index.search(ask('x', { limit: 3, cursor: first.cursor! }))
    const third = await index.search(ask('x', { limit: 3, cursor: second.cursor! }))
    expect([places(first), places(second), places(third), third.cursor]).toEqual([['a0', 'a1', 'a2'], ['a3', 'a4', 'a5'], ['a6'], null])
  })
  it('refuses a page of what has changed since, and a cursor of another question', async () => {
    const index = await start(['a', [event(0, 'x'), event(1, 'x')]])
    const { cursor } = await index.search(ask('x', { limit: 1 }))
    await expect(index.search(ask('x', { limit: 1, types: ['y'], cursor: cursor! }))).rejects.toMatchObject({ code: 'INVALID_CURSOR' })
    await expect(index.search(ask('x', { limit: 1, cursor: 'nonsense' }))).rejects.toMatchObject({ code: 'INVALID_CURSOR' })
    await index.write([add('b', [event(0, 'x')])])
    await expect(index.search(ask('x', { limit: 1, cursor: cursor! }))).rejects.toMatchObject({ code: 'STALE_CURSOR' })
  })

  it('goes on where it stopped and takes nothing twice', async () => {
    const index = await start(['a', [event(0, 'x'), event(1, 'x')]])
    await index.write([{ kind: 'add', id: 'a', events: [event(1, 'x'), event(2, 'x')], nextSeq: 5, stamp: 'later' }])
    expect([places(await index.search(ask('x'))), await index.sessions()]).toEqual([['a0', 'a1', 'a2'], [{ id: 'a', nextSeq: 5, stamp: 'later' }]])
  })
  it('marks what the model no longer sees', async () => {
    const index = await start(['a', [event(0, 'x'), event(1, 'x', { surface: 'log-only' }), event(2, 'x')]])
    await index.write([{ kind: 'shadow', id: 'a', seqs: [0, 1, 9] }, { kind: 'shadow', id: 'none', seqs: [0] }])
    expect((await index.search(ask('x'))).hits.map(({ surface }) => surface)).toEqual(['shadowed', 'log-only', 'current'])
  })
  it('forgets a session, and takes it in anew', async () => {
    const index = await start(['a', [event(0, 'x é')]], ['b', [event(0, 'x')]])
    await index.write([{ kind: 'forget', id: 'a' }, { kind: 'forget', id: 'none' }])
    expect([places(await index.search(ask('x'))), places(await index.search(ask('e'))), (await index.sessions()).map(({ id }) => id)]).toEqual([['b0'], [], ['b']])
    await index.write([add('a', [event(0, 'y'), event(1, 'x')])])
    expect([places(await index.search(ask('x'))), places(await index.search(ask('y')))]).toEqual([['b0', 'a1'], ['a0']])
  })
  it('takes large writes and long words', async () => {
    const index = await start(['a', [event(0, 'b'.repeat(300_000)), event(1, `${'c'.repeat(200)} end`), event(2, 'x '.repeat(100_000))]])
    expect([places(await index.search(ask('b'.repeat(400)))), places(await index.search(ask('end'))), (await index.search(ask('x'))).hits[0]?.matches]).toEqual([['a0'], ['a1'], 100_000])
  })
  it('is written by whoever claims it', async () => expect(await (await start()).claim()).toBe('owner'))
})

describe('the index in SQLite beside one that looks through every text', () => {
  let seed = 7
  const below = (end: number) => (seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff) % end
  const words = ['the', 'the', 'the', 'red', 'red', 'fox', 'parse', 'parser', 'éclair', '测试']
  const text = () => Array.from({ length: 1 + below(below(9) === 0 ? 300 : 6) }, () => words[below(words.length)]!).join(below(9) === 0 ? '\n' : ' ')
  const ids = Array.from({ length: 40 }, (_, at) => `t${(at * 7) % 40}`)
  const types = ['user/message', 'tool/call']
  const kinds = ['current', 'shadowed', 'log-only'] as const
  // One session holds more than all others, and many events are equal in all that ranks them but their place.
  const talks = ids.map((id, at) => add(id, Array.from({ length: at === 3 ? 3_000 : 40 }, (_, seq) => event(seq, text(), { type: types[below(2)]!, surface: kinds[below(3)]!, time: 1_000 + below(4), ...(below(5) === 0 && { paths: [`/project/f${below(3)}.ts`] }) }))))
  let both: readonly [SearchIndex, SearchIndex] | null = null
  const folder = join(tmpdir(), `bosun-index-${process.pid}-beside`)
  afterAll(async () => {
    for (const index of both ?? []) await index.close()
    await rm(folder, { recursive: true, force: true })
  })
  const indexes = async () => {
    if (both === null) {
      both = [new MemoryIndex(), await SqliteIndex.open({ folder })]
      for (const index of both) {
        for (const talk of talks) await index.write([talk])
        await index.write([{ kind: 'forget', id: 't7' }, talks[5]!, { kind: 'forget', id: talks[5]!.id }, talks[5]!])
      }
    }
    return both
  }

  it.each<[string, Partial<IndexQuery>]>([
    ['the', {}],
    ['red', { limit: 5_000 }],
    ['the', { per: 'session' }],
    ['fox', { per: 'session', limit: 7 }],
    ['fox', { sessions: ['t21'] }],
    ['the', { sessions: ['t21', 't0', 't7'], per: 'session' }],
    ['the', { sessions: ids.slice(0, 9) }],
    ['the', { sessions: ids.slice(0, 30), per: 'session' }],
    ['red', { types: ['tool/call'], surfaces: ['shadowed'] }],
    ['red', { types: ['tool/call'], per: 'session', time: { from: 1_002 } }],
    ['red', { seq: { from: 30, to: 1_500 } }],
    ['red', { files: ['f1.ts'], per: 'session' }],
    ['fox', { symbols: ['parser'], limit: 300 }],
    ['nothing', {}],
    ['éclair', {}],
    ['测试', {}],
    ['the red', {}],
    ['the the', { per: 'session' }],
    ['red fox', { sessions: ids.slice(0, 9), types: ['user/message'] }],
    ['par', { mode: 'prefix' }],
    ['the pars', { mode: 'prefix', per: 'session' }],
  ])('finds the same in the same order for %j with %j', async (phrase, more) => {
    const [memory, sqlite] = await indexes()
    const query = ask(phrase, { sessions: ids, limit: 60, ...more })
    const expected = await memory.search(query)
    const found = await sqlite.search(query)
    expect(found.hits).toEqual(expected.hits)
    expect(found.cursor === null).toBe(expected.cursor === null)
    if (found.cursor !== null) expect((await sqlite.search({ ...query, cursor: found.cursor })).hits).toEqual((await memory.search({ ...query, cursor: expected.cursor! })).hits)
  })
})

describe('one index file', () => {
  const talk = add('a', [event(0, 'kept words')])
  const found = async (folder: string) => places(await (await opened(SqliteIndex.open({ folder }))).search(ask('kept words')))

  it('is written by one window and read by the others, until that one is gone', async () => {
    const folder = await folderOf()
    const owner = await SqliteIndex.open({ folder })
    const reader = await opened(SqliteIndex.open({ folder }))
    expect([await owner.claim(), await reader.claim()]).toEqual(['owner', 'reader'])
    await expect(reader.write([talk])).rejects.toMatchObject({ code: 'NOT_OWNER' })
    await owner.write([talk])
    expect([places(await reader.search(ask('kept'))), (await reader.sessions()).length]).toEqual([['a0'], 1])
    await owner.close()
    expect(await reader.claim()).toBe('owner')
    await reader.write([add('b', [event(0, 'kept')])])
    expect(places(await reader.search(ask('kept')))).toEqual(['b0', 'a0'])
  })
  it('is empty for a reader while the owner has made none, and follows one that is made anew', async () => {
    const folder = await folderOf()
    const owner = await SqliteIndex.open({ folder })
    await owner.write([talk])
    const reader = await opened(SqliteIndex.open({ folder }))
    expect(await reader.sessions()).toHaveLength(1)
    await owner.close()
    await rm(join(folder, databaseName))
    const next = await opened(SqliteIndex.open({ folder }))
    expect([await reader.sessions(), places(await reader.search(ask('kept')))]).toEqual([[], []])
    await next.write([talk])
    expect(await reader.sessions()).toHaveLength(1)
  })
  it('is made anew by its owner when somebody deletes it while it is in use', async () => {
    const folder = await folderOf()
    const index = await opened(SqliteIndex.open({ folder }))
    await index.write([talk])
    await rm(join(folder, databaseName))
    expect(await index.sessions()).toEqual([])
    await index.write([talk])
    expect(places(await index.search(ask('kept words')))).toEqual(['a0'])
    expect((await stat(join(folder, databaseName))).size).toBeGreaterThan(0)
  })
  it('is kept over a restart', async () => {
    const folder = await folderOf()
    const index = await SqliteIndex.open({ folder })
    await index.write([talk])
    await index.close()
    expect(await found(folder)).toEqual(['a0'])
  })
  it.each<[string, (path: string) => Promise<void>]>([
    ['is cut short', (path) => truncate(path, 8_192)],
    ['is of an older version', async (path) => {
      const bytes = await readFile(path)
      bytes.writeInt32BE(0, 60)
      await writeFile(path, bytes)
    }],
    ['holds nonsense behind its first page', async (path) => {
      const bytes = await readFile(path)
      bytes.fill(0xab, 4_096)
      await writeFile(path, bytes)
    }],
    ['is empty', (path) => truncate(path, 0)],
  ])('is made anew when it %s', async (_, damage) => {
    const folder = await folderOf()
    const index = await SqliteIndex.open({ folder })
    await index.write([talk, ...Array.from({ length: 20 }, (_, at) => add(`b${at}`, [event(0, 'text '.repeat(500))]))])
    await index.close()
    await damage(join(folder, databaseName))
    const again = await opened(SqliteIndex.open({ folder }))
    // Found to be broken at its first use at the latest, which says so and takes it away.
    await again.sessions().catch(() => {})
    await again.search(ask('kept words')).catch(() => {})
    await again.write([{ kind: 'forget', id: 'none' }]).catch(() => {})
    expect(await again.sessions()).toEqual([])
    await again.write([talk])
    expect(places(await again.search(ask('kept words')))).toEqual(['a0'])
  })
  it.each<[string, string]>([
    ['text', 'my notes, for years\n'.repeat(50)],
    ['a short file', 'x'],
  ])('is refused and left as it is when another made it: %s', async (_, content) => {
    const folder = await folderOf()
    const path = join(folder, databaseName)
    await writeFile(path, content)
    await expect(SqliteIndex.open({ folder })).rejects.toMatchObject({ code: 'FOREIGN_DATABASE' })
    expect(await readFile(path, 'utf8')).toBe(content)
  })
  it('is refused and left as it is when it is a database of another program', async () => {
    const folder = await folderOf()
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(join(folder, databaseName))
    db.exec('CREATE TABLE notes (text); INSERT INTO notes VALUES (1)')
    db.close()
    const before = await readFile(join(folder, databaseName))
    await expect(createThreadIndexHost({ entry, folder, isKeptUp: false }).open()).rejects.toMatchObject({ code: 'FOREIGN_DATABASE' })
    expect((await readFile(join(folder, databaseName))).equals(before)).toBe(true)
  })
  it('is for its owner alone, in a folder that is made when it is needed', async () => {
    const folder = join(await folderOf(), 'deep', 'index')
    await opened(SqliteIndex.open({ folder }))
    if (process.platform !== 'win32') expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })
  it('cannot be made where a file stands, and says so', async () => {
    const folder = await folderOf()
    await mkdir(join(folder, 'x'))
    await writeFile(join(folder, 'x', 'index'), '')
    await expect(SqliteIndex.open({ folder: join(folder, 'x', 'index') })).rejects.toMatchObject({ code: 'INDEX_FAILED' })
  })
})

describe('the index in memory', () => {
  it('lets go of the sessions that were written to longest ago', async () => {
    const index = new MemoryIndex({ maxChars: 10 })
    await index.write([add('a', [event(0, 'x12345')]), add('b', [event(0, 'x1')])])
    await index.write([add('c', [event(0, 'x1234')])])
    expect((await index.sessions()).map(({ id }) => id)).toEqual(['b', 'c'])
  })
})
