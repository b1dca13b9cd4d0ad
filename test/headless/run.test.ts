import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { WireApi } from '../../extension/core/model/provider-config.ts'
import { parseHooks } from '../../extension/features/hooks/parse-hooks.ts'
import { headlessBundle } from '../support/build-headless.ts'
import { createFolders, runHeadless } from '../support/headless.ts'
import { logsIn, readLog } from '../support/stored-logs.ts'
import type { ModelScript, ScriptToolCall } from '../support/model-script.ts'
import { failures } from '../support/model-script.ts'
import { sharedPrefixLength, startModelServer } from '../support/model-server.ts'
import { ownSeconds, programsWith } from '../support/programs-with.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const ORIGINAL = 'export const greeting = "hello"\nexport const answer = 41\n'
const CHANGED = 'export const greeting = "hello"\nexport const answer = 42\n'

const call = (name: string, args: unknown): { readonly toolCalls: readonly ScriptToolCall[] } => ({ toolCalls: [{ name, arguments: args }] })

/** grep, read, edit, bash in one turn. */
const script: ModelScript = {
  steps: [
    { answer: { parts: [{ reasoning: 'Where is it?' }, call('grep', { pattern: 'answer' })] } },
    { answer: { parts: [{ text: 'Found it.' }, call('read', { file_path: 'src/a.ts' })] } },
    { answer: { parts: [call('edit', { file_path: 'src/a.ts', old_string: 'answer = 41', new_string: 'answer = 42' })] } },
    { answer: { parts: [call('bash', { command: 'tail -n 1 src/a.ts', description: 'Show the last line' })] } },
    { answer: { parts: [{ text: 'The answer is 42 now.' }] } },
  ],
}

