import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EditorTestLog, type EditorEvent } from '../../../scripts/editor-tests.ts'
import { closingLine, recordResults } from '../../../scripts/test-results.ts'

vi.mock('../../../scripts/test-results.ts', async (original) => ({ ...(await original<object>()), recordResults: vi.fn() }))

describe('the log of suites inside the editor', () => {
  const lines: string[] = []
  beforeEach(() => void vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line)))
  afterEach(() => void lines.splice(0))

  const check = async (events: readonly EditorEvent[], exitCode: number, closing: string) => {
    const log = new EditorTestLog()
    // In pieces that end inside a line, as a growing file is read.
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('')
    for (let at = 0; at < text.length; at += 7) log.read(text.slice(at, at + 7))
    expect(await log.close('editor')).toBe(exitCode)
    expect(lines.at(-1)).toBe(`\n${closing}`)
  }
  const pass = { type: 'pass', title: 'a', depth: 1, durationMs: 1 } as const
  const fail = { type: 'fail', title: 'b', depth: 1, error: 'expected 1\n  actual 2' } as const
  const end = { type: 'end' } as const

  it('is green when every test passed and the run ended', () => check([pass, pass, end], 0, '2 passed, 0 failed'))
  it('is red when a test failed', () => check([pass, fail, end], 1, '1 passed, 1 failed'))
  it('is red when the extension host died on the way', () => check([pass], 1, '1 passed, 1 failed'))
  it('is red when nothing ran', () => check([end], 1, '0 passed, 1 failed'))
  it('counts what was skipped', () => check([pass, { type: 'skip', title: 'c', depth: 1 }, end], 0, '1 passed, 0 failed, 1 skipped'))
  it('counts and names what passed on the second try', async () => {
    await check([{ ...fail, type: 'retry' }, { ...pass, title: 'b' }, end], 0, '1 passed, 0 failed')
    expect(lines).toContain('PASSED ON THE SECOND TRY: b\n  expected 1\n    actual 2')
    expect(recordResults).toHaveBeenLastCalledWith('editor', { passed: 1, failed: 0, skipped: 0, passedOnSecondTry: ['b'] })
  })
  it('counts what failed on both tries once', () => check([{ ...fail, type: 'retry' }, fail, end], 1, '0 passed, 1 failed'))
  it('shows why a test failed', async () => {
    await check([fail, end], 1, '0 passed, 1 failed')
    expect(lines).toContain('\n✗ b\n  expected 1\n    actual 2')
  })
})

describe('the closing line', () => {
  it('leaves skipped out when there are none', () => expect(closingLine({ passed: 3, failed: 1, skipped: 0 })).toBe('3 passed, 1 failed'))
})
