import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../../../scripts/root.ts'
import { fixtures, now } from './fixtures.ts'
import { pageFixtures } from './page-fixtures.ts'
import { openHarness, showFixture, showPage, startBrowser, themes } from './harness-page.ts'

/*
 * Pictures of every state in three themes at two widths, into `out/screenshots/chat/`.
 *
 * Usage: `node test/webview/harness/screenshots.ts [FIXTURE…] [--theme=NAME] [--width=PX]`
 */
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const option = (name: string) => process.argv.find((argument) => argument.startsWith(`--${name}=`))?.split('=')[1]
const folder = join(root, 'out/screenshots/chat')
await mkdir(folder, { recursive: true })
const browser = await startBrowser()
for (const theme of themes.filter((name) => (option('theme') ?? name) === name)) {
  for (const width of option('width') === undefined ? [300, 600] : [Number(option('width'))]) {
    const harness = await openHarness(browser, { theme, width, height: 760, time: now })
    for (const [name, fixture] of Object.entries(fixtures).filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
      await showFixture(harness, fixture)
      await harness.page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) })
    }
    await harness.close()
    const paged = await openHarness(browser, { theme, width, height: 760, time: now, pageKey: { kind: 'workflow', sessionId: 's', id: 'r' } })
    for (const [name, view] of Object.entries(pageFixtures).filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
      await showPage(paged, view)
      await paged.page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) })
    }
    await paged.close()
  }
}
await browser.close()