async function setUp(played: ModelScript = script, api?: WireApi) {
  const { paths, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  mkdirSync(join(work, 'src'), { recursive: true })
  writeFileSync(join(work, 'src/a.ts'), ORIGINAL)
  const server = await startModelServer(played, { ...(api && { api }) })
  cleanUps.push(remove, () => server.close())
  const run = (...more: string[]) =>
    runHeadless(['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, ...more])
  return { work, store, server, run, file: join(work, 'src/a.ts') }
}

/** Types without what streams, in order. */
const typesOf = (lines: readonly Record<string, unknown>[]) =>
  lines.map((line) => String(line['type'])).filter((type) => !['assistant/chunk', 'agent/inbox/spliced', 'fs/observed', 'session/title'].includes(type))
const isFailed = (data: Record<string, unknown>) => (data['message'] as { content: [{ isError: boolean }] }).content[0].isError
const dataOf = (lines: readonly Record<string, unknown>[], type: string) =>
  lines.filter((line) => line['type'] === type).map((line) => line['data'] as Record<string, unknown>)

const reasonOf = (lines: readonly Record<string, unknown>[]) => (dataOf(lines, 'turn/end')[0]?.['reason'] ?? {}) as Record<string, unknown>
const retryCodeOf = (lines: readonly Record<string, unknown>[]) => ((dataOf(lines, 'llm/retry')[0]?.['failure'] ?? {}) as { code?: string }).code

describe('run', () => {
  it('is one turn: a goal that it sets begins no round, and stderr says that it stands disarmed', async () => {
    const { run, server } = await setUp({ steps: [{ answer: { parts: [call('create_goal', { objective: 'Make it green', max_goal_rounds: 5 })] } }, { answer: { parts: [{ text: 'I will.' }] } }] })
    const { code, lines, stderr } = await run('--prompt', 'Pursue it until it is green')
    expect([code, dataOf(lines, 'goal/change').map((data) => data['operation']), dataOf(lines, 'turn/start').length, server.chats().length], stderr).toEqual([0, ['create'], 1, 2])
    expect(stderr).toMatch(/The goal stands disarmed at round 0 of 5: a run is one turn/)
  })
  it('/goal in the place of a prompt sets one, and ends', async () => {
    const { run, server } = await setUp()
    const { code, lines, stderr } = await run('--prompt', '/goal Make it green')
    expect([code, dataOf(lines, 'goal/change').map((data) => data['operation']), server.chats().length], stderr).toEqual([0, ['create'], 0])
    expect(stderr).toMatch(/stands disarmed/)
  })

  it('refuses what only an editor knows, and begins no turn', async () => {
    const { run, server } = await setUp()
    const { code, lines, stderr } = await run('--prompt', 'Mend the @problems')
    expect([code, stderr]).toEqual([2, expect.stringContaining('@problems: There is no editor here')])
    expect([typesOf(lines).filter((type) => type === 'turn/start'), server.requests]).toEqual([[], []])
  })

  it('searches, reads, edits and runs as the model says, and prints every event in order', async () => {
    const { run, file, store } = await setUp()
    const { code, lines, stderr } = await run('--permissions', 'allow', '--prompt', 'Make the answer 42')
    expect([code, readFileSync(file, 'utf8')], stderr).toEqual([0, CHANGED])
    expect(lines.map((line) => line['seq'])).toEqual(lines.map((_line, index) => index))
    expect(dataOf(lines, 'tool/call').map((data) => data['name'])).toEqual(['grep', 'read', 'edit', 'bash'])
    expect(dataOf(lines, 'tool/result').map(isFailed)).toEqual([false, false, false, false])
    expect(dataOf(lines, 'turn/end')).toEqual([{ turn: 1, reason: { kind: 'completed' } }])
    const types = typesOf(lines)
    expect(types.slice(-1)).toEqual(['turn/end'])
    const firstStep = types.slice(types.indexOf('step/start'), types.indexOf('step/end') + 1)
    expect(firstStep.filter((type) => !type.startsWith('approval/'))).toEqual([
      'step/start', 'user/message', ...types.filter((type) => type === 'user/message').slice(1), 'request/header', 'request/context',
      'cost/estimated', 'assistant/message', 'tool/call', 'tool/result', 'step/end',
    ])
    expect(logsIn(store)).toHaveLength(1)
  })

  it.each(['anthropic', 'openai-responses', 'google'] as const)('does the same in the protocol %s, with the key from the environment', async (api) => {
    const { work, store, server, file } = await setUp({ ...script, apiKey: 'key-1' }, api)
    const { code, lines, stderr } = await runHeadless(
      ['run', '--cwd', work, '--api', api, '--base-url', server.url, '--api-key-env', 'MY_KEY', '--model', 'scripted', '--storage', store, '--permissions', 'allow', '--prompt', 'Make the answer 42'],
      { env: { MY_KEY: 'key-1' } },
    )
    expect([code, readFileSync(file, 'utf8')], stderr).toEqual([0, CHANGED])
    expect(dataOf(lines, 'tool/call').map((data) => data['name'])).toEqual(['grep', 'read', 'edit', 'bash'])
    expect(dataOf(lines, 'assistant/message').every((data) => data['usage'] !== undefined)).toBe(true)
  })

  it('stops at a limit of tokens with a typed refusal that names the setting', async () => {
    const { run, store, server } = await setUp()
    mkdirSync(store)
    writeFileSync(join(store, 'settings.json'), JSON.stringify({ 'agent.turnTokenLimit': 1 }))
    const { code, lines, stderr } = await run('--permissions', 'allow', '--prompt', 'Make the answer 42')
    expect([code, server.chats().length]).toEqual([1, 0])
    expect(dataOf(lines, 'turn/paused')).toMatchObject([{ cap: 'tokens', per: 'turn', limit: 1, used: 0 }])
    expect(stderr).toMatch(/TOKEN_LIMIT: Bosun paused: 0 of the 1 tokens that a turn may use are used, .* Raise bosun\.agent\.turnTokenLimit to go on/)
  })

  it('falls back to a provider of the settings when the server of the flags is down', async () => {
    const { run, store, server } = await setUp({ steps: [{ answer: { status: 503, body: { error: { message: 'down' } } }, repeat: true }] })
    const other = await startModelServer({ steps: [{ answer: { parts: [{ text: 'From the other.' }] } }] })
    cleanUps.push(() => other.close())
    mkdirSync(store, { recursive: true })
    writeFileSync(join(store, 'settings.json'), JSON.stringify({ providers: { other: { baseUrl: other.url, keyName: null } }, 'model.fallback': ['other/m'], 'llm.retry.maxRetries': 0 }))
    const { code, lines } = await run('--prompt', 'hello')
    expect([code, reasonOf(lines), server.chats().length, other.chats().length]).toEqual([0, { kind: 'completed' }, 1, 1])
  })

  it('with permissions denied leaves the file, and the denial is a logged result', async () => {
    const { run, file } = await setUp()
    const { code, lines } = await run('--permissions', 'deny', '--prompt', 'Make the answer 42')
    expect([code, readFileSync(file, 'utf8')]).toEqual([0, ORIGINAL])
    const [, , edit] = dataOf(lines, 'tool/result')
    expect(edit?.['error']).toEqual({ name: 'ToolError', code: 'DENIED' })
    expect(dataOf(lines, 'approval/decided').map((data) => data['outcome'])).toContain('rejected')
  })

  it('without anybody to ask, no answer means no', async () => {
    const { run, file } = await setUp()
    const { lines } = await run('--prompt', 'Make the answer 42')
    expect([readFileSync(file, 'utf8'), dataOf(lines, 'tool/result')[2]?.['error']]).toEqual([ORIGINAL, { name: 'ToolError', code: 'DENIED' }])
  })

  it('sends requests that share their beginning byte for byte', async () => {
    const { run, server } = await setUp()
    await run('--permissions', 'allow', '--prompt', 'Make the answer 42')
    const bodies = server.chats().map((request) => request.body)
    expect(bodies).toHaveLength(5)
    for (const [index, body] of bodies.slice(1).entries()) {
      const before = bodies[index] ?? ''
      const messages = JSON.stringify((JSON.parse(before) as { messages: unknown }).messages).slice(0, -1)
      const shared = Buffer.from(body).subarray(0, sharedPrefixLength(before, body)).toString()
      expect(shared.includes(messages), `request ${index + 2} breaks the prefix after ${shared.slice(-80)}`).toBe(true)
    }
  })

  it('replays its log to the same cards and messages with the workspace gone', async () => {
    const { run, work, store, server } = await setUp()
    await run('--permissions', 'allow', '--prompt', 'Make the answer 42')
    const [log = ''] = logsIn(store)
    // Nothing is written, so no home that could be is needed.
    const first = await runHeadless(['replay', log], { env: { HOME: '/proc/none', BOSUN_HOME: '/proc/none/own' } })
    rmSync(work, { recursive: true })
    const second = await runHeadless(['replay', log])
    expect([second.code, second.lines]).toEqual([0, first.lines])
    const cards = second.lines.filter((line) => line['kind'] === 'card')
    expect(cards.map((line) => (line['card'] as { card?: string } | null)?.card)).toEqual(['search', 'read', 'diff', 'terminal'])
    const messages = second.lines.filter((line) => line['kind'] === 'message').length
    const sent = (JSON.parse(server.chats().at(-1)?.body ?? '{}') as { messages: readonly { role: string }[] }).messages
    expect(messages).toBe(sent.filter(({ role }) => role !== 'system').length + 1)
  })

  it('resumes a session with its whole talk', async () => {
    const { run, server } = await setUp()
    const first = await run('--permissions', 'allow', '--prompt', 'Make the answer 42')
    server.play({ steps: [{ answer: { parts: [{ text: 'It was 41.' }] } }] })
    const id = /Session (\S+)/.exec(first.stderr)?.[1] ?? ''
    const second = await run('--resume', id, '--prompt', 'What was it before?')
    // The mark that ends what was loaded takes one number.
    expect([second.code, second.lines[0]?.['seq']]).toEqual([0, first.lines.length + 1])
    const roles = (JSON.parse(server.chats().at(-1)?.body ?? '{}') as { messages: readonly { role: string; content: string }[] }).messages
    expect(roles.at(-1)).toEqual({ role: 'user', content: 'What was it before?' })
    expect(roles.filter(({ role }) => role === 'tool')).toHaveLength(4)
  })

  it('stops on an interrupt, closes the turn and says so', async () => {
    const { work, store, server } = await setUp({ steps: [{ answer: { parts: [call('bash', { command: 'sleep 30', description: 'Wait' })] } }] })
    const { code, lines } = await runHeadless(
      ['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, '--permissions', 'allow', '--prompt', 'wait'],
      { onLine: (line, _count, kill) => void (line['type'] === 'tool/call' && setTimeout(() => kill('SIGINT'), 150)) },
    )
    expect([code, dataOf(lines, 'turn/end')]).toEqual([130, [{ turn: 1, reason: { kind: 'aborted', reason: { kind: 'user' } } }]])
    expect(dataOf(lines, 'tool/result')).toHaveLength(1)
  })
})

describe('bad input from the model and its server', () => {
  const ends = async (steps: ModelScript['steps'], more: readonly string[] = []) => {
    const { run, file } = await setUp({ steps })
    const { code, lines, stderr } = await run('--permissions', 'allow', '--prompt', 'go', ...more)
    expect(readFileSync(file, 'utf8')).toBe(ORIGINAL)
    return { code, lines, stderr, results: dataOf(lines, 'tool/result'), end: reasonOf(lines) }
  }
  const done = { answer: { parts: [{ text: 'done' }] } }
  const codeOf = (result: Record<string, unknown> | undefined) => (result?.['error'] as { code?: string } | undefined)?.code

  it('a malformed call is a failed result and the turn goes on', async () => {
    const { code, results } = await ends([{ answer: { parts: [call('read', '{"file_path": ')] } }, done])
    expect([code, codeOf(results[0])]).toEqual([0, 'INVALID_ARGS'])
  })
  it('an unknown tool is a failed result and the turn goes on', async () => {
    const { code, results } = await ends([{ answer: { parts: [call('fly', {})] } }, done])
    expect([code, codeOf(results[0])]).toEqual([0, 'UNKNOWN_TOOL'])
  })
  it('a stream that breaks in the middle is tried again in the same step', async () => {
    const { code, lines } = await ends([{ answer: { parts: [{ text: 'half of it' }, { cut: true }] } }, done])
    expect([code, dataOf(lines, 'step/start').length, dataOf(lines, 'llm/retry').length]).toEqual([0, 1, 1])
  })
  it('a 500 is tried again', async () => {
    const { code, lines } = await ends([{ answer: { status: 500, body: { error: { message: 'boom' } } } }, done])
    expect([code, retryCodeOf(lines)]).toEqual([0, 'SERVER'])
  })
  it('a 429 waits as long as the server says', async () => {
    const { code, lines } = await ends([{ answer: { status: 429, headers: { 'retry-after': '1' }, body: { error: { message: 'slow down' } } } }, done])
    expect([code, dataOf(lines, 'llm/retry')[0]?.['delayMs']]).toEqual([0, 1000])
  })
  it('a wrong key ends the turn and says what to do', async () => {
    const { code, end, stderr } = await ends([{ answer: failures.wrongKey }])
    expect([code, end['kind'], stderr.includes('AUTH')]).toEqual([1, 'error', true])
  })
  it('a model that does not exist ends the turn and names it', async () => {
    const { code, stderr } = await ends([{ answer: failures.unknownModel('scripted') }])
    expect([code, stderr.includes('UNKNOWN_MODEL'), stderr.includes('scripted')]).toEqual([1, true, true])
  })
  it('a cap of steps pauses the turn, and --resume goes on', async () => {
    const step = { answer: { parts: [call('read', { file_path: 'src/a.ts' })] } }
    const { run } = await setUp({ steps: [step, step, done] })
    const first = await run('--max-steps', '2', '--prompt', 'go')
    expect([first.code, reasonOf(first.lines)['kind']]).toEqual([1, 'paused'])
    const second = await run('--resume', /Session (\S+)/.exec(first.stderr)?.[1] ?? '')
    expect([second.code, dataOf(second.lines, 'assistant/message').length]).toEqual([0, 1])
  })
})

describe('bad input from the person', () => {
  const refuse = async (args: readonly string[], text: string) => {
    const { code, stderr, lines } = await runHeadless(args)
    expect([code, stderr.includes(text), lines], stderr).toEqual([2, true, []])
  }
  it('an unknown flag', () => refuse(['run', '--fly'], '--fly'))
  it('a folder that is not there', () => refuse(['tool', 'read', '{}', '--cwd', '/nowhere/at/all'], 'is not a folder'))
  it('a prompt file that is not there', () =>
    refuse(['run', '--base-url', 'http://127.0.0.1:9/v1', '--model', 'm', '--cwd', '.', '--prompt-file', '/nowhere'], '/nowhere'))
  const inFolders = (check: (at: readonly string[]) => Promise<void>) => {
    const { paths, remove } = createFolders('work', 'store')
    cleanUps.push(remove)
    mkdirSync(paths[0] ?? '')
    return check(['--cwd', paths[0] ?? '', '--storage', paths[1] ?? ''])
  }
  const model = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'm']
  it('a preset that is not there', () =>
    inFolders(async (at) => {
      await refuse(['run', ...model, ...at, '--prompt', 'hi', '--preset', 'fast'], 'There is no preset named fast.')
      await refuse(['tool', 'read', '{}', ...at, '--preset', 'fast'], 'There is no preset named fast.')
    }))
  it('a session to go on with that is not there', () => inFolders((at) => refuse(['run', ...model, ...at, '--prompt', 'hi', '--resume', 'gone'], 'There is no session "gone".')))
  it('a prompt without words', () => inFolders((at) => refuse(['run', ...model, ...at, '--prompt', ' \n'], '--prompt has no words in it.')))
  it('whoever asks for help gets it as an answer', async () => {
    const help = (...args: readonly string[]) => spawnSync(process.execPath, [headlessBundle, ...args], { encoding: 'utf8' })
    expect(help('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage:\n/) as string, stderr: '' })
    expect(help()).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(/^Usage:\n/) as string })
  })
  it('a key that is not there ends the turn in one sentence with one full stop', () =>
    inFolders(async (at) => {
      const { code, stderr } = await runHeadless(['run', ...model, ...at, '--prompt', 'hi', '--api-key-env', 'NO_SUCH_KEY'])
      expect([code, stderr.split('\n').at(-2)]).toEqual([1, expect.stringMatching(/^The turn ended with MISSING_CREDENTIAL: .*NO_SUCH_KEY\.$/)])
    }))
  it('a log that is none', async () => {
    const { paths, remove } = createFolders('log')
    cleanUps.push(remove)
    writeFileSync(paths[0] ?? '', 'not a log\n')
    const { code, stderr } = await runHeadless(['replay', paths[0] ?? ''])
    expect([code, stderr.includes('is no log')]).toEqual([1, true])
  })
})

describe('tools', () => {
  const encodings: readonly { readonly name: string; readonly before: Buffer; readonly after: Buffer; readonly mode?: number }[] = [
    { name: 'UTF-16 little endian with BOM', before: utf16(`one\r\ntwo é\r\nthree`), after: utf16(`one\r\n2 é\r\nthree`) },
    { name: 'Latin-1 without BOM', before: Buffer.from('caf\xe9\ntwo \xfc\nend\n', 'latin1'), after: Buffer.from('caf\xe9\n2 \xfc\nend\n', 'latin1') },
    { name: 'CRLF', before: Buffer.from('a\r\ntwo\r\nb\r\n'), after: Buffer.from('a\r\n2\r\nb\r\n') },
    { name: 'mixed line ends', before: Buffer.from('a\r\ntwo\nb\r\nc\n'), after: Buffer.from('a\r\n2\nb\r\nc\n') },
    { name: 'no final newline', before: Buffer.from('a\ntwo'), after: Buffer.from('a\n2') },
    { name: 'UTF-8 with BOM', before: Buffer.from('\ufeffa\ntwo\n'), after: Buffer.from('\ufeffa\n2\n') },
    { name: 'mode 0755', before: Buffer.from('#!/bin/sh\necho two\n'), after: Buffer.from('#!/bin/sh\necho 2\n'), mode: 0o755 },
  ]
  it.each(encodings)('read and edit change only the wanted bytes: $name', async ({ before, after, mode }) => {
    const { paths, remove } = createFolders('work', 'store')
    cleanUps.push(remove)
    const [work = '', store = ''] = paths
    mkdirSync(work)
    const path = join(work, 'file.txt')
    writeFileSync(path, before)
    if (mode) chmodSync(path, mode)
    const calls = [
      { name: 'read', arguments: { file_path: 'file.txt' } },
      { name: 'edit', arguments: { file_path: 'file.txt', old_string: 'two', new_string: '2' } },
    ]
    const { code, lines, stderr } = await runHeadless(['tools', JSON.stringify(calls), '--cwd', work, '--storage', store, '--permissions', 'allow'])
    expect([code, lines.map((line) => line['isError'])], stderr + JSON.stringify(lines)).toEqual([0, [false, false]])
    expect(readFileSync(path).toString('hex')).toBe(after.toString('hex'))
  })

  it('read and edit through a link change its target and leave the link', async () => {
    const { paths, remove } = createFolders('work', 'store')
    cleanUps.push(remove)
    const [work = '', store = ''] = paths
    mkdirSync(work)
    writeFileSync(join(work, 'target.txt'), 'one\r\ntwo\n')
    symlinkSync('target.txt', join(work, 'link.txt'))
    const calls = [
      { name: 'read', arguments: { file_path: 'link.txt' } },
      { name: 'edit', arguments: { file_path: 'link.txt', old_string: 'two', new_string: '2' } },
    ]
    const { code, lines } = await runHeadless(['tools', JSON.stringify(calls), '--cwd', work, '--storage', store, '--permissions', 'allow'])
    expect([code, lines.map((line) => line['isError'])]).toEqual([0, [false, false]])
    expect([readlinkSync(join(work, 'link.txt')), readFileSync(join(work, 'target.txt'), 'utf8')]).toEqual(['target.txt', 'one\r\n2\n'])
  })

  it.skipIf(process.platform !== 'linux')('leave no daemon behind, neither of a command nor of a hook', async () => {
    const { paths, remove } = createFolders('work', 'store', 'home')
    cleanUps.push(remove)
    const [work = '', store = '', home = ''] = paths
    for (const folder of [work, store, join(home, '.claude')]) mkdirSync(folder, { recursive: true })
    // It has left its session before the shell ends, which would take it with it else.
    const seconds = { 'by-command': ownSeconds(), 'by-hook': ownSeconds() }
    const daemon = (name: keyof typeof seconds) => `setsid -f bash -c "echo \\$\\$ > ${join(work, name)}; exec sleep ${seconds[name]}" > /dev/null 2>&1 < /dev/null; until [ -s ${join(work, name)} ]; do sleep 0.02; done`
    const path = join(home, '.claude/settings.json')
    const text = JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: daemon('by-hook') }] }] } })
    writeFileSync(path, text)
    const { hooks } = parseHooks(text, { path, dialect: 'claude' })
    const commands = hooks.map(({ point, matcher, command, timeoutMs }) => [point, matcher, command, timeoutMs ?? null])
    const digest = createHash('sha256').update(JSON.stringify([path, 'claude', commands])).digest('hex')
    writeFileSync(join(store, 'settings.json'), JSON.stringify({ 'bosun.hooks.allowed': [digest] }))
    const args = { command: daemon('by-command'), description: 'Start a daemon' }
    const { code, lines } = await runHeadless(['tool', 'bash', JSON.stringify(args), '--cwd', work, '--storage', store, '--permissions', 'allow'], { env: { HOME: home } })
    expect([code, lines[0]?.['isError']]).toEqual([0, false])
    expect(['by-command', 'by-hook'].map((name) => existsSync(join(work, name)))).toEqual([true, true])
    expect(await Promise.all(Object.values(seconds).map(programsWith))).toEqual([0, 0])
  })

  it('print one line with value, content, both views, meta and error', async () => {
    const { paths, remove } = createFolders('work', 'store')
    cleanUps.push(remove)
    const [work = '', store = ''] = paths
    mkdirSync(work)
    const { code, lines } = await runHeadless(['tool', 'read', '{"file_path":"gone.txt"}', '--cwd', work, '--storage', store])
    expect([code, lines.length, Object.keys(lines[0] ?? {})]).toEqual([0, 1, ['name', 'isError', 'value', 'content', 'pending', 'card', 'meta', 'error']])
    expect(lines[0]).toMatchObject({ name: 'read', isError: true, value: null, error: { info: { code: 'FS_NOT_FOUND' } } })
  })
})

