import { deepEqual, equal } from 'node:assert/strict'
import { homedir } from 'node:os'
import * as vscode from 'vscode'
import { createVscodeTerminalSettings } from '../../extension/platform/vscode/terminal-settings.ts'

describe('what the person set for terminals', () => {
  if (process.platform !== 'linux') return
  const settings = createVscodeTerminalSettings()
  const set = (name: string, value: unknown, target = vscode.ConfigurationTarget.Global) => vscode.workspace.getConfiguration('terminal.integrated').update(name, value, target)
  after(async () => {
    for (const name of ['env.linux', 'profiles.linux']) {
      await set(name, undefined)
      await set(name, undefined, vscode.ConfigurationTarget.Workspace)
    }
  })

  it('gives the environment with variables replaced, and nothing that a workspace sets', async () => {
    await set('env.linux', { A: '${userHome}/x', B: null, C: '${command:x}', D: 3 })
    await set('env.linux', { A: 'of the workspace', E: 'too' }, vscode.ConfigurationTarget.Workspace)
    deepEqual(settings.environment(), { A: `${homedir()}/x`, B: null })
  })
  it('gives the profiles whose program is there, the editor’s own too', async () => {
    await set('profiles.linux', { Mine: { path: ['/no/such/shell', 'sh'], args: ['-i'], env: { X: 'y' } }, Gone: { path: '/no/such/shell' }, bash: null })
    await set('profiles.linux', { Theirs: { path: '/bin/sh' } }, vscode.ConfigurationTarget.Workspace)
    const found = settings.profiles()
    const mine = found.find(({ name }) => name === 'Mine')
    equal(mine?.command.endsWith('/sh'), true)
    deepEqual([mine?.args, mine?.environment], [['-i'], { X: 'y' }])
    deepEqual(found.filter(({ name }) => ['Gone', 'Theirs', 'bash'].includes(name)), [])
  })
})
