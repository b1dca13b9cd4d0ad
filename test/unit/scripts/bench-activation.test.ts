import { compileFunction } from 'node:vm'
import { expect, it } from 'vitest'
import { emptyExtension, figuresOf, spreadOf, type ActivationRun } from '../../../scripts/bench/activation.ts'
import { isMet, ratioOf } from '../../../scripts/bench/table.ts'

const start = (ms: number, more: Partial<ActivationRun> = {}): ActivationRun => ({ ms, cpuMs: ms / 2, files: 1, bytes: 40_000, calls: [], ...more })

/** Each figure with what is measured, its ratio to the floor and whether its goal is met. */
const rows = (bosun: readonly ActivationRun[]) =>
  figuresOf({ bosun, floor: [start(2), start(1), start(6)], openings: [{ ms: 90, bytes: 7 }, { ms: 30, bytes: 8 }], compiled: [10, 20] }).map(
    (figure) => [figure.name, figure.value, ratioOf(figure), isMet(figure)] as const,
  )

it('tells the fastest, the middle and the slowest start, each beside that of the floor', () => {
  expect(rows([start(12), start(8), start(30)])).toEqual([
    ['activation, median of 3 processes', 12, 6, true],
    ['activation, fastest', 8, 8, true],
    ['activation, slowest', 30, 5, null],
    ['activation: processor time of the thread, most', 15, null, true],
    ['activation: files loaded', 1, null, true],
    ['activation: bytes read', 40_000, null, true],
    ['first opening of the chat, median, beside compiling what it loads', 60, 4, true],
    ['first opening of the chat, fastest', 30, 3, true],
    ['first opening of the chat, slowest', 90, 4.5, null],
    ['first opening of the chat: bytes read', 8, null, true],
  ])
})

it('misses a goal by one start that loads more, or holds the thread longer', () => {
  const missed = rows([start(12), start(200, { files: 2, bytes: 2_000_000 }), start(30)]).filter(([, , , met]) => met === false)
  expect(missed.map(([name]) => name)).toEqual(['activation, median of 3 processes', 'activation, fastest', 'activation: processor time of the thread, most', 'activation: files loaded', 'activation: bytes read'])
})

it.each<[string, readonly number[], object]>([
  ['one value', [4], { min: 4, median: 4, max: 4 }],
  ['an even number', [9, 1, 3, 5], { min: 1, median: 4, max: 9 }],
])('the spread of %s', (_, values, spread) => expect(spreadOf(values)).toEqual(spread))

it('has no spread of nothing', () => expect(() => spreadOf([])).toThrow(RangeError))

it('the floor makes the very calls that the extension made, with nothing behind them', () => {
  const source = emptyExtension([
    { name: 'commands.registerCommand', id: 'a"b' },
    { name: 'window.createTreeView().onDidChangeVisibility', id: '' },
    { name: 'workspace.onDidChangeConfiguration', id: '' },
  ])
  const made: unknown[] = []
  const call = (name: string) => (id: string, handler: () => void) => void made.push([name, id, typeof handler])
  const vscode = { commands: { registerCommand: call('command') }, workspace: { onDidChangeConfiguration: call('change') } }
  const module = { exports: {} as { activate?: (context: object) => void } }
  const subscriptions: unknown[] = []
  compileFunction(source, ['require', 'exports'])(() => vscode, module.exports)
  module.exports.activate?.({ subscriptions })
  expect([made, subscriptions.length]).toEqual([[['command', 'a"b', 'function'], ['change', '', 'function']], 2])
})
