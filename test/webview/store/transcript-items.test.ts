import { describe, expect, it } from 'vitest'
import { foldClassOf } from '../../../webview/store/fold-class.ts'
import { transcriptItems, type FoldableRow } from '../../../webview/store/transcript-items.ts'
import { commandRow, promptRow, textRow, toolRow, turnEndRow } from './fixture-rows.ts'

/** Rows by a letter each: p prompt, r read, x thought, t text, k something that never folds, e end of the turn, c command of the person. */
const rows = (turns: readonly string[]): readonly FoldableRow[] =>
  turns.flatMap((letters, turn) =>
    letters.split('').map((letter, index): FoldableRow => {
      const kinds: Readonly<Record<string, Pick<FoldableRow, 'kind' | 'foldClass'>>> = {
        p: { kind: 'prompt', foldClass: 'keep' },
        r: { kind: 'tool', foldClass: 'explore' },
        x: { kind: 'reasoning', foldClass: 'thought' },
        t: { kind: 'text', foldClass: 'step' },
        k: { kind: 'tool', foldClass: 'keep' },
        e: { kind: 'turn-end', foldClass: 'keep' },
        c: { kind: 'command', foldClass: 'keep' },
      }
      return { id: `${turn + 1}${letter}${index}`, turn: turn + 1, ...kinds[letter]! }
    }),
  )

const listed = (turns: readonly string[], open: Readonly<Record<string, boolean>> = {}) =>
  transcriptItems(rows(turns), (id) => open[id]).map((item) => {
    if (item.kind === 'group') return `[${item.rowIds.join(' ')}]`
    return item.kind === 'turn-fold' ? `fold ${item.turn} ${item.isOpen ? 'open' : 'shut'} ${item.hiddenCount}` : item.id
  })

describe('neighbours', () => {
  it('fold when two explorations stand side by side', () => expect(listed(['prrt'])).toEqual(['1p0', '[1r1 1r2]', '1t3']))
  it('stay alone when one', () => expect(listed(['prt'])).toEqual(['1p0', '1r1', '1t2']))
  it('take the thoughts between them along, and not those around', () => expect(listed(['pxrxrxk'])).toEqual(['1p0', '1x1', '[1r2 1x3 1r4]', '1x5', '1k6']))
  it('never reach over an edit or a command', () => expect(listed(['prrkrr'])).toEqual(['1p0', '[1r1 1r2]', '1k3', '[1r4 1r5]']))
  it('never reach over a turn', () => expect(listed(['pr', 'rt'])).toEqual(['1p0', '1r1', '2r0', '2t1']))
})

describe('an ended turn', () => {
  const long = 'pxrtxrtxte'

  it('folds its steps once another follows, and keeps what the person said, the answer and the end', () =>
    expect(listed([long, 'p'])).toEqual(['1p0', 'fold 1 shut 7', '1t8', '1e9', '2p0']))
  it('folds all the same when commands were run after it', () => expect(listed([`${long}cc`, 'p'])).toEqual(['1p0', 'fold 1 shut 7', '1t8', '1e9', '1c10', '1c11', '2p0']))
  it('opens again', () => expect(listed([long, 'p'], { 'turn:1': true })).toEqual(['1p0', 'fold 1 open 7', '1x1', '1r2', '1t3', '1x4', '1r5', '1t6', '1x7', '1t8', '1e9', '2p0']))
  it('stays plain while it is the last', () => expect(listed([long])).not.toContain('fold 1 open 7'))
  it('folds by hand when it is the last', () => expect(listed([long], { 'turn:1': false })).toEqual(['1p0', 'fold 1 shut 7', '1t8', '1e9']))
  it('keeps edits, commands and failures in their places', () => expect(listed(['pxrtkxrtxte', 'p'])).toEqual(['1p0', 'fold 1 shut 7', '1k4', '1t9', '1e10', '2p0']))
  it('does not fold for little', () => expect(listed(['pxte', 'p'])).toEqual(['1p0', '1x1', '1t2', '1e3', '2p0']))
  it('does not fold while it runs', () => expect(listed(['pxrtxrtxt', 'p'])).toEqual(['1p0', '1x1', '1r2', '1t3', '1x4', '1r5', '1t6', '1x7', '1t8', '2p0']))
})

describe('the fold class', () => {
  const read = { card: 'read', path: 'a', offset: 1, lines: [], totalLines: 0 } as const
  const readCall = { card: 'generic', title: 'Read a', kind: 'read', subject: 'a' } as const
  const check = (row: Parameters<typeof foldClassOf>[0], wanted: string) => expect(foldClassOf(row)).toBe(wanted)

  it('of a read', () => check(toolRow('a', readCall, read), 'explore'))
  it('of a read that runs', () => check(toolRow('a', readCall, null), 'explore'))
  it('of a read that failed', () => check(toolRow('a', readCall, null, { state: 'failed' }), 'keep'))
  it('of a read that gave a picture', () => check(toolRow('a', readCall, { ...read, content: [{ type: 'image', attachmentId: 'i', mediaType: 'image/png' }] }), 'keep'))
  it('of what reads no file', () => check(toolRow('a', { card: 'generic', title: 'List background jobs', kind: 'read' }, null, { state: 'ok' }), 'step'))
  it('of a search', () => check(toolRow('a', null, { card: 'search', shape: 'paths', paths: [], total: 0, truncated: false }), 'explore'))
  it('of an edit', () => check(toolRow('a', { card: 'diff', title: 'Edit', diffs: [] }, { card: 'diff', diffs: [] }), 'keep'))
  it('of a command', () => check(toolRow('a', { card: 'terminal', title: 'ls' }, { card: 'terminal' }), 'keep'))
  it('of a call that waits for the person', () => check(toolRow('a', readCall, null, { state: 'waiting' }), 'keep'))
  it('of a question', () => check(toolRow('a', null, { card: 'question', items: [] }), 'keep'))
  it('of any other call that went well', () => check(toolRow('a', null, { card: 'generic' }), 'step'))
  it('of streaming text', () => check(textRow('a', '', { isStreaming: true }), 'keep'))
  it('of text', () => check(textRow('a'), 'step'))
  it('of a prompt, an end and a command', () => [promptRow('a'), turnEndRow('b'), commandRow('c')].forEach((row) => check(row, 'keep')))
})

describe('calls of a program', () => {
  const row = (id: string, foldClass: FoldableRow['foldClass'], parent?: string): FoldableRow => ({ id, turn: 1, kind: 'tool', foldClass, ...(parent !== undefined && { parent }) })
  const rows = [row('p', 'step'), row('q', 'step'), row('a', 'explore', 'p'), row('b', 'explore', 'p'), row('c', 'keep', 'p'), row('d', 'keep', 'q')]
  const listed = (open: readonly string[]) => transcriptItems(rows, (id) => (open.includes(id) ? true : undefined)).map((item) => `${'isInside' in item && item.isInside ? '> ' : ''}${item.id}`)

  it('stand under it, changes and the like also while it is folded', () => expect(listed([])).toEqual(['p', '> c', 'q', '> d']))
  it('all stand under one that is open, with what it looked at as one line', () => expect(listed(['p'])).toEqual(['p', '> group:a', '> c', 'q', '> d']))
  it('stand for themselves where the program is not held', () => expect(transcriptItems(rows.slice(2, 5), () => undefined).map(({ id }) => id)).toEqual(['group:a', 'c']))
})
