import { describe, expect, it } from 'vitest'
import { OutputLines } from '../../../../extension/features/jobs/output-lines.ts'
import { MAX_PORTS, portsIn, withPorts } from '../../../../extension/features/jobs/ports.ts'

describe('the ports in a line', () => {
  const rows: readonly [string, string, readonly [number, string][]][] = [
    ['an address', '  ➜  Local:   http://localhost:5173/', [[5173, 'http://localhost:5173/']]],
    ['a path', 'open http://127.0.0.1:8888/lab?token=x.', [[8888, 'http://127.0.0.1:8888/lab?token=x']]],
    ['all addresses', 'Listening on 0.0.0.0:8000', [[8000, 'http://localhost:8000']]],
    ['version 6', 'ready at http://[::1]:3000', [[3000, 'http://[::1]:3000']]],
    ['version 6, bare', 'ready at [::1]:3000', [[3000, 'http://[::1]:3000']]],
    ['all of version 6', 'Serving HTTP on :: port 8000 (http://[::]:8000/)', [[8000, 'http://localhost:8000/']]],
    ['encryption', 'https://localhost:8443', [[8443, 'https://localhost:8443']]],
    ['a bare host', 'listening on localhost:3000', [[3000, 'http://localhost:3000']]],
    ['two', 'http://localhost:3000 and ws://localhost:3001', [[3000, 'http://localhost:3000'], [3001, 'ws://localhost:3001']]],
    ['another host', 'http://example.com:80/ http://notlocalhost:3000', []],
    ['no port', 'http://localhost/', []],
    ['a port that is none', 'localhost:99999', []],
    ['a number that goes on', 'localhost:123456', []],
    ['an address with another in front', '10.127.0.0.1:80', []],
  ]
  it.each(rows)('%s', (_name, line, ports) => expect(portsIn(line)).toEqual(ports.map(([port, url]) => ({ port, url }))))
})

describe('the ports of a job', () => {
  it('are each there once, with the first address that names them', () => {
    const known = withPorts([], [{ port: 3000 }])
    expect(withPorts(known, [{ port: 3000 }])).toBe(known)
    const named = withPorts(known, [{ port: 3000, url: 'http://localhost:3000' }, { port: 3001 }])
    expect(withPorts(named, [{ port: 3000, url: 'http://127.0.0.1:3000' }])).toEqual([{ port: 3000, url: 'http://localhost:3000' }, { port: 3001 }])
  })
  it('are at most twenty', () => expect(withPorts([], Array.from({ length: 50 }, (_none, index) => ({ port: index + 1 })))).toHaveLength(MAX_PORTS))
})

describe('lines of output', () => {
  const lines = (...texts: string[]) => {
    const reader = new OutputLines()
    const read = texts.flatMap((text) => reader.push(text, 100))
    return [read, reader.unfinished]
  }
  it('come whole, however the text is cut', () => expect(lines('a', 'b\nc\r', '\nd')).toEqual([['ab', 'c'], 'd']))
  it('are what a reader sees: no colours, and the last of what was written over', () => expect(lines('\u001b[31mred\u001b[0m\n1%\r2%\r3%\n')).toEqual([['red', '3%'], '']))
  it('are cut at 2 000 characters', () => expect((lines(`${'x'.repeat(5_000)}\n`)[0] as string[])[0]).toHaveLength(2_000))
  it('of a flood are read as far as told, and the unfinished one is known all the same', () => {
    const reader = new OutputLines()
    expect([reader.push('a\nb\nc\nd', 2), reader.unfinished]).toEqual([['a', 'b'], 'd'])
    expect([reader.push('e\nf', 0), reader.unfinished]).toEqual([[], 'f'])
  })
})
