import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineReader, MatchCollector, NameReader } from '../../../../extension/platform/node/ripgrep-output.ts'

const record = (type: string, path: object, lines: object, lineNumber: number | null = 1) =>
  JSON.stringify({ type, data: { path, lines, line_number: lineNumber, absolute_offset: 0, submatches: [{ match: { text: 'x' }, start: 0, end: 1 }] } })

const collect = (...records: readonly string[]) => {
  const collector = new MatchCollector((path) => path !== 'refused')
  for (const one of records) collector.push(one)
  return { matches: collector.matches().map(({ path, lineNumber, line, isContext }) => ({ path, lineNumber, line, isContext })), skippedNames: collector.skippedNames, malformed: collector.malformedRecords }
}
const found = (matches: readonly (readonly [string, number, string | null, boolean?])[], skippedNames = 0, malformed = 0) => ({
  matches: matches.map(([path, lineNumber, line, isContext = false]) => ({ path, lineNumber, line, isContext })),
  skippedNames,
  malformed,
})

describe('records', () => {
  it.each(['plain\n', 'no end', 'tab\t"quote" \\ back\n', '\\n\n', 'crlf\r\n', '"},"line_number":7,"x":"\n', 'é😀\n', '\n', ''])('%j is one line', (text) => {
    const line = text.replace(/\r?\n$/, '')
    const lines = text === '' ? [] : ([['a', 3, line]] as const)
    expect(collect(record('match', { text: 'a' }, { text }, 3))).toEqual(found(lines))
    expect(collect(record('context', { text: 'a' }, { text }, 3))).toEqual(found(lines.map(([path, number, one]) => [path, number, one, true])))
  })
  it('several lines are counted on', () => expect(collect(record('match', { text: 'a' }, { text: '1\n2\r\n\n' }, 5))).toEqual(found([['a', 5, '1'], ['a', 6, '2'], ['a', 7, '']])))
  it('a line of other bytes is null, its neighbours are not', () =>
    expect(collect(record('match', { text: 'a' }, { bytes: Buffer.concat([Buffer.from('é\n'), Buffer.from([0xff, 10])]).toString('base64') }))).toEqual(found([['a', 1, 'é'], ['a', 2, null]])))
  it('paths are sorted, refused ones left out, odd ones counted once', () =>
    expect(
      collect(
        record('match', { text: 'b"' }, { text: '1\n' }),
        record('match', { text: 'refused' }, { text: '1\n' }),
        record('match', { text: 'a' }, { text: '1\n' }),
        record('match', { bytes: '/w==' }, { text: '1\n' }),
        record('match', { bytes: '/w==' }, { text: '2\n' }, 2),
      ),
    ).toEqual(found([['a', 1, '1'], ['b"', 1, '1']], 1)))
  it('other records say nothing, broken ones are counted', () =>
    expect(collect('{"type":"begin","data":{}}', '{"type":"summary"}', '{"type":"match","data":{"path":{"text":"a', '{"type":"match"}', '')).toEqual(found([], 0, 2)))
})

describe('where a match begins', () => {
  const column = (lines: object, start: number, type = 'match') => {
    const collector = new MatchCollector(() => true)
    collector.push(JSON.stringify({ type, data: { path: { text: 'a' }, lines, line_number: 1, absolute_offset: 0, submatches: type === 'match' ? [{ match: { text: '"start":9' }, start, end: start + 1 }, { match: { text: 'x' }, start: 90, end: 91 }] : [] } }))
    return collector.matches().map((match) => match.column)
  }
  it.each<[string, object, number, readonly (number | undefined)[]]>([
    ['bytes are letters', { text: 'one hit\n' }, 4, [5]],
    ['letters of several bytes stand before', { text: 'é😀 hit\n' }, 7, [5]],
    ['the match is at the start', { text: 'hit' }, 0, [1]],
    ['the match spans lines', { text: 'a hit\nb\n' }, 2, [3, undefined]],
    ['the line is quoted', { text: '\t"x" hit\n' }, 5, [6]],
    ['the line is not text', { bytes: '/w==' }, 0, [undefined]],
    ['the line is text in other bytes', { bytes: Buffer.from('é hit\n').toString('base64') }, 3, [3]],
  ])('is told where %s', (_name, lines, start, columns) => expect(column(lines, start)).toEqual(columns))
  it('is not told of context', () => expect(column({ text: 'x' }, 0, 'context')).toEqual([undefined]))
  it('is not told of a record without', () => {
    const collector = new MatchCollector(() => true)
    collector.push('{"type":"match","data":{"path":{"text":"a"},"lines":{"text":"hit\\n"},"line_number":1,"submatches":[]}}')
    expect(collector.matches()).toEqual([{ path: 'a', lineNumber: 1, line: 'hit', isContext: false }])
  })
})

it('lines and names come out whole however the bytes are cut', () =>
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replaceAll(/[\0\n]/g, '_'))), fc.integer({ min: 1, max: 9 }), (texts, size) => {
      const push = (separator: string, reader: { push(chunk: Uint8Array): readonly string[] }) => {
        const bytes = Buffer.from(texts.map((text) => text + separator).join(''))
        const all: string[] = []
        for (let at = 0; at < bytes.length; at += size) all.push(...reader.push(bytes.subarray(at, at + size)))
        return all
      }
      expect(push('\n', new LineReader())).toEqual(texts)
      expect(push('\0', new NameReader())).toEqual(texts)
    }),
  ))

it('a name that is no UTF-8 is counted among the others', () => {
  const reader = new NameReader()
  expect(reader.push(Buffer.from([97, 0, 0xff, 0, 98, 0, 0xfe]))).toEqual(['a', 'b'])
  expect(reader.push(Buffer.from([0, 99, 0]))).toEqual(['c'])
  expect(reader.skipped).toBe(2)
})
