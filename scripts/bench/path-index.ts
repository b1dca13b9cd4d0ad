import { PathIndex } from '../../extension/features/references/path-index.ts'

/*
 * What the menu of references costs in a tree of 100 000 files: milliseconds of the processor a query, the median of 31 runs.
 *
 * Usage: `node scripts/bench/path-index.ts [FILES]`
 */
const files = Number(process.argv[2] ?? 100_000)
const words = ['src', 'components', 'calendar', 'date', 'picker', 'utils', 'server', 'api', 'test', 'models', 'Button', 'List', 'index', 'view', 'store', 'main']
const word = (seed: number) => words[seed % words.length]!
const pathOf = (n: number) => `packages/${word(n >> 3)}-${n % 97}/src/${word(n)}/${word(n >> 5)}${word(n >> 2)}/${word(n * 7)}-${n}.${n % 3 === 0 ? 'test.ts' : 'tsx'}`

const index = new PathIndex({ maxBytes: 64_000_000 })
const begin = performance.now()
for (let n = 0; n < files; n++) index.add(pathOf(n))
console.log(`${files} paths taken in: ${(performance.now() - begin).toFixed(1)} ms, ${(index.byteLength / 1e6).toFixed(1)} MB`)

/** The bare work beside it, to judge a busy machine by: looking at each byte of those paths once. */
const bare = new Uint8Array(Array.from({ length: files }, (_, n) => pathOf(n).length).reduce((sum, length) => sum + length, 0)).map((_, at) => at % 251)
console.log(`one look at each of ${bare.length} bytes: ${median(() => bare.reduce((sum, byte) => (byte === 7 ? sum + 1 : sum), 0)).toFixed(2)} ms`)

for (const query of ['', 'e', 'd', 'date', 'datepicker', 'src/cal', 'dpt', 'packages', 'zzz', 'index-99999', 'sccldp', 'aeiou', 'tttttttt']) {
  const ms = median(() => index.best(query, 20))
  console.log(`${JSON.stringify(query).padEnd(14)} ${ms.toFixed(2).padStart(6)} ms   ${index.best(query, 20)[0]?.path ?? 'nothing'}`)
}

/** Milliseconds of the processor, so that other programs do not count. */
function median(work: () => unknown): number {
  const times = Array.from({ length: 31 }, () => {
    const begin = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(begin)
    return (user + system) / 1_000
  })
  return times.sort((a, b) => a - b)[15]!
}
