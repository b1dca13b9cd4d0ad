import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import { startModelServer } from '../support/model-server.ts'
import { windowThemes } from '../support/window-themes.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'

const script: ModelScript = {
  steps: [
    { answer: { parts: [{ text: 'First the line.' }, { toolCalls: [{ name: 'bash', arguments: { command: 'echo moored > moored.txt', description: 'Moor it' } }] }] } },
    { answer: { parts: [{ text: 'The ship is moored, **fast**.' }] } },
    // Longer than anybody reads: the person stops it.
    { answer: { parts: [{ text: 'The tide turns' }, ...Array.from({ length: 600 }, () => [{ waitMs: 100 }, { text: ' slowly' }]).flat()] } },
    { answer: { parts: [{ text: 'On it goes.' }] } },
  ],
}

/** The editor's own chat. */
const editorChat = ({ page }: Workbench) => page.locator('.interactive-session').first()

async function send(workbench: Workbench, text: string) {
  await editorChat(workbench).locator('.interactive-input-part .monaco-editor').first().click()
  await workbench.page.keyboard.type(text)
  await workbench.page.keyboard.press('Enter')
}

/** Every event of each session there is. */
async function logs(storage: string): Promise<readonly (readonly { readonly type: string; readonly data: Record<string, unknown> }[])[]> {
  const files = (await readdir(storage, { recursive: true })).filter((path) => path.endsWith('events.jsonl'))
  const texts = await Promise.all(files.map((path) => readFile(join(storage, path), 'utf8')))
  return texts.map((text) => text.trim().split('\n').map((line) => JSON.parse(line) as { type: string; data: Record<string, unknown> }))
}

for (const { name, theme } of windowThemes) {
  test(`@bosun answers in the editor’s own chat: its words stream, a tool asks, the thread goes on, Stop stops, and it opens in Bosun (${name})`, async () => {
    const server = await startModelServer(script)
    const settings = {
      'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
      'bosun.model.provider': 'loopback',
      'bosun.model.name': 'scripted',
      'chat.disableAIFeatures': false,
    }
    try {
      // The editor hands nothing to a participant while its chat has no model.
      await withWorkbench({ extensions: ['chat-model'], settings, theme }, async (workbench) => {
        const { chat, folder, storage } = workbench
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
        assert.equal(stopped!.wasAborted, true)
        assert.match(last!.body, /moor the ship[\s\S]*The ship is moored[\s\S]*and now wait[\s\S]*and on/)
        assert.equal(await view.getByText('The model of the editor’s chat answers.').count(), 0)

        await view.getByRole('button', { name: 'Open in Bosun' }).last().click()
        const conversation = chat.getByRole('log', { name: 'Conversation' })
        await conversation.getByText('moor the ship', { exact: true }).waitFor()
        await conversation.getByText('The ship is moored, fast.').waitFor()
        await conversation.getByText('On it goes.').waitFor()
        await workbench.screenshot(`editor-chat-in-bosun-${name}`)

        const sessions = await logs(storage)
        assert.equal(sessions.length, 1)
        const told = (type: string) => sessions[0]!.filter((event) => event.type === type).map(({ data }) => JSON.stringify(data))
        assert.match(told('approval/decided').join(), /allowed-once/)
        assert.equal(told('tool/result').length, 1)
        assert.deepEqual(told('turn/end').map((data) => /"kind":"(\w+)"/.exec(data)?.[1]), ['completed', 'aborted', 'completed'])
      })
    } finally {
      await server.close()
    }
  })
}
