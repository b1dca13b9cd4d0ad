import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { askForServer, commandWords } from '../../../extension/host/mcp-adding.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'

interface Asked {
  readonly value?: string
  readonly title?: string
  readonly check?: (typed: string) => string | null
  readonly items?: readonly { readonly id: string; readonly label: string }[]
}

async function ask(answers: readonly (string | null)[], { folders = ['/w'], isTrusted = true, taken = ['old'] } = {}) {
  const editor = createFakeEditor()
  editor.answers.push(...answers)
  const server = await askForServer({ editor, l10n: { t: fillIn }, workspace: { folders: () => folders.map((path) => ({ name: path.slice(1), path })), isTrusted: () => isTrusted }, taken })
  return { server, asked: editor.shown.map(({ value }) => value as Asked) }
}

describe('adding an MCP server', () => {
  it('asks for a command, a name and a place', async () => {
    const { server, asked } = await ask(['program', 'npx -y @me/files-server@1.2 "/my docs"', 'files', '/w'])
    expect(server).toEqual({ name: 'files', entry: { command: 'npx', args: ['-y', '@me/files-server@1.2', '/my docs'] }, folder: '/w' })
    expect([asked[2]?.value, asked[3]?.title, asked[3]?.items?.map(({ label }) => label)]).toEqual(['files-server', 'Where is “files” kept?', ['Your settings', '.bosun/mcp.json']])
  })
  it('asks for an address', async () => {
    const { server, asked } = await ask(['address', ' https://docs.example.com/mcp ', 'docs', 'settings'])
    expect([server, asked[2]?.value]).toEqual([{ name: 'docs', entry: { url: 'https://docs.example.com/mcp' }, folder: null }, 'docs-example'])
  })
  it.each([
    ['without a folder', { folders: [] }],
    ['in a folder that is not trusted', { isTrusted: false }],
    ['in a folder that is not on the disk', { folders: ['memfs://x/w'] }],
  ])('%s keeps it in the settings', async (_name, options) => {
    const { server, asked } = await ask(['program', 'old', 'mine'], options)
    expect([server?.folder, asked.length, asked[2]?.value]).toEqual([null, 3, 'old-2'])
  })
  it('names each of several folders', async () => {
    const { asked } = await ask(['program', 'x', 'x', null], { folders: ['/web', '/api'] })
    expect(asked[3]?.items?.map(({ label }) => label)).toEqual(['Your settings', 'web/.bosun/mcp.json', 'api/.bosun/mcp.json'])
  })
  it.each([[[]], [['program']], [['program', 'x']], [['program', 'x', 'x']], [['address', 'no address']], [['program', '"x']]])('ends where the person backs out, or gives what cannot be: %j', async (answers) =>
    expect((await ask(answers)).server).toBeNull())
  it('says what is wrong with what is typed while it is typed', async () => {
    const program = await ask(['program', 'x', null])
    const address = await ask(['address', null])
    expect(['', 'a "b', 'a b'].map((typed) => program.asked[1]!.check!(typed))).toEqual(['Write a command; close each quote.', 'Write a command; close each quote.', null])
    expect(['example.com', 'file:///x', 'http://localhost:3000'].map((typed) => address.asked[1]!.check!(typed))).toEqual([expect.stringMatching(/^Write an address/), expect.stringMatching(/^Write an address/), null])
    expect(['', 'a b', 'old', 'new', 'a__b'].map((typed) => program.asked[2]!.check!(typed))).toEqual(['A name has 1 to 32 letters, digits, - and _.', 'A name has 1 to 32 letters, digits, - and _.', 'There is a server of this name already.', null, null])
  })
})

describe('a command line', () => {
  it.each([
    ['node  server.js', ['node', 'server.js']],
    [' "C:\\Program Files\\x.exe" --a="b c" ', ['C:\\Program Files\\x.exe', '--a=b c']],
    [`'it is "so"' "say \\"hi\\"" ""`, ['it is "so"', 'say "hi"', '']],
    ['', null],
    ['""', null],
    ["a 'b", null],
  ])('%j is %j', (line, words) => expect(commandWords(line)).toEqual(words))
})
