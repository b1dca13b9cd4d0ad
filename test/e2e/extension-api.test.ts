import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { sampleId } from '../../scripts/fixture-extension.ts'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { untilEqual } from '../support/workbench.ts'

const call = (name: string, args: object) => ({ answer: { parts: [{ toolCalls: [{ name, arguments: args }] }] } })
const script: ModelScript = {
  steps: [
    call('acme_tide', { harbour: 'Hull' }),
    call('bash', { command: 'echo forbidden', description: 'Say it' }),
    call('glob', { pattern: '*.md' }),
    { answer: { parts: [{ text: 'That was the tide.' }] } },
    call('acme_logbook', { path: 'logbook.md', line: 'Hull, high water' }),
    { answer: { parts: [{ text: 'It is in the logbook.' }] } },
    call('acme_logbook', { path: 'logbook.md', line: 'Hull, low water' }),
    { answer: { parts: [{ text: 'Then not.' }] } },
    { answer: { parts: [{ text: 'There is no tide now.' }] } },
    { answer: { parts: [{ text: 'There is still none.' }] } },
  ],
}

/** Whether a request declares the tool of the sample, and says its words in the system prompt. */
function toldIn(body: string) {
  const { tools, messages } = JSON.parse(body) as { readonly tools: readonly { readonly function: { readonly name: string } }[]; readonly messages: readonly { readonly role: string; readonly content: unknown }[] }
  const system = messages.filter(({ role }) => role === 'system')
  return { hasTool: tools.some(({ function: { name } }) => name === 'acme_tide'), hasWords: JSON.stringify(system).includes('Ask acme_tide for tides rather than guessing.') }
}

test('another extension lends tools, words, a rule and an observer; what its tool changes can be taken back; it takes all back, is uninstalled, and what its tools did still stands there', () =>
  withModelWindow(script, { extensions: ['sample-extension'], settings: { 'files.autoSave': 'off' }, files: { 'logbook.md': 'Grimsby, calm\n', 'a.md': 'text\n' } }, async (workbench, server) => {
    const { chat, conversation, message, folder } = workbench
    await workbench.runCommand('Bosun: Open Chat')
    await message.waitFor()
    // The editor activates it with the chat; its commands are there from its manifest, but only it can answer them.
    await workbench.runCommand('Sample: Report')
    await workbench.notification('Sample heard: nothing').waitFor()

    await workbench.send('Tell me the tide at Hull')
    const asked = workbench.notification('Allow once').filter({ hasText: 'acme_tide from acme.sample' }).filter({ hasText: 'acme.sample says that it changes nothing' })
    await asked.waitFor()
    await workbench.screenshot('extension-api-approval')
    await asked.getByRole('button', { name: 'Allow once' }).click()
    await conversation.getByText('That was the tide.').waitFor()

    assert.deepEqual(toldIn(server.chats()[0]!.body), { hasTool: true, hasWords: true })
    const resultsInLog = () => workbench.logs().flatMap(({ rows }) => rows).filter(({ type }) => type === 'tool/result').map(({ data }) => data)
    await untilEqual(() => resultsInLog().length, 3)
    const results = resultsInLog()
    assert.deepEqual(results.map(({ meta }) => meta)[0], { extension: sampleId, meta: { heightCm: 400 } })
    assert.match(JSON.stringify(results[0]), /The tide at Hull is 400 cm\./)
    assert.match(JSON.stringify(results[1]), /The extension acme\.sample refused this: The sample forbids it\./)

    const tide = conversation.locator('[data-tool="acme_tide"]')
    await tide.filter({ hasText: /Tide at Hull[\s\S]*from acme\.sample/ }).waitFor()
    await conversation.locator('[data-tool="bash"][data-state="denied"]').waitFor()
    await workbench.screenshot('extension-api-cards')
    await workbench.runCommand('Sample: Report')
    await workbench.notification('Sample heard: acme_tide ok, bash failed, glob ok').waitFor()

    // Its change is in the document alone: the disk has nothing of it, and Bosun takes it back all the same.
    await workbench.openFile('logbook.md')
    const logbook = workbench.page.locator('.editor-instance .view-lines').first()
    await workbench.send('Log the tide')
    await workbench.notification('acme_logbook from acme.sample').getByRole('button', { name: 'Allow once' }).click()
    await conversation.getByText('It is in the logbook.').waitFor()
    await logbook.getByText('Hull, high water').waitFor()
    assert.equal(await readFile(join(folder, 'logbook.md'), 'utf8'), 'Grimsby, calm\n')
    await conversation.getByText('1 file changed').waitFor()
    await workbench.screenshot('extension-api-change')
    await chat.getByRole('button', { name: 'Undo turn' }).click()
    await chat.getByText('Undone', { exact: true }).waitFor()
    await logbook.getByText('Hull, high water').waitFor({ state: 'detached' })
    await logbook.getByText('Grimsby, calm').waitFor()

    await workbench.send('Log it again')
    await workbench.notification('acme_logbook from acme.sample').getByRole('button', { name: 'Deny' }).click()
    await conversation.getByText('Then not.').waitFor()

    await workbench.runCommand('Sample: Take Back')
    await workbench.notification('Sample took everything back').waitFor()
    await workbench.send('And now?')
    await conversation.getByText('There is no tide now.').waitFor()
    assert.deepEqual(toldIn(server.chats().at(-1)!.body), { hasTool: false, hasWords: false })

    await workbench.uninstall(sampleId)
    await conversation.getByText('There is no tide now.').waitFor()
    await tide.filter({ hasText: /acme_tide[\s\S]*from acme\.sample/ }).waitFor()
    await conversation.locator('[data-tool="acme_logbook"]').last().and(chat.locator('[data-state="denied"]')).filter({ hasText: 'from acme.sample' }).waitFor()
    await tide.locator('button').first().click()
    await tide.getByText('The tide at Hull is 400 cm.').first().waitFor()
    await workbench.screenshot('extension-api-gone')
    await workbench.send('And after that?')
    await conversation.getByText('There is still none.').waitFor()
  }))
