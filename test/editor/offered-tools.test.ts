import { equal, match, ok, rejects } from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as vscode from 'vscode'

const SETTING = 'bosun.editorChat.offerTools'
const offer = async (value: string | undefined) => await vscode.workspace.getConfiguration().update(SETTING, value, vscode.ConfigurationTarget.Global)
const listed = () => vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith('bosun_')).toSorted()

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const endsAt = Date.now() + 50_000; !(await isSo()); ) {
    if (Date.now() > endsAt) throw new Error(`Not so after 50 s: ${what}; listed: ${listed().join(' ')}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const call = async (name: string, input: object, token?: vscode.CancellationToken) => await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token)
const textOf = ({ content }: vscode.LanguageModelToolResult) => content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('')

/** All that stands in the logs of sessions, by line. */
async function logged(): Promise<readonly string[]> {
  const data = join(dirname(process.env['HOME'] ?? ''), 'data')
  const files = (await readdir(data, { recursive: true })).filter((path) => path.includes('bosun.bosun') && path.endsWith('events.jsonl'))
  return (await Promise.all(files.map((path) => readFile(join(data, path), 'utf8')))).flatMap((text) => text.split('\n'))
}
const isLogged = async (type: string, words: string) => (await logged()).some((line) => line.includes(`"type":"${type}"`) && line.includes(words))

describe('Bosun’s tools in the editor’s list', () => {
  const file = () => vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'src/tides.ts').fsPath
  const canRead = async () => await call('bosun_read', { file_path: file() }).then(() => true, () => false)
  after(() => offer(undefined))

  it('cannot be called before the setting offers them', async () => {
    equal(await canRead(), false)
  })
  it('can be called once it does, through the whole pipeline, and stand in the log', async () => {
    await offer('read')
    await until(canRead, 'bosun_read can be called')
    const info = vscode.lm.tools.find(({ name }) => name === 'bosun_read')
    match(info?.description ?? '', /file/i)
    ok(info?.tags.includes('bosun'))
    match(textOf(await call('bosun_read', { file_path: file() })), /highestTide/)
    await until(() => isLogged('tool/call', '"name":"read"'), 'the call is in the log')
    ok(await isLogged('tool/result', 'highestTide'))
  })
  it('fail with the reason', async () => {
    await rejects(call('bosun_read', { file_path: join(dirname(file()), 'none.ts') }), /none\.ts/)
  })
  it('are no more than those that read and search', async () => {
    await rejects(call('bosun_bash', { command: 'echo ran-anyway', description: 'Say it' }))
    equal(await isLogged('tool/call', 'ran-anyway'), false)
  })
  // Under the test driver the editor's own dialog says yes by itself; that it is asked at all, and that a call without a yes is none, the tests of the calls show.
  it('that change something are asked for once, by the editor, and its yes is the answer that the log keeps', async () => {
    await offer('all')
    await until(async () => await call('bosun_job_list', {}).then(() => true, () => false), 'bosun_job_list can be called')
    match(textOf(await call('bosun_bash', { command: 'node -e "console.log(6 * 7)"', description: 'Say it' })), /42/)
    await until(() => isLogged('approval/decided', 'allowed-once'), 'the yes is in the log')
    ok(await isLogged('approval/asked', '"toolName":"bash"'))
  })
  it('are gone when the setting offers them no more', async () => {
    await offer('none')
    await until(async () => !(await canRead()), 'bosun_read cannot be called')
  })
})
