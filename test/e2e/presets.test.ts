import assert from 'node:assert/strict'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import type { Workbench } from '../support/workbench.ts'

const script: ModelScript = { steps: [{ answer: { parts: [{ text: 'Aye.' }] } }] }
const folderOfPresets = '.bosun/presets'

const picker = ({ page }: Workbench) => page.locator('.quick-input-widget')
const row = (workbench: Workbench, text: string) => picker(workbench).locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first()
const dialog = ({ page }: Workbench, button: string) => page.locator('.monaco-dialog-box').getByRole('button', { name: button, exact: true })

test('a preset is copied, edited and used; a broken file is in the list with its reason; what has begun keeps its preset, and one’s own can be deleted', () =>
  withModelWindow(script, { files: { [`${folderOfPresets}/torn.preset.json`]: '{ "tools": ["read",, ] }\n', 'a.md': 'text\n' } }, async (workbench, server) => {
    const { chat, conversation, folder, page, send } = workbench
    const file = join(folder, folderOfPresets, 'harbour.preset.json')
    await workbench.runCommand('Bosun: Open Chat')
    await workbench.message.waitFor()

    await workbench.runCommand('Bosun: Copy Preset…')
    await row(workbench, 'Minimal').click()
    await workbench.quickInput('Name of the copy').answer('harbour')
    await row(workbench, 'This workspace').click()
    await page.locator('.tab').filter({ hasText: 'harbour.preset.json' }).waitFor()
    const copied = JSON.parse(await readFile(file, 'utf8')) as { tools: string[] }
    assert.ok(copied.tools.length > 0)
    await writeFile(file, JSON.stringify({ ...copied, name: 'Harbour', tools: ['read', 'glob'], persona: 'You are the pilot of this harbour.' }, null, 2))

    // A file that cannot be read says why where it would be chosen, and is one click away.
    await workbench.runCommand('Bosun: Choose Preset…')
    await row(workbench, 'Harbour').waitFor()
    await row(workbench, 'torn').getByText('It is not JSON').first().waitFor()
    await workbench.screenshot('presets-choose')
    await row(workbench, 'torn').click()
    await chat.locator('.notice-text').getByText('The preset “torn” cannot be chosen. It is not JSON').waitFor()
    await workbench.screenshot('presets-broken')
    await chat.getByRole('button', { name: 'Open File' }).click()
    await page.locator('.tab').filter({ hasText: 'torn.preset.json' }).waitFor()

    await workbench.runCommand('Bosun: Choose Preset…')
    await row(workbench, 'Harbour').click()
    await chat.locator('.notice-text').getByText('cannot be chosen').waitFor({ state: 'detached' })
    await send('Bring her in')
    await conversation.getByText('Aye.', { exact: true }).waitFor()
    const { messages, tools } = JSON.parse(server.chats()[0]!.body) as { readonly messages: readonly { readonly role: string; readonly content: unknown }[]; readonly tools: readonly { readonly function: { readonly name: string } }[] }
    assert.match(JSON.stringify(messages[0]), /You are the pilot of this harbour\./)
    assert.deepEqual(tools.map(({ function: { name } }) => name).toSorted(), ['glob', 'read'])

    await send('/preset ask')
    await chat.getByText('The preset of a conversation is fixed once it has begun. Start a new one to use another preset.').first().waitFor()
    await workbench.screenshot('presets-fixed')

    await workbench.runCommand('Bosun: Delete Preset…')
    await row(workbench, 'Harbour').click()
    await dialog(workbench, 'Delete').click()
    // This editor works on another machine, which has no trash.
    await dialog(workbench, 'Delete for Good').click()
    await chat.locator('.notice-text').getByText('The preset “Harbour” was deleted').waitFor()
    await assert.rejects(access(file))
    await workbench.screenshot('presets-deleted')
    await workbench.runCommand('Bosun: Edit Preset…')
    await row(workbench, 'torn').waitFor()
    assert.equal(await row(workbench, 'Harbour').count(), 0)
  }))
