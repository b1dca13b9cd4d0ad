import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { fixtures, now } from '../webview/harness/fixtures.ts'
import { openHarness, showFixture, showPage, startBrowser, type Theme } from '../webview/harness/harness-page.ts'
import { pageFixtures } from '../webview/harness/page-fixtures.ts'

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const browser = await startBrowser()
after(() => browser.close())

/** Every state in one theme, and those with most colours in the two others, the narrowest promised view among them. */
const views: readonly { readonly theme: Theme; readonly width: number; readonly names: readonly string[] }[] = [
  { theme: 'dark-modern', width: 300, names: Object.keys(fixtures) },
  {
    theme: 'light-modern',
    width: 600,
    names: ['streaming', 'cards-open', 'cards-others', 'approvals-several', 'failures', 'running-commands', 'running-commands-open', 'goal-open', 'goal-disarmed', 'goal-blocked', 'usage-limits', 'reminders-open', 'sessions'],
  },
  { theme: 'high-contrast', width: 280, names: ['streaming', 'cards-open', 'running-commands-open', 'question', 'failures', 'notices', 'menu-references', 'menu-commands', 'attachments', 'add-menu'] },
]

for (const { theme, width, names } of views) {
  test(`the chat is accessible in every state: ${theme}, ${width} px`, async () => {
    const harness = await openHarness(browser, { theme, width, height: 760, time: now })
    const found: string[] = []
    for (const name of names) {
      await showFixture(harness, fixtures[name]!)
      found.push(...(await problems(harness.page)).map((problem) => `${name}: ${problem}`))
      if ((await sidewaysOverflow(harness.page)) > 0) found.push(`${name}: something reaches out of the view sideways`)
    }
    await harness.close()
    assert.deepEqual(found, [])
  })
}

for (const theme of ['dark-modern', 'light-modern'] as const) {
  test(`the pages of the editor area are accessible in every state: ${theme}, 300 px`, async () => {
    const harness = await openHarness(browser, { theme, width: 300, height: 760, time: now, pageKey: { kind: 'team', sessionId: 's', id: 't' } })
    const found: string[] = []
    for (const [name, view] of Object.entries(pageFixtures)) {
      await showPage(harness, view)
      found.push(...(await problems(harness.page)).map((problem) => `${name}: ${problem}`))
      if ((await sidewaysOverflow(harness.page)) > 0) found.push(`${name}: something reaches out of the view sideways`)
    }
    await harness.close()
    assert.deepEqual(found, [])
  })
}

declare const axe: { run(options: object): Promise<AxeResults> }

async function problems(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource)
  const results = await page.evaluate(() => axe.run({ resultTypes: ['violations'] }))
  return results.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.replaceAll('\n', ' ').slice(0, 300)}`))
}

const sidewaysOverflow = (page: Page): Promise<number> => page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth))
