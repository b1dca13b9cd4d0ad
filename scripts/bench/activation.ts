import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { median } from './agent-runs.ts'
import type { Figure } from './table.ts'

/** What one start of an extension in a process of its own cost. */
export interface ActivationRun {
  readonly ms: number
  /** Processor time of the thread, which another program on the machine hardly changes. */
  readonly cpuMs: number
  /** Of the extension; Node's own modules are there already. */
  readonly files: number
  readonly bytes: number
  readonly calls: readonly EditorCall[]
}

/** A function of the module `vscode` that was called while the extension started, and its first argument where that is a name. */
export interface EditorCall {
  readonly name: string
  readonly id: string
}

/** From the view that is asked for to the first state on its page. */
export interface OpeningRun {
  readonly ms: number
  readonly bytes: number
}

export interface ActivationRuns {
  readonly bosun: readonly ActivationRun[]
  readonly floor: readonly ActivationRun[]
  readonly openings: readonly OpeningRun[]
  /** Milliseconds to read and compile what the opening loads. */
  readonly compiled: readonly number[]
}

/**
 * The packaged extension's entry, loaded and activated in fresh processes beside an empty extension that registers as much, and
 * the first opening of its chat beside reading and compiling the bundle that it loads. The module `vscode` is a fake that does
 * nothing, so what is left is the extension's own.
 */
export async function activationFigures(root: string, rounds: number): Promise<readonly Figure[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'bosun-bench-activation-'))
  const entry = join(root, 'dist', 'extension.cjs')
  const storage = () => mkdtempSync(join(scratch, 'storage-'))
  const start = async (file: string) => (await run<{ readonly activation: ActivationRun }>([file, root, storage()])).activation
  try {
    const { calls } = await start(entry)
    const empty = join(scratch, 'empty.cjs')
    writeFileSync(empty, emptyExtension(calls))
    const runs = { bosun: [] as ActivationRun[], floor: [] as ActivationRun[], openings: [] as OpeningRun[], compiled: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      runs.floor.push(await start(empty))
      runs.bosun.push(await start(entry))
      runs.compiled.push((await run<{ readonly ms: number }>(['--compile', join(root, 'dist', 'editor-root.cjs')])).ms)
      runs.openings.push((await run<{ readonly opening: OpeningRun }>([entry, root, storage(), 'bosun.chat'])).opening)
    }
    return figuresOf(runs)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The fastest, the middle and the slowest of all starts: one start of a window is what a person waits for, not a median. */
export function figuresOf({ bosun, floor, openings, compiled }: ActivationRuns): readonly Figure[] {
  const [ours, bare] = [spreadOf(bosun.map(({ ms }) => ms)), spreadOf(floor.map(({ ms }) => ms))]
  const opened = spreadOf(openings.map(({ ms }) => ms))
  return [
    { name: `activation, median of ${bosun.length} processes`, unit: 'ms', value: ours.median, floor: bare.median, goal: 10 },
    { name: 'activation, fastest', unit: 'ms', value: ours.min, floor: bare.min, goal: 10 },
    { name: 'activation, slowest', unit: 'ms', value: ours.max, floor: bare.max },
    { name: 'activation: processor time of the thread, most', unit: 'ms', value: Math.max(...bosun.map(({ cpuMs }) => cpuMs)), goal: 80 },
    { name: 'activation: files loaded', unit: 'files', value: Math.max(...bosun.map(({ files }) => files)), goal: 1 },
    { name: 'activation: bytes read', unit: 'bytes', value: Math.max(...bosun.map(({ bytes }) => bytes)), goal: 65_536 },
    { name: 'first opening of the chat, median, beside compiling what it loads', unit: 'ms', value: opened.median, floor: median(compiled), goal: 4 },
    { name: 'first opening of the chat, fastest', unit: 'ms', value: opened.min, floor: spreadOf(compiled).min, goal: 4 },
    { name: 'first opening of the chat, slowest', unit: 'ms', value: opened.max, floor: spreadOf(compiled).max },
    { name: 'first opening of the chat: bytes read', unit: 'bytes', value: Math.max(...openings.map(({ bytes }) => bytes)), goal: 2_500_000 },
  ]
}

/** Errors: `RangeError` without a value. */
export function spreadOf(values: readonly number[]): { readonly min: number; readonly median: number; readonly max: number } {
  if (values.length === 0) throw new RangeError('There is nothing to compare.')
  return { min: Math.min(...values), median: median(values), max: Math.max(...values) }
}

/** The source of an extension that makes the same calls of the editor, with nothing behind them. What is called of a part that a call gave is left out. */
export function emptyExtension(calls: readonly EditorCall[]): string {
  const made = calls.filter(({ name }) => !name.includes('()')).map(({ name, id }) => `    vscode.${name}(${JSON.stringify(id)}, () => {}),`)
  return ["const vscode = require('vscode')", 'exports.activate = (context) => {', '  context.subscriptions.push(', ...made, '  )', '}', ''].join('\n')
}

/** Errors: with what the process said, when it ended early. */
async function run<T>(args: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'activation-run.cjs'), ...args], { maxBuffer: 10_000_000 })
  return JSON.parse(stdout) as T
}
