import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startModelServer } from '../support/model-server.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'

const names = ['src/source.ts', ...Array.from({ length: 9 }, (_, index) => `src/user-${index + 1}.ts`)]
const before = (name: string) => (name === 'src/source.ts' ? 'export const waterLevel = 1\n' : "import { waterLevel } from './source.ts'\n\nexport const seen = waterLevel * 2\n")
const after = (name: string) => before(name).replaceAll('waterLevel', 'tideLevel')
const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] })
const textsOf = async (folder: string) => Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)))
const all = (text: (name: string) => string) => Object.fromEntries(names.map((name) => [name, text(name)]))

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; !(await isTrue()); attempt += 1) {
    assert.ok(attempt < 600, 'It never came.')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const themes = process.env['BOSUN_TEST_THEME'] === 'light' ? { theme: 'Default Light Modern', word: 'light' } : { theme: 'Default Dark Modern', word: 'dark' }

test('a rename across ten files is looked at in one diff, allowed once, made everywhere, and undone in one step', async () => {
  const server = await startModelServer({
    steps: [
      { answer: { parts: [call('lsp', { operation: 'rename', file_path: 'src/source.ts', symbol: 'waterLevel', new_name: 'tideLevel' })] } },
      { answer: { parts: [{ text: 'It is called **tideLevel** now.' }] } },
    ],
  })
  const settings = {
    'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
    'bosun.model.provider': 'loopback',
    'bosun.model.name': 'scripted',
  }
  try {
    await withWorkbench({ files: all(before), settings, theme: themes.theme }, async (workbench) => {
      const { page, chat, folder, screenshot, runCommand, openFile } = workbench
      // The service knows the project once it has been asked about it.
      await openFile('src/source.ts')
      await page.locator('.monaco-editor .view-line').filter({ hasText: 'waterLevel' }).first().waitFor()
      await runCommand('Bosun: Open Chat')
      await chat.getByRole('textbox', { name: 'Message' }).fill('Call it tideLevel')
      await chat.getByRole('button', { name: 'Send' }).click()

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
      await chat.getByText('tideLevel now').first().waitFor()
      await page.getByRole('tab', { name: /\(proposed\)/ }).waitFor({ state: 'detached' })
      assert.deepEqual(await textsOf(folder), all(after))
      const card = chat.getByRole('log', { name: 'Conversation' }).locator('[data-tool="lsp"]')
      await card.getByRole('button', { name: /Renamed waterLevel to tideLevel/ }).first().click()
      await screenshot(`lsp-card-${themes.word}`)

      await undoEverywhere(workbench)
      await until(async () => JSON.stringify(await textsOf(folder)) === JSON.stringify(all(before)))
      await screenshot(`lsp-undone-${themes.word}`)
      assert.equal(server.unused(), 0)
    })
  } finally {
    await server.close()
  }
})

/** Ctrl+Z once in one of the files takes the change back in all of them; the editor in a browser saves them by itself. */
async function undoEverywhere({ page, openFile, screenshot }: Workbench): Promise<void> {
  await openFile('src/source.ts')
  await page.locator('.monaco-editor .view-line').filter({ hasText: 'tideLevel' }).first().click()
  await page.keyboard.press('Control+z')
  await page.locator('.monaco-editor .view-line').filter({ hasText: 'waterLevel' }).first().waitFor()
  await screenshot(`lsp-undo-${themes.word}`)
}
