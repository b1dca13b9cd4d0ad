// npm run bench [-- --json] [--only NAME,NAME] [--repeat N]
// Every figure stands beside its floor, measured in the same run, side by side; ratios are what counts.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import { activationFigures } from './activation.ts'
import { median, ofKind, runAgent } from './agent-runs.ts'
import type { AgentRun } from './agent-runs.ts'
import { codeFigures } from './code.ts'
import { historyFigures } from './history.ts'
import { logFigures } from './log.ts'
import { isMet, ratioOf, tableOf } from './table.ts'
import type { Figure } from './table.ts'
import { toolFigures } from './tool-figures.ts'

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, only: { type: 'string' }, repeat: { type: 'string', default: '3' } },
})
const headless = join(import.meta.dirname, '../../dist/headless.js')
if (!existsSync(headless)) {
  console.error('dist/headless.js is missing. Run npm run build first.')
  process.exit(2)
}
const repeat = Math.max(1, Number(values.repeat) || 3)
const options = { headless, rg: rgPath }

/** Both runners in turn, so that a drift of the machine meets both. */
async function pairs(steps: number, count: number): Promise<{ readonly floor: readonly AgentRun[]; readonly bosun: readonly AgentRun[] }> {
  const floor: AgentRun[] = []
  const bosun: AgentRun[] = []
  for (let round = 0; round < count; round++) {
    floor.push(await runAgent('floor', { ...options, steps }))
    bosun.push(await runAgent('bosun', { ...options, steps }))
  }
  return { floor, bosun }
}

const medianOf = (runs: readonly AgentRun[], pick: (run: AgentRun) => number): number => median(runs.map(pick))

async function steps(): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const count of [10, 50, 200]) {
    const { floor, bosun } = await pairs(count, repeat)
    const mean = (run: AgentRun): number => run.stepMs.reduce((sum, ms) => sum + ms, 0) / run.stepMs.length
    figures.push({ name: `step, ${count} steps`, unit: 'ms', value: medianOf(bosun, mean), floor: medianOf(floor, mean), goal: 1.5 })
    if (count === 10) {
      figures.push({
        name: 'start to first request', unit: 'ms', goal: 2.5,
        value: medianOf(bosun, (run) => run.startMs), floor: medianOf(floor, (run) => run.startMs),
      })
    }
    if (count !== 200) continue
    const read = (run: AgentRun): number => median(ofKind(run, 'read'))
    figures.push({ name: 'read step, 200 steps', unit: 'ms', value: medianOf(bosun, read), floor: medianOf(floor, read), goal: 2.5 })
    for (const kind of ['grep', 'bash'] as const) {
      const ofRun = (run: AgentRun): number => median(ofKind(run, kind))
      figures.push({ name: `${kind} step, 200 steps`, unit: 'ms', value: medianOf(bosun, ofRun), floor: medianOf(floor, ofRun) })
    }
    figures.push({ name: 'requests that broke the prefix', unit: 'times', value: Math.max(...bosun.map((run) => run.brokenPrefixes)), goal: 0 })
    figures.push(...sizes(bosun[0]?.lastBody ?? '{}'))
  }
  return figures
}

function sizes(body: string): readonly Figure[] {
  const request = JSON.parse(body) as { readonly tools?: readonly unknown[]; readonly messages?: readonly { readonly role: string; readonly content: string }[] }
  const system = request.messages?.find((message) => message.role === 'system')?.content ?? ''
  return [
    { name: `declarations of ${request.tools?.length ?? 0} tools`, unit: 'bytes', value: Buffer.byteLength(JSON.stringify(request.tools ?? [])), goal: 18_000 },
    { name: 'system prompt', unit: 'bytes', value: Buffer.byteLength(system), goal: 4_000 },
  ]
}

async function memory(): Promise<readonly Figure[]> {
  const floor = await runAgent('floor', { ...options, steps: 200, measureMemory: true })
  const bosun = await runAgent('bosun', { ...options, steps: 200, measureMemory: true })
  return [{ name: 'peak memory of the tree (PSS), 200 steps', unit: 'MB', value: bosun.peakBytes / 1e6, floor: floor.peakBytes / 1e6, goal: 1.5 }]
}

async function growth(): Promise<readonly Figure[]> {
  const run = await runAgent('bosun', { ...options, steps: 2000 })
  // Kinds of steps cost differently, so each part holds the same number of each.
  const first = run.stepMs.slice(1, 100)
  const last = run.stepMs.slice(-99)
  return [{ name: 'last 99 of 2000 steps, beside the first', unit: 'ms', value: median(last), floor: median(first), goal: 1.2 }]
}

const suites: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  activation: () => activationFigures(join(import.meta.dirname, '../..'), Math.max(11, repeat)),
  steps,
  memory,
  growth,
  log: () => logFigures(repeat),
  index: historyFigures,
  code: () => codeFigures(join(import.meta.dirname, '../../dist'), repeat),
  tools: () => toolFigures(join(import.meta.dirname, '../../node_modules'), rgPath),
}

const chosen = values.only?.split(',') ?? Object.keys(suites)
const figures: Figure[] = []
for (const name of chosen) {
  const suite = suites[name]
  if (!suite) {
    console.error(`There is no suite ${name}. Use ${Object.keys(suites).join(', ')}.`)
    process.exit(2)
  }
  if (!values.json) console.error(`Measuring ${name} …`)
  figures.push(...(await suite()))
}
if (values.json) console.log(JSON.stringify(figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), isMet: isMet(figure) })), null, 2))
else console.log(tableOf(figures))
