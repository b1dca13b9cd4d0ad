import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startModelServer } from '../support/model-server.ts'
import { withWorkbench } from '../support/workbench.ts'

const call = (name: string, args: object) => ({ answer: { parts: [{ toolCalls: [{ name, arguments: args }] }] } })

test('a window with two folders asks in which one to begin, and reads and changes files of the other by its name', async () => {
  const server = await startModelServer({
    steps: [
      call('read', { file_path: 'a.txt' }),
      call('read', { file_path: 'second/a.txt' }),
      call('edit', { file_path: 'second/a.txt', old_string: 'of the second', new_string: 'of the second, changed' }),
      { answer: { parts: [{ text: 'Both were **read**.' }] } },
    ],
  })
  const settings = {
    'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
    'bosun.model.provider': 'loopback',
    'bosun.model.name': 'scripted',
  }
  try {
    await withWorkbench({ isEmpty: true, files: { 'first/a.txt': 'of the first\n', 'second/a.txt': 'of the second\n' }, roots: ['first', 'second'], settings }, async ({ chat, folder, screenshot, runCommand, quickInput }) => {
      await runCommand('Bosun: Open Chat')
      await chat.getByRole('textbox', { name: 'Message' }).fill('Read both')
      await chat.getByRole('button', { name: 'Send' }).click()
      await quickInput('Which folder does Bosun work in?').pick('first')
      const changed = async () => (await readFile(join(folder, 'second/a.txt'), 'utf8')) === 'of the second, changed\n'
      const allow = chat.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Allow once' })
      for (let attempt = 0; !(await changed()); attempt += 1) {
        assert.ok(attempt < 600, 'It was never changed.')
        if (await allow.isVisible()) await allow.click()
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      await chat.getByText('Both were read').first().waitFor()
      await screenshot('roots')
      assert.equal(await readFile(join(folder, 'first/a.txt'), 'utf8'), 'of the first\n')
      assert.equal(server.unused(), 0)
    })
  } finally {
    await server.close()
  }
})
