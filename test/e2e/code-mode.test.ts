import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { windowThemes } from '../support/window-themes.ts'
import { pressInRow, until, untilEqual } from '../support/workbench.ts'

const rename = `const { matches } = await tools.grep({ pattern: 'oldTide', output_mode: 'content' }) as any
const files: string[] = ['src/high.ts', 'src/low.ts']
await Promise.all(files.map((file_path) => tools.read({ file_path })))
for (const file_path of files) await tools.edit({ file_path, old_string: 'oldTide', new_string: 'newTide' })
console.log('Renamed in', files.length, 'files')
const check = await tools.bash({ command: 'sh check.sh', description: 'Count the new names' })
return { files, exitCode: check.exitCode }`
const waiting = `console.log('Begin to wait')
await tools.bash({ command: 'sh wait.sh', description: 'Wait for five minutes' })`
const failing = `console.log('Look for the notes')
const notes = await tools.read({ file_path: 'notes/missing.txt' })
return notes`

const program = (code: string, description: string) => ({ answer: { parts: [{ toolCalls: [{ name: 'run_code', arguments: { code, description } }] }] } })
const script: ModelScript = {
  steps: [
    program(rename, 'Rename the tide in both files'),
    { answer: { parts: [{ text: 'Both files say newTide.' }] } },
    program(waiting, 'Wait for the tide to turn'),
    program(failing, 'Read the notes of the harbour'),
    { answer: { parts: [{ text: 'There are no notes.' }] } },
  ],
}

/** By its own number of seconds, since a sandbox has process ids of its own. */
const isSleeping = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes('sleep 300.0417')

const files = { 'wait.sh': 'exec sleep 300.0417\n', 'check.sh': 'grep -c newTide src/high.ts src/low.ts\n', 'src/high.ts': "export const name = 'oldTide'\n", 'src/low.ts': "export const other = 'oldTide'\n" }
const settings = { 'bosun.agent.defaultPreset': 'code', 'bosun.permissions.rules': [{ tool: 'edit', decision: 'allow' }], 'bosun.titles.enabled': false }

for (const { name, theme } of windowThemes)
  test(`a program searches, reads, edits and runs a command; its calls stand under it, are stopped with it, and its failure is told (${name})`, () =>
    withModelWindow(script, { isEmpty: true, files, settings, theme, viewport: { width: 1500, height: 900 } }, async (workbench) => {
      const { page, chat, conversation, folder } = workbench
      const card = (title: string) => chat.locator('[data-tool="run_code"]').filter({ hasText: title })
      const texts = () => Promise.all(['src/high.ts', 'src/low.ts'].map((path) => readFile(join(folder, path), 'utf8')))
      const inside = (tool: string) => chat.locator(`.inside [data-tool="${tool}"]`)
      await workbench.runCommand('Bosun: Open Chat')
      await workbench.send('Rename the tide')

      // Its calls are there while it works, the one that waits for the person among them.
      const approvals = chat.getByRole('region', { name: 'Approvals' })
      await approvals.getByText('sh check.sh').first().waitFor()
      await card('Rename the tide').getByText('6 calls').waitFor()
      await untilEqual(() => inside('edit').count(), 2)
      await card('Rename the tide').getByRole('button').first().click()
      await inside('bash').waitFor()
      await workbench.screenshot(`code-mode-approval-${name}`)
      await approvals.getByRole('button', { name: 'Allow once' }).click()
      await conversation.getByText('Both files say newTide.', { exact: true }).waitFor()
      assert.deepEqual(await texts(), ["export const name = 'newTide'\n", "export const other = 'newTide'\n"])
      await inside('bash').and(chat.locator('[data-state="ok"]')).waitFor()
      await workbench.screenshot(`code-mode-done-${name}`)

      // Each change by itself: seen in the editor, taken back, kept.
      await pressInRow(inside('edit').first(), 'Open diff')
      await page.locator('.tabs-container .tab').filter({ hasText: 'high.ts' }).waitFor()
      await workbench.screenshot(`code-mode-diff-${name}`)
      await pressInRow(inside('edit').first(), 'Undo')
      await inside('edit').first().getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
      // The file is open, so the editor saves it.
      await untilEqual(texts, ["export const name = 'oldTide'\n", "export const other = 'newTide'\n"])
      await pressInRow(inside('edit').nth(1), 'Keep')
      await inside('edit').nth(1).getByRole('button', { name: 'Keep' }).waitFor({ state: 'detached' })

      // Stopped in the middle: the command under it ends too.
      await workbench.send('Wait for the tide')
      await approvals.getByText('sh wait.sh').first().waitFor()
      await approvals.getByRole('button', { name: 'Allow once' }).click()
      await until(isSleeping, 'the command')
      await chat.getByRole('button', { name: 'Stop', exact: true }).click()
      await chat.getByRole('button', { name: 'Send' }).waitFor()
      await card('Wait for the tide to turn').and(chat.locator(':not([data-state="running"])')).waitFor()
      await until(() => !isSleeping(), 'the end of the command')
      await card('Wait for the tide to turn').getByRole('button').first().click()
      await workbench.screenshot(`code-mode-stopped-${name}`)

      await workbench.send('Read the notes')
      await conversation.getByText('There are no notes.', { exact: true }).waitFor()
      await card('Read the notes of the harbour').and(chat.locator('[data-state="failed"]')).waitFor()
      await chat.getByText(/The program failed \(exception\)/).first().waitFor()
      await workbench.screenshot(`code-mode-failed-${name}`)
      await page.setViewportSize({ width: 760, height: 900 })
      await workbench.screenshot(`code-mode-narrow-${name}`)
    }))
