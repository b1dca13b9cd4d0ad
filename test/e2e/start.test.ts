import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { chromiumArgs, findChromium } from '../../scripts/chromium.ts'
import { startProgram, stopProgram } from '../../scripts/child-process.ts'
import { root } from '../../scripts/root.ts'
import { chatParts, pressUntil } from '../support/workbench.ts'

test('npm start shows the chat, and the scripted tour runs to its end', async () => {
  const data = await mkdtemp(join(tmpdir(), 'bosun-start-'))
  const start = startProgram('npm', ['start', '--', '--no-open', '--port', '0', '--data', data], { cwd: root, stdio: 'pipe', graceMs: 10_000 })
  try {
    start.stderr!.pipe(process.stderr)
    const address = await firstAddress(start.stdout!)
    await takeTour(address, join(data, 'sample'))
    await stopProgram(start)
    await assert.rejects(fetch(address), 'the server is gone with npm start')
  } finally {
    await stopProgram(start)
    await rm(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
})

async function firstAddress(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    if (/^http:\/\/127\.0\.0\.1:\d+\/\?folder=/.test(line)) return line
  }
  throw new Error('npm start ended without an address')
}

async function takeTour(address: string, sample: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: await findChromium(console.error), args: chromiumArgs })
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  page.setDefaultTimeout(120_000)
  try {
    await page.goto(address, { timeout: 120_000 })
    const { conversation, send } = chatParts(page)
    await send('start')
    const asked = await pressUntil(page.locator('.notification-toast').getByRole('button', { name: 'Allow once' }).first(), conversation.getByText('That was the tour').first())
    assert.ok(asked > 0)
    await conversation.locator('[data-card="diff"]').first().waitFor()
    const [file] = (await readdir(sample)).filter((name) => name.startsWith('bosun-tour'))
    assert.match(await readFile(join(sample, file!), 'utf8'), /this line has changed/)
    await page.screenshot({ path: join(root, 'out/screenshots/tour.png') })
  } catch (error) {
    await page.screenshot({ path: join(root, 'out/screenshots/failed-tour.png') })
    throw error
  } finally {
    await browser.close()
  }
}
