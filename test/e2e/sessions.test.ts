import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { unzipSync, strFromU8 } from 'fflate'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { pressInRow, until, untilEqual } from '../support/workbench.ts'

const script: ModelScript = {
  steps: [
    { when: /How high/, answer: { parts: [{ text: 'It is 342 cm high.' }] } },
    { when: /How low/, answer: { parts: [{ text: 'It is 12 cm low.' }] } },
    { when: /How low in inches/, answer: { parts: [{ text: 'It is 5 inches low.' }] } },
  ],
}

test('a session gets its title from the model, is renamed by command, asked again in a copy, listed with its lineage and exported', () =>
  withModelWindow(script, { settings: { 'files.simpleDialog.enable': true } }, async (workbench, server) => {
    const { chat, conversation, message, page, folder, send, storage } = workbench
    await workbench.runCommand('Bosun: Open Chat')
    const heading = chat.getByRole('banner').getByRole('heading')

    await send('How high is the tide?')
    await conversation.getByText('It is 342 cm high.').waitFor()
    await heading.filter({ hasText: 'A title from the model' }).waitFor()
    assert.equal(server.titles().length, 1)

    // A command that is not there stays in the box; one that is leaves its row in the talk.
    await send('/renam Tides')
    await chat.getByText('Did you mean /rename?').first().waitFor()
    await untilEqual(() => message.inputValue(), '/renam Tides')
    await send('/rename Tides')
    await heading.filter({ hasText: 'Tides' }).waitFor()
    await conversation.getByRole('article', { name: /^\/rename/ }).waitFor()

    await send('How low is the tide?')
    await conversation.getByText('It is 12 cm low.').waitFor()
    await workbench.screenshot('sessions-talk')

    // Ask the second message again, in other words: a copy that ends before it.
    const asked = conversation.getByRole('article', { name: /^You: How low/ })
    await pressInRow(asked, /^Change and ask again/)
    await conversation.getByText('It is 12 cm low.').waitFor({ state: 'detached' })
    await untilEqual(() => message.inputValue(), 'How low is the tide?')
    await send('How low in inches?')
    await conversation.getByText('It is 5 inches low.').waitFor()
    const roles = (JSON.parse(server.chats().at(-1)?.body ?? '{}') as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }).messages
    assert.ok(!JSON.stringify(roles).includes('12 cm low'), 'what was asked before is not in the copy')
    // What is exported below is whole then.
    await chat.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })

    await chat.getByRole('button', { name: 'Sessions' }).click()
    const list = chat.getByRole('dialog', { name: 'Sessions' })
    await list.getByText('forked from Tides').waitFor()
    await untilEqual(() => list.locator('.session-open').count(), 2)
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
  }))
