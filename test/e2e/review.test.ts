import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { withModelWindow } from '../support/model-window.ts'
import { clickLine, until, untilEqual, type Workbench } from '../support/workbench.ts'

const ten = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n'
const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] })

/** A turn that changes two places of one file and one of another, and makes a third. */
function withTurn(body: (workbench: Workbench) => Promise<void>): Promise<void> {
  const parts = [
    call('read', { file_path: 'a.txt' }),
    call('read', { file_path: 'src/b.txt' }),
    call('edit', { file_path: 'a.txt', old_string: 'two', new_string: 'TWO by the agent' }),
    call('edit', { file_path: 'a.txt', old_string: 'nine', new_string: 'NINE by the agent' }),
    call('edit', { file_path: 'src/b.txt', old_string: 'five', new_string: 'FIVE by the agent\nand one more' }),
    call('write', { file_path: 'src/new.txt', content: 'new by the agent\n' }),
    { text: 'All files are changed.' },
  ]
  const steps = parts.map((part) => ({ answer: { parts: [part] } }))
  const settings = { 'bosun.permissions.defaultPreset': 'danger-full-access', 'bosun.titles.enabled': false }
  return withModelWindow({ steps }, { isEmpty: true, files: { 'a.txt': ten, 'src/b.txt': ten }, settings }, async (workbench) => {
    await workbench.runCommand('Bosun: Open Chat')
    await workbench.send('Change them all')
    await workbench.conversation.getByText('All files are changed.', { exact: true }).waitFor()
    await body(workbench)
  })
}

const text = ({ folder }: Workbench, path: string) => readFile(join(folder, path), 'utf8').catch(() => null)

test('the person keeps one change, takes another back, types, and undoes the turn: their words stay', () =>
  withTurn(async (workbench) => {
    const { page, chat } = workbench
    await chat.getByRole('button', { name: 'Undo turn' }).waitFor()
    await workbench.screenshot('review-chat')

    // No tab was opened by the agent.
    assert.equal(await page.locator('.tabs-container .tab').count(), 0)

    await workbench.runCommand('Bosun: Focus on Changes View')
    const tree = page.getByRole('tree', { name: /Changes/ })
    await untilEqual(async () => (await tree.getByRole('treeitem').allInnerTexts()).map((line) => line.replace(/\s+/g, ' ').trim()), ['a.txt+2 −2', 'b.txtsrc +2 −1', 'new.txtsrc new +1'])
    await workbench.screenshot('review-tree')

    await workbench.openFile('a.txt')
    const lens = (name: string) => page.locator('.codelens-decoration a').filter({ hasText: name })
    await lens('Keep').nth(1).waitFor()
    await page.locator('.dirty-diff-glyph').first().waitFor()
    await workbench.screenshot('review-editor')

    // Keep the first region, take the second back.
    await lens('Keep').first().click()
    await untilEqual(() => lens('Keep').count(), 1)
    await lens('Undo').first().click()
    await untilEqual(() => text(workbench, 'a.txt'), ten.replace('two', 'TWO by the agent'))
    await untilEqual(() => lens('Keep').count(), 0)

    // The undo of a region is one stop of the editor's own undo.
    await clickLine(page.locator('.monaco-editor .view-line').filter({ hasText: 'ten' }).first())
    await page.keyboard.press('ControlOrMeta+Z')
    await page.locator('.monaco-editor .view-line').filter({ hasText: 'NINE by the agent' }).first().waitFor()
    await page.keyboard.press('ControlOrMeta+Shift+Z')
    await page.locator('.monaco-editor .view-line').filter({ hasText: 'NINE by the agent' }).first().waitFor({ state: 'detached' })

    // The person's own line, unsaved, in a file that waits.
    await workbench.openFile('src/b.txt')
    await lens('Keep').first().waitFor()
    await clickLine(page.locator('.monaco-editor .view-line').filter({ hasText: /^ten$/ }).first())
    await page.keyboard.press('End')
    await page.keyboard.type('\nmine')
    await page.locator('.monaco-editor .view-line').filter({ hasText: /^mine$/ }).first().waitFor()

    await chat.getByRole('button', { name: 'Undo turn' }).click()
    await chat.getByText('Undone', { exact: true }).waitFor()
    await page.locator('.monaco-editor .view-line').filter({ hasText: /^five$/ }).first().waitFor()
    await untilEqual(() => page.locator('.monaco-editor .view-line').filter({ hasText: /^mine$/ }).count(), 1)
    await untilEqual(() => Promise.all([text(workbench, 'a.txt'), text(workbench, 'src/new.txt')]), [ten.replace('two', 'TWO by the agent'), null])
    await tree.getByText('b.txt').waitFor({ state: 'detached' })
    await untilEqual(() => page.locator('.codelens-decoration').filter({ hasText: 'Keep' }).count(), 0)
    await untilEqual(() => page.locator('.dirty-diff-glyph').count(), 0)
    await workbench.screenshot('review-undone')
  }))

