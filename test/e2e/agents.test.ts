import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ChatRequest } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { pressInRow, untilEqual, type Workbench } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

const shown = ({ page }: Workbench, name: RegExp) => page.getByRole('treeitem', { name })

/** Everything that was said in a request. */
const said = (request: ChatRequest) => JSON.stringify(request.messages)
const task = (label: string, prompt: string) => ({ name: 'subagent', arguments: { description: label, prompt, run_in_background: false } })

/** Three agents at once: one that takes its time, one that is refused nothing but must ask, one that answers. */
const steps = [
  { when: /Ship it/, answer: { parts: [{ toolCalls: [task('Read the docs', 'SLOW task'), task('Write the notes', 'ASKING task'), task('Count the files', 'QUICK task')] }] } },
  { when: /SLOW task/, answer: { parts: [{ text: 'Reading the first of many pages' }, { waitMs: 120_000 }, { text: 'never' }] } },
  { when: /ASKING task/, answer: { parts: [{ toolCalls: [{ name: 'bash', arguments: { command: 'echo shipped > notes.txt', description: 'Write the notes' } }] }] } },
  { when: /QUICK task/, answer: { parts: [{ waitMs: 800 }, { text: 'There are two files.' }] } },
  { when: (request: ChatRequest) => said(request).includes('ASKING task') && !said(request).includes('Ship it'), answer: { parts: [{ text: 'The notes are written.' }] } },
  { when: (request: ChatRequest) => said(request).includes('Ship it'), answer: { parts: [{ text: 'It is shipped.' }] }, repeat: true },
]

for (const { name, theme } of windowThemes) {
  test(`three agents at once: one is interrupted in the tree, one asks and is allowed, and the answer comes (${name})`, () =>
    withModelWindow({ steps }, { theme, settings: { 'bosun.titles.enabled': false } }, async (workbench) => {
      const { chat, conversation, message, page, folder } = workbench
      await workbench.runCommand('Bosun: Open Chat')
      await workbench.send('Ship it')
      await page.locator('.pane-header', { hasText: 'Agents' }).click()
      const slow = shown(workbench, /^Read the docs, running/)
      await slow.waitFor()
      await shown(workbench, /^Count the files, done/).waitFor()
      await shown(workbench, /^Write the notes, waits for you/).waitFor()
      await chat.getByRole('region', { name: 'Approvals' }).getByText('For the agent “Write the notes”.').waitFor()
      await workbench.screenshot(`agents-tree-${name}`)

      // The transcript of one, and the way back.
      await slow.click()
      await conversation.getByText('Reading the first of many pages').waitFor()
      await chat.getByRole('heading', { name: 'Read the docs' }).waitFor()
      await chat.getByText('This agent gives one answer and takes no messages.').waitFor()
      assert.equal(await message.count(), 0)
      await workbench.screenshot(`agents-transcript-${name}`)
      await chat.getByRole('button', { name: 'Agent of: Ship it' }).click()
      await message.waitFor()

      await pressInRow(slow, 'Interrupt')
      await shown(workbench, /^Read the docs, stopped/).waitFor()

      await chat.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Allow once' }).click()
      await shown(workbench, /^Write the notes, done/).waitFor()
      await conversation.getByText('It is shipped.').waitFor()
      assert.equal(await readFile(join(folder, 'notes.txt'), 'utf8'), 'shipped\n')
      await untilEqual(() => conversation.locator('[data-card="agent"], [data-tool="subagent"]').count(), 3)
      await workbench.screenshot(`agents-end-${name}`)
    }))
}
