import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOf, type ChatRequest, type ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { windowThemes } from '../support/window-themes.ts'
import { pressInRow, untilEqual } from '../support/workbench.ts'

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

const itemOf = ({ messages }: ChatRequest): number | null => {
  for (const message of messages.toReversed()) {
    const [, item] = /^item (\d+)$/.exec(textOf(message).trim()) ?? []
    if (item !== undefined) return Number(item)
  }
  return null
}

for (const { name, theme } of windowThemes)
  test(`a workflow that is killed with its window goes on from its page without asking a finished agent again (${theme})`, () => {
    const asked = new Map<number, number>()
    let isHanging = true
    const steps: ModelScript['steps'] = [
      {
        when: (request) => itemOf(request) !== null,
        answer: (request) => {
          const item = itemOf(request) ?? 0
          asked.set(item, (asked.get(item) ?? 0) + 1)
          return isHanging && item > quick ? { hang: 'before-headers' } : { parts: [{ text: `Part ${item} is fine.` }] }
        },
        repeat: true,
      },
      { when: /Review the parts/, answer: { parts: [{ toolCalls: [{ name: 'workflow', arguments: input }] }] } },
      { answer: { parts: [{ text: 'All parts are reviewed.' }] }, repeat: true },
    ]
    return withModelWindow({ steps }, { settings: { 'bosun.titles.enabled': false }, theme, viewport: { width: 1400, height: 860 } }, async (workbench) => {
      const { chat, conversation, editorPage: run, send } = workbench
      await workbench.runCommand('Bosun: Open Chat')
      await send('Review the parts')
      const approvals = chat.getByRole('region', { name: 'Approvals' })
      await approvals.getByText('Run the workflow').waitFor()
      await approvals.getByText('await parallel').first().waitFor()
      await workbench.screenshot(`workflow-approval-${name}`)
      await approvals.getByRole('button', { name: 'Allow once' }).click()
      const card = conversation.locator('[data-tool="workflow"]')
      await card.getByText(`${quick} of ${total}`).waitFor()
      await card.getByRole('button', { name: 'Open run' }).click()
      await run.getByRole('heading', { name: 'review-parts' }).waitFor()
      await run.getByText(`${quick} of ${total} finished`).waitFor()
      // All of the first phase went well, so it has closed.
      await untilEqual(() => run.locator('.member').count(), total - 8)
      await workbench.screenshot(`workflow-running-${name}`)

      await workbench.kill()
      isHanging = false
      await workbench.restart()
      await card.getByText('cut off').waitFor()
      // What editors were open, the editor writes down when it has time; a page that was not is opened anew.
      const cutOff = run.getByText('The window closed while it ran')
      if (!(await cutOff.waitFor({ timeout: 15_000 }).then(() => true, () => false))) await pressInRow(card, 'Open run')
      await cutOff.waitFor()
      await workbench.screenshot(`workflow-cut-off-${name}`)
      await run.getByRole('button', { name: 'Resume' }).click()
      await run.getByText(`${total} of ${total} finished · ${quick} taken over`).waitFor()
      await chat.locator('[data-tool="workflow"][data-state="ok"]').getByText('resumed').waitFor()
      await conversation.getByText('All parts are reviewed.').first().waitFor()
      await workbench.screenshot(`workflow-finished-${name}`)
      await workbench.reload()
      // The page comes back by itself, and stays with the run that went on.
      await run.getByText(`${total} of ${total} finished`).waitFor()
      await run.getByRole('button', { name: /^Look/ }).click()
      await run.getByRole('button', { name: 'Show result of Read part 1', exact: true }).click()
      await workbench.page.locator('.monaco-editor').getByText('Part 1 is fine.').waitFor()
      assert.deepEqual([...asked].toSorted(([a], [b]) => a - b), Array.from({ length: total }, (_, index) => [index + 1, index < quick ? 1 : 2]))
    })
  })
