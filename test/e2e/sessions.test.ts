import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { unzipSync, strFromU8 } from 'fflate'
import { startModelServer } from '../support/model-server.ts'
import { until, withWorkbench, type Workbench } from '../support/workbench.ts'

const composer = ({ chat }: Workbench) => chat.getByRole('textbox', { name: 'Message' })
const conversation = ({ chat }: Workbench) => chat.getByRole('log', { name: 'Conversation' })

async function send(workbench: Workbench, text: string): Promise<void> {
  await composer(workbench).fill(text)
  await workbench.chat.getByRole('button', { name: 'Send' }).click()
}

test('a session gets its title from the model, is renamed by command, asked again in a copy, listed with its lineage and exported', async () => {
  const server = await startModelServer({
    steps: [
      { when: /How high/, answer: { parts: [{ text: 'It is 342 cm high.' }] } },
      { when: /How low/, answer: { parts: [{ text: 'It is 12 cm low.' }] } },
      { when: /How low in inches/, answer: { parts: [{ text: 'It is 5 inches low.' }] } },
    ],
  })
  const settings = {
    'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
    'bosun.model.provider': 'loopback',
    'bosun.model.name': 'scripted',
    'files.simpleDialog.enable': true,
  }
  try {
    await withWorkbench({ settings }, async (workbench) => {
      const { chat, page, folder, storage } = workbench
      await workbench.runCommand('Bosun: Open Chat')
      await composer(workbench).waitFor()
      const heading = chat.getByRole('banner').getByRole('heading')

      await send(workbench, 'How high is the tide?')
      await conversation(workbench).getByText('It is 342 cm high.').waitFor()
      await heading.filter({ hasText: 'A title from the model' }).waitFor()
      assert.equal(server.titles().length, 1)

      // A command that is not there stays in the box; one that is leaves its row in the talk.
      await send(workbench, '/renam Tides')
      await chat.getByText('Did you mean /rename?').first().waitFor()
      assert.equal(await composer(workbench).inputValue(), '/renam Tides')
      await send(workbench, '/rename Tides')
      await heading.filter({ hasText: 'Tides' }).waitFor()
      await conversation(workbench).getByRole('article', { name: /^\/rename/ }).waitFor()

      await send(workbench, 'How low is the tide?')
      await conversation(workbench).getByText('It is 12 cm low.').waitFor()
      await workbench.screenshot('sessions-talk')

      // Ask the second message again, in other words: a copy that ends before it.
      const asked = conversation(workbench).getByRole('article', { name: /^You: How low/ })
      await asked.hover()
      await asked.getByRole('button', { name: /^Change and ask again/ }).click()
      await conversation(workbench).getByText('It is 12 cm low.').waitFor({ state: 'detached' })
      assert.equal(await composer(workbench).inputValue(), 'How low is the tide?')
      await send(workbench, 'How low in inches?')
      await conversation(workbench).getByText('It is 5 inches low.').waitFor()
      const roles = (JSON.parse(server.chats().at(-1)?.body ?? '{}') as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }).messages
      assert.ok(!JSON.stringify(roles).includes('12 cm low'), 'what was asked before is not in the copy')

      await chat.getByRole('button', { name: 'Sessions' }).click()
      const list = chat.getByRole('dialog', { name: 'Sessions' })
      await list.getByText('forked from Tides').waitFor()
      assert.equal(await list.locator('.session-open').count(), 2)
      await workbench.screenshot('sessions-list')
      await page.keyboard.press('Escape')

      // Through the editor's own save dialog, into the folder.
      await workbench.runCommand('Bosun: Export Session…')
      await page.getByRole('option', { name: /Whole \(ZIP\)/ }).click()
      const path = page.locator('.quick-input-widget .quick-input-box input')
      // The dialog suggests a name once it has looked at the folder; what is typed before that is lost.
      await until(async () => (await path.inputValue()).includes('bosun-Tides'), 'the name that the dialog suggests')
      await path.fill(join(folder, 'talk.zip'))
      await workbench.screenshot('sessions-save')
      await page.keyboard.press('Enter')
      await chat.locator('.notice-text', { hasText: /^Saved to .*talk\.zip/ }).waitFor()
      const files = unzipSync(await readFile(join(folder, 'talk.zip')))
      const manifest = JSON.parse(strFromU8(files['manifest.json'] ?? new Uint8Array())) as { readonly root: string; readonly sessions: readonly string[] }
      const stored = await readdir(join(storage, 'sessions'))
      assert.deepEqual(manifest.sessions, [manifest.root])
      assert.ok(stored.includes(manifest.root))
      assert.equal(strFromU8(files[`sessions/${manifest.root}/events.jsonl`] ?? new Uint8Array()), await readFile(join(storage, 'sessions', manifest.root, 'events.jsonl'), 'utf8'))
    })
  } finally {
    await server.close()
  }
})