it('catalogue lists every tool with what it takes, gives and where it shows', async () => {
  const { code, lines } = await runHeadless(['catalogue'])
  const [tools] = lines as unknown as [readonly { name: string; presets: string[]; parallelSafe: boolean; group: string; parameters: object; output: object }[]]
  expect(code).toBe(0)
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['ask_user_question', 'bash', 'edit', 'glob', 'grep', 'read', 'skill', 'terminal_open', 'todo_write', 'web_fetch', 'write']))
  expect(tools.find(({ name }) => name === 'read')).toMatchObject({ presets: expect.arrayContaining(['editor', 'standard', 'ask']), parallelSafe: true })
  expect(tools.every(({ group, parameters, output }) => group && parameters && output)).toBe(true)
})

it('ends without a word when who reads its output has gone, and a turn ends as by an interrupt', async () => {
  const catalogue = await runHeadless(['catalogue'], { readsLines: 0 })
  expect([catalogue.code, catalogue.stderr]).toEqual([0, ''])
  const { work, store, server } = await setUp()
  const { code, stderr } = await runHeadless(['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, '--prompt', 'Change it'], { readsLines: 8 })
  expect([code, stderr.includes('EPIPE')]).toEqual([130, false])
  const [log = ''] = logsIn(store)
  expect(readLog(log).rows.at(-1)).toMatchObject({ type: 'turn/end' })
})

it('catalogue lists what cannot work here too, with what it needs, and what stands in its place elsewhere', async () => {
  const { lines } = await runHeadless(['catalogue'])
  const [tools] = lines as unknown as [readonly { name: string; needs: string | null; effects: string[]; variants: readonly { presets: string[] }[] }[]]
  const row = (name: string) => tools.find((tool) => tool.name === name)
  expect(row('read')).toMatchObject({ needs: null, effects: ['read'], variants: [] })
  expect(row(process.platform === 'win32' ? 'bash' : 'pwsh')?.needs).toMatch(/bosun\.shell\.offered/)
  expect(row('report')?.needs).toMatch(/agent/)
  expect(row('send_message')?.variants.map(({ presets }) => presets)).toEqual([['team']])
})

it('catalogue says what one call may take and give, and how much of a result stays inline', async () => {
  const { lines } = await runHeadless(['catalogue'])
  const [tools] = lines as unknown as [readonly { name: string; limits: readonly { of: string; max: number; unit: string }[]; maxInlineBytes: number | null; timeoutMs: number | null }[]]
  const row = (name: string) => tools.find((tool) => tool.name === name)
  expect(row('read')).toMatchObject({ maxInlineBytes: null, limits: expect.arrayContaining([{ of: 'lines', max: 2_000, unit: 'lines' }, { of: 'text of the lines', max: 51_200, unit: 'bytes' }]) })
  expect(row('glob')).toMatchObject({ maxInlineBytes: 50_000, timeoutMs: 30_000, limits: expect.arrayContaining([{ of: 'paths on a page', max: 100, unit: 'items' }]) })
  expect(row('lsp')).toMatchObject({ maxInlineBytes: 50_000, timeoutMs: 60_000, limits: expect.arrayContaining([{ of: 'places in an answer', max: 100, unit: 'items' }]) })
  // Every tool that takes or gives what can be large says how much; these take the names of things and give a few words, or what is known of the application, of which so much stays inline as of any other.
  expect(tools.filter(({ limits }) => limits.length === 0).map(({ name }) => name)).toEqual(['cordis_inspect_list', 'cordis_inspect_query', 'cordis_run', 'cordis_stop', 'cordis_undefine', 'get_goal', 'interrupt_agent', 'job_kill', 'schedule_delete', 'session_event_trace', 'team_task_get'])
})

function utf16(text: string): Buffer {
  return Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
}
