import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import * as vscode from 'vscode'
import { VscodePersonTerminals } from '../../extension/platform/vscode/person-terminals.ts'

describe('terminals of the person', () => {
  const theirs = new VscodePersonTerminals()
  const opened: vscode.Terminal[] = []
  after(() => {
    theirs.dispose()
    for (const one of opened) one.dispose()
  })
  const open = (options: vscode.TerminalOptions | vscode.ExtensionTerminalOptions) => {
    const terminal = vscode.window.createTerminal(options)
    opened.push(terminal)
    return terminal
  }
  const named = (name: string) => theirs.list().find((one) => one.name === name)
  const until = async (isSo: () => boolean) => {
    for (const endsAt = Date.now() + 60_000; !isSo() && Date.now() < endsAt; ) await new Promise((resolve) => setTimeout(resolve, 50))
    ok(isSo())
  }

  it('are read through shell integration, typed in, interrupted and given back alive', async function () {
    this.timeout(120_000)
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath
    const terminal = open({ name: 'mine', shellPath: '/bin/bash' })
    terminal.show(true)
    await until(() => named('mine')?.isReadable === true && named('mine')?.folder !== null)
    const facts = named('mine')
    deepEqual({ shell: facts?.shell, folder: facts?.folder }, { shell: 'bash', folder })

    let output = ''
    const prompts: (number | null)[] = []
    let commands = 0
    const process = await theirs.adopt(facts?.id ?? '', {
      onOutput: (chunk) => void (output += Buffer.from(chunk).toString()),
      onPrompt: (prompt) => void prompts.push(prompt),
      onCommand: () => void (commands += 1),
    })
    equal(process.pid, await terminal.processId)
    await process.write('cd src; sleep 0.5; echo "sum $((40+2))"\r')
    await until(() => prompts.length === 1)
    ok(output.startsWith('$ cd src; sleep 0.5; echo "sum $((40+2))"\r\n'), output)
    ok(output.includes('sum 42\r\n'), output)
    deepEqual(prompts, [0])
    await until(() => named('mine')?.folder === `${folder}/src`)

    // Of what is over in a moment the editor may pass nothing on, which is said then.
    output = ''
    await process.write('echo "quick $((40+2))"\r')
    await until(() => prompts.length === 2)
    ok(output.includes('quick 42') || output.includes('passed nothing on'), output)

    // A command of the person's is read too, and one that hangs is interrupted.
    terminal.sendText('sleep 1000')
    await until(() => commands === 3)
    equal(await process.signalForeground('SIGINT'), null)
    await until(() => prompts.length === 3)
    equal(prompts[2], 130)
    await rejects(process.signalForeground('SIGKILL'), { code: 'UNSUPPORTED_SIGNAL' })

    await process.terminate()
    deepEqual(await process.exit, { exitCode: null, signal: null, wasTerminated: true })
    equal(terminal.exitStatus, undefined)
    const before = output
    terminal.sendText('echo unseen')
    await process.write('echo unseen\r')
    terminal.dispose()
    await until(() => named('mine') === undefined)
    equal(output, before)
    await rejects(theirs.adopt(facts?.id ?? '', { onOutput: () => {}, onPrompt: () => {}, onCommand: () => {} }), { code: 'ENDED' })
  })
  it('are not those that extensions draw', () => {
    const written = new vscode.EventEmitter<string>()
    open({ name: 'drawn', pty: { onDidWrite: written.event, open() {}, close() {} } })
    equal(named('drawn'), undefined)
  })
})
