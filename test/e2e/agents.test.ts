import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ChatRequest } from '../support/model-script.ts'
import { startModelServer } from '../support/model-server.ts'
import { withWorkbench, type Workbench, type WorkbenchOptions } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

const conversation = ({ chat }: Workbench) => chat.getByRole('log', { name: 'Conversation' })
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

async function withAgents(options: WorkbenchOptions, body: (workbench: Workbench) => Promise<void>) {
  const server = await startModelServer({ steps })
  const settings = {
    'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
    'bosun.model.provider': 'loopback',
    'bosun.model.name': 'scripted',
    'bosun.titles.enabled': false,
  }
  try {
    await withWorkbench({ ...options, settings: { ...settings, ...options.settings } }, async (workbench) => {
      await workbench.runCommand('Bosun: Open Chat')
      await workbench.chat.getByRole('textbox', { name: 'Message' }).fill('Ship it')
      await workbench.chat.getByRole('button', { name: 'Send' }).click()
      await body(workbench)
    })
  } finally {
    await server.close()
  }
}

for (const { name, theme } of windowThemes) {
  test(`three agents at once: one is interrupted in the tree, one asks and is allowed, and the answer comes (${name})`, () =>
    withAgents({ settings: { 'workbench.colorTheme': theme } }, async (workbench) => {
      const { chat, page, folder } = workbench
      await page.locator('.pane-header', { hasText: 'Agents' }).click()
      const slow = shown(workbench, /^Read the docs, running/)
      await slow.waitFor()
      await shown(workbench, /^Count the files, done/).waitFor()
      await shown(workbench, /^Write the notes, waits for you/).waitFor()
      await chat.getByRole('region', { name: 'Approvals' }).getByText('For the agent “Write the notes”.').waitFor()
      await workbench.screenshot(`agents-tree-${name}`)

      // The transcript of one, and the way back.
      await slow.click()
      await conversation(workbench).getByText('Reading the first of many pages').waitFor()
      await chat.getByRole('heading', { name: 'Read the docs' }).waitFor()
      await chat.getByText('This agent gives one answer and takes no messages.').waitFor()
      assert.equal(await chat.getByRole('textbox', { name: 'Message' }).count(), 0)
      await workbench.screenshot(`agents-transcript-${name}`)
      await chat.getByRole('button', { name: 'Agent of: Ship it' }).click()
      await chat.getByRole('textbox', { name: 'Message' }).waitFor()

      await slow.hover()
      await slow.getByRole('button', { name: 'Interrupt' }).click()
      await shown(workbench, /^Read the docs, stopped/).waitFor()

      await chat.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Allow once' }).click()
      await shown(workbench, /^Write the notes, done/).waitFor()
      await conversation(workbench).getByText('It is shipped.').waitFor()
      assert.equal(await readFile(join(folder, 'notes.txt'), 'utf8'), 'shipped\n')
      assert.equal(await conversation(workbench).locator('[data-card="agent"], [data-tool="subagent"]').count(), 3)
      await workbench.screenshot(`agents-end-${name}`)
    }))
}
