import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { withModelWindow } from '../support/model-window.ts'
import { untilEqual, type Workbench, type WorkbenchOptions } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

const ten = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n'
const call = (name: string, args: object) => ({ answer: { parts: [{ toolCalls: [{ name, arguments: args }] }] } })
const says = (text: string) => ({ answer: { parts: [{ text }] } })
const text = ({ folder }: Workbench, path: string) => readFile(join(folder, path), 'utf8').catch(() => null)

/** An agent that started another one in a worktree, which changed two files and made one. */
async function withChild(options: Pick<WorkbenchOptions, 'theme'>, body: (workbench: Workbench) => Promise<void>) {
  const steps = [
    call('subagent', { description: 'Write it in capitals', prompt: 'Do it.', run_in_background: false, isolation: 'worktree' }),
    call('read', { file_path: 'a.txt' }),
    call('edit', { file_path: 'a.txt', old_string: 'two', new_string: 'TWO by the agent' }),
    call('edit', { file_path: 'a.txt', old_string: 'nine', new_string: 'NINE by the agent' }),
    call('read', { file_path: 'src/b.txt' }),
    call('edit', { file_path: 'src/b.txt', old_string: 'five', new_string: 'FIVE by the agent' }),
    call('write', { file_path: 'src/new.txt', content: 'new by the agent\n' }),
    says('It is in capitals.'),
    says('The agent is done.'),
  ]
  const settings = { 'bosun.permissions.defaultPreset': 'danger-full-access', 'bosun.titles.enabled': false }
  await withModelWindow({ steps }, { ...options, isEmpty: true, files: { 'a.txt': ten, 'src/b.txt': ten }, settings }, async (workbench) => {
    const git = (...args: readonly string[]) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: workbench.folder, stdio: 'pipe' })
    git('init', '-q')
    git('add', '-A')
    git('commit', '-q', '-m', 'first')
    await workbench.runCommand('Bosun: Open Chat')
    await workbench.send('Let an agent do it')
    await workbench.conversation.getByText('The agent is done.', { exact: true }).waitFor()
    await body(workbench)
  })
}

const actions = (workbench: Workbench) => workbench.quickInput('Work of “Write it in capitals”')

for (const { name, theme } of windowThemes) {
  test(`the person sees what a child made in its worktree and takes it over (${name})`, () =>
    withChild({ theme }, async (workbench) => {
      const { chat, page } = workbench
      assert.equal(await text(workbench, 'a.txt'), ten)
      await chat.getByText('changed 3 files in a worktree of its own').first().waitFor()
      await workbench.screenshot(`child-work-notice-${name}`)
      await chat.getByRole('button', { name: 'Review', exact: true }).click()
      await actions(workbench).row('Accept All').waitFor()
      await page.locator('.multiDiffEditor, .multi-diff-root-floating-menu, .multiDiffEntry').first().waitFor()
      await page.getByText('TWO by the agent').first().waitFor()
      await workbench.screenshot(`child-work-review-${name}`)
      await actions(workbench).pick('Accept All')
      await chat.getByText('taken over. The review can take it back.').first().waitFor()
      await untilEqual(() => Promise.all([text(workbench, 'a.txt'), text(workbench, 'src/new.txt')]), [ten.replace('two', 'TWO by the agent').replace('nine', 'NINE by the agent'), 'new by the agent\n'])
      await workbench.screenshot(`child-work-taken-${name}`)
    }))
}

test('the person takes over one change of a file, then discards the rest', () =>
  withChild({}, async (workbench) => {
    const { page } = workbench
    await workbench.runCommand('Bosun: Review Child’s Work…')
    await actions(workbench).pick('Choose Changes of a File…')
    const regions = workbench.quickInput('Which changes of a.txt?')
    await regions.row('TWO by the agent').waitFor()
    await workbench.screenshot('child-work-regions')
    await regions.row('TWO by the agent').click()
    await page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click()
    await workbench.chat.getByText('taken over. The review can take it back.').first().waitFor()
    await untilEqual(() => text(workbench, 'a.txt'), ten.replace('nine', 'NINE by the agent'))
    await workbench.runCommand('Bosun: Review Child’s Work…')
    await actions(workbench).pick('Discard…')
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await workbench.chat.locator('.notice-text', { hasText: 'in a worktree of its own' }).waitFor({ state: 'detached' })
    await untilEqual(() => execFileSync('git', ['branch', '--list', 'bosun/*'], { cwd: workbench.folder }).toString(), '')
    assert.equal(await text(workbench, 'src/new.txt'), null)
  }))
