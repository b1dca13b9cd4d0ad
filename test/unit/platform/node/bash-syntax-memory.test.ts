import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'

const program = `
  const { createBashSyntax } = await import('${new URL('../../../../extension/platform/node/bash-syntax.ts', import.meta.url).href}')
  const syntax = createBashSyntax()
  for (let count = 0; count < 20; count++) await syntax.parseBash('ls -l "$HOME" | grep x && echo ' + count)
  // What compiles behind the scenes gets its time.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  console.log(JSON.stringify({ maxRssKb: process.resourceUsage().maxRSS }))
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
