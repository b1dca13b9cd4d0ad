import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { windowThemes } from '../support/window-themes.ts'
import { untilEqual, type Workbench } from '../support/workbench.ts'

const script: ModelScript = {
  steps: [
    { answer: { parts: [{ text: 'First the line.' }, { toolCalls: [{ name: 'bash', arguments: { command: 'echo moored > moored.txt', description: 'Moor it' } }] }] } },
    { answer: { parts: [{ text: 'The ship is moored, **fast**.' }] } },
    // Longer than anybody reads: the person stops it.
    { answer: { parts: [{ text: 'The tide turns' }, ...Array.from({ length: 3_000 }, () => [{ waitMs: 100 }, { text: ' slowly' }]).flat()] } },
    { answer: { parts: [{ text: 'On it goes.' }] } },
  ],
}

/** The editor's own chat. */
const editorChat = ({ page }: Workbench) => page.locator('.interactive-session').first()

async function send(workbench: Workbench, text: string) {
  const box = editorChat(workbench).locator('.interactive-input-part .monaco-editor').first()
  await box.click()
  await box.and(workbench.page.locator('.focused')).waitFor()
  await workbench.page.keyboard.type(text)
  await workbench.page.keyboard.press('Enter')
}

for (const { name, theme } of windowThemes) {
  test(`@bosun answers in the editor’s own chat: its words stream, a tool asks, the thread goes on, Stop stops, and it opens in Bosun (${name})`, () =>
    // The editor hands nothing to a participant while its chat has no model.
    withModelWindow(script, { extensions: ['chat-model'], settings: { 'chat.disableAIFeatures': false }, theme }, async (workbench, server) => {
      const { conversation, folder } = workbench
      const view = editorChat(workbench)
      await workbench.runCommand('Chat: Open Chat')
      await view.getByText('Pilot', { exact: true }).waitFor()

      await send(workbench, '@bosun moor the ship')
      await view.getByText('First the line.').waitFor()
      await view.getByText('Bosun waits for you to allow: Run echo moored > moored.txt. Answer in its notification or its view.').waitFor()
      const asked = workbench.notification('Allow once').first()
      await asked.waitFor()
      await workbench.screenshot(`editor-chat-approval-${name}`)
      await asked.getByRole('button', { name: 'Allow once' }).click()
      await view.getByText('The ship is moored, fast.').waitFor()
      await view.getByText('1 changed file waits for you to keep or undo it, in Bosun.').waitFor()
      assert.equal(await readFile(join(folder, 'moored.txt'), 'utf8'), 'moored\n')

      // `@bosun` stands there already, and the thread's session goes on.
      await send(workbench, 'and now wait')
      await view.getByText('The tide turns slowly').waitFor()
      await view.getByRole('button', { name: /^Cancel/ }).click()
      await view.getByRole('button', { name: /^Cancel/ }).waitFor({ state: 'hidden' })
      await send(workbench, 'and on')
      await view.getByText('On it goes.').waitFor()
      await view.getByRole('button', { name: 'Open in Bosun' }).nth(1).waitFor()
      // Said with the answer that changed it, and not again with those that changed nothing.
      assert.equal(await view.getByText('1 changed file waits for you to keep or undo it, in Bosun.').count(), 1)
      await workbench.screenshot(`editor-chat-${name}`)
      const [, , stopped, last] = server.chats()
      await untilEqual(() => stopped!.wasAborted, true)
      assert.match(last!.body, /moor the ship[\s\S]*The ship is moored[\s\S]*and now wait[\s\S]*and on/)
      assert.equal(await view.getByText('The model of the editor’s chat answers.').count(), 0)

      await view.getByRole('button', { name: 'Open in Bosun' }).last().click()
      await conversation.getByText('moor the ship', { exact: true }).waitFor()
      await conversation.getByText('The ship is moored, fast.').waitFor()
      await conversation.getByText('On it goes.').waitFor()
      await workbench.screenshot(`editor-chat-in-bosun-${name}`)

      const told = (type: string) => workbench.logs().map(({ rows }) => rows.filter((row) => row.type === type).map(({ data }) => JSON.stringify(data)))
      await untilEqual(() => told('turn/end').map((ends) => ends.map((data) => /"kind":"(\w+)"/.exec(data)?.[1])), [['completed', 'aborted', 'completed']])
      assert.match(told('approval/decided').flat().join(), /allowed-once/)
      assert.equal(told('tool/result').flat().length, 1)
    }))
}
