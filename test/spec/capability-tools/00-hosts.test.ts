import { describe, expect, it } from 'vitest'
import { wholeApplication } from '../../support/whole-application.ts'

describe('tools that start programs', () => {
  const virtual = { name: 'web', path: 'vscode-vfs://github/a/web' }
  const offered = async (preset: string, folders: (disk: string) => readonly { readonly name: string; readonly path: string }[]) => {
    const listeners = new Set<() => void>()
    let disk = ''
    let there = folders
    const application = await wholeApplication({
      alter(world) {
        disk = world.workspace.folders()[0]?.path ?? ''
        const onDidChangeFolders = (listener: () => void) => {
          listeners.add(listener)
          return () => void listeners.delete(listener)
        }
        return { ...world, workspace: { ...world.workspace, folders: () => there(disk), onDidChangeFolders } }
      },
    })
    const agent = await application.ctx.agents.create({ cwd: there(disk)[0]?.path ?? disk, preset })
    const names = () => application.ctx.tools.schemas(agent.scope).map(({ name }) => name).filter((name) => /^(?:bash|pwsh|terminal_open|job_list|read|str_replace_editor)$/.test(name)).toSorted()
    const first = names()
    there = (path) => [virtual, { name: 'disk', path }]
    for (const listener of [...listeners]) listener()
    const later = names()
    await agent.dispose()
    await application.dispose()
    return { first, later }
  }
  const all = ['bash', 'job_list', 'read', 'terminal_open']

  it('are not offered in a virtual folder, and come with a folder on the disk', async () => expect(await offered('editor', () => [virtual])).toEqual({ first: ['read'], later: all }))
  it('are there where one folder is on the disk', async () => expect((await offered('editor', (path) => [{ name: 'disk', path }, virtual])).first).toEqual(all))
  it('are there without a folder', async () => expect((await offered('editor', () => [])).first).toEqual(all))
  it('the shell that stays is no exception', async () => expect(await offered('minimal', () => [virtual])).toEqual({ first: ['str_replace_editor'], later: ['bash', 'str_replace_editor'] }))
})
