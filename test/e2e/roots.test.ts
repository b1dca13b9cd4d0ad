import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { withModelWindow } from '../support/model-window.ts'
import { pressUntil } from '../support/workbench.ts'

const call = (name: string, args: object) => ({ answer: { parts: [{ toolCalls: [{ name, arguments: args }] }] } })

test('a window with two folders asks in which one to begin, and reads and changes files of the other by its name', () =>
  withModelWindow(
    {
      steps: [
        call('read', { file_path: 'a.txt' }),
        call('read', { file_path: 'second/a.txt' }),
        call('edit', { file_path: 'second/a.txt', old_string: 'of the second', new_string: 'of the second, changed' }),
        { answer: { parts: [{ text: 'Both were **read**.' }] } },
      ],
    },
    { isEmpty: true, files: { 'first/a.txt': 'of the first\n', 'second/a.txt': 'of the second\n' }, roots: ['first', 'second'] },
    async ({ chat, conversation, folder, send, screenshot, runCommand, quickInput }, server) => {
      await runCommand('Bosun: Open Chat')
      await send('Read both')
      await quickInput('Which folder does Bosun work in?').pick('first')
      await pressUntil(chat.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Allow once' }), conversation.getByText('Both were read'))
      await screenshot('roots')
      assert.deepEqual([await readFile(join(folder, 'first/a.txt'), 'utf8'), await readFile(join(folder, 'second/a.txt'), 'utf8')], ['of the first\n', 'of the second, changed\n'])
      assert.equal(server.unused(), 0)
    },
  ))
