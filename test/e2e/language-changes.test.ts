import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { withModelWindow } from '../support/model-window.ts'
import { clickLine, untilEqual, type Workbench } from '../support/workbench.ts'

const names = ['src/source.ts', ...Array.from({ length: 9 }, (_, index) => `src/user-${index + 1}.ts`)]
const before = (name: string) => (name === 'src/source.ts' ? 'export const waterLevel = 1\n' : "import { waterLevel } from './source.ts'\n\nexport const seen = waterLevel * 2\n")
const after = (name: string) => before(name).replaceAll('waterLevel', 'tideLevel')
const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] })
const textsOf = async (folder: string) => Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)))
const all = (text: (name: string) => string) => Object.fromEntries(names.map((name) => [name, text(name)]))

const themes = process.env['BOSUN_TEST_THEME'] === 'light' ? { theme: 'Default Light Modern', word: 'light' } : { theme: 'Default Dark Modern', word: 'dark' }

test('a rename across ten files is looked at in one diff, allowed once, made everywhere, and undone in one step', () =>
  withModelWindow(
    {
      steps: [
        { answer: { parts: [call('lsp', { operation: 'rename', file_path: 'src/source.ts', symbol: 'waterLevel', new_name: 'tideLevel' })] } },
        { answer: { parts: [{ text: 'It is called **tideLevel** now.' }] } },
      ],
    },
    { files: all(before), theme: themes.theme },
    async (workbench, server) => {
      const { page, chat, conversation, folder, screenshot, runCommand, openFile } = workbench
      // The service knows the project once it has been asked about it.
      await openFile('src/source.ts')
      await page.locator('.monaco-editor .view-line').filter({ hasText: 'waterLevel' }).first().waitFor()
      await runCommand('Bosun: Open Chat')
      await workbench.send('Call it tideLevel')

      const approvals = chat.getByRole('region', { name: 'Approvals' })
      await approvals.getByText('in 10 files').waitFor()
      for (const name of names) await approvals.getByText(name, { exact: true }).waitFor()
      assert.deepEqual(await textsOf(folder), all(before))
      await screenshot(`lsp-approval-${themes.word}`)

      await approvals.getByRole('button', { name: 'Review' }).click()
      await page.getByRole('tab', { name: /waterLevel → tideLevel in 10 files \(proposed\)/ }).waitFor()
      await page.locator('.multiDiffEntry').filter({ hasText: 'source.ts' }).first().waitFor()
      await page.locator('.multiDiffEntry .view-line').filter({ hasText: 'tideLevel' }).first().waitFor()
      await screenshot(`lsp-multi-diff-${themes.word}`)

      await approvals.getByRole('button', { name: 'Allow once' }).click()
      await conversation.getByText('tideLevel now').first().waitFor()
      await page.getByRole('tab', { name: /\(proposed\)/ }).waitFor({ state: 'detached' })
      await untilEqual(() => textsOf(folder), all(after))
      const card = conversation.locator('[data-tool="lsp"]')
      await card.getByRole('button', { name: /Renamed waterLevel to tideLevel/ }).first().click()
      await screenshot(`lsp-card-${themes.word}`)

      await undoEverywhere(workbench)
      await untilEqual(() => textsOf(folder), all(before))
      await screenshot(`lsp-undone-${themes.word}`)
      assert.equal(server.unused(), 0)
    },
  ))

/** Ctrl+Z once in one of the files takes the change back in all of them; the editor in a browser saves them by itself. */
async function undoEverywhere({ page, openFile, screenshot }: Workbench): Promise<void> {
  await openFile('src/source.ts')
  await clickLine(page.locator('.monaco-editor .view-line').filter({ hasText: 'tideLevel' }).first())
  await page.keyboard.press('Control+z')
  await page.locator('.monaco-editor .view-line').filter({ hasText: 'waterLevel' }).first().waitFor()
  await screenshot(`lsp-undo-${themes.word}`)
}
