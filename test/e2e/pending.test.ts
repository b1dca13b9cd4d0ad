import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startModelServer, type ModelServer } from '../support/model-server.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'

const modelAt = ({ url }: ModelServer) => ({
  'bosun.providers': { loopback: { name: 'Loopback', baseUrl: url, models: ['scripted'], keyName: null } },
  'bosun.model.provider': 'loopback',
  'bosun.model.name': 'scripted',
})
const composer = ({ chat }: Workbench) => chat.getByRole('textbox', { name: 'Message' })
const conversation = ({ chat }: Workbench) => chat.getByRole('log', { name: 'Conversation' })
async function send(workbench: Workbench, text: string) {
  await composer(workbench).fill(text)
  await workbench.chat.getByRole('button', { name: 'Send' }).click()
}
const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] })

test('a reload while a question is half answered and an approval waits: both are back, are answered by keyboard, and the effect is there once', async () => {
  const server = await startModelServer({
    steps: [
      { answer: { parts: [call('ask_user_question', { questions: [{ id: 'zone', question: 'Which zone?', options: [{ label: 'UTC (Recommended)' }, { label: 'Local' }] }, { id: 'why', question: 'And why?' }] })] } },
      { answer: { parts: [call('bash', { command: 'echo once >> effect.txt && rm -f gone.txt', description: 'Leave a mark' })] } },
      { answer: { parts: [{ text: 'The mark is made.' }] } },
      { answer: { parts: [{ text: 'UTC it is.' }] } },
    ],
  })
  try {
    await withWorkbench({ files: { 'gone.txt': 'x\n' }, settings: modelAt(server) }, async (workbench) => {
      const { chat, page, folder } = workbench
      await workbench.runCommand('Bosun: Open Chat')
      await composer(workbench).waitFor()
      await send(workbench, 'Fix the dates')
      const questions = chat.getByRole('region', { name: 'Questions' })
      await questions.getByText('UTC').first().click()
      await questions.getByRole('textbox').fill('because the tests run the')
      await workbench.screenshot('pending-half-typed')

      await chat.getByRole('button', { name: 'New chat' }).first().click()
      await send(workbench, 'Leave a mark')
      const approvals = chat.getByRole('region', { name: 'Approvals' })
      // The question that the person is at stays before them; the approval stands above it in the same list.
      const list = chat.getByRole('list', { name: '2 wait for you' })
      await list.getByRole('listitem').nth(0).getByText('echo once').waitFor()
      await list.getByRole('listitem').nth(1).getByText('Which zone?').waitFor()
      assert.equal(await questions.getByRole('textbox').inputValue(), 'because the tests run the')
      await workbench.screenshot('pending-list')
      await assert.rejects(readFile(join(folder, 'effect.txt')), { code: 'ENOENT' })

      await workbench.reload()
      await approvals.getByText('echo once').first().waitFor()
      await approvals.getByRole('listitem').nth(1).getByText('Which zone?').waitFor()
      await workbench.screenshot('pending-reloaded')
      await assert.rejects(readFile(join(folder, 'effect.txt')), { code: 'ENOENT' })
      await workbench.runCommand('Bosun: Answer What Waits…')
      await workbench.quickInput('Waiting for you').row('Which zone?').waitFor()
      await page.keyboard.press('Enter')
      await workbench.quickInput('echo once').row('Allow once').waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await conversation(workbench).getByText('The mark is made.').waitFor()
      assert.equal(await readFile(join(folder, 'effect.txt'), 'utf8'), 'once\n')

      // It waits here too, though its session is not on screen; its line leads there.
      const words = questions.getByRole('textbox')
      await words.waitFor()
      await questions.getByRole('button', { name: /^For / }).click()
      await conversation(workbench).getByText('Fix the dates').first().waitFor()
      assert.equal(await words.inputValue(), 'because the tests run the')
      await workbench.screenshot('pending-draft-back')
      await words.focus()
      await page.keyboard.press('End')
      await page.keyboard.type('re')
      await page.keyboard.press('Enter')
      await conversation(workbench).getByText('UTC it is.').waitFor()
      await questions.waitFor({ state: 'hidden' })
      const asked = server.chats().at(-1)?.body ?? ''
      assert.ok(asked.includes('UTC (Recommended)') && asked.includes('because the tests run there'), asked.slice(-2_000))
      assert.equal(await readFile(join(folder, 'effect.txt'), 'utf8'), 'once\n')
      assert.equal(server.chats().length, 4)
    })
  } finally {
    await server.close()
  }
})
