import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'

const program = `
  const { createBashSyntax } = await import('${new URL('../../../../extension/platform/node/bash-syntax.ts', import.meta.url).href}')
  const syntax = createBashSyntax()
  for (let count = 0; count < 20; count++) await syntax.parseBash('ls -l "$HOME" | grep x && echo ' + count)
  // What compiles behind the scenes gets its time.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  // Linux counts in maxRSS what the process was before it became this program, which is the one that runs the tests.
  const { readFileSync } = await import('node:fs')
  const ownKb = process.platform === 'linux' ? Number(/VmHWM:\\s+(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) : process.resourceUsage().maxRSS
  console.log(JSON.stringify({ maxRssKb: ownKb }))
`

it('reads commands in little memory: nothing optimizes the giant function of the grammar', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => void (text += chunk.toString()))
  await new Promise((resolve) => child.on('close', resolve))
  const { maxRssKb } = JSON.parse(text) as { readonly maxRssKb: number }
  // About 200 MB, and 500 MB where it is optimized; in between, so that a busy machine does not matter.
  expect(maxRssKb).toBeLessThan(330_000)
})
