import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { pressInRow, until, withWorkbench } from '../support/workbench.ts'

/** A development server with a worker of its own, as such servers have. */
const devServer = `
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
const worker = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
const server = createServer((_request, response) => response.end('The tide is 342 cm high.'))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address()
  writeFileSync('running.json', JSON.stringify({ port, pids: [process.pid, worker.pid] }))
  console.log('\\n  \\u001b[1m\\u001b[32mTIDES\\u001b[0m  \\u001b[2mready in\\u001b[0m 312 ms\\n')
  console.log('  \\u001b[32m➜\\u001b[0m  \\u001b[1mLocal:\\u001b[0m   \\u001b[36mhttp://localhost:' + port + '/\\u001b[0m')
  console.log('  \\u001b[2m\\u001b[32m➜\\u001b[0m  \\u001b[2mpress h + enter to show help\\u001b[0m')
})
`

const script: ModelScript = {
  steps: [
    {
      when: /Start the server/,
      answer: { parts: [{ toolCalls: [{ name: 'bash', arguments: { command: 'node dev-server.mjs', description: 'Start the development server', run_in_background: true } }] }] },
    },
    { when: /Started background job/, answer: { parts: [{ text: 'The server is starting.' }] } },
    // What becomes of the job is told in turns of their own.
    { answer: { parts: [{ text: 'I see.' }] }, repeat: true },
  ],
}
const settings = {
  'bosun.titles.enabled': false,
  // So that its text stands in the page.
  'terminal.integrated.gpuAcceleration': 'off',
  'bosun.permissions.defaultPreset': 'danger-full-access',
}

async function untilWritten(path: string): Promise<{ readonly port: number; readonly pids: readonly number[] }> {
  // What is not there yet, or not whole, is no JSON.
  const read = async () => JSON.parse(await readFile(path, 'utf8')) as { readonly port: number; readonly pids: readonly number[] }
  await until(() => read().then(() => true, () => false), path)
  return await read()
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a server that the model starts in the background is seen among the jobs, its port is offered, and killing it ends all of it', () =>
  withModelWindow(script, { files: { 'dev-server.mjs': devServer }, settings }, async (workbench) => {
    const { page, chat, conversation } = workbench
    await workbench.runCommand('Bosun: Open Chat')
    await workbench.send('Start the server')
    await conversation.getByText('The server is starting.').waitFor()
    const { port, pids } = await untilWritten(join(workbench.folder, 'running.json'))
    assert.deepEqual(pids.map(isAlive), [true, true])
    const address = `http://localhost:${port}/`
    assert.equal(await (await fetch(address)).text(), 'The tide is 342 cm high.')

    // In the chat: the line of its call says that it runs, and where.
    const card = conversation.locator('[data-tool="bash"]')
    await card.getByText('running').waitFor()
    await card.getByRole('button', { name: `Open ${address} in the browser` }).waitFor()
    assert.equal(await workbench.notification('listens at').count(), 0)

    // In the tree, which is folded until somebody opens it.
    await page.locator('.pane-header', { hasText: 'Jobs' }).click()
    const row = page.getByRole('treeitem', { name: /node dev-server\.mjs/ })
    await row.waitFor()
    const portRow = page.getByRole('treeitem', { name: `localhost:${port}, open in the browser` })
    await portRow.waitFor()
    await page.getByRole('treeitem', { name: /Local:/ }).waitFor()
    await workbench.screenshot('jobs-tree')

    // Its output, as a terminal shows it.
    await row.click()
    const terminal = page.locator('.terminal-wrapper.active .xterm-rows')
    await terminal.getByText('ready in').first().waitFor()
    await workbench.screenshot('jobs-output')

    // Its port in the browser: a page of its own.
    const opened = page.context().waitForEvent('page')
    await portRow.click()
    await (await opened).close()

    await pressInRow(row, 'Kill')
    await page.getByRole('treeitem', { name: /node dev-server\.mjs.*killed/ }).waitFor()
    await until(() => !pids.some(isAlive), 'the end of the job')
    await terminal.getByText('The job has ended').waitFor()
    await card.getByText(/^killed/).waitFor()
    await card.getByRole('button', { name: `Open ${address} in the browser` }).waitFor({ state: 'detached' })
    await workbench.screenshot('jobs-killed')
    assert.equal(await chat.getByRole('alert').count(), 0)
  }))

test('in a folder that is not trusted the tree says why there are no jobs', () =>
  withWorkbench({ withWorkspaceTrust: true }, async (workbench) => {
    const { page } = workbench
    await workbench.runCommand('Bosun: Open Chat')
    await page.locator('.pane-header', { hasText: 'Jobs' }).click()
    await page.getByText('This folder is not trusted, so Bosun runs no commands in it, and no jobs.').waitFor()
    await page.getByRole('button', { name: 'Manage Workspace Trust' }).waitFor()
    await workbench.screenshot('jobs-untrusted')
  }))