test('what waits is the same after the window is loaded again', () =>
  withTurn(async (workbench) => {
    const { page, chat } = workbench
    await chat.getByRole('button', { name: 'Undo turn' }).waitFor()
    await workbench.reload()
    await chat.getByRole('button', { name: 'Undo turn' }).waitFor()
    await workbench.runCommand('Bosun: Review Changes')
    await page.getByRole('tab', { name: 'Changes to review' }).waitFor()
    await page.locator('.multiDiffEntry').nth(2).waitFor()
    await workbench.screenshot('review-multi-diff')
    await chat.getByRole('button', { name: 'Undo turn' }).click()
    await untilEqual(() => Promise.all(['a.txt', 'src/b.txt', 'src/new.txt'].map((path) => text(workbench, path))), [ten, ten, null])
  }))

test('the peek of the gutter keeps and undoes, Source Control lists the files, and a conflict is merged in the editor’s own way', () =>
  withTurn(async (workbench) => {
    const { page, chat } = workbench
    await workbench.openFile('a.txt')
    await page.locator('.dirty-diff-glyph').first().waitFor()
    const peek = page.locator('.peekview-widget')
    /** The key does nothing while the editor compares the file once more. */
    const look = (line: RegExp) =>
      until(async () => {
        await clickLine(page.locator('.monaco-editor .view-line').filter({ hasText: line }).first())
        await page.keyboard.press('Alt+F3')
        return peek.locator('.peekview-title').filter({ hasText: 'Bosun: Changes to Review' }).waitFor({ timeout: 20_000 }).then(() => true, () => false)
      }, 'the peek')
    await look(/^three$/)
    await untilEqual(async () => (await peek.locator('.actions-container .action-label').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).slice(0, 2), ['Keep Change', 'Undo Change'])
    await workbench.screenshot('review-peek')
    await peek.locator('.action-label[aria-label="Undo Change"]').click()
    await untilEqual(() => text(workbench, 'a.txt'), ten.replace('two', 'TWO by the agent'))
    await page.keyboard.press('Escape')
    await look(/^ten$/)
    await peek.locator('.action-label[aria-label="Keep Change"]').click()
    await untilEqual(() => page.locator('.codelens-decoration').filter({ hasText: 'Keep' }).count(), 0)
    await page.keyboard.press('Escape')

    await page.keyboard.press('Control+Shift+G')
    const control = page.getByRole('tree', { name: 'Source Control Management' })
    await control.getByText('b.txt').waitFor()
    await control.getByText('new.txt').waitFor()
    await control.getByText('a.txt').waitFor({ state: 'detached' })
    await workbench.screenshot('review-source-control')

    await workbench.openFile('src/b.txt')
    await clickLine(page.locator('.monaco-editor .view-line').filter({ hasText: 'FIVE by the agent' }).first())
    await page.keyboard.press('End')
    await page.keyboard.type(' and mine')
    await page.locator('.monaco-editor .view-line').filter({ hasText: 'FIVE by the agent and mine' }).first().waitFor()
    await chat.getByRole('button', { name: 'Undo turn' }).click()
    await chat.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('tab', { name: 'Merging: b.txt' }).waitFor()
    await page.getByText('Accept Text without Bosun').first().waitFor()
    await workbench.screenshot('review-merge')
    await page.getByText('Accept Text without Bosun').first().click()
    // In the file too.
    await page.locator('.view-line').filter({ hasText: /^five$/ }).nth(1).waitFor()
    await untilEqual(() => text(workbench, 'src/new.txt'), null)
  }))
