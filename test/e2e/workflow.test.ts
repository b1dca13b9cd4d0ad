import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FrameLocator, Page } from 'playwright-core'
import { textOf, type ChatRequest } from '../support/model-script.ts'
import { startModelServer } from '../support/model-server.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

const total = 20
/** More than this many hang until the window is opened again. */
const quick = 12

const script = `phase('Look')
log('Looking at ' + args.items.length + ' files')
const first = await parallel(args.items.slice(0, 8).map((item) => () => agent('item ' + item, { label: 'Read part ' + item })))
phase('Judge')
log('Judging the rest')
const rest = await parallel(args.items.slice(8).map((item) => () => agent('item ' + item, { label: 'Judge part ' + item })))
return [...first, ...rest].filter((text) => text !== null).length`
const input = { script, meta: { name: 'review-parts', description: 'Looks at every part of the project and judges it.' }, args: { items: Array.from({ length: total }, (_, index) => index + 1) } }

const frames = (page: Page, purpose: string): FrameLocator => page.frameLocator(`iframe.webview.ready[src*="extensionId=bosun.bosun"]${purpose}`).frameLocator('#active-frame')
const chatOf = ({ page }: Workbench) => frames(page, '[src*="purpose=webviewView"]')
const runOf = ({ page }: Workbench) => frames(page, ':not([src*="purpose=webviewView"])')

const itemOf = ({ messages }: ChatRequest): number | null => {
  for (const message of messages.toReversed()) {
    const [, item] = /^item (\d+)$/.exec(textOf(message).trim()) ?? []
    if (item !== undefined) return Number(item)
  }
  return null
}

for (const { theme } of windowThemes)
  test(`a workflow that is killed with its window goes on from its page without asking a finished agent again (${theme})`, { timeout: 240_000 }, async () => {
    const asked = new Map<number, number>()
    let isHanging = true
    const server = await startModelServer({
      steps: [
        {
          when: (request) => itemOf(request) !== null,
          answer: (request) => {
            const item = itemOf(request) ?? 0
            asked.set(item, (asked.get(item) ?? 0) + 1)
            return isHanging && item > quick ? { hang: 'before' } : { parts: [{ text: `Part ${item} is fine.` }] }
          },
          repeat: true,
        },
        { when: /Review the parts/, answer: { parts: [{ toolCalls: [{ name: 'workflow', arguments: input }] }] } },
        { answer: { parts: [{ text: 'All parts are reviewed.' }] }, repeat: true },
      ],
    })
    const settings = {
      'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
      'bosun.model.provider': 'loopback',
      'bosun.model.name': 'scripted',
      'bosun.titles.enabled': false,
    }
    const name = theme.includes('Light') ? 'light' : 'dark'
    try {
      await withWorkbench({ settings, theme, viewport: { width: 1400, height: 860 } }, async (workbench) => {
        await workbench.runCommand('Bosun: Open Chat')
        await chatOf(workbench).getByRole('textbox', { name: 'Message' }).fill('Review the parts')
        await chatOf(workbench).getByRole('button', { name: 'Send' }).click()
        const approvals = chatOf(workbench).getByRole('region', { name: 'Approvals' })
        await approvals.getByText('Run the workflow').waitFor()
        await approvals.getByText('await parallel').first().waitFor()
        await workbench.screenshot(`workflow-approval-${name}`)
        await approvals.getByRole('button', { name: 'Allow once' }).click()
        const card = chatOf(workbench).locator('[data-tool="workflow"]')
        await card.getByText(`${quick} of ${total}`).waitFor({ timeout: 60_000 })
        await card.getByRole('button', { name: 'Open run' }).click()
        await runOf(workbench).getByRole('heading', { name: 'review-parts' }).waitFor()
        await runOf(workbench).getByText(`${quick} of ${total} finished`).waitFor()
        // All of the first phase went well, so it has closed.
        assert.equal(await runOf(workbench).locator('.member').count(), total - 8)
        await workbench.screenshot(`workflow-running-${name}`)

        await workbench.kill()
        isHanging = false
        await workbench.restart()
        await chatOf(workbench).locator('[data-tool="workflow"]').getByText('cut off').waitFor({ timeout: 60_000 })
        // What editors were open, the editor writes down when it has time; a page that was not is opened anew.
        const cutOff = runOf(workbench).getByText('The window closed while it ran')
        if (!(await cutOff.waitFor({ timeout: 15_000 }).then(() => true, () => false))) {
          await chatOf(workbench).locator('[data-tool="workflow"]').hover()
          await chatOf(workbench).getByRole('button', { name: 'Open run' }).click()
        }
        await cutOff.waitFor()
        await workbench.screenshot(`workflow-cut-off-${name}`)
        await runOf(workbench).getByRole('button', { name: 'Resume' }).click()
        await runOf(workbench).getByText(`${total} of ${total} finished · ${quick} taken over`).waitFor({ timeout: 60_000 })
        await chatOf(workbench).locator('[data-tool="workflow"][data-state="ok"]').getByText('resumed').waitFor()
        await chatOf(workbench).getByText('All parts are reviewed.').first().waitFor({ timeout: 60_000 })
        await workbench.screenshot(`workflow-finished-${name}`)
        await workbench.reload()
        // The page comes back by itself, and stays with the run that went on.
        await runOf(workbench).getByText(`${total} of ${total} finished`).waitFor({ timeout: 60_000 })
        await runOf(workbench).getByRole('button', { name: /^Look/ }).click()
        await runOf(workbench).getByRole('button', { name: 'Show result of Read part 1', exact: true }).click()
        await workbench.page.locator('.monaco-editor').getByText('Part 1 is fine.').waitFor()
        assert.deepEqual([...asked].toSorted(([a], [b]) => a - b), Array.from({ length: total }, (_, index) => [index + 1, index < quick ? 1 : 2]))
      })
    } finally {
      await server.close()
    }
  })
