import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { untilEqual } from '../support/workbench.ts'

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] })

const script: ModelScript = {
  steps: [
    { answer: { parts: [call('ask_user_question', { questions: [{ id: 'zone', question: 'Which zone?', options: [{ label: 'UTC (Recommended)' }, { label: 'Local' }] }, { id: 'why', question: 'And why?' }] })] } },
    { answer: { parts: [call('bash', { command: 'echo once >> effect.txt && rm -f gone.txt', description: 'Leave a mark' })] } },
    { answer: { parts: [{ text: 'The mark is made.' }] } },
    { answer: { parts: [{ text: 'UTC it is.' }] } },
  ],
}

test('a reload while a question is half answered and an approval waits: both are back, are answered by keyboard, and the effect is there once', () =>
  withModelWindow(script, { files: { 'gone.txt': 'x\n' } }, async (workbench, server) => {
    const { chat, conversation, folder, send } = workbench
    await workbench.runCommand('Bosun: Open Chat')
    await send('Fix the dates')
    const questions = chat.getByRole('region', { name: 'Questions' })
    await questions.getByText('UTC').first().click()
    await questions.getByRole('textbox').fill('because the tests run the')
    await workbench.screenshot('pending-half-typed')

    await chat.getByRole('button', { name: 'New chat' }).first().click()
    // What is typed before the welcome page is up would go with the talk that is left.
    await conversation.waitFor({ state: 'detached' })
    await send('Leave a mark')
    const approvals = chat.getByRole('region', { name: 'Approvals' })
    // The question that the person is at stays before them; the approval stands above it in the same list.
    const list = chat.getByRole('list', { name: '2 wait for you' })
    await list.getByRole('listitem').nth(0).getByText('echo once').waitFor()
    await list.getByRole('listitem').nth(1).getByText('Which zone?').waitFor()
    await untilEqual(() => questions.getByRole('textbox').inputValue(), 'because the tests run the')
    await workbench.screenshot('pending-list')
    await assert.rejects(readFile(join(folder, 'effect.txt')), { code: 'ENOENT' })

    await workbench.reload()
    await approvals.getByText('echo once').first().waitFor()
    await approvals.getByRole('listitem').nth(1).getByText('Which zone?').waitFor()
    await workbench.screenshot('pending-reloaded')
    await assert.rejects(readFile(join(folder, 'effect.txt')), { code: 'ENOENT' })
    await workbench.runCommand('Bosun: Answer What Waits…')
    const waiting = workbench.quickInput('Waiting for you')
    await waiting.row('Which zone?').waitFor()
    await waiting.chosen('echo once').waitFor()
    await waiting.input.press('Enter')
    const answers = workbench.quickInput('echo once')
    await answers.row('Allow once').waitFor()
    await answers.input.press('ArrowDown')
    await answers.chosen('Allow once').waitFor()
    await answers.input.press('Enter')
    await conversation.getByText('The mark is made.').waitFor()
    assert.equal(await readFile(join(folder, 'effect.txt'), 'utf8'), 'once\n')

    // It waits here too, though its session is not on screen; its line leads there.
    const words = questions.getByRole('textbox')
    await words.waitFor()
    await questions.getByRole('button', { name: /^For / }).click()
    await conversation.getByText('Fix the dates').first().waitFor()
    await untilEqual(() => words.inputValue(), 'because the tests run the')
    await workbench.screenshot('pending-draft-back')
    await words.press('End')
    await words.pressSequentially('re')
    await words.press('Enter')
    await conversation.getByText('UTC it is.').waitFor()
    await questions.waitFor({ state: 'hidden' })
    const asked = server.chats().at(-1)?.body ?? ''
    assert.ok(asked.includes('UTC (Recommended)') && asked.includes('because the tests run there'), asked.slice(-2_000))
    assert.equal(await readFile(join(folder, 'effect.txt'), 'utf8'), 'once\n')
    assert.equal(server.chats().length, 4)
  }))
