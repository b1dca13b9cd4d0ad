import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { withWorkbench } from '../support/workbench.ts'

test('the window opens a file of the workspace, and survives a reload and the death of its server', () =>
  withWorkbench({ files: { 'notes/today.txt': 'ebb at noon' } }, async (workbench) => {
    await workbench.openFile('notes/today.txt')
    const text = workbench.page.locator('.monaco-editor .view-line').filter({ hasText: 'ebb at noon' })
    await text.waitFor()
    await workbench.screenshot('window')

    await workbench.reload()
    await text.waitFor()

    const killed = workbench.server().pid
    await workbench.kill()
    await workbench.restart()
    await text.waitFor()
    assert.notEqual(workbench.server().pid, killed)
  }))

test('a folder nobody has trusted opens in Restricted Mode', () =>
  withWorkbench({ withWorkspaceTrust: true, isEmpty: true, files: { 'a.txt': 'a' } }, async ({ page }) => {
    await page.getByRole('button', { name: /^Restricted Mode/ }).waitFor()
  }))

test('a page of Bosun that stands open is drawn again after a reload, from what the folder holds then', () =>
  withWorkbench({ files: { '.claude/settings.json': '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo first"}]}]}}' } }, async (workbench) => {
    const { page, folder, preview } = workbench
    // The editor's own preview of Markdown shows it.
    const line = (text: string) => preview.getByText(text).first()
    await workbench.runCommand('Bosun: Review Hooks…')
    // Nothing is let run: the page is what counts.
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await line('echo first').waitFor()
    await writeFile(join(folder, '.claude/settings.json'), '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo second"}]}]}}')
    await workbench.reload()
    await line('echo second').waitFor()
  }))
